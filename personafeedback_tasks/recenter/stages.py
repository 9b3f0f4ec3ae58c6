"""What the tasks of the three stages share: their options, and the record that each stage fills in."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..engine.benchmark import Benchmark, always
from ..engine.cases import each_and_all
from ..engine.method import Method
from ..engine.options import Options, option
from ..engine.outcome import Answers, CorpusMetric
from ..engine.report import Examined, ReportSpec, Shown
from .control import CONTROL, NO_CONTROL, OTHER_USER, is_controlled, under_control
from .data import ENVIRONMENT_VARIABLE, Rows, file_name, load, with_judgment
from .rows import STAGES, PromptRow, R

VERSION = "1.1"

_FIELD = re.compile(r"\{(\w+)\}")

UNDER_CONTROL = Examined(
    said_notes=(
        "Under the control nothing is right or wrong: people judged the users' own attributes. Compare how much is selected, not "
        "the accuracy.",
    )
)
"""In place of baselines."""


def _method() -> Any:
    return option("generate", "how the model is asked", always=True)


def _data() -> Any:
    files = ", ".join(map(file_name, STAGES))
    return option(None, f"a folder with any of {files}, or `sample`; RECENTER_DATA if not given")


def _counts() -> Any:
    return option("any", "nothing says how many rows there should be", values=lambda: ("any",))


@dataclass(frozen=True, kw_only=True)
class StageOptions(Options):
    """The options of a stage without a control."""

    method: str = _method()
    data: str | None = _data()
    counts: str = _counts()


@dataclass(frozen=True, kw_only=True)
class ControlledOptions(Options):
    """The options of a stage whose prompts show one attribute of the user."""

    method: str = _method()
    control: str = option(
        NO_CONTROL,
        "other_user shows attributes of other users instead, which nothing makes relevant",
        values=lambda: (NO_CONTROL, OTHER_USER),
        said=lambda value: [f"control {value}"],
    )
    data: str | None = _data()
    counts: str = _counts()


def filled(template: str, **texts: str) -> str:
    """A template with texts in place of its `{fields}`. They are inserted as values and never interpreted."""
    return _FIELD.sub(lambda field: texts[field[1]], template)


def around(template: str) -> list[str]:
    """What a template has before, between and after its fields."""
    return _FIELD.split(template)[::2]


def prompt_of(asked: Any) -> str:
    """The user's prompt, of a row or of a document of several."""
    prompt: str = getattr(asked, "cases", [asked])[0].prompt
    return prompt


def always_saying(rows: Rows[R], answers: Answers) -> dict[str, Answers]:
    """A baseline that says the same of every row."""
    return {row.id: answers for row in rows}


def people(label: str, verdict: bool | None, verdicts: Sequence[Hashable]) -> str:
    """What people said of a row, and how many of them."""
    return f"{label}: {Counter(verdicts)[verdict]} of {len(verdicts)} people" if verdicts else label


def stage_benchmark(
    stage: type[R],
    *,
    methods: Sequence[Method],
    templates: Mapping[str, str],
    prompt: Callable[[Any, str], str],
    labels: tuple[str, ...],
    targets: Callable[[R], list[str]],
    corpus: Mapping[str, CorpusMetric],
    undirected: tuple[str, ...],
    judges: Mapping[str, Callable[[str], str]],
    unscored: str,
    examine: Callable[[Rows[R]], Examined],
    texts: Callable[[R], dict[str, str]],
    report: Mapping[str, Any],
    responses: tuple[tuple[str, str], Callable[[R], tuple[str, str]]] | None = None,
) -> Benchmark:
    """The record of a stage.

    Args:
        methods: the first one is the default.
        templates: name of a method -> the fixed text of its prompt.
        prompt: (row or document, call) -> text.
        unscored: what a signature calls the number of rows that cannot be scored.
        examine: what the texts of all rows, asked or not, add to a report.
        texts: what a reader sees of a row below its question: heading -> text.
        report: further fields of ReportSpec.
        responses: what both responses of a row are called, and their texts; None where rows have none.

    For the others see Benchmark.
    """
    controlled = issubclass(stage, PromptRow)
    question = prompt_of if controlled else lambda row: row.attribute

    def rows(data: str | None, control: str = NO_CONTROL) -> Rows[Any]:
        scored = with_judgment(load(stage, data))
        return under_control(scored, control) if controlled else scored

    def examined(cases: Rows[R], asked: Collection[str]) -> Examined:
        if is_controlled(cases):
            return UNDER_CONTROL
        return replace(examine(cases), prompts={row.id: prompt_of(row) for row in cases} if controlled else {})

    def shown(cases: Rows[R], asked: Collection[str]) -> Shown:
        there = [row for row in cases if row.id in asked]
        of_rows = Shown(
            questions={row.id: question(row) for row in there},
            question="Prompt" if controlled else "Attribute",
            texts={row.id: texts(row) for row in there},
        )
        if responses is None:
            return of_rows
        labels, responses_of = responses
        return replace(of_rows, labels=labels, responses={row.id: responses_of(row) for row in there})

    about: dict[str, Any] = {"examine": examined, "shown": shown}
    if controlled:
        about |= {"control": CONTROL, "under": lambda cases, signature: under_control(cases, signature["control"])}
    return Benchmark(
        name=f"recenter_{stage.stage}",
        title=f"Recenter {stage.stage}",
        group="recenter",
        version=VERSION,
        options=ControlledOptions if controlled else StageOptions,
        methods={method.name: method for method in methods},
        labels=labels,
        cells=stage.cells,
        selections={"": {}},
        load=lambda options, selection: rows(options.data, getattr(options, "control", NO_CONTROL)),
        columns=each_and_all,
        prompt=lambda asked, options, call: prompt(asked, call),
        input=question,
        targets=targets,
        fingerprint=lambda options: f"v1-{hashlib.sha256(templates[options.method].encode()).hexdigest()[:12]}",
        corpus=corpus,
        undirected=undirected,
        judges=judges,
        signed={unscored: always},
        signs=lambda cases, options: {unscored: len(cases.unscored)},
        report=ReportSpec(
            primary="acc",
            score="Accuracy",
            chance=None,
            load=lambda data, counts: rows(data),
            environment=ENVIRONMENT_VARIABLE,
            **{**about, **report},
        ),
    )
