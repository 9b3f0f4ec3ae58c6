"""Labels and texts -> a data folder in the release's layout, with its set.json."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ...common.errors import DataError
from ...common.strict_json import cut, read, short
from ...personafeedback.cells import CELLS, DIFFICULTIES
from ...personafeedback.manifest import LONGEST_NAME, LONGEST_TEXT, Agreement, Manifest
from ..folder import Folder, command
from ..rows import IMPORTED, OWN, TRAIN, Answer, Pair, Person, Question, Tiered, Vote
from ..settings import FILE
from ..votes.collected import MODEL, by_models, counted
from ..votes.shown_texts import refuse_edited_labels
from .tiers import ALL, sort_into_tiers
from .voting import HEADLINE, Voting, agreement

MEASURE = f"{HEADLINE}, over all pairs voted on"
"""Those that are not released, too: pairs are released by agreement, so that kappa over the released ones is circular."""

BY_MODELS = {True: "model votes", None: "people's and model votes"}
"""Who voted, if not people alone -> what the set's name says of it, and so every table."""


@dataclass(frozen=True)
class Made:
    """What a release is made of.

    Attributes:
        manifest: its set.json.
        rows: cell -> its rows, in their order.
        users: of these rows, and every other kept person of the test split.
        answers: id -> of the rows' texts.
        votes: behind the labels.
        agreement: tier -> see `voting.agreement`; of all pairs that were voted on.
        left_out: pairs whose question or person was dropped since they were voted on.
    """

    manifest: Manifest
    rows: dict[str, list[dict[str, Any]]]
    users: tuple[str, ...]
    answers: dict[str, Answer]
    votes: list[Vote]
    agreement: dict[str, Voting]
    left_out: int


def make(folder: Folder) -> Made:
    """The release of a build.

    Raises:
        DataError: there are no tiers, they are not what the votes give, a text was edited since it was voted on or labeled, a row names a
            text that is not there, or it is of a person of the training split.
    """
    answers = {one.id: one for one in folder.read(Answer)}
    questions = {one.id: one for one in folder.read(Question)}
    people = {one.user_id: one for one in folder.read(Person)}
    kept = {one.id for one in folder.questions()}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    used: list[Tiered] = []
    left_out = 0
    tiered = folder.need(Tiered, "tiers")
    voted = counted(folder)
    every = [one for some in sort_into_tiers(folder, voted) for one in some] if folder.has(Vote) else []
    _refuse_old_tiers(folder, tiered, every)
    refuse_edited_labels(folder, tiered)
    for number, one in enumerate(tiered, start=1):
        where = f"{folder.path(Tiered)}, line {number}"
        for name, known, kind in (
            (one.user_id, people, Person), (one.question_id, questions, Question), (one.chosen, answers, Answer),
            (one.rejected, answers, Answer),
        ):  # fmt: skip
            if name not in known:
                raise DataError(
                    f"{where}: found {short(name)}, expected a row of {folder.path(kind)}. Put it back, or run `personafeedback build "
                    "tiers` again."
                )
        if people[one.user_id].split == TRAIN:
            raise DataError(
                f"{where}: found a pair of {short(one.user_id)}, who is in the training split, expected a test person. A model may have "
                f"been trained on this person: remove the line, or correct {folder.path(Person)}."
            )
        if one.question_id not in kept:
            left_out += 1
            continue
        question = questions[one.question_id]
        rows[f"{question.category}_{one.difficulty}"].append(_row(one, question, answers))
        used.append(one)
    if not used:
        raise DataError(
            f"{folder.path(Tiered)}: found no pair whose question and person are kept, expected some. Look at `{command('status', folder.root)}`."
        )
    pair_ids = {one.pair_id for one in used}
    votes = [vote for vote in voted if vote.pair_id in pair_ids]
    found = agreement(folder.settings, folder.read(Pair), list(answers.values()), every, voted)
    ordered = {cell: rows[cell] for cell in CELLS if cell in rows}
    texts = [answers[name] for one in used for name in (one.chosen, one.rejected)]
    users = dict.fromkeys([one.user_id for one in used])
    users |= dict.fromkeys(one.user_id for one in folder.people() if one.split != TRAIN)
    manifest = _manifest(folder, ordered, texts, votes, found)
    return Made(manifest, ordered, tuple(users), {one.id: one for one in texts}, votes, found, left_out)


def _refuse_old_tiers(folder: Folder, tiered: Sequence[Tiered], every: Sequence[Tiered]) -> None:
    """Raise DataError if a label is not what the votes and build.yaml say now. Lines that a team took out stay out.

    Args:
        every: what they say of each pair.
    """
    voted = folder.has(Vote)  # of annotators who were dropped, too
    now = {one.pair_id: one for one in every}
    for number, one in enumerate(tiered, start=1):
        if now.get(one.pair_id) != one and (voted or any(one.votes)):
            raise DataError(
                f"{folder.path(Tiered)}, line {number}: found another label, tier or number of votes for the pair {one.pair_id} than the votes "
                f"and {folder.root / FILE} give now. Run `personafeedback build tiers` again."
            )


def _row(one: Tiered, question: Question, answers: dict[str, Answer]) -> dict[str, Any]:
    """As in the release, and where its texts and its label are from."""
    both = {"chosen": answers[one.chosen], "reject": answers[one.rejected]}
    return {
        "user_id": one.user_id,
        "question": question.question,
        **{side: answer.text for side, answer in both.items()},
        **({"scenario": question.scenario} if question.scenario else {}),
        "pair": one.pair_id,
        "votes": list(one.votes),
        "strategies": {side: answer.strategy for side, answer in both.items()},
        "models": {side: answer.model for side, answer in both.items()},
    }


def _manifest(
    folder: Folder, rows: dict[str, list[dict[str, Any]]], texts: Sequence[Answer], votes: Sequence[Vote], found: dict[str, Voting]
) -> Manifest:  # fmt: skip
    settings = folder.settings
    who = by_models(votes)
    marked = f" ({BY_MODELS[who]})" if who in BY_MODELS else ""
    people = {vote.annotator for vote in votes if not vote.annotator.startswith(MODEL)}
    return Manifest(
        name=cut(settings.name, LONGEST_NAME - len(marked)) + marked,
        counts={cell: len(some) for cell, some in rows.items()},
        licence=settings.licence,
        labels=cut(_labels(folder, texts, votes, {cell.partition("_")[2] for cell in rows}), LONGEST_TEXT),
        generator=cut(_generators(texts), LONGEST_TEXT),
        annotators=len(people) or None,
        agreement=_agreement(found),
    )


def _labels(folder: Folder, texts: Sequence[Answer], votes: Sequence[Vote], tiers: Collection[str]) -> str:
    if not votes:
        source = "that of the imported pairs" if any(one.strategy == IMPORTED for one in texts) else "nobody's vote"
        return f"Nobody voted here: the label of each pair is {source}."
    settings = folder.settings
    models = sorted({vote.annotator.removeprefix(MODEL) for vote in votes if vote.annotator.startswith(MODEL)})
    counts = Counter(vote.pair_id for vote in votes).values()
    each = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    who, named = by_models(votes), ", ".join(models)
    if who is None:
        by = f"votes of people and of models ({named})"
    else:
        by = f"votes of models ({named}), not of people," if who else "people's votes"
    rules = {
        "easy": "Easy: built as the answer to the whole persona against the answer to the question alone, and confirmed",
        "medium": f"Medium: at least {settings.medium} agree",
        "hard": f"Hard: at least {settings.hard} agree",
    }
    return (
        f"The majority of {each} {by} on each pair. {'; '.join(rules[tier] for tier in DIFFICULTIES if tier in tiers)}."
    )


def _generators(texts: Sequence[Answer]) -> str:
    models = Counter(one.model for one in texts)
    own = models.pop(OWN, 0)
    named = ", ".join(name for name, _ in sorted(models.items(), key=lambda one: (-one[1], one[0])))
    return named + (", and texts that were brought" if own and named else "Texts that were brought" if own else "")


def _agreement(found: dict[str, Voting]) -> Agreement | None:
    """The headline over all pairs that were voted on."""
    if ALL not in found:
        return None
    one = found[ALL].coefficients[HEADLINE]
    value, low, high = (round(number, 4) for number in (one.value, one.low, one.high))
    if value != value:
        return None
    if low != low:
        return Agreement(measure=MEASURE, value=value)
    return Agreement(measure=MEASURE, value=value, low=max(-1.0, low), high=min(1.0, high))


def files(folder: Folder, made: Made) -> dict[PurePosixPath, str | bytes]:
    """Path in the release -> content; set.json is one of them.

    Raises:
        DataError: a persona is missing, or something is not what a manifest may have.
    """
    found: dict[PurePosixPath, str | bytes] = {
        PurePosixPath("set.json"): made.manifest.content(folder.root / "release")
    }
    for cell, rows in made.rows.items():
        category, _, difficulty = cell.partition("_")
        found[PurePosixPath("data") / category / f"{difficulty}.jsonl"] = "".join(
            json.dumps(row, ensure_ascii=False) + "\n" for row in rows
        )
    for user in made.users:
        folder.persona(user)  # names the file if it is missing or broken
        for name in (f"persona/{user}.json", f"memory/{user}.jsonl"):
            if (folder.root / name).is_file():
                found[PurePosixPath(name)] = read(folder.root / name)
    return found
