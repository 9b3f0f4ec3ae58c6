"""What a plan assumes, what a signature knows of memories and others, and the limits of options, by hand."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("bm25s")

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.common.folders import SAMPLE
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.rag import filter as rag_filter
from personafeedback_tasks.personafeedback.rag import memory
from personafeedback_tasks.personafeedback.record import COMPARISONS, PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import locate

same = pytest.approx


def test_a_plan_assumes_these_variances():
    assert [(one.paired, one.variance, one.correlation) for one in COMPARISONS] == [
        (True, 0.1, 0.035),
        (True, 0.25, 0.035),
        (True, 0.4, 0.035),
        (False, 0.1875, 0.035),  # .75 * .25
    ]
    assert [one.name for one in COMPARISONS] == [*(f"paired, {share} % differ" for share in (10, 25, 40)), "unpaired"]


# --- memories and other users ---------------------------------------------------------------------------------------------


@pytest.fixture
def remembered(tmp_path) -> Path:
    """A copy of the sample in which every user read three things."""
    root = shutil.copytree(locate(SAMPLE).root, tmp_path / "remembered")
    (root / "memory").mkdir(exist_ok=True)
    for path in (root / "persona").glob("*.json"):
        lines = "".join(f'{{"text": "piece {number}"}}\n' for number in (1, 2, 3))
        (root / "memory" / f"{path.stem}.jsonl").write_text(lines, encoding="utf-8")
    return root


def test_the_digest_of_memories_is_that_of_all_files_and_their_names(remembered):
    whole = hashlib.sha256()
    for path in sorted((remembered / "memory").iterdir()):
        whole.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    before = memory.digest(remembered)
    assert before == whole.hexdigest()[:12]
    (remembered / "memory" / "notes.txt").touch()
    assert memory.digest(remembered) == before
    next((remembered / "memory").glob("*.jsonl")).write_text('{"text": "other"}\n', encoding="utf-8")
    assert memory.digest(remembered) != before


def test_a_signature_has_what_its_setting_reads_of_all_users(remembered):
    cases = load_cases(remembered, counts="any")
    signs = {
        setting: PERSONAFEEDBACK.signs(cases, Template(setting=setting))
        for setting in ("persona", "rag", "other_persona")
    }
    assert signs["persona"] == {"memory": None, "others": None}
    assert signs["rag"] == {"memory": memory.digest(remembered), "others": None}
    assert signs["other_persona"] == {"memory": None, "others": cases.release.others.digest}


@pytest.mark.parametrize(
    ("reply", "numbers"), [("1, 3", (1, 3)), ("3, 1", (1, 3)), ("0", ()), ("None", ()), ("4", None), ("Why?", None)]
)
def test_the_filter_keeps_the_pieces_that_are_named_and_all_if_none_can_be_read(reply, numbers, remembered):
    case = load_cases(remembered, "general", "hard", counts="any")[0]
    template = Template(setting="rag", rag_filter=True, k=3)
    pieces = template.pieces(case)
    assert len(pieces) == 3
    assert rag_filter.read_numbers(reply, 3) == numbers
    found = rag_filter.applied(case, template, reply).pieces(case)
    assert found == (pieces if numbers is None else tuple(pieces[number - 1] for number in numbers))
    assert rag_filter.said(numbers, 3) == ("unreadable" if numbers is None else f"kept {len(numbers)} of 3")


def test_more_than_one_unreadable_filter_in_a_hundred_is_worth_a_warning():
    assert rag_filter.warning("t", ["kept 1 of 3"] * 99 + ["unreadable"]) is None
    warning = rag_filter.warning("t", ["kept 1 of 3"] * 98 + ["unreadable"] * 2)
    assert warning is not None
    assert warning.startswith("t: 2 of 100 replies to rag_filter (2.0%) are unreadable")


# --- options and personas -------------------------------------------------------------------------------------------------


def test_k_is_a_number_from_one():
    assert Template(setting="rag", k=1).k == 1
    for wrong in (0, True, 1.0, "1"):
        with pytest.raises(OptionError, match="k must be a positive integer"):
            Template(setting="rag", k=wrong)


def test_the_filter_needs_rag_and_a_method_that_asks_a_model():
    for method in ("generate", "cot", "logprobs", "write"):
        assert Template(setting="rag", method=method, rag_filter=True).rag_filter
    for wrong in ({"setting": "persona"}, {"setting": "rag", "method": "mc"}, {"setting": "rag", "rag_filter": 1}):
        with pytest.raises(OptionError, match="rag_filter"):
            Template(**{"rag_filter": True, **wrong})


def test_what_is_hidden_must_be_shown_otherwise():
    Template(hide=("Name",))
    Template(setting="rag", rag_filter=True, hide=("Name",))
    for wrong in ({"setting": "no_persona"}, {"setting": "rag"}):
        with pytest.raises(OptionError, match="hide"):
            Template(hide=("Name",), **wrong)


def test_a_persona_without_a_part_is_made_once_and_lacks_it_alone():
    persona = load_cases(SAMPLE)[0].persona
    part = next(iter(persona.profile))
    assert persona.without(()) is persona
    found = persona.without((part,))
    assert found is persona.without((part,)) is not persona
    assert found.profile == {name: value for name, value in persona.profile.items() if name != part}
    assert persona.without(("nothing",)).profile == persona.profile
    assert part in persona.fields
    assert part not in found.fields


def test_the_other_persona_is_somebody_elses():
    case = load_cases(SAMPLE)[0]
    assert case.other_persona.user_id != case.user_id
    assert case.other_persona.language == case.persona.language
    assert replace(case, id="x").persona is case.persona
