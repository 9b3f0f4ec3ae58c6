"""The commands of a build that have models write texts: build personas, build questions, build answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, TypeVar

import click

from ..building.folder import Folder
from ..building.models import NOBODY, Models, Show
from ..building.texts import answers as building_answers
from ..building.texts import checks
from ..building.texts import memories as building_memories
from ..building.texts import personas as building_personas
from ..building.texts import questions as building_questions
from .build_options import batch_option, build_argument, model_arguments_option
from .options import Decorator, several
from .output import progress, say

DROPPED_PERSONAS: Mapping[str, str] = {
    "implausible": "job, behavior or way of life has no place in today's society",
    "idealized": "too good to be anybody, or contradicts itself",
    "stereotype": "theatrical, or a cliché",
    "common_job": "too many of this profession",
    "common_interests": "interests and habits are those of many others",
}
"""Reasons for which people drop a persona: Appendix B has the first three in its first round, on each persona; the others in its second,
on all of them together. A table takes any reason; these are offered, so that a report can count them.
"""

DROPPED_QUESTIONS: Mapping[str, str] = {
    "illogical": "makes no sense",
    "forced": "joins topics that have nothing to do with each other",
    "awkward": "nobody would put it so",
    "gives_away": "tells what the answer should have to know about the user",
    "factual": "has one right answer for everybody",
}
"""Reasons to drop a question. Appendix C has the first three; the others are ours, after section 3.2."""

F = TypeVar("F", bound=Callable[..., Any])


def model_options(repeated: bool, required: bool, without: str = "Without one, only your own are taken.") -> Decorator:
    """The options of a step that asks models.

    Args:
        without: what it does without a model.
    """
    name = "Model that writes, as Inspect names it: openai/gpt-4o."
    return several(
        click.option(
            "--model", "names", metavar="MODEL", multiple=True, required=required,
            help=" ".join([name, *(["Repeat for several."] if repeated else []), *([] if required else [without])]),
        ),
        model_arguments_option,
        batch_option,
        click.option("--max-tokens", type=click.IntRange(1), help="Limit on each text; the provider's by default."),
        click.option("--temperature", type=click.FloatRange(0), help="The provider's by default."),
    )  # fmt: skip


def _reasons(*tables: Mapping[str, str]) -> Callable[[F], F]:
    """Add tables of reasons to the help of a command."""

    def add(command: F) -> F:
        between = "\n\nRefused texts are in refused.jsonl, with a reason:"
        shown = between.join(f"\n\n\b\n{_table(reasons)}" for reasons in tables)
        command.__doc__ = cleandoc(command.__doc__ or "") + shown
        return command

    return add


def _table(reasons: Mapping[str, str]) -> str:
    width = max(map(len, reasons))
    return "\n".join(f"  {name:<{width}}  {meaning}" for name, meaning in reasons.items())


@click.command()
@build_argument
@model_options(repeated=False, required=False)
@_reasons(DROPPED_PERSONAS, building_personas.MEANINGS)
def personas(folder: Folder, names: tuple[str, ...], **options: Any) -> None:
    """Write personas from seeds.jsonl, and take those that you put into persona/.

    Writes `personas` (build.yaml) profiles in the release's structure, each from a seed, and from traits that are drawn where the seed
    states none. A profile that lacks a part, is in another language or nearly repeats another one goes to refused.jsonl. Without --model only your own are taken. Each is a line of
    people.csv, which also splits persons into test (people vote on their pairs) and train.

    Screen people.csv: keep = no drops a person, with a reason such as
    """
    with progress() as show:
        building_personas.write_personas(folder, _one_model(names, options, show), say)


@click.command()
@build_argument
@model_options(repeated=False, required=True)
@_reasons(building_memories.MEANINGS)
def memory(folder: Folder, names: tuple[str, ...], **options: Any) -> None:
    """Have a model choose from corpus.jsonl what each person would read, where there is no memory/<user_id>.jsonl yet.

    corpus.jsonl has one {"text": "..."} per line: posts, reviews, articles that you may use and release. Each person is shown a drawn
    part of it, and the model chooses up to `memory` pieces (build.yaml). They are kept and released, so that setting=rag runs on your set.

    A line with an e-mail address or a phone number is refused. Refused choices are in refused.jsonl:
    """
    with progress() as show:
        building_memories.write_memories(folder, _one_model(names, options, show), say)


@click.command()
@build_argument
@model_options(repeated=False, required=False)
@_reasons(DROPPED_QUESTIONS, building_questions.MEANINGS)
def questions(folder: Folder, names: tuple[str, ...], **options: Any) -> None:
    """Write questions for each person, choose general ones from pool.jsonl, and take your own.

    Specific questions are written for a scenario drawn from scenarios.csv. Where there is memory/<user_id>.jsonl, a model infers features
    of the user from some pieces of it, and the question is asked from these; else from the whole persona. A model then checks each: what nobody would ask so, or what gives the
    user away, is rewritten and checked again. General ones: of pool.jsonl, a model keeps what is open and personal (pool.csv), chooses for
    each person, and validates each match. What is refused is asked for again with another seed, at most three times. Your own lines of
    questions.csv need user_id, category (specific or general) and question; they stay as they are.

    Screen questions.csv, and pool.csv if there is one: keep = no drops a question, with a reason such as
    """
    with progress() as show:
        building_questions.write_questions(folder, _one_model(names, options, show), say)


@click.command()
@build_argument
@model_options(repeated=True, required=True)
@_reasons({**checks.MEANINGS, **building_answers.MEANINGS})
def answers(folder: Folder, names: tuple[str, ...], **options: Any) -> None:
    """Have models answer each question three ways, rewrite, and choose the pairs that people compare.

    \b
    full       told the whole persona
    masked     told what remains of it: the same fields are hidden on every run
    question   told the question alone
    improved   the full answer, improved by a rewrite (test persons only)
    degraded   the full answer, made less personal or less helpful (test persons only)

    All answers to a question are told one length (`words` in build.yaml is the median). pairs.jsonl gets up to four pairs for each question
    of a test person: full and question (easy), full and masked, improved and degraded, and full and full of two models.
    Name all models at once: among their answers each pair is chosen so that the better informed one is as often the longer as the shorter
    one. Nothing is cut; the balance is printed.

    Run it again, with the same options, after it was killed or after a text failed: only what is missing is asked. With a higher
    --max-tokens, texts that were cut off are asked for again. What is refused is asked for again with another seed, at most three times; all refused
    texts are in refused.jsonl:
    """
    with progress() as show:
        building_answers.write_answers(folder, Models(tuple(dict.fromkeys(names)), **options, show=show), say)


def _one_model(names: tuple[str, ...], options: dict[str, Any], show: Show) -> Models:
    if len(names) > 1:
        raise click.BadParameter("takes one model here; `build answers` takes several.", param_hint="--model")
    return Models(names, **options, show=show) if names else NOBODY
