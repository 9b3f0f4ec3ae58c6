"""Data with a `set.json`: the strict manifest, the cells that follow from it, and its name in place of the benchmark's."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import ran
from support.documents import DOCS
from support.inspect_runs import evaluate
from support.logs import lm_eval_log
from support.releases import write_set
from support.shared import built_once

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.duels import Duel, NotAsked
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.manifest import Agreement, LabelNoise, Manifest

PERSONAS = {"u1": {"Name": "Ann", "Job": "baker"}, "u2": {"Name": "Bob", "Job": "cook"}}


def rows(number: int) -> list[dict[str, str]]:
    texts = [{"question": f"q{n}?", "chosen": f"good {n}", "reject": f"quite bad {n}"} for n in range(number)]
    return [{"user_id": f"u{1 + n % 2}", **text} for n, text in enumerate(texts)]


TWO_CELLS = {"general/hard": rows(4), "spedific/mid": rows(2)}


@pytest.fixture
def make_set(tmp_path):
    def make(cells=TWO_CELLS, **changed):
        return write_set(tmp_path / f"set{len(list(tmp_path.iterdir()))}", cells, PERSONAS, **changed)

    return make


WHOLE = Manifest(
    name="a set", counts={"general_hard": 3}, labels="Nine people voted.", generator="acme/model", license="MIT", annotators=9,
    agreement=Agreement(measure="kappa", value=0.4, low=0.3, high=0.5),
    noise=LabelNoise(measure="risk", by_tier={"easy": 0.1, "hard": 0.3}),
    duel=Duel(writer="a", against="chosen", models=("a",), pairs=4, not_asked=(NotAsked(case="general_hard:7", cell="general_hard", user_id="1", why="tie"),)),
).as_dict()  # fmt: skip
"""A manifest with every key."""


def loaded(document: object) -> Manifest | None:
    """A manifest as another program may write it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "set.json").write_text(json.dumps(document), "utf-8")
        return Manifest.load(Path(folder))


def test_a_folder_without_one_is_no_set_but_a_broken_link_is_an_error(tmp_path):
    assert Manifest.load(tmp_path) is None
    (tmp_path / "set.json").symlink_to(tmp_path / "gone")
    with pytest.raises(DataError, match=r"set\.json: could not be read"):
        Manifest.load(tmp_path)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every key of the document and the objects within."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [
        place
        for key, item in inner
        for place in ([(*path, key)] if isinstance(value, dict) else []) + places(item, (*path, key))
    ]


TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=5)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | TEXTS | st.sampled_from([" ", "a\nb", "x" * 1001]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=3,
)  # fmt: skip


@pytest.mark.slow
@given(st.sampled_from(places(WHOLE)), ANY)
@settings(max_examples=200)
def test_any_other_value_is_taken_as_it_is_or_refused_with_its_key(place, value):
    """Nothing is converted: what is accepted is what was written."""
    message, document = "", json.loads(json.dumps(WHOLE))
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        kept = loaded(document).as_dict()
    except DataError as error:
        message = str(error)
    if message:
        assert re.search(r"/set\.json: found .*, expected .*\. (Did you mean .*\? )?(Fix|If|Get)", message, re.S), (
            message
        )
        # or one of the values of a mapping, or the count that fits no longer
        assert any(name in message for name in (str(place[-1]), "[...]", "duel.pairs"))
        return
    if place in {("noise",), ("duel",)} and value is None:
        return
    for key in place:
        kept = kept[key]
    assert kept == value
    assert type(kept) is type(value) or place[0] in ("agreement", "noise")  # 1 is a number, too


NAMES = dict.fromkeys(
    ["two\nlines", "\x1b[31mred", "a\u202eb", " padded", "", "x" * 101, "tab\there"],
    "one line of 1 to 100 printable char",
)
NAMES |= dict.fromkeys(["PersonaFeedback", "persona feedback"], "a name that is not the benchmark's")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_one_printable_line_and_not_the_benchmarks(name):
    with pytest.raises(DataError, match=rf"/set\.json: found name = .*, expected {NAMES[name]}.*\. Fix it"):
        loaded({**WHOLE, "name": name})


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("counts", {"general_hardest": 3}, "counts = {'general_hardest': 3}, expected the numbers of cases of some of"),
        ("counts", {}, "counts = {}, expected"),
        ("annotators", "9", "annotators = '9', expected"),
        *(("format", value, "format = .*, expected 1. If a later version") for value in (True, 1.0, "1", 2, None)),
        ("noise", {"measure": "m", "by_tier": {"hardest": 0.1}}, r"noise.by_tier = \['hardest'\], expected some"),
        ("counts", {"general_hard": 4}, "the pairs = '4 asked and 1 not asked', expected 4 in all"),
    ],
)
def test_the_format_cells_tiers_types_and_the_pairs_of_a_duel_are_checked(key, value, said):
    with pytest.raises(DataError, match=f"/set.json: found {said}"):
        loaded({**WHOLE, key: value})


def test_a_set_has_the_cells_that_it_names_and_no_other(make_set):
    folder = make_set()
    for cases in (load_cases(folder), load_present(folder)):
        assert {cell: len(of) for cell, of in cases.cells.items()} == {"specific_medium": 2, "general_hard": 4}
    assert set(load_cases(folder, difficulty="hard").cells) == {"general_hard"}
    assert set(load_cases(folder, "specific").cells) == {"specific_medium"}
    assert (cases.release.manifest.name, cases.named_set.name) == ("kitchen questions", "kitchen questions")
    assert cases.revision.startswith(f"{folder.name} (set kitchen questions, sha256 ")
    assert cases.digest != load_cases(make_set(labels="Nobody voted.")).digest
    with pytest.raises(
        DataError, match=r"found no general_easy in counts, .* this set has: specific_medium, general_hard"
    ):
        load_cases(folder, "general", "easy")


@pytest.mark.parametrize("counts", ["checked", "any"])
def test_a_file_without_a_count_and_a_count_without_a_file_are_errors(make_set, counts):
    with pytest.raises(
        DataError, match=r"found no general_hard in counts, expected the number of cases of its file\. Add it"
    ):
        load_present(make_set(counts={"specific_medium": 2}), counts=counts)
    with pytest.raises(DataError, match=r"easy\.jsonl: no such file, so there are no general_easy cases"):
        load_cases(make_set(counts={"specific_medium": 2, "general_hard": 4, "general_easy": 1}), counts=counts)


def test_the_number_of_cases_is_checked_against_the_manifest(make_set):
    folder = make_set(counts={"specific_medium": 2, "general_hard": 5})
    with pytest.raises(
        DataError, match=r"hard\.jsonl: found 4 cases of general_hard, expected 5\. Get a complete copy, or pass"
    ):
        load_cases(folder)
    assert len(load_cases(folder, counts="any")) == 6
    assert load_cases(folder, "specific").counts == "checked"


def test_the_example_of_the_page_is_a_manifest(tmp_path):
    (example,) = re.findall(r"```json\n(\{\"format\": 1.*?)```", (DOCS / "data.md").read_text("utf-8"), re.S)
    (tmp_path / "set.json").write_text(example, encoding="utf-8")
    found = Manifest.load(tmp_path)
    assert found.name == "kitchen questions"
    assert found.agreement.value == 0.46


NAME = "kitchen questions"
OF_THE_PAPER = ("Table 2", "2506.12915", "PersonaFeedback", "nine annotators", "PersonalAILab", "8,298")


def run_on_a_set(root):
    users, cells = ("u0", "u1", "u2", "u3"), {}
    for cell in ("general/easy", "general/hard"):
        row = {"chosen": "A soup that suits you.", "reject": "Fish."}
        cells[cell] = [{**row, "user_id": user, "question": f"What does {user} cook, {cell}?"} for user in users]
    write_set(root / "set", cells, {user: {"Name": f"Ada {user}", "Likes": "soup"} for user in users})
    evaluate(tasks.personafeedback(data=str(root / "set")), "scripted/readable", root / "logs" / "set")
    lm_eval_log(root / "lm", "readable", "personafeedback_general_hard", root / "set")


@pytest.fixture(scope="module")
def runs_on_a_set(tmp_path_factory):
    return built_once(tmp_path_factory, "sets_named", run_on_a_set)


@pytest.mark.slow
def test_both_harnesses_sign_the_set(runs_on_a_set):
    for log in (runs_on_a_set / "logs" / "set", runs_on_a_set / "lm"):
        run = read_run(log)
        assert run.signature.to_json()["set"] == {"name": NAME, "counts": {"general_easy": 4, "general_hard": 4}}
        assert NAME in run.signature.task
        assert not run.partial


@pytest.mark.slow
def test_every_command_speaks_of_the_set(runs_on_a_set, tmp_path):
    log, data = runs_on_a_set / "logs" / "set", runs_on_a_set / "set"
    card = tmp_path / "CARD.md"
    outputs = {
        "report": ran("report", log).output,
        "rank": ran("rank", log, "--out", tmp_path / "rank").output,
        "card": ran("card", log, "--model-card", card).output,
        "audit": ran("audit", "--data", data).output,
        "plan": ran("plan", "personafeedback", "-T", f"data={data}").output,
    }
    outputs["the card"] = card.read_text("utf-8")
    outputs["the page"] = (tmp_path / "rank" / "ranking.md").read_text("utf-8")
    for what, said in outputs.items():
        if what != "card":  # says which file it wrote
            assert NAME in " ".join(said.split()), what
        for word in OF_THE_PAPER:
            assert word not in said, (what, word)
    assert "CC-BY-4.0" in outputs["the card"]
    assert "Two cooks voted." in outputs["the card"]
