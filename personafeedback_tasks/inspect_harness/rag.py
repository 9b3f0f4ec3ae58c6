"""`rag_filter` in Inspect: one more call per case, before those of the two orders."""

from __future__ import annotations

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model
from inspect_ai.solver import TaskState

from ..personafeedback.cases import Case
from ..personafeedback.prompts import Template
from ..personafeedback.rag import filter as rag_filter

KEY = "rag_filter"

ROOM = 1024
"""New tokens for the reply where the method itself needs no more than a letter."""


async def filtered(model: Model, case: Case, template: Template, state: TaskState) -> Template:
    """The template that asks about a case: with `rag_filter` it holds the pieces that the model keeps."""
    if not template.rag_filter:
        return template
    pieces = template.pieces(case)
    about = {"case_id": case.id, "stage": KEY, "pieces": len(pieces)}
    message = ChatMessageUser(content=rag_filter.build(case, template, pieces), metadata=about)
    config = GenerateConfig(max_tokens=ROOM) if template.method == "logprobs" else GenerateConfig()
    output = await model.generate([message], config=config)
    numbers = rag_filter.read_numbers(output.completion, len(pieces))
    state.store.set(KEY, rag_filter.said(numbers, len(pieces)))
    return template if numbers is None else rag_filter.keep(template, tuple(pieces[number - 1] for number in numbers))


def outcome(state: TaskState) -> dict[str, str]:
    """For the metadata of a score: `kept 3 of 5` or `unreadable`; nothing where nothing was filtered.

    The samples of a killed run are rebuilt from their events and have lost the store.
    """
    found = state.store.get(KEY)
    for event in transcript().events if found is None else ():
        about = (event.input[-1].metadata or {}) if isinstance(event, ModelEvent) and event.input else {}
        if about.get("stage") == KEY and isinstance(event, ModelEvent):
            count = int(about["pieces"])
            found = rag_filter.said(rag_filter.read_numbers(event.output.completion, count), count)
    return {} if found is None else {KEY: found}
