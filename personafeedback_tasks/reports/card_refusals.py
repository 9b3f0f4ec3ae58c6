"""What should not be published: runs whose numbers a card must not bear."""

from __future__ import annotations

from typing import Any

from ..analysis.report import Report
from ..engine.cases import CaseSet
from ..engine.report import CardSpec
from ..runs.caveat import VOID
from ..runs.run import Run
from ..runs.unfinished import advice, state_of
from .card_file import CardError
from .sentences import sentence


def refuse_unpublishable(report: Report, cases: CaseSet[Any] | None) -> CardSpec:
    """What a card says about the run's benchmark; raise CardError, with the reason, for a run that should not be in one.

    Runs that mix task versions, options or data are refused earlier, by `runs.read.read_run`.
    """
    run, log = report.run, report.run.logs[0]
    spec = run.benchmark.report.card
    if spec is None:
        raise CardError(f"{log}: found a run of {run.benchmark.title}, which has no model card. Use `report`.")
    if run.signature["demonstration"]:
        raise CardError(
            f"{log}: found a run on the bundled sample, expected the benchmark's data. The sample is for demonstration only; "
            "not evidence about any model. Run again without data=sample."
        )
    if run.stopped is not None and run.stopped_early:
        stopped = next(sentence(caveat) for caveat in report.caveats if caveat.key == "stopped")
        raise CardError(
            f"{log}: found a run that {run.stopped_line}, expected every case: a plain accuracy of those who were asked before it was decided is no "
            f"accuracy of the benchmark. It says this alone: {stopped} For a card, run again without stop={run.stopped.rule}."
        )
    if run.partial:
        cells = ", ".join(f"{cell} {done:,} of {size:,} cases" for cell, (done, size) in run.partial.items())
        partial = f"{cells}{'' if run.finished else f'; {state_of(run.status)}'}"
        partial += f"; left out: {run.left_out_line}" if run.left_out else ""
        finish = "Finish it (`inspect eval-retry`, or --use_cache in lm-eval), or run again without --limit."
        raise CardError(
            f"{log}: found a partial run ({partial}), expected every case of each cell that was started. "
            f"{finish if run.finished else advice(run.status, run.harness)}"
        )
    if run.signature["counts"] == "any":
        raise CardError(
            f"{log}: found data whose number of cases was not checked (counts=any), expected the whole release. Run again without "
            "counts=any."
        )
    for asked in (run, *report.controls.values()):
        _refuse_unchecked(asked, cases)
    for caveat in report.caveats:
        if caveat.severity == VOID:
            raise CardError(
                f"{log}: found numbers that are void, expected those of the model. {sentence(caveat)} Then run again."
            )
    for value, control in report.controls.items():
        if control.partial:
            raise CardError(
                f"{control.logs[0]}: found a partial control ({control.unfinished}), expected all cases. Run the control again, or "
                f"leave --{value.replace('_', '-')} out."
            )
    if cases is None:
        why = [sentence(caveat) for caveat in report.caveats if caveat.key == "no_data"]
        raise CardError(
            f"{log}: found no data for this run, expected the texts of its cases: a card shows the baselines and the label "
            f"ceiling beside its numbers. {why[0] if why else 'Pass --data.'}"
        )
    return spec


def _refuse_unchecked(run: Run, cases: CaseSet[Any] | None) -> None:
    """Raise CardError for a run whose log does not bear the score that a card would show."""
    log = run.logs[0]
    if run.unchecked:
        raise CardError(
            f"{sentence(run.unchecked[0])} A card needs that. Run again, or install the version of the run."
        )
    if cases is not None and cases.digest != run.signature["data"]:
        raise CardError(
            f"{log}: found a run on data with the digest {run.signature['data']}, expected {cases.digest} as in {cases.source}. Pass --data "
            "with the data of the run, or run again."
        )
