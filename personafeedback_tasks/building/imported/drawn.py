"""Duels that were drawn for people to vote on: a build with their packs, and the votes that came back. They make no labels and no set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...common.errors import DataError, OptionError
from ...common.files import write
from ...common.strict_json import short
from ...engine.cases import CaseSet
from ..folder import Folder
from ..rows import IMPORTED, OWN, Answer, BuildRow, Draw, Pair, Person, Question
from ..settings import FILE, Settings
from ..steps import VOTES, Say
from ..texts.personas import json_of
from ..votes.collected import counted
from ..votes.pack_files import write_packs

VOTES_EACH = 2
"""People who vote on each duel: with two, it is tested whether the judge errs on replies as in its exam. Whoever is added takes over from who leaves."""

REPLY, OTHER = "reply", "other"
"""What the id of an answer ends with."""


def write_drawn(
    root: Path, cases: CaseSet[Any], sources: Mapping[str, str], drawn: Mapping[str, float], say: Say
) -> None:
    """Write a build of some duels, with a pack for each annotator.

    Args:
        root: a new folder.
        cases: of the duels.
        sources: see `engine.duels.Duels`.
        drawn: case id -> the probability that it was drawn, of those that were.

    Raises:
        OptionError: there is something in the folder.
    """
    if root.exists() and any(root.iterdir()):
        raise OptionError(f"{root}: found a folder that is not empty, expected a new one. Pass another --out.")
    some = {sources[case.id]: case for case in cases if case.id in drawn}
    chinese = sum(case.language == "zh" for case in some.values()) > len(some) / 2
    settings = Settings(
        name="votes on replies", language="zh" if chinese else "en", annotators=VOTES_EACH, votes_per_pair=VOTES_EACH
    )
    write(root / FILE, settings.as_yaml())
    folder = Folder(root)
    people, questions, answers, pairs, draws, profiles = {}, [], [], [], [], {}
    for name, case in some.items():
        user = case.user_id
        people[user] = Person(user_id=user)
        profiles[folder.persona_path(user)] = json_of(case.persona.profile)
        questions.append(Question(id=name, user_id=user, category=case.category, question=case.question))
        sides = [f"{name}:{side}" for side in (REPLY, OTHER)]
        for side, text in zip(sides, case.responses, strict=True):
            answers.append(Answer(id=side, question_id=name, user_id=user, strategy=IMPORTED, model=OWN, text=text))
        pairs.append(Pair(id=name, question_id=name, user_id=user, first=sides[0], second=sides[1]))
        draws.append(Draw(pair_id=name, duel=case.digest, probability=drawn[case.id]))
    rows: dict[type[BuildRow], Iterable[BuildRow]] = {
        Person: people.values(), Question: questions, Answer: answers, Draw: draws, Pair: pairs,
    }  # fmt: skip
    with folder.locked():
        folder.write_together(rows, profiles)
    write_packs(folder, "html", say)


def votes_on_drawn(
    root: Path, cases: CaseSet[Any], sources: Mapping[str, str]
) -> tuple[Mapping[str, Sequence[float]], Mapping[str, float]]:
    """The votes that `build votes` took into a folder of `write_drawn`: case id -> votes for the reply, 1 or 0, and -> the probability of each duel there.

    Raises:
        DataError: it is no such folder, has no votes, or is of other duels.
    """
    if not Folder(root).has(Draw):
        raise DataError(
            f"{root}: found a folder without {Draw.file}, expected one that `verdict --ask-people` wrote, or a file with votes."
        )
    folder = Folder.of_build(root)
    rows, case_of = folder.by_id(Draw), {source: case_id for case_id, source in sources.items()}
    digests = {case.id: case.digest for case in cases}
    for name, row in rows.items():
        if digests.get(case_of.get(name, "")) != row.duel:
            raise DataError(
                f"{folder.path(Draw)}: found the duel {short(name)}, expected one of {cases.source} with the same texts. Pass the run of the duels "
                "that people were asked about."
            )
    votes: dict[str, list[float]] = defaultdict(list)
    for vote in counted(folder):
        votes[case_of[vote.pair_id]].append(float(vote.chosen.endswith(f":{REPLY}")))
    if not votes:
        raise DataError(
            f"{folder.root}: found no votes in it, expected some. Take in what annotators sent: {VOTES.line(folder.root)}"
        )
    return votes, {case_of[name]: row.probability for name, row in rows.items()}
