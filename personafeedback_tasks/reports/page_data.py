"""Rankings and the cases behind them -> data for the page's script: the texts, and each run's picks."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.documents import RankingEntry
from ..analysis.ranking import Ranking
from ..core.earlier import Earlier
from ..core.report import Shown
from ..core.result import Result
from ..core.rewards import TOTAL
from ..logs.earlier import of_run
from ..logs.errors import RunError
from ..logs.run import Run


@dataclass(frozen=True)
class Part:
    """A ranking on the page.

    Attributes:
        numbers: of each run: `1`; `2.1` in the second ranking of several.
        shown: the texts of its cases; None where there are none at hand.
    """

    ranking: Ranking
    numbers: Sequence[str]
    shown: Shown | None

    @property
    def entry(self) -> RankingEntry:
        return self.ranking.entry

    @property
    def first(self) -> Run:
        """The best run."""
        return self.ranking.contenders[0].run


def parts_of(rankings: Sequence[Ranking]) -> list[Part]:
    """The rankings of a page."""
    parts = []
    for number, ranking in enumerate(rankings, 1):
        before = f"{number}." if len(rankings) > 1 else ""
        numbers = [f"{before}{place}" for place, _ in enumerate(ranking.runs, 1)]
        parts.append(Part(ranking, numbers, _texts_of(ranking)))
    return parts


def data(parts: Sequence[Part]) -> dict[str, Any]:
    """Everything, ready for `web.page`. A persona and an answer are there once, however many cases have them."""
    keys = _keys(parts)
    index = {key: place for place, key in enumerate(keys)}
    cases: list[dict[str, Any]] = [{} for _ in keys]
    people: dict[str, int] = {}
    flags: dict[str, str] = {}
    runs: list[dict[str, Any]] = []
    answers: dict[str, int] = {}
    kinds: dict[str, dict[str, Any]] = {}

    def answered(run: Run) -> list[int | None]:
        """The place of its answer to each case."""
        of_run: list[int | None] = [None] * len(keys)
        for case in run.cases.values():
            if (key := _key(case)) in index:  # a control may have further cases
                of_run[index[key]] = answers.setdefault(json.dumps(_answer(case, run)), len(answers))
        return of_run

    for part in parts:
        ranking, first, shown = part.ranking, part.first, part.shown
        kind, spec = first.benchmark.name, first.benchmark.report
        if shown or kind not in kinds:
            words = shown or Shown({})
            did = "answered" if spec.picked is None else "picked"
            kinds[kind] = {"about": words.about, "question": words.question, "labels": words.labels, "did": did}
        flagged = ranking.texts.flags if ranking.texts else {}
        flags |= {name: meaning for name, (meaning, ids) in flagged.items() if ids & first.cases.keys()}
        people_of = spec.control.people
        told = _told(ranking, shown) if shown else {}
        for case_id, case in first.cases.items():
            entry = cases[index[_key(case)]]
            entry |= {"cell": case.cell, "user": case.user_id, "kind": list(kinds).index(kind)}
            entry["flags"] = [name for name, (_, ids) in flagged.items() if case_id in ids]
            if shown and case_id in shown.questions:
                entry |= _texts(shown, case_id)
                if person := shown.people.get(case.user_id):
                    entry["about"] = people.setdefault(person, len(people))
            if told:
                entry["others"] = {people_of[value]: other(case.user_id) for value, other in told.items()}
        for one, place, listed in zip(ranking.contenders, part.numbers, part.entry.runs, strict=True):
            run = one.run
            controls = [
                {"who": who, "answers": answered(one.controls[value])}
                for value, who in people_of.items()
                if value in one.controls
            ]
            own = {"calls": run.method.calls, "kind": list(kinds).index(kind)}
            if spec.control:
                own["who"] = people_of.get(run.setting, "")
            runs.append({"place": place, "name": listed.shown, **own, "answers": answered(run), "controls": controls})
    digests: dict[str, str] = {}
    for (case_id, digest), entry in zip(keys, cases, strict=True):
        entry["id"] = case_id if digests.setdefault(case_id, digest) == digest else f"{case_id} ({digest})"
    return {
        "kinds": list(kinds.values()),
        "people": list(people),
        "flags": flags,
        "runs": runs,
        "cases": cases,
        "answers": list(map(json.loads, answers)),
    }


def _told(ranking: Ranking, shown: Shown) -> dict[str, Callable[[str], str]]:
    asked = {value for one in ranking.contenders for value in (one.run.setting, *one.controls)}
    return {value: other for value, other in shown.told.items() if value in asked}


def _texts_of(ranking: Ranking) -> Shown | None:
    first = ranking.runs[0]
    spec = first.benchmark.report
    if spec.written is not None:
        return _written(ranking, spec.written)
    return spec.shown(ranking.data, first.cases.keys()) if ranking.data is not None and spec.shown is not None else None


def _written(ranking: Ranking, written: Callable[[Earlier], Shown]) -> Shown | None:
    # each text under its model's name where they differ; None without logs, or with several replies to a case
    try:
        of_runs = {
            listed.shown: written(of_run(run)) for listed, run in zip(ranking.entry.runs, ranking.runs, strict=True)
        }
    except RunError:
        return None
    first, *_ = of_runs.values()
    texts: dict[str, dict[str, str]] = {}
    for case_id, of_first in first.texts.items():
        own = texts[case_id] = {}
        for heading in of_first:
            said = {name: shown.texts.get(case_id, {}).get(heading, "") for name, shown in of_runs.items()}
            own |= (
                {heading: of_first[heading]}
                if len({*said.values()}) == 1
                else {f"{heading}: {name}": text for name, text in said.items()}
            )
    return replace(first, texts=texts)


def _key(case: Result) -> tuple[str, str]:
    # runs on two copies of the data may have other texts under the same id
    return case.case_id, case.digest


def _keys(parts: Sequence[Part]) -> list[tuple[str, str]]:
    places_of: dict[tuple[str, str], tuple[int, list[Any]]] = {}
    for part in parts:
        cells = part.first.benchmark.cells
        for case in part.first.cases.values():
            numbers = [int(text) if text.isdecimal() else text for text in re.split(r"(\d+)", case.case_id)]
            places_of.setdefault(_key(case), (cells.index(case.cell), numbers))
    return sorted(places_of, key=lambda key: (*places_of[key], key))


def _texts(shown: Shown, case_id: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"question": shown.questions[case_id]}
    if texts := shown.texts.get(case_id):
        entry["texts"] = list(texts.items())
    if responses := shown.responses.get(case_id):
        # The lengths are of the texts themselves: what is shown may have escapes.
        entry |= {"responses": responses, "lengths": list(map(len, responses))}
    return entry


def _answer(case: Result, run: Run) -> dict[str, Any]:
    # picks by epoch and call: (answer, whether it is right); the second is None if the answer cannot be read, and empty
    # where no label is right, such as where people's mean is the target
    spec, labels = run.benchmark.report, run.benchmark.labels
    epochs = run.by_case[case.case_id]
    entry: dict[str, Any] = {"score": case.value(run.primary)}
    if epochs[0].answers:
        entry["picks"] = [
            [
                (answer, (answer == target if target in labels else "") if answer in labels else None)
                for answer, target in zip(result.answers, result.targets, strict=True)
            ]
            for result in epochs
        ]
    if epochs[0].rewards:
        entry["rewards"] = [result.rewards[TOTAL] for result in epochs if result.rewards]
    if unread := [reply for result in epochs for reply in result.unread]:
        entry["said"] = unread
    if not math.isnan(probability := case.value(spec.probability)):
        entry["probability"] = round(probability, 3)  # as it is shown, so that equal ones are there once
    return entry
