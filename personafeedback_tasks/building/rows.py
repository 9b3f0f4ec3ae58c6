"""What a build's files hold, one type of row per file. Strict: a row that is broken raises DataError with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar, get_type_hints

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


@dataclass(frozen=True, kw_only=True)
class Person:
    """A line of people.csv: what is decided about a persona. The profile itself is persona/<user_id>.json.

    Attributes:
        user_id: opaque; the name of the file.
        name: as the profile has it, for a reader of the table.
        split: one of SPLITS.
        keep: `yes` or `no`; empty until somebody has looked, which counts as yes.
        reason: why not, one of the screening's reasons; empty if kept.
    """

    user_id: str
    name: str = ""
    split: str = TEST
    keep: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A line of questions.csv.

    Attributes:
        id: unique in the build.
        user_id: who asks it.
        category: `specific` (written for this user) or `general` (from a pool, matched to them).
        scenario: as Table 5 names them; empty if nobody said.
        question: the text.
        keep, reason: as in Person.
    """

    id: str
    user_id: str
    category: str
    question: str
    scenario: str = ""
    keep: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A line of answers.jsonl.

    Attributes:
        id: unique in the build.
        question_id, user_id: what it answers, for whom.
        strategy: one of STRATEGIES.
        model: that wrote it, or OWN.
        text: as a user would read it.
        parent: id of the answer that it rewrites; empty for the first ones.
    """

    id: str
    question_id: str
    user_id: str
    strategy: str
    model: str
    text: str
    parent: str = ""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A line of pairs.jsonl: two answers to one question that people are asked to compare.

    Attributes:
        id: unique in the build.
        question_id, user_id: as in Answer.
        first, second: ids of the answers, in an order that says nothing.
        easy: id of the answer that should win by construction; empty if nothing says so.
    """

    id: str
    question_id: str
    user_id: str
    first: str
    second: str
    easy: str = ""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A line of packs/shown.jsonl: what an annotator sees at one place of his pack.

    Attributes:
        annotator: opaque.
        item: unique in his pack; what a vote names.
        pair_id: of pairs.jsonl, or of an attention item.
        left, right: ids of the answers shown as A and as B.
        attention: id of the answer that an attentive annotator takes; empty for a pair of the set.
        texts: what is shown, see `shown_texts.digests`.
    """

    annotator: str
    item: str
    pair_id: str
    left: str
    right: str
    attention: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Vote:
    """A line of votes.jsonl: one annotator on one pair.

    Attributes:
        annotator: a person, or `model:NAME`.
        pair_id: of pairs.jsonl.
        chosen: id of the answer that the annotator took.
        shown_as: `A` or `B`, where that answer stood.
        texts: what the annotator saw, see `shown_texts.digests`. The vote counts while the pair has these texts.
    """

    annotator: str
    pair_id: str
    chosen: str
    shown_as: str
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A line of dropped.csv: an annotator whose votes make no labels. They stay in votes.jsonl.

    Attributes:
        annotator: whose.
        reason: a team's note.
    """

    annotator: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Tiered:
    """A line of tiers.jsonl, which makes a case, or of below.jsonl, which does not.

    Attributes:
        pair_id, question_id, user_id: as in Pair.
        difficulty: one of the release's; empty in below.jsonl.
        chosen, rejected: ids of the answers, by the majority (by construction, or by a team's own labels, where there are no votes).
        votes: how many votes each of the two has, in this order.
        reason: why it is in below.jsonl; empty in tiers.jsonl.
        texts: what the label is about, see `shown_texts.digests`; empty for a label that a team wrote itself.
    """

    pair_id: str
    question_id: str
    user_id: str
    difficulty: str
    chosen: str
    rejected: str
    votes: tuple[int, ...] = (0, 0)
    reason: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A line of refused.jsonl: a text that a check turned down. It stays, so that nobody asks for it again.

    Attributes:
        id: that the text would have had.
        step: which step asked for it.
        reason: one of that step's.
        text: as the model gave it.
    """

    id: str
    step: str
    reason: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A line of provenance.jsonl: where one text is from.

    Attributes:
        id: of the persona, question or answer.
        kind: `persona`, `question` or `answer`.
        model: that wrote it, or OWN.
        prompt: name and SHA-256 (12 hex digits) of the prompt's file; empty for OWN.
        seed: of the random choices behind it.
        parents: ids of what went into it: seeds, personas, scenarios, answers.
    """

    id: str
    kind: str
    model: str
    prompt: str = ""
    seed: int = 0
    parents: tuple[str, ...] = ()


R = TypeVar("R", Person, Question, Answer, Pair, Shown, Vote, Dropped, Tiered, Refused, Origin)

_KNOWN: dict[str, tuple[str, ...]] = {
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


def parse(kind: type[R], row: Mapping[str, Any], where: str) -> R:
    """A row of a file.

    Raises:
        DataError: a key is missing or unknown, or a value is not of its type or not one of those that it may be.
    """
    types = get_type_hints(kind)
    for name in row:
        if name not in types:
            raise broken(where, f"the unknown key {short(name)}", f"only {', '.join(types)}")
    found: dict[str, Any] = {}
    for field in fields(kind):
        if field.name not in row:
            if field.default is MISSING:
                raise broken(where, f"no {field.name!r} (keys: {short_list(row) or 'none'})", f"{field.name!r}")
            continue
        value, blank = row[field.name], field.default is not MISSING or field.name in _MAY_BE_BLANK
        found[field.name] = _checked(field.name, value, types[field.name], blank, where)
    return kind(**found)


def _checked(name: str, value: Any, kind: Any, may_be_blank: bool, where: str) -> Any:
    if name in _KNOWN:
        if value not in _KNOWN[name]:
            *others, last = (*filter(None, _KNOWN[name]), *(["nothing"] if "" in _KNOWN[name] else []))
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
