"""A pack as a file: a page for a browser, a table, or tasks for Label Studio or Potato. No file says what is expected of a vote."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from xml.sax.saxutils import quoteattr

from ...common import tables
from ...common.errors import DataError, require
from ..folder import Folder
from ..rows import Answer, Question, Shown
from .guideline import Guideline, guideline
from .shown_texts import digests

FOLDER = "packs"


@dataclass(frozen=True)
class Item:
    """What an annotator sees at one place.

    Attributes:
        item: its id; all that a vote needs to name.
        persona, question: as texts.
        a, b: the two answers.
    """

    item: str
    persona: str
    question: str
    a: str
    b: str


def items(folder: Folder, shown: Sequence[Shown]) -> list[Item]:
    """The texts that some rows of a pack show; without those whose texts were edited since.

    Raises:
        DataError: a persona, an answer or a question is missing.
    """
    answers = {one.id: one for one in folder.read(Answer)}
    questions = {one.id: one for one in folder.read(Question)}
    personas: dict[str, str] = {}
    found = []
    for one in shown:
        for name in (one.left, one.right):
            if name not in answers or answers[name].question_id not in questions:
                raise DataError(
                    f"{folder.path(Shown)}: item {one.item} has the answer {name!r}, expected it in {folder.path(Answer)} and its question in "
                    f"{folder.path(Question)}. Put them back: the item was given to {one.annotator}."
                )
        left, right = answers[one.left], answers[one.right]
        asked = answers[one.attention or one.left]  # the other answer of an attention item is to another question
        if asked.user_id not in personas:
            personas[asked.user_id] = folder.persona(asked.user_id).text
        persona, question = personas[asked.user_id], questions[asked.question_id].question
        if one.texts == digests(persona, question, {answer.id: answer.text for answer in (left, right)}):
            found.append(Item(one.item, persona, question, left.text, right.text))
    return found


def as_csv(pack: Sequence[Item], annotator: str, told: Guideline, title: str) -> dict[str, str]:
    """`<annotator>.csv`: A or B goes into the column `vote`; and the guideline in a file of its own."""
    columns = ["item", "persona", "question", "A", "B", "vote", "note"]
    lines = [asdict(one) | {"A": one.a, "B": one.b} for one in pack]
    return {f"{annotator}.csv": tables.text(columns, lines), "guideline.txt": _rules(told)}


def as_html(pack: Sequence[Item], annotator: str, told: Guideline, title: str) -> dict[str, str]:
    """`<annotator>.html`: one page that needs no network, and keeps the votes in the browser."""
    require("jinja2", extra="build")
    from jinja2 import Environment, StrictUndefined

    template = resources.files(__package__).joinpath("pack.html").read_text("utf-8")
    document = {"annotator": annotator, "set": title, "items": [asdict(one) for one in pack], "told": asdict(told)}
    # Inside of <script>, no text may end it or open a comment.
    data = (
        json.dumps(document, ensure_ascii=False)
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(template)
    return {f"{annotator}.html": page.render(title=told.title, told=told, data=data)}


def as_label_studio(pack: Sequence[Item], annotator: str, told: Guideline, title: str) -> dict[str, str]:
    """`<annotator>.label-studio.json`, tasks to import into a project of his own, and the project's labeling config."""
    tasks = [{"data": asdict(one)} for one in pack]
    config = f"""<View>
  <Header value={quoteattr(told.persona)}/>
  <Text name="persona" value="$persona"/>
  <Header value={quoteattr(told.question)}/>
  <Text name="question" value="$question"/>
  <Header value={quoteattr(f"{told.response} A")}/>
  <Text name="a" value="$a"/>
  <Header value={quoteattr(f"{told.response} B")}/>
  <Text name="b" value="$b"/>
  <Choices name="vote" toName="question" choice="single" required="true" showInline="true">
    <Choice value="A" hotkey="a"/>
    <Choice value="B" hotkey="b"/>
  </Choices>
</View>
"""
    return {
        f"{annotator}.label-studio.json": json.dumps(tasks, ensure_ascii=False, indent=1) + "\n",
        "label-studio.xml": config,
        "guideline.txt": _rules(told),
    }


def as_potato(pack: Sequence[Item], annotator: str, told: Guideline, title: str) -> dict[str, str]:
    """A folder for Potato: `<annotator>.potato/data.jsonl` and config.yaml, one project to each annotator."""
    import yaml

    rows = [
        {"id": one.item, "text": f"{told.persona}:\n{one.persona}\n\n{told.question}:\n{one.question}\n\n{told.response} A:\n{one.a}\n\n{told.response} B:\n{one.b}"}
        for one in pack
    ]  # fmt: skip
    config = {
        "annotation_task_name": title,
        "task_dir": ".",
        "output_annotation_dir": "output",
        "output_annotation_format": "json",
        "data_files": ["data.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [
            {
                "annotation_type": "radio",
                "name": "vote",
                "description": told.title,
                "labels": ["A", "B"],
                "sequential_key_binding": True,
            }
        ],
        "user_config": {"allow_all_users": True, "users": []},
        "assignment_strategy": "fixed_order",
    }
    return {
        f"{annotator}.potato/data.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        f"{annotator}.potato/config.yaml": yaml.safe_dump(config, allow_unicode=True, sort_keys=False),
        "guideline.txt": _rules(told),
    }


SENT = {
    "html": "the page with their name",
    "csv": "the table with their name, and guideline.txt",
    "label-studio": "a project with label-studio.xml, guideline.txt and the tasks with their name",
    "potato": "the folder with their name as a project, and guideline.txt",
}
"""Name of a format -> what an annotator gets of the files."""

FORMATS: dict[str, Callable[[Sequence[Item], str, Guideline, str], dict[str, str]]] = {
    "html": as_html,
    "csv": as_csv,
    "label-studio": as_label_studio,
    "potato": as_potato,
}
"""Name of a format -> (items, annotator, guideline, name of the set) -> path below packs/ -> content."""


def files(folder: Folder, shown: Sequence[Shown], form: str) -> dict[PurePosixPath, str]:
    """Path below the build's folder -> content, of every annotator's pack in one format.

    Raises:
        DataError: see `items`; or a CSV that is there cannot be read.
        ModuleNotFoundError: a format's library is not installed.
    """
    told, title = guideline(folder.settings.language), folder.settings.name
    found: dict[PurePosixPath, str] = {}
    for annotator in dict.fromkeys(one.annotator for one in shown):
        pack = items(folder, [one for one in shown if one.annotator == annotator])
        if not pack:
            continue
        contents = FORMATS[form](pack, annotator, told, title)
        if form == "csv":
            contents[f"{annotator}.csv"] = _with_votes(
                contents[f"{annotator}.csv"], folder.root / FOLDER / f"{annotator}.csv"
            )
        found |= {PurePosixPath(FOLDER) / name: content for name, content in contents.items()}
    return found


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


def _rules(told: Guideline) -> str:
    return f"{told.title}\n\n" + "".join(f"{number}. {rule}\n" for number, rule in enumerate(told.rules, start=1))
