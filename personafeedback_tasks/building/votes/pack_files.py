"""A pack as a file: a page for a browser, a table, or tasks for Label Studio or Potato. No file says what is expected of a vote."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ...common import tables
from ...common.errors import DataError, require
from ...common.files import Content, write_all
from ..basis import Bases
from ..coins import label_rule
from ..folder import Folder
from ..rows import Answer, Draw, PackItem, Question
from ..steps import PACKS, VOTES, Say
from .guideline import GUIDELINES, Guideline
from .packs import ATTENTION, grown, names
from .shown_texts import digests

FOLDER = "packs"


ItemTexts = dict[str, str]
"""What an annotator sees at one place: `item`, its id, which a vote names; `persona`, `question`, and the answers `a` and `b`."""


def item_texts(folder: Folder, items: Iterable[PackItem]) -> dict[str, list[ItemTexts]]:
    """Annotator -> the texts of their pack; without those that were edited since.

    Raises:
        DataError: a persona, an answer or a question is missing.
    """
    answers, questions = folder.by_id(Answer), folder.by_id(Question)
    bases = Bases(folder)
    packs: dict[str, list[ItemTexts]] = defaultdict(list)
    for item in items:
        for name in (item.left, item.right):
            if name not in answers or answers[name].question_id not in questions:
                raise DataError(
                    f"{folder.path(PackItem)}: item {item.item} has the answer {name!r}, expected it in {folder.path(Answer)} and its question in "
                    f"{folder.path(Question)}. Put them back: the item was given to {item.annotator}."
                )
        left, right = answers[item.left], answers[item.right]
        asked = answers[item.attention or item.left]  # the other answer of an attention item is to another question
        persona, question = bases.shown(questions[asked.question_id]).text, questions[asked.question_id].question
        if item.texts == digests(persona, question, {answer.id: answer.text for answer in (left, right)}):
            packs[item.annotator].append(
                {"item": item.item, "persona": persona, "question": question, "a": left.text, "b": right.text}
            )
    return packs


def as_csv(pack: Sequence[ItemTexts], annotator: str, guide: Guideline, title: str) -> dict[str, str]:
    """`<annotator>.csv`: A or B goes into the column `vote`; and the guideline in a file of its own."""
    columns = ["item", "persona", "question", "A", "B", "vote", "note"]
    lines = [{**item, "A": item["a"], "B": item["b"]} for item in pack]
    return {f"{annotator}.csv": tables.text(columns, lines), "guideline.txt": _rules(guide)}


def as_html(pack: Sequence[ItemTexts], annotator: str, guide: Guideline, title: str) -> dict[str, str]:
    """`<annotator>.html`: one page that needs no network, and keeps the votes in the browser."""
    require("jinja2", extra="build")
    from jinja2 import Environment, StrictUndefined

    template = resources.files(__package__).joinpath("pack.html").read_text("utf-8")
    document = {"annotator": annotator, "set": title, "items": list(pack), "texts": guide}
    # Inside of <script>, no text may end it or open a comment.
    data = (
        json.dumps(document, ensure_ascii=False)
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(template)
    return {f"{annotator}.html": page.render(title=guide["title"], texts=guide, data=data)}


def as_label_studio(pack: Sequence[ItemTexts], annotator: str, guide: Guideline, title: str) -> dict[str, str]:
    """`<annotator>.label-studio.json`, tasks to import into a project of his own, and the project's labeling config."""
    tasks = [{"data": item} for item in pack]
    config = f"""<View>
  <Header value={quoteattr(guide["persona"])}/>
  <Text name="persona" value="$persona"/>
  <Header value={quoteattr(guide["question"])}/>
  <Text name="question" value="$question"/>
  <Header value={quoteattr(guide["response"] + " A")}/>
  <Text name="a" value="$a"/>
  <Header value={quoteattr(guide["response"] + " B")}/>
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
        "guideline.txt": _rules(guide),
    }


def as_potato(pack: Sequence[ItemTexts], annotator: str, guide: Guideline, title: str) -> dict[str, str]:
    """A folder for Potato: `<annotator>.potato/data.jsonl` and config.yaml, one project to each annotator."""
    import yaml

    response = guide["response"]
    headings = {"persona": guide["persona"], "question": guide["question"], "a": f"{response} A", "b": f"{response} B"}
    rows = [
        {"id": item["item"], "text": "\n\n".join(f"{heading}:\n{item[name]}" for name, heading in headings.items())}
        for item in pack
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
                "description": guide["title"],
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
        "guideline.txt": _rules(guide),
    }


SENT = {
    "html": "the page with their name",
    "csv": "the table with their name, and guideline.txt",
    "label-studio": "a project with label-studio.xml, guideline.txt and the tasks with their name",
    "potato": "the folder with their name as a project, and guideline.txt",
}
"""Name of a format -> what an annotator gets of the files."""

FORMATS: dict[str, Callable[[Sequence[ItemTexts], str, Guideline, str], dict[str, str]]] = {
    "html": as_html,
    "csv": as_csv,
    "label-studio": as_label_studio,
    "potato": as_potato,
}
"""Name of a format -> (items, annotator, guideline, name of the set) -> path below packs/ -> content."""


def write_packs(folder: Folder, form: str, say: Say) -> None:
    """Write what each annotator gets, in a format of FORMATS.

    Raises:
        DataError: see `packs.asked` and `item_texts`; or a CSV that is there cannot be read.
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
    if not folder.has(Draw):  # of which no labels are made
        say(label_rule(folder.settings.annotators))
    if not attention:
        say("There are no attention items: all pairs are of one person.")
    say(f"Send each annotator {SENT[form]}, and nothing else of the folder. When their files come back:")
    say(f"Next: {VOTES.line(folder.root)}")


def _contents(folder: Folder, items: Iterable[PackItem], form: str) -> dict[str, str]:
    """Path in packs/ -> content, of every annotator's pack."""
    guide, title = GUIDELINES.get(folder.settings.language, GUIDELINES["en"]), folder.settings.name
    contents: dict[str, str] = {}
    for annotator, pack in item_texts(folder, items).items():
        files = FORMATS[form](pack, annotator, guide, title)
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


def _rules(guide: Guideline) -> str:
    return f"{guide['title']}\n\n" + "".join(
        f"{number}. {rule}\n" for number, rule in enumerate(guide["rules"], start=1)
    )
