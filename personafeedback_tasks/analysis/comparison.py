"""A ranking of two runs on the cases that both answered, also where they were asked otherwise."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..logs.caveat import WEAKENS, Caveat
from ..logs.data import RunData
from ..logs.errors import RunError
from ..logs.read import refuse_shared, told_apart
from ..logs.run import Run
from .caveats import listed
from .contender import Contender
from .ranking import Ranking, make_ranking


def compare(run_a: Run, run_b: Run, data: RunData | None = None) -> Ranking:
    """Rank two runs on their common cases.

    Args:
        data: where their data may be; None for where the logs say.

    Raises:
        RunError: the runs are of two benchmarks, share no case, or a case has different texts.
    """
    if run_a.signature.benchmark != run_b.signature.benchmark:
        raise RunError(
            f"{run_b.logs[0]}: found a run of {run_b.benchmark.title}, expected {run_a.benchmark.title} as in "
            f"{run_a.logs[0]}."
        )
    refuse_shared([run_a, run_b])
    run_a, run_b = told_apart([run_a, run_b])
    common = run_a.cases.keys() & run_b.cases.keys()
    if not common:
        raise RunError(f"{run_a.logs[0]} and {run_b.logs[0]} have no case in common, expected runs of the same cells.")
    differing = sorted(case_id for case_id in common if run_a.cases[case_id].digest != run_b.cases[case_id].digest)
    if differing:
        raise RunError(
            f"{run_b.logs[0]}: {len(differing):,} of {len(common):,} cases have other texts than in {run_a.logs[0]}; "
            f"the first is {differing[0]}. Compare runs on the same data."
        )
    contenders = [Contender(_shared(run, common, other)) for run, other in ((run_a, run_b), (run_b, run_a))]
    data, first = data or RunData(), contenders[0].run
    return make_ranking(contenders, data.texts(first), *data.of(first), _differing(run_a, run_b))


def _shared(run: Run, ids: Collection[str], other: Run) -> Run:
    # cells that the other run was not asked are no missing part of the comparison
    return replace(run.part(ids), cells={cell: size for cell, size in run.cells.items() if cell in other.cells})


def _differing(a: Run, b: Run) -> list[Caveat]:
    found = []
    for run, other in ((a, b), (b, a)):
        if ids := sorted(run.cases.keys() - other.cases.keys()):
            shown = ", ".join(ids[:5]) + (" and others" if len(ids) > 5 else "")
            found.append(Caveat("only_in_one", WEAKENS, {"run": run.label, "count": len(ids), "shown": shown}))
    if a.title != b.title:
        found.append(Caveat("other_titles", WEAKENS, {"a": a.title, "b": b.title}))
    of_a, of_b = a.signature.defining, b.signature.defining
    for name in dict.fromkeys((*of_a, *of_b)):
        values = {"name": name, "a": of_a.get(name), "b": of_b.get(name)}
        if values["a"] != values["b"]:
            found.append(Caveat("other_options", WEAKENS, values))
    if differing := a.other_conditions(b):
        found.append(Caveat("other_conditions", WEAKENS, listed(differing, "a", "b")))
    return found
