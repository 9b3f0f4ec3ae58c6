"""The command that puts runs into an order: rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..common.errors import OptionError
from ..common.files import write_all
from ..logs.data import RunData, refuse_misfits
from .options import (
    FILE,
    RUN,
    json_option,
    markdown_option,
    name_option,
    out_option,
    places_option,
    runs_argument,
)
from .output import say, show, write_json
from .runs import check_names, passed_over, read


@click.command()
@runs_argument
@click.option(
    "--exam",
    metavar="RUN",
    type=RUN,
    help="For runs on duels: the judge's run on the benchmark, which corrects the win rates for its errors (see `verdict`).",
)
@places_option
@name_option
@click.option(
    "--columns",
    metavar="NAMES",
    default="",
    callback=lambda context, option, value: tuple(name.strip() for name in value.split(",") if name.strip()),
    help="Columns of the table, with commas between them: acc, right_minus_wrong, tied, ...; `all` prints every measure and all pairs.",
)
@markdown_option
@click.option("--csv", "csv_file", metavar="FILE", type=FILE, help="One row per run, to FILE.")
@json_option
@out_option(
    "DIR", "Write ranking.md, ranking.csv, ranking.json and index.html, a page with the ranking and every case, there."
)
def rank(
    runs: tuple[Path, ...],
    exam: Path | None,
    places: Sequence[RunData],
    names: dict[str, str],
    columns: tuple[str, ...],
    as_markdown: bool,
    csv_file: Path | None,
    json_file: Path | None,
    out: Path | None,
) -> None:
    """Rank runs: which model is better, how sure that is, and which cannot be told apart.

    RUN is a log or a folder of logs, as for `report`, of either harness. Runs with other settings, wordings, cases or task
    versions make rankings of their own, and the reason is printed. Runs with the settings no_persona and other_persona are
    controls of the same model's run: each gives it a persona gain or a "right minus wrong", and is not ranked itself. Runs on
    duels rank the writers, by judge and other side.

    \b
        personafeedback rank logs
        personafeedback rank judged --exam logs/JUDGE
        personafeedback rank results/* logs/a.eval --csv ranking.csv
        personafeedback rank logs --columns acc,persona_gain,over_longest,tied
        personafeedback rank logs --name openai-api/local/lab/model=lab/model
        personafeedback rank logs --out ranking
    """
    from ..analysis.control import with_controls
    from ..analysis.duel_runs import exams, split, writers
    from ..analysis.measures import Contender
    from ..analysis.run_data import ranked
    from ..logs.written import of_writer
    from ..reports import files, rank_data, rank_text
    from ..reports.terminal import WIDTH, is_terminal

    found = read(runs, places[:-1] or places, names)
    on_benchmark, on_duels = split(found, places, passed_over)
    check_names(names, found, [of_writer(run, duels) for run, duels, _ in on_duels])
    if exam is not None and not on_duels:
        raise OptionError(
            "--exam needs runs on duels, and found none with their data. Pass --data, or leave --exam out."
        )
    rankings = ranked([Contender(*row) for row in with_controls(on_benchmark)], places[:-1] or places)
    rankings += writers(on_duels, exam, exams(read([exam])) if exam is not None else (), places, names)
    refuse_misfits(places)
    known = rank_text.known(rankings)
    if columns != rank_text.ALL and (unknown := [name for name in columns if name not in known]):
        raise OptionError(f"--columns must be `all` alone, or names out of {', '.join(known)}, got {unknown[0]!r}.")
    made = {} if out is None else {out / name: content for name, content in files.rank_files(rankings).items()}
    write_all(made | ({} if csv_file is None else {csv_file: rank_data.as_csv(rankings)}))
    if write_json(json_file, rank_data.document(rankings)):
        width = WIDTH if is_terminal() and not as_markdown else None
        show(rank_text.all_blocks(rankings, columns, width), as_markdown)
    for path in made:
        say(f"wrote {path}", err=as_markdown or str(json_file) == "-")
