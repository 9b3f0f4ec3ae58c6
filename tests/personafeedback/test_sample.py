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


def test_it_is_balanced_in_cells_languages_and_lengths(sample):
    assert Counter(c.cell for c in sample) == dict.fromkeys(PAPER_COUNTS, 8)
    personas = {c.user_id: c.persona for c in sample}
    assert Counter(persona.language for persona in personas.values()) == {"en": 4, "zh": 4}
    assert {path.stem for path in (sample.release.root / "persona").iterdir()} == set(personas)
    longer = Counter(c.cell for c in sample if len(c.chosen) > len(c.rejected))
    shorter = Counter(c.cell for c in sample if len(c.chosen) < len(c.rejected))
    assert longer == shorter == dict.fromkeys(PAPER_COUNTS, 4)


def test_no_text_is_in_it_twice_and_each_is_in_its_users_language(sample):
    memories = {c.user_id: c.persona.memory for c in sample}
    languages = {c.user_id: c.language for c in sample}
    texts = [(c.user_id, text) for c in sample for text in (c.question, c.chosen, c.rejected)]
    texts += [(user, piece) for user, pieces in memories.items() for piece in pieces]
    assert len({text for _, text in texts}) == len(texts)
    for user, text in texts:
        assert bool(re.search("[\u4e00-\u9fff]", text)) == (languages[user] == "zh"), text
    assert all(len(pieces) > PIECES for pieces in memories.values())  # so that something is left out


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
