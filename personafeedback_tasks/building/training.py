"""Pairs to train a reward model on, of the training persons only (arXiv 2506.12915, section 3.5 and Appendix E).

A pair is an answer that knew more about the user before one to the same question that knew less: the whole persona before none, and
before the masked one; by one model, so that no model's style is the label. Pairs with labels of their own (imported, or voted on) count
as they are labeled, and only so. The persona stands where the prompt of method=reward has it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..common.errors import DataError
from ..common.strict_json import cut
from ..personafeedback.cases import Case, CaseSet
from ..personafeedback.conversations import conversation
from ..personafeedback.prompts import Template
from .folder import Folder, command
from .rows import FULL, MASKED, QUESTION, TRAIN, Answer, Pair, Person, Tiered
from .shown_texts import refuse_edited_labels

KINDS: Mapping[str, tuple[str, str]] = {"full over question": (FULL, QUESTION), "full over masked": (FULL, MASKED)}
"""Kind of pair -> the strategy of the better answer, and of the other."""

LABELED = "labeled"
"""The kind of a pair whose label is in tiers.jsonl."""

Row = dict[str, Any]
"""`prompt`, `chosen` and `rejected` as lists of turns, as TRL's RewardTrainer reads them; and `id`, `kind`, `user_id`."""


def rows(folder: Folder) -> list[Row]:
    """The pairs of the training persons, in the order of questions.csv.

    Raises:
        DataError: there is no training person, a training person has the persona of a test person, or a pair of the set itself is among
            the rows.
    """
    people = folder.people(TRAIN)
    if not people:
        raise DataError(
            f"{folder.path(Person)}: found no person of the split train, expected some. Set `test` in build.yaml below 1 "
            "before the personas are written, or change the column split for persons whose pairs nobody has voted on."
        )
    _refuse_test_personas(folder)
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
    for question in folder.questions(TRAIN):
        for better, worse, kind in _pairs(of_question[question.id], labeled[question.id], answers):
            case = Case(
                f"{better.id} over {worse.id}", "", "", folder.persona(question.user_id), question.question, better.text, worse.text
            )  # fmt: skip
            found.append(row(case, kind))
    if not found:
        raise DataError(
            f"{folder.path(Answer)}: found no pair of a training person, expected answers of the strategies full, question and masked. Run first: "
            f"{command('answers', folder.root)}"
        )
    test = [pair for pair in folder.read(Pair) if pair.user_id not in {one.user_id for one in people}]
    refuse_pairs(
        found,
        [(f"{pair.id} of this build's test persons", (answers[pair.first].text, answers[pair.second].text)) for pair in test
         if pair.first in answers and pair.second in answers],
    )  # fmt: skip
    return found


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


def _refuse_test_personas(folder: Folder) -> None:
    """One person under two ids, one of them in each split, would be trained on and tested."""
    test = {plain(folder.persona(one.user_id).values): one.user_id for one in folder.people() if one.split != TRAIN}
    for one in folder.people(TRAIN):
        if other := test.get(plain(folder.persona(one.user_id).values)):
            raise DataError(
                f"{folder.root / 'persona' / one.user_id}.json: found the persona of the test person {other!r} again, expected another person. Give "
                "both one split in people.csv, or drop one."
            )


def plain(text: str) -> str:
    """A text without what re-spacing or another encoding of the same letters changes."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def refuse_pairs(found: Sequence[Row], known: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Raise DataError if a row has both texts of a pair that a model will be tested on, in whatever order and spacing.

    Args:
        known: (what the pair is, its two texts).
    """
    tested = {frozenset(map(plain, texts)): what for what, texts in known}
    same = [
        f"{cut(one['id'], 200)} is {tested[texts]}"
        for one in found
        if (texts := frozenset(plain(one[side][-1]["content"]) for side in ("chosen", "rejected"))) in tested
    ]
    if same:
        raise DataError(
            f"Found {len(same):,} pairs to train on that are test data: {'; '.join(same[:5])}. Nothing is written: a model that has seen them "
            "proves nothing. If these persons were tested, set their split back to test; or remove these answers or labels."
        )


def refuse_people(folder: Folder, cases: CaseSet) -> None:
    """Raise DataError if a training person has the persona of somebody in a data set, under whatever id."""
    known = {plain(persona.values): user for user, persona in cases.release.others.personas.items()}
    same = [
        f"{cut(one.user_id, 100)} is {cut(user, 100)}"
        for one in folder.people(TRAIN)
        if (user := known.get(plain(folder.persona(one.user_id).values)))
    ]
    if same:
        raise DataError(
            f"{folder.path(Person)}: found {len(same):,} training persons who are users of {cases.source}: {'; '.join(same[:5])}. Nothing is "
            "written: a model that was trained on a user proves nothing of that user. Set their split to test, or drop them."
        )


def of_benchmark(cases: CaseSet) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of a release, for `refuse_pairs`."""
    return ((f"{case.id} of {cases.source}", (case.chosen, case.rejected)) for case in cases)


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
