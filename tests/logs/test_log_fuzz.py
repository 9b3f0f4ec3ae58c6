"""Logs in which any value may be of any type: each is reported whole, or refused in one sentence."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from rich.console import Console
from support.logs import inspect_log, lm_eval_log
from support.shown import as_json, markdown, terminal

from personafeedback_tasks.analysis.ranking import compare
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.common.errors import PersonaFeedbackError
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports.card import section

pytestmark = pytest.mark.slow

MUTATIONS = int(os.environ.get("PERSONAFEEDBACK_MUTATIONS", 15))
"""Of each of the four logs. Before a release there are more."""

SAMPLE = load_cases("sample", "general", "hard")

DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]

VALUES: list[Any] = [
    None, True, 0, -1, 7, 2**70, 10**390, 10**399, 10**500, 1e308, 1e18, -1e300, float("nan"), float("inf"), float("-inf"), DEEP, {"a": DEEP}, "[" * 300, "9" * 999, "", "x", "A, B", "1.0", "\0\ud800", [], [None], ["A"], [[]], {}, {"x": None},
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
    make_report(run, None)
    report = make_report(run, SAMPLE)
    for part in terminal(report):
        Console(file=io.StringIO()).print(part)
    as_json(report)
    markdown(report)
    compare(run, replace(run, model="another"))
    card = run.benchmark.report.card
    assert card is not None
    section(run, report, SAMPLE, card, {})


@pytest.mark.parametrize(
    "harness",
    ["lm-eval", "lm-eval mc", "inspect", pytest.param("reward", marks=pytest.mark.release)],
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


PIECES = [
    b"", b'"', b"\\", b"\\u0000", b"\\ud800", b"\0", b"\xff", b"[", b"]", b"{", b"}", b",", b":", b"\n", b"null", b"NaN", b"-Infinity", b"1e999", b"1e-999", b"-",
    b"[" * 200_000, b'{"a":' * 200_000, b"9" * 200_000, b"0." + b"1" * 200_000, b"[" * 100 + b"]" * 100, b'"' + b"[" * 5_000 + b'"',
]  # fmt: skip
"""Put in place of some bytes of a file."""


def damaged(content: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(content))
    end = start + draw.choice([0, 1, 2, 30, len(content)])
    piece = draw.choice([*PIECES, content[draw.randrange(len(content)) :][:100]])
    return content[:start] + piece + content[end:]


def damaged_copies(log: Path, folder: Path, draw: random.Random, count: int) -> Iterator[Path]:
    """Copies of a log, each with one file or member damaged, or the archive itself."""
    for number in range(count):
        copy_of = folder / str(number)
        copy_of.mkdir(parents=True)
        if log.suffix == ".eval" and draw.random() < 0.8:
            with zipfile.ZipFile(log) as old, zipfile.ZipFile(copy_of / log.name, "w", zipfile.ZIP_DEFLATED) as new:
                victim = draw.choice([name for name in old.namelist() if old.getinfo(name).file_size])
                for name in old.namelist():
                    content = old.read(name)
                    new.writestr(name, damaged(content, draw) if name == victim else content)
        else:
            files = [log] if log.suffix == ".eval" else sorted(log.parent.iterdir())
            victim_file = draw.choice(files)
            for path in files:
                content = path.read_bytes()
                (copy_of / path.name).write_bytes(damaged(content, draw) if path == victim_file else content)
        yield copy_of / log.name


def test_damaged_bytes_are_read_or_refused_in_one_sentence(logs, tmp_path):
    as_json = tmp_path / "whole" / "log.json"
    write_eval_log(read_eval_log(str(logs["inspect"])), str(as_json))
    draw = random.Random(17)
    paths = [
        path
        for number, log in enumerate((*logs.values(), as_json))
        for path in damaged_copies(log, tmp_path / f"damaged{number}", draw, MUTATIONS // 3)
    ]
    done = subprocess.run(
        [sys.executable, "-m", "support.reading"], input="".join(f"{path}\n" for path in paths), capture_output=True, text=True,
        cwd=Path(__file__).parents[1], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30)), timeout=600,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    outcomes = done.stdout.splitlines()
    assert (done.returncode, len(outcomes)) == (0, len(paths)), (paths[len(outcomes) :][:1], done.stderr[-3000:])
    refused = [said for said in outcomes if said != "read"]
    assert len(refused) > len(paths) / 4
    assert all(said.startswith(str(tmp_path)) and "found" in said for said in refused)
