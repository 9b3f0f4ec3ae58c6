"""The bundled sample: small, balanced, and not taken from the benchmark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import PIECES
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS


@pytest.fixture(scope="module")
def sample():
    return load_cases("sample")


def test_it_has_eight_cases_in_each_of_six_cells(sample):
    assert len(sample) == 48
    assert Counter(c.cell for c in sample) == {"_".join(cell): 8 for cell in PAPER_COUNTS}


def test_it_has_eight_personas_half_english_half_chinese(sample):
    personas = {c.user_id: c.persona for c in sample}
    assert Counter(persona.language for persona in personas.values()) == {"en": 4, "zh": 4}
    assert {path.stem for path in (sample.release.root / "persona").iterdir()} == set(personas)


def test_questions_and_responses_are_in_their_users_language(sample):
    for case in sample:
        for text in (case.question, case.chosen, case.rejected):
            assert bool(re.search("[\u4e00-\u9fff]", text)) == (case.language == "zh"), case.id


def test_the_chosen_response_is_the_longer_one_in_half_of_each_cell(sample):
    longer = Counter(c.cell for c in sample if len(c.chosen) > len(c.rejected))
    shorter = Counter(c.cell for c in sample if len(c.chosen) < len(c.rejected))
    assert longer == shorter == {"_".join(cell): 4 for cell in PAPER_COUNTS}


def test_no_text_stands_in_it_twice(sample):
    texts = Counter(text for c in sample for text in (c.question, c.chosen, c.rejected))
    assert [text for text, count in texts.items() if count > 1] == []


def sentences(value: Any) -> Iterator[str]:
    """Every sentence of at least 12 characters in a JSON value."""
    if isinstance(value, str):
        yield from (part.strip() for part in re.split(r"[\n。！？.!?；;]", value) if len(part.strip()) >= 12)
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from sentences(item)


def test_nothing_of_it_stands_in_the_real_data(sample, real_data):
    real = "\n".join(path.read_text("utf-8") for path in sorted(real_data.rglob("*.json*")))
    ours = [[c.question, c.chosen, c.rejected, c.persona.profile] for c in sample]
    assert len(set(sentences(ours))) > 200
    assert [text for text in sorted(set(sentences(ours))) if text in real] == []
    assert not {c.user_id for c in sample} & {path.stem for path in (real_data / "persona").iterdir()}


def test_every_user_has_memories_in_their_language(sample):
    for case in sample:
        assert len(case.persona.memory) > PIECES  # so that something is left out
        for piece in case.persona.memory:
            assert bool(re.search("[\u4e00-\u9fff]", piece)) == (case.language == "zh"), piece
    everything = [piece for persona in {c.user_id: c.persona for c in sample}.values() for piece in persona.memory]
    assert len(set(everything)) == len(everything)
