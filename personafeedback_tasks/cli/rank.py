"""The command that puts runs into an order: rank."""

from __future__ import annotations

from pathlib import Path

import click

from .. import api
from ..common.errors import OptionError
from ..logs.data import RunData
from ..logs.names import refuse_unknown
from .options import (
    FILE_OR_STDOUT,
    costs_option,
    json_option,
    name_option,
    out_option,
    places_option,
    runs_argument,
)
from .output import STDOUT, files_written, show, write_json, write_text
from .runs import note_skipped, read


@click.command()
@runs_argument
@costs_option
@places_option
@name_option
@click.option("--full", is_flag=True, help="Print every measure and all pairs, as ranking.md has them.")
@click.option(
    "--csv", "csv_file", metavar="FILE", type=FILE_OR_STDOUT,
    help="Write one row per run to FILE as CSV; - writes CSV to stdout and no tables.",
)  # fmt: skip
@json_option
@out_option("Folder for ranking.md, ranking.csv, ranking.json and index.html, a page with the ranking and every case.")
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
    from ..reports import files, rank_text

    if json_file == csv_file == STDOUT:
        raise OptionError("--json and --csv cannot both write to stdout. Give one of them a file.")

    found = read(runs, data, names)
    refuse_unknown(names, found)
    of_tasks = costs_of_models(cost_logs, values, names, note_skipped)  # before the ranking, which takes long
    rankings = api.rankings_of(found, data, note_skipped)
    document = rank_document(rankings, of_tasks)
    with files_written(files.rank_files(rankings, document) if out else {}, out, err=STDOUT in (json_file, csv_file)):
        is_free = write_json(json_file, document)
        if csv_file is not None:
            is_free &= write_text(csv_file, files.rank_csv(document))
        if is_free:
            show(rank_text.all_blocks(document, full))
