"""What the tasks of the three stages share: their options, and the record that each stage fills in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..core.benchmark import Benchmark, always
from ..core.cases import each_and_all
from ..core.documents import cases_of
from ..core.method import Method
from ..core.options import Options, option
from ..core.outcome import Answers
from ..core.report import Examined, ReportSpec, Shown
from .control import CONTROL, NO_CONTROL, OTHER_USER, under_control
from .data import ENVIRONMENT_VARIABLE, Rows, file_name, load, with_judgment
from .rows import STAGES, PromptRow, R, StageRow

VERSION = "1.2"

_FIELD = re.compile(r"\{(\w+)\}")

# in place of baselines, where nothing is right or wrong
UNDER_CONTROL = Examined(
    said_notes=(
        "Under the control nothing is right or wrong: people judged the users' own attributes. Compare how much is selected, not "
        "the accuracy.",
    )
)


def data_option(files: str) -> Any:
    """Where the data are.

    Args:
        files: of a folder that has them.
    """
    return option(None, f"a folder with {files}, or `sample`; {ENVIRONMENT_VARIABLE} if not given")


def does(method: str) -> Any:
    """The method of a task in which a model does a stage."""
    return option(method, "what the model does", values=lambda: (method,), always=True)


@dataclass(frozen=True, kw_only=True)
class StageOptions(Options):
    """The options of every stage."""

    method: str = option("generate", "how the model is asked", always=True)
    data: str | None = data_option(f"any of {', '.join(map(file_name, STAGES))}")
    counts: str = option("any", "nothing says how many rows there should be", values=lambda: ("any",))


@dataclass(frozen=True, kw_only=True)
class ControlledOptions(StageOptions):
    """The options of a stage whose prompts show one attribute of the user."""

    control: str = option(
        NO_CONTROL,
        "other_user shows attributes of other users instead, which nothing makes relevant",
        values=lambda: (NO_CONTROL, OTHER_USER),
        said=lambda value: [f"control {value}"],
    )


def filled(template: str, **texts: str) -> str:
    """A template with texts in place of its `{fields}`. They are inserted as values and never interpreted."""
    return _FIELD.sub(lambda field: texts[field[1]], template)


def bullets(texts: Iterable[str]) -> str:
    """A list, each of whose texts is one line."""
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


def around(template: str) -> list[str]:
    """What a template has before, between and after its fields."""
    return _FIELD.split(template)[::2]


def always_saying(rows: Rows[R], answers: Answers) -> dict[str, Answers]:
    """A baseline that says the same of every row."""
    return {row.id: answers for row in rows}


def judging(
    stage: type[R],
    stand_ins: Mapping[str, Any],
    unscored: str,
    examine: Callable[[Rows[R]], Examined],
    shown: Callable[[R], dict[str, str]],
    report: dict[str, Any],
    **own: Any,
) -> Benchmark:
    """The record of a stage in which a model judges.

    Args:
        stand_ins: see `of_stage`.
        unscored: what a signature calls the number of rows that cannot be scored.
        examine: what the texts of all rows, asked or not, add.
        shown: heading -> text of a row.
        report: what differs between these stages, as in ReportSpec.
        own: the same, as in Benchmark.
    """
    about_prompt = issubclass(stage, PromptRow)
    return of_stage(
        stage,
        stand_ins,
        options=ControlledOptions if about_prompt else StageOptions,
        load=lambda options, selection: _asked(load(stage, options.data), vars(options)),
        signed={unscored: always},
        signs=lambda cases, options: {unscored: len(cases.unscored)},
        report=ReportSpec(
            primary="acc",
            score="Accuracy",
            chance=None,
            control=CONTROL if about_prompt else None,
            examine=lambda rows, asked: replace(
                UNDER_CONTROL if any(getattr(row, "other", "") for row in rows) else examine(rows),
                # users share prompts; each conversation is of one user alone
                prompts={row.id: row.prompt for row in rows} if about_prompt else {},
            ),
            shown=lambda rows, asked: Shown(
                questions={row.id: row.question for row in rows if row.id in asked},
                question=stage.asked_about,
                texts={row.id: shown(row) for row in rows if row.id in asked},
                labels=stage.shown_labels,
                responses={row.id: row.responses for row in rows if row.id in asked and row.responses},
            ),
            load=lambda data, counts: load(stage, data),
            under=_asked,
            environment=ENVIRONMENT_VARIABLE,
            **report,
        ),
        **own,
    )


def of_stage(stage: type[StageRow], stand_ins: Mapping[str, Any], **own: Any) -> Benchmark:
    """What the records of all stages share, whether a model judges in them or does them.

    Args:
        stand_ins: method -> a row or document, for its fingerprint.
        own: what differs, as in Benchmark.
    """
    record = Benchmark(
        name=f"recenter_{stage.stage}",
        title=f"Recenter {stage.stage}",
        version=VERSION,
        cells=stage.cells,
        selections={"": {}},
        columns=each_and_all,
        input=lambda asked: cases_of(asked)[0].question,
        fingerprint=lambda options: record.fingerprint_of("v1", [(stand_ins[options.method], options)]),
        **own,
    )
    return record


def making(
    stage: type[StageRow], label: str, method: Method, stand_in: Any, report: dict[str, Any], **own: Any
) -> Benchmark:
    """The record of a stage that a model does: what is measured of its replies needs no judge.

    Args:
        label: what a reply is read to that is what was asked for.
        stand_in: a row, for its fingerprint.
        report: what differs between these stages, as in ReportSpec.
        own: the same, as in Benchmark.
    """
    return of_stage(
        stage,
        {method.name: stand_in},
        methods={method.name: method},
        labels=(label,),
        targets=lambda row: [label] * len(method.calls),
        report=ReportSpec(primary=label, score=label.capitalize(), chance=None, **report),
        **own,
    )


def _asked(rows: Rows[Any], options: Mapping[str, Any]) -> Rows[Any]:
    """The rows that a run with these options asks, with what it shows; a signature has them."""
    asked = with_judgment(rows)
    return under_control(asked, options.get("control", NO_CONTROL)) if issubclass(rows.stage, PromptRow) else asked
