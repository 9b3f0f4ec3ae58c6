"""Parts of outputs, each by itself: axes, curves, blocks, sentences, what is said of users, and the places of a page."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("rich")

from support import jsonl_harness
from support.judges import JUDGES

from personafeedback_tasks.analysis.costs import Cost
from personafeedback_tasks.analysis.measures import Contender
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.analysis.run_data import ranked
from personafeedback_tasks.analysis.users import Slice
from personafeedback_tasks.engine.usage import Usage
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import costs_text, figure, headline, page_data
from personafeedback_tasks.reports.blocks import bullets, heading, paragraph, warnings
from personafeedback_tasks.reports.costs_text import money
from personafeedback_tasks.reports.page_plots import TICKS, Axis
from personafeedback_tasks.reports.sentences import sentence
from personafeedback_tasks.runs import log as logs
from personafeedback_tasks.runs.caveat import WEAKENS, Caveat
from personafeedback_tasks.runs.data import RunData
from personafeedback_tasks.runs.read import read_run

same = pytest.approx


# --- pictures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "axis"),
    [
        ([0.501, 0.549], (50, 55, 1)),
        ([0.50, 0.559], (50, 56, 1)),
        ([0.50, 0.57], (50, 58, 2)),
        ([0.41, 0.78], (40, 80, 10)),
        ([0.0, 1.0], (0, 100, 20)),
        ([0.5, 0.5], (49, 51, 1)),
        ([1.0], (99, 100, 1)),
        ([0.0, math.nan], (0, 1, 1)),
        ([math.nan], (0, 100, 20)),
        ([], (0, 100, 20)),
    ],
)
def test_an_axis_has_the_finest_step_with_few_ticks(values, axis):
    found = Axis.over(values)
    assert (found.low, found.high, found.step) == axis
    assert (found.high - found.low) / found.step < TICKS == 7


def test_the_points_of_a_figure_lie_between_its_legend_and_its_axis(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))
    path = jsonl_harness.run(JUDGES["gold"], "gold", tmp_path, "personafeedback", "hard", data="sample")
    drawn = figure.draw([make_report(read_run(path), load_cases("sample", difficulty="hard"))])
    (axes,) = drawn.axes
    place, height = axes.get_position(), drawn.get_figheight()
    below = [text.get_position()[1] for text in drawn.texts if text.get_position()[1] < place.y0]
    assert 0 < place.y0 < place.y1 < 1
    assert below
    assert place.height * height == same(figure.LINE * axes.get_ylim()[0])


# --- blocks -------------------------------------------------------------------------------------------------------------


def printed(block) -> list[str]:
    return [str(line) for line in block.terminal()]


def test_notes_have_their_lead_above_them():
    assert bullets(("a", "b"), "About:").markdown() == ["About:", "- a\n- b"]
    assert bullets(("a", "b")).markdown() == ["- a\n- b"]
    assert printed(bullets(("a", "b"), "About:")) == ["About:", "  a", "  b", ""]
    assert printed(bullets(("a",))) == ["a", ""]
    assert bullets((), "About:").markdown() == bullets((), "About:").terminal() == []


def test_a_title_is_a_level_above_its_tables():
    assert heading("Runs").markdown() == ["## Runs"]
    assert (printed(heading("Runs")), printed(paragraph()), paragraph("a").markdown()) == (["Runs"], [""], ["a"])


def test_a_terminal_dims_what_matters_less():
    assert [line.style for line in paragraph("a").terminal()] == [""]
    assert [line.style for line in paragraph("a", dim=True).terminal()] == ["dim"]
    assert paragraph("a", dim=True).markdown() == paragraph("a").markdown()


def test_warnings_are_the_sentences_of_their_caveats():
    caveat = Caveat("few_users", WEAKENS, {"users": 5})
    found = warnings([caveat], ["more"])
    assert printed(found) == [f"! {sentence(caveat)}", "! more"]
    assert sentence(caveat).startswith("Only 5 users: ")
    assert found.markdown() == [f"> {sentence(caveat)}  \n> more  "]
    assert sentence(Caveat("one_user", WEAKENS, about=("run 2", ""))).startswith("run 2: Only one user")


# --- costs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0.0, "0.00"), (0.00251, "0.0025"), (0.5, "0.5"), (1.0, "1.00"), (12.345, "12.35"), (1234.5, "1,234.50"), (math.nan, "–")],
)  # fmt: skip
def test_money_has_the_digits_that_matter(dollars, text):
    assert money(dollars) == text


@pytest.mark.parametrize(("cached", "dollars"), [(0, 1.0), (5, math.nan), (math.nan, 1.0), (5, 1.0), (5, 0.0)])
def test_dollars_are_called_an_upper_bound_where_cached_input_is_priced(cached, dollars):
    cost = Cost("persona", Usage(2, 10, cached, 4, 0), 2, dollars)
    free = Cost("no_persona", Usage(2, 10, 0, 4, 0), 2, 1.0)
    said = [text for block in costs_text.blocks([cost, free]) for text in block.markdown() if "upper bound" in text]
    assert said == ([costs_text.CACHED] if cached > 0 and not math.isnan(dollars) else [])


# --- sentences ----------------------------------------------------------------------------------------------------------


def slice_of(p: float, detectable: float, difference: float = 0.1) -> Slice:
    return Slice("Gender", "male", 12, difference, 0.05, 0.15, p, detectable)


def test_only_significant_groups_of_users_are_named():
    found = headline._slices(SimpleNamespace(slices=(slice_of(0.01, 0.2), slice_of(0.2, 0.1))))
    assert found == ["Gender: male (12 users): +10.0 points (+5.0 to +15.0) beside the others, p = 0.01 (Holm)"]
    (none,) = headline._slices(SimpleNamespace(slices=(slice_of(0.3, 0.2), slice_of(0.2, 0.1), slice_of(0.9, 0.15))))
    assert none.startswith("none of 3 groups of at least")
    assert "a gap of 10.0 to 20.0 points would have been found in 80 % of benchmarks" in none
    (equal,) = headline._slices(SimpleNamespace(slices=(slice_of(0.3, 0.2),)))
    assert "a gap of 20.0 points" in equal
    assert headline._slices(SimpleNamespace(slices=())) == []


def test_what_is_said_of_users_has_every_number():
    users = SimpleNamespace(count=1234, spread=0.08, low=0.05, high=0.12, slices=())
    found = headline.users(SimpleNamespace(users=users))
    lead, spread, _ = (text.strip() for text in printed(found))
    assert "1,234 users" in lead
    assert spread == "standard deviation beyond chance 8.0 (5.0 to 12.0) points"
    assert printed(headline.users(SimpleNamespace(users=None))) == []


# --- the page -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rankings(monkeypatch, tmp_path):
    """Two rankings: two judges of all cases, and one of some of them."""
    monkeypatch.setattr(logs, "READERS", (jsonl_harness.READER, *logs.READERS))
    runs = [
        read_run(
            jsonl_harness.run(JUDGES[judge], judge, tmp_path / selection, "personafeedback", selection, data="sample")
        )
        for judge, selection in (("readable", ""), ("mixed", ""), ("gold", "hard"))
    ]
    return [ranked([Contender(run) for run in some], [RunData(None)]) for some in (runs[:2], runs[2:])]


def test_runs_are_numbered_in_each_ranking(rankings):
    (first,), (second,) = rankings
    assert page_data.places([first]) == [["1", "2"]]
    assert page_data.places([first, second]) == [["1.1", "1.2"], ["2.1"]]


def test_a_page_has_texts_where_any_ranking_of_its_kind_has_data(rankings):
    (first,), (second,) = rankings
    without = SimpleNamespace(runs=second.runs, rows=second.rows, data=None, texts=None)

    def kinds(*of):
        return page_data.data(of, [page_data.texts_of(ranking) for ranking in of])["kinds"]

    for order in ([first, without], [without, first]):
        assert kinds(*order) == kinds(first)
    (bare,) = kinds(without)
    assert [bare] != kinds(first)
