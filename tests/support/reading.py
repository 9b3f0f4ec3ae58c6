"""Reads logs whose paths come on stdin, one a line, and prints what became of each: `read`, or the sentence. For a process of its own."""

from __future__ import annotations

import sys

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.common.errors import PersonaFeedbackError
from personafeedback_tasks.core.method import ReplyMethod
from personafeedback_tasks.logs.earlier import logged
from personafeedback_tasks.logs.read import read_run
from support.shown import markdown


def outcome(path: str) -> str:
    try:
        run = read_run(path)
        markdown(make_report(run, None))
        if isinstance(run.method, ReplyMethod):
            list(logged(run))
    except PersonaFeedbackError as error:
        return str(error)
    return "read"


if __name__ == "__main__":
    for line in sys.stdin:
        print(outcome(line.rstrip("\n")), flush=True)
