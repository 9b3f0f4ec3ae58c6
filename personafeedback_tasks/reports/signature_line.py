"""Everything that a number of a run depends on, in one line."""

from __future__ import annotations

import hashlib

from ..runs.run import Run


def signature_line(run: Run, audit_version: str = "") -> str:
    """The line that belongs to every number of a run.

    Args:
        audit_version: of the audit, where a number depends on it.
    """
    signature, options = run.signature, run.benchmark.options
    digests = "".join(sorted(case.digest for case in run.cases.values()))
    users = len({case.user_id for case in run.cases.values()})
    parts = [
        f"personafeedback-tasks {signature['package']} (task {signature['task_version']})",
        run.model,
        run.harness,
        *(f"{name} {signature['fingerprint' if name == 'prompt' else name]}" for name in options.always()),
        "" if "prompt" in options.always() else f"prompt {signature['fingerprint']}",
        *options.details(signature),
        *(f"{name} {signature[name]}" for name in run.benchmark.signed if signature.get(name)),
        f"persona {signature['place']}" if signature.get("place") else "",
        run.method.asked,
        f"data {signature['source']}",
        f"sha256 {hashlib.sha256(digests.encode()).hexdigest()[:12]}",
        f"{len(run.cases):,} cases",
        f"{users:,} users",
        "95 % intervals clustered by user",
        f"audit {audit_version}" if audit_version else "",
        run.conditions_line,
        run.date,
    ]
    return " | ".join(part for part in parts if part)
