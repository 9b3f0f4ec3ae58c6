"""A trained filter as a judge (`--model personafeedback/relevance-filter -M path=DIR` in Inspect, or `extraction-filter`) or as a step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from ...common.errors import OptionError
from ...engine.replay import Judge
from .folder import read
from .stage import STAGES
from .trained import Filter


def _judge(stage: str, path: str, embeddings: str | None = None) -> Judge:
    """
    Args:
        stage: of STAGES.
        embeddings: the embedding model, where it is not at the place that the folder names: a name on the Hub, or a folder.

    Raises:
        DataError: the folder is broken.
        OptionError: the filter is of another stage.
    """
    judge = _of_stage(str(path), stage, embeddings)
    return lambda prompt, about: judge.reply(str(about.get("case_id", "")), judge.stage.texts_of(prompt))


relevance_filter, extraction_filter = (partial(_judge, stage) for stage in STAGES)


def step_filter(path: str, stage: str | None = None, embeddings: str | None = None) -> Filter:
    """A filter as a step of the chain.

    Args:
        stage: the one that it must be of.

    Raises:
        DataError: the folder is broken.
        OptionError: the filter is of another stage.
    """
    return _of_stage(path, stage, embeddings)


def _of_stage(path: str, stage: str | None, embeddings: str | None) -> Filter:
    trained = read(Path(path))
    if stage not in (None, trained.stage.name):
        raise OptionError(
            f"{path}: found a filter of the stage {trained.stage.name}, expected one of {stage}. `{trained.stage.judge}` is for the task "
            f"{trained.stage.benchmark.name}; train one with `{STAGES[str(stage)].command}`."
        )
    return replace(trained, embeddings=str(embeddings or trained.embeddings))
