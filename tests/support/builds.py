"""Folders of builds as their steps leave them, with texts that say what they are."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from personafeedback_tasks.annotation.assignment import names
from personafeedback_tasks.annotation.ingest import Merged, merged
from personafeedback_tasks.annotation.rows import Dropped, PackItem, Vote
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.rows import Answer, Pair, Person, Question
from personafeedback_tasks.building.tiers import Labeled, label_pairs
from personafeedback_tasks.building.votes import study_of
from personafeedback_tasks.common.row_files import FileRow
from personafeedback_tasks.core.cases import digest_of

HOBBIES = ("chess", "rowing", "baking", "astronomy", "pottery", "falconry", "karate", "origami", "botany", "surfing")


def a_build(root: Path, people: int = 4, questions: int = 3, **settings: object) -> Build:
    """A build with its pairs: of each question an easy one (full against question) and a hard one (full against masked).

    Args:
        settings: of build.toml.
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / "build.toml").write_text(
        "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()), "utf-8"
    )
    (root / "persona").mkdir(exist_ok=True)
    persons, asked, answers, pairs = [], [], [], []
    for number in range(people):
        user, hobby = f"u{number}", HOBBIES[number % len(HOBBIES)]
        profile = {"Name": f"Person{number}", "Hobby": hobby, "Town": f"Town {number}"}
        (root / "persona" / f"{user}.json").write_text(json.dumps(profile), "utf-8")
        persons.append(Person(user_id=user, name=f"Person{number}"))
        for turn in range(questions):
            text = f"What should I do on day {turn} of my holiday number {number}?"
            question = f"{user}:{digest_of((text,))}"
            asked.append(Question(id=question, user_id=user, category=("specific", "general")[turn % 2], question=text))
            ids = {}
            for strategy, words in (
                ("full", f"Try {hobby} in the park"),
                ("masked", "Try a club nearby"),
                ("question", "Try a museum"),
            ):
                ids[strategy] = f"{question}:{strategy}:{digest_of((strategy, question))}"
                longer = " and then have some tea" * ((number + turn + (strategy == "full")) % 2)
                answers.append(
                    Answer(
                        id=ids[strategy], question_id=question, user_id=user, strategy=strategy, model="acme/m",
                        text=f"{words} on day {turn}, number {number}{longer}.",
                    )
                )  # fmt: skip
            for other in ("question", "masked"):
                both = sorted((ids["full"], ids[other]), key=lambda one: digest_of((one,)))
                pairs.append(
                    Pair(
                        id=digest_of(sorted(both)), question_id=question, user_id=user, first=both[0], second=both[1],
                        easy=ids["full"] if other == "question" else "",
                    )
                )  # fmt: skip
    folder = Build(root)
    for kind, rows in ((Person, persons), (Question, asked), (Answer, answers), (Pair, pairs)):
        folder.write(kind, rows)
    return folder


def change(build: Build, kind: type[FileRow], place: int = 0, **fields: object) -> Any:
    """Edit one row of a file. Returns it as it was."""
    rows = build.read(kind)
    build.write(kind, [replace(one, **fields) if at == place else one for at, one in enumerate(rows)])
    return rows[place]


def cast(folder: Build, votes: Iterable[Vote]) -> None:
    """Write votes on the pairs' texts as they are now."""
    now = study_of(folder, folder.read(Question)).asked.by_id
    folder.write(Vote, [replace(vote, texts=now[vote.pair_id].digests) for vote in votes])


def filled_in(folder: Build, annotator: str, path: Path, vote) -> Path:
    """A CSV as an annotator sends it.

    Args:
        vote: row of PackItem -> A, B, or nothing.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "vote"])
        writer.writerows((one.item, vote(one)) for one in folder.read(PackItem) if one.annotator == annotator)
    return path


def likes_full(left: str, right: str, one: PackItem) -> str:
    return "A" if left == "full" else "B"


def attentive(folder: Build, picks=likes_full):
    """A vote that gets every attention item right and otherwise takes what `picks` says.

    Args:
        picks: (strategy of A, strategy of B, row of PackItem) -> A or B.
    """
    strategy = {answer.id: answer.strategy for answer in folder.read(Answer)}

    def vote(one: PackItem) -> str:
        if one.attention:
            return "A" if one.left == one.attention else "B"
        return picks(strategy[one.left], strategy[one.right], one)

    return vote


def sent_by(build: Build, count: int, folder: Path) -> list[Path]:
    """The tables that so many attentive annotators send, who like the full answer."""
    vote = attentive(build)
    return [filled_in(build, name, folder / f"{name}.csv", vote) for name in names(count)]


def counted(build: Build) -> list[Vote]:
    """The votes that make labels."""
    return [vote for _, vote in study_of(build, build.read(Question)).counted()]


def labels(build: Build) -> dict[str, Labeled]:
    """Pair id -> its label by the votes as they are now."""
    return {label.pair.id: label for label in label_pairs(build, counted(build))}


def grown(build: Build, annotators: Sequence[str]) -> list[PackItem]:
    """All packs of so many annotators, as `annotate pack` would write them now."""
    dropped = build.by_id(Dropped).keys()
    given = build.read(PackItem)
    return [*given, *study_of(build, build.questions()).asked.added(given, annotators, dropped)]


def taken_in(build: Build, files: Sequence[Path]) -> Merged:
    """The votes that were there, and those of files."""
    return merged(build, study_of(build, build.questions()).asked, files)
