"""A third harness: it asks a model, scores its replies and writes one file of JSON lines; and the reader of that file.

Everything that it knows of a benchmark is in the record, and all that it does is to translate: there in `run`, back in `READER`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from personafeedback_tasks.core.asked import AskedTask
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.method import Reply, of_settings
from personafeedback_tasks.core.signature import signed
from personafeedback_tasks.core.table import table
from personafeedback_tasks.logs import log
from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.log import Log, Reader, Sample, cells_of
from personafeedback_tasks.logs.prompts import Asked
from personafeedback_tasks.logs.run import Run
from support.judges import JUDGES
from support.lines import write_lines

NAME = "jsonl-runner"
Model = Callable[[str, str], str]
"""(case id, call) -> a reply: a model would see the prompt."""


# --- there -------------------------------------------------------------------------------------------------------------


def run(model: Model, name: str, folder: Path, benchmark: str, selection: str = "", **options: Any) -> Path:
    """Ask every case and write the log."""
    record = find(benchmark)
    task = AskedTask.load(record, record.task(selection), record.selections[selection], record.options_of(options))
    method = task.method
    names = dict(zip(method.asked(task.settings), product(task.every, method.calls), strict=True))
    lines: list[dict[str, Any]] = [
        {NAME: 1, "model": name, "date": "2026-11-24T12:00:00+00:00", "task": task.task, "options": options,
         **signed(task.signatures)}
    ]  # fmt: skip
    scored = []
    for document, logged in zip(task.documents.values(), task.logged(), strict=True):
        asked = [
            {"prompt": [turn["content"] for turn in record.turns(document, told, call)], "reply": model(document.id, name)}
            for name, (told, call) in names.items()
        ]  # fmt: skip
        results = []
        for of_setting, calls in zip(
            record.logged_cases(method, logged), of_settings(asked, len(task.settings)), strict=True
        ):
            results += method.judge(of_setting, [Reply(call["reply"]) for call in calls])
        scored += record.tabled(method, results, NAME)
        lines.append({"document": logged, "calls": asked})
    lines.append({"table": table(scored, record.columns, record.corpus), "cases": len(lines) - 1})
    return write_lines(folder / f"{name.replace('/', '_')}.jsonl", lines)


def judged(folder: Path, judge: str, data: object = "sample", **options: Any) -> Path:
    """The log of one of our judges on the hard cases of PersonaFeedback."""
    return run(JUDGES[judge], judge, folder, "personafeedback", "hard", data=str(data), **options)


# --- and back ----------------------------------------------------------------------------------------------------------


def opened(path: Path, texts: bool = False, only: object = ()) -> list[Log]:
    header, *rows, last = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    every = log.signed(header, path)
    if last.get("cases") != len(rows):
        raise RunError(f"{path}: found {len(rows)} cases, expected {last.get('cases')}.")
    run = Run(
        model=header["model"], harness=f"{NAME} {header[NAME]}", date=header["date"], signature=every[0], conditions={},
        cells=cells_of(path, every[0]), results=(), logs=(path,),
    )  # fmt: skip
    settings = [run.benchmark.setting(signature.options) for signature in every]
    samples = []
    for number, row in enumerate(rows, start=2):
        samples += samples_in(run, settings, f"{path}, line {number}", row)
    return [Log(runs=[replace(run, signature=one) for one in every], samples=samples)]


def samples_in(run: Run, settings: list[str], where: str, row: dict[str, Any]) -> list[Sample]:
    name = row["document"]["id"]
    cases = run.benchmark.logged_cases(run.method, row["document"])
    return [
        Sample(
            where=where,
            id=name,
            setting=setting,
            cases=own,
            evidence=[Reply(call["reply"]) for call in calls],
            asked=Asked(where, name, [tuple(("", text) for text in call["prompt"]) for call in calls]),
        )
        for setting, own, calls in zip(settings, cases, of_settings(row["calls"], len(settings)), strict=True)
    ]


READER = Reader(lambda head: head.startswith(f'{{"{NAME}"'.encode()), opened, (".jsonl",))
