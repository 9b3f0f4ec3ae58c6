"""The tokens of a run whose log counts none: of the prompts and replies in the log, by a tokenizer that the user names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..common.tokens import Count, counted_by
from ..engine.evidence import Reply
from ..engine.usage import NONE, Usage
from .log import LoggedDocument
from .logged import documents_of
from .run import Run


def with_tokens(run: Run, tokenizer: str | None) -> Run:
    """The run with an estimate where its log counts no tokens: of the texts as they are logged, each call on its own.

    Args:
        tokenizer: see `counted_by`; loaded for the first run that needs it.

    Raises:
        OptionError, ModuleNotFoundError: the tokenizer cannot be loaded.
        RunError: the log cannot be read.
    """
    if tokenizer is None or run.usage.counted:
        return run
    whole, count = NONE, counted_by(tokenizer)
    for task, document in documents_of(run):
        if document.document is None or document.asked is None:
            continue
        whole += _usage(document, task.settings.index(run.setting), task.staged, count)
    return replace(run, usage=whole, tokenizer=tokenizer)


def _usage(document: LoggedDocument, place: int, staged: Sequence[bool], count: Count) -> Usage:
    """Of a document under one of its settings, see `Asked.under`."""
    assert document.asked is not None  # checked by the caller
    asked: Any = document.asked().under(place, staged).calls
    each = len(document.evidence) // len(staged)
    replies = [reply.text for reply in document.evidence[place * each :][:each] if isinstance(reply, Reply)]
    return Usage(
        calls=len(asked),
        input=sum(count([text for call in asked for _, text in call])),
        output=sum(count(replies)),
    )
