"""A pack as files: a page for a browser, a table, or tasks for Label Studio. No file says what is expected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import yaml

from ..common import tables, web
from .items import CANNOT, FAULTS, LETTERS, MARKS, NONE, Guideline, Item

PAGE = Path(__file__).with_name("page")
"""The template, the style and the script."""

Files = dict[str, str]
"""Path in the folder of packs -> content."""


@dataclass(frozen=True, kw_only=True)
class Pack:
    """All items of one annotator."""

    annotator: str  # opaque; in the names of files
    items: Sequence[Item]
    guideline: Guideline
    folder: str = ""  # below that of all packs; empty for none

    @property
    def answers(self) -> list[str]:
        """All answers to items of the pack, numbers in order; NONE where an item may have none, and CANNOT last."""
        every = dict.fromkeys(answer for item in self.items for answer in item.labels)
        none = [NONE] if any(item.several for item in self.items) else []
        return [*sorted(every, key=lambda answer: int(answer) if answer.isdecimal() else 0), *none, CANNOT]

    @property
    def has_faults(self) -> bool:
        """Whether options may be marked."""
        return any(item.faults for item in self.items)

    @property
    def rules(self) -> list[str]:
        words = page_words(self.guideline.language)
        return [*self.guideline.rules, *([words["faults_rule"]] if self.has_faults else [])]


def as_html(pack: Pack) -> Files:
    """`<annotator>.html`: one page that needs no network, and keeps the answers in the browser."""
    guide = pack.guideline
    words = page_words(guide.language)
    sides = list(dict.fromkeys(next(iter(item.texts.values()), "") for item in pack.items))
    place = {text: number for number, text in enumerate(sides)}
    document = {
        "annotator": pack.annotator,
        "items": [_on_page(item, place, guide.title) for item in pack.items],
        "sides": sides,  # once each, however many items have it
        "headings": guide.headings,
        "option": guide.option,
        "words": words,
        "cannot": CANNOT,
    }
    page = web.page(PAGE / "pack", document, as_it_is=True, guide=guide, words=words, rules=pack.rules)
    return {f"{pack.annotator}.html": page}


@cache
def page_words(language: str) -> dict[str, Any]:
    """The page's own words, in English where the language has none."""
    words: dict[str, dict[str, Any]] = yaml.safe_load((PAGE / "words.yaml").read_text(encoding="utf-8"))
    return words.get(language, words["en"])


def _on_page(item: Item, place: Mapping[str, int], title: str) -> dict[str, object]:
    (side, *_), texts = item.texts.items(), list(item.texts.items())[1:]
    return {
        "item": item.id, "side": [side[0], place[side[1]]], "texts": texts, "options": list(item.options.values()),
        "answers": list(item.labels.items()),
        "several": item.several, "noted": list(item.noted), "asks": item.asks or title,
        "faults": list(FAULTS) if item.faults else [],
    }  # fmt: skip


def as_csv(pack: Pack) -> Files:
    """`<annotator>.csv`: answers go into the column `vote`; and the guideline in a file of its own."""
    lines, headings = _fields(pack)
    faults = ["faults"] if pack.has_faults else []
    table = tables.text(["item", *headings, "vote", *faults, "note"], lines)
    written = ", ".join(f"`{answer}`" for answer in pack.answers)
    if NONE in pack.answers:
        written = f"the numbers of all lines that you tick, such as `1 3`, or `{NONE}`, or `{CANNOT}`"
    columns = [f"In the column vote: {written}."]
    if pack.has_faults:
        columns.append(f"In the column faults: any of {', '.join(f'`{mark}`' for mark in MARKS)}, with ; between.")
    return {f"{pack.annotator}.csv": table, **_guideline(pack, *columns)}


def as_label_studio(pack: Pack) -> Files:
    """`<annotator>.label-studio.json`, tasks to import into a project of his own, and the project's labeling config."""
    # A task must have every field that the config names, whatever its item lacks.
    lines, headings = _fields(pack)
    tasks = [{"data": {**dict.fromkeys(headings, ""), **line}} for line in lines]
    texts = "".join(
        f"  <Header value={quoteattr(heading)}/>\n  <Text name={quoteattr(name)} value={quoteattr('$' + name)}/>\n"
        for name, heading in headings.items()
    )
    about = quoteattr(list(pack.items[0].texts)[-1])

    def choices(name: str, several: bool, values: Sequence[str]) -> str:
        required = "" if name == "faults" else ' required="true"'
        how = f'choice="{"multiple" if several else "single"}"{required}'
        hotkeys = {value: f" hotkey={quoteattr(value.lower())}" for value in values if len(value) == 1}
        lines = "".join(f"    <Choice value={quoteattr(value)}{hotkeys.get(value, '')}/>\n" for value in values)
        return f'  <Choices name="{name}" toName={about} {how} showInline="true">\n{lines}  </Choices>\n'

    faults = choices("faults", True, MARKS) if pack.has_faults else ""
    vote = choices("vote", any(item.several for item in pack.items), pack.answers)
    words = quoteattr(page_words(pack.guideline.language)["note"])
    note = f'  <TextArea name="note" toName={about} rows="2" placeholder={words}/>\n'
    config = f"<View>\n{texts}{faults}{vote}{note}</View>\n"
    return {
        f"{pack.annotator}.label-studio.json": json.dumps(tasks, ensure_ascii=False, indent=1) + "\n",
        "label-studio.xml": config,
        **_guideline(pack),
    }


class Format(NamedTuple):
    """A format of packs: its writer, and the files to send to an annotator."""

    write: Callable[[Pack], Files]
    sent: str


FORMATS = {
    "html": Format(as_html, "the page with their name"),
    "csv": Format(as_csv, "the table with their name, and guideline.txt"),
    "label-studio": Format(
        as_label_studio, "a project with label-studio.xml, guideline.txt and the tasks with their name"
    ),
}


def _fields(pack: Pack) -> tuple[list[dict[str, str]], dict[str, str]]:
    # (name -> text of each item, with its id; name -> heading)
    headings: dict[str, str] = {}
    lines = []
    for item in pack.items:
        options = dict(zip(LETTERS, item.options.values(), strict=False))
        answers = "\n".join(f"{answer}: {label}" for answer, label in item.answers.items() if label != answer)
        more = {name: text for name, text in (("asks", item.asks), ("answers", answers)) if text}
        headings |= {name: pack.guideline.headings[name] for name in item.texts}
        headings |= {letter: f"{pack.guideline.option} {letter}" for letter in options} | dict.fromkeys(more, "")
        lines.append({"item": item.id, **item.texts, **options, **more})
    return lines, headings


def _guideline(pack: Pack, *more: str) -> Files:
    rules = "".join(f"{number}. {rule}\n" for number, rule in enumerate((*pack.rules, *more), start=1))
    return {"guideline.txt": f"{pack.guideline.title}\n\n{rules}"}
