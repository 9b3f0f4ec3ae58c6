"""What a build's files hold, one type of row per file. Strict: a row that is broken raises DataError with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, ClassVar, TypeVar, get_type_hints

from ..common.errors import DataError
from ..common.strict_json import broken, short, short_list
from ..personafeedback.cells import CATEGORIES, DIFFICULTIES

FULL, MASKED, QUESTION = "full", "masked", "question"
IMPROVED, DEGRADED, IMPORTED = "improved", "degraded", "imported"
STRATEGIES = (FULL, MASKED, QUESTION, IMPROVED, DEGRADED, IMPORTED)
"""What the writer of an answer was told: the full persona, the persona with most fields hidden, the question alone; or that it is a
rewrite of another answer, to the better or the worse; or unknown, for pairs that a team brought.
"""

TRAIN, TEST = "train", "test"
SPLITS = (TRAIN, TEST)

OWN = "own"
"""The model of a text that no model of this build wrote."""

Digests = tuple[str, ...]
"""Digests of the texts of a pair as they were shown, see `votes.shown_texts.digests`; empty where none were recorded."""


@dataclass(frozen=True, kw_only=True)
class BuildRow:
    """A row of a build's file."""

    file: ClassVar[str]
    """Path in the build's folder: a table that people edit (.csv), or JSON Lines."""

    key: ClassVar[tuple[str, ...]]
    """Fields that no two rows share; empty if rows may repeat."""


@dataclass(frozen=True, kw_only=True)
class Person(BuildRow):
    """What is decided about a persona. The profile itself is persona/<user_id>.json.

    Attributes:
        user_id: opaque; the name of the file.
        name: as the profile has it, for a reader of the table.
        split: one of SPLITS.
        keep: `yes` or `no`; empty until somebody has looked, which counts as yes.
        reason: why not, one of the screening's reasons; empty if kept.
    """

    file = "people.csv"
    key = ("user_id",)

    user_id: str
    name: str = ""
    split: str = TEST
    keep: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Question(BuildRow):
    """A question of a person.

    Attributes:
        user_id: who asks it.
        category: `specific` (written for this user) or `general` (from a pool, matched to them).
        scenario: as Table 5 names them; empty if nobody said.
        question: the text.
        keep, reason: as in Person.
    """

    file = "questions.csv"
    key = ("id",)

    id: str
    user_id: str
    category: str
    question: str
    scenario: str = ""
    keep: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer(BuildRow):
    """An answer to a question.

    Attributes:
        question_id, user_id: what it answers, for whom.
        strategy: one of STRATEGIES.
        model: that wrote it, or OWN.
        text: as a user would read it.
        parent: id of the answer that it rewrites; empty for the first ones.
    """

    file = "answers.jsonl"
    key = ("id",)

    id: str
    question_id: str
    user_id: str
    strategy: str
    model: str
    text: str
    parent: str = ""


@dataclass(frozen=True, kw_only=True)
class Pair(BuildRow):
    """Two answers to one question that people are asked to compare.

    Attributes:
        question_id, user_id: as in Answer.
        first, second: ids of the answers, in an order that says nothing.
        easy: id of the answer that should win by construction; empty if nothing says so.
    """

    file = "pairs.jsonl"
    key = ("id",)

    id: str
    question_id: str
    user_id: str
    first: str
    second: str
    easy: str = ""


@dataclass(frozen=True, kw_only=True)
class PackItem(BuildRow):
    """What an annotator sees at one place of their pack.

    Attributes:
        annotator: opaque.
        item: what a vote names.
        pair_id: of pairs.jsonl, or of an attention item.
        left, right: ids of the answers shown as A and as B.
        attention: id of the answer that an attentive annotator takes; empty for a pair of the set.
        texts: what is shown.
    """

    file = "packs/shown.jsonl"
    key = ("item",)

    annotator: str
    item: str
    pair_id: str
    left: str
    right: str
    attention: str = ""
    texts: Digests = ()


@dataclass(frozen=True, kw_only=True)
class Vote(BuildRow):
    """The vote of one annotator on one pair.

    Attributes:
        annotator: a person, or `model:NAME`.
        pair_id: of pairs.jsonl.
        chosen: id of the answer that the annotator took.
        shown_as: `A` or `B`, where that answer stood.
        texts: what the annotator saw. The vote counts while the pair has these texts.
    """

    file = "votes.jsonl"
    key = ("annotator", "pair_id", "texts")

    annotator: str
    pair_id: str
    chosen: str
    shown_as: str
    texts: Digests = ()


@dataclass(frozen=True, kw_only=True)
class Dropped(BuildRow):
    """An annotator whose votes make no labels. They stay in votes.jsonl.

    Attributes:
        reason: a team's note.
    """

    file = "dropped.csv"
    key = ("annotator",)

    annotator: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Tiered(BuildRow):
    """A pair that makes a case.

    Attributes:
        pair_id, question_id, user_id: as in Pair.
        difficulty: one of the release's; empty for a pair below the tiers.
        chosen, rejected: ids of the answers, by the majority (by construction, or by a team's own labels, where there are no votes).
        votes: how many votes each of the two has, in this order.
        reason: why it makes no case; empty if it makes one.
        texts: what the label is about; empty for a label that a team wrote itself.
    """

    file = "tiers.jsonl"
    key = ("pair_id",)

    pair_id: str
    question_id: str
    user_id: str
    difficulty: str
    chosen: str
    rejected: str
    votes: tuple[int, ...] = (0, 0)
    reason: str = ""
    texts: Digests = ()


class Below(Tiered):
    """A pair that makes no case: it reaches no tier."""

    file = "below.jsonl"


@dataclass(frozen=True, kw_only=True)
class Refused(BuildRow):
    """A text that a check turned down. It stays, so that nobody asks for it again.

    Attributes:
        id: that the text would have had.
        step: which step asked for it.
        reason: one of that step's.
        text: as the model gave it.
        like: id of the text that it repeats; empty for other reasons.
    """

    file = "refused.jsonl"
    key = ()

    id: str
    step: str
    reason: str
    text: str
    like: str = ""


@dataclass(frozen=True, kw_only=True)
class Origin(BuildRow):
    """Where one text is from.

    Attributes:
        id: of the persona, question or answer.
        kind: `persona`, `question` or `answer`.
        model: that wrote it, or OWN.
        prompt: name and SHA-256 (12 hex digits) of the prompt's file; empty for OWN.
        seed: of the random choices behind it.
        parents: ids of what went into it: seeds, personas, scenarios, texts, answers.
    """

    file = "provenance.jsonl"
    key = ("id",)

    id: str
    kind: str
    model: str
    prompt: str = ""
    seed: int = 0
    parents: tuple[str, ...] = ()


R = TypeVar("R", bound=BuildRow)
K = TypeVar("K", Person, Question)

KINDS: tuple[type[BuildRow], ...] = (
    Person, Question, Answer, Pair, PackItem, Vote, Dropped, Tiered, Below, Refused, Origin,
)  # fmt: skip
"""All types of rows."""

_ALLOWED: dict[str, tuple[str, ...]] = {
    "category": CATEGORIES,
    "difficulty": ("", *DIFFICULTIES),
    "strategy": STRATEGIES,
    "split": SPLITS,
    "keep": ("", "yes", "no"),
    "shown_as": ("A", "B"),
}
"""Field -> the values that it may have."""

_MAY_BE_BLANK = ("text",)
"""Fields without a default that may be blank: a refused text can be empty."""


def columns(kind: type[BuildRow]) -> list[str]:
    """The fields of a row, in the order of its file."""
    return [field.name for field in fields(kind)]


def required(kind: type[BuildRow]) -> list[str]:
    """The fields that a row cannot leave out."""
    return [field.name for field in fields(kind) if field.default is MISSING]


def parse(kind: type[R], row: Mapping[str, Any], where: str) -> R:
    """A row of a file.

    Raises:
        DataError: a key is missing or unknown, or a value is not of its type or not one of those that it may be.
    """
    types, names, needed = get_type_hints(kind), columns(kind), required(kind)
    for name in row:
        if name not in names:
            raise broken(where, f"the unknown key {short(name)}", f"only {', '.join(names)}")
    for name in needed:
        if name not in row:
            raise broken(where, f"no {name!r} (keys: {short_list(row) or 'none'})", f"{name!r}")
    return kind(
        **{
            name: _checked(name, row[name], types[name], name not in needed or name in _MAY_BE_BLANK, where)
            for name in names
            if name in row
        }
    )


def _checked(name: str, value: Any, kind: Any, may_be_blank: bool, where: str) -> Any:
    if name in _ALLOWED:
        if value not in _ALLOWED[name]:
            *others, last = (*filter(None, _ALLOWED[name]), *(["nothing"] if "" in _ALLOWED[name] else []))
            raise DataError(f"{where}: found {name} = {short(value)}, expected {', '.join(others)} or {last}. Fix it.")
        return value
    if kind is str:
        if not isinstance(value, str) or not (may_be_blank or value.strip()):
            raise broken(where, f"{name} = {short(value)}", "a string" if may_be_blank else "a non-empty string")
        return value
    if kind is int:
        if type(value) is not int:
            raise broken(where, f"{name} = {short(value)}", "a whole number")
        return value
    inner = str if kind == tuple[str, ...] else int
    if not isinstance(value, (list, tuple)) or not all(type(item) is inner for item in value):
        raise broken(where, f"{name} = {short(value)}", f"a list of {'strings' if inner is str else 'whole numbers'}")
    return tuple(value)


def as_dict(row: Any) -> dict[str, Any]:
    """A row as its file has it: what `parse` reads."""
    return asdict(row)


def kept(rows: Iterable[K]) -> list[K]:
    """The persons or questions that nobody dropped."""
    return [row for row in rows if row.keep != "no"]
