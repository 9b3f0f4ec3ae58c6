"""`build release`: the data set, put in place as a whole once the strict loader has read it.

Killed at any moment, the last release is still there, or the next run puts it back.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ...annotation.rows import Vote
from ...common.files import explained, write, write_all
from ...personafeedback.cases import PersonaCases, load_present
from ..folder import Folder
from ..rows import IMPORTED, Answer, Tiered
from ..steps import RELEASE as STEP
from ..steps import Say, ShowTable
from . import shortcuts
from .data_card import card
from .labeling import are_due, labels_now, make_tiers
from .release_folder import files, make

RELEASE, NEXT, LAST = "release", ".release-next", ".release-last"
"""Names in the build's folder: of the release, of the one that is being made, and of the one before while they change places."""

OWN = ("data", "persona", "memory", "set.json", "README.md")
"""Names in a release that this package writes."""


def release(folder: Folder, accepted: Sequence[str], say: Say, show_table: ShowTable) -> None:
    """Turn votes into labels, if due, and write the data set, unless it has a shortcut or a contradiction that is not accepted.

    Args:
        accepted: elements of `shortcuts.NAMES`.

    Raises:
        DataError: there are no labels, a file is broken, a reason against the release is not accepted, or the loader refuses the set.
    """
    out = folder.root / RELEASE
    with folder.step(STEP):
        if not folder.read(Tiered):
            folder.need(Vote)
        labels = labels_now(folder)
        if are_due(folder, labels):
            make_tiers(folder, labels, say, show_table)
        made = make(folder, labels)
        with staged(folder.root, files(folder, made)) as (place, cases):
            measured, stopping = shortcuts.check(cases)
            table = shortcuts.shortcut_table(measured)
            show_table("Shortcuts: accuracy ± standard error, in percent; chance is 50", *table)
            written = any(answer.strategy != IMPORTED for answer in folder.read(Answer))
            shortcuts.refuse(stopping, accepted, STEP.line(folder.root), written)
            sentences = [sentence for name, sentence in stopping.items() if name in accepted]
            control = shortcuts.idle_control(cases)
            write(place / "README.md", card(made, folder, measured, sentences, control))
            put_in_place(folder.root)
    counts = made.manifest.counts
    cells = ", ".join(f"{cell} {count:,}" for cell, count in counts.items())
    say(f"wrote {out}: {sum(counts.values()):,} cases ({cells})")
    if made.left_out:
        say(
            f"{made.left_out:,} pairs are left out: their question or person has keep = no, or the person is for training"
        )
    if control:
        say(f"! {control}")
    for name in accepted:
        if name not in stopping:
            say(f"--accept {name} was not needed")
    say(f"The set is called {made.manifest.name}. Evaluate a model on it:")
    data = shlex.quote(f"data={out}")
    say(f"    inspect eval personafeedback_tasks/personafeedback -T {data} --model MODEL")
    tasks = ",".join(f"personafeedback_{cell}" for cell in counts)
    say(f"    lm_eval run --tasks {tasks} --metadata {data} --log_samples --output_path DIR ...")


@contextmanager
def staged(root: Path, contents: Mapping[PurePosixPath, str | bytes]) -> Iterator[tuple[Path, PersonaCases]]:
    """(a folder beside the release with these contents, its cases); removed at the end unless it was put in place.

    Raises:
        DataError: the loader refuses it.
    """
    place, last = root / NEXT, root / LAST
    with explained(place):
        if last.exists() and not (root / RELEASE).exists():  # killed between the two steps of `put_in_place`
            os.replace(last, root / RELEASE)
        shutil.rmtree(last, ignore_errors=True)
        shutil.rmtree(place, ignore_errors=True)
    try:
        write_all({place / name: content for name, content in contents.items()})
        yield place, load_present(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def put_in_place(root: Path) -> None:
    """Make the staged folder the release. Files that somebody added to the previous one, such as a LICENSE or .git, stay."""
    out, place, last = root / RELEASE, root / NEXT, root / LAST
    with explained(out):
        if out.exists():
            # a copy: whenever this is killed, the release has it still
            shutil.copytree(
                out,
                place,
                symlinks=True,
                ignore=lambda folder, _: OWN if folder == str(out) else (),
                dirs_exist_ok=True,
            )
            os.replace(out, last)
        os.replace(place, out)
        shutil.rmtree(last, ignore_errors=True)
