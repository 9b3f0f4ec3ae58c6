"""A run beside the data that it was made on."""

from __future__ import annotations

from typing import Any

from ..engine.cases import CaseSet, NamedSet
from .run import USE_AS_WRITTEN, Run, RunError


def refuse_other_data(run: Run, cases: CaseSet[Any]) -> None:
    """Raise RunError unless every answer was given to the texts of `cases`, each case has the same cell and user there, and both
    are of the same set, or of none."""
    if run.named_set != cases.named_set:
        raise RunError(
            f"{run.logs[0]}: found a run of {run.title} with {_counted(run.named_set)}, expected one of {run.benchmark.titled(cases.named_set)} with "
            f"{_counted(cases.named_set)}, as in {cases.source}. Pass --data with the data of the run (its log names them)."
        )
    of_data = {case.id: (case.digest, case.cell, case.user_id) for case in cases}
    for cell, size in run.cells.items():
        if (expected_size := len(cases.cells.get(cell, ()))) != size:
            raise RunError(
                f"{run.logs[0]}: found {size:,} as the number of cases of {cell}, expected {expected_size:,} as in {cases.source}. "
                "Pass --data with the data of the run (its log names them), or run again."
            )
    of_run = {case_id: (case.digest, case.cell, case.user_id) for case_id, case in run.cases.items()}
    differing = [case_id for case_id, fields in of_run.items() if of_data.get(case_id) != fields]
    for place, meaning in enumerate(("have other texts", "are in another cell", "belong to another user")):
        wrong = [name for name in differing if name not in of_data or of_data[name][place] != of_run[name][place]]
        if wrong:
            first = wrong[0]
            expected = of_data[first][place] if first in of_data else "no such case"
            raise RunError(
                f"{run.logs[0]}: {len(wrong):,} of {len(run.cases):,} cases {meaning} than in "
                f"{cases.source}; the first is {first}, found {of_run[first][place]}, expected {expected}. Pass --data with "
                "the data of the run (its log names them), or run again."
            )
    for cell, digest in cases.digests.items() if not run.partial else ():
        logged = run.signature.get("cells", {}).get(cell, {}).get("data", digest)
        if logged != digest:
            raise RunError(
                f"{run.logs[0]}: found the digest {logged} of the cases of {cell} in its signature, expected {digest} as in {cases.source}. "
                f"{USE_AS_WRITTEN}"
            )


def _counted(named: NamedSet | None) -> str:
    return ", ".join(f"{cell} {count:,}" for cell, count in named.counts.items()) if named else "no manifest"
