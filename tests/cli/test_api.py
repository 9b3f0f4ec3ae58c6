"""The Python door gives what the commands write, and docs/python.md runs as it is printed."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from support.commands import personafeedback, ran
from support.duel_folders import write_duels
from support.environments import CHECKOUT
from support.jsonl_harness import judged

from personafeedback_tasks import api
from personafeedback_tasks.common import errors
from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.logs.errors import RunError


@pytest.fixture
def logs(tmp_path) -> Path:
    """Two runs, each with two controls."""
    for setting in ("persona", "other_persona", "no_persona"):
        for judge in ("readable", "gold"):
            judged(tmp_path / "logs" / setting, judge, setting=setting)
    return tmp_path / "logs"


def written(*arguments: object) -> object:
    done = ran(*arguments, "--json", "-")
    return json.loads(done.stdout)


def test_runs_that_were_read_without_their_data_are_checked_once_these_are_there(tmp_path):
    data = shutil.copytree(str(files("personafeedback_tasks.personafeedback").joinpath("sample")), tmp_path / "data")
    log = judged(tmp_path / "logs", "gold", data, counts="any")
    log.write_text(log.read_text("utf-8").replace("Below are the persona", "Here are the persona"), "utf-8")
    moved = data.rename(tmp_path / "moved")
    runs = api.read_runs(log)
    for function in (api.report, api.rank):
        with pytest.raises(RunError, match="prompt"):
            function(runs, data=str(moved))


@pytest.fixture
def with_duels(tmp_path) -> Path:
    """`both` has the runs of a judge on the duels of two writers and its calibration set; `duels` what it judged."""
    for writer, judge in (("acme/plain", "readable"), ("acme/other", "readable")):
        name = writer.rpartition("/")[2]
        reply = f"Try {name}."
        data = write_duels(tmp_path / "duels" / name, lambda case, reply=reply: reply, writer, difficulty="hard")
        judged(tmp_path / "both" / name, judge, data)
    judged(tmp_path / "both" / "calibration", "readable")
    return tmp_path


def test_a_ranking_passes_over_runs_on_duels_as_the_command_does(with_duels):
    both = with_duels / "both"
    (of_judge,) = api.rank(both).content["rankings"]
    assert [row["model"] for row in of_judge["runs"]] == ["readable"]
    assert json.loads(api.rank(both).to_json()) == written("rank", both)
    assert personafeedback("rank", both).stderr.count("found a judge's run on duels of") == 2
    with pytest.raises(RunError, match="`personafeedback verdict` says how often the replies win"):
        api.rank(both / "plain")


def test_a_verdict_passes_over_the_runs_on_the_benchmark(with_duels):
    both, calibration = with_duels / "both", with_duels / "both" / "calibration"
    made = api.verdict(both, calibration=both)
    assert len(made.content["verdicts"]) == 2
    assert set(made.to_frame().run) == {one["title"] for one in made.content["verdicts"]}
    assert json.loads(made.to_json()) == written("verdict", both, "--calibration", both)
    with pytest.raises(RunError, match="found no duels of the run on"):
        api.verdict(calibration, calibration=calibration)
    with pytest.raises(RunError, match="found an empty list"):
        api.verdict(both, calibration=[])


def test_the_data_of_a_verdict_may_have_moved(with_duels):
    plain, calibration = with_duels / "both" / "plain", with_duels / "both" / "calibration"
    moved = str((with_duels / "duels" / "plain").rename(with_duels / "moved"))
    assert json.loads(api.verdict(plain, calibration=calibration, data=moved).to_json()) == written(
        "verdict", plain, "--calibration", calibration, "--data", moved
    )
    with pytest.raises(OptionError, match="found the data of none of these runs"):
        api.verdict(with_duels / "both" / "other", calibration=calibration, data=str(with_duels))


def test_data_of_none_of_the_runs_are_refused_whoever_read_these(logs, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for runs in (logs, api.read_runs(logs)):
        with pytest.raises(OptionError, match="found the data of none of these runs"):
            api.rank(runs, data=str(empty))


def test_runs_whose_data_are_in_no_named_place_are_named(logs, tmp_path):
    data = shutil.copytree(str(files("personafeedback_tasks.personafeedback").joinpath("sample")), tmp_path / "data")
    moved = judged(tmp_path / "other", "mixed", data, counts="any")
    file = next(data.glob("data/*/hard.jsonl"))
    file.write_text(file.read_text("utf-8").replace("?", "??", 1), "utf-8")
    changed = judged(tmp_path / "changed", "gold", data, counts="any")
    said = personafeedback("rank", moved, changed, "--data", data).stderr
    assert "found the data of some of these runs, expected those of all" in said
    assert f"The data of {moved} are taken from where their logs say" in said
    assert "--data" not in personafeedback("rank", changed, "--data", data).stderr


def test_a_notebook_shows_a_run_without_its_cases(logs):
    assert "case_id" not in repr(api.read_runs(logs))


def test_a_run_is_compared_without_its_controls(tmp_path):
    for setting in ("persona", "no_persona"):
        judged(tmp_path / "a" / setting, "gold", setting=setting)
    judged(tmp_path / "b", "readable")
    both = tmp_path / "a", tmp_path / "b"
    assert json.loads(api.compare(*both).to_json()) == written("compare", *both)


def test_a_frame_has_every_estimate_of_its_document(logs):
    reported, ranked = api.report(logs), api.rank(logs)
    for document in (reported, ranked):
        assert len(document.to_frame()) == len(re.findall(r'"stderr":', document.to_json()))
    frame, content = reported.to_frame(), reported.content["reports"][0]
    for measure in ("acc", "excess_over_counting"):
        rows = frame[(frame.measure == measure) & (frame.run == content["label"])].set_index("group")
        found = {name: group["measures"][measure] for name, group in content["groups"].items()}
        assert {name: {key: rows.loc[name, key] for key in one} for name, one in found.items()} == found
    frame = ranked.to_frame()
    assert set(frame[frame.measure == "right_minus_wrong"].run) == {"gold (demonstration)", "readable (demonstration)"}
    assert frame[frame.measure == "acc"].value.between(0, 1).all()
    (ranking,) = ranked.content["rankings"]
    (pair,) = ranking["pairs"]
    row, *groups = frame[frame.p.notna()].to_dict("records")
    assert [one["group"] for one in groups] == list(pair["groups"])
    assert [row["first"], row["second"]] == [ranking["runs"][pair[end] - 1]["label"] for end in ("first", "second")]
    assert (row["p"], row["value"]) == (pair["p"], pair["difference"]["value"])


def test_cases_are_a_frame():
    cases = api.load_cases("personafeedback_hard", data="sample")
    assert list(cases.columns) == ["id", "cell", "user_id", "language", "question", "responses", "known"]
    assert len(cases) == 16
    assert all(len(responses) == 2 for responses in cases.responses)


def test_bad_arguments_are_the_errors_of_the_commands(tmp_path):
    with pytest.raises(RunError, match="could not be read"):
        api.report(tmp_path / "none.eval")
    with pytest.raises(OptionError, match="with a model out of gold, got 'gld'. Did you mean gold?"):
        api.read_runs(judged(tmp_path / "log", "gold"), names={"gld": "Gold"})
    with pytest.raises(OptionError, match="task must be one of"):
        api.load_cases("personafeedback_harder")
    with pytest.raises(DataError, match=r"found no cases in it, .* the folder that contains data/ and persona/"):
        api.load_cases("personafeedback_hard", data=tmp_path)
    for logs in (None, 3, [3]):
        with pytest.raises(OptionError, match="a path, a run, or a list of both, got (None|3)"):
            api.rank(logs)
    with pytest.raises(RunError, match="found an empty list"):
        api.report([])


def test_data_may_be_a_path(logs, real_part):
    assert len(api.load_cases("personafeedback_general_hard", data=Path(real_part), counts="any"))
    with pytest.raises(DataError, match="not in the data|no such file|found no"):
        api.report(logs, data=real_part / "persona")


def test_what_is_not_installed_is_named_with_its_extra(part_log, monkeypatch):
    log = part_log("inspect", "readable", "personafeedback_general_hard")
    real = errors.importlib.util.find_spec
    monkeypatch.setattr(errors.importlib.util, "find_spec", lambda name: None if name == "inspect_ai" else real(name))
    with pytest.raises(ModuleNotFoundError, match=r"inspect_ai is not installed\. .*personafeedback-tasks\[inspect\]"):
        api.report(log)


def test_the_page_runs_as_it_is_printed(logs, monkeypatch):
    page = (CHECKOUT / "docs" / "python.md").read_text("utf-8")
    monkeypatch.chdir(logs.parent)
    told: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, told)
    assert set(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE)) == set(api.__all__) - {"Document"}
