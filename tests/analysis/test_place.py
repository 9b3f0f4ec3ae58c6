"""A model that picks by place: what it knows shows in its log-odds, and its replies show the place alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from support import jsonl_harness
from support.commands import personafeedback, ran
from support.judges import chance
from support.models import by_inspect, by_lm_eval, orders_of, register

from personafeedback_tasks.analysis.void import place_of
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.logs import log as readers
from personafeedback_tasks.logs.compare import runs_of
from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.stats.estimates import clustered_stderr, mean

pytestmark = pytest.mark.slow
same = pytest.approx

# --- a judge that prefers the first place by far: its log-odds may hold knowledge, its replies hold next to none ------

SETTINGS = ("persona", "other_persona", "no_persona")
LISTED = ",".join(SETTINGS)

KNOWN: Mapping[str, Mapping[str, float]] = {
    "small": {"persona": 31 / 48, "other_persona": 30 / 48, "no_persona": 24 / 48},  # as SmolLM2-135M on the sample
    "personal": {"persona": 44 / 48, "other_persona": 20 / 48, "no_persona": 24 / 48},
}
"""Judge -> setting -> the share of a benchmark's sample in which its log-odds prefer the right response by a little."""

PLACE, WORTH = 4.0, 0.5
"""What the first place adds to the log-odds of its response, and knowledge to those of another one."""

OTHERWISE = 0.03
"""Share of the calls in which the judge `nearly` replies with another letter than the first."""


@cache
def ranks() -> dict[str, float]:
    """Case of a sample -> its place among all of that sample in a drawn order, as a share."""
    found: dict[str, float] = {}
    for name in ("personafeedback", "prefeval"):
        benchmark = find(name)
        options = benchmark.options.read({"data": "sample"})
        ids = sorted((case.id for case in benchmark.load(options, {})), key=chance)
        found |= {case_id: place / len(ids) for place, case_id in enumerate(ids)}
    return found


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """The log-likelihood of each letter.

    Args:
        call: as `Method.asked` names it.
    """
    setting, _, order = call.rpartition(" ")
    orders = orders_of(call)
    right, count = orders.letters.index(orders.right[order]), len(orders.letters)
    knows = ranks().get(case_id, chance(case_id)) < KNOWN[judge][setting or SETTINGS[0]]
    values = [PLACE - 10, *[-10.0] * (count - 1)]
    values[right if knows else (right + 1) % count] += WORTH
    return values


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    """`A`; of the judge `nearly`, sometimes another letter."""
    return orders_of(call).letters[-1] if judge == "nearly" and chance(case_id, call) < OTHERWISE else "A"


register("placed", reply, likelihoods)


# --- its runs ---------------------------------------------------------------------------------------------------------


def run_of(
    harness: str, judge: str, folder: Path, task: str = "personafeedback", setting: str = LISTED, debiased=False
):
    """A folder with the log of a run, with log-odds if it is `debiased`."""
    if harness == "lm-eval":
        task += "_mc" if debiased else ""
        return by_lm_eval(folder, "placed", setting.split(","), "--model_args", f"judge={judge}", task=task)
    method = "logprobs" if debiased else "generate"
    return by_inspect(folder, f"placed/{judge}", setting, "-T", f"method={method}", task=task)


ASKED = {"lm-eval": "personal", "inspect": "small"}
"""Harness -> judge."""


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, Path]:
    """Harness -> folder of a run under three settings, with log-odds."""
    return {
        harness: run_of(harness, judge, tmp_path_factory.mktemp(harness), debiased=True)
        for harness, judge in ASKED.items()
    }


def planted_in(judge: str) -> dict[str, float]:
    """Metric of a table -> its value."""
    told, other, untold = (KNOWN[judge][setting] for setting in SETTINGS)
    return {
        "acc": 0.5, "acc_sym": told, "acc_sym_other_persona": other, "acc_sym_no_persona": untold,
        "right_minus_wrong": told - other, "persona_gain": told - untold,
    }  # fmt: skip


HARNESSES = pytest.mark.parametrize("harness", ASKED)


# --- log-odds ---------------------------------------------------------------------------------------------------------


def test_both_tables_form_differences_of_the_debiased_score(logs):
    (path,) = logs["lm-eval"].rglob("results_*.json")
    there = json.loads(path.read_text())["results"]["personafeedback_mc"]
    (path,) = logs["inspect"].glob("*.eval")
    (table,) = read_eval_log(str(path), header_only=True).results.scores
    here = {name: metric.value for name, metric in table.metrics.items()}
    for name, value in planted_in(ASKED["lm-eval"]).items():
        assert there[f"{name},none"] == same(value, abs=1e-12), name
    for name, value in planted_in(ASKED["inspect"]).items():
        assert here[name] == same(value, abs=1e-12), name
    assert (here["accuracy"], here["stderr"]) == (here["acc_sym"], here["acc_sym_stderr"])
    assert not {"acc_no_persona", "acc_other_persona"} & here.keys()


@HARNESSES
def test_every_output_takes_the_debiased_score(harness, logs, tmp_path):
    folder, judge = logs[harness], ASKED[harness]
    planted, runs = KNOWN[judge], {run.setting: run for run in read_runs([folder])}
    assert {run.primary for run in runs.values()} == {"acc_sym"}
    ids, users = zip(*((name, case.user_id) for name, case in runs["persona"].cases.items()), strict=True)
    gaps = [runs["persona"].cases[i].value("acc_sym") - runs["other_persona"].cases[i].value("acc_sym") for i in ids]
    ended = ran("report", folder, "--data", "sample", "--out", tmp_path)
    (report,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"]
    total = report["groups"]["total"]
    assert report["primary"] == "acc_sym"
    assert total["measures"]["acc"]["value"] == 0.5
    assert total["measures"]["acc_sym"]["value"] == same(planted["persona"])
    assert total["measures"]["persona_gain"]["value"] == same(planted["persona"] - planted["no_persona"])
    longest = total["measures"]["longest"]["value"]
    assert total["measures"]["over_longest"]["value"] == same(planted["persona"] - longest)
    found = total["measures"]["right_minus_wrong"]
    assert (found["value"], found["stderr"]) == (same(mean(gaps)), same(clustered_stderr(gaps, users)))
    assert ("; it uses this user's persona" in report["verdict"]) is (judge == "personal")
    first = ended.stdout.splitlines()
    (line,) = (line for line in first if line.startswith("accuracy (acc_sym)"))
    assert f"{100 * planted['persona']:.1f} %" in line
    shown = personafeedback("rank", folder, "--data", "sample", "--out", tmp_path).stdout
    (ranking,) = json.loads((tmp_path / "ranking.json").read_text("utf-8"))["rankings"]
    (row,) = ranking["runs"]
    assert (row["primary"], row["measures"]["acc"]["value"]) == ("acc_sym", same(planted["persona"]))
    assert row["measures"]["right_minus_wrong"]["value"] == same(mean(gaps))
    page = re.sub(r"\s+", " ", (tmp_path / "ranking.html").read_text("utf-8"))
    assert "Accuracy (acc_sym) with 95 % intervals" in page
    assert f"{100 * planted['persona']:.1f}" in shown
    assert "the order by acc_sym" in shown


def test_two_methods_in_one_table_say_which_score_each_row_has(logs, tmp_path):
    run_of("lm-eval", "nearly", tmp_path, setting="persona")
    done = personafeedback("rank", logs["lm-eval"], tmp_path, "--data", "sample", "--out", tmp_path)
    (ranking,) = json.loads((tmp_path / "ranking.json").read_text("utf-8"))["rankings"]
    assert {row["method"]: row["primary"] for row in ranking["runs"]} == {"mc": "acc_sym", "generate": "acc"}
    assert "the order by acc_sym or acc" in done.stdout, done.output
    compared = personafeedback("compare", logs["lm-eval"], logs["inspect"]).stdout
    assert re.search(r"acc_sym +95 %", compared), compared


# --- replies alone ----------------------------------------------------------------------------------------------------

CLAIMS = (
    "not significantly different",
    "exactly 0",
    "two one-sided tests",
    "lies within",
    "no sign that",
    "always picking the longer",
)
"""What nobody can conclude from picks of a place."""

LEAD = "It picks the first response in {:.1f} % of the calls"


@pytest.fixture(scope="module")
def replies(tmp_path_factory) -> dict[str, Path]:
    """Harness, judge and benchmark -> folder of a run under three settings, with replies."""
    return {
        f"{harness} {judge} {benchmark}": run_of(harness, judge, tmp_path_factory.mktemp(harness), benchmark)
        for harness, judge, benchmark in PLACED
    }


PLACED = [
    ("lm-eval", "always", "personafeedback"),
    ("inspect", "nearly", "personafeedback"),
    ("lm-eval", "nearly", "prefeval"),
]


@pytest.mark.parametrize(("harness", "judge", "benchmark"), PLACED)
def test_a_run_that_picks_by_place_says_so_first_and_concludes_nothing(harness, judge, benchmark, replies, tmp_path):
    folder = replies[f"{harness} {judge} {benchmark}"]
    (run, *_) = [run for run in read_runs([folder]) if run.setting == "persona"]
    picks = [answer for result in run.results for answer in result.answers]
    lead = LEAD.format(100 * picks.count("A") / len(picks))
    done = ran("report", folder, "--data", "sample", "--out", tmp_path)
    assert " ".join(done.stdout.splitlines()[1:3]).startswith(f"! {lead}"), done.stdout
    full = personafeedback("report", folder, "--data", "sample", "--full").stdout
    ranked = personafeedback("rank", folder, "--data", "sample").stdout
    every = personafeedback("rank", folder, "--full", "--data", "sample").stdout
    page = (tmp_path / "report.html").read_text("utf-8")
    for output in (done.stdout, full, ranked, every, (tmp_path / "report.md").read_text("utf-8"), page):
        flat = " ".join(output.replace("\\", "").split())
        assert flat.count(lead) == 1 or output in (page, every)
        assert "this measures place" in flat
        assert "the _mc tasks in lm-eval or -T method=logprobs in Inspect" in flat
        assert not [
            claim for claim in CLAIMS if claim in flat.partition("tied: the places")[0].partition("<main id")[0]
        ]
    (made,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"]
    assert made["caveats"][0]["key"] == "by_place"
    assert "over_longest" not in made["groups"]["total"]["measures"]
    gap = made["groups"]["total"]["measures"]["right_minus_wrong"]
    assert gap["value"] is None
    assert judge == "nearly" or "not measured" in done.stdout


def test_no_baseline_and_no_tie_is_claimed_of_a_run_that_picks_by_place(replies, logs, tmp_path):
    always, knowing = replies["lm-eval always personafeedback"], logs["lm-eval"]
    done = ran("rank", always, knowing, "--data", "sample", "--out", tmp_path)
    (ranking,) = json.loads((tmp_path / "ranking.json").read_text("utf-8"))["rankings"]
    by_method = {row["method"]: row for row in ranking["runs"]}
    assert [row["tied"] for row in by_method.values()] == [[], []]
    assert by_method["generate"]["measures"]["over_longest"] is None
    assert by_method["generate"]["measures"]["right_minus_wrong"]["value"] is None
    (debiased,) = (name for name, row in by_method.items() if row["primary"] == "acc_sym")
    assert by_method[debiased]["measures"]["over_longest"] is not None
    assert "which acc_sym leaves out" in done.stdout


def test_such_a_run_has_no_card(real_part, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "READERS", (jsonl_harness.READER, *readers.READERS))

    def model(case_id: str, call: str) -> str:
        return reply("nearly", "", case_id, call)

    log = jsonl_harness.run(model, "m", tmp_path, "personafeedback", "general_hard", data=str(real_part))
    done = personafeedback("card", log, "--data", real_part, "--model-card", tmp_path / "card.md")
    assert done.exit_code == 1
    assert LEAD[:28] in done.output
    assert "-T method=logprobs in Inspect" in done.output
    assert not (tmp_path / "card.md").exists()


@pytest.mark.parametrize(("share", "said"), [(0.35, True), (0.5, False)])
def test_whether_place_decides_follows_from_the_interval_of_consistency(share, said, real_part, tmp_path):
    """In so many cases the same response is picked in both orders, in the others the first one. Half tell nothing."""

    def model(case_id: str, call: str) -> str:
        return "A" if chance(case_id) >= share else TWO.right[call]

    path = jsonl_harness.run(model, "m", tmp_path, "personafeedback", "general", data=str(real_part))
    (log,) = jsonl_harness.opened(path)
    (run,) = runs_of(log)
    found = place_of(run)
    assert found.cases.value == same(1 - mean(run.values("consistency").values()))
    assert found.calls.value == same(mean(run.values("first_rate").values()))
    assert found.decides is said
