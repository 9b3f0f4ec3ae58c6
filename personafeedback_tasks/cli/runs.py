"""The commands that read logs: report, compare, card."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import click

from ..common.files import Content
from ..core.usage import Prices
from ..logs.data import RunData, opened
from ..logs.errors import RunError
from ..logs.names import AS_LOGGED, refuse_unknown, with_names
from ..logs.read import only
from ..logs.run import Run
from .options import (
    FILE,
    RUN,
    costs_option,
    data_option,
    json_option,
    name_option,
    out_option,
    price_option,
    runs_argument,
)
from .output import STDOUT, files_written, progress, say, show, write_json


@click.command()
@runs_argument
@data_option
@name_option
@price_option
@json_option
@out_option("Folder for report.md, report.json and index.html, a page with every case.")
@click.option("--full", is_flag=True, help="Print every table and the whole signature, as report.md has them.")
def report(
    runs: tuple[Path, ...],
    data: RunData,
    names: dict[str, str],
    prices: Prices | None,
    json_file: Path | None,
    out: Path | None,
    full: bool,
) -> None:
    """Report runs: a verdict, scores with their intervals, baselines and caveats.

    Prints one screen per run; --full prints everything.

    RUN is an output folder or a results_*.json or samples_*.jsonl file of lm-eval, or an .eval log of Inspect. In a
    folder, logs of one model with the same options form one row, and failed logs are skipped. A model's runs under a
    control setting, such as no_persona or other_persona, become the controls of its main run. Each further RUN adds
    its own row.

    \b
        personafeedback report results/Qwen__Qwen3-8B
        personafeedback report logs/a.eval logs/b.eval --out report
        personafeedback report persona.eval no_persona.eval other_persona.eval
    """
    from ..analysis.control import unfit_controls, with_controls

    found = read(runs, data, names)
    refuse_unknown(names, found)
    rows = with_controls(found)
    for line in unfit_controls(rows):
        say(line, err=True)
    print_report(rows, data, prices, json_file, out, full)


def print_report(
    rows: Sequence[tuple[Run, dict[str, Run]]],
    data: RunData,
    prices: Prices | None,
    json_file: Path | None,
    out: Path | None,
    full: bool,
) -> None:
    """Report runs with their controls: on the terminal, as JSON, and in the files of --out."""
    from ..analysis.report import report_document
    from ..reports import report_text

    document = report_document(rows, data, prices)
    contents: dict[str, Content] = {}
    if out:
        from ..analysis.contender import Contender
        from ..analysis.ranking import ranked
        from ..reports.files import report_files

        contents = report_files(document, ranked([Contender(*row) for row in rows], data))
    with files_written(contents, out, err=json_file == STDOUT):
        if not write_json(json_file, document):
            return
        for place, made in enumerate(document.reports):
            if place:
                say("")
            show(report_text.full(made) if full else report_text.short(made, others=len(rows) > 1))


@click.command()
@click.argument("run_a", type=RUN)
@click.argument("run_b", type=RUN)
@json_option
@data_option
def compare(
    run_a: Path,
    run_b: Path,
    json_file: Path | None,
    data: RunData,
) -> None:
    """Rank two runs on the cases that both answered, even if their options differ.

    Prints and writes what `rank --full` does: the difference in each group, paired by case, with its p value, and in
    measures that need all cases at once, such as F1.

    \b
        personafeedback compare logs/a.eval results/Qwen__Qwen3-8B
    """
    from ..analysis import ranking
    from ..analysis.balance import rank_document
    from ..reports import rank_text

    first, second = (the_run([path], data)[0] for path in (run_a, run_b))
    document = rank_document([ranking.compare(first, second, data)])
    if write_json(json_file, document):
        show(rank_text.all_blocks(document, full=True))


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
@costs_option
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
    from ..analysis.control import with_controls
    from ..analysis.other_tasks import costs_of_models
    from ..analysis.report import make_report
    from ..reports.card import refuse_unpublishable, update_card, write_eval_results

    found = read(runs, data, names)
    rows = with_controls(found)
    asked, controls = one_of([row for row in rows if not row[0].benchmark.report.control.harm] or rows, runs[0])
    refuse_unknown(names, found)
    of_tasks = costs_of_models(cost_logs, values, names, note_skipped)  # before the report, which takes long
    cases, why_not = data.of(asked)
    made = make_report(asked, cases, controls, why_not)
    costs = costs_beside(asked, rows, of_tasks)
    say(update_card(asked, controls, made, cases, model_card, costs))
    if eval_results:
        say(f"wrote {write_eval_results(asked, made, refuse_unpublishable(asked, made), model_card.parent)}")


def read(
    paths: Sequence[Path],
    data: RunData | None = None,
    names: Mapping[str, str] = AS_LOGGED,
    benchmarks: Collection[str] = (),
) -> list[Run]:
    """The runs in files and folders, of these benchmarks or of all; logs that are left out are named on stderr."""
    with progress() as show:
        found = opened(paths, data, note_skipped, lambda path: show(f"Reading {path}"), benchmarks)
    return with_names(found, names)


def note_skipped(line: str) -> None:
    """Say on stderr which log of a folder is left out."""
    say(line, err=True)


def the_run(
    paths: Sequence[Path], data: RunData | None = None, names: Mapping[str, str] = AS_LOGGED
) -> tuple[Run, dict[str, Run]]:
    """The one run of files and folders, and its controls: value of the control's option -> run."""
    from ..analysis.control import with_controls

    return one_of(with_controls(read(paths, data, names)), paths[0])


def one_of(rows: Sequence[tuple[Run, dict[str, Run]]], place: Path) -> tuple[Run, dict[str, Run]]:
    """The one run of several, with its controls. Raises RunError for several."""
    from ..analysis.control import unfit_controls

    if len(rows) > 1 and (unfit := unfit_controls(rows)):
        raise RunError(unfit[0])
    only(place, [run for run, _ in rows])
    return rows[0]
