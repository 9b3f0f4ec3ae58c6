"""A third harness: it asks a model, scores its replies and writes one file of JSON lines; and the reader of that file.

Everything that it knows of a benchmark is in the record, and all that it does is to translate: there in `run`, back in `READER`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from personafeedback_tasks.core import signature
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.evidence import Reply
from personafeedback_tasks.core.result import ScoredCase
from personafeedback_tasks.core.table import table
from personafeedback_tasks.logs.log import Log, LoggedDocument, LoggedTask, Reader
from personafeedback_tasks.logs.run import Asked, Run, RunError, signed

NAME = "jsonl-runner"
Model = Callable[[str, str], str]
"""(case id, call) -> a reply: a model would see the prompt."""


# --- there -------------------------------------------------------------------------------------------------------------


def run(model: Model, name: str, folder: Path, benchmark: str, selection: str = "", **options: Any) -> Path:
    """Ask every case and write the log."""
    record = find(benchmark)
    every = record.options_of(options, record.options.strict)
    settings, method = record.settings(every), record.methods[every[0].method]
    cases = record.cases(every[0], record.selections[selection])
    lines: list[dict[str, Any]] = [
        {NAME: 1, "model": name, "date": "2026-11-24T12:00:00+00:00", "task": record.task(selection), "options": options,
         **signature.signed(record, record.task(selection), cases, every)}
    ]  # fmt: skip
    scored = []
    for document in method.documents(cases):
        logged = record.logged(method, document, settings)
        asked = [
            {"prompt": [turn["content"] for turn in record.turns(method, document, told, call)], "reply": model(document.id, name)}
            for name, (told, call) in zip(method.asked(settings), product(every, method.calls), strict=True)
        ]  # fmt: skip
        outcomes = method.judge(record.scorable(method, logged), [Reply(call["reply"]) for call in asked])
        answers = [answer for outcome in outcomes for answer in outcome.answers]
        values = record.tabled(method, outcomes, NAME)
        scored += [
            ScoredCase([replace(outcome, values=of_case)]) for outcome, of_case in zip(outcomes, values, strict=False)
        ]
        lines.append({"document": logged, "calls": asked, "answers": answers, "values": values})
    lines.append({"table": table(scored, record.columns, record.corpus), "cases": len(lines) - 1})
    path = folder / f"{name.replace('/', '_')}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


# --- and back ----------------------------------------------------------------------------------------------------------


def opened(path: Path) -> list[Log]:
    header, *rows, last = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    every = signed(header, path)
    said = every[0]
    if last.get("cases") != len(rows):
        raise RunError(f"{path}: found {len(rows)} cases, expected {last.get('cases')}.")
    task = LoggedTask(
        path=path,
        signatures=every,
        harness=NAME,
        documents=partial(documents, rows, said),
    )
    header_only = Run(
        model=header["model"], harness=f"{NAME} {header[NAME]}", date=header["date"], signature=said, conditions={}, cells={},
        cases={}, logs=(path,),
    )  # fmt: skip
    return [Log([task], lambda: header_only)]


def documents(rows: list[dict[str, Any]], said: dict[str, Any]) -> Iterator[LoggedDocument]:
    record = find(said["benchmark"])
    method = record.methods[said["method"]]
    for number, row in enumerate(rows, start=2):
        where, name = f"line {number}", row["document"]["id"]
        yield LoggedDocument(
            where=where,
            id=name,
            document=record.scorable(method, row["document"], record.setting(said)),
            evidence=[Reply(call["reply"]) for call in row["calls"]],
            answers=method.of_each(row["answers"]),
            values=row["values"],
            asked=partial(Asked, where, name, [tuple(("", text) for text in call["prompt"]) for call in row["calls"]]),
        )


READER = Reader(lambda head: head.startswith(f'{{"{NAME}"'.encode()), opened, (".jsonl",))
