"""User's names for models: harnesses call the same model differently, and only the user knows that it is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from ..common.errors import OptionError
from .run import Run

AS_LOGGED: Mapping[str, str] = {}
"""Without --name, models are called what their harness calls them."""


def with_names(runs: Sequence[Run], names: Mapping[str, str]) -> list[Run]:
    """The runs under the user's names. A run and its control are of one model if they have the same name."""
    return [replace(run, shown=names[run.model]) if run.model in names else run for run in runs]


def refuse_unknown(names: Mapping[str, str], runs: Sequence[Run]) -> None:
    """Raise OptionError for a name of a model that no run is of."""
    models = {run.model for run in runs}
    for model in names:
        if model not in models:
            raise OptionError(
                f"--name must be MODEL=SHOWN with a model out of {', '.join(sorted(models))}, got {model!r}."
            )


def offers(runs: Sequence[Run]) -> list[str]:
    """A sentence on models that differ only by a provider's prefix, with the options that make them one; or none."""
    harness = {run.identity: run.harness for run in runs}
    model = {run.identity: run.model for run in runs}
    alike = [(longer, shorter) for longer, shorter in permutations(harness, 2) if longer.endswith(f"/{shorter}")]
    options = " ".join(f"--name {model[longer]}={shorter}" for longer, shorter in alike)
    names = [f"{longer} ({harness[longer]}) and {shorter} ({harness[shorter]})" for longer, shorter in alike]
    if len(alike) > 1:
        names = [f"{len(alike)} pairs of names"]
    return [
        f"{name} differ only by the provider. If {'they are' if len(alike) == 1 else 'each pair is'} one model, pass "
        f"{options}: then a control of one counts for the other."
        for name in names
    ]
