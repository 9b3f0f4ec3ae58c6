"""A run -> its replies beside the facts of their cases, for a task that goes on from it."""

from __future__ import annotations

from pathlib import Path

from ..common import folders
from ..core.cases import digest_of
from ..core.earlier import Earlier, EarlierCase
from ..core.evidence import Reply
from ..core.recorded import require_text
from .caveat import VOID
from .data import opened
from .logged import documents_of
from .read import only
from .run import Run, RunError
from .unfinished import advice, state_of
from .written import writer_of


def find(place: str, benchmark: str) -> Earlier:
    """The replies of the run of `benchmark` in a file or folder."""
    path = folders.find(place) or Path(place).expanduser()
    runs = opened([path])
    own = [run for run in runs if run.benchmark.name == benchmark]
    if not own:
        found = ", ".join(sorted({run.benchmark.name for run in runs}))
        raise RunError(f"{place}: found no run of {benchmark} (runs: {found}), expected one. Run {benchmark} first.")
    run = only(path, own)
    if not run.finished:
        raise RunError(f"{run.logs[0]}: {state_of(run.status)}, expected a whole run. {advice(run.status)}")
    refuse_void(run)
    return of_run(run)


def refuse_void(run: Run) -> None:
    """Raise RunError for a run whose texts do not answer whole prompts of ours: nothing may go on from them."""
    if run.cut_prompts or any(caveat.severity == VOID for caveat in run.unchecked):
        raise RunError(
            f"{run.logs[0]}: found a run that is void, as `personafeedback report` says, expected replies to whole prompts. Run it again."
        )


def of_run(run: Run) -> Earlier:
    """The replies of a run, in the order of its logs. Raises RunError without texts or with several epochs."""
    method = require_text(run.method, RunError, str(run.logs[0]))
    cases = []
    for _, document in documents_of(run):
        if document.epoch > 1:
            raise RunError(
                f"{run.logs[0]}: found several epochs, expected one reply to each call. Run without --epochs."
            )
        if document.mark or document.document is None:
            continue
        about = document.document
        replies = tuple(given for given in document.evidence if isinstance(given, Reply))
        answers = tuple(method.reading(reply) for reply in replies)
        cases.append(EarlierCase(document.id, about.user_id, about.cell, about.facts, answers, replies))
    data = str(run.signature["data"])
    digest = digest_of((data, *sorted([case.id, *(reply.text for reply in case.replies)] for case in cases)))
    return Earlier(writer_of(run), data, digest, str(run.logs[0]), tuple(cases))
