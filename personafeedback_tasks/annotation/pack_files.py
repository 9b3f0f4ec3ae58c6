"""A pack as files: a page for a browser, or a table. No file says what is expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..common import tables, web
from .items import CANNOT, FAULTS, LETTERS, NONE, Item, Pack

PAGE = Path(__file__).with_name("page")
"""The template, the style and the script."""

Files = dict[str, str]
"""Path in the folder of packs -> content."""


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
    return {
        f"{pack.annotator}.html": web.page(
            PAGE / "pack", document, as_it_is=True, guide=guide, words=words, rules=_rules(pack)
        )
    }


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
    lines, columns = [], dict[str, None]()
    for item in pack.items:
        answers = "\n".join(f"{answer}: {label}" for answer, label in item.answers.items() if label != answer)
        more = {name: text for name, text in (("asks", item.asks), ("answers", answers)) if text}
        line = {**item.texts, **dict(zip(LETTERS, item.options.values(), strict=False)), **more}
        columns |= dict.fromkeys(line)
        lines.append({"item": item.id, **line})
    faults = ["faults"] if pack.marks else []
    table = tables.text(["item", *columns, "vote", *faults, "note"], lines)
    written = ", ".join(f"`{answer}`" for answer in pack.answers)
    if NONE in pack.answers:
        written = f"the numbers of all lines that you tick, such as `1 3`, or `{NONE}`, or `{CANNOT}`"
    rules = [*_rules(pack), f"In the column vote: {written}."]
    if pack.marks:
        rules.append(f"In the column faults: any of {', '.join(f'`{mark}`' for mark in pack.marks)}, with ; between.")
    numbered = "".join(f"{number}. {rule}\n" for number, rule in enumerate(rules, start=1))
    return {f"{pack.annotator}.csv": table, "guideline.txt": f"{pack.guideline.title}\n\n{numbered}"}


FORMATS: dict[str, Callable[[Pack], Files]] = {"html": as_html, "csv": as_csv}
"""Name of a format -> its writer."""

SENT = {
    "html": "the page with their name",
    "csv": "the table with their name, and guideline.txt",
}
"""Name of a format -> files to send to an annotator."""


def _rules(pack: Pack) -> list[str]:
    words = page_words(pack.guideline.language)
    return [*pack.guideline.rules, *([words["faults_rule"]] if pack.marks else [])]
