"""Rankings: the order, its uncertainty, and which runs may share one."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from support.commands import personafeedback, ran
from support.logs import inspect_log, lm_eval_log
from support.sample_runs import results_of
from support.shown import words

from personafeedback_tasks.analysis import ranking as ranking_of
from personafeedback_tasks.analysis.balance import rank_document
from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.documents import RankDocument
from personafeedback_tasks.core.cases import NamedSet
from personafeedback_tasks.logs.caveat import WEAKENS, caveat
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import rank_text
from personafeedback_tasks.reports.blocks import markdown
from personafeedback_tasks.reports.table import Table
from personafeedback_tasks.stats.estimates import ALPHA

same = pytest.approx

TASK = "personafeedback_general_hard"


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Run:
    """A run whose answers are replaced."""
    return read_run(inspect_log(tmp_path_factory.mktemp("one"), "gold", "personafeedback_hard", "sample"))


@pytest.fixture(scope="session")
def sizes(real_data):
    return list(Counter(case.user_id for case in load_cases(real_data, "general")).values())


def make_ranking(runs):
    return ranking_of.make_ranking([Contender(run) for run in runs])


def sizes_of_rankings(runs) -> list[int]:
    return list(Counter(repr(ranking_of.asked(run)) for run in runs).values())


def made(template: Run, name: str, sizes, right) -> Run:
    """A run over users of these sizes; `right`: user x case -> value."""
    results = []
    for user, (size, values) in enumerate(zip(sizes, right, strict=True)):
        for number in range(size):
            case_id = f"general_hard:{user * 100 + number}"
            values_of = {"acc": float(values[number]), "consistency": 1.0, "first_rate": 0.5, "invalid": 0.0}
            results += results_of(case_id, "general_hard", f"u{user}", ("A", "B"), [("A", "B")], [values_of])
    return replace(template, model=name, cells={"general_hard": len(results)}, results=results, logs=(Path(name),))


def drawn(rng, sizes, accuracy, hard):
    """Right or wrong: some users are harder for every model (`hard`, per user, on the logit scale)."""
    odds = np.log(accuracy / (1 - accuracy)) + hard
    return [rng.random(size) < 1 / (1 + np.exp(-user)) for size, user in zip(sizes, odds, strict=True)]


def test_six_planted_judges_come_in_order(template, sizes):
    rng = np.random.default_rng(1)
    hard = rng.normal(0, 0.5, len(sizes))
    planted = {f"m{number}": 0.9 - 0.06 * number for number in range(6)}
    runs = [made(template, name, sizes, drawn(rng, sizes, accuracy, hard)) for name, accuracy in planted.items()]
    ranking = make_ranking(runs[::-1])
    assert [row.model for row in ranking.entry.runs] == list(planted)
    assert [row.rank for row in ranking.entry.runs] == [1, 2, 3, 4, 5, 6]
    assert all(row.ranks[0] <= row.rank <= row.ranks[1] for row in ranking.entry.runs)
    assert all(pair.p < ALPHA and pair.difference.value > 0 for pair in ranking.entry.pairs)
    assert all(row.tied == () for row in ranking.entry.runs)
    assert [row.ranks for row in ranking.entry.runs] == [(place, place) for place in range(1, 7)]


def test_equal_scores_share_the_better_rank_and_are_tied(template):
    sizes = [4] * 8
    right = [[1, 0, 1, 1]] * 8
    low = [[0, 0, 0, 0]] * 8
    ranking = make_ranking([made(template, name, sizes, of) for name, of in (("a", right), ("c", low), ("b", right))])
    assert [(row.model, row.rank) for row in ranking.entry.runs] == [("a", 1), ("b", 1), ("c", 3)]
    assert [row.tied for row in ranking.entry.runs] == [(2,), (1,), ()]
    assert [row.ranks for row in ranking.entry.runs] == [(1, 2), (1, 2), (3, 3)]


@pytest.mark.parametrize("count", [2, 3])
def test_runs_without_an_answered_case_have_no_rank(count, template):
    ranking = make_ranking([replace(template, model=f"m{number}", results=()) for number in range(count)])
    assert [(run.rank, run.ranks, run.tied) for run in ranking.entry.runs] == [(None, None, ())] * count
    assert any("contains no answered case" in sentence for sentence in words(ranking.entry))
    answered = make_ranking([template]).entry
    for first, second, said in (
        (answered, ranking.entry, "cases none instead of general_hard 8, specific_hard 8;"),
        (ranking.entry, answered, "cases general_hard 8, specific_hard 8 instead of none;"),
    ):
        (line,) = rank_text.reasons([first, second])
        assert said in line


def test_a_run_is_tied_beyond_a_neighbor_that_it_is_told_apart_from(template):
    """`b` is worse than `a` for every user by a little, `c` is worse on average, by much for few users."""
    sizes = [20] * 12
    a = [[1] * 20] * 12
    b = [[1] * 19 + [0]] * 12
    c = [[1] * 20] * 11 + [[0] * 20]
    ranking = make_ranking([made(template, name, sizes, of) for name, of in (("a", a), ("b", b), ("c", c))])
    assert [row.model for row in ranking.entry.runs] == ["a", "b", "c"]
    assert [row.tied for row in ranking.entry.runs] == [(3,), (3,), (1, 2)]
    assert [row.ranks for row in ranking.entry.runs] == [(1, 2), (2, 3), (1, 3)]
    table = rank_text.short_table(ranking.entry)
    assert table.labels == ("1 (1–2)", "2 (2–3)", "3 (1–3)")
    assert table.columns[-1].texts == ("3", "3", "1–2")
    blocks = rank_text.blocks(rank_document([ranking]), full=True)
    *_, matrix = (block for block in blocks if isinstance(block, Table))
    rows = [*zip(*(column.texts for column in matrix.columns), strict=True)]
    assert rows == [("", "+5.0*", "+8.3"), ("-5.0*", "", "+3.3"), ("-8.3", "-3.3", "")]


def test_two_runs_have_their_cases_users_difference_and_what_they_could_show(template):
    sizes, right = [4] * 16, {"a": [[1, 1, 1, 0]] * 16, "b": [[1, 0, 0, 0], [1, 1, 0, 0]] * 8}
    entry = ranking_of.compare(*(made(template, name, sizes, of) for name, of in right.items())).entry
    table, *_ = rank_text.of_two(entry)
    shown = {column.heading: column.texts[-1] for column in table.columns}
    assert (shown["cases"], shown["users"], shown["difference (points)"]) == ("64", "16", "+37.5")
    assert shown["p"] == "< 0.0001"
    *_, gap = entry.pairs[0].groups.values()
    assert shown["detectable (points)"] == f"{100 * gap.detectable:.1f}"


def test_a_caveat_on_one_model_follows_its_name(template):
    ranking = make_ranking([made(template, name, [4] * 8, [[1, 1, 0, 0]] * 8) for name in "ab"])
    of_all = caveat("shortcut", WEAKENS, picks="the longer one", percent=99.0, name="longest")
    entry = structs.replace(ranking.entry, caveats=[structs.replace(of_all, about=("2",))])
    shown = markdown(rank_text.blocks(RankDocument(rankings=[entry], balance=[])))
    (line,) = [line for line in shown.splitlines() if "the longer one" in line]
    assert line.startswith("- 2 b")


def test_neither_the_order_of_the_runs_nor_of_their_cases_matters(template, sizes):
    rng = np.random.default_rng(2)
    hard = rng.normal(0, 0.5, 20)
    runs = [made(template, f"m{i}", sizes[:20], drawn(rng, sizes[:20], 0.7, hard)) for i in range(4)]
    shuffled = [replace(run, results=run.results[::-1]) for run in runs[::-1]]
    assert make_ranking(runs).entry == make_ranking(shuffled).entry


@pytest.mark.parametrize("field", ["setting", "fingerprint", "task_version"])
def test_runs_that_were_asked_otherwise_never_share_a_ranking(field, template):
    other = replace(template, signature=template.signature.changed(**{field: "other"}))
    assert sizes_of_rankings([template, template, other]) == [2, 1]


def test_runs_on_other_cases_texts_or_sets_never_share_a_ranking(template):
    """Sets with the same cases, too."""
    first, *rest = template.results
    for results in (template.results[:10], [first.changed(digest="other"), *rest]):
        assert sizes_of_rankings([template, replace(template, results=results)]) == [1, 1]
    one, other = (
        replace(template, signature=template.signature.changed(set=NamedSet(name, {"general_hard": 4})))
        for name in ("kitchen questions", "the same under another name")
    )
    assert sizes_of_rankings([template, one, other]) == [1, 1, 1]
    assert one.same != other.same != template.same


@pytest.mark.slow
def test_a_folder_of_both_harnesses_is_ranked(tmp_path):
    """Five judges, one with its control, one that was asked otherwise."""
    root = tmp_path / "runs"
    for judge in ("gold", "readable", "anti_gold"):
        inspect_log(root / "inspect", judge, "personafeedback_hard", "sample")
    inspect_log(root / "inspect", "gold", "personafeedback_hard", "sample", setting="no_persona")
    lm_eval_log(root / "lm", "mixed", "personafeedback_hard", "sample")
    inspect_log(root / "inspect", "always_first", "personafeedback_general", "sample")
    done = ran("rank", root, "--csv", tmp_path / "ranking.csv", "--json", tmp_path / "ranking.json", "--data", "sample")
    with open(tmp_path / "ranking.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    stored = json.loads((tmp_path / "ranking.json").read_text(encoding="utf-8"))["rankings"]
    assert [len(ranking["runs"]) for ranking in stored] == [4, 1]
    models = [row["model"] for row in rows]
    gold, _, anti_gold, unread, other = models
    assert [gold, anti_gold, other] == [f"scripted/{judge}" for judge in ("gold", "anti_gold", "always_first")]
    assert (unread, rows[3]["void"], rows[3]["rank"]) == ("CUSTOM", "1", "")  # most of its replies cannot be read
    assert [row["acc"] for row in rows][:3:2] == ["1.000000", "0.000000"]
    assert float(rows[0]["over_longest"]) == same(0.5)  # of the sample, the longer one is chosen in half
    printed = " ".join(done.output.split())
    assert "Ranking 2 is separate from ranking 1: cases " in printed
    for part in ("Ranking 1: ", "Ranking 2: ", "scripted/gold"):
        assert part in printed
    assert "no_persona" not in printed


def test_a_difference_is_that_of_the_cases_that_both_answered(template):
    """Planted: right in 3 of 4 with the persona, in 2 of 4 with another, in 1 of 4 with none; the control lacks a user."""

    def told(setting, right, users):
        run = made(template, "m", [4] * users, [right] * users)
        return replace(run, signature=run.signature.changed(setting=setting))

    run = told("persona", [1, 1, 1, 0], 8)
    beside = {
        "no_persona": told("no_persona", [1, 0, 0, 0], 7),
        "other_persona": told("other_persona", [1, 1, 0, 0], 8),
    }
    ranking = ranking_of.make_ranking([Contender(run, beside)]).entry
    differences = [key for key, one in ranking.measures.items() if one.kind == "difference" and ranking.has(key)]
    found = {ranking.measures[key].label: ranking.runs[0].measures[key] for key in differences}
    assert {name: (one.value, one.n) for name, one in found.items()} == {
        "persona gain": (0.5, 28), "right minus wrong": (0.25, 32), "wrong minus none": (0.25, 28),
    }  # fmt: skip


# --- names -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_harnesses(tmp_path_factory) -> Path:
    """A run in Inspect, and its control in lm-eval, which names the same model otherwise."""
    root = tmp_path_factory.mktemp("harnesses")
    inspect_log(root / "a", "readable", "personafeedback_hard", "sample")
    lm_eval_log(root / "b", "readable", "personafeedback_hard", "sample", metadata={"setting": "no_persona"})
    return root


def gains_of(folder, tmp_path, *arguments):
    """Name of a row -> its persona gain; and the caveats' keys."""
    ran("rank", folder, "--data", "sample", "--json", tmp_path / "r.json", *arguments)
    rankings = json.loads((tmp_path / "r.json").read_text("utf-8"))["rankings"]
    found = {
        row["name"]: row["measures"]["persona_gain"] and row["measures"]["persona_gain"]["value"]
        for ranking in rankings
        for row in ranking["runs"]
    }
    return found, [caveat["key"] for caveat in rankings[0]["caveats"]]


def test_a_model_of_two_harnesses_is_joined_by_name(two_harnesses, tmp_path):
    found, keys = gains_of(two_harnesses, tmp_path, "--name", "CUSTOM=readable")
    assert found == {"scripted/readable": None, "readable": None}
    assert "control_harness" not in keys
    names = ("--name", "CUSTOM=readable", "--name", "scripted/readable=readable")
    found, keys = gains_of(two_harnesses, tmp_path, *names)
    assert found == {"readable": same(0.0, abs=100)}
    assert "control_harness" in keys


def test_a_name_of_no_model_here_is_refused_with_those_that_are(two_harnesses):
    for given, said in (
        ("gpt=a", "--name must be MODEL=SHOWN with a model out of CUSTOM, scripted/readable, got 'gpt'."),
        ("CUSTOM", "--name must be MODEL=SHOWN, got 'CUSTOM'."),
    ):
        refused = personafeedback("rank", two_harnesses, "--name", given, "--data", "sample")
        assert refused.exit_code == 1
        assert said in " ".join(refused.output.split())


def test_report_takes_a_control_of_the_other_harness_under_the_same_name(two_harnesses, tmp_path):
    (run,), (control,) = (two_harnesses / "a").glob("*.eval"), (two_harnesses / "b").rglob("results_*.json")
    arguments = ("report", run, control, "--data", "sample", "--out", tmp_path / "out")
    done = ran(*arguments, "--name", "CUSTOM=reader", "--name", "scripted/readable=reader")
    assert done.stdout.startswith("reader (demonstration)")
    (report,) = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["reports"]
    assert (report["name"], report["model"]) == ("reader", "scripted/readable")
    assert report["groups"]["total"]["measures"]["persona_gain"]["value"] is not None
    assert "control_harness" in [caveat["key"] for caveat in report["caveats"]]


# --- two runs, by `compare` ---------------------------------------------------------------------------------------------


@pytest.fixture
def two_runs(part_log, real_part):
    """The same cell under two judges, each in one harness; and part of it."""
    return {
        "mixed": part_log("lm-eval", "mixed", TASK),
        "readable": part_log("lm-eval", "readable", TASK),
        "gold": part_log("inspect", "gold", TASK, limit=30),
        "easy": part_log("lm-eval", "gold", "personafeedback_general_easy", limit=5),
        "bare": part_log("lm-eval", "gold", TASK, limit=5, samples=False),
    }


def test_cases_in_one_run_only_are_counted_and_the_ranking_is_partial(two_runs):
    found = ranking_of.compare(read_run(two_runs["gold"]), read_run(two_runs["readable"])).entry
    said = " ".join(words(found))
    assert "10 cases are only in the run of" in said
    assert " and others." in said
    assert "PARTIAL: general_hard 30 of 40." in said
    assert found.cases == found.pairs[0].difference.n == 30


def test_a_cell_that_only_one_run_was_asked_is_no_missing_part(two_runs, part_log):
    whole, one = read_run(part_log("lm-eval", "mixed", "personafeedback_general")), read_run(two_runs["readable"])
    for pair in ((whole, one), (one, whole)):
        found = ranking_of.compare(*pair).entry
        assert "PARTIAL" not in " ".join(words(found))
        assert not any(run.partial for run in found.runs)


def test_what_else_differs_is_said(two_runs, real_part, tmp_path):
    other = lm_eval_log(tmp_path, "gold", f"{TASK}_mc", real_part, metadata={"setting": "no_persona"}, limit=30)
    said = " ".join(personafeedback("compare", two_runs["readable"], other).stdout.split())
    assert "The runs also differ in setting: persona and no_persona" in said
    assert "The runs also differ in method: generate and mc" in said
    said = " ".join(personafeedback("compare", two_runs["gold"], two_runs["readable"]).stdout.split())
    # both harnesses decode alike, under other names; only the chat template differs
    assert "conditions differ: chat template=applied; and chat template=not applied." in said


@pytest.mark.parametrize(
    ("other", "sentence"),
    [("easy", "have no case in common"), ("bare", "found no samples"), ("mixed", "found the same run")],
)
def test_runs_that_cannot_be_compared_are_refused(other, sentence, two_runs):
    done = personafeedback("compare", two_runs["mixed"], two_runs[other])
    assert done.exit_code == 1
    assert sentence in done.output
