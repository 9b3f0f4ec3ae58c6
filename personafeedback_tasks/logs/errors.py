"""What is wrong with a log, and sentences on a run that has not come to its end, the same in every command.

A log does not tell a run that goes on from one that was killed; resuming the former pays for its calls a second time.
"""

from __future__ import annotations

from ..common.errors import PersonaFeedbackError

UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError)
"""The errors that a reader of logs gets where a value has the wrong type or a file cannot be read."""


AS_WRITTEN = "Use the log as the harness wrote it."
USE_AS_WRITTEN = "The log was changed after the run: use it as the harness wrote it, or run again."


class RunError(PersonaFeedbackError):
    """A log cannot be read, or does not belong here."""


def refused(where: object, found: object, expected: object, advice: str = USE_AS_WRITTEN) -> RunError:
    """The error for a log with something else in it than there must be."""
    return RunError(f"{where}: found {found}, expected {expected}. {advice}")


class ForeignError(RunError):
    """A log is whole, but of tasks that are not ours."""


NO_SAMPLES = (
    "{}: found no samples in it, expected the answers of every case. Run it again with samples: --log_samples in "
    "lm-eval, without --no-log-samples in Inspect."
)


UNFINISHED = "not finished: still running, or killed"

_RESUME = {
    "inspect": "`inspect eval-retry LOG` resumes it",
    "lm-eval": "start its command again: with the --use_cache FILE that it had, only the missing replies are asked for",
}

STATUSES = {
    "success": "",
    "started": UNFINISHED,
    "error": "not finished: an error stopped it",
    "cancelled": "not finished: it was cancelled",
}
"""Status of a log of Inspect -> what the run is; empty if it came to its end."""


def state_of(status: str) -> str:
    return STATUSES.get(status, f"not finished: its status is {status}")


def perhaps(harness: str) -> str:
    """Causes of a log that ends too early, and the remedy: whole sentences."""
    return f"The run is perhaps {UNFINISHED}. {advice('started', harness)}"


def advice(status: str = "started", harness: str = "inspect") -> str:
    """Advice on a run that did not come to its end: whole sentences."""
    resume = _RESUME["lm-eval" if harness.startswith("lm-eval") else "inspect"]
    if state_of(status) == UNFINISHED:
        return f"If it is still running, wait for its end: resuming it now would pay twice. If it was killed, {resume}."
    return f"{resume[:1].upper()}{resume[1:]}."
