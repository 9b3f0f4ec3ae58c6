"""The commands that write what others publish: card, export."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.files import write_all
from ..logs.data import RunData
from .options import FILE, cost_option, data_option, name_option, out_option, runs_argument, value_option
from .output import say
from .runs import note_skipped, read


@click.command()
@runs_argument
@click.option(
    "--model-card",
    metavar="README.md",
    required=True,
    type=FILE,
    help="The model's card; created if missing. Its text and metadata are kept, except comments among the metadata.",
)
@click.option(
    "--eval-results",
    is_flag=True,
    help="Write .eval_results/BENCHMARK.yaml beside the card, for leaderboards of the Hub.",
)
@cost_option
@value_option
@name_option
@data_option
def card(
    runs: tuple[Path, ...],
    model_card: Path,
    eval_results: bool,
    cost_logs: tuple[Path, ...],
    values: tuple[str, ...],
    names: dict[str, str],
    data: RunData,
) -> None:
    """Add a run to a model card: `model-index` metadata, and a section with intervals, baselines and caveats.

    Pass one run together with its controls. Complete memsyco runs of the same model and method among them, and --cost,
    add what knowing the user costs.

    Nothing is uploaded. Refused, with the reason: a partial run, the sample, 10 % unreadable replies (refusals do not
    count) or other void numbers, unchecked data, logs that do not belong together, and the card of another model.

    \b
        personafeedback card logs/a.eval --model-card README.md
        personafeedback card persona.eval no_persona.eval other_persona.eval --model-card README.md
    """
    from ..analysis.balance import costs_beside
    from ..analysis.control import one_of, with_controls
    from ..analysis.other_tasks import costs_of_models
    from ..analysis.report import report_document
    from ..reports.card import refuse_unpublishable, update_card, write_eval_results
    from ..reports.card_file import CardFile

    rows = with_controls(read(runs, data, names))
    asked, controls = one_of([row for row in rows if not row[0].benchmark.report.control.harm] or rows, runs[0])
    # before the report, which takes long
    card_file = CardFile(model_card, asked.name)
    of_tasks = costs_of_models(cost_logs, values, names, note_skipped)
    (made,) = report_document([(asked, controls)], data).reports
    cases, _ = data.of(asked)
    costs = costs_beside(asked, rows, of_tasks)
    say(update_card(asked, made, cases, card_file, costs))
    if eval_results:
        say(f"wrote {write_eval_results(asked, made, refuse_unpublishable(asked, made), model_card.parent)}")


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
    from ..analysis.control import one_of, with_controls
    from ..analysis.report import report_document
    from ..reports.card import refuse_unpublishable
    from ..reports.eee import record_files

    run, controls = one_of(with_controls(read(runs, data, names)), runs[0])
    rows = [(run, controls), *((control, {}) for control in controls.values())]
    reports = report_document(rows, data).reports
    spec = refuse_unpublishable(run, reports[0])
    everything = zip([run, *controls.values()], reports, strict=True)
    files = record_files(list(everything), spec, evaluator, relationship)
    write_all({out / path: content for path, content in files.items()})
    for path in files:
        say(f"wrote {out / path}")
