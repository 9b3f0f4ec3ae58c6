"""`build init --from`: rows -> a new build of personas, questions, answers and pairs with the labels of the source."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from ..annotation.study import Say
from ..common.errors import DataError, OptionError
from ..common.records import NonEmpty, broken, decoded, lenient, one_of, rows, short
from ..common.row_files import Changes, table
from ..core.cases import digest_of
from ..personafeedback.cells import CATEGORIES
from .build import Build
from .rows import IMPORTED, OWN, TEST, Answer, Pair, Person, Question, refuse_user
from .settings import FILE, Settings
from .steps import ANSWERS, PACKS, RELEASE, TRAINING
from .texts.personas import json_of, new_people

SAME = "whose responses are the same text"
TWICE = "of an earlier row with the same user, question and texts"
BOTH = "with the opposite label of another row; neither is taken"
"""Reasons to leave out a pair."""


class ImportedRow(msgspec.Struct, frozen=True):
    """A row of a source: a pair with its label. Without a user_id, rows with one persona are of one user."""

    persona: NonEmpty | Annotated[dict[str, Any], msgspec.Meta(min_length=1)]
    question: NonEmpty
    chosen: NonEmpty
    rejected: NonEmpty
    user_id: str | int | None = None
    category: Annotated[str, one_of("", *CATEGORIES)] | None = None

    def __post_init__(self) -> None:
        refuse_user(str(self.user_id or "x"))

    @property
    def profile(self) -> dict[str, Any]:
        """The persona as an object: a table has objects as JSON; any other text is the value of `Profile`."""
        if isinstance(self.persona, dict):
            return self.persona
        with suppress(ValueError):
            if isinstance(parsed := lenient(self.persona), dict) and parsed:
                return parsed
        return {"Profile": self.persona.strip()}


class _Imported(NamedTuple):
    # A pair of a source, as rows of a build.
    question: Question
    answers: tuple[Answer, Answer]
    pair: Pair


def import_pairs(build: Build, source: Path, say: Say, language: str | None, test: str | None) -> None:
    """Start a build with the pairs of a CSV or JSON Lines file with the keys of ImportedRow. Raises DataError for a
    broken row or without a pair, OptionError for another build's folder or an invalid option, see `sources.start`."""
    root, path = build.root, build.root / FILE
    earlier = build.settings if path.exists() else None
    settings = Settings.of_options(earlier, language=language, test=test)
    if earlier is None:
        settings = replace(settings, personas=0, specific=0)  # it writes no text by itself
    imported, profiles, left_out = _imported(source, settings.seed)
    if not imported:
        reasons = [f"{count:,} {reason}" for reason, count in left_out.items()]
        raise DataError(f"{source}: found no pair, expected some. Left out: {', '.join(reasons) or 'none'}.")
    questions, answers = dict[str, Question](), dict[str, Answer]()
    for one in imported:
        questions.setdefault(one.question.id, one.question)
        for answer in one.answers:
            answers.setdefault(answer.id, answer)
    tables: Changes = {
        Person: new_people(settings, (), profiles),
        Question: [*questions.values()],
        Answer: [*answers.values()],
        Pair: [one.pair for one in imported],
    }
    with build.locked():
        for kind in ANSWERS.reads + ANSWERS.writes:
            if build.has(kind) and build.read(kind) != tables[kind]:
                raise OptionError(
                    f"{build.path(kind)}: found another build's rows than {source} gives, expected a new folder."
                )
        files: Changes = {build.persona_path(user): json_of(profiles[user]) for user in profiles}
        started: Changes = {} if earlier else {path: settings.as_toml()}
        build.commit({**files, **started, **tables})
    say(f"took {len(imported):,} pairs of {len(profiles):,} users and {len(questions):,} questions")
    for reason, count in left_out.items():
        say(f"! left out: {count:,} pairs {reason}")
    say(f"{path} has the name, license and language of the set.")
    if not build.people(TEST):
        say(f"All persons are for training. Next: {TRAINING.command(root)}")
        return
    say(f"Their labels are those of the source. To have them voted on: {PACKS.line(root)}")
    say(f"Next: {RELEASE.line(root)}")


def _read(source: Path) -> Iterator[tuple[str, ImportedRow]]:
    # (its place, for errors; the row)
    if source.suffix.lower() == ".jsonl":
        for number, row in rows(source, any_text=True):
            yield f"{source}, line {number}", decoded(f"{source}, line {number}", row, ImportedRow)
    elif source.suffix.lower() == ".csv":
        yield from table(source, ImportedRow)
    else:
        raise OptionError(f"--from must be a .csv or .jsonl file, got {source.name}. Convert it.")


def _imported(source: Path, seed: int) -> tuple[list[_Imported], dict[str, dict[str, Any]], Counter[str]]:
    # (the pairs in the order of the source; user -> profile, of these pairs; reason -> how many rows are left out)
    profiles, found = dict[str, dict[str, Any]](), dict[str, _Imported]()
    left_out, contradicted = Counter[str](), set[str]()
    for where, row in _read(source):
        profile = row.profile
        user = str(row.user_id or digest_of((json.dumps(profile, sort_keys=True, ensure_ascii=False),)))
        if profiles.setdefault(user, profile) != profile:
            raise broken(
                where, f"another persona of {short(user)} than in an earlier row", "one persona to each user_id"
            )
        asked, category = row.question.strip(), row.category or "specific"
        question = Question(id=f"{user}:{digest_of((asked,))}", user_id=user, category=category, question=asked)
        chosen, rejected = _answer(question, row.chosen), _answer(question, row.rejected)
        sides = sorted((chosen.id, rejected.id))
        name = digest_of(sides)
        if chosen.id == rejected.id:
            left_out[SAME] += 1
        elif name not in found:
            random.Random(f"{seed}:pair:{name}").shuffle(sides)
            first, second = sides
            pair = Pair(id=name, question_id=question.id, user_id=user, first=first, second=second, label=chosen.id)
            found[name] = _Imported(question, (chosen, rejected), pair)
        elif found[name].pair.label == chosen.id:
            left_out[TWICE] += 1
        else:
            contradicted.add(name)
    left_out.update({BOTH: len(contradicted)} if contradicted else {})
    imported = [one for name, one in found.items() if name not in contradicted]
    return imported, {one.pair.user_id: profiles[one.pair.user_id] for one in imported}, left_out


def _answer(question: Question, text: str) -> Answer:
    name = f"{question.id}:{IMPORTED}:{digest_of((' '.join(text.split()),))}"
    user, text = question.user_id, text.strip()
    return Answer(id=name, question_id=question.id, user_id=user, strategy=IMPORTED, model=OWN, text=text)
