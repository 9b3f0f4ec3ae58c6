"""Pairs to train a reward model on, of the training persons only (arXiv 2506.12915, section 3.5 and Appendix E).

A pair is an answer that knew more about the user before one to the same question that knew less: the whole persona before none, and
before the masked one; by one model, so that no model's style is the label. Pairs with labels of their own (imported, or voted on) count
as they are labeled, and only so. The persona stands where the prompt of method=reward has it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from ...annotation.items import Item
from ...annotation.rows import Vote
from ...common.errors import DataError
from ...core.conversation import has_system_turn, without_system
from ...personafeedback.cases import PersonaCase
from ...personafeedback.conversations import conversation
from ...personafeedback.persona import Persona
from ...personafeedback.prompts import Template
from ..folder import Folder
from ..rows import FULL, MASKED, QUESTION, TEST, TRAIN, Answer, Pair, Person, Tiered
from ..steps import ANSWERS
from ..votes.shown_texts import refuse_edited_labels
from .contamination import SIDES, TrainingPair, plain, refuse_test_personas

KINDS: Mapping[str, tuple[str, str]] = {"full over question": (FULL, QUESTION), "full over masked": (FULL, MASKED)}
"""Kind of pair -> the strategy of the better answer, and of the other."""

LABELED = "labeled"
"""The kind of a pair whose label is in tiers.jsonl."""

RATED = "rated"
"""The kind of a pair that people rated on a scale."""

NO_DIFFERENCE, OF_TESTED = "that people rate as equal", "of a test person of this build"
"""Why a rated pair is left out."""

SHARED = "whose question a test person asks, too"
"""Why a pair `full over question` is left out: the answer to the question alone would be in training and in test data."""


def own_pairs(folder: Folder) -> tuple[list[TrainingPair], Counter[str]]:
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
    answers, trained = folder.by_id(Answer), {person.user_id for person in people}
    of_question: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers.values():
        of_question[answer.question_id].append(answer)
    labels, labeled = folder.read(Tiered), defaultdict[str, list[Tiered]](list)
    refuse_edited_labels(folder, [label for label in labels if label.user_id in trained])
    for label in labels:
        labeled[label.question_id].append(label)
    made: list[TrainingPair] = []
    left_out: Counter[str] = Counter()
    asked = {plain(question.question) for question in folder.questions(TEST)}
    for question in folder.questions(TRAIN):
        for better, worse, kind in _pairs(of_question[question.id], labeled[question.id], answers):
            if kind in KINDS and worse.strategy == QUESTION and plain(question.question) in asked:
                left_out[SHARED] += 1
                continue
            case = PersonaCase(
                f"{better.id} over {worse.id}", "", "", folder.persona(question.user_id), question.question, better.text, worse.text
            )  # fmt: skip
            made.append(_training_pair(case, kind))
    if not made:
        raise DataError(
            f"{folder.path(Answer)}: found no pair of a training person, expected answers of the strategies full, question and masked. Run first: "
            f"{ANSWERS.command(folder.root)}"
        )
    return made, left_out


def rated_pairs(
    judged: Iterable[tuple[Item, Vote]], tested: Collection[str]
) -> tuple[list[TrainingPair], Counter[str]]:
    """(pairs of two replies that people rated against each other, reason -> how many are left out).

    The chosen reply is the one on whose side of the scale the mean rating is. The last text of an item is the prompt; those before it say what is
    known of the user.

    Args:
        judged: (item, vote) of each person; items without a scale between two options are passed over.
        tested: users whom no pair may be about.
    """
    ratings: dict[str, list[int]] = defaultdict(list)
    items: dict[str, Item] = {}
    for item, vote in judged:
        if len(item.options) == 2 and vote.chosen in item.answers:
            items[item.id] = item
            ratings[item.id].append([*item.answers].index(vote.chosen))
    made, left_out = [], Counter[str]()
    for name, item in items.items():
        lead = 2 * mean(ratings[name]) - (len(item.answers) - 1)  # above 0: the second reply is better
        if not lead or item.user_id in tested:
            left_out[NO_DIFFERENCE if not lead else OF_TESTED] += 1
            continue
        rejected, chosen = (*item.options.values(),)[:: 1 if lead > 0 else -1]
        *known, prompt = item.texts
        persona = Persona(item.user_id, {name: item.texts[name] for name in known})
        made.append(_training_pair(PersonaCase(name, "", "", persona, item.texts[prompt], chosen, rejected), RATED))
    return made, left_out


def _pairs(
    of_question: Sequence[Answer], labeled: Iterable[Tiered], answers: Mapping[str, Answer]
) -> Iterator[tuple[Answer, Answer, str]]:
    """(the better answer, the other, the kind of pair) to one question."""
    by = {(answer.model, answer.strategy): answer for answer in of_question}
    labels = {frozenset((label.chosen, label.rejected)): label for label in labeled}
    for model in dict.fromkeys(answer.model for answer in of_question):
        for kind, (more, less) in KINDS.items():
            if (model, more) in by and (model, less) in by:
                better, worse = by[model, more], by[model, less]
                if frozenset((better.id, worse.id)) not in labels:
                    yield better, worse, kind
    for label in labels.values():
        yield answers[label.chosen], answers[label.rejected], LABELED


def of_test_persons(folder: Folder, trained: Collection[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of this build's test persons, for `contamination.copies`."""
    text = {answer.id: answer.text for answer in folder.read(Answer)}
    for pair in folder.read(Pair):
        if pair.user_id not in trained and pair.first in text and pair.second in text:
            yield f"{pair.id} of this build's test persons", (text[pair.first], text[pair.second])


def _training_pair(case: PersonaCase, kind: str) -> TrainingPair:
    """A pair as TRL reads it: the turns before the response once, and each response as one turn."""
    chosen, rejected = (conversation(case, Template(), side) for side in SIDES)
    return {
        "prompt": chosen[:-1],
        "chosen": chosen[-1:],
        "rejected": rejected[-1:],
        "id": case.id,
        "kind": kind,
        "user_id": case.user_id,
    }


def as_template_takes(pairs: Sequence[TrainingPair], tokenizer: Any) -> tuple[list[TrainingPair], bool]:
    """(the pairs with the persona where scoring has it for this tokenizer's chat template, whether that is a system turn)."""
    if has_system_turn(tokenizer):
        return list(pairs), True
    return [{**pair, "prompt": without_system(pair["prompt"])} for pair in pairs], False


def too_long(pairs: Sequence[TrainingPair], tokenizer: Any, most: int) -> list[tuple[int, str, int]]:
    """(line, id, tokens) of the pairs of which one conversation is longer than `most`: TRL leaves these out.

    Args:
        tokenizer: of transformers, with a chat template.
    """
    over = []
    for line, pair in enumerate(pairs, start=1):
        tokens = max(
            len(
                tokenizer.apply_chat_template(pair["prompt"] + pair[side], tokenize=True, return_dict=True)["input_ids"]
            )
            for side in SIDES
        )
        if tokens > most:
            over.append((line, pair["id"], tokens))
    return over
