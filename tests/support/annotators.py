"""People who judge a study of the three stages: what they think of texts, and the files that they send back."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from personafeedback_tasks.annotation.assignment import INSTRUCTED
from personafeedback_tasks.recenter.rows import VERDICTS
from support.judges import chance
from support.shown import embedded

Row = Mapping[str, str]
"""What a pack shows of an item, as its table has it: name -> text."""

MISSED = ["Owns a small vineyard near the coast", "Breeds llamas in winter"]
"""What somebody misses in a conversation who misses anything."""


# Whoever `who` is thinks the same of the same texts, wherever they are shown.


def verdict(who: object, conversation: str, attribute: str) -> str:
    return VERDICTS[int(3 * chance(who, conversation, attribute))]


def missed(who: object, conversation: str) -> list[str]:
    return MISSED if chance(who, "missing", conversation) < 0.4 else []


def matters(who: object, prompt: str, attribute: str) -> bool:
    return chance(who, prompt, attribute) < 0.4


def rating(who: object, prompt: str, personalized: str) -> int:
    """The personalized reply against the generic one."""
    return 1 + int(5 * chance(who, prompt, personalized))


def is_uncomfortable(personalized: str) -> bool:
    return chance("marks", personalized) < 0.5


class People(NamedTuple):
    """Attentive people, who know what belongs together: checks of attention show what does not."""

    belongs: Callable[[Row, str], bool]  # whether an attribute is of the row's conversation, or a reply to its prompt
    is_personalized: Callable[[Row, str], bool]

    def answer(self, who: object, row: Row) -> tuple[str, str, str]:
        """(vote, note, faults)."""
        if row.get("attributes"):
            named = missed(who, row["conversation"])
            return ("missing" if named else "nothing"), "; ".join(named), ""
        if row.get("conversation"):
            known = self.belongs(row, row["attribute"])
            return (verdict(who, row["conversation"], row["attribute"]) if known else "rejected"), "", ""
        if not row.get("A"):
            lines = [line.split(": ", 1) for line in row["answers"].splitlines()]
            ticked = [number for number, text in lines if text == INSTRUCTED or matters(who, row["prompt"], text)]
            return ", ".join(ticked) or "none", "", ""
        for letter, worst in (("A", "5"), ("B", "1")):
            if not self.belongs(row, row[letter]):
                return worst, "", ""
        letter = "AB"[self.is_personalized(row, row["B"])]
        rated = rating(who, row["prompt"], row[letter])
        marks = f"{letter} uncomfortable" if is_uncomfortable(row[letter]) else ""
        return str(rated if letter == "B" else 6 - rated), "", marks


def table(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, rows: list[dict[str, str]]) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def filled(path: Path, answer: Callable[[Row], tuple[str, ...]]) -> Path:
    """The table of a pack as its annotator sends it; `answer`: row -> (vote, note) or (vote, note, faults)."""
    rows = table(path)
    columns = list(rows[0])
    answered = [{**row, **dict(zip(("vote", "note", "faults"), answer(row), strict=False))} for row in rows]
    return write_table(path, [{name: row[name] for name in columns} for row in answered])


def download(page: Path, people: People, who: object, folder: Path) -> Path:
    """What an annotator's page downloads once everything on it is answered."""
    document: dict[str, Any] = embedded(page.read_text("utf-8"))
    lines = []
    for item in document["items"]:
        side, texts = document["sides"][item["side"][1]], [text for _, text in item["texts"]]
        if "missing" in dict(item["answers"]):
            row = {"conversation": side, "attributes": texts[0]}
        elif item["several"]:
            row = {"prompt": side, "answers": "\n".join(map(": ".join, item["answers"]))}
        elif item["options"]:
            row = {"attribute": side, "prompt": texts[0], **dict(zip("AB", item["options"], strict=True))}
        else:
            row = {"conversation": side, "attribute": texts[0]}
        vote, note, faults = people.answer(who, row)
        lines.append({"item": item["item"], "vote": vote, "note": note, "faults": faults})
    return write_table(folder / f"{page.stem}.votes.csv", lines)
