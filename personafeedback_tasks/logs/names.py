"""How outputs identify a run: the line with everything that a number depends on, and the user's names for models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..common.errors import OptionError, did_you_mean
from ..core.cases import HUB_COMMIT
from .run import Run, is_path, text


def signature_line(run: Run, audit_version: str = "") -> str:
    """The line that goes with every number of a run, also in what is published: it has no path of this machine."""
    signature, options = run.signature, run.benchmark.options
    users = len({case.user_id for case in run.cases.values()})
    conditions = {name: without_folder(text(value)) for name, value in run.conditions.items()}
    parts = [
        f"personafeedback-tasks {signature.package} (task {signature.task_version})",
        run.name if is_path(run.model) else run.identity,
        run.harness,
        *(
            f"{name} {signature.fingerprint if name == 'prompt' else signature.options[name]}"
            for name in options.always()
        ),
        "" if "prompt" in options.always() else f"prompt {signature.fingerprint}",
        *options.details(signature.options),
        *(f"{name} {value}" for name, value in signature.signs.items() if value),
        f"persona {text(signature.place)}" if signature.place else "",
        run.method.per_case,
        f"set {run.named_set.name}" if run.named_set else "",
        f"data {_published(signature.source)}",
        f"sha256 {signature.data}",
        f"{len(run.cases):,} cases",
        f"{users:,} users",
        "95 % intervals clustered by user",
        f"audit {audit_version}" if audit_version else "",
        ", ".join(f"{name}={value}" for name, value in conditions.items()),
        run.date,
    ]
    return " | ".join(part for part in parts if part)


def _published(source: str) -> str:
    # the name of a private folder says nothing that the digest does not
    return source if source == "sample" or HUB_COMMIT.fullmatch(source) else "a local copy"


def without_folder(value: str) -> str:
    """The last part of a path; other values as they are."""
    return re.sub(r"\A(?:~|\.{0,2})[/\\][^ ,|]*[/\\]", "", value)


# --- the user's names for models: harnesses call one model differently, and only the user knows that it is one --------

AS_LOGGED: Mapping[str, str] = {}
"""Without --name, models are called what their harness calls them."""


def with_names(runs: Sequence[Run], names: Mapping[str, str]) -> list[Run]:
    """The runs under the user's names. A run and its control are of one model if they have the same name.

    Raises OptionError for a name of a model that no run is of.
    """
    models = {run.model for run in runs}
    for model in names if runs else ():
        if model not in models:
            raise OptionError(
                f"--name must be MODEL=SHOWN with a model out of {', '.join(sorted(models))}, got {model!r}."
                f"{did_you_mean(model, models)}"
            )
    return [run.said(shown=names[run.model]) if run.model in names else run for run in runs]
