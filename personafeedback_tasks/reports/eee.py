"""A report -> a record of Every Eval Ever (evaleval/every_eval_ever, schema 0.3.0), with one sample for each call.

A sample is right or wrong, so the mean over a cell is its `acc`. The schema has no field for measures without a
direction (`first_rate`), undefined values, and the users by which errors are clustered, which each error's method
names.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from ..analysis.documents import ReportedRun
from ..common.errors import OptionError
from ..common.outputs import json_lines, json_text
from ..core.method import LabelMethod, LikelihoodMethod, Reply
from ..core.report import CardSpec
from ..logs.log import samples_of
from ..logs.names import without_folder
from ..logs.prompts import LABEL
from ..logs.run import Run
from ..stats.estimates import Estimate
from .card import data_set_of

SCHEMA = "0.3.0"
CLUSTERED = "clustered by user"


def record_files(
    runs: Sequence[tuple[Run, ReportedRun]], spec: CardSpec, evaluator: str, relationship: str
) -> dict[Path, str]:
    """Path below the folder of a datastore -> content: the record, and its samples where each call is right or wrong.

    The record has the time of the run, so the same reports give the same bytes.

    Args:
        runs: the run and its report, then its controls and theirs.
        evaluator: the organization that ran the evaluation.
        relationship: of it to the model's developer: `first_party`, `third_party`, `collaborative` or `other`.

    Raises:
        OptionError: the model's name is not DEVELOPER/MODEL.
    """
    run, _ = runs[0]
    model = run.name
    if model.count("/") != 1 or not all(model.split("/")):
        raise OptionError(
            f"Every Eval Ever files a model under DEVELOPER/MODEL, got {model!r}. Pass --name "
            f"{run.model}=DEVELOPER/MODEL."
        )
    written = str(int(datetime.fromisoformat(run.date).timestamp()))
    ids = {"schema_version": SCHEMA, "evaluation_id": f"{run.benchmark.name}/{model}/{written}"}
    rows = [{**ids, "model_id": model, **row} for one, _ in runs for row in _samples(one)]
    record: dict[str, Any] = {
        **ids,
        "evaluation_timestamp": run.date,
        "retrieved_timestamp": written,
        "source_metadata": {
            "source_name": "personafeedback-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": evaluator,
            "evaluator_relationship": relationship,
        },
        "eval_library": {
            "name": run.program.replace("-", "_"),
            "version": run.harness.partition(" ")[2] or "unknown",
            "additional_details": {"plugin": f"personafeedback-tasks {run.signature.package}"},
        },
        "model_info": {
            "name": run.name,
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [result for one, report in runs for result in _results(one, report, spec)],
    }
    content = json.dumps([record, rows], sort_keys=True).encode()
    name = str(UUID(bytes=hashlib.sha256(content).digest()[:16], version=4))
    folder = Path("data", run.benchmark.name, *model.split("/"))
    files = {}
    if rows:
        lines = "".join(json_lines(rows))
        samples = folder / f"{name}_samples.jsonl"
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(lines.encode()).hexdigest(),
            "total_rows": len(rows),
        }
        files[samples] = lines
    return {folder / f"{name}.json": json_text(record), **files}


def _results(run: Run, report: ReportedRun, spec: CardSpec) -> Iterator[dict[str, Any]]:
    benchmark, setting = run.benchmark, run.setting
    source, generation = _source(run, spec), _generation(run)
    for group in report.groups.values():
        for measure, found in group.measures.items():
            line = report.measures[measure]
            if line.higher_is_better is None or math.isnan(found.value):
                continue
            low, high = line.ends
            yield {
                "evaluation_result_id": f"{setting}/{group.name}/{measure}",
                "evaluation_name": f"{benchmark.name} {group.name} ({setting})",
                "source_data": source,
                "metric_config": {
                    "evaluation_description": f"{line.label}: {line.meaning}" if line.meaning else line.label,
                    "metric_id": measure,
                    "metric_name": measure,
                    "metric_kind": "accuracy" if measure == run.primary else measure,
                    "metric_unit": "proportion",
                    "lower_is_better": not line.higher_is_better,
                    "score_type": "continuous",
                    "min_score": low,
                    "max_score": "Infinity" if math.isinf(high) else high,
                },
                "score_details": _score(run, report, measure, found),
                "generation_config": generation,
            }


def _score(run: Run, report: ReportedRun, measure: str, found: Estimate) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": found.n}
    if not math.isnan(found.stderr):
        uncertainty["standard_error"] = {"value": found.stderr, "method": f"analytic, {CLUSTERED}"}
    if not math.isnan(found.low):
        uncertainty["confidence_interval"] = {
            "lower": found.low,
            "upper": found.high,
            "confidence_level": 0.95,
            "method": CLUSTERED,
        }
    details = {
        "users": str(found.users),
        "setting": run.setting,
        "method": run.method.name,
        "calls": run.method.per_case,
        "signature": report.signature,
    }
    if run.primary != "acc" and measure in ("acc", run.primary):
        details["headline"] = f"{run.primary} is the score; acc is the mean over the samples"
    return {"score": found.value, "details": details, "uncertainty": uncertainty}


def _source(run: Run, spec: CardSpec) -> dict[str, Any]:
    dataset, commit = data_set_of(run, spec)
    details = {"sha256": str(run.signature.data), **({"revision": commit} if commit else {})}
    if run.named_set is not None and commit is None:
        return {"dataset_name": run.title, "source_type": "other", "additional_details": details}
    return {
        "dataset_name": run.title,
        "source_type": "hf_dataset",
        "hf_repo": dataset,
        "hf_split": "test",
        "samples_number": len(run.cases),
        "additional_details": details,
    }


def _generation(run: Run) -> dict[str, Any]:
    # the schema has fields for some settings, as numbers; all conditions are texts
    common = run.common_conditions(writes=True)
    given: dict[str, Any] = {}
    for field, name, kind in (("temperature", "temperature", float), ("max_tokens", "new tokens", int)):
        try:
            given[field] = kind(common[name])
        except (KeyError, ValueError):  # not set, or unknown in this harness
            continue
    details = {name: without_folder(str(value)) for name, value in run.conditions.items()}
    return {"generation_args": given, "additional_details": details}


def _samples(run: Run) -> Iterator[dict[str, Any]]:
    method, setting = run.method, run.setting
    if method.groups or not isinstance(method, (LabelMethod, LikelihoodMethod)):
        return
    each = method.requests
    read = {"turn_idx": 0, "source": "output.raw", "extraction_method": method.evidence, "is_terminal": True}
    for sample in samples_of(run, texts=True):
        epochs = run.by_case.get(sample.id)
        if sample.mark or sample.asked is None or epochs is None:
            continue
        epoch = sample.cases[0].epoch
        (outcome,) = (one for one in epochs if one.epoch == epoch)
        prompts = list(sample.asked.calls)[-each * len(method.calls) :]
        for number, call in enumerate(method.calls):
            sent: Any = prompts[number * each] if prompts else ()
            given, target, answer = sample.evidence[number], outcome.targets[number], outcome.answers[number]
            raw = "\n\n".join(text for role, text in sent if role != LABEL)
            ids = [f"{sample.id}/{setting}/{call}", *([f"epoch {epoch}"] if epoch > 1 else [])]
            yield {
                "evaluation_name": f"{run.benchmark.name} {outcome.cell} ({setting})",
                "evaluation_result_id": f"{setting}/{outcome.cell}/acc",
                "sample_id": "/".join(ids),
                "sample_hash": hashlib.sha256(f"{raw}{target}".encode()).hexdigest(),
                "interaction_type": "single_turn",
                "input": {"raw": raw, "reference": [target], "choices": list(run.benchmark.labels)},
                "output": {"raw": [given.text if isinstance(given, Reply) else answer]},
                "answer_attribution": [{**read, "extracted_value": answer}],
                "evaluation": {"score": float(answer == target), "is_correct": answer == target},
                "metadata": {"user_id": outcome.user_id, "cell": outcome.cell},
            }
