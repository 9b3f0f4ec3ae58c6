"""The replies of a log as a file that `score-replies` takes and `replay` answers from."""

from __future__ import annotations

import json
from pathlib import Path

from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.core.recorded import Key
from personafeedback_tasks.logs.earlier import logged
from personafeedback_tasks.logs.read import read_run


def exported(log: Path, out: Path) -> Path:
    """Write every reply of a log, each with the name of its call."""
    out.write_text("".join(line_of(key, reply) for key, reply in logged(read_run(log))), encoding="utf-8")
    return out


def line_of(key: Key, reply: Reply, named: bool = True) -> str:
    """One record."""
    row = {
        "id": key.case_id,
        **({"call": key.call} if named else {}),
        **({"epoch": key.epoch} if key.epoch > 1 else {}),
        "reply": reply.text,
        **({} if reply.truncated is None else {"truncated": reply.truncated}),
        **{name: True for name in ("filtered", "prompt_cut") if getattr(reply, name)},
    }
    return json.dumps(row) + "\n"  # half of a pair is no UTF-8, but an escape has it
