"""Does it use this user's persona? One verdict, in every output; and none where the numbers are void."""

from __future__ import annotations

import ast
import csv
import html
import math
import string
from dataclasses import replace
from pathlib import Path

import pytest
from rich.text import Text
from support.planted_judges import KNOWER, asked, cut, first, missing
from support.sample_runs import SAMPLE, run_of
from support.shown import as_json

from personafeedback_tasks import analysis
from personafeedback_tasks.analysis import void
from personafeedback_tasks.analysis.balance import rank_document
from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.documents import ReportDocument
from personafeedback_tasks.analysis.ranking import compare, make_ranking
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.common.outputs import json_text, jsonable
from personafeedback_tasks.logs.caveat import SENTENCES, VOID, Caveat, caveat
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.personafeedback.report import examine
from personafeedback_tasks.reports import page, rank_text, report_text
from personafeedback_tasks.reports.blocks import markdown, terminal
from personafeedback_tasks.reports.card import update_card
from personafeedback_tasks.reports.card_file import CardError, CardFile
from personafeedback_tasks.reports.files import rank_csv

USES = "it uses this user's persona"

# --- planted judges, in every output ----------------------------------------------------------------------------------

PLANTED = {
    "a knower": (KNOWER, USES),
    "a wrong persona misleads it": ((missing(0, 12), missing(0, 26), missing(2, 14)), "a wrong persona misleads it (-"),
    "any persona helps it": ((missing(0, 4), missing(2, 6), missing(0, 18)), "any persona helps it; no sign that it must be this user's"),
    "indifferent": ((missing(0, 12), missing(2, 14), missing(1, 13)), "no sign that it uses this user's persona"),
    "no run without": ((missing(0, 12), missing(0, 26), None), "no sign that it uses this user's persona: answers depend on whose it is, and whether the right one helps was not asked"),
}  # fmt: skip


def printed(blocks) -> str:
    return "\n".join(
        str(part) if isinstance(part, Text) else " ".join([*(str(c.header) for c in part.columns), *(str(cell) for c in part.columns for cell in c.cells)])
        for part in terminal(blocks)
    )  # fmt: skip


def outputs(run: Run, controls: dict[str, Run], folder: Path) -> dict[str, str]:
    """Name of an output -> its text without escapes."""
    report = make_report(run, SAMPLE, controls)
    reports = ReportDocument(reports=[report])
    ranking = make_ranking([Contender(run, controls)], examine(SAMPLE, run.cases), SAMPLE)
    document = rank_document([ranking])
    found = {
        "report": printed(report_text.blocks(reports)),
        "report --full": printed(report_text.blocks(reports, full=True)),
        "report.md": markdown(report_text.blocks(reports, full=True)),
        "report.json": json_text(reports),
        "rank": printed(rank_text.blocks(document)),
        "rank --full": printed(rank_text.blocks(document, full=True)),
        "ranking.md": markdown(rank_text.blocks(document, full=True)),
        "ranking.json": json_text(document),
        "ranking.csv": rank_csv(document),
        "page": page.render([ranking], []),
        "compare": printed(rank_text.blocks(rank_document([compare(run, replace(run, model="another"))]), full=True)),
    }
    try:
        update_card(run, report, SAMPLE, CardFile(folder / "README.md", run.name), {})
        found["card"] = (folder / "README.md").read_text("utf-8")
    except CardError as error:
        found["card"] = f"refused: {error}"
    return {name: plain(text) for name, text in found.items()}


def plain(text: str) -> str:
    """A text in one line, without what escapes other signs in Markdown and HTML."""
    return " ".join(html.unescape(text).replace("\\", "").replace("\u2060", "").split())


SILENT = "compare"
"""It says nothing on the persona."""


@pytest.mark.parametrize("name", PLANTED)
def test_every_output_gives_the_verdict_of_both_differences(name, tmp_path):
    judges, said = PLANTED[name]
    for output, text in outputs(*asked(judges), tmp_path).items():
        if output != SILENT:
            assert said[1:] in text, output  # it may begin a sentence
        assert ("t uses this user's persona" in text.replace("that it uses", "")) == (
            said == USES and output != SILENT
        ), output


# --- void numbers -----------------------------------------------------------------------------------------------------


def void_keys() -> list[str]:
    """The keys of every `caveat(key, VOID, ...)` of the package."""
    found = set()
    for path in Path(analysis.__file__).parents[1].rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        for call in calls:
            if getattr(call.func, "id", "") == "caveat" and len(call.args) > 1 and "VOID" in ast.dump(call.args[1]):
                found.add(ast.literal_eval(call.args[0]))
    return sorted(found)


def made_up(key: str) -> Caveat:
    """A caveat with a value for each that its sentence needs."""
    fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(SENTENCES[key]) if name]
    return caveat(key, VOID, **{name: 12 if spec else f"some {name}" for name, spec in fields})


def leads(output: str, text: str, sentence: str, control: bool = False) -> None:
    """Assert that an output gives this sentence before any number of the run, and no verdict; of a void control none on the persona."""
    assert sentence in text, f"{output} hides it"
    text = text.replace("hether it uses this user's persona is unknown: a control is void", "")
    assert "t uses this user's persona" not in text, f"{output} gives a verdict on the persona"
    assert "Not significantly different" not in text, f"{output} gives a verdict against a baseline"
    assert control or "points above" not in text, f"{output} gives a verdict against a baseline"
    firsts = {
        "report": "accuracy ",
        "report --full": "users",
        "report.md": "|  | cases |",
        "rank": "place",
        "rank --full": "place",
    }
    firsts |= {"ranking.md": "| place |", "page": '<p class="lead">', "compare": "place"}
    if (first := firsts.get(output)) and first in text:
        assert text.index(sentence) < text.index(first), f"{output} has numbers first"
    if output == "card":
        assert text.startswith("refused: ")


@pytest.mark.parametrize("key", [key for key in void_keys() if not key.startswith("control_")])
def test_what_makes_numbers_void_leads_every_output(key, tmp_path, monkeypatch):
    one = made_up(key)
    monkeypatch.setattr(void, "reasons", lambda run: iter([one]))
    for output, text in outputs(*asked(KNOWER), tmp_path).items():
        if output == "ranking.csv":
            assert key in text
        else:
            leads(output, text, plain(one.sentence))


def one_cell_silent(index: int) -> tuple[str, str]:
    return ("no_response", "A") if index < 4 else KNOWER[0](index)


SETUP = "this measures the setup, not the model"
BY_PLACE = "picks the first response in 100.0 % of the calls: differences to it measure place"
MEASURES_NOTHING = {
    "all unreadable": ((cut(0.4),) * 3, f"39.6 % of the replies are unreadable (truncated 39.6 %): {SETUP}", ""),
    "one in eight": ((cut(0.125), *KNOWER[1:]), f"12.5 % of the replies are unreadable (truncated 12.5 %): {SETUP}", ""),
    "a cell": ((one_cell_silent, *KNOWER[1:]), "25.0 % of the replies in specific easy are unreadable (no_response 25.0 %)", ""),
    "a control": ((*KNOWER[:2], cut(0.25)), "25.0 % of the replies of the control no_persona are unreadable (truncated 25.0 %)", "control_unreadable"),
    "other by place": ((KNOWER[0], first, KNOWER[2]), f"The control other_persona {BY_PLACE}", "control_by_place"),
    "none by place": ((*KNOWER[:2], first), f"The control no_persona {BY_PLACE}", "control_by_place"),
}  # fmt: skip
"""Name -> (judges, what every output says first, the key of a control's caveat)."""


@pytest.mark.parametrize("name", MEASURES_NOTHING)
def test_numbers_of_a_setup_or_of_a_place_are_no_verdict_on_a_model(name, tmp_path):
    judges, said, of_control = MEASURES_NOTHING[name]
    for output, text in outputs(*asked(judges), tmp_path).items():
        if output == "ranking.csv":
            assert (of_control or "unreadable") in text
        elif output != SILENT or not of_control:
            leads(output, text, said, control=bool(of_control))
            assert "inflate" not in text


VOID_RUNS = {
    "unreadable": {"judge": cut(0.25)},
    "place": {"judge": first},
    "samples": {"unchecked": (caveat("missing_samples", VOID, log="a.eval", found=1, claimed=2),)},
}


def differences_in(document: object, name: str = "") -> list[tuple[str, object]]:
    """Every difference, p value and rank in a document."""
    if isinstance(document, dict):
        if "value" in document:
            return (
                [(name, document["value"])] if name in DIFFERENCES or " - " in name or name.startswith("over_") else []
            )
        return [one for key, value in document.items() for one in differences_in(value, key)]
    if isinstance(document, list):
        return [one for value in document for one in differences_in(value, name)]
    return [(name, document)] if name in ("p", "use", "rank", "ranks") else []


DIFFERENCES = (
    "difference", "gain", "kappa", "right_minus_wrong", "persona_gain", "wrong_minus_none", "at_equal_length", "excess_over_counting"
)  # fmt: skip


@pytest.mark.parametrize("name", VOID_RUNS)
def test_a_void_run_has_no_difference_no_p_no_verdict_and_no_rank(name):
    fields = dict(VOID_RUNS[name])
    run, controls = asked((fields.pop("judge", KNOWER[0]), *KNOWER[1:]))
    run = replace(run, **fields)
    report = make_report(run, SAMPLE, controls)
    found = as_json(report)
    assert [one for one in differences_in(found) if one[1] is not None] == []
    assert found["users"] is None
    assert not [key for key in found["measures"] if key.startswith("same_as_")]
    sound = replace(run_of(missing(0, 40)), model="sound")
    ranking = make_ranking([Contender(run, controls), Contender(sound)], examine(SAMPLE, run.cases), SAMPLE)
    (ranked,) = jsonable(rank_document([ranking]))["rankings"]
    better, last = ranked["runs"]
    assert (better["model"], better["rank"], better["void"], better["tied"]) == ("sound", 1, False, [])
    assert (last["void"], last["tied"], ranked["pairs"]) == (True, [], [])
    assert [one for one in differences_in(last) if one[1] is not None] == []
    _, row = csv.DictReader(rank_csv(rank_document([ranking])).splitlines())
    assert (row["void"], row["rank"], row["right_minus_wrong"], row["over_longest"]) == ("1", "", "", "")
    shown = printed(rank_text.blocks(rank_document([ranking]), full=True))
    assert f"{run.name}: void: no rank, no difference and no verdict" in shown
    assert f"! {run.name}: " in shown
    assert rank_text.short_table(ranking.entry).labels[-1] == rank_text.VOID
    assert "has the highest accuracy, 16.7 %" in plain(page.render([ranking], []))


def test_a_void_control_takes_the_differences_to_it_and_nothing_else():
    run, controls = asked((*KNOWER[:2], cut(0.25)))
    report = make_report(run, SAMPLE, controls)
    gaps = {name: math.isnan(one.value) for name, one in report.differences(report.overall).items()}
    assert gaps == {"right minus wrong": False, "persona gain": True}
    assert report.use is None
    assert "persona is unknown: a control is void" in printed(report_text.blocks(ReportDocument(reports=[report])))
    assert make_ranking([Contender(run, controls)], examine(SAMPLE, run.cases)).entry.runs[0].rank == 1


@pytest.mark.slow
def test_what_no_answer_could_have_moved_is_not_measured_whatever_it_is(tmp_path):
    """In one cell, between two runs, with log-odds that are tied."""
    hard = [index for index, case in enumerate(SAMPLE) if case.cell == "general_hard"]
    run, controls = asked([lambda i, judge=judge: first(i) if i in hard else judge(i) for judge in KNOWER])
    report = make_report(run, SAMPLE, controls)
    for name in ("right minus wrong", "persona gain"):
        assert math.isnan(report.groups["general_hard"].measures[name.replace(" ", "_")].value)
        assert report.differences(report.overall)[name].value > 0
    runs = [run_of(lambda index, place=place: (place, place)) for place in "AB"]
    assert compare(*runs).entry.pairs == []
    tied, controls = asked([first] * 3, acc_sym=0.5)
    tied, *rest = (replace(run, signature=run.signature.changed(method="mc")) for run in (tied, *controls.values()))
    for output, text in outputs(tied, dict(zip(controls, rest, strict=True)), tmp_path).items():
        if output != "ranking.csv":
            leads(output, text, "It picks the first response in 100.0 % of the calls: this measures place")
            assert "averaged over the orders, they tie exactly" in text
            assert output in ("compare", "card") or "not measured" in text or '"value": null' in text


def test_few_unreadable_replies_are_a_caveat_that_blames_nobody(tmp_path):
    right, wrong, none = KNOWER

    def rarely(judge):  # one reply of 16 in each of three cells
        return lambda index: ("truncated", judge(index)[1]) if index in (0, 8, 16) else judge(index)

    run, controls = asked((rarely(right), wrong, rarely(none)))
    for output, text in outputs(run, controls, tmp_path).items():
        assert "the setup, not the model" not in text
        assert "inflate" not in text
        if output == "report --full":
            assert "3.1 % of the replies are unreadable (truncated 3.1 %) and count as wrong." in text
            assert (
                "of the control no_persona are unreadable (truncated 3.1 %) and count as wrong, as do 3.1 % of the run's."
                in text
            )
