"""What a build's files hold, one type of row per file. Strict: a row that is broken raises DataError with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, TypeVar, get_type_hints

from ..common.errors import DataError
from ..common.records import broken, short, short_list
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

Digests = tuple[str, ...]
"""Digests of the texts of a pair as they were shown, see `votes.shown_texts.digests`; empty where none were recorded."""


@dataclass(frozen=True, kw_only=True)
class BuildRow:
    """A row of a build's file. A type of row is defined with two arguments.

    Args:
        file: path in the build's folder: a table that people edit (.csv), or JSON Lines.
        key: fields that no two rows share; empty if rows may repeat.
    """

    file: ClassVar[str]
    key: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, *, file: str, key: tuple[str, ...] = ("id",)):
        cls.file, cls.key = file, key


@dataclass(frozen=True, kw_only=True)
class Person(BuildRow, file="people.csv", key=("user_id",)):
    """What is decided about a persona. The profile itself is persona/<user_id>.json."""

    user_id: str  # opaque
    name: str = ""  # as the profile has it, for a reader of the table
    split: str = TEST
    keep: str = ""  # empty until somebody has looked, which counts as yes
    reason: str = ""  # why not; empty if kept


@dataclass(frozen=True, kw_only=True)
class Question(BuildRow, file="questions.csv"):
    """A question of a person."""

    id: str
    user_id: str
    category: str  # `specific`: written for this user; `general`: from a pool, matched to them
    question: str
    scenario: str = ""  # as scenarios.csv names it; empty if unknown
    keep: str = ""  # as in Person, like the reason
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PoolQuestion(BuildRow, file="pool.csv"):
    """A question of pool.jsonl: whether it is open and personal."""

    id: str
    question: str
    keep: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Basis(BuildRow, file="basis.jsonl"):
    """What a question was drawn from besides its scenario. Questions of a team's own have none."""

    id: str  # of the question
    memory: tuple[str, ...]  # pieces of the user's memory
    features: tuple[str, ...] = ()  # that a model inferred from them; empty where the whole persona was shown


@dataclass(frozen=True, kw_only=True)
class Answer(BuildRow, file="answers.jsonl"):
    """An answer to a question."""

    id: str
    question_id: str
    user_id: str
    strategy: str
    model: str  # or OWN
    text: str  # as a user would read it
    parent: str = ""  # id of the answer that it rewrites; empty for the first ones
    way: str = ""  # of a degraded one: in which of WAYS it is worse


@dataclass(frozen=True, kw_only=True)
class Pair(BuildRow, file="pairs.jsonl"):
    """Two answers to one question that people are asked to compare."""

    id: str
    question_id: str
    user_id: str
    first: str  # ids of the answers, in an order that says nothing
    second: str
    easy: str = ""  # id of the answer that should win by construction; empty if nothing says so


@dataclass(frozen=True, kw_only=True)
class PackItem(BuildRow, file="packs/shown.jsonl", key=("item",)):
    """What an annotator sees at one place of their pack."""

    annotator: str  # opaque
    item: str  # what a vote names
    pair_id: str  # of pairs.jsonl, or of an attention item
    left: str = ""  # ids of the answers in the order in which they are shown; empty where nothing is compared
    right: str = ""
    attention: str = ""  # id of the answer that an attentive annotator takes; empty for a pair of the set
    texts: Digests = ()  # what is shown

    @property
    def options(self) -> tuple[str, ...]:
        """The ids of the answers that are shown as A and as B."""
        return self.left, self.right


@dataclass(frozen=True, kw_only=True)
class Vote(BuildRow, file="votes.jsonl", key=("annotator", "pair_id", "texts")):
    """The vote of one annotator on one pair, or that they cannot judge it."""

    annotator: str  # opaque, or with the login of a person: `annotator-1:7`
    pair_id: str
    chosen: str  # id of the answer that the annotator took, or CANNOT
    shown_as: str  # the letter of that answer, or CANNOT; of an item that is no pair, the answer as it was given
    texts: Digests = ()  # what the annotator saw. The vote counts while the pair has these texts
    note: str = ""  # the annotator's; of one who cannot judge, it begins with the reason
    seconds: int = 0  # that the page had the item on the screen; 0 if unknown
    at: str = ""  # when, in ISO 8601; empty if unknown
    consent: str = ""  # digest of the text that the annotator agreed to, packs/consent-DIGEST.md; empty for none


@dataclass(frozen=True, kw_only=True)
class Dropped(BuildRow, file="dropped.csv", key=("annotator",)):
    """An annotator whose votes make no labels. They stay in votes.jsonl."""

    annotator: str
    reason: str = ""  # a team's note


@dataclass(frozen=True, kw_only=True)
class Tiered(BuildRow, file="tiers.jsonl", key=("pair_id",)):
    """A pair that makes a case."""

    pair_id: str
    question_id: str
    user_id: str
    difficulty: str  # empty for a pair below the tiers
    chosen: str  # by the majority; where there are no votes, by construction or by a team's own labels
    rejected: str
    votes: tuple[int, ...] = (0, 0)  # for the chosen answer, for the rejected one
    risk: float = 0.5  # that another nine like these would decide otherwise; a coin's without votes
    reason: str = ""  # why it makes no case; empty if it makes one
    texts: Digests = ()  # what the label is about; empty for a label that a team wrote itself


class Below(Tiered, file="below.jsonl", key=("pair_id",)):
    """A pair that makes no case: it reaches no tier."""


@dataclass(frozen=True, kw_only=True)
class Refused(BuildRow, file="refused.jsonl", key=()):
    """A text that a check turned down. It stays, so that nobody asks for it again."""

    id: str  # that the text would have had
    step: str  # which asked for it
    reason: str  # one of that step's
    text: str  # as the model gave it
    like: str = ""  # id of the text that it repeats; empty for other reasons
    limit: int = 0  # --max-tokens that it was cut off at; 0 for the provider's, and for other reasons


@dataclass(frozen=True, kw_only=True)
class Origin(BuildRow, file="provenance.jsonl"):
    """Where one text is from."""

    id: str  # of the persona, question or answer
    kind: str  # `persona`, `question` or `answer`
    model: str  # or OWN
    prompt: str = ""  # name and SHA-256 (12 hex digits) of the prompt's file; empty for OWN
    seed: int = 0  # of the random choices behind it
    parents: tuple[str, ...] = ()  # ids of what went into it: seeds, personas, scenarios, texts, answers


R = TypeVar("R", bound=BuildRow)
K = TypeVar("K", Person, Question, PoolQuestion)

_ALLOWED: dict[str, tuple[str, ...]] = {
    "category": CATEGORIES,
    "difficulty": ("", *DIFFICULTIES),
    "strategy": STRATEGIES,
    "way": ("", *WAYS),
    "split": SPLITS,
    "keep": ("", "yes", "no"),
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


_TYPES: dict[type, dict[str, Any]] = {}
"""Type of row -> field -> its type. To work them out takes ten times as long as to check a row."""


def _types(kind: type) -> dict[str, Any]:
    if kind not in _TYPES:
        _TYPES[kind] = get_type_hints(kind)
    return _TYPES[kind]


def parse(kind: type[R], row: Mapping[str, Any], where: str) -> R:
    """A row of a file. Raises DataError: a key is missing or unknown, or a value is not of its type or not one of those that it may be."""
    types, names, needed = _types(kind), columns(kind), required(kind)
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
    if kind is float:
        if type(value) is not float or not 0 < value <= 1:
            raise broken(where, f"{name} = {short(value)}", "a probability above 0, such as 0.25")
        return value
    inner = str if kind == tuple[str, ...] else int
    if not isinstance(value, (list, tuple)) or not all(type(item) is inner for item in value):
        raise broken(where, f"{name} = {short(value)}", f"a list of {'strings' if inner is str else 'whole numbers'}")
    return tuple(value)


def kept(rows: Iterable[K]) -> list[K]:
    """Those that nobody dropped."""
    return [row for row in rows if row.keep != "no"]
