"""How the parts of `unchanged.py` run and store things: through the harnesses by the names of tasks, and through the commands.

Nothing here imports a module of the package. What a version may refuse is not tried. So an exception, or a command that ends in an
error, is a fault of these scripts or of the package, and no part hides one; a refusal that is looked at is asked for with `exits`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import unchanged_models as models
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from unchanged import masked

Stored = Iterator[tuple[str, str]]
Options = dict[str, Any]

SETTINGS = ("persona", "no_persona", "other_persona")
TEXTS = {".md", ".json", ".jsonl", ".csv", ".html", ".yaml", ".txt"}
LONG = 200
"""Of texts of a page that are longer, the beginning and a digest are stored."""


# --- commands -------------------------------------------------------------------------------------------------------------


def command(*words: object, exits: int = 0) -> str:
    """Output of `personafeedback ...`, run in this process.

    Args:
        exits: the status that it must end with.
    """
    (script,) = entry_points(group="console_scripts", name="personafeedback")
    done = CliRunner().invoke(script.load(), list(map(str, words)), env={"COLUMNS": "160"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code != exits:
        raise RuntimeError(f"personafeedback {' '.join(map(str, words))}: exit {done.exit_code}\n{done.output}")
    return f"$ personafeedback {' '.join(map(str, words))}\n{done.output}\nexit {done.exit_code}\n"


def printed(name: str, *words: object, exits: int = 0) -> Stored:
    yield f"{name}.txt", command(*words, exits=exits)


def file(path: str) -> Stored:
    """A file that a command wrote, under its own name."""
    yield path, read(Path(path))


def files(folder: str) -> Stored:
    """The text files below a folder, and the digests of its figures."""
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        if path.suffix in TEXTS:
            yield str(path), read(path)
        elif path.suffix == ".svg":
            yield str(path), re.sub(r"(?s)<metadata>.*?</metadata>", "", path.read_text(encoding="utf-8"))


def read(path: Path) -> str:
    """The text of a file. Of a page, its marks and the data in it, without the style and the scripts."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return as_json(json.loads(text))
    if path.suffix != ".html":
        return text
    data = re.search(r'(?s)<script type="application/json"[^>]*>(.*?)</script>', text)
    marks = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", text)
    return marks + (f"\n{as_json(shortened(json.loads(data[1])))}\n" if data else "")


def shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in value]
    if isinstance(value, str) and len(value) > LONG:
        return f"{value[:40]}... {digest(masked(value))}"  # a page's CSV has the times of its runs
    return value


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=str)


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, default=str).encode()).hexdigest()[:16]


# --- runs -----------------------------------------------------------------------------------------------------------------


def in_inspect(
    name: str, task: str, model: str, options: Options, model_args: Options | None = None, **how: Any
) -> Path:
    """Run a task in Inspect; the log."""
    (log,) = runs_in_inspect(name, task, model, options, model_args, **how)
    return log


def runs_in_inspect(
    name: str, task: str, model: str, options: Options, model_args: Options | None = None, **how: Any
) -> list[Path]:
    """Run a task, or the tasks that follow one another under this name; their logs."""
    logs = inspect_eval(
        f"personafeedback_tasks/{task}", model=get_model(model, memoize=False, **(model_args or {})), task_args=options,
        log_dir=f"logs/{name}", display="none", score_display=False, **how,
    )  # fmt: skip
    for log in logs:
        if log.status != "success":
            raise RuntimeError(f"{name}: {log.status}: {log.error and log.error.message}")
    return [Path(log.location).relative_to(Path.cwd()) for log in logs]


def in_lm_eval(name: str, task: str, model: str, options: Options, **how: Any) -> Path:
    """Run a task in lm-eval; the results file."""
    folder = Path("logs", name)
    tracker = EvaluationTracker(output_path=str(folder))
    configs = command("register", "--path").splitlines()[1]
    results = simple_evaluate(
        models.NAME, model_args={"pretrained": model}, tasks=[task], bootstrap_iters=2, log_samples=True,
        task_manager=TaskManager(include_path=configs, include_defaults=False, metadata=options),
        evaluation_tracker=tracker, **how,
    )  # fmt: skip
    rows = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=rows)
    for of_task, logged in rows.items():
        tracker.save_results_samples(task_name=of_task, samples=logged)
    return max(folder.rglob("results_*.json"))


def logged(name: str, log: Path) -> Stored:
    """A run: its table and each case's values; its prompts; all else that a log says of a case; what it says of the run."""
    values, prompts, rest, about = (_of_inspect if log.suffix == ".eval" else _of_lm_eval)(log)
    for what, found in (("values", values), ("prompts", prompts), ("rest", rest), ("about", about)):
        yield f"{name}.{what}.json", as_json(found)


LM_EVAL_KEYS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip


def _of_lm_eval(results: Path) -> tuple[Any, Any, Any, Any]:
    whole = json.loads(results.read_text(encoding="utf-8"))
    values, prompts, rest = {}, {}, {}
    for path in sorted(results.parent.glob("samples_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            case = row["doc"]["id"]
            values[case] = {key: row[key] for key in row["metrics"]}
            prompts[case] = digest(row["arguments"])
            rest[case] = {"doc": row["doc"], "filtered": row["filtered_resps"], "target": row["target"]} | {
                key: value for key, value in row.items() if key not in LM_EVAL_KEYS | set(row["metrics"])
            }
    if not values:
        raise RuntimeError(f"{results} has no case")
    about = {key: whole.get(key) for key in ("configs", "versions", "n-samples", "higher_is_better", "group_subtasks")}
    return {"table": whole["results"], "groups": whole.get("groups"), "cases": values}, prompts, rest, about


def _of_inspect(log: Path) -> tuple[Any, Any, Any, Any]:
    whole = read_eval_log(str(log))
    table = {
        f"{score.name} {name}": metric.value for score in whole.results.scores for name, metric in score.metrics.items()
    }
    values, prompts, rest = {}, {}, {}
    for sample in whole.samples:
        case = f"{sample.id} {sample.epoch}"
        values[case] = {name: score.value for name, score in sample.scores.items()}
        asked = [[message.text for message in event.input] for event in sample.events if event.event == "model"]
        prompts[case] = digest(sorted(asked))
        rest[case] = {
            "scores": {
                name: [score.answer, score.explanation, score.metadata] for name, score in sample.scores.items()
            },
            "sample": [sample.target, sample.metadata],
        }
    if not values:
        raise RuntimeError(f"{log} has no case")
    about = {
        "metadata": whole.eval.metadata,
        "version": whole.eval.task_version,
        "config": whole.eval.model_generate_config,
    }
    return {"table": table, "cases": values}, prompts, rest, about


def report(name: str, *words: object, task: str = "", options: Options | None = None) -> Stored:
    """`report` of a run, as text and as files; with a task, also the template of its replies."""
    yield from printed(f"{name}.report", "report", *words, "--out", f"report/{name}")
    yield from files(f"report/{name}")
    if task:
        template = Path("replies", f"{name}.jsonl")
        template.parent.mkdir(parents=True, exist_ok=True)
        told = [word for key, value in (options or {}).items() if key != "data" for word in ("-T", f"{key}={value}")]
        data = (options or {}).get("data", "sample")
        yield from printed(
            f"{name}.template", "score-replies", task, template, "-T", f"data={data}", *told, "--template"
        )
        yield from file(str(template))


Made = dict[tuple[str, str, str, str], Path]
"""(harness, method, setting, judge) -> log."""


def judged(
    made: Made, task: str, options: Options, judges: Sequence[str], asked: dict[str, Sequence[str]],
    harnesses: Sequence[str] = ("inspect", "lm_eval"),
) -> Stored:  # fmt: skip
    """Runs of judges.

    Args:
        made: filled in with their logs.
        asked: method -> settings.
    """
    for method, settings in asked.items():
        for setting in settings:
            for judge in judges:
                told = options | {"setting": setting}
                name = f"{method}/{setting}/{judge}"
                if method != "mc" and "inspect" in harnesses:
                    # `longest` and `first` come with the package, but have no log-probabilities
                    ours = method != "logprobs" and judge in ("longest", "first")
                    model = f"personafeedback/{judge}" if ours else f"{models.NAME}/{judge}"
                    log = in_inspect(f"inspect/{name}", task, model, told | {"method": method})
                    made["inspect", method, setting, judge] = log
                    yield from logged(f"{name}/inspect", log)
                if method != "logprobs" and "lm_eval" in harnesses:
                    suffix = "" if method == "generate" else f"_{method}"
                    log = in_lm_eval(f"lm_eval/{name}", task + suffix, f"{models.NAME}/{judge}", told)
                    made["lm_eval", method, setting, judge] = log
                    yield from logged(f"{name}/lm_eval", log)


def reports(made: Made, task: str, options: Options) -> Stored:
    """Reports of these runs with their controls, where replies were logged also of the replies."""
    for (harness, method, setting, judge), log in made.items():
        if setting in ("persona", "rag"):
            words = [
                word
                for other in (*SETTINGS[1:], "rag")
                if setting == "persona" and (harness, method, other, judge) in made
                for word in (f"--{other.replace('_', '-')}", made[harness, method, other, judge])
            ]
            replied = method in ("generate", "cot") and judge in ("noisy", "careful")
            yield from report(
                f"{harness}/{method}/{setting}/{judge}", log, *words, task=task if replied else "",
                options=options | {"setting": setting, "method": method},
            )  # fmt: skip


def ranked(*words: object, name: str = "rank") -> Stored:
    """`rank` as text, Markdown and files."""
    yield from printed(name, "rank", *words, "--out", name, "--csv", f"{name}.csv", "--json", f"{name}.json")
    yield from files(name)
    yield from file(f"{name}.csv")
    yield from file(f"{name}.json")


def both(name: str, *words: object) -> Stored:
    """A command as text, Markdown and JSON."""
    yield from printed(name, *words, "--json", f"{name}.json")
    yield from file(f"{name}.json")
