"""`personafeedback verdict`: how often a writer's replies win, beside the calibration set of the judge."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from msgspec import structs
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback, ran
from support.duel_folders import write_duels
from support.inspect_runs import evaluate
from support.shared import built_once
from support.shown import words

from personafeedback_tasks.analysis.duel_runs import human_votes
from personafeedback_tasks.analysis.verdict import VerdictDocument, in_a_sentence, make_verdict
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.duels import Duels, NotAsked
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.report import duels as duels_of
from personafeedback_tasks.reports.blocks import markdown
from personafeedback_tasks.reports.verdict_text import blocks, notes, tables

same = pytest.approx

SHORT, LONG = "Try it.", "This is a long reply that says little. " * 200


def some_of(case):
    """A tie in the second case of each cell, an empty reply in the third, longer and shorter ones in the others."""
    number = int(case.id.split(":")[1])
    return {2: case.chosen, 3: " "}.get(number, case.chosen + " More of it." if number % 2 else case.chosen[:-10])


def other_of(case):
    """What the other model says: nothing in the fourth case of each cell."""
    return "" if case.id.endswith(":4") else case.chosen


RUNS = {
    ("longest", "calibration"): "personafeedback/longest",
    ("longest", "short"): "personafeedback/longest",
    ("longest", "long"): "personafeedback/longest",
    ("first", "calibration"): "personafeedback/first",
    ("first", "short"): "personafeedback/first",
    ("readable", "calibration"): "scripted/readable",
    ("readable", "some"): "scripted/readable",
}
"""(judge, data) -> the model."""


def build(root):
    """The data of some duels, and logs of three judges on these and on the sample. One folder was moved since."""
    write_duels(root / "short", lambda case: SHORT, difficulty="hard")
    write_duels(root / "long", lambda case: LONG, against="rejected", difficulty="hard")
    write_duels(root / "some", some_of, "scripted/reader", "other/model", other_of, difficulty="hard")
    for (judge, name), model in RUNS.items():
        data = "sample" if name == "calibration" else str(root / name)
        evaluate(tasks.personafeedback_hard(data=data), model, root / "logs" / f"{judge} {name}")
    shutil.move(root / "long", root / "moved")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """`JUDGE DATA` -> log; the folder of all logs, and those of data."""
    root = built_once(tmp_path_factory, "verdict", build)
    found = {" ".join(key): next((root / "logs" / " ".join(key)).glob("*.eval")) for key in RUNS}
    return {**found, "folder": root / "logs", "duels": root / "some", "moved": root / "moved"}


def verdict_of(logs, judge, name, *arguments, tmp_path):
    """What `--json` has of one verdict, and what was printed."""
    done = ran(
        "verdict", logs[f"{judge} {name}"], "--calibration", logs[f"{judge} calibration"], *(("--data", logs["moved"]) if name == "long" else ()),
        "--json", tmp_path / "v.json", *arguments, COLUMNS="80",
    )  # fmt: skip
    (found,) = json.loads((tmp_path / "v.json").read_text("utf-8"))["verdicts"]
    return found, done.stdout


def the_verdict(logs, people=None, **changed):
    """The verdict on the replies of `some`, with other fields of its run."""
    run, calibration = read_run(logs["readable some"]), read_run(logs["readable calibration"])
    cases = load_cases(logs["duels"], difficulty="hard")
    return make_verdict(
        replace(run, **changed), calibration, duels_of(cases), cases, load_cases("sample", difficulty="hard"), people
    )


# --- the verdict in a sentence ---------------------------------------------------------------------------------------


def rated(made, value, low, high, **fields):
    """A verdict whose best rate is this one, on a finished calibration of the benchmark itself."""
    rate = replace(made.overall.rate, value=value, low=low, high=high)
    corrected = replace(made.corrected, rate=None, **fields) if fields else replace(made.corrected, rate=rate)
    groups = {**made.groups, made.overall.name: replace(made.overall, rate=rate)}
    caveats = [caveat for caveat in made.caveats if caveat.key != "demonstration"]
    return structs.replace(made, groups=groups, corrected=corrected, caveats=caveats)


@pytest.mark.parametrize(
    ("value", "low", "high", "fields", "said"),
    [
        (0.71, 0.64, 0.78, {}, "win against those of other/model in 71.0 % of the duels (64.0 to 78.0 %); this judge's errors are corrected, assuming that it errs here as in its calibration set."),
        (0.31, 0.24, 0.38, {"why_not": "The judge is weak."}, "lose to those of other/model: they win in 31.0 % of the duels (24.0 to 38.0 %); the judge's errors are not corrected."),
        (0.52, 0.45, 0.59, {}, "and those of other/model are not significantly different: the replies win in 52.0 % of the duels (45.0 to 59.0 %); this judge's errors are corrected, assuming that it errs here as in its calibration set."),
        (0.72, float("nan"), float("nan"), {}, "win against those of other/model in 72.0 % of the duels; the uncertainty is unknown."),
    ],
)  # fmt: skip
def test_the_verdict_starts_with_a_sentence(value, low, high, fields, said, logs):
    made = rated(the_verdict(logs), value, low, high, **fields)
    duels = duels_of(load_cases(logs["duels"], difficulty="hard"))
    assert in_a_sentence(made, duels) == f"The replies of scripted/reader {said}"


# --- known answers ---------------------------------------------------------------------------------------------------


def test_a_judge_that_picks_the_first_gives_one_half_and_is_never_consistent(logs, tmp_path):
    found, printed = verdict_of(logs, "first", "short", tmp_path=tmp_path)
    for group in found["groups"].values():
        assert (group["rate"]["value"], group["consistency"], group["split"]) == (0.5, 0, group["rate"]["n"])
    assert found["corrected"]["rate"] is None
    assert "No corrected win rate. The numbers of the run, or of its judge's calibration set, are void." in printed


@pytest.mark.parametrize(("name", "rate", "against"), [("short", 0, "chosen"), ("long", 1, "rejected")])
def test_a_judge_of_length_gives_nothing_to_a_short_writer_and_all_to_a_long_one(logs, tmp_path, name, rate, against):
    found, _ = verdict_of(logs, "longest", name, tmp_path=tmp_path)
    total = found["groups"]["total"]
    assert (total["rate"]["value"], total["consistency"]) == (rate, 1)
    assert (total["won"], total["lost"]) == ((16, 0) if rate else (0, 16))
    assert found["against"] == against


def test_ties_count_half_and_an_empty_side_has_lost_without_asking(logs, tmp_path):
    found, printed = verdict_of(logs, "readable", "some", tmp_path=tmp_path)
    assert printed.index(found["sentence"]) < printed.index("DEMONSTRATION") < printed.index("Win rates")
    run = read_run(logs["readable some"])
    assert len(run.cases) == 10  # of 16: a tie and two empty sides in each of two cells
    for name in ("specific_hard", "general_hard", "total"):
        group = found["groups"][name]
        some = [case for case in run.cases.values() if name in ("total", case.cell)]
        each = 2 if name == "total" else 1
        assert group["not_asked"] == {"tie": each, "empty": each, "other_empty": each}
        assert group["rate"]["n"] == len(some) + 3 * each
        won = sum(case.value("acc") for case in some) + 0.5 * each + each
        assert group["rate"]["value"] == same(won / group["rate"]["n"], abs=1e-12)
        assert group["won"] + group["split"] + group["lost"] == len(some)
        assert group["consistency"] == same(sum(case.value("consistency") for case in some) / len(some))


@pytest.mark.slow
def test_the_other_harness_gives_the_same_verdict(logs, tmp_path):
    from support.logs import lm_eval_log

    there, _ = verdict_of(logs, "readable", "some", tmp_path=tmp_path)
    found = {
        f"readable {name}": lm_eval_log(tmp_path / name, "readable", "personafeedback_hard", data)
        for name, data in (("calibration", "sample"), ("some", logs["duels"]))
    }
    here, _ = verdict_of({**logs, **found}, "readable", "some", tmp_path=tmp_path)
    for name, group in there["groups"].items():
        assert here["groups"][name] == {
            key: same(value, abs=1e-12) for key, value in group.items() if key != "name"
        } | {"name": name}
    for key, value in there["corrected"].items():
        assert here["corrected"][key] == (same(value, abs=1e-12) if value is not None and key != "why_not" else value)


def test_unreadable_answers_and_equal_rewards_are_no_defeats(logs):
    """A judge without an answer to all duels of a cell has not said that their replies lost."""
    found = the_verdict(logs)
    run = read_run(logs["readable some"])
    silent = [one.changed(answers=("no_response",) * len(one.answers)) for one in run.results]
    none = the_verdict(logs, results=silent)
    asked = found.overall.asked
    assert (none.overall.won, none.overall.split, none.overall.lost, none.overall.neither) == (0, 0, 0, asked)
    assert "neither" in [column.heading for column in tables(none)[2].columns]
    printed = [markdown(blocks(VerdictDocument(verdicts=[made]))) for made in (found, none)]
    assert ["neither: " in text for text in printed] == [False, True]
    equal = the_verdict(logs, results=[one.changed(answers=(), rewards={"reward": (1.0, 1.0)}) for one in run.results])
    assert (equal.overall.neither, equal.overall.lost) == (asked, 0)


# --- which runs go together ------------------------------------------------------------------------------------------


def test_a_folder_of_everything_gives_each_duel_its_own_calibration(logs, tmp_path):
    done = ran("verdict", logs["folder"], "--calibration", logs["folder"], "--json", tmp_path / "v.json")
    found = json.loads((tmp_path / "v.json").read_text("utf-8"))["verdicts"]
    assert sorted((one["judge"], one["against"], one["writer"]) for one in found) == [
        ("personafeedback/first", "chosen", "acme/writer"),
        ("personafeedback/longest", "chosen", "acme/writer"),
        ("scripted/readable", "other/model", "scripted/reader"),
    ]
    assert all(f"| {one['judge']} |" in one["calibration"] for one in found)
    assert done.stderr.count("found no duels of the run on") == 4
    assert done.stderr.count("which say whether these are duels") == 1


@pytest.mark.parametrize(
    ("duel", "calibration", "said"),
    [
        ("readable some", "first calibration", "model: found personafeedback/first, expected scripted/readable"),
        ("readable some", "longest long", "Found no calibration run"),
        ("readable calibration", "readable calibration", "found no duels of the run on sample. Pass a judge's run on a folder"),
    ],
)  # fmt: skip
def test_runs_that_do_not_go_together_are_refused(logs, duel, calibration, said):
    done = personafeedback("verdict", logs[duel], "--calibration", logs[calibration])
    assert done.exit_code == 1
    assert said in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"setting": "no_persona"}, "setting: found persona, expected no_persona"),
        ({"method": "cot"}, "method: found generate, expected cot"),
    ],
)
def test_a_calibration_set_that_was_asked_otherwise_is_none(logs, changed, said):
    signature = read_run(logs["readable some"]).signature.changed(**changed)
    with pytest.raises(
        ValueError, match=f"the calibration run of another judge.*{said}.*Run the judge with the same options"
    ):
        the_verdict(logs, signature=signature)
    with pytest.raises(ValueError, match="temperature: found 0, expected 1"):
        the_verdict(logs, conditions={"temperature": 1})


def test_a_run_that_is_not_finished_leaves_ties_and_empty_replies_out(logs):
    run = read_run(logs["readable some"])
    found = the_verdict(logs, results=run.results[:7])
    assert (found.overall.rate.n, found.overall.not_asked) == (7, {})
    said = words(found)
    assert any(one.startswith("PARTIAL: ") for one in said)
    assert "Ties and empty replies are left out: the run has not answered all of its duels." in said


def test_data_that_were_moved_are_found_with_an_option(logs):
    arguments = ("verdict", logs["longest long"], "--calibration", logs["longest calibration"])
    done = personafeedback(*arguments)
    assert done.exit_code == 1
    assert "which say whether these are duels and who wrote what, were not found" in done.stderr
    for other in ((), ("--data", logs["duels"])):
        done = ran(*arguments, *other, "--data", logs["moved"])
        assert done.stdout.startswith("acme/writer against rejected, judged by personafeedback/longest\n")


def test_without_the_texts_of_the_calibration_there_is_no_correction(logs):
    run, calibration = read_run(logs["readable some"]), read_run(logs["readable calibration"])
    cases = load_cases(logs["duels"], difficulty="hard")
    found = make_verdict(run, calibration, duels_of(cases), cases, None, why_not="FOLDER: no such folder.")
    assert found.corrected.rate is None
    assert found.corrected.why_not == "The calibration set's texts were not found. FOLDER: no such folder."
    assert found.overall.calibration.n == 16


# --- people's votes --------------------------------------------------------------------------------------------------

DUELS = Duels(
    writer="w",
    against="chosen",
    models=("w",),
    pairs=3,
    sources={"hard:1": "hard:4", "hard:2": "hard:9"},
    not_asked=(NotAsked(case="hard:5", cell="hard", user_id="u", why="tie"),),
)


@pytest.mark.parametrize("separator", [",", ";"])  # as a spreadsheet in Europe writes it
def test_votes_of_people_from_a_file(separator, tmp_path):
    path = tmp_path / "votes.csv"
    text = "\ufeffperson,case,winner\nAnn,hard:4,reply\nBob,hard:4,other\nAnn,hard:9,tie\nBob,hard:9, reply\n"
    path.write_text(text.replace(",", separator), "utf-8")
    assert human_votes(path, DUELS) == {"hard:1": [1.0, 0.0], "hard:2": [0.5, 1.0]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("case,winner\nhard:4,Reply\n", "line 2: found winner = 'Reply', expected one of reply, tie, other."),
        ("case,winner\nhard:4,reply\nhard:1,reply\n", "line 3: found the case 'hard:1', expected one of the duels, such as 'hard:4'"),
        ("case,winner\nhard:5,reply\n", "found a vote on 'hard:5', which needs no vote (tie)"),
        ("case,winner\n", "found no vote on a duel in it"),
    ],
)  # fmt: skip
def test_votes_of_people_that_are_none(tmp_path, content, said):
    path = tmp_path / "votes.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError) as caught:
        human_votes(path, DUELS)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_votes_of_people_on_the_duels_of_ten_users_give_a_rate(logs):
    """One user for each duel: people say the opposite wherever the judge is sure."""
    cases = load_cases(logs["duels"], difficulty="hard")
    duels = structs.replace(duels_of(cases), not_asked=())
    run, calibration = read_run(logs["readable some"]), read_run(logs["readable calibration"])
    own = [one.changed(user_id=f"of {duels.sources.get(one.case_id, one.case_id)}") for one in run.results]
    examined = [one.changed(user_id=f"of {one.case_id}") for one in calibration.results]
    people = {case_id: [float(not case.value("acc"))] * 2 for case_id, case in run.cases.items()}
    found = make_verdict(
        replace(run, results=own),
        replace(calibration, results=examined),
        duels,
        cases,
        load_cases("sample", difficulty="hard"),
        people,
    )
    assert (found.people, found.people_users, found.prediction_powered.rate.n) == (10, 10, 10)
    assert found.prediction_powered.rate.value == same(sum(not case.value("acc") for case in run.cases.values()) / 10)
    assert "with people's votes" in tables(found)[0].labels
    assert any(one.startswith("With people's votes on 10 duels") for one in notes(found))


@pytest.mark.slow
def test_votes_on_the_duels_of_few_users_are_left_out(logs, tmp_path):
    run, cases = read_run(logs["readable some"]), load_cases(logs["duels"], difficulty="hard")
    votes = [
        (case.extra["source"], "other" if run.cases[case.id].value("acc") else "reply") for case in list(cases)[:8]
    ]
    path = tmp_path / "votes.tsv"  # a spreadsheet's export, whatever its name
    path.write_text("case\twinner\n" + "".join(f"{case}\t{winner}\n" for case, winner in votes), "utf-8")
    found, printed = verdict_of(logs, "readable", "some", "--human", path, tmp_path=tmp_path)
    assert (found["people"], found["prediction_powered"]) == (8, None)
    few = f"they are on duels of {found['people_users']} users, and at least 10 users are needed."
    assert f"People's votes are left out: {few}" in " ".join(printed.split())
    assert "with people's votes" not in printed
    done = personafeedback("verdict", logs["folder"], "--calibration", logs["folder"], "--human", path)
    assert done.exit_code == 1
    assert "--human needs one run of duels, found 3." in done.stderr
