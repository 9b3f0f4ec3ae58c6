"""Votes of a model in place of people's: the benchmark's own question about every pair, in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...choice.orders import ORDERS
from ...personafeedback import prompts
from ...personafeedback.cases import Case
from ...replies.answers import read_reply
from ..folder import Folder
from ..rows import Answer, Question, Vote
from .collected import MODEL
from .packs import asked
from .shown_texts import ShownTexts

_LETTERS = ("A", "B")


@dataclass(frozen=True)
class ModelVotes:
    """What a model said of the pairs.

    Attributes:
        annotator: its name among the annotators.
        votes: one for each pair of which it picked the same response in both orders; `shown_as` is the letter in the first order.
        asked: number of pairs.
        inconsistent, unreadable: number of pairs without a vote: it picked both responses, or a reply names neither.
        failed: ids of the pairs to which a reply is missing.
    """

    annotator: str
    votes: list[Vote]
    asked: int
    inconsistent: int
    unreadable: int
    failed: frozenset[str]


def ask(folder: Folder, model: str, model_args: Mapping[str, Any]) -> ModelVotes:
    """Ask a model about every pair. What it was asked before comes from the cache.

    Raises:
        DataError: there are no pairs, or a text of one is missing.
        OptionError: there is no such model.
        GenerationError: every call failed.
    """
    from ...inspect_harness.generation import Request, generate

    pairs = asked(folder)
    answers = {one.id: one for one in folder.read(Answer)}
    questions = {one.id: one for one in folder.read(Question)}
    requests = []
    for pair in pairs:
        # To the prompt, the first answer is the one that a case calls chosen: both orders are asked, so nothing follows from it.
        case = Case(
            pair.id, "", "", folder.persona(pair.user_id), questions[pair.question_id].question,
            answers[pair.first].text, answers[pair.second].text,
        )  # fmt: skip
        requests += [Request(f"{pair.id}:{order}", prompts.build(case, prompts.Template(), order)) for order in ORDERS]
    found = generate(requests, model, folder.root, step="votes", model_args=model_args)
    annotator, texts = f"{MODEL}{model}", ShownTexts(folder)
    votes: list[Vote] = []
    inconsistent = unreadable = 0
    failed = set()
    for pair in pairs:
        replies = [found.replies.get(f"{pair.id}:{order}") for order in ORDERS]
        read = [read_reply(reply.text, reply.cut) for reply in replies if reply is not None]
        if len(read) < len(ORDERS):
            failed.add(pair.id)
        elif not set(read) <= set(_LETTERS):
            unreadable += 1
        elif read[0] == read[1]:  # the same letter, so another response
            inconsistent += 1
        else:
            chosen = pair.first if read[0] == _LETTERS[0] else pair.second
            votes.append(
                Vote(annotator=annotator, pair_id=pair.id, chosen=chosen, shown_as=read[0], texts=texts.of(pair))
            )
    return ModelVotes(annotator, votes, len(pairs), inconsistent, unreadable, frozenset(failed))
