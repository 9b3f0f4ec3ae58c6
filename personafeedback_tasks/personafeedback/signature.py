"""What a log says about the run that it holds: no number without it.

Both adapters put the same record into their log. `personafeedback report` reads it back, so that runs which differ
in anything that moves a score never stand in one row.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from .. import TASK_VERSION, __version__
from . import conversations
from .cases import CaseSet
from .options import Options
from .rag import memory

if TYPE_CHECKING:
    from ..runs.run import Run

KEY = "personafeedback"
"""Where it stands: in lm-eval's results under `configs.TASK.metadata`, in Inspect's log under `eval.metadata`."""


def signature(task: str, cases: CaseSet, options: Options) -> dict[str, Any]:
    """The signature of one task under some options, ready for JSON.

    Returns:
        package, task_version: of this package, and of what moves scores.
        task: its name as rows show it.
        setting, method: what the model is told about the user, and how its choice is read.
        prompt: prompt version and fingerprint; that of the conversations for a reward model.
        language, hide, k, rag_filter: see `prompts.Template`.
        memory: see `memory_digest`.
        source, counts, demonstration: see `dataset.CaseSet`.
        data: the digest of all cases of the task.
        cells: cell -> {cases, data}: how many cases it has and their digest; a run with fewer is partial.
    """
    return {
        "package": __version__,
        "task_version": TASK_VERSION,
        "task": options.named(task, cases),
        "setting": options.setting,
        "method": options.method,
        "prompt": conversations.fingerprint(options) if options.method == "reward" else options.fingerprint(),
        "language": options.language,
        "hide": list(options.hide),
        "k": options.k,
        "rag_filter": options.rag_filter,
        "memory": memory_digest(cases, options),
        "source": cases.release.source,
        "counts": cases.counts,
        "demonstration": cases.release.is_sample,
        "data": cases.digest,
        "cells": {cell: {"cases": len(cases.cells[cell]), "data": digest} for cell, digest in cases.digests.items()},
    }


def memory_digest(cases: CaseSet, options: Options) -> str | None:
    """The digest of all users' memories where the setting reads them, else None. See `memory.digest`."""
    return memory.digest(cases.release.root) if options.setting == "rag" else None


def repeated(run: Run) -> str:
    """What each case was asked in: both orders of its responses, or, by a reward model, one response at a time."""
    return "both responses" if run.signature["method"] == "reward" else "both orders"


def signature_line(run: Run, audit_version: str | None = None) -> str:
    """Everything that a number of a run depends on, in one line.

    Args:
        audit_version: of the audit, where a number depends on it.
    """
    signature = run.signature
    parts = [
        f"personafeedback-tasks {signature['package']} (task {signature['task_version']})",
        run.model,
        run.harness,
        f"setting {signature['setting']}",
        f"method {signature['method']}",
        f"prompt {signature['prompt']}",
    ]
    if signature["setting"] == "rag":
        parts.append(f"k={signature['k']}")
    if signature["rag_filter"]:
        parts.append("rag_filter")
    if signature["memory"]:
        parts.append(f"memory {signature['memory']}")
    if signature["language"] != "auto":
        parts.append(f"language {signature['language']}")
    parts += [f"without {name}" for name in signature["hide"]]
    if signature.get("place"):
        parts.append(f"persona {signature['place']}")
    parts += [repeated(run), f"data {signature['source']}"]
    if run.rows is not None:
        digests = "".join(sorted(row.digest for row in run.rows.values()))
        users = len({row.user_id for row in run.rows.values()})
        parts += [
            f"sha256 {hashlib.sha256(digests.encode()).hexdigest()[:12]}",
            f"{len(run.rows):,} cases",
            f"{users:,} users",
            "95 % intervals clustered by user",
        ]
    if audit_version is not None:
        parts.append(f"audit {audit_version}")
    if run.conditions:
        parts.append(run.conditions)
    return " | ".join([*parts, run.date])
