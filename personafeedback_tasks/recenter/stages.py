"""Shared by the tasks of the three stages: options, and the benchmark that each stage fills in.

A model does a stage, or judges what people have judged: with a rating, or with one of two labels.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..core.benchmark import Benchmark
from ..core.earlier import Earlier
from ..core.method import Method, Metric
from ..core.options import Options, option
from ..core.report import RATIO, SIGNED, Examined, HumanAgreement, Line, ReportSpec, Shown
from ..core.result import Answers, Result
from ..parsing.answers import REASONS
from ..stats.agreement import Level, alpha
from ..stats.clusters import Clusters
from ..stats.estimates import estimate_of
from .data import ENVIRONMENT_VARIABLE, Rows, load, with_judgment
from .rows import STAGES, Extraction, JudgedRow, PromptRow, Relevance, StageRow

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
    asked_about = "Prompt"  # what the question of a case is
    version = "1.2"
    options: type[Options] = StageOptions

    def __init__(self, **shared: Any) -> None:
        # `shared`: fields of ReportSpec that several stages have
        self.name = f"recenter_{self.row.stage}"
        self.title = f"Recenter {self.row.stage}"
        self.cells = self.row.cells
        self.report = ReportSpec(chance=None, **shared, **self.report_fields)

    def fingerprint(self, options: Any) -> str:
        return self.fingerprint_of("v1", [(self.stand_ins[options.method], options)])


# --- a model does a stage ---------------------------------------------------------------------------------------------


class DoneStage(StageBenchmark):
    """A stage that a model does: what is measured of its replies needs no judge."""

    method_of_stage: Method
    label: str  # of a reply in the form that was asked for
    stand_in: StageRow

    def __init__(self) -> None:
        name = self.method_of_stage.name
        self.row = type(self.stand_in)
        self.methods, self.stand_ins = {name: self.method_of_stage}, {name: self.stand_in}
        self.labels = (self.label,)
        super().__init__(primary=self.label, score=self.label.capitalize(), written=self.written)

    @abstractmethod
    def texts(self, run: Earlier) -> Iterable[tuple[StageRow, dict[str, str]]]:
        """Each case of a run, with heading -> text of what the model was told and wrote."""

    def written(self, run: Earlier) -> Shown:
        """The cases of a run, for people."""
        shown = list(self.texts(run))
        return Shown(
            questions={row.id: row.question for row, _ in shown},
            question=self.asked_about,
            texts={row.id: texts for row, texts in shown},
            labels=(self.label, f"not {self.label}"),
        )

    def targets(self, case: Any) -> list[str]:
        return [self.label] * len(self.method_of_stage.calls)


# --- a model judges as people do --------------------------------------------------------------------------------------


class JudgedStage(StageBenchmark):
    """A stage in which a model judges what people have judged."""

    row: type[JudgedRow]
    unscored: str  # name in signatures of the number of rows that cannot be scored
    values: Sequence[Any]  # of a vote, in ascending order where the level is ordinal
    level: Level

    def __init__(self) -> None:
        self.signed = (self.unscored,)
        self.judges = {f"always_{label.lower()}": partial(self.always, label) for label in self.labels}
        super().__init__(
            primary="acc", score="Accuracy", examine=self.examine, shown=self.shown,
            load=lambda data, counts: with_judgment(load(self.row, data)), environment=ENVIRONMENT_VARIABLE,
        )  # fmt: skip

    def always(self, label: str, prompt: str) -> str:
        """The reply of a judge that gives every row this label."""
        return label

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

    def examine(self, rows: Rows[Any], asked: Collection[str]) -> Examined:
        """The answers of the baselines to the rows, and how far people agree on all rows, also on those not scored."""
        # users share prompts; each conversation is of one user alone
        prompts = {row.id: row.prompt for row in (*rows.cases, *rows.unscored) if isinstance(row, PromptRow)}
        every = [(row.user_id, prompts.get(row.id, ""), self.votes(row)) for row in (*rows.cases, *rows.unscored)]
        return Examined(
            constant=self.constant(),
            agreement=agreement(every, self.values, self.level),
            subsets=self.subsets(rows),
            prompts=prompts,
        )

    def shown(self, rows: Rows[Any], asked: Collection[str]) -> Shown:
        """The rows of a run, for people."""
        of_run = [row for row in rows if row.id in asked]
        questions = {row.id: row.question for row in of_run}
        return Shown(questions, self.asked_about, {row.id: self.texts(row) for row in of_run})


def agreement(rows: Sequence[tuple[str, str, Sequence[Any]]], values: Sequence[Any], level: Level) -> HumanAgreement:
    """How far people agree; rows with less than two votes do not count.

    Args:
        rows: (user, prompt, votes) of each; the prompt is empty where users share none.
    """
    several = [row for row in rows if len(row[2]) > 1]
    if not several:
        return HumanAgreement({}, "These data have labels without votes, so people's agreement is unknown.")
    users, prompts, votes = zip(*several, strict=True)
    coefficient = estimate_of(lambda of: alpha(of, values, level), votes, Clusters.of(users, prompts), (-1.0, 1.0))
    over = "users and prompts" if any(prompts) else "users"
    note = f"{len(several):,} rows of {len(set(users)):,} users with several votes, interval over {over}"
    return HumanAgreement({f"Krippendorff's alpha ({level})": coefficient}, note)


# --- one of two labels ------------------------------------------------------------------------------------------------


METRICS = (Metric("acc"), Metric("invalid", higher_is_better=False))


def score(targets: Sequence[str], answers: Answers) -> dict[str, float]:
    """acc and invalid of one row."""
    (target,), (answer,) = targets, answers
    return {"acc": float(answer == target), "invalid": float(answer in REASONS)}


def measures(labels: Sequence[str], outcomes: Sequence[Result]) -> dict[str, float]:
    """Scores over all rows at once; nan where a denominator is 0, such as precision if the model finds nothing.

    Args:
        labels: the sought one, and the other.
    """
    sought = labels[0]
    pairs = Counter((outcome.targets[0], outcome.answers[0]) for outcome in outcomes)
    people = {label: sum(count for (said, _), count in pairs.items() if said == label) for label in labels}
    model = {label: sum(count for (_, said), count in pairs.items() if said == label) for label in labels}
    rows, both = len(outcomes), pairs[sought, sought]
    agreed = sum(pairs[label, label] for label in labels)
    by_chance = sum(people[label] * model[label] for label in labels)  # rows times agreements by chance alone
    return {
        "precision": _share(both, model[sought]),
        "recall": _share(both, people[sought]),
        "f1": _share(2 * both, model[sought] + people[sought]),
        "kappa": _share(rows * agreed - by_chance, rows * rows - by_chance),
        "selection_rate": _share(model[sought], rows),
        "human_rate": _share(people[sought], rows),
        "over_selection": _share(model[sought], people[sought]),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


class LabelStage(JudgedStage):
    """A stage in which people and models give one of two labels, the sought one first; the majority's is the truth.

    An unreadable reply is never right, and never the label that is sought.
    """

    measured: Sequence[str] = ("precision", "recall", "f1", "kappa", "selection_rate", "human_rate")  # of `measures`
    rates: tuple[str, str, str]  # the table that says how often the sought label is given, by the model, by people
    unscored = "even_votes"
    level = "nominal"

    def __init__(self) -> None:
        self.values = self.labels
        self.corpus = {name: partial(self._measure, name) for name in self.measured}
        self.report_fields = {**self._tables(), **self.report_fields}
        super().__init__()

    def _measure(self, name: str, outcomes: Sequence[Result]) -> float:
        return measures(self.labels, outcomes)[name]

    def _tables(self) -> dict[str, Any]:
        sought, (table, by_model, by_people) = self.labels[0], self.rates
        right = "share of the rows in which the model says what most people say"
        balance = f"harmonic mean of precision and recall of {sought}"
        beyond = "agreement with most people beyond chance (Cohen's kappa): 1 is full, 0 is chance"
        more = f"how many times as often as people the model says {sought}"
        above = partial(Line, strong=True, interval=True, compared=True)
        beside = partial(Line, table="", compared=True)  # the table of the baselines has them
        headline = (
            above("acc", meaning=right),
            above("f1", f"F1 of {sought}", meaning=balance, ranked=True),
        )
        details = (
            beside("precision"),
            beside("recall"),
            beside("kappa", unit=SIGNED, meaning=beyond, ranked=True),
            beside("over_selection", "over-selection", unit=RATIO, meaning=more, ranked=True, higher_is_better=None),
            Line("selection_rate", by_model, table=table, higher_is_better=None),
            Line("human_rate", by_people, table=table, higher_is_better=None),
            Line("invalid", table=table, meaning="share of the replies that could not be read", ranked=True),
        )
        has = {"invalid", *self.measured}
        return {"headline": headline, "details": [line for line in details if line.key in has]}

    def label(self, judgment: float | None) -> str:
        return self.labels[0] if judgment else self.labels[1]

    def targets(self, case: Relevance | Extraction) -> list[str]:
        """The majority's label."""
        return [self.label(case.judgment)]

    def constant(self) -> dict[str, Answers]:
        return {f"always {label}": (label,) for label in self.labels}

    def votes(self, row: Any) -> Sequence[str]:
        return tuple(map(self.label, row.verdicts))

    def people(self, row: Relevance | Extraction) -> str:
        """The majority's label, and how many people gave it."""
        label, votes = self.label(row.judgment), row.verdicts
        return f"{label}: {votes.count(row.judgment)} of {len(votes)} people" if votes else label
