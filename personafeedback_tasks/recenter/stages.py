"""Shared by the tasks of the three stages: options, the benchmark that each stage fills in, people's agreement."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.benchmark import Benchmark
from ..core.method import Method
from ..core.options import Options, option
from ..core.report import Examined, HumanAgreement, ReportSpec, Shown
from ..core.result import Answers
from ..stats.agreement import Level, alpha
from ..stats.estimates import estimate_of
from .data import ENVIRONMENT_VARIABLE, Rows, load, with_judgment
from .rows import STAGES, JudgedRow, PromptRow, StageRow

VERSION = "1.2"

_FIELD = re.compile(r"\{(\w+)\}")


def data_option(files: str) -> Any:
    """The option `data`; `files` are those that the folder must have."""
    return option(None, f"a folder with {files}, or `sample`; {ENVIRONMENT_VARIABLE} if not given")


def does(method: str) -> Any:
    """The method of a task in which a model does a stage."""
    return option(method, "what the model does", values=lambda: (method,), always=True)


@dataclass(frozen=True, kw_only=True)
class StageOptions(Options):
    method: str = option("generate", "how the model is asked", always=True)
    data: str | None = data_option(f"any of {', '.join(stage.file for stage in STAGES)}")
    counts: str = option("any", "nothing says how many rows there should be", values=lambda: ("any",))


def filled(template: str, **texts: str) -> str:
    """A template with texts in place of its `{fields}`. They are inserted as values and never interpreted."""
    return _FIELD.sub(lambda field: texts[field[1]], template)


def bullets(texts: Iterable[str]) -> str:
    """A list with each text on one line."""
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


class StageBenchmark(Benchmark):
    """A stage of the method, whether a model judges in it or does it."""

    row: type[StageRow]
    stand_ins: Mapping[str, Any]  # method -> a row or document, for its fingerprint
    report_fields: Mapping[str, Any]  # fields of ReportSpec that differ between the stages
    version = VERSION
    options: type[Options] = StageOptions

    def __init__(self) -> None:
        self.name = f"recenter_{self.row.stage}"
        self.title = f"Recenter {self.row.stage}"
        self.cells = self.row.cells

    def fingerprint(self, options: Any) -> str:
        return self.fingerprint_of("v1", [(self.stand_ins[options.method], options)])


class JudgedStage(StageBenchmark):
    """A stage in which a model judges what people have judged."""

    row: type[JudgedRow]
    asked_about = "Prompt"  # what the question of a row is
    unscored: str  # name in signatures of the number of rows that cannot be scored
    values: Sequence[Any]  # of a vote, in ascending order where the level is ordinal
    level: Level

    def __init__(self) -> None:
        super().__init__()
        self.signed = (self.unscored,)
        self.report = ReportSpec(
            primary="acc",
            score="Accuracy",
            chance=None,
            examine=self._examine,
            shown=self.shown,
            load=lambda data, counts: with_judgment(load(self.row, data)),
            environment=ENVIRONMENT_VARIABLE,
            **self.report_fields,
        )

    @abstractmethod
    def constant(self) -> dict[str, Answers]:
        """Baseline -> what it answers to every row."""

    @abstractmethod
    def texts(self, row: Any) -> dict[str, str]:
        """Heading -> text of a row, for people."""

    def votes(self, row: Any) -> Sequence[Any]:
        """People's votes on a row, of `values`."""
        return tuple(row.votes)

    def subsets(self, rows: Rows[Any]) -> dict[str, tuple[str, frozenset[str]]]:
        """Name -> (label, ids of its rows)."""
        return {}

    def load(self, options: Any, selection: Mapping[str, str]) -> Rows[Any]:
        return with_judgment(load(self.row, options.data))

    def signs(self, cases: Rows[Any], options: Any) -> dict[str, Any]:
        return {self.unscored: len(cases.unscored)}

    def _examine(self, rows: Rows[Any], asked: Collection[str]) -> Examined:
        every = [(row.user_id, self.votes(row)) for row in (*rows.cases, *rows.unscored)]
        return Examined(
            said={name: {row.id: answers for row in rows} for name, answers in self.constant().items()},
            agreement=agreement(every, self.values, self.level),
            subsets=self.subsets(rows),
            # users share prompts; each conversation is of one user alone
            prompts={row.id: row.prompt for row in rows} if issubclass(self.row, PromptRow) else {},
        )

    def shown(self, rows: Rows[Any], asked: Collection[str]) -> Shown:
        """The rows of a run, for people."""
        asked_rows = [row for row in rows if row.id in asked]
        return Shown(
            questions={row.id: row.question for row in asked_rows},
            question=self.asked_about,
            texts={row.id: self.texts(row) for row in asked_rows},
        )


def agreement(rows: Sequence[tuple[str, Sequence[Any]]], values: Sequence[Any], level: Level) -> HumanAgreement:
    """How far people agree, from (user, votes) of every row; those with less than two votes do not count."""
    several = [(user, votes) for user, votes in rows if len(votes) > 1]
    if not several:
        return HumanAgreement({}, "These data have labels without votes, so people's agreement is unknown.")
    users, votes = zip(*several, strict=True)
    coefficient = estimate_of(lambda of: alpha(of, values, level), votes, users, (-1.0, 1.0))
    note = f"{len(several):,} rows of {len(set(users)):,} users with several votes, interval over users"
    return HumanAgreement({f"Krippendorff's alpha ({level})": coefficient}, note)


class DoneStage(StageBenchmark):
    """A stage that a model does: what is measured of its replies needs no judge."""

    method_of_stage: Method
    label: str  # of a reply in the form that was asked for
    stand_in: StageRow

    def __init__(self) -> None:
        self.row = type(self.stand_in)
        super().__init__()
        self.methods = {self.method_of_stage.name: self.method_of_stage}
        self.stand_ins = {self.method_of_stage.name: self.stand_in}
        self.labels = (self.label,)
        self.report = ReportSpec(primary=self.label, score=self.label.capitalize(), chance=None, **self.report_fields)

    def targets(self, case: Any) -> list[str]:
        return [self.label] * len(self.method_of_stage.calls)
