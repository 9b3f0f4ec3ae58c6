"""The commands between texts and labels: build packs, build votes."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import click

from ..building.folder import Folder, command
from ..building.rows import Dropped, Vote
from ..common.errors import DataError, OptionError, require
from ..common.files import Content, locked, write_all
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
def packs(folder: Path, form: str) -> None:
    """Write what each annotator gets: every pair in an order and with sides of their own.

    Send packs/annotator-1.html to the first person, and so on. The page works without a network, keeps the votes in the browser, and
    downloads them as a file to send back. Some items are there for attention: one response is to another question.

    build.yaml says how many `annotators` there are. Run this again for more of them, or after there are more pairs: packs only grow, and votes
    on earlier ones stay valid. A pair whose texts were edited is written anew, and votes on the old texts no longer count.

    \b
        personafeedback build packs DIR
        personafeedback build packs DIR --format label-studio
    """
    from ..building.rows import Shown
    from ..building.votes import pack_files
    from ..building.votes.packs import ATTENTION, grown, names

    build = opened(folder)
    with locked(build.root):
        before = build.read(Shown)
        shown = grown(build, names(build.settings.annotators))
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
    say(f"Send each annotator {pack_files.SENT[form]}, and nothing else of the folder. With what comes back:")
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
    from ..building.votes.collected import annotators, imported, with_dropped

    build = opened(folder)
    if model_args and not models:
        raise OptionError("-M is for the models of --votes-by, and there are none.")
    with locked(build.root):
        if files:
            found, new, again = imported(build, files)
            build.write(Vote, found)
            say(f"{new:,} new votes" + (f"; {again:,} were there before" if again else ""))
        if models:
            _by_models(build, models, model_arguments(model_args))
        found = build.read(Vote)
        if not found:
            raise DataError(
                f"{build.path(Vote)}: found no votes, expected some. Pass the files that annotators sent back, or --votes-by MODEL."
            )
        if drop:
            build.write(Dropped, with_dropped(build, drop, found))
    for one in annotators(build, found):
        say(
            f"{one.name}: {one.votes:,}{f' of {one.of:,}' if one.of else ''} votes{' (dropped)' if one.dropped else ''}"
        )
        for doubt in () if one.dropped else one.doubts:
            say(
                f"! {one.name} {doubt}. To leave these votes out: {command('votes', build.root)} --drop {shlex.quote(one.name)}"
            )
    _to_a_pair(build, found)
    then("tiers", build)


def _to_a_pair(build: Folder, found: list[Vote]) -> None:
    """Print how many pairs have how many votes, and what is lacking."""
    from ..building.release.tiers import least_votes
    from ..building.rows import Pair
    from ..building.votes.collected import ATTENTION, counted, outdated

    pairs = {pair.id for pair in build.read(Pair)}
    of = Counter(vote.pair_id for vote in counted(build))
    counts = Counter(of[pair] for pair in pairs)
    say(
        "votes to a pair: "
        + ", ".join(f"{count:,} pairs have {many}" for many, count in sorted(counts.items(), reverse=True))
    )
    if removed := sum(vote.pair_id not in pairs and not vote.pair_id.startswith(ATTENTION) for vote in found):
        say(f"{removed:,} votes are on pairs that {build.path(Pair)} no longer has: they do not count")
    if edited := outdated(build):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    least = least_votes(build.settings)
    if lacking := sum(count for many, count in counts.items() if many < least):
        say(
            f"! {lacking:,} pairs have fewer than {least} votes, which is more than half of `annotators: {build.settings.annotators}` in build.yaml: "
            "no case is made of them. Wait for more votes, or set the number of those who vote."
        )


def _by_models(build: Folder, models: tuple[str, ...], model_args: dict[str, Any]) -> None:
    require("inspect_ai", extra="build")
    from ..building.votes.model_votes import ask
    from ..inspect_harness.generation import check_models

    check_models(models, model_args)
    for model in models:
        made = ask(build, model, model_args)
        kept = [vote for vote in build.read(Vote) if vote.annotator != made.annotator or vote.pair_id in made.failed]
        build.write(Vote, [*kept, *made.votes])
        say(
            f"{made.annotator}: {len(made.votes):,} votes on {made.asked:,} pairs; {made.inconsistent:,} times another response in the other "
            f"order, {made.unreadable:,} unreadable, {len(made.failed):,} failed"
        )
