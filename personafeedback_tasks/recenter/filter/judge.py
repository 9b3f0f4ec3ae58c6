"""A trained filter as a judge (`--model personafeedback/relevance-filter -M path=DIR` in Inspect) or as a step of the chain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...engine.replay import Judge
from ..relevance import texts_of
from .folder import read
from .trained import Filter


def relevance_filter(path: str, embeddings: str | None = None) -> Judge:
    """
    Args:
        embeddings: the embedding model, where it is not at the place that the folder names: a name on the Hub, or a folder.

    Raises:
        DataError: the folder is broken.
    """
    judge = step_filter(str(path), embeddings)
    return lambda prompt, about: judge.reply(str(about.get("case_id", "")), texts_of(prompt))


def step_filter(path: str, embeddings: str | None = None) -> Filter:
    """A filter as a step of the chain.

    Raises:
        DataError: the folder is broken.
    """
    trained = read(Path(path))
    return replace(trained, embeddings=str(embeddings or trained.embeddings))
