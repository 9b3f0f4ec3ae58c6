"""The steps that have models write: a run of one or all of them, and the texts that each has yet to write."""

from __future__ import annotations

from ...annotation.study import Say
from ...common.errors import OptionError
from ..build import Build
from ..rows import OWN, Origin, Question
from ..steps import ANSWERS, TEXTS, Step
from .answers import AnswersRun
from .asking import Models, TextRun
from .personas import PersonasRun
from .questions import QuestionsRun

RUNS: dict[Step, type[TextRun]] = {run.step: run for run in (PersonasRun, QuestionsRun, AnswersRun)}


def write_texts(build: Build, models: Models, say: Say, only: str = "") -> None:
    """Run one step (by its name) or all of them, each of which asks for its missing texts. Without models, only a
    team's texts are taken.

    Raises:
        OptionError: a step lacks a model.
        DataError: a file of the build is broken, or a step has no text.
        GenerationError: a model wrote nothing.
    """
    steps = [step for step in TEXTS if step.name == only] or list(TEXTS)
    if not only and not models.names:
        steps = list(TEXTS[: 2 if build.has(Question) else 1])
    for step in steps:
        if not models.names and step == ANSWERS:
            raise OptionError(f"The step {step.name} needs a model. Pass --model.")
        with build.locked():
            for kind in step.reads:
                build.need(kind)
            run = RUNS[step](build, models, say)
            build.commit(run.write())
            run.report()


def todo(build: Build, step: Step) -> list[str]:
    """Ids of the texts that a run would ask for; none before a model has begun: a team may bring all its texts."""
    if not any(origin.kind == step.text and origin.model != OWN for origin in build.read(Origin)):
        return []
    run = RUNS[step](build, Models(()), lambda line: None)
    return run.missing(run.wanted())
