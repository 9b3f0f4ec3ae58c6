"""`build init --from`: rows -> a new build of personas, questions, answers and pairs with the labels of the source."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from ..annotation.study import Say
from ..common.errors import DataError, OptionError
from ..common.records import NonEmpty, broken, lenient, one_of, short
from ..common.row_files import Changes, FileRow, table
from ..core.cases import digest_of
from ..personafeedback.cells import CATEGORIES
from .build import Build
from .rows import IMPORTED, OWN, TEST, Answer, Pair, Person, Question, refuse_user
from .settings import FILE, Settings
from .steps import ANSWERS, PACKS, RELEASE, TRAINING
from .texts.personas import json_of, new_people


class ImportedRow(msgspec.Struct, frozen=True):
    """A row of a source: a pair with its label. Without a user_id, rows with one persona are of one user."""

    persona: NonEmpty | Annotated[dict[str, Any], msgspec.Meta(min_length=1)]
    question: NonEmpty
    chosen: NonEmpty
    rejected: NonEmpty
    user_id: str | int | None = None
    category: Annotated[str, one_of("", *CATEGORIES)] | None = None

    def __post_init__(self) -> None:
        refuse_user(self.user)

    @property
    def user(self) -> str:
        """Its user_id, or a digest of its persona."""
        given = "" if self.user_id is None else str(self.user_id)
        return given or digest_of((json.dumps(self.profile, sort_keys=True, ensure_ascii=False),))

    @property
    def profile(self) -> dict[str, Any]:
        """The persona as an object: a table has objects as JSON; any other text is the value of `Profile`."""
        if isinstance(self.persona, dict):
            return self.persona
        with suppress(ValueError):
            if isinstance(parsed := lenient(self.persona), dict) and parsed:
                return parsed
        return {"Profile": self.persona.strip()}


def import_pairs(build: Build, source: Path, say: Say, language: str | None, test: str | None) -> None:
    """Start a build with the pairs of a CSV or JSON Lines file with the keys of ImportedRow. Raises DataError for a
    broken row or without a pair, OptionError for another build's folder or an invalid option, see `sources.start`."""
    root, path = build.root, build.root / FILE
    earlier = build.settings if path.exists() else None
    settings = Settings.of_options(earlier, language=language, test=test)
    if earlier is None:
        settings = replace(settings, personas=0, specific=0)  # it writes no text by itself
    tables, profiles, left_out = _tables(source, settings)
    if not tables[Pair]:
        reasons = [f"{count:,} {reason}" for reason, count in left_out.items()]
        raise DataError(f"{source}: found no pair, expected some. Left out: {', '.join(reasons) or 'none'}.")
    with build.locked():
        for kind in ANSWERS.reads + ANSWERS.writes:
            if build.has(kind) and build.read(kind) != tables[kind]:
                raise OptionError(
                    f"{build.path(kind)}: found another build's rows than {source} gives, expected a new folder."
                )
        files: Changes = {build.persona_path(user): json_of(profiles[user]) for user in profiles}
        started: Changes = {} if earlier else {path: settings.as_toml()}
        build.commit({**files, **started, **tables})
    say(f"took {len(tables[Pair]):,} pairs of {len(profiles):,} users and {len(tables[Question]):,} questions")
    for reason, count in left_out.items():
        say(f"! left out: {count:,} pairs {reason}")
    say(f"{path} has the name, license and language of the set.")
    if not build.people(TEST):
        say(f"All persons are for training. Next: {TRAINING.command(root)}")
        return
    say(f"Their labels are those of the source. To have them voted on: {PACKS.line(root)}")
    say(f"Next: {RELEASE.line(root)}")


def _tables(
    source: Path, settings: Settings
) -> tuple[dict[type[FileRow] | Path, list[Any]], dict[str, dict[str, Any]], Counter[str]]:
    # (the rows of a build, in the order of the source; user -> profile; reason -> how many rows are left out)
    profiles, questions = dict[str, dict[str, Any]](), dict[str, Question]()
    answers, pairs = dict[str, Answer](), dict[str, Pair]()
    left_out, contradicted = Counter[str](), set[str]()
    if source.suffix.lower() not in (".csv", ".jsonl"):
        raise OptionError(f"--from must be a .csv or .jsonl file, got {source.name}. Convert it.")
    for where, row in table(source, ImportedRow, any_text=True):
        profile, user = row.profile, row.user
        if profiles.setdefault(user, profile) != profile:
            raise broken(
                where, f"another persona of {short(user)} than in an earlier row", "one persona to each user_id"
            )
        asked, category = row.question.strip(), row.category or "specific"
        question = Question(user_id=user, category=category, question=asked)
        chosen, rejected = _answer(question, row.chosen), _answer(question, row.rejected)
        sides = sorted((chosen.id, rejected.id))
        name = digest_of(sides)
        if chosen.id == rejected.id:
            left_out["whose responses are the same text"] += 1
        elif name not in pairs:
            settings.generator("pair", name).shuffle(sides)
            first, second = sides
            pairs[name] = Pair(
                id=name, question_id=question.id, user_id=user, first=first, second=second, label=chosen.id
            )
            questions.setdefault(question.id, question)
            answers.setdefault(chosen.id, chosen)
            answers.setdefault(rejected.id, rejected)
        elif pairs[name].label == chosen.id:
            left_out["of an earlier row with the same user, question and texts"] += 1
        else:
            contradicted.add(name)
    if contradicted:
        left_out["with the opposite label of another row; neither is taken"] = len(contradicted)
    kept = [pair for name, pair in pairs.items() if name not in contradicted]
    profiles = {pair.user_id: profiles[pair.user_id] for pair in kept}
    texts = dict.fromkeys(side for pair in kept for side in (pair.label, pair.other(pair.label)))
    rows: dict[type[FileRow] | Path, list[Any]] = {
        Person: new_people(settings, (), profiles),
        Question: [questions[name] for name in dict.fromkeys(pair.question_id for pair in kept)],
        Answer: [answers[name] for name in texts],
        Pair: kept,
    }
    return rows, profiles, left_out


def _answer(question: Question, text: str) -> Answer:
    name = f"{question.id}:{IMPORTED}:{digest_of((' '.join(text.split()),))}"
    user, text = question.user_id, text.strip()
    return Answer(id=name, question_id=question.id, user_id=user, strategy=IMPORTED, model=OWN, text=text)
