"""The command that puts runs into an order: rank."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.files import Content, write_all
from ..common.strict_json import json_text
from ..engine.report import Examined
from ..runs.run import Run
from .runs import RUN, cases_of, data_option, passed_over, read


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=RUN)
@data_option
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option(
    "--csv",
    "csv_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="One row per run, to FILE.",
)
@click.option(
    "--json", "json_file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write everything to FILE.",
)  # fmt: skip
def rank(
    runs: tuple[Path, ...], data: str | None, as_markdown: bool, csv_file: Path | None, json_file: Path | None
) -> None:
    """Rank runs: which model is better, how sure that is, and which cannot be told apart.

    RUN is a log or a folder of logs, as for `report`, of either harness. Runs that were asked otherwise (setting, wording,
    cases, task version) make rankings of their own, and the reason is printed. A no_persona run in a folder is a control
    and is not ranked unless an argument names it.

    \b
        personafeedback rank logs
        personafeedback rank results/* logs/a.eval --csv ranking.csv
    """
    from ..reports import rank_tables
    from ..reports.control import with_controls
    from ..reports.rank import alike, make_ranking
    from ..reports.report import jsonable
    from ..reports.terminal import show

    found = with_controls(read(runs))
    rankings = [make_ranking(some, _texts(some[0][0], data)) for some in alike(found)]
    contents: dict[Path, Content] = {}
    if csv_file is not None:
        contents[csv_file] = rank_tables.as_csv(rankings)
    if json_file is not None:
        contents[json_file] = json_text({"rankings": [jsonable(ranking.as_dict()) for ranking in rankings]})
    write_all(contents)
    if as_markdown:
        click.echo(rank_tables.markdown(rankings), nl=False)
    else:
        show(rank_tables.terminal(rankings))


def _texts(run: Run, data: str | None) -> Examined | None:
    """What the texts of the cases add; None without data."""
    from ..reports.report import refuse_other_data

    cases, why_not = cases_of(run, data)
    if cases is None or run.benchmark.report.examine is None:
        passed_over(f"No margins over baselines: {why_not}")
        return None
    refuse_other_data(run, cases)
    return run.benchmark.report.examine(cases, run.cases.keys())
