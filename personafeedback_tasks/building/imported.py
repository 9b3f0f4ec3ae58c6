"""`build import`: rows -> a new build of personas, questions, answers and pairs with the labels of the source."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ..annotation.study import Say
from ..common import tables
from ..common.errors import DataError, OptionError
from ..common.files import Content
from ..common.records import broken, lenient, rows, short
from ..common.row_files import FileRow
from ..core.cases import digest_of
from ..personafeedback.cells import CATEGORIES
from .build import Build
from .rows import IMPORTED, OWN, TEST, Answer, Pair, Person, Question
from .settings import FILE, Settings
from .steps import PACKS, RELEASE, TRAINING
from .texts.personas import json_of, new_people

TEXTS = ("question", "chosen", "rejected")
OPTIONAL = ("user_id", "category")
LONGEST_USER = 200
"""Bytes of a user_id, which names a file."""

COLUMNS = ("persona", *TEXTS, *OPTIONAL)
"""Keys of a source's row; it may lack the last two."""

SAME = "whose responses are the same text"
TWICE = "of an earlier row with the same user, question and texts"
BOTH = "with the opposite label of another row; neither is taken"
"""Reasons to leave out a pair."""


def import_pairs(root: Path, source: Path, test: str | None, say: Say) -> None:
    """Start a build with the pairs of a file.

    Args:
        source: a CSV or JSON Lines file with the keys of COLUMNS.
        test: share of the users for testing.

    Raises:
        DataError: a row is broken, or there is no pair.
        OptionError: the folder has another build, or the share is invalid.
    """
    build, path = Build(root), root / FILE
    new = replace(Settings.of_options(test=test), personas=0, specific=0)  # it writes no text by itself
    settings = Settings.load(path) if path.exists() else new
    made = _Pairs()
    for where, row in _read(source):
        made.add(row, where, settings)
    made.leave_out_contradictions()
    if not made.pairs:
        left_out = [f"{count:,} {reason}" for reason, count in made.left_out.items()]
        raise DataError(f"{source}: found no pair, expected some. Left out: {', '.join(left_out) or 'none'}.")
    users = dict.fromkeys(pair.user_id for pair in made.pairs.values())
    personas = {user: made.personas[user] for user in users}
    ids = {name for pair in made.pairs.values() for name in (pair.question_id, pair.first, pair.second)}
    content: dict[type[FileRow], list[Any]] = {
        Person: new_people(settings, (), personas),
        Question: [row for row in made.questions.values() if row.id in ids],
        Answer: [row for row in made.answers.values() if row.id in ids],
        Pair: [*made.pairs.values()],
    }
    with build.locked():
        for kind, of_kind in content.items():
            if build.has(kind) and build.read(kind) != of_kind:
                raise OptionError(
                    f"{build.path(kind)}: found another build's rows than {source} gives, expected a new folder."
                )
        others: dict[Path, Content] = {build.persona_path(user): json_of(personas[user]) for user in personas}
        if not path.exists():
            others[path] = settings.as_toml()
        build.write_together(content, others)
    say(f"took {len(made.pairs):,} pairs of {len(users):,} users and {len(content[Question]):,} questions")
    for reason, count in made.left_out.items():
        say(f"! left out: {count:,} pairs {reason}")
    say(f"{path} has the name, license and language of the set.")
    if not build.people(TEST):
        say(f"All persons are for training. Next: {TRAINING.command(root)}")
        return
    say(f"Their labels are those of the source. To have them voted on: {PACKS.line(root)}")
    say(f"Next: {RELEASE.line(root)}")


def _read(source: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    # (its place, for errors; the row)
    if source.suffix.lower() == ".jsonl":
        for number, row in rows(source, any_text=True):
            yield f"{source}, line {number}", row
    elif source.suffix.lower() == ".csv":
        yield from tables.rows(source, COLUMNS, [name for name in COLUMNS if name not in OPTIONAL])
    else:
        raise OptionError(f"--from must be a .csv or .jsonl file, got {source.name}. Convert it.")


class _Pairs:
    """Rows of a build, each by its id, in the order of the source."""

    def __init__(self) -> None:
        self.personas: dict[str, dict[str, Any]] = {}
        self.questions: dict[str, Question] = {}
        self.answers: dict[str, Answer] = {}
        self.pairs: dict[str, Pair] = {}
        self.left_out = Counter[str]()
        self._both: set[str] = set()

    def add(self, row: Mapping[str, Any], where: str, settings: Settings) -> None:
        profile = row.get("persona")
        if isinstance(profile, str) and profile.lstrip().startswith("{"):
            with suppress(ValueError):  # a table has objects as JSON, and a text may begin so, too
                profile = lenient(profile)
        profile = _profile(profile, where)
        as_text = json.dumps(profile, sort_keys=True, ensure_ascii=False)
        user = _user_id(row["user_id"], where) if row.get("user_id") else digest_of((as_text,))
        if self.personas.setdefault(user, profile) != profile:
            raise broken(
                where, f"another persona of {short(user)} than in an earlier row", "one persona to each user_id"
            )
        for name in TEXTS:
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise broken(where, f"{name} = {short(row.get(name))}", "a text")
        category = row.get("category") or "specific"
        if category not in CATEGORIES:
            raise broken(where, f"category = {short(category)}", " or ".join(CATEGORIES))
        asked, chosen, rejected = (row[name].strip() for name in TEXTS)
        question = Question(id=f"{user}:{digest_of((asked,))}", user_id=user, category=category, question=asked)
        self._add_pair(question, {"chosen": chosen, "rejected": rejected}, settings)

    def _add_pair(self, question: Question, texts: Mapping[str, str], settings: Settings) -> None:
        ids = {side: f"{question.id}:{IMPORTED}:{digest_of((' '.join(texts[side].split()),))}" for side in texts}
        name = digest_of(sorted(ids.values()))
        if ids["chosen"] == ids["rejected"]:
            self.left_out[SAME] += 1
            return
        if name in self.pairs:
            if self.pairs[name].label == ids["chosen"]:
                self.left_out[TWICE] += 1
            else:
                self._both.add(name)
            return
        about = {"question_id": question.id, "user_id": question.user_id}
        self.questions.setdefault(question.id, question)
        for side, answer in ids.items():
            self.answers.setdefault(
                answer, Answer(id=answer, **about, strategy=IMPORTED, model=OWN, text=texts[side])
            )  # fmt: skip
        sides = sorted(ids.values())
        random.Random(f"{settings.seed}:pair:{name}").shuffle(sides)
        self.pairs[name] = Pair(id=name, **about, first=sides[0], second=sides[1], label=ids["chosen"])

    def leave_out_contradictions(self) -> None:
        for name in self._both:
            del self.pairs[name]
            self.left_out[BOTH] += 1


def _user_id(value: Any, where: str) -> str:
    name = str(value) if isinstance(value, (str, int)) else ""
    if not name.isprintable() or not name.strip(". ") or "/" in name or len(name.encode()) > LONGEST_USER:
        raise broken(where, f"user_id = {short(value)}", f"the name of a file, of at most {LONGEST_USER} bytes")
    return name


def _profile(value: Any, where: str) -> dict[str, Any]:
    # As a release has it: an object; a text is the value of `Profile`.
    profile = {"Profile": value.strip()} if isinstance(value, str) and value.strip() else value
    if not profile or not isinstance(profile, dict):
        raise broken(where, f"the profile {short(value)}", "a text or an object that describes the user")
    return profile
