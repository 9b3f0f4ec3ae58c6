"""`.eval_results/*.yaml` of a model on the Hub, shown on a data set's leaderboard once its owners register a
benchmark."""

from __future__ import annotations

from pathlib import Path

import yaml

from ..analysis.report import Report
from ..common.files import write
from ..core.report import CardSpec
from ..logs.names import short_line
from .card import data_set_of
from .table import interval

FOLDER = ".eval_results"


def write_eval_results(report: Report, spec: CardSpec, folder: Path) -> Path:
    """Write the run's score in each group, in percent: `FOLDER/personafeedback.yaml`, in place of an earlier one.

    The error and the conditions are in `notes`, the only field for them.

    Args:
        folder: of the model's repository.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    run = report.run
    dataset, commit = data_set_of(report, spec)
    entries = []
    for group in report.groups:
        score = group.measures[run.primary]
        notes = f"{run.primary}, 95 % {interval(score)} by {score.users:,} users, {score.n:,} cases; {', '.join([run.method.name, *run.remarks])}; "
        entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=run.task if group.name == "total" else f"{run.task}_{group.name}",
                value=round(100 * score.value, 2),
                dataset_revision=commit,
                date=run.date,
                notes=f"{notes}{short_line(run)}",
            )
        )
    path = folder / FOLDER / f"{run.benchmark.name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True))
    return path
