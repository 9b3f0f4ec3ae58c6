"""The command that writes what other programs read: export."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.files import write_all
from ..logs.data import RunData
from ..logs.names import refuse_unknown
from .options import data_option, name_option, out_option, runs_argument
from .output import say
from .runs import the_run


@click.command("export")
@runs_argument
@out_option("Folder of the datastore.", required=True)
@click.option("--evaluator", metavar="NAME", required=True, help="The organization that ran the evaluation.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    required=True,
    help="How the evaluator is related to the model's developer.",
)
@name_option
@data_option
def export_command(
    runs: tuple[Path, ...], out: Path, evaluator: str, relationship: str, names: dict[str, str], data: RunData
) -> None:
    """Write a run as a record of Every Eval Ever.

    A record is data/BENCHMARK/DEVELOPER/MODEL/ID.json with every number, its clustered error and its interval, and
    beside it a sample for each call: their mean is acc. Pass one run together with its controls. Runs that `card`
    refuses are refused here, too.

    \b
        personafeedback export logs/a.eval --evaluator "Acme" --relationship third_party --out datastore
    """
    from ..analysis.report import report_of
    from ..reports.card import refuse_unpublishable
    from ..reports.eee import record_files

    run, controls = the_run(runs, data, names)
    refuse_unknown(names, [run, *controls.values()])
    report = report_of(run, data, controls)
    spec = refuse_unpublishable(run, report)
    reported = {setting: (control, report_of(control, data)) for setting, control in controls.items()}
    files = record_files({run.setting: (run, report), **reported}, spec, evaluator, relationship)
    write_all({out / path: content for path, content in files.items()})
    for path in files:
        say(f"wrote {out / path}")
