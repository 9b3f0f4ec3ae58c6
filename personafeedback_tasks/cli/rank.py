"""The command that puts runs into an order: rank."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import DataError, OptionError
from ..common.files import Content, write_all
from ..common.strict_json import json_text
from .output import say
from .runs import RUN, passed_over, read


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
    from ..analysis.duel_runs import duels_in, exams, votes_in, writers
    from ..analysis.measures import Contender
    from ..analysis.run_data import RunData, ranked
    from ..reports import blocks, files, rank_text
    from ..reports.terminal import show

    found = read(runs)
    named, default = [RunData(place) for place in places], [RunData(None)]
    written, others = [], []
    for run in found:
        of = None
        try:
            of = duels_in(run, [*named, *default])
        except DataError as error:
            passed_over(str(error))
        if of is None:
            others.append(run)
        else:
            written.append((run, *of))
    written += [votes for run in others for votes in votes_in(run, [*named, *default])]
    if exam is not None and not written:
        raise OptionError(
            "--exam goes with runs on duels, found none whose data are at hand. Pass --data, or leave it out."
        )
    rankings = ranked([Contender(*row) for row in with_controls(others)], named or default)
    rankings += writers(written, exam, exams(read([exam])) if exam is not None else (), [*named, *default])
    contents: dict[Path, Content] = {}
    if csv_file is not None:
        contents[csv_file] = rank_text.as_csv(rankings)
    if json_file is not None:
        contents[json_file] = json_text(rank_text.document(rankings))
    made = {} if out is None else {out / name: content for name, content in files.rank_files(rankings).items()}
    write_all(contents | made)
    if as_markdown:
        click.echo(blocks.markdown(rank_text.all_blocks(rankings)), nl=False)
    else:
        show(blocks.terminal(rank_text.all_blocks(rankings)))
    for path in made:
        say(f"wrote {path}", err=as_markdown)
