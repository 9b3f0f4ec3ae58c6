"""Labels and texts -> a data folder in the release's layout, with its set.json."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import PurePosixPath
from typing import Any

from ...annotation.items import FAULTS
from ...annotation.rows import Vote
from ...common.errors import DataError
from ...common.records import cut, json_lines, read, short
from ...common.statistics import Estimate
from ...personafeedback.cells import CELLS, DIFFICULTIES
from ...personafeedback.manifest import LONGEST_NAME, LONGEST_TEXT, Agreement, LabelNoise, Manifest, Risk
from ..basis import Bases
from ..folder import Folder
from ..rows import IMPORTED, OWN, TEST, TRAIN, Answer, Pair, Person, Question, Tiered
from ..settings import FILE
from ..steps import command
from ..votes import refuse_edited_labels
from .labeling import HEADLINE, Labels, Voting, agreement, outdated_labels
from .preferences import RISK
from .tiers import ALL, label_noise

Rows = dict[str, list[dict[str, Any]]]
"""Cell -> its rows, in their order."""

MEASURE = f"{HEADLINE}, over all pairs voted on"
"""Pairs that are not released count, too: pairs are released by agreement, so that kappa over released ones is circular."""


@dataclass(frozen=True)
class Made:
    """A release in memory.

    Attributes:
        users: of these rows, and every other kept person of the test split.
        answers: id -> the rows' answers.
        agreement: tier, BELOW or ALL -> agreement, over all pairs that were voted on.
        noise: tier -> risk of its labels; None where nobody voted.
        memories: number of users with a memory.
        left_out: pairs whose question or person was dropped after the votes, and imported pairs of the training split.
    """

    manifest: Manifest
    rows: Rows
    users: tuple[str, ...]
    answers: dict[str, Answer]
    agreement: dict[str, Voting]
    noise: Mapping[str, Estimate] | None
    memories: int
    left_out: int


def make(folder: Folder, labels: Labels) -> Made:
    """The release of a build, with the `labels` that its votes give now.

    Raises:
        DataError: no label can be released, a label is outdated or names a missing text, or a person of the training split has votes.
    """
    answers, questions, people = folder.by_id(Answer), folder.by_id(Question), folder.by_id(Person)
    kept, bases = {question.id for question in folder.questions()}, Bases(folder)
    tiered, votes, every = folder.read(Tiered), labels.votes, labels.every
    for line in outdated_labels(folder, labels):
        raise DataError(
            f"{folder.path(Tiered)}, line {line}: found another label, tier or number of votes for the pair {tiered[line - 1].pair_id} than the "
            f"votes and {folder.root / FILE} give. Put them back, or remove the line."
        )
    refuse_edited_labels(folder, tiered)
    of_pair: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        of_pair[vote.pair_id].append(vote)
    rows: Rows = defaultdict(list)
    used: list[Tiered] = []
    for number, label in enumerate(tiered, start=1):
        where = f"{folder.path(Tiered)}, line {number}"
        for name, known, kind in (
            (label.user_id, people, Person), (label.question_id, questions, Question), (label.chosen, answers, Answer),
            (label.rejected, answers, Answer),
        ):  # fmt: skip
            if name not in known:
                raise DataError(
                    f"{where}: found {short(name)}, expected a row of {folder.path(kind)}. Put it back, or remove the "
                    "line."
                )
        if people[label.user_id].split == TRAIN and any(label.votes):
            raise DataError(
                f"{where}: found a pair of {short(label.user_id)}, who is in the training split, expected a test person. A model may have "
                f"been trained on this person: remove the line, or correct {folder.path(Person)}."
            )
        if label.question_id in kept and people[label.user_id].split == TEST:
            question = questions[label.question_id]
            rows[f"{question.category}_{label.difficulty}"].append(
                _row(label, question, answers, bases.memory(question.id), of_pair[label.pair_id])
            )
            used.append(label)
    if not used:
        raise DataError(
            f"{folder.path(Tiered)}: found no pair whose question and person are kept, expected some. Look at `{command('', folder.root)}`."
        )
    pair_ids = {label.pair_id for label in used}
    agreements = agreement(folder.read(Pair), every, votes)
    noise = label_noise(every, folder.read(Pair)) if votes else None
    votes = [vote for vote in votes if vote.pair_id in pair_ids]
    texts = [answers[name] for label in used for name in (label.chosen, label.rejected)]
    users = dict.fromkeys([*(label.user_id for label in used), *(person.user_id for person in folder.people(TEST))])
    rows = {cell: rows[cell] for cell in CELLS if cell in rows}
    return Made(
        manifest=_manifest(folder, rows, texts, votes, agreements, noise), rows=rows, users=tuple(users),
        answers={answer.id: answer for answer in texts}, agreement=agreements, noise=noise, memories=sum(map(folder.has_memory, users)),
        left_out=len(tiered) - len(used),
    )  # fmt: skip


def _row(
    label: Tiered, question: Question, answers: Mapping[str, Answer], memory: Sequence[str], votes: Sequence[Vote]
) -> dict[str, Any]:
    # A row as in the original release, and the origins of its texts and its label.
    both = {"chosen": answers[label.chosen], "reject": answers[label.rejected]}
    return {
        "user_id": label.user_id,
        "question": question.question,
        **{side: answer.text for side, answer in both.items()},
        **({"scenario": question.scenario} if question.scenario else {}),
        **({"memory": list(memory)} if memory else {}),
        "pair": label.pair_id,
        "votes": list(label.votes),
        **({"risk": label.risk} if any(label.votes) else {}),
        **_faults(label, votes),
        "strategies": {side: answer.strategy for side, answer in both.items()},
        "models": {side: answer.model for side, answer in both.items()},
        **{answer.strategy: answer.way for answer in both.values() if answer.way},
    }


def _faults(label: Tiered, votes: Iterable[Vote]) -> dict[str, Any]:
    # Nothing where nobody was asked.
    asked = [vote.faults for vote in votes if vote.faults is not None]
    sides = {"chosen": label.chosen, "reject": label.rejected}
    found = {
        side: {fault: sum(fault in faults.get(name, ()) for faults in asked) for fault in FAULTS}
        for side, name in sides.items()
    }
    return {"faults": {"asked": len(asked), **found}} if asked else {}


def _manifest(
    folder: Folder, rows: Rows, texts: Sequence[Answer], votes: Sequence[Vote], agreements: Mapping[str, Voting], noise: Mapping[str, Estimate] | None
) -> Manifest:  # fmt: skip
    settings = folder.settings
    return Manifest(
        name=cut(settings.name, LONGEST_NAME),
        counts={cell: len(of_cell) for cell, of_cell in rows.items()},
        license=settings.license,
        labels=cut(_labels(folder, texts, votes, {cell.partition("_")[2] for cell in rows}), LONGEST_TEXT),
        generator=cut(_generators(texts), LONGEST_TEXT),
        annotators=len({vote.annotator for vote in votes}) or None,
        agreement=_agreement(agreements),
        noise=_noise(noise) if noise else None,
    )


def _labels(folder: Folder, texts: Sequence[Answer], votes: Sequence[Vote], tiers: Collection[str]) -> str:
    if not votes:
        source = "that of the imported pairs" if any(text.strategy == IMPORTED for text in texts) else "nobody's vote"
        return f"Nobody voted here: the label of each pair is {source}."
    settings = folder.settings
    counts = Counter(vote.pair_id for vote in votes).values()
    each = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    rules = {
        "easy": "Easy: built as the answer to the whole persona against the answer to the question alone, and confirmed",
        "medium": f"Medium: more than {settings.medium} of all such people agree, as estimated from the votes",
        "hard": "Hard: fewer agree, but chance alone would reach such a majority in at most 5 % of pairs",
    }
    return f"The majority of {each} people's votes on each pair. {'; '.join(rules[tier] for tier in DIFFICULTIES if tier in tiers)}."


def _generators(texts: Sequence[Answer]) -> str:
    models = Counter(text.model for text in texts)
    own = models.pop(OWN, 0)
    named = ", ".join(name for name, _ in sorted(models.items(), key=lambda counted: (-counted[1], counted[0])))
    return named + (", and texts that were brought" if own and named else "Texts that were brought" if own else "")


def _agreement(agreements: Mapping[str, Voting]) -> Agreement | None:
    if ALL not in agreements:
        return None
    headline = agreements[ALL].coefficients[HEADLINE]
    if isnan(headline.value):
        return None
    return Agreement(measure=MEASURE, **_estimated(headline))


def _noise(noise: Mapping[str, Estimate]) -> LabelNoise | None:
    risks = {tier: Risk(**_estimated(risk)) for tier, risk in noise.items()}
    return LabelNoise(measure=RISK, by_tier=risks) if risks else None


def _estimated(estimate: Estimate) -> dict[str, float]:
    # Rounding must not take an interval beyond 1.
    interval = {"low": max(-1.0, round(estimate.low, 4)), "high": min(1.0, round(estimate.high, 4))}
    return {"value": round(estimate.value, 4), **({} if isnan(estimate.low) else interval)}


def files(folder: Folder, made: Made) -> dict[PurePosixPath, str | bytes]:
    """Path in the release -> content, with set.json. Raises DataError for a missing persona or an invalid manifest."""
    contents: dict[PurePosixPath, str | bytes] = {
        PurePosixPath("set.json"): made.manifest.content(folder.root / "release")
    }
    for cell, rows in made.rows.items():
        category, _, difficulty = cell.partition("_")
        contents[PurePosixPath("data") / category / f"{difficulty}.jsonl"] = "".join(json_lines(rows))
    for user in made.users:
        folder.persona(user)  # names the file if it is missing or broken
        for name in (f"persona/{user}.json", f"memory/{user}.jsonl"):
            if (folder.root / name).is_file():
                contents[PurePosixPath(name)] = read(folder.root / name)
    return contents
