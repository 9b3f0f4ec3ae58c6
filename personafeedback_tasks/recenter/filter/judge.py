"""A trained filter as a judge (`--model personafeedback/relevance-filter -M path=DIR` in Inspect, or `extraction-filter`) or as a step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from ...common.errors import OptionError
from ...engine.recorded import read as read_replies
from ...engine.replay import Judge
from .folder import read
from .stage import STAGES
from .trained import Filter


def _judge(stage: str, path: str, answers: str | None = None, embeddings: str | None = None) -> Judge:
    """
    Args:
        stage: of STAGES.
        answers: the recorded replies of the language model that the filter was trained with, if it was: JSONL with `id` and `reply`.
        embeddings: the embedding model, where it is not at the place that the folder names: a name on the Hub, or a folder.

    Raises:
        DataError: the folder or the file is broken.
        OptionError: the filter is of another stage, or it needs `answers` and there are none, or the other way round.
    """
    trained = _of_stage(str(path), stage)
    if trained.with_answers and answers is None:
        raise OptionError(
            f"{path}: this filter weighs a language model's recorded answers, and cannot answer without them. Pass its replies to "
            "the rows that you ask about: -M answers=FILE."
        )
    if answers is not None and not trained.with_answers:
        raise OptionError(f"{path}: this filter was trained without a language model's answers. Remove -M answers=.")
    recorded = None if answers is None else read_replies(Path(str(answers)))
    judge = replace(trained, recorded=recorded, embeddings=str(embeddings or trained.embeddings))
    return lambda prompt, about: judge.reply(str(about.get("case_id", "")), trained.stage.texts_of(prompt))


relevance_filter, extraction_filter = (partial(_judge, stage) for stage in STAGES)


def step_filter(path: str, stage: str | None = None, embeddings: str | None = None) -> Filter:
    """A filter as a step of the chain.

    Args:
        stage: the one that it must be of.

    Raises:
        DataError: the folder is broken.
        OptionError: the filter is of another stage, or it weighs a language model's recorded answers, which the chain has none of.
    """
    trained = _of_stage(path, stage)
    if trained.with_answers:
        raise OptionError(
            f"{path}: this filter weighs a language model's recorded answers, which no run of the chain has. Train one without --answers."
        )
    return replace(trained, embeddings=embeddings or trained.embeddings)


def _of_stage(path: str, stage: str | None) -> Filter:
    trained = read(Path(path))
    if stage not in (None, trained.stage.name):
        raise OptionError(
            f"{path}: found a filter of the stage {trained.stage.name}, expected one of {stage}. `{trained.stage.judge}` is for the task "
            f"{trained.stage.benchmark.name}; train one with `{STAGES[str(stage)].command}`."
        )
    return trained
