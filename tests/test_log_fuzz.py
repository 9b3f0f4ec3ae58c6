"""Logs in which any value may be of any type: each is reported whole, or refused in one sentence."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from rich.console import Console
from support.logs import inspect_log, lm_eval_log

from personafeedback_tasks.common.errors import PersonaFeedbackError
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import heatmap
from personafeedback_tasks.reports import tables as report_text
from personafeedback_tasks.reports.card_text import command, section
from personafeedback_tasks.reports.compare import compare
from personafeedback_tasks.reports.report import make_report
from personafeedback_tasks.runs.read import read_run

MUTATIONS = int(os.environ.get("PERSONAFEEDBACK_MUTATIONS", 300))
"""Of each of the four logs."""

SAMPLE = load_cases("sample", "general", "hard")

VALUES: list[Any] = [
    None, True, 0, -1, 7, 2**70, 1e308, float("nan"), float("inf"), "", "x", "A, B", "1.0", "\0\ud800", [], [None], ["A"], [[]], {}, {"x": None},
]  # fmt: skip


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("logs")
    task = "personafeedback_general_hard"
    return {
        "lm-eval": lm_eval_log(folder / "lm-eval", "mixed", task, "sample"),
        "lm-eval mc": lm_eval_log(folder / "mc", "mixed", f"{task}_mc", "sample"),
        "inspect": inspect_log(folder / "inspect", "mixed", task, "sample"),
    }


@pytest.fixture(scope="module")
def reward_log(tmp_path_factory) -> Path:
    """Of a reward model with two outputs."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from personafeedback_tasks.inspect_tasks import personafeedback as tasks
    from support.classifiers import counting_classifier
    from support.inspect_runs import evaluate

    folder = tmp_path_factory.mktemp("reward")
    model = counting_classifier(folder / "model", ["a"], [lambda count: count % 7, lambda count: -count])
    task = tasks.personafeedback_general_hard(data="sample", method="reward")
    log = evaluate(task, f"personafeedback-reward/{model}", folder, model_args={"aspects": "charm,length"})
    return Path(log.location)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a document."""
    if path:
        yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key not in NEVER_READ:
            yield from places(item, (*path, key))


NEVER_READ = ("events", "events_data", "attachments", "messages", "arguments")
"""Most of a log, and nothing in it moves a number."""


def mutated(document: Any, draw: random.Random) -> Any:
    """With one value replaced, lost, or under another name."""
    new = copy.deepcopy(document)
    *way, last = draw.choice(list(places(new)))
    at = new
    for key in way:
        at = at[key]
    change = draw.randrange(10)
    if change == 0:
        del at[last]
    elif change == 1 and isinstance(at, dict):
        at[f"{last} "] = at.pop(last)
    else:
        at[last] = draw.choice(VALUES)
    return new


def written(documents: dict[str, Any], log: Path, folder: Path) -> Path:
    """A copy of a log, of these documents."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if log.suffix == ".eval":
        with zipfile.ZipFile(folder / log.name, "w") as archive:
            for name, document in documents.items():
                archive.writestr(name, json.dumps(document))
    else:
        for name, document in documents.items():
            lines = document if name.endswith(".jsonl") else [document]
            (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder / log.name


def read(log: Path) -> dict[str, Any]:
    """File or member -> its JSON."""
    if log.suffix == ".eval":
        with zipfile.ZipFile(log) as archive:
            return {name: json.loads(archive.read(name)) for name in archive.namelist()}
    return {
        path.name: [json.loads(line) for line in path.read_bytes().splitlines()] if path.suffix == ".jsonl" else json.loads(path.read_bytes())
        for path in log.parent.iterdir()
    }  # fmt: skip


def everything_said(log: Path) -> None:
    run = read_run(log)
    for cases in (SAMPLE, None):
        report = make_report(run, cases)
        for part in report_text.terminal(report):
            Console(file=io.StringIO()).print(part)
        json.dumps(report.as_dict(), allow_nan=False)
        report_text.markdown(report)
        if report.aspects is not None:
            heatmap.draw(report, report.aspects)
    compare(run, run)
    card = run.benchmark.report.card
    assert card is not None
    section(make_report(run, SAMPLE), SAMPLE, card)
    command(run, card)


@pytest.mark.tried("values of a log replaced by any type: a whole report, or one sentence", MUTATIONS)
@pytest.mark.parametrize(
    "harness", ["lm-eval", "lm-eval mc", "inspect", pytest.param("reward", marks=pytest.mark.torch)]
)
def test_a_value_of_any_type_is_read_or_refused_in_one_sentence(harness, request, tmp_path):
    log = request.getfixturevalue("reward_log") if harness == "reward" else request.getfixturevalue("logs")[harness]
    draw = random.Random(13)
    documents = read(log)
    everything_said(written(documents, log, tmp_path / "log"))
    refused = []
    for _ in range(MUTATIONS):
        name = draw.choice([name for name in documents if "journal" not in name and any(places(documents[name]))])
        bent = {**documents, name: mutated(documents[name], draw)}
        try:
            everything_said(written(bent, log, tmp_path / "log"))
        except PersonaFeedbackError as error:
            refused.append(str(error))
    assert len(refused) > MUTATIONS / 10
    assert all("\n" not in sentence and str(tmp_path) in sentence for sentence in refused)
