"""The commands with which people judge a build, or stages of a personalized reply: annotate pack, annotate votes."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

import click

from ..annotation.assignment import Assignment
from ..annotation.items import Item
from ..annotation.pack_files import FORMATS
from ..annotation.rows import Vote
from ..annotation.study import Study, StudyFolder, StudySettings
from ..building.build import Build
from ..building.settings import FILE
from ..building.steps import INIT
from ..building.votes import GUIDELINES, take_votes, write_packs
from ..common.errors import DataError, OptionError
from ..common.files import write
from ..logs.earlier import of_run, refuse_void
from ..personafeedback import manifest
from ..recenter import study
from ..recenter.rows import STAGES, StageRow
from ..writing.judged import VOTES, AskedDuel, draw_duels, items, votes_table
from .options import FOLDER, out_option
from .output import say
from .runs import read


@click.group()
def annotate() -> None:
    """Have people judge a build, duels, or each stage of the chain from conversations to a reply."""


@annotate.command()
@click.argument("data", nargs=-1, required=True)
@out_option("The folder of the packs and votes, unless DATA is a build; run this again to add rows or annotators.")
@click.option(
    "--annotators", type=click.IntRange(1, 1_000),
    help=f"Number of annotators; each gets a pack of each stage. Default: {StudySettings().annotators}."
)  # fmt: skip
@click.option(
    "--votes", type=click.IntRange(1, 1_000), help=f"Number of votes on each item. Default: {StudySettings().votes}."
)
@click.option("--draw", type=click.IntRange(1), help="Number of duels, drawn at random. Default: all.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="html", show_default=True,
    help="A page for any browser, a table, or tasks for Label Studio."
)  # fmt: skip
def pack(
    data: tuple[str, ...], out: Path | None, annotators: int | None, votes: int | None, draw: int | None, form: str
) -> None:
    """Write a pack for each annotator.

    DATA is the folder of a build: each annotator gets its pairs, with order and sides shuffled. build.toml
    says how many annotators and votes there are, and packs go to DATA/packs.

    Or DATA is a folder with any of extraction.jsonl, relevance.jsonl and response.jsonl, or `sample`; existing labels
    and votes are not shown. Or it is a log of recenter_extract, recenter_select or recenter_respond, or a
    folder of logs: identical outputs of several models are judged once, and nobody sees which model wrote them.
    Annotators judge whether each attribute of a conversation makes sense, and name what is missing; they tick what of
    a user's whole profile matters for a prompt; and they rate two replies against each other, from 1 to 5, on sides
    that are drawn for each annotator.

    Or DATA is a folder that `duel` wrote: annotators choose between the model's reply and the other response, in all
    duels or in --draw of them.

    A page works without a network, keeps the votes in the browser, and downloads them as a file to send back. Some
    items check attention. Run this again for more annotators or items: packs only grow, and votes stay valid. An item
    whose texts were edited is written anew, and votes on the old texts no longer count.

    \b
        personafeedback annotate pack DIR --format label-studio
        personafeedback annotate pack logs --out DIR
        personafeedback annotate pack DATA --out DIR --votes 5 --annotators 6
        personafeedback annotate pack duels/chosen --out DIR --draw 200
    """
    sources, named = [Path(source) for source in data], " ".join(data)
    if any((source / FILE).is_file() for source in sources):
        if len(data) > 1 or out or annotators or votes or draw:
            raise OptionError(
                f"{named}: found the folder of a build, expected it alone, with no option but --format. {FILE} has its "
                "settings."
            )
        write_packs(Build.open(sources[0]), form, say)
        return
    if out is None:
        raise OptionError(
            f"{named}: found no {FILE}, expected the folder of a build, or --out, a folder for packs and votes. Start "
            f"one: {INIT.command(sources[0])}"
        )
    folder, are_duels = StudyFolder(out), any((source / manifest.FILE).is_file() for source in sources)
    if (out / study.ASKED).is_dir() and folder.has(AskedDuel) != are_duels:
        raise OptionError(f"{out}: found a study of something else than {named}. Pass another --out.")
    if are_duels and len(data) > 1:
        raise OptionError(f"{named}: found {len(data)} sources, expected one folder of duels alone. Pass it alone.")
    if are_duels:
        settings, duels = folder.set_up(annotators, votes), folder.by_id(AskedDuel)
        for row in draw_duels(sources[0], draw, settings.seed):
            duels.setdefault(row.id, row)
        folder.write(AskedDuel, duels.values())
    else:
        asked, new = study.asked_in(out), list[StageRow]()
        for source in data:
            new += _rows(source, {row.id for row in (*asked, *new)})
        if draw:
            raise OptionError(
                f"{named}: found --draw with data that are no duels, expected a folder that `duel` wrote."
            )
        if not (asked or new):
            files = ", ".join(stage.file for stage in STAGES)
            raise DataError(
                f"{named}: found no row of {files}, expected some. Pass a folder with rows, or a run that makes some."
            )
        folder.set_up(annotators, votes)
        study.add(out, asked, new)
    _study(folder).write_packs(form, say)


def _rows(source: str, known: Collection[str]) -> list[StageRow]:
    # of a folder, or those made in runs that are not known
    found = study.rows_in(source)
    if not found:
        made: dict[str, StageRow] = {}
        for run in read([Path(source)], benchmarks=study.MADE):
            refuse_void(run)
            for row in study.MADE[run.benchmark.name](of_run(run)):
                made.setdefault(f"{row.file} {row.id}", row)
        found = [row for row in made.values() if row.id not in known]
    rows, left_out = study.screened(found)
    for why, count in left_out.items():
        say(f"left out: {count:,} {why}")
    return rows


def _study(folder: StudyFolder, rows: Sequence[study.StudyItem] | None = None) -> Study:
    # of duels, or of stages: their items if they are known
    if folder.has(AskedDuel):
        asked, guidelines = items(folder.read(AskedDuel)), {"": GUIDELINES["en"]}
    else:
        asked, guidelines = [row.item for row in rows or _asked(folder.root)], study.GUIDELINES
    place, settings = shlex.quote(str(folder.root)), folder.settings
    return Study(
        folder=folder, annotators=settings.annotators,
        asked=Assignment(
            items=asked, guidelines=guidelines, seed=settings.seed, votes=min(settings.votes, settings.annotators)
        ),
        packs=f"personafeedback annotate pack DATA --out {place}", votes=f"personafeedback annotate votes {place}",
    )  # fmt: skip


@annotate.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--drop", multiple=True, metavar="ANNOTATOR", help="Leave the votes of this annotator out from now on. Repeatable."
)
def votes(folder: Path, files: tuple[Path, ...], drop: tuple[str, ...]) -> None:
    """Import annotators' files into a build or a study, and show how each annotator voted.

    FILE is what an annotator sent: the download of a page, a filled-in CSV, or a JSON export of Label Studio. You may
    pass partial files, or a file again: no vote is lost or counted twice. A study gets extraction.jsonl,
    relevance.jsonl and response.jsonl with the votes, and missing.jsonl with what people missed: set RECENTER_DATA to
    it. A study of duels gets human.csv, for `verdict --human`.

    \b
        personafeedback annotate votes DIR annotator-1.votes.csv annotator-2.votes.csv
        personafeedback annotate votes DIR --drop annotator-2
    """
    if (folder / FILE).is_file():
        take_votes(Build.open(folder), files, drop, say)
        return
    if not (folder / study.ASKED).is_dir():
        raise OptionError(
            f"{folder}: found no {FILE} and no {study.ASKED}/, expected a build or the --out of `personafeedback annotate "
            "pack`."
        )
    place, judged = shlex.quote(str(folder)), StudyFolder(folder)
    are_duels = judged.has(AskedDuel)
    asked = [] if are_duels else _asked(folder)
    people = _study(judged, asked)
    people.take_votes(files, drop, say)
    if not judged.read(Vote):  # somebody was dropped before any answer came
        return
    with judged.locked():  # another command may have taken in more votes since
        if are_duels:
            write(folder / VOTES, votes_table(people.counted()))
            say(f"Next: personafeedback verdict RUN --calibration RUN --human {shlex.quote(str(folder / VOTES))}")
            return
        written = study.write_judged(folder, asked, people.counted())
    for name, count in written.items():
        say(f"wrote {folder / name}: {count:,} rows")
    say(
        f"Next: personafeedback chain LOGS --people {place}, if models made these rows; RECENTER_DATA={place} for "
        "tasks in which a model judges them."
    )


def _asked(folder: Path) -> list[study.StudyItem]:
    if rows := study.asked_in(folder):
        return study.items(rows)
    files = ", ".join(stage.file for stage in STAGES)
    raise OptionError(
        f"{folder}: found no row of {files} in {study.ASKED}/, expected the --out of `personafeedback annotate pack` "
        "with such data."
    )


def judged_in(folder: Path) -> list[tuple[Item, Vote]]:
    """Every vote of a study that counts, with its item. Raises OptionError without a study, DataError without votes."""
    asked = _asked(folder)  # a study of duels has none: its votes rate nothing
    if counted := _study(StudyFolder(folder), asked).counted():
        return counted
    raise DataError(
        f"{folder}: found no vote that counts, expected some. Take them in: personafeedback annotate votes {folder} "
        "FILE..."
    )
