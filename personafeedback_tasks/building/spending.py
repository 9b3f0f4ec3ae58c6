"""Which models a build asked, what their calls took, and the tables of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..common.errors import require
from ..engine.usage import Usage, total
from .folder import Folder
from .models import NOBODY, Models, given
from .rows import OWN, Origin
from .steps import STEPS, Step

TOKENS = ("input tokens", "output tokens")


def used_models(folder: Folder, step: Step) -> Models:
    """The models that wrote a step's texts, with the arguments in its logs; if none did, those of the last step before it that some wrote for."""
    of_text: dict[str, dict[str, None]] = {}
    for origin in folder.read(Origin):
        if origin.model != OWN:
            of_text.setdefault(origin.kind, {})[origin.model] = None
    before = STEPS[STEPS.index(step) :: -1] if step.asks_models else ()
    last = next((one for one in before if one.text in of_text), None)
    if last is None:
        return NOBODY
    names = tuple(of_text[last.text])
    if not any((folder.root / "logs" / last.name).glob("*.eval")):
        return Models(names)
    require("inspect_ai", extra="build")
    from ..inspect_harness.spent import arguments

    logged = arguments(folder.root, last.name)
    return Models(names, given({name: logged.get(name, {}) for name in names}))


def spent(root: Path) -> tuple[dict[tuple[str, str], Usage], int]:
    """((step, model) -> what its calls took, from the logs; how many logs could not be read: what those took is not counted)."""
    require("inspect_ai", extra="build")
    from ..inspect_harness import spent

    rows, broken = spent.spent(root)
    usage = {(row.step, row.model): Usage(row.texts, row.input_tokens, 0, row.output_tokens, 0) for row in rows}
    return usage, len(broken)


def usage_rows(rows: Sequence[tuple[tuple[str, str], Usage]]) -> list[Sequence[str]]:
    """The rows of a table: step, model, calls and TOKENS. The last row has the sums."""
    if not rows:
        return []
    summed = [*rows, (("total", ""), total(usage for _, usage in rows))]
    return [
        [*first, *(f"{number:,.0f}" for number in (usage.calls, usage.input, usage.output))] for first, usage in summed
    ]
