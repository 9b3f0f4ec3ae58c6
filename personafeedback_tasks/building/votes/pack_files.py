"""`build packs`: the files that each annotator gets, see annotation/pack_files.py for their formats."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from ...annotation.items import Item, Pack
from ...annotation.pack_files import FORMATS, SENT, consent_digest
from ...common import tables
from ...common.errors import DataError
from ...common.files import Content, write_all
from ..coins import label_rule
from ..folder import Folder
from ..rows import Answer, PackItem, Question
from ..steps import PACKS, VOTES, Say
from .guideline import GUIDELINES
from .packs import ATTENTION, grown, names
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
    personas: dict[str, str] = {}
    packs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for name in (item.left, item.right):
            if name not in answers or answers[name].question_id not in questions:
                raise DataError(
                    f"{folder.path(PackItem)}: item {item.item} has the answer {name!r}, expected it in {folder.path(Answer)} and its question in "
                    f"{folder.path(Question)}. Put them back: the item was given to {item.annotator}."
                )
        left, right = answers[item.left], answers[item.right]
        asked = answers[item.attention or item.left]  # the other answer of an attention item is to another question
        if asked.user_id not in personas:
            personas[asked.user_id] = folder.persona(asked.user_id).text
        persona, question = personas[asked.user_id], questions[asked.question_id].question
        if item.texts == digests(persona, question, {answer.id: answer.text for answer in (left, right)}):
            texts = {"persona": persona, "question": question}
            packs[item.annotator].append(Item(id=item.item, texts=texts, options=(left.text, right.text)))
    return packs


def write_packs(folder: Folder, form: str, say: Say) -> None:
    """Write what each annotator gets, in a format of FORMATS.

    Raises:
        DataError: see `packs.asked` and `shown_items`; or a CSV that is there cannot be read.
        ModuleNotFoundError: a format's library is not installed.
    """
    with folder.step(PACKS):
        before = folder.read(PackItem)
        items = grown(folder, names(folder.settings.annotators))
        contents: dict[Path, Content] = {
            folder.root / FOLDER / name: content for name, content in _contents(folder, items, form).items()
        }
        folder.write(PackItem, items)  # before the packs: no vote may come back for an item that nobody knows
        write_all(contents)
    attention = Counter(item.annotator for item in items if item.pair_id.startswith(ATTENTION))
    for annotator, count in Counter(item.annotator for item in items).items():
        say(f"{annotator}: {count:,} items, {attention[annotator]} of them for attention")
    say(f"wrote {len(contents)} files to {folder.root / FOLDER}; {len(items) - len(before):,} items are new")
    say(label_rule(folder.settings.annotators))
    if not attention:
        say("There are no attention items: all pairs are of one person.")
    say(f"Send each annotator {SENT[form]}, and nothing else of the folder. When their files come back:")
    say(f"Next: {VOTES.line(folder.root)}")


def _contents(folder: Folder, items: Iterable[PackItem], form: str) -> dict[str, str]:
    """Path in packs/ -> content, of every annotator's pack."""
    settings, consent = folder.settings, folder.root / CONSENT
    text = consent.read_text(encoding="utf-8").strip() if consent.is_file() else ""
    guideline = GUIDELINES.get(settings.language, GUIDELINES["en"])
    contents: dict[str, str] = {f"consent-{consent_digest(text)}.md": f"{text}\n"} if text else {}
    for annotator, shown in shown_items(folder, items).items():
        pack = Pack(annotator=annotator, items=shown, guideline=guideline, title=settings.name, consent=text)
        files = FORMATS[form](pack)
        if form == "csv":
            table = f"{annotator}.csv"
            files[table] = _with_votes(files[table], folder.root / FOLDER / table)
        contents |= files
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
