"""The bundled sample: small, balanced, and not taken from the benchmark."""

from __future__ import annotations

from collections import Counter

from personafeedback_tasks.common.text import language_of
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import PIECES
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS

SAMPLE = load_cases("sample")
MEMORIES = {case.user_id: case.persona.memory for case in SAMPLE}


def test_it_is_balanced_in_cells_languages_and_lengths():
    assert Counter(case.cell for case in SAMPLE) == dict.fromkeys(PAPER_COUNTS, 8)
    personas = {case.user_id: case.persona for case in SAMPLE}
    assert Counter(persona.language for persona in personas.values()) == {"en": 4, "zh": 4}
    longer = Counter(case.cell for case in SAMPLE if len(case.chosen) > len(case.rejected))
    shorter = Counter(case.cell for case in SAMPLE if len(case.chosen) < len(case.rejected))
    assert longer == shorter == dict.fromkeys(PAPER_COUNTS, 4)
    assert min(map(len, MEMORIES.values())) > PIECES  # so that something is left out


def test_no_text_is_in_it_twice_or_in_the_real_data_and_each_is_in_its_users_language(real_data):
    languages = {case.user_id: case.language for case in SAMPLE}
    texts = [(case.user_id, text) for case in SAMPLE for text in (case.question, case.chosen, case.rejected)]
    texts += [(user, piece) for user, pieces in MEMORIES.items() for piece in pieces]
    assert len({text for _, text in texts}) == len(texts)
    real = "\n".join(path.read_text("utf-8") for path in sorted(real_data.rglob("*.json*")))
    for user, text in texts:
        assert language_of(text) == languages[user], text
        assert text not in real
    assert not languages.keys() & {path.stem for path in (real_data / "persona").iterdir()}
