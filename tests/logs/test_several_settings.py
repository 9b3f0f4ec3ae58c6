"""One run that asks each case under several settings: it holds the runs that ask one setting each, to the last bit."""

from __future__ import annotations

import hashlib
import json
import operator
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support import inspect_runs, lm_eval_runs
from support.commands import personafeedback
from support.judges import MIXTURE
from support.logs import bent, signed
from support.models import by_inspect, by_lm_eval, register
from support.shared import built_once

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.logs.earlier import logged
from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.pairwise.orders import TWO, responses, rotations
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.cells import CELLS
from personafeedback_tasks.stats.estimates import clustered_stderr, mean

pytestmark = pytest.mark.slow
same = pytest.approx
SETTINGS = ("persona", "other_persona", "no_persona")
LISTED = ",".join(SETTINGS)
TASK = "personafeedback_general_hard"
CHOSEN = {case.chosen for case in load_cases("sample")}


def reply(prompt: str) -> str:
    """A reply that the prompt alone decides: mostly right if the persona is told, and sometimes unreadable."""
    if "<response_A>" not in prompt:
        return "1, 3"  # to the filter of rag
    drawn = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    first, *_ = responses(prompt, rotations(4) if "<response_D>" in prompt else TWO)
    gold, other = ("A", "B") if first in CHOSEN else ("B", "A")
    if "<persona>" in prompt and drawn % 3:
        return gold
    return MIXTURE[drawn % len(MIXTURE)].format(gold=gold, other=other)


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    return [-1.0 - len(prompt) % 7 - (reply(prompt) != letter) for letter in "ABCD"]


PromptedLM = register("prompted", lambda judge, prompt, case_id, call: reply(prompt), likelihoods)


RUNS = (("inspect", by_inspect, "prompted/acme"), ("lm-eval", by_lm_eval, "prompted"))


def build(root: Path) -> None:
    for harness, run, model in RUNS:
        run(root / harness / "together", model, LISTED)
        for setting in SETTINGS:
            run(root / harness / "apart", model, setting)


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, tuple[Path, Path]]:
    """Harness -> (folder of one run under all settings, folder of one run under each)."""
    root = built_once(tmp_path_factory, "several_settings", build)
    return {name: (root / name / "together", root / name / "apart") for name, *_ in RUNS}


HARNESSES = pytest.mark.parametrize("harness", ["inspect", "lm-eval"])


def comparable(run: Run) -> dict[str, Any]:
    """All that a run says but for what no two runs share: its time, its files and the places in them."""
    prompts = replace(run.prompts, asked=0)
    alike = replace(run, date="", logs=(), resumed="", asked=None, cache="", cached={}, prompts=prompts)
    return {**vars(alike), "cases": sorted(run.cases.items())}  # Inspect logs them in the order in which they ended


def check_same(together: Path, apart: Path) -> list[Run]:
    """The runs of one log are those of three; returns them."""
    found, by_setting = read_runs([together]), {run.setting: run for run in read_runs([apart])}
    assert [run.setting for run in found] == [*SETTINGS]
    for run in found:
        single = by_setting[run.setting]
        assert repr(comparable(run)) == repr(comparable(single))  # nan is nan
        assert {asked.id: asked.calls for asked in run.asked} == {asked.id: asked.calls for asked in single.asked}
    return found


@HARNESSES
def test_a_log_of_several_settings_holds_the_runs_of_each(harness, logs):
    together = check_same(*logs[harness])
    accuracies = {run.setting: sum(case.value("acc") for case in run.cases.values()) / 48 for run in together}
    assert len({*accuracies.values()}) == 3
    # the sample gives each persona to another user, so that persona and other_persona take as many tokens in all
    assert harness == "lm-eval" or len({run.usage.tokens for run in together}) == 2


def test_a_run_that_was_killed_has_the_same_cases_under_each_setting(logs, tmp_path):
    def killed(header, samples):
        header["status"], header["results"] = "started", None
        del samples[7:]

    (log,) = logs["inspect"][0].glob("*.eval")
    whole = read_runs([log])
    runs = read_runs([bent(log, tmp_path / "killed", killed)])
    assert [run.setting for run in runs] == [*SETTINGS]
    for run, before in zip(runs, whole, strict=True):
        assert len(run.cases) == 7
        assert not run.finished
        assert repr(run.cases) == repr({name: before.cases[name] for name in run.cases})  # nan is nan


TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00|20\d\d-\d\d-\d\d[ T]\d\d:\d\d")


def test_every_command_gives_the_numbers_of_three_runs(logs, tmp_path):
    """Reports, rankings and pages are the same files but for the times in them."""
    written: list[dict[str, str]] = []
    for number, folder in enumerate(logs["inspect"]):
        out = tmp_path / str(number)
        assert personafeedback("report", folder, "--data", "sample", "--out", out / "report").exit_code == 0
        assert personafeedback("rank", folder, "--data", "sample", "--out", out / "rank").exit_code == 0
        texts = [path for path in out.rglob("*.*") if path.suffix in (".md", ".json", ".csv", ".html")]
        written.append(
            {str(path.relative_to(out)): TIME.sub("TIME", path.read_text("utf-8")) for path in sorted(texts)}
        )
    together, apart = written
    assert {"report/report.json", "report/report.md", "rank/ranking.json", "rank/ranking.html"} <= together.keys()
    assert "right minus wrong" in together["report/report.md"]
    assert together.keys() == apart.keys()
    for name, text in together.items():
        assert text == apart[name], name


def test_the_table_of_inspect_has_the_differences_with_clustered_errors(logs):
    (log,) = logs["inspect"][0].glob("*.eval")
    found = inspect_runs.metrics(read_eval_log(str(log), header_only=True))
    of = {run.setting: run.cases for run in read_runs([log])}
    for end, name in {"": "", "_general": "general", "_specific_hard": "specific_hard"}.items():
        cases = [case for case in of["persona"].values() if name in case.cell]
        users = [case.user_id for case in cases]
        acc = {setting: [of[setting][case.case_id].value("acc") for case in cases] for setting in SETTINGS}
        expected = {
            "acc": acc["persona"],
            "acc_other_persona": acc["other_persona"],
            "acc_no_persona": acc["no_persona"],
            "right_minus_wrong": [*map(operator.sub, acc["persona"], acc["other_persona"])],
            "persona_gain": [*map(operator.sub, acc["persona"], acc["no_persona"])],
        }
        for metric, values in expected.items():
            assert found[f"{metric}{end}"] == mean(values)
            assert found[f"{metric}{end}_stderr"] == same(clustered_stderr(values, users))
    assert found["right_minus_wrong"] != 0
    assert found["persona_gain"] > 0.1
    assert not [name for name in found if "wrong_minus_none" in name or "acc_persona" in name]


def test_lm_eval_has_the_differences_in_leaves_and_groups(logs):
    (path,) = logs["lm-eval"][0].rglob("results_*.json")
    results = json.loads(path.read_text())["results"]
    of = {run.setting: run.cases for run in read_runs([path])}
    for cell in CELLS:
        leaf = results[f"personafeedback_{cell}"]
        cases = [case for case in of["persona"].values() if case.cell == cell]
        gain = [case.value("acc") - of["no_persona"][case.case_id].value("acc") for case in cases]
        assert leaf["persona_gain,none"] == mean(gain)
        assert leaf["persona_gain_stderr,none"] == clustered_stderr(gain, [case.user_id for case in cases])
        assert leaf["acc_other_persona,none"] == mean(of["other_persona"][case.case_id].value("acc") for case in cases)
    whole = results["personafeedback"]
    assert whole["right_minus_wrong,none"] == same(
        mean(case.value("acc") - of["other_persona"][name].value("acc") for name, case in of["persona"].items())
    )
    assert whole["right_minus_wrong_stderr,none"] > 0  # lm-eval pools those of the cells


def test_what_cannot_be_formed_is_absent(tmp_path):
    listed, names = ["other_persona", "persona"], {"acc_persona", "right_minus_wrong"}
    task = tasks.personafeedback_general_hard(data="sample", setting=listed)
    assert task.name == "personafeedback_general_hard (other_persona, demonstration)"
    table = inspect_runs.metrics(inspect_runs.evaluate(task, "prompted/acme", tmp_path))
    plain = {"acc", "acc_both", "invalid", "consistency", "first_rate"}
    assert {name for name in table if not name.endswith(("_stderr", "_general_hard"))} == plain | names
    leaf = lm_eval_runs.evaluate(PromptedLM(), TASK, "sample", metadata={"setting": listed})["results"][TASK]
    shown = {name.partition(",")[0] for name in leaf if "," in name and "_stderr" not in name}
    assert shown == plain | names
    for name in names | {"acc"}:
        assert (leaf[f"{name},none"], leaf[f"{name}_stderr,none"]) == (table[name], table[f"{name}_stderr"])


def test_unknown_and_repeated_settings_are_refused():
    for listed, sentence in (
        ("persona,nobody", "setting must be one of persona, no_persona, "),
        (f"{LISTED},persona", "setting must have each value once, got 'persona' again."),
    ):
        with pytest.raises(OptionError, match=re.escape(sentence)):
            tasks.personafeedback_hard(data="sample", setting=listed)


@pytest.mark.parametrize(
    ("task", "run", "model"), [(f"{TASK}_mc", by_lm_eval, "prompted"), ("prefeval", by_inspect, "prompted/acme")]
)
def test_other_methods_and_benchmarks_have_it_too(task, run, model, tmp_path):
    run(tmp_path / "together", model, LISTED, "--limit", 7, task=task)
    for setting in SETTINGS:
        run(tmp_path / "apart", model, setting, "--limit", 7, task=task)
    assert [len(found.cases) for found in check_same(tmp_path / "together", tmp_path / "apart")] == [7, 7, 7]


def relabel(header, samples):
    """The control passes for the run."""
    first, second, *_ = signed(header, TASK)
    for name in ("setting", "task", "others"):
        first[name], second[name] = second[name], first[name]


def test_a_control_cannot_pass_for_the_run(logs, tmp_path):
    (log,) = logs["inspect"][0].glob("*.eval")
    sentence = "found the settings persona, other_persona, no_persona, expected other_persona, persona, no_persona"
    with pytest.raises(RunError, match=sentence):
        read_runs([bent(log, tmp_path / "changed", relabel)])


def test_hidden_fields_are_hidden_where_a_persona_is_shown(tmp_path):
    """`hide` has no effect with no_persona, which is no reason to refuse the list."""
    log = by_inspect(tmp_path, "prompted/acme", LISTED, "-T", "hide=Name,Demographics.Age", "--limit", 6)
    assert {run.setting: run.signature.options["hide"] for run in read_runs([log])} == {
        "persona": ["Demographics.Age", "Name"], "other_persona": ["Demographics.Age", "Name"], "no_persona": [],
    }  # fmt: skip


def test_the_filter_of_rag_runs_beside_other_settings(tmp_path):
    """One call before those of `rag`, none for `persona`; the report has each run with its own calls."""
    log = by_inspect(tmp_path, "prompted/acme", "persona,rag", "-T", "rag_filter=true")
    runs = {run.setting: run for run in read_runs([log])}
    assert {name: run.signature.options["rag_filter"] for name, run in runs.items()} == {"persona": False, "rag": True}
    done = personafeedback("report", tmp_path, "--data", "sample")
    assert done.exit_code == 0, done.output
    calls = {name: {key.call for key, _ in logged(run)} for name, run in runs.items()}
    own = {*find("personafeedback").methods["generate"].calls}
    assert calls == {"persona": own, "rag": own}
