"""What a build's files hold, one type of row per file. Strict: a row that is broken raises DataError with its line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from ..annotation.rows import Digests
from ..common.row_files import Row, any_text, one_of
from ..personafeedback.cells import CATEGORIES, DIFFICULTIES

FULL, MASKED, QUESTION = "full", "masked", "question"
IMPROVED, DEGRADED, IMPORTED = "improved", "degraded", "imported"
STRATEGIES = (FULL, MASKED, QUESTION, IMPROVED, DEGRADED, IMPORTED)
"""What the writer of an answer was told: the full persona, the persona with most fields hidden, the question alone; or that it is a
rewrite of another answer, to the better or the worse; or unknown, for pairs that a team brought.
"""

WAYS = ("less_personal", "less_helpful")
"""In which way a degraded answer is worse."""

TRAIN, TEST = "train", "test"
SPLITS = (TRAIN, TEST)

OWN = "own"
"""The model of a text that no model of this build wrote."""

KEEP = ("", "yes", "no")
"""Empty until somebody has looked, which counts as yes."""


@dataclass(frozen=True, kw_only=True)
class Person(Row, file="people.csv", key=("user_id",)):
    """What is decided about a persona. The profile itself is persona/<user_id>.json."""

    user_id: str  # opaque
    name: str = ""  # as the profile has it, for a reader of the table
    split: str = one_of(*SPLITS, default=TEST)
    keep: str = one_of(*KEEP, default="")
    reason: str = ""  # why not; empty if kept


@dataclass(frozen=True, kw_only=True)
class Question(Row, file="questions.csv"):
    """A question of a person."""

    id: str
    user_id: str
    category: str = one_of(*CATEGORIES)  # `specific`: written for this user; `general`: from a pool, matched to them
    question: str
    scenario: str = ""  # as scenarios.csv names it; empty if unknown
    keep: str = one_of(*KEEP, default="")
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PoolQuestion(Row, file="pool.csv"):
    """A question of pool.jsonl: whether it is open and personal."""

    id: str
    question: str
    keep: str = one_of(*KEEP, default="")
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Basis(Row, file="basis.jsonl"):
    """What a question was drawn from besides its scenario. Questions of a team's own have none."""

    id: str  # of the question
    memory: tuple[str, ...]  # pieces of the user's memory
    features: tuple[str, ...] = ()  # that a model inferred from them; empty where the whole persona was shown


@dataclass(frozen=True, kw_only=True)
class Answer(Row, file="answers.jsonl"):
    """An answer to a question."""

    id: str
    question_id: str
    user_id: str
    strategy: str = one_of(*STRATEGIES)
    model: str  # or OWN
    text: str = any_text()  # as a user would read it
    parent: str = ""  # id of the answer that it rewrites; empty for the first ones
    way: str = one_of("", *WAYS, default="")  # of a degraded one: in which of WAYS it is worse


@dataclass(frozen=True, kw_only=True)
class Pair(Row, file="pairs.jsonl"):
    """Two answers to one question that people are asked to compare."""

    id: str
    question_id: str
    user_id: str
    first: str  # ids of the answers, in an order that says nothing
    second: str
    easy: str = ""  # id of the answer that should win by construction; empty if nothing says so


@dataclass(frozen=True, kw_only=True)
class Tiered(Row, file="tiers.jsonl", key=("pair_id",)):
    """A pair that makes a case."""

    pair_id: str
    question_id: str
    user_id: str
    difficulty: str = one_of("", *DIFFICULTIES)  # empty for a pair below the tiers
    chosen: str  # by the majority; where there are no votes, by construction or by a team's own labels
    rejected: str
    votes: tuple[int, ...] = (0, 0)  # for the chosen answer, for the rejected one
    risk: float = 0.5  # that another nine like these would decide otherwise; a coin's without votes
    reason: str = ""  # why it makes no case; empty if it makes one
    texts: Digests = ()  # what the label is about; empty for a label that a team wrote itself


class Below(Tiered, file="below.jsonl", key=("pair_id",)):
    """A pair that makes no case: it reaches no tier."""


@dataclass(frozen=True, kw_only=True)
class Refused(Row, file="refused.jsonl", key=()):
    """A text that a check turned down. It stays, so that nobody asks for it again."""

    id: str  # that the text would have had
    step: str  # which asked for it
    reason: str  # one of that step's
    text: str = any_text()  # as the model gave it
    like: str = ""  # id of the text that it repeats; empty for other reasons
    limit: int = 0  # --max-tokens that it was cut off at; 0 for the provider's, and for other reasons


@dataclass(frozen=True, kw_only=True)
class Origin(Row, file="provenance.jsonl"):
    """Where one text is from."""

    id: str  # of the persona, question or answer
    kind: str  # `persona`, `question` or `answer`
    model: str  # or OWN
    prompt: str = ""  # name and SHA-256 (12 hex digits) of the prompt's file; empty for OWN
    seed: int = 0  # of the random choices behind it
    parents: tuple[str, ...] = ()  # ids of what went into it: seeds, personas, scenarios, texts, answers


K = TypeVar("K", Person, Question, PoolQuestion)


def kept(rows: Iterable[K]) -> list[K]:
    """Those that nobody dropped."""
    return [row for row in rows if row.keep != "no"]
