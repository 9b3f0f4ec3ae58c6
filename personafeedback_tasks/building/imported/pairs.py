"""Pairs that exist -> a build that can be released: personas, questions, answers, pairs, and the labels of the source."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...common.errors import DataError, OptionError
from ...common.strict_json import broken, lenient, loads, read, short, short_list
from ...engine.cases import digest_of
from ...personafeedback.persona import Persona
from ..folder import Folder
from ..rows import IMPORTED, OWN, Answer, Origin, Pair, Person, Question, Refused, Tiered
from ..settings import Settings
from ..votes.shown_texts import digests
from .sources import Row

STEP = "import"
FIELDS = ("persona", "question", "chosen", "rejected")
"""What --map must name; rejected may name several keys, with + between: a pair is made with each."""

OPTIONAL = ("user_id", "category")

LONGEST_USER = 200
"""Bytes of a user_id, which names a file."""


@dataclass(frozen=True)
class Recipe:
    """How to import a public set.

    Attributes:
        keys: its --map.
        folder: where a copy of its repository has the rows.
        licence: of its texts, where it is known.
        tried: the repository and commit on whose files the recipe was tried; empty if it was written after a description alone.
    """

    keys: Mapping[str, str]
    folder: str = ""
    licence: str = Settings.licence
    tried: str = ""

    @property
    def evidence(self) -> str:
        """How far to trust the recipe."""
        if self.tried:
            return f"was tried on {self.tried}"
        return "was written after a description and is not verified on the real data: look at some pairs"

    def find(self, source: str) -> str:
        """The rows in a copy of the repository, or in a part of it; the source itself if it has no such folder."""
        parts = Path(self.folder).parts
        inner = (Path(source).expanduser().joinpath(*parts[start:]) for start in range(len(parts)))
        return next((str(folder) for folder in inner if folder.is_dir()), source)


RECIPES = {
    "prefeval": Recipe(
        {
            "persona": "preference",
            "question": "question",
            "chosen": "classification_task_options.0",
            "rejected": "classification_task_options.1+classification_task_options.2+classification_task_options.3",
        },
        folder="benchmark_dataset/mcq_options",
        licence="CC-BY-NC-4.0",
        tried="amazon-science/PrefEval at commit 5079505",
    ),
    "personalized-rewardbench": Recipe(
        {
            "persona": "profile",
            "question": "question",
            "chosen": "chosen",
            "rejected": "rejected",
        }
    ),
}

REASONS = {
    "same text": "chosen and rejected are the same text",
    "twice": "another row has the same user, question and texts",
    "both labels": "another row has the same texts with the opposite label; neither is taken",
}


def mapping(text: str) -> dict[str, str]:
    """`persona=profile,question=q,...` -> field -> key of a row; `a.b.0` goes into objects and lists.

    Raises:
        OptionError: a field is missing, unknown or named twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, key = (word.strip() for word in part.partition("="))
        if not equals or not key or name not in (*FIELDS, *OPTIONAL) or name in found:
            raise OptionError(
                f"--map must be FIELD=KEY with commas between, of {', '.join((*FIELDS, *OPTIONAL))}, each once, got {short(part)}."
            )
        found[name] = key
    missing = [name for name in FIELDS if name not in found]
    if missing:
        raise OptionError(
            f"--map lacks {', '.join(missing)}. Example: --map {','.join(f'{name}={name}' for name in FIELDS)}"
        )
    return found


@dataclass
class Imported:
    """What an import adds.

    Attributes:
        personas: user id -> profile.
        rest: in the order of the rows.
        refused: with reasons of REASONS.
        rows: how many were read.
    """

    personas: dict[str, dict[str, Any]] = field(default_factory=dict)
    people: list[Person] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    pairs: dict[str, Pair] = field(default_factory=dict)
    tiered: dict[str, Tiered] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    rows: int = 0

    @property
    def why(self) -> Counter[str]:
        return Counter(one.reason for one in self.refused)


def import_rows(rows: Iterable[Row], keys: Mapping[str, str], difficulty: str, seed: int) -> Imported:
    """Make the files of a build of some rows.

    Args:
        keys: see `mapping`.
        difficulty: of all pairs; a source seldom says it as the tiers mean it.

    Raises:
        DataError: a row lacks a field, or a text is blank. Nothing is made of the others either.
    """
    made = Imported()
    turned: set[str] = set()
    for number, (where, row) in enumerate(rows, start=1):
        made.rows = number
        profile = _profile(_value(row, keys["persona"], where), where, keys["persona"])
        text = _text(row, keys["question"], where)
        category = _category(row, keys, where)
        user = _user(row, keys["user_id"], where) if "user_id" in keys else digest_of((profile_text(profile),))
        if made.personas.setdefault(user, profile) != profile:
            raise broken(
                where, f"another persona of {short(user)} than in an earlier row", "one persona to each user_id"
            )
        question = Question(id=f"{user}:{digest_of((text,))}", user_id=user, category=category, question=text)
        chosen = _text(row, keys["chosen"], where)
        for place, key in enumerate(keys["rejected"].split("+")):
            rejected = _text(row, key, where)
            _add(made, turned, question, chosen, rejected, f"{where}{f', {key}' if place else ''}", difficulty, seed)
    for name in turned:
        for part in (made.pairs, made.tiered):
            part.pop(name, None)
    used = {name for pair in made.pairs.values() for name in (pair.first, pair.second)}
    made.answers = {name: answer for name, answer in made.answers.items() if name in used}
    asked = {pair.question_id for pair in made.pairs.values()}
    made.questions = {name: question for name, question in made.questions.items() if name in asked}
    users = {pair.user_id for pair in made.pairs.values()}
    made.personas = {user: profile for user, profile in made.personas.items() if user in users}
    made.people = [Person(user_id=user, name=_name(profile)) for user, profile in made.personas.items()]
    made.origins = {name: origin for name, origin in made.origins.items() if name in made.answers}
    return made


def _add(
    made: Imported, turned: set[str], question: Question, chosen: str, rejected: str, where: str, difficulty: str, seed: int
) -> None:  # fmt: skip
    plain = [" ".join(text.split()) for text in (chosen, rejected)]
    ids = [f"{question.id}:{IMPORTED}:{digest_of((text,))}" for text in plain]
    name = digest_of(sorted(ids))
    if plain[0] == plain[1]:
        made.refused.append(Refused(id=name, step=STEP, reason="same text", text=f"{where}: {chosen}"))
        return
    if name in made.tiered or name in turned:
        same = name in made.tiered and made.tiered[name].chosen == ids[0]
        made.refused.append(
            Refused(id=name, step=STEP, reason="twice" if same else "both labels", text=f"{where}: {chosen}")
        )
        if not same:
            turned.add(name)
        return
    for one, text in zip(ids, (chosen, rejected), strict=True):
        made.answers.setdefault(
            one,
            Answer(id=one, question_id=question.id, user_id=question.user_id, strategy=IMPORTED, model=OWN, text=text),
        )
        made.origins.setdefault(one, Origin(id=one, kind="answer", model=OWN, parents=(where,)))
    made.questions.setdefault(question.id, question)
    shown = sorted(ids)
    random.Random(f"{seed}:pair:{name}").shuffle(shown)
    made.pairs[name] = Pair(id=name, question_id=question.id, user_id=question.user_id, first=shown[0], second=shown[1])
    persona = Persona(question.user_id, made.personas[question.user_id]).text
    made.tiered[name] = Tiered(
        pair_id=name, question_id=question.id, user_id=question.user_id, difficulty=difficulty, chosen=ids[0], rejected=ids[1],
        texts=digests(persona, question.question, {one: made.answers[one].text for one in ids}),
    )  # fmt: skip


def _value(row: Mapping[str, Any], key: str, where: str) -> Any:
    value: Any = row.get(key, row)
    if key not in row:
        for part in key.split("."):
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, (list, tuple)) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                raise broken(where, f"no {key!r} (keys: {short_list(row) or 'none'})", f"{key!r}, as --map says")
    return value


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = _value(row, key, where)
    if not isinstance(value, str) or not value.strip():
        raise broken(where, f"{key} = {short(value)}", "a text")
    return value.strip()


def profile_text(profile: Mapping[str, Any]) -> str:
    """The same text for the same profile. Raises ValueError or TypeError for what JSON has not."""
    return json.dumps(profile, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _user(row: Mapping[str, Any], key: str, where: str) -> str:
    value = _value(row, key, where)
    user = str(value) if type(value) is int else _text(row, key, where)
    if not user.isprintable() or "/" in user or user.startswith(".") or len(user.encode()) > LONGEST_USER:
        raise broken(where, f"{key} = {short(user)}", f"the name of a file, of at most {LONGEST_USER} bytes")
    return user


def _category(row: Mapping[str, Any], keys: Mapping[str, str], where: str) -> str:
    if "category" not in keys:
        return "specific"
    value = _text(row, keys["category"], where)
    if value not in ("specific", "general"):
        raise broken(where, f"{keys['category']} = {short(value)}", "specific or general")
    return value


def _profile(value: Any, where: str, key: str) -> dict[str, Any]:
    """A profile as the release has one: an object stays as it is; a text or a list is the value of `Profile`.

    A text that is a JSON object or list, as in a CSV, is read as that.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError):  # a text may begin so, too
            value = lenient(value)
    found: dict[str, Any] = {}
    if isinstance(value, Mapping):
        found = dict(value)
    elif isinstance(value, str) and value.strip():
        found = {"Profile": value.strip()}
    elif isinstance(value, (list, tuple)) and value:
        found = {"Profile": list(value)}
    if not found:
        raise broken(where, f"{key} = {short(value)}", "a text, an object or a list that describes the user")
    try:
        profile_text(found)
    except (TypeError, ValueError) as error:
        raise broken(
            where, f"{key} with a value that is no JSON ({error})", "texts, numbers, lists and objects"
        ) from error
    return found


def _name(profile: Mapping[str, Any]) -> str:
    name = profile.get("Name")
    return name if isinstance(name, str) else ""


def save(folder: Folder, made: Imported) -> int:
    """Add what was imported to a build. What it has already stays, so that the same import again changes nothing.

    Returns:
        How many pairs are new.

    Raises:
        DataError: a user has another persona there, or a pair without votes another label.
    """
    before = {one.pair_id: one for one in folder.read(Tiered)}
    contents: dict[Path, str] = {}
    for user, profile in made.personas.items():
        path = folder.root / "persona" / f"{user}.json"
        if not path.exists():
            contents[path] = json.dumps(profile, ensure_ascii=False, indent=1) + "\n"
        elif loads(read(path).decode("utf-8")) != profile:
            raise DataError(
                f"{path}: found another persona than the source has of {short(user)}, expected the same. {_ANEW}"
            )
    for name, one in made.tiered.items():
        if name in before and before[name].votes == one.votes and before[name] != one:
            raise DataError(
                f"{folder.path(Tiered)}: found another label or tier of the pair {name} than the source has now, expected the same. {_ANEW}"
            )
    pairs = folder.read(Pair)
    known = {one.id for one in pairs}
    new = [one for name, one in made.tiered.items() if name not in known]
    folder.write_together(
        {
            Person: _joined(folder.read(Person), made.people, "user_id"),
            Question: _joined(folder.read(Question), made.questions.values(), "id"),
            Answer: _joined(folder.read(Answer), made.answers.values(), "id"),
            Refused: _joined(folder.read(Refused), made.refused, "id", "step", "text"),
            Origin: _joined(folder.read(Origin), made.origins.values(), "id"),
            # Pairs last: a pair that is known has its label already, or lost it to votes.
            Tiered: [*before.values(), *(one for one in new if one.pair_id not in before)],
            Pair: _joined(pairs, made.pairs.values(), "id"),
        },
        contents,
    )
    return len(new)


_ANEW = "Import into a new folder, or remove the old one first."


def _joined(before: Iterable[Any], new: Iterable[Any], *key: str) -> list[Any]:
    found = {tuple(getattr(one, name) for name in key): one for one in before}
    for one in new:
        found.setdefault(tuple(getattr(one, name) for name in key), one)
    return list(found.values())
