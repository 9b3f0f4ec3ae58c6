"""The commands between texts and labels: build packs, build votes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from ..building.folder import Folder
from ..common.files import Content, write_all
from .build_folder import folder_argument, model_arguments, opened, then
from .output import say


@click.command()
@folder_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "csv", "label-studio", "potato"]),
    default="html",
    show_default=True,
    help="A page for any browser, a table, or tasks for one of these tools.",
)
@click.option("--annotators", type=click.IntRange(min=1), help="How many packs. Default: as build.yaml says.")
def packs(folder: Path, form: str, annotators: int | None) -> None:
    """Write what each annotator gets: every pair in an order and with sides of his own.

    Send packs/annotator-1.html to the first person, and so on. The page works without a network, keeps the votes in the browser, and
    downloads them as a file to send back. Some items are there for attention: one response is to another question.

    Run it again after there are more pairs, or for more annotators: packs only grow, and votes on earlier ones stay valid.

    \b
        personafeedback build packs DIR
        personafeedback build packs DIR --format label-studio --annotators 3
    """
    from ..building import pack_files
    from ..building.packs import ATTENTION, grown, names
    from ..building.rows import Shown

    build = opened(folder)
    before = build.read(Shown)
    shown = grown(build, names(annotators or build.settings.annotators))
    contents: dict[Path, Content] = {
        build.root / path: content for path, content in pack_files.files(build, shown, form).items()
    }
    build.write(Shown, shown)  # before the packs: no vote may come back for an item that nobody knows
    write_all(contents)
    of = Counter(one.annotator for one in shown)
    attention = Counter(one.annotator for one in shown if one.pair_id.startswith(ATTENTION))
    for annotator, count in of.items():
        say(f"{annotator}: {count:,} items, {attention[annotator]} of them for attention")
    say(f"wrote {len(contents)} files to {build.root / pack_files.FOLDER}; {len(shown) - len(before):,} items are new")
    if not attention:
        say("There are no attention items: all pairs are of one person.")
    say("Send each annotator the file with his name, and nothing else of the folder. With what comes back:")
    then("votes", build, "FILE...")


@click.command()
@folder_argument
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--drop", multiple=True, metavar="ANNOTATOR", help="Leave the votes of this annotator out from now on. Repeatable."
)
@click.option(
    "--votes-by",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Have a model vote in place of people, as Inspect names it. Repeatable. The set is then marked `model votes` everywhere.",
)
@click.option(
    "-M", "model_args", multiple=True, metavar="KEY=VALUE", help="An argument of these models, as in Inspect."
)
def votes(
    folder: Path, files: tuple[Path, ...], drop: tuple[str, ...], models: tuple[str, ...], model_args: tuple[str, ...]
) -> None:
    """Take the votes of annotators in, or look at those that are there.

    FILE is what an annotator sent: the download of a page, a filled-in CSV, a JSON export of Label Studio, or Potato's
    user_state.json. Files may come in parts and again: no vote is lost or counted twice.

    A model that votes is asked about every pair in both orders; where it does not pick the same response twice, it has no vote.

    \b
        personafeedback build votes DIR annotator-1.votes.csv annotator-2.votes.csv
        personafeedback build votes DIR --drop annotator-2
        personafeedback build votes DIR --votes-by openai/gpt-4o --votes-by anthropic/claude-sonnet-4-5
    """
    from ..building.rows import Dropped, Vote
    from ..building.votes import annotators, counted, imported, with_dropped

    build = opened(folder)
    if files:
        found, new, again = imported(build, files)
        build.write(Vote, found)
        say(f"{new:,} new votes" + (f"; {again:,} were there before" if again else ""))
    for model in models:
        _by_model(build, model, model_args)
    found = build.need(Vote, "votes")
    if drop:
        build.write(Dropped, with_dropped(build, drop, found))
    for one in annotators(build, found):
        left_out = " (dropped)" if one.dropped else ""
        say(f"{one.name}: {one.votes:,}{f' of {one.of:,}' if one.of else ''} votes{left_out}")
        for doubt in one.doubts:
            say(
                f"! {one.name} {doubt}. To leave these votes out: personafeedback build votes {build.root} --drop {one.name}"
            )
    of_pair = Counter(Counter(vote.pair_id for vote in counted(build)).values())
    say(
        "votes to a pair: "
        + ", ".join(f"{count:,} pairs have {many}" for many, count in sorted(of_pair.items(), reverse=True))
    )
    then("tiers", build)


def _by_model(build: Folder, model: str, model_args: tuple[str, ...]) -> None:
    from ..building.model_votes import ask
    from ..building.rows import Vote

    made = ask(build, model, model_arguments(model_args))
    kept = [vote for vote in build.read(Vote) if vote.annotator != made.annotator]
    build.write(Vote, [*kept, *made.votes])
    say(
        f"{made.annotator}: {len(made.votes):,} votes on {made.asked:,} pairs; {made.inconsistent:,} times another response in the other "
        f"order, {made.unreadable:,} unreadable, {made.failed:,} failed"
    )
