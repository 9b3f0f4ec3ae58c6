"""The command that puts runs into an order: rank."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import OptionError
from ..common.files import Content, write_all
from ..common.strict_json import json_text, jsonable
from .duel_runs import duels_in, writers
from .output import say
from .run_data import RunData
from .runs import RUN, passed_over, ranked, read


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=RUN)
@click.option(
    "--exam",
    metavar="RUN",
    type=RUN,
    help="Of runs on duels: their judge's run on the benchmark, for the win rates without its errors (see `verdict`).",
)
@click.option(
    "--data",
    "places",
    metavar="DIR",
    multiple=True,
    help="Where the data of the runs, of their duels or of the exam are now, if they were moved; may be given for each. Default: "
    "where the logs say, else PERSONAFEEDBACK_DATA, PREFEVAL_DATA or RECENTER_DATA, as the task. Every case is checked against the log.",
)
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
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write ranking.md, ranking.csv, ranking.json and index.html, a page with the ranking and every case, there.",
)
def rank(
    runs: tuple[Path, ...],
    exam: Path | None,
    places: tuple[str, ...],
    as_markdown: bool,
    csv_file: Path | None,
    json_file: Path | None,
    out: Path | None,
) -> None:
    """Rank runs: which model is better, how sure that is, and which cannot be told apart.

    RUN is a log or a folder of logs, as for `report`, of either harness. Runs that were asked otherwise (setting, wording,
    cases, task version) make rankings of their own, and the reason is printed. In a folder, runs with the settings
    no_persona and other_persona are controls: each gives its run a persona gain or a "right minus wrong", and is not ranked
    itself unless an argument names its log. Runs on duels rank the writers, by judge and other side.

    \b
        personafeedback rank logs
        personafeedback rank judged --exam logs/JUDGE
        personafeedback rank results/* logs/a.eval --csv ranking.csv
        personafeedback rank logs --out ranking
    """
    from ..analysis.control import with_controls
    from ..reports import page, rank_tables
    from ..reports.terminal import show

    found = read(runs)
    named, default = [RunData(place) for place in places], [RunData(None)]
    written = [(run, *of) for run in found if (of := duels_in(run, [*named, *default])) is not None]
    others = [run for run in found if all(run is not judged for judged, *_ in written)]
    parts = ranked(with_controls(others), named or default) if others else []
    for part in parts:
        if part.texts is None:
            passed_over(f"No margins over baselines: {part.no_cases}")
    parts += writers(written, exam, [*named, *default])
    if exam is not None and not written:
        raise OptionError(
            "--exam goes with runs on duels, found none whose data are at hand. Pass --data, or leave it out."
        )
    rankings = [part.ranking for part in parts]
    contents: dict[Path, Content] = {}
    if csv_file is not None:
        contents[csv_file] = rank_tables.as_csv(rankings)
    if json_file is not None:
        contents[json_file] = json_text({"rankings": [jsonable(ranking.as_dict()) for ranking in rankings]})
    if out is not None:
        contents |= {
            out / "ranking.md": f"# Ranking\n\n{rank_tables.markdown(rankings)}",
            out / "ranking.csv": rank_tables.as_csv(rankings),
            out / "ranking.json": json_text({"rankings": [jsonable(ranking.as_dict()) for ranking in rankings]}),
            out / "index.html": page.render(parts),
        }
    write_all(contents)
    if as_markdown:
        click.echo(rank_tables.markdown(rankings), nl=False)
    else:
        show(rank_tables.terminal(rankings))
    if out is not None:
        for name in ("ranking.md", "ranking.csv", "ranking.json", "index.html"):
            say(f"wrote {out / name}", err=as_markdown)
