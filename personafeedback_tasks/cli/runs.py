"""The commands that compute what runs show: report, rank, compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import click

from ..common.errors import OptionError
from ..common.files import Content
from ..core.usage import Prices
from ..logs.data import RunData, opened
from ..logs.names import AS_LOGGED, with_names
from ..logs.run import Run
from .options import (
    FILE_OR_STDOUT,
    RUN,
    cost_option,
    data_option,
    json_option,
    name_option,
    out_option,
    places_option,
    price_option,
    runs_argument,
    value_option,
)
from .output import STDOUT, progress, publish, say


@click.command()
@runs_argument
@data_option
@name_option
@price_option
@json_option
@out_option("Folder for report.md, report.json and report.html, a page with every case.")
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

    rows = with_controls(read(runs, data, names))
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
    publish(document, lambda: report_text.blocks(document, full), json_file, out=out, files=contents)


@click.command()
@runs_argument
@cost_option
@value_option
@places_option
@name_option
@click.option("--full", is_flag=True, help="Print every measure and all pairs, as ranking.md has them.")
@click.option(
    "--csv", "csv_file", metavar="FILE", type=FILE_OR_STDOUT,
    help="Write one row per run to FILE as CSV; - writes CSV to stdout and no tables.",
)  # fmt: skip
@json_option
@out_option(
    "Folder for ranking.md, ranking.csv, ranking.json and ranking.html, a page with the ranking and every case."
)
def rank(
    runs: tuple[Path, ...],
    cost_logs: tuple[Path, ...],
    values: tuple[str, ...],
    data: RunData,
    names: dict[str, str],
    full: bool,
    csv_file: Path | None,
    json_file: Path | None,
    out: Path | None,
) -> None:
    """Rank runs: which model is better, how sure that is, and which do not differ significantly.

    RUN is a log or a folder of logs, as for `report`, of either harness. Runs that differ in settings, wordings, cases
    or task versions get separate rankings, and the reason is printed. Runs with the settings no_persona and
    other_persona are controls of the same model's run: each gives it a persona gain or a "right minus wrong", and is
    not ranked itself.

    \b
        personafeedback rank logs
        personafeedback rank results/* logs/a.eval --csv ranking.csv
        personafeedback rank logs --full
        personafeedback rank logs --name openai-api/local/lab/model=lab/model
        personafeedback rank logs --cost logs/sums --out ranking
    """
    from ..analysis.balance import rank_document
    from ..analysis.other_tasks import costs_of_models
    from ..api import rankings_of
    from ..reports import files, rank_text

    if json_file is not None and json_file == csv_file:
        where = "stdout" if json_file == STDOUT else json_file
        raise OptionError(f"--json and --csv cannot both write to {where}. Give one of them another file.")

    found = read(runs, data, names)
    of_tasks = costs_of_models(cost_logs, values, names, note_skipped)  # before the ranking, which takes long
    rankings = rankings_of(found, data, note_skipped)
    document = rank_document(rankings, of_tasks)
    publish(
        document, lambda: rank_text.blocks(document, full), json_file,
        csv_file=csv_file, csv=files.rank_csv(document) if csv_file else "",
        out=out, files=files.rank_files(rankings, document) if out else {},
    )  # fmt: skip


@click.command()
@click.argument("run_a", type=RUN)
@click.argument("run_b", type=RUN)
@json_option
@data_option
def compare(run_a: Path, run_b: Path, json_file: Path | None, data: RunData) -> None:
    """Rank two runs on the cases that both answered, even if their options differ.

    Prints and writes what `rank --full` does: the difference in each group, paired by case, with its p value, and in
    measures that need all cases at once, such as F1.

    \b
        personafeedback compare logs/a.eval results/Qwen__Qwen3-8B
    """
    from ..analysis import ranking
    from ..analysis.balance import rank_document
    from ..analysis.control import one_of, with_controls
    from ..reports import rank_text

    first, second = (one_of(with_controls(read([path], data)), path)[0] for path in (run_a, run_b))
    document = rank_document([ranking.compare(first, second, data)])
    publish(document, lambda: rank_text.blocks(document, full=True), json_file)


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
