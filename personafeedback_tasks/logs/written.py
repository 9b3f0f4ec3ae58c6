"""The writer of a run's replies; and a judge's run on duels -> a run of the writer, so that writers are ranked as
models."""

from __future__ import annotations

from dataclasses import replace

from ..core.duels import Duels
from ..core.result import Result, ScoredCase
from .run import Run


def writer_of(run: Run) -> str:
    """Who wrote the replies of a run: the model, and how it was asked where that is not the default."""
    return f"{run.model} ({', '.join(run.remarks)})" if run.remarks else run.model


def of_writer(run: Run, duels: Duels) -> Run:
    """The run under the writer's name, on the benchmark's cases, with the replies that needed no judge.

    Writers share a ranking if the same judge, asked in the same way, compared them with the same side. Their texts
    differ, so
    the cases have no digest. Of a partial run only the answered duels count: the others cannot be assigned.
    """
    answered = [
        ScoredCase(replace(outcome, case_id=duels.sources[name], digest="") for outcome in case)
        for name, case in run.cases.items()
    ]
    known = [
        ScoredCase(
            [
                Result(
                    one.case,
                    one.cell,
                    one.user_id,
                    values={run.benchmark.report.primary: one.won, run.primary: one.won},
                )
            ]
        )
        for one in duels.not_asked
        if not run.partial and one.cell in run.cells
    ]
    cases = {case.case_id: case for case in (*answered, *known)}
    cells = dict(run.cells)
    for one in known:
        cells[one.cell] = cells.get(one.cell, 0) + 1
    name = f"Duels against {duels.against}, judged by {run.model} ({run.method.name})"
    return replace(
        run,
        model=duels.writer,
        shown="",  # that is what the judge is called
        cells=cells,
        cases=cases,
        signature={**run.signature, "set": {"name": name, "counts": cells}},
    )
