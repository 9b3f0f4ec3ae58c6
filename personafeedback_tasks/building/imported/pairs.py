"""Rows with labeled pairs -> personas, questions, answers, pairs, and the labels of the source."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...common.records import broken, short
from ...common.row_files import Row
from ...core.cases import digest_of
from ...personafeedback.persona import Persona
from ..basis import pair_digests
from ..rows import IMPORTED, OWN, Answer, Origin, Pair, Question, Refused, Tiered
from . import sources
from .sources import SourceRow

STEP = "import"

SAME, TWICE, BOTH = "same text", "twice", "both labels"

ADDED: tuple[type[Row], ...] = (Question, Answer, Origin, Tiered, Pair)
"""In the order of writing. Pairs are last: a known pair has its label already, or lost it to votes."""

REASONS = {
    SAME: "chosen and rejected are the same text",
    TWICE: "another row has the same user, question and texts",
    BOTH: "another row has the same texts with the opposite label; neither is taken",
}
"""Reason to refuse a pair -> explanation."""


@dataclass
class ImportedPairs:
    """Additions of an import.

    Attributes:
        difficulty: of all pairs; sources seldom have one that matches the tiers.
        seed: of the order of the two answers.
        personas: user id -> profile.
        rows: type of row -> id -> row, of ADDED, in the order of the source.
        count: rows read.
    """

    difficulty: str
    seed: int
    personas: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: dict[type[Row], dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in ADDED})
    refused: list[Refused] = field(default_factory=list)
    count: int = 0

    def add(self, question: Question, chosen: str, rejected: str, where: str) -> None:
        """Add a pair, unless it is refused."""
        plain = [" ".join(text.split()) for text in (chosen, rejected)]
        ids = [f"{question.id}:{IMPORTED}:{digest_of((text,))}" for text in plain]
        name, labels, answers = digest_of(sorted(ids)), self.rows[Tiered], self.rows[Answer]
        reason = SAME if plain[0] == plain[1] else ""
        if not reason and name in labels:
            reason = TWICE if labels[name].chosen == ids[0] else BOTH
        if reason:
            self.refused.append(Refused(id=name, step=STEP, reason=reason, text=f"{where}: {chosen}"))
            return
        ids_of: dict[str, Any] = {"question_id": question.id, "user_id": question.user_id}
        for answer, text in zip(ids, (chosen, rejected), strict=True):
            answers.setdefault(answer, Answer(id=answer, **ids_of, strategy=IMPORTED, model=OWN, text=text))
            self.rows[Origin].setdefault(answer, Origin(id=answer, kind="answer", model=OWN, parents=(where,)))
        self.rows[Question].setdefault(question.id, question)
        sides = sorted(ids)
        random.Random(f"{self.seed}:pair:{name}").shuffle(sides)
        self.rows[Pair][name] = Pair(id=name, **ids_of, first=sides[0], second=sides[1])
        persona = Persona(question.user_id, self.personas[question.user_id]).text
        labels[name] = Tiered(
            pair_id=name, **ids_of, difficulty=self.difficulty, chosen=ids[0], rejected=ids[1],
            texts=pair_digests(persona, question.question, {answer: answers[answer].text for answer in ids}),
        )  # fmt: skip

    def drop_contradictions(self) -> None:
        """Drop pairs that have both labels, and texts and users that no pair has."""
        both = {text.id for text in self.refused if text.reason == BOTH}
        pairs = [pair for name, pair in self.rows[Pair].items() if name not in both]
        left = {name for pair in pairs for name in (pair.id, pair.question_id, pair.first, pair.second)}
        users = {pair.user_id for pair in pairs}
        self.rows = {
            kind: {name: row for name, row in rows.items() if name in left} for kind, rows in self.rows.items()
        }
        self.personas = {user: profile for user, profile in self.personas.items() if user in users}


def import_rows(rows: Iterable[SourceRow], keys: Mapping[str, str], difficulty: str, seed: int) -> ImportedPairs:
    """Rows of a build from rows of a source.

    Args:
        keys: field -> key of a row, from `mapping`.

    Raises:
        DataError: a row lacks a field, or a text is blank. Nothing is imported then.
    """
    made = ImportedPairs(difficulty, seed)
    for where, row in rows:
        made.count += 1
        profile = sources.profile(row, keys["persona"], where)
        text = sources.text(row, keys["question"], where)
        category = sources.category(row, keys["category"], where) if "category" in keys else "specific"
        user = (
            sources.user(row, keys["user_id"], where) if "user_id" in keys else digest_of((sources.as_text(profile),))
        )
        if made.personas.setdefault(user, profile) != profile:
            raise broken(
                where, f"another persona of {short(user)} than in an earlier row", "one persona to each user_id"
            )
        question = Question(id=f"{user}:{digest_of((text,))}", user_id=user, category=category, question=text)
        chosen = sources.text(row, keys["chosen"], where)
        for place, key in enumerate(keys["rejected"].split("+")):
            made.add(question, chosen, sources.text(row, key, where), f"{where}{f', {key}' if place else ''}")
    made.drop_contradictions()
    return made
