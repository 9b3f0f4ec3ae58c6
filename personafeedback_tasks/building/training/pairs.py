"""Pairs to train a reward model on, of the training persons only (arXiv 2506.12915, section 3.5 and Appendix E).

A pair is an answer that knew more about the user before one to the same question that knew less: the whole persona before none, and
before the masked one; by one model, so that no model's style is the label. Pairs with labels of their own (imported, or voted on) count
as they are labeled, and only so. The persona stands where the prompt of method=reward has it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...common.errors import DataError
from ...engine.conversation import has_system_turn, without_system
from ...personafeedback.cases import Case
from ...personafeedback.conversations import conversation
from ...personafeedback.prompts import Template
from ..folder import Folder, command
from ..rows import FULL, MASKED, QUESTION, TRAIN, Answer, Pair, Person, Tiered
from ..votes.shown_texts import refuse_edited_labels
from .contamination import Row, plain, refuse_test_personas

KINDS: Mapping[str, tuple[str, str]] = {"full over question": (FULL, QUESTION), "full over masked": (FULL, MASKED)}
"""Kind of pair -> the strategy of the better answer, and of the other."""

LABELED = "labeled"
"""The kind of a pair whose label is in tiers.jsonl."""

SHARED = "whose question a test person asks, too"
"""Why a pair `full over question` is left out: the answer to the question alone would be in training and in test data."""


def rows(folder: Folder) -> tuple[list[Row], Counter[str]]:
    """(the pairs of the training persons in the order of questions.csv, reason -> how many are left out).

    Raises:
        DataError: there is no training person, a training person has the persona of a test person, or a label is about other texts than
            its pair has now.
    """
    people = folder.people(TRAIN)
    if not people:
        raise DataError(
            f"{folder.path(Person)}: found no person of the split train, expected some. Set `test` in build.yaml below 1 "
            "before the personas are written, or change the column split for persons whose pairs nobody has voted on."
        )
    refuse_test_personas(folder)
    answers = {one.id: one for one in folder.read(Answer)}
    of_question: dict[str, list[Answer]] = defaultdict(list)
    for one in answers.values():
        of_question[one.question_id].append(one)
    labeled: dict[str, list[Tiered]] = defaultdict(list)
    trained = {one.user_id for one in people}
    refuse_edited_labels(folder, [one for one in folder.read(Tiered) if one.user_id in trained])
    for tiered in folder.read(Tiered):
        labeled[tiered.question_id].append(tiered)
    found: list[Row] = []
    left_out: Counter[str] = Counter()
    asked = {plain(one.question) for one in folder.questions() if one.user_id not in trained}
    for question in folder.questions(TRAIN):
        for better, worse, kind in _pairs(of_question[question.id], labeled[question.id], answers):
            if kind in KINDS and worse.strategy == QUESTION and plain(question.question) in asked:
                left_out[SHARED] += 1
                continue
            case = Case(
                f"{better.id} over {worse.id}", "", "", folder.persona(question.user_id), question.question, better.text, worse.text
            )  # fmt: skip
            found.append(row(case, kind))
    if not found:
        raise DataError(
            f"{folder.path(Answer)}: found no pair of a training person, expected answers of the strategies full, question and masked. Run first: "
            f"{command('answers', folder.root)}"
        )
    return found, left_out


def _pairs(
    some: Sequence[Answer], labeled: Iterable[Tiered], answers: Mapping[str, Answer]
) -> Iterator[tuple[Answer, Answer, str]]:
    """(the better answer, the other, the kind of pair) to one question."""
    by = {(one.model, one.strategy): one for one in some}
    labels = {frozenset((one.chosen, one.rejected)): one for one in labeled}
    for model in dict.fromkeys(one.model for one in some):
        for kind, (more, less) in KINDS.items():
            if (model, more) in by and (model, less) in by:
                better, worse = by[model, more], by[model, less]
                if frozenset((better.id, worse.id)) not in labels:
                    yield better, worse, kind
    for one in labels.values():
        yield answers[one.chosen], answers[one.rejected], LABELED


def of_test_persons(folder: Folder) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of this build's test persons, for `contamination.copies`."""
    trained = {one.user_id for one in folder.people(TRAIN)}
    text = {one.id: one.text for one in folder.read(Answer)}
    for pair in folder.read(Pair):
        if pair.user_id not in trained and pair.first in text and pair.second in text:
            yield f"{pair.id} of this build's test persons", (text[pair.first], text[pair.second])


def row(case: Case, kind: str) -> Row:
    """A pair as TRL reads it: the turns before the response once, and each response as one turn."""
    chosen, rejected = (conversation(case, Template(), side) for side in ("chosen", "rejected"))
    return {
        "prompt": chosen[:-1],
        "chosen": chosen[-1:],
        "rejected": rejected[-1:],
        "id": case.id,
        "kind": kind,
        "user_id": case.user_id,
    }


def as_template_takes(found: Sequence[Row], tokenizer: Any) -> tuple[list[Row], bool]:
    """(the rows with the persona where scoring has it for this tokenizer's chat template, whether that is a system turn)."""
    if has_system_turn(tokenizer):
        return list(found), True
    return [{**one, "prompt": without_system(one["prompt"])} for one in found], False


def too_long(found: Sequence[Row], tokenizer: Any, most: int) -> list[tuple[int, str, int]]:
    """(line, id, tokens) of the rows of which one conversation is longer than `most`: TRL leaves these out.

    Args:
        tokenizer: of transformers, with a chat template.
    """
    over = []
    for line, one in enumerate(found, start=1):
        tokens = max(
            len(tokenizer.apply_chat_template(one["prompt"] + one[side], tokenize=True, return_dict=True)["input_ids"])
            for side in ("chosen", "rejected")
        )
        if tokens > most:
            over.append((line, one["id"], tokens))
    return over


def counts(found: Iterable[Row]) -> Counter[str]:
    """Kind -> number of rows."""
    return Counter(one["kind"] for one in found)
