"""A run -> the replies in its logs: to record them, and for a task that goes on from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..common import folders
from ..core.cases import digest_of
from ..core.earlier import Earlier, EarlierCase
from ..core.method import Reply
from ..core.recorded import Key, require_text
from .caveat import VOID
from .data import opened
from .errors import RunError, advice, state_of
from .log import samples_of
from .read import only
from .run import Run


def logged(run: Run) -> Iterator[tuple[Key, Reply]]:
    """Every reply of a run to the calls of its method, in the order of its logs, which are read again for the texts."""
    require_text(run.method, RunError, str(run.logs[0]))
    for sample in samples_of(run):
        if not sample.mark:
            for call, given in zip(run.method.calls, sample.evidence, strict=True):
                if isinstance(given, Reply):
                    yield Key(sample.id, call, sample.cases[0].epoch), given


def find(place: str, benchmark: str) -> Earlier:
    """The replies of the run of `benchmark` in a file or folder."""
    path = folders.find(place) or Path(place).expanduser()
    skipped: list[str] = []
    own = opened([path], say=skipped.append, benchmarks=[benchmark])
    if not own:
        raise RunError(" ".join([f"{place}: found no run of {benchmark}, expected one. Run it first.", *skipped]))
    run = only(path, own)
    if not run.finished:
        raise RunError(f"{run.logs[0]}: {state_of(run.status)}, expected a whole run. {advice(run.status)}")
    refuse_void(run)
    return of_run(run)


def refuse_void(run: Run) -> None:
    """Raise RunError for a run whose texts do not answer whole prompts of ours: nothing may go on from them."""
    if run.cut_prompts or any(caveat.severity == VOID for caveat in run.unchecked):
        raise RunError(
            f"{run.logs[0]}: found a run that is void, as `personafeedback report` says, expected replies to whole "
            "prompts. Run it again."
        )


def of_run(run: Run) -> Earlier:
    """The replies of a run, in the order of its logs. Raises RunError without texts or with several epochs."""
    method = require_text(run.method, RunError, str(run.logs[0]))
    cases = []
    for sample in samples_of(run):
        if sample.mark:
            continue
        about = sample.cases[0]
        if about.epoch > 1:
            raise RunError(
                f"{run.logs[0]}: found several epochs, expected one reply to each call. Run without --epochs."
            )
        replies = tuple(given for given in sample.evidence if isinstance(given, Reply))
        answers, _ = method.readings(replies)
        cases.append(EarlierCase(sample.id, about.user_id, about.cell, about.facts, answers, replies))
    data, demonstration = run.signature.data, run.signature.demonstration
    digest = digest_of((data, *sorted([case.id, *(reply.text for reply in case.replies)] for case in cases)))
    return Earlier(writer_of(run), data, demonstration, digest, str(run.logs[0]), tuple(cases))


def writer_of(run: Run) -> str:
    """Who wrote the replies of a run: the model, and how it was asked where that is not the default."""
    return f"{run.model} ({', '.join(run.remarks)})" if run.remarks else run.model
