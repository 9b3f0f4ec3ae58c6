"""Logs as the harnesses write them, of scripted judges."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lm_eval.loggers import EvaluationTracker
from personafeedback_tasks.inspect_tasks import personafeedback as tasks

from personafeedback_tasks.core.signature import KEY
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.stats import estimates
from support.inspect_runs import evaluate as evaluate_inspect
from support.judges import METRICS
from support.lines import write_lines
from support.lm_eval_runs import evaluate as evaluate_lm_eval


def lm_eval_log(folder: Path, judge: str, task: str, data, samples: bool = True, **kwargs) -> Path:
    """What `lm_eval run --output_path folder --log_samples` leaves; the results file."""
    tracker = EvaluationTracker(output_path=str(folder))
    results = evaluate_lm_eval(judge, task, data, log_samples=samples, evaluation_tracker=tracker, **kwargs)
    rows = results.pop("samples", None)
    tracker.save_results_aggregated(results=results, samples=rows)
    for name, logged in (rows or {}).items():
        tracker.save_results_samples(task_name=name, samples=logged)
    return max(folder.rglob("results_*.json"))


def inspect_log(
    folder: Path,
    judge: str,
    task: str,
    data,
    setting: str = "persona",
    counts: str = "checked",
    told: Mapping[str, Any] = {},
    **kwargs,
) -> Path:
    """What `inspect eval --log-dir folder` leaves; `told` are the task's other arguments."""
    built = getattr(tasks, task)(data=str(data), setting=setting, counts=counts, **told)
    return Path(evaluate_inspect(built, f"scripted/{judge}", folder, **kwargs).location)


Change = Callable[[dict[str, Any], list[dict[str, Any]]], object]
"""Changes the header of a log, and its samples or rows, in place."""


def opened(log: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(header, samples or rows) of a log."""
    if log.suffix == ".eval":
        with zipfile.ZipFile(log) as archive:
            documents = {name: json.loads(archive.read(name)) for name in archive.namelist()}
        return documents["header.json"], [of for name, of in documents.items() if name.startswith("samples/")]
    (samples,) = log.parent.glob("samples_*.jsonl")
    return json.loads(log.read_bytes()), [json.loads(line) for line in samples.read_bytes().splitlines()]


def bent(log: Path, folder: Path, *changes: Change) -> Path:
    """A copy of a log whose header and rows were changed."""
    header, rows = opened(log)
    for change in changes:
        change(header, rows)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if log.suffix == ".eval":
        with zipfile.ZipFile(folder / log.name, "w") as archive:
            archive.writestr("header.json", json.dumps(header))
            for place, row in enumerate(rows):
                archive.writestr(f"samples/{place}_{row['id']}_epoch_{row['epoch']}.json", json.dumps(row))
    else:
        (samples,) = log.parent.glob("samples_*.jsonl")
        write_lines(folder / samples.name, rows)
        (folder / log.name).write_text(json.dumps(header), encoding="utf-8")
    return folder / log.name


def signed(header: dict[str, Any], task: str) -> dict[str, Any]:
    """The signature in the header of a log of Inspect, or in a results file of lm-eval."""
    metadata = header["eval"]["metadata"] if "eval" in header else header["configs"][task]["metadata"]
    found: dict[str, Any] = metadata[KEY]
    return found


def set_version(header: dict[str, Any], task: str, version: str) -> None:
    """Another task version, wherever the harness writes it."""
    signed(header, task)["task_version"] = version
    if "eval" in header:
        header["eval"]["task_version"] = version
    else:
        header["configs"][task]["metadata"]["version"] = header["versions"][task] = version


def set_options(header: dict[str, Any], task: str, data: Path | str, **options: Any) -> None:
    """Other options wherever the harness writes them, with all that a signature has of them, but not other prompts.

    Args:
        data: of the run.
    """
    found = signed(header, task)
    told = Template.read({**{name: found[name] for name in Template.signed_types()}, **options})
    cases = load_cases(data, "general", "hard", "any")
    found |= told.signed() | PERSONAFEEDBACK.signs(cases, told)
    found |= {"fingerprint": PERSONAFEEDBACK.fingerprint(told), "task": PERSONAFEEDBACK.named(task, cases, told)}
    if "eval" in header:
        header["eval"]["task_args"] |= options
    else:
        header["configs"][task]["metadata"] |= options
        header["configs"][task]["task_alias"] = found["task"]


def settle(results: dict[str, Any], task: str, rows: list[dict[str, Any]]) -> None:
    """Make rows of a samples file, and the results file beside them, follow from the replies, as lm-eval does."""
    for row in rows:
        row["filtered_resps"] = [read_reply(reply) for reply, *_ in row["resps"]]
        found = scoring.score_answers(TWO.letters, row["filtered_resps"])
        values = {name: found[name] for name in METRICS}
        user, _ = row["acc_stderr"]
        row |= values | {"acc_stderr": [user, [values["acc"]]]}
    users, acc = [row["doc"]["user_id"] for row in rows], [row["acc"] for row in rows]
    means = {f"{name},none": estimates.mean(row[name] for row in rows) for name in METRICS}
    results["results"][task] |= means | {"acc_stderr,none": estimates.clustered_stderr(acc, users)}
    results["n-samples"][task]["effective"] = len(rows)
