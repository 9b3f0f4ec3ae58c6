"""The commands from votes to a data set: build tiers, build release."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..building.folder import command
from ..common.errors import DataError
from ..common.files import locked, write
from ..common.statistics import Estimate, percent
from ..common.strict_json import json_text
from .build_folder import folder_argument, opened, then
from .output import say, show_table

if TYPE_CHECKING:
    from ..building.folder import Folder
    from ..building.release.release_folder import Made
    from ..building.release.shortcuts import Checked


@click.command()
@folder_argument
def tiers(folder: Path) -> None:
    """Make labels and tiers of the votes.

    \b
    easy     built to be (the full persona against none), and the votes confirm it
    medium   the share of agreeing votes is at least `medium` of build.yaml, 8/9 if nobody says otherwise
    hard     it is at least `hard`, 6/9

    The rest goes to below.jsonl with its reason, also a pair whose texts are those of an earlier one. The agreement of the annotators is
    printed beside: it is a check, and no rule.

    \b
        personafeedback build tiers DIR
    """
    from ..building.folder import BELOW
    from ..building.release.tiers import REASONS, least_votes, sort_into_tiers
    from ..building.release.voting import CIRCULAR, CODINGS, agreement, table
    from ..building.rows import Answer, Pair, Tiered, Vote
    from ..building.votes.collected import counted, outdated

    build = opened(folder)
    with locked(build.root):
        build.need(Vote, "votes")
        votes = counted(build)
        cases, below = sort_into_tiers(build, votes)
        found = agreement(build.settings, build.read(Pair), build.read(Answer), [*cases, *below], votes)
        write(
            build.root / "tiers.json",
            json_text({"codings": CODINGS, "agreement": {name: one.as_dict() for name, one in found.items()}}),
        )
        build.write(Tiered, below, BELOW)
        build.write(Tiered, cases)
    if edited := outdated(build):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    category = {one.id: one.category for one in build.questions()}
    counts = Counter(f"{category.get(one.question_id, 'dropped')} {one.difficulty}" for one in cases)
    say(
        f"{len(cases):,} pairs become cases: "
        + (", ".join(f"{cell} {count:,}" for cell, count in sorted(counts.items())) or "none")
    )
    for reason, count in Counter(one.reason for one in below).most_common():
        say(f"{count:,} are below, {reason}: {REASONS[reason]}")
    show_table("Agreement of the annotators, with 95 % intervals", ["", *found], table(found, _value))
    say(CIRCULAR)
    for name, meaning in CODINGS.items():
        say(f"{name}: {meaning}.")
    if not cases:
        raise DataError(
            f"{build.path(Tiered)}: no pair became a case, see above. A pair needs {least_votes(build.settings)} votes or more, since build.yaml says "
            f"annotators: {build.settings.annotators}."
        )
    then("release", build)


def _value(of: Estimate) -> str:
    if of.value != of.value:
        return "–"
    return f"{of.value:.2f}" if of.low != of.low else f"{of.value:.2f} ({of.low:.2f}–{of.high:.2f})"


@click.command()
@folder_argument
@click.option(
    "--accept",
    multiple=True,
    metavar="NAME",
    type=click.Choice(["longest", "overlap", "name", "contradiction"]),
    help="Release in spite of this finding: longest, overlap or name above 60 % on Hard, or a contradiction. Repeatable. The card says so.",
)
def release(folder: Path, accept: tuple[str, ...]) -> None:
    """Make the data set: DIR/release, in the layout of PersonaFeedback, with a set.json and a data card.

    Everything in this package then works on it: the tasks of both harnesses, reports, cards, duels. Nothing is uploaded.
    Files that you add to DIR/release stay when you run this again; README.md is written anew.

    Before that, the shortcuts are measured. If the longer response, the one with more of the persona's terms, or the one that says the
    user's name is right in more than 60 % of the Hard cases, or a pair has both labels, nothing is released unless --accept names it.

    \b
        personafeedback build release DIR
        personafeedback build release DIR --accept longest
    """
    from ..building.release.release_folder import make

    build = opened(folder)
    with locked(build.root):
        made = make(build)
        checked = _released(build, made, accept)
    out = build.root / "release"
    counts = made.manifest.counts
    say(
        f"wrote {out}: {sum(counts.values()):,} cases ({', '.join(f'{cell} {count:,}' for cell, count in counts.items())})"
    )
    if made.left_out:
        say(f"{made.left_out:,} pairs are left out: their question or person has keep = no")
    for name in accept:
        if name not in checked.found:
            say(f"--accept {name} was not needed")
    say(f"The set is called {made.manifest.name}. Ask a model:")
    data = shlex.quote(f"data={out}")
    say(f"    inspect eval personafeedback_tasks/personafeedback -T {data} --model MODEL")
    tasks = ",".join(f"personafeedback_{cell}" for cell in counts)
    say(f"    lm_eval run --tasks {tasks} --metadata {data} --log_samples --output_path DIR ...")


def _released(build: Folder, made: Made, accept: tuple[str, ...]) -> Checked:
    """Put the release in place if nothing stops it."""
    from ..building.release import data_card, shortcuts
    from ..building.release.release_folder import files
    from ..building.release.releasing import put_in_place, staged

    with staged(build.root, files(build, made)) as (place, cases):
        checked = shortcuts.check(cases)
        show_table(
            "Shortcuts: accuracy ± standard error, in percent; chance is 50",
            ["", *next(iter(checked.shortcuts.values()))],
            [
                (name, *(percent(one.value, stderr=one.stderr) for one in of.values()))
                for name, of in checked.shortcuts.items()
            ],
        )
        shortcuts.refuse(checked, accept, command("release", build.root))
        write(place / "README.md", data_card.card(made, build.settings, checked, accept))
        put_in_place(build.root)
    return checked
