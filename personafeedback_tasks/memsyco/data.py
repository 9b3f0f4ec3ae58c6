"""A folder with two of the authors' five files -> cases. Whatever is broken raises DataError; nothing is repaired.

objective_fact_judgment.jsonl    a question with a right answer, and a memory that favors a wrong one
memory_evidence_conflict.jsonl   two products, evidence for one of them, and a memory that favors the other
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ..common import folders
from ..common.errors import DataError, choose
from ..common.records import NonEmpty, broken, decoded, one_of, read, rows
from ..core.cases import digest_of
from ..pairwise.cases import COUNTS, ChoiceCase, ChoiceCases, in_proportion

ENVIRONMENT_VARIABLE = "MEMSYCO_DATA"
REPOSITORY, COMMIT = "XMUDeepLIT/MemSyco-Bench", "c31e2c85ee8cc3c6f643587b8a6f4b5ad5eb3bf6"
FACTS, CONFLICT = "objective_fact_judgment", "memory_evidence_conflict"
ROWS = {FACTS: 300, CONFLICT: 300}
SAMPLE_ROWS = {FACTS: 6, CONFLICT: 6}
DIGESTS = {
    FACTS: "cd34eb4136dc9a5e2b4eff742a43de25d50bd1044455160a4b4eea0f082b81bc",
    CONFLICT: "adf9a924bae5bf4d554c0f7bf69c8c867037caf13c9839afa93605cb39442823",
}
"""SHA-256 of the files at that commit with LF line ends. The authors' manifest has that of the first file with CRLF."""

DIALOGUE = "dialogue"
"""The setting that shows the earlier conversation instead of the memory that was made of it."""

_EVIDENCE = re.compile(r"<information>.*?</information>", re.DOTALL)
_GET = (
    f"Set {ENVIRONMENT_VARIABLE} (or data=) to a checkout of https://github.com/{REPOSITORY} at commit {COMMIT}, to a "
    f"folder with its files data/{FACTS}.jsonl and data/{CONFLICT}.jsonl, or to 'sample'."
)


class Turn(Struct):
    role: Annotated[str, one_of("user", "assistant")]
    content: NonEmpty


class MemoryItem(Struct):
    content: NonEmpty


class Memory(Struct):
    items: Annotated[list[MemoryItem], Meta(min_length=1, max_length=1)]


class Rubric(Struct):
    sycophancy_failure: str = ""  # of facts
    expected_behavior: str = ""  # of conflicts


class Evaluation(Struct):
    reference_answer: NonEmpty
    preference_aligned_answer: NonEmpty  # a letter in the file of facts, where it is not used
    rubric: Rubric


class About(Struct):
    topic: NonEmpty


class MemoryRow(Struct):
    """A row, as far as it is used."""

    id: NonEmpty
    dialogue: Annotated[list[Turn], Meta(min_length=1)]
    question: NonEmpty
    memory: Memory
    evaluation: Evaluation
    metadata: About


@dataclass(frozen=True, kw_only=True)
class MemoryCase(ChoiceCase):
    """A case whose user is known by the gold memory (`known`), or by the conversation that it was made of."""

    dialogue: str  # the turns of that conversation

    def told(self, setting: str) -> str:
        return self.dialogue if setting == DIALOGUE else super().told(setting)

    @cached_property
    def digest(self) -> str:
        return digest_of((self.id, self.user_id, self.known, self.dialogue, self.question, *self.responses))


def load(data: str | None = None, counts: str = "checked", part: str = "") -> ChoiceCases:
    """The rows of both files, or of one.

    Args:
        data: a folder, or `sample`, which was written for this project. None reads MEMSYCO_DATA.
        counts: `checked` takes the authors' files alone, by their SHA-256; `any` takes other rows in the same form.
        part: FACTS or CONFLICT for one file.
    """
    choose("counts", counts, COUNTS)
    sample = Path(__file__).with_name("sample")
    root, source = folders.located(data, ENVIRONMENT_VARIABLE, sample, f"MemSyco-Bench (MIT) is not bundled. {_GET}")
    folder = root / "data" if (root / "data").is_dir() else root
    wanted = [part] if part else list(ROWS)
    # A part has the digest of the whole folder: a report reads all of it, and several parts are one run.
    paths = {name: path for name in ROWS if (path := folder / f"{name}.jsonl").is_file()}
    if not paths.keys() & {*wanted}:
        raise DataError(f"{folder}: found no {' and no '.join(f'{name}.jsonl' for name in wanted)}. {_GET}")
    digests = {name: hashlib.sha256(read(path).replace(b"\r\n", b"\n")).hexdigest() for name, path in paths.items()}
    for name, digest in digests.items():
        if counts == COUNTS[0] and source != folders.SAMPLE and digest != DIGESTS[name]:
            raise DataError(
                f"{paths[name]}: found SHA-256 {digest[:12]}, expected {DIGESTS[name][:12]}, that of commit {COMMIT}. "
                "Get the file of that commit, or pass counts=any to run on other rows; the results then say so."
            )
    cells = [_cases(path, name) for name, path in paths.items() if name in wanted]
    return ChoiceCases(tuple(in_proportion(cells)), counts, source, digest_of(list(digests.items())), tuple(ROWS))


def _cases(path: Path, part: str) -> list[MemoryCase]:
    # Another user's memory is that of the row half the file away, or of the next one after it with another topic.
    every = [decoded(f"{path}, line {number}", row, MemoryRow) for number, row in rows(path)]
    cases, seen = [], set()
    for place, row in enumerate(every):
        where = f"{path}, line {place + 1}"
        if row.id in seen:
            raise broken(where, f"the id {row.id!r} again", "each id once")
        seen.add(row.id)
        half = (place + len(every) // 2) % len(every)
        other = next((one for one in (*every[half:], *every[:half]) if one.metadata.topic != row.metadata.topic), None)
        if other is None:
            raise broken(where, "no other topic in its file", "another row with another one")
        evaluation = row.evaluation
        right, wrong = evaluation.rubric.expected_behavior, evaluation.preference_aligned_answer
        if part == FACTS:
            right, wrong = evaluation.reference_answer, evaluation.rubric.sycophancy_failure
        if not (right.strip() and wrong.strip()) or right == wrong:
            raise broken(where, f"the answers {right!r} and {wrong!r}", "two different texts")
        transcript = "\n\n".join(f"{turn.role.capitalize()}: {turn.content}" for turn in row.dialogue)
        question = row.question
        if part == CONFLICT:
            # The evidence is no memory: every setting shows it, below the question.
            if (evidence := _EVIDENCE.search(transcript)) is None:
                raise broken(where, "no <information> in the dialogue", "the evidence between such tags")
            transcript = transcript.replace(evidence[0], "(the information below the question)")
            question = f"{question}\n\n{evidence[0]}"
        cases.append(
            MemoryCase(
                id=row.id, cell=part, user_id=row.metadata.topic if part == CONFLICT else row.id,
                known=row.memory.items[0].content, question=question, responses=(right, wrong),
                other_known=other.memory.items[0].content, dialogue=transcript,
            )
        )  # fmt: skip
    return cases
