"""`build packs`: the files that each annotator gets, see annotation/pack_files.py for their formats."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...annotation.items import Item, Pack
from ...annotation.pack_files import FORMATS, SENT, consent_digest
from ...annotation.rows import Dropped, PackItem
from ...common import tables
from ...common.errors import DataError
from ...common.files import write_all
from ..basis import Bases
from ..coins import label_rule
from ..folder import Folder
from ..rows import Answer, Question
from ..steps import PACKS, VOTES, Say
from .growing import names
from .guideline import GUIDELINES
from .packs import asked, grown
from .shown_texts import digests

FOLDER = "packs"

CONSENT = "consent.md"
"""A text of the team's: what annotators agree to before they see an item."""


def shown_items(folder: Folder, items: Iterable[PackItem]) -> dict[str, list[Item]]:
    """Annotator -> the items of their pack; without those whose texts were edited since.

    Raises:
        DataError: a persona, an answer or a question is missing.
    """
    answers, questions = folder.by_id(Answer), folder.by_id(Question)
    bases = Bases(folder)
    packs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for name in item.options:
            if name not in answers or answers[name].question_id not in questions:
                raise DataError(
                    f"{folder.path(PackItem)}: item {item.item} has the answer {name!r}, expected it in {folder.path(Answer)} and its question in "
                    f"{folder.path(Question)}. Put them back: the item was given to {item.annotator}."
                )
        left, right = answers[item.left], answers[item.right]
        judged = answers[item.attention or item.left]  # the other answer of an attention item is to another question
        persona, question = bases.shown(questions[judged.question_id]).text, questions[judged.question_id].question
        if item.texts == digests(persona, question, {answer.id: answer.text for answer in (left, right)}):
            texts = {"persona": persona, "question": question}
            options = [answers[name].text for name in item.options]
            packs[item.annotator].append(Item(id=item.item, texts=texts, options=options))
    return packs


def write_packs(folder: Folder, form: str, say: Say) -> None:
    """Write what each annotator gets, in a format of FORMATS.

    Raises:
        DataError: see `packs.asked` and `shown_items`; or a CSV that is there cannot be read.
        ModuleNotFoundError: a format's library is not installed.
    """
    settings = folder.settings
    guideline = GUIDELINES.get(settings.language, GUIDELINES["en"])
    with folder.step(PACKS):
        items = grown(folder, names(settings.annotators))
        consent = consent_of(folder)
        packs = [
            Pack(annotator=name, items=shown, guideline=guideline, title=settings.name, consent=consent)
            for name, shown in shown_items(folder, items).items()
        ]
        send(folder, items, packs, form, [pair.id for pair in asked(folder)], "pairs", say)
    say(label_rule(settings.votes))
    if not any(item.attention for item in items):
        say("There are no attention items: all pairs are of one person.")
    say(f"Send each annotator {SENT[form]}, and nothing else of the folder. When their files come back:")
    say(f"Next: {VOTES.line(folder.root)}")


def consent_of(folder: Folder) -> str:
    """The team's text of consent; empty if it has none."""
    path = folder.root / CONSENT
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def send(
    folder: Folder, items: Sequence[PackItem], packs: Sequence[Pack], form: str, ids: Iterable[str], what: str, say: Say
) -> None:
    """Write the packs, say how much each annotator gets, and warn of what gets fewer votes than it should, since too few annotators are left.

    Args:
        ids: of all `what` that are asked about.

    Raises:
        DataError: see `write_packs`.
    """
    before, settings, dropped = folder.read(PackItem), folder.settings, folder.by_id(Dropped)
    contents = {folder.root / FOLDER / name: content for name, content in _contents(folder, packs, form).items()}
    folder.write(PackItem, items)  # before the packs: no vote may come back for an item that nobody knows
    write_all(contents)
    attention = {item.item for item in items if item.attention}
    for pack in packs:
        checks = sum(item.id in attention for item in pack.items)
        say(f"{pack.annotator}: {len(pack.items):,} items, {checks} of them for attention")
    say(f"wrote {len(contents)} files to {folder.root / FOLDER}; {len(items) - len(before):,} items are new")
    has = Counter(item.pair_id for item in items if item.annotator not in dropped)
    lacking = Counter(has[name] for name in ids if has[name] < settings.votes)
    for votes, count in sorted(lacking.items()):
        say(
            f"! {count:,} {what} get {votes} votes, not {settings.votes}: there are too few annotators. Raise annotators in build.yaml (it has "
            f"{settings.annotators}) and run this again."
        )


def _contents(folder: Folder, packs: Sequence[Pack], form: str) -> dict[str, str]:
    """Path in packs/ -> content, of every annotator's pack."""
    contents: dict[str, str] = {}
    for pack in packs:
        files = FORMATS[form](pack)
        if pack.consent:
            contents[f"consent-{consent_digest(pack.consent)}.md"] = f"{pack.consent}\n"
        if form == "csv":
            table = f"{pack.annotator}.csv"
            files[table] = _with_votes(files[table], folder.root / FOLDER / pack.folder / table)
        contents |= {(Path(pack.folder) / name).as_posix(): content for name, content in files.items()}
    return contents


def _with_votes(table: str, path: Path) -> str:
    """A table with the votes and notes that somebody wrote into the file that it replaces, also those on texts that were edited since."""
    if not path.is_file():
        return table
    written = {row["item"]: row for _, row in tables.rows(path, None, ["item", "vote"])}
    columns, *lines = csv.reader(io.StringIO(table.removeprefix("\ufeff"), newline=""))
    rows = [dict(zip(columns, line, strict=True)) for line in lines]
    filled = [
        {**row, **{name: value for name, value in written.pop(row["item"], {}).items() if name in ("vote", "note")}}
        for row in rows
    ]
    edited = [row for row in written.values() if row["vote"]]
    return tables.text(columns, [*filled, *edited])
