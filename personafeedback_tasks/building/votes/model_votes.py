"""Votes of a model in place of people's: the benchmark's own question about every pair, in both orders."""

from __future__ import annotations

from collections import Counter

from ...choice.orders import ORDERS
from ...common.errors import require
from ...personafeedback import prompts
from ...personafeedback.cases import PersonaCase
from ...replies.answers import read_reply
from ..basis import Bases
from ..folder import Folder
from ..models import Models
from ..progress import Progress
from ..rows import Answer, Question, Vote
from ..steps import VOTES, Say
from .collected import MODEL
from .packs import asked
from .shown_texts import ShownTexts

_LETTERS = ("A", "B")


def add_model_votes(folder: Folder, models: Models, say: Say) -> None:
    """Have models vote on every pair, in place of their earlier votes.

    Raises:
        DataError: there are no pairs, or a text of one is missing.
        OptionError: a model does not exist.
        GenerationError: every call failed.
    """
    require("inspect_ai", extra="build")
    from ...inspect_harness.generation import check_models

    check_models(models.arguments)
    for model in models.names:
        _add_votes_of(folder, models, model, say)


def _add_votes_of(folder: Folder, models: Models, model: str, say: Say) -> None:
    from ...inspect_harness.generation import generate

    pairs, answers, questions = asked(folder), folder.by_id(Answer), folder.by_id(Question)
    bases, prompt_of = Bases(folder), dict[str, str]()
    for pair in pairs:
        # To the prompt, the first answer is the one that a case calls chosen: both orders are asked, so nothing follows from it.
        case = PersonaCase(
            pair.id, "", "", bases.shown(questions[pair.question_id]), questions[pair.question_id].question,
            answers[pair.first].text, answers[pair.second].text,
        )  # fmt: skip
        prompt_of |= {f"{pair.id}:{order}": prompts.build(case, prompts.Template(), order) for order in ORDERS}
    progress = Progress(f"{VOTES.name} by {model}", models.show)
    progress.expect(len(prompt_of))
    replies, _ = generate(
        prompt_of,
        model,
        folder.root,
        step=VOTES.name,
        model_args=models.arguments[model],
        batch=models.batch,
        came=progress.come,
    )
    annotator, texts = f"{MODEL}{model}", ShownTexts(folder)
    votes: list[Vote] = []
    without: Counter[str] = Counter()
    failed = set()
    for pair in pairs:
        names = [name for order in ORDERS if (name := f"{pair.id}:{order}") in replies]
        letters = [read_reply(replies[name].text, replies[name].cut) for name in names]
        if len(letters) < len(ORDERS):
            failed.add(pair.id)
        elif not set(letters) <= set(_LETTERS):
            without["unreadable"] += 1
        elif letters[0] == letters[1]:  # the same letter, so another response
            without["inconsistent"] += 1
        else:
            chosen = pair.first if letters[0] == _LETTERS[0] else pair.second
            votes.append(
                Vote(annotator=annotator, pair_id=pair.id, chosen=chosen, shown_as=letters[0], texts=texts.of(pair))
            )
    kept = [vote for vote in folder.read(Vote) if vote.annotator != annotator or vote.pair_id in failed]
    folder.write(Vote, [*kept, *votes])
    say(
        f"{annotator}: {len(votes):,} votes on {len(pairs):,} pairs; {without['inconsistent']:,} with another response in the other "
        f"order, {without['unreadable']:,} unreadable, {len(failed):,} failed"
    )
