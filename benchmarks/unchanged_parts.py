"""The parts of `unchanged.py`: each runs something as users do, in an empty folder, and yields (name of a file, its text).

Nothing here imports a module of the package: runs go through the harnesses by the names of tasks, all else through the commands. What
a version may refuse is not tried. So an exception, or a command that ends in an error, is a fault of this script or of the package, and
no part hides one; a refusal that is looked at is asked for with `exits`.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
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

Stored = Iterator[tuple[str, str]]
Options = dict[str, Any]

HARD = "personafeedback_general_hard"
SETTINGS = ("persona", "no_persona", "other_persona")
TEXTS = {".md", ".json", ".jsonl", ".csv", ".html", ".yaml", ".txt"}
LONG = 200
"""Of texts of a page that are longer, the beginning and a digest are stored."""


# --- commands -------------------------------------------------------------------------------------------------------------


def command(*words: object, exits: int = 0) -> str:
    """What `personafeedback ...` prints, in this process.

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
    return f"{value[:40]}... {digest(value)}" if isinstance(value, str) and len(value) > LONG else value


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=str)


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, default=str).encode()).hexdigest()[:16]


# --- runs -----------------------------------------------------------------------------------------------------------------


def in_inspect(
    name: str, task: str, model: str, options: Options, model_args: Options | None = None, **how: Any
) -> Path:
    """Run a task in Inspect; the log."""
    (log,) = inspect_eval(
        f"personafeedback_tasks/{task}", model=get_model(model, memoize=False, **(model_args or {})), task_args=options,
        log_dir=f"logs/{name}", display="none", score_display=False, **how,
    )  # fmt: skip
    if log.status != "success":
        raise RuntimeError(f"{name}: {log.status}: {log.error and log.error.message}")
    return Path(log.location).relative_to(Path.cwd())


def in_lm_eval(name: str, task: str, model: str, options: Options, **how: Any) -> Path:
    """Run a task in lm-eval; the results file."""
    folder = Path("logs", name)
    tracker = EvaluationTracker(output_path=str(folder))
    configs = command("task-configs").splitlines()[1]
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
    """`report` of a run, as text and as files; with a task, also its recorded replies, scored again."""
    yield from printed(f"{name}.report", "report", *words, "--out", f"report/{name}")
    yield from files(f"report/{name}")
    if task:
        replies = Path("replies", f"{name}.jsonl")
        replies.parent.mkdir(parents=True, exist_ok=True)
        yield from printed(f"{name}.replies", "replies", words[0], "--out", replies)
        yield from file(str(replies))
        told = [word for key, value in (options or {}).items() if key != "data" for word in ("-T", f"{key}={value}")]
        data = (options or {}).get("data", "sample")
        yield from printed(f"{name}.again", "score-replies", task, replies, "--data", data, *told)


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
    yield from printed(f"{name}_markdown", "rank", *words, "--markdown")
    yield from files(name)
    yield from file(f"{name}.csv")
    yield from file(f"{name}.json")


def both(name: str, *words: object) -> Stored:
    """A command as text, Markdown and JSON."""
    yield from printed(name, *words, "--json", f"{name}.json")
    yield from printed(f"{name}_markdown", *words, "--markdown")
    yield from file(f"{name}.json")


# --- data -----------------------------------------------------------------------------------------------------------------


def sample_folder() -> Path:
    """Of the sample that the package brings."""
    spec = find_spec("personafeedback_tasks")
    assert spec is not None
    assert spec.origin is not None
    (folder,) = {
        path.parents[2]
        for path in Path(spec.origin).parent.rglob("sample/data/general/hard.jsonl")
        if (path.parents[2] / "persona" / "Nora_s01.json").is_file()
    }
    return folder


def release() -> Path:
    """The General half of the release."""
    return Path(os.environ["PERSONAFEEDBACK_DATA"])


def subset(folder: Path, size: int) -> None:
    """Cases of each cell of General, drawn by seed, with two pieces of memory for each user."""
    drawn = random.Random(11)
    shutil.copytree(release() / "persona", folder / "persona")
    users: set[str] = set()
    for path in sorted(release().glob("data/general/*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = [lines[place] for place in sorted(drawn.sample(range(len(lines)), size))]
        users |= {json.loads(line)["user_id"] for line in kept}
        target = folder / "data" / "general" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    memories(folder, sorted(users))


def memories(folder: Path, users: Sequence[str]) -> None:
    """For `rag`: the values of each persona as what its user has read."""
    (folder / "memory").mkdir()
    for user in users:
        persona = json.loads((folder / "persona" / f"{user}.json").read_text(encoding="utf-8"))
        texts = [text for text in leaves(persona) if len(text) > 20]
        lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
        (folder / "memory" / f"{user}.jsonl").write_text(lines, encoding="utf-8")


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in leaves(item)] if isinstance(value, list) else [str(value)]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- the parts ------------------------------------------------------------------------------------------------------------

JUDGES = ("noisy", "longest", "first")


def sample() -> Stored:
    """All cells of the sample: every method, setting and judge."""
    shutil.copytree(sample_folder(), "with-memory")
    memories(Path("with-memory"), [path.stem for path in sorted(Path("with-memory/persona").glob("*.json"))])
    models.learn(sample_folder())
    made: Made = {}
    told = {"data": "sample"}
    yield from judged(made, "personafeedback", told, JUDGES, {"generate": SETTINGS})
    yield from judged(
        made, "personafeedback", told, JUDGES[:1], {"cot": SETTINGS, "mc": SETTINGS, "logprobs": SETTINGS}
    )
    yield from judged(
        made, "personafeedback", told, JUDGES[1:], {"cot": SETTINGS[:1], "mc": SETTINGS[:1], "logprobs": SETTINGS[:1]}
    )
    yield from reports(made, "personafeedback", told)
    yield from ranked("logs")


def general() -> Stored:
    """Thirty real cases of each cell of General: every method and setting, `rag` included."""
    subset(Path("part"), 30)
    models.learn(Path("part"))
    made: Made = {}
    told = {"data": "part", "counts": "any"}
    yield from judged(
        made, "personafeedback_general", told, JUDGES[:1],
        {"generate": (*SETTINGS, "rag"), "cot": (*SETTINGS, "rag"), "mc": (*SETTINGS, "rag"), "logprobs": (*SETTINGS, "rag")},
    )  # fmt: skip
    yield from judged(made, "personafeedback_general", told, JUDGES[1:], {"generate": SETTINGS[:1]})
    yield from reports(made, "personafeedback_general", told)
    yield from ranked("logs")
    noisy = made["inspect", "generate", "persona", "noisy"]
    for other in (("lm_eval", "mc", "persona", "noisy"), ("inspect", "generate", "persona", "longest")):
        yield from both(f"compare_{'_'.join(other)}", "compare", noisy, made[other])
    yield from printed("card_refused", "card", noisy, "--model-card", "CARD.md", exits=1)


def options() -> Stored:
    """Wordings, languages, hidden fields, retrieval, epochs, limits and replies that were cut off."""
    subset(Path("part"), 12)
    models.learn(Path("part"))
    told = {"data": "part", "counts": "any"}
    noisy = f"{models.NAME}/noisy"
    asked: dict[str, Options] = {
        "v1": {}, "v2": {"prompt": "v2"}, "v3": {"prompt": "v3"}, "v4": {"prompt": "v4"}, "en": {"language": "en"},
        "zh": {"language": "zh", "prompt": "v2"}, "hide": {"hide": "Name,Preference.Travel"},
        "hide_other": {"hide": "Name", "setting": "other_persona"}, "rag_3": {"setting": "rag", "k": 3},
    }  # fmt: skip
    logs = {}
    for name, more in asked.items():
        for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
            logs[harness, name] = run(f"{harness}/{name}", "personafeedback_general", noisy, told | more)
            yield from logged(f"{name}/{harness}", logs[harness, name])
    for harness in ("inspect", "lm_eval"):
        yield from report(f"{harness}/wordings", *(logs[harness, f"v{number}"] for number in range(1, 5)))
        for name in ("en", "zh", "hide", "hide_other", "rag_3"):
            yield from report(f"{harness}/{name}", logs[harness, name])
    yield from ranked("logs")
    more_logs = {
        "rag_filter": in_inspect(
            "filter", "personafeedback_general", noisy, told | {"setting": "rag", "rag_filter": True}
        ),
        "epochs": in_inspect(
            "epochs", "personafeedback_general", f"{models.NAME}/moody", told, epochs=3, max_samples=1
        ),
        "limit": in_inspect("limit", "personafeedback_general", noisy, told, limit=10),
        "cut_off": in_inspect("cut_off", HARD, noisy, told, model_args={"stop_reason": "max_tokens"}),
        "cells": in_inspect("cells", "personafeedback", noisy, told | {"category": "general", "difficulty": "medium"}),
        "limit_lm_eval": in_lm_eval("limit_lm_eval", "personafeedback_general", noisy, told, limit=4),
    }
    for name, log in more_logs.items():
        yield from logged(name, log)
        yield from report(f"more/{name}", log)


def reward() -> Stored:
    """A reward model with two outputs, in every setting that it has."""
    subset(Path("part"), 30)
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path("part").rglob("*.json*"))]
    models.reward_model(Path("model"), texts)
    made: Made = {}
    for setting in SETTINGS:
        log = in_inspect(
            f"inspect/{setting}", "personafeedback_general", "personafeedback-reward/model",
            {"data": "part", "counts": "any", "setting": setting, "method": "reward"},
            model_args={"aspects": "length,sixties"},
        )  # fmt: skip
        made["inspect", "reward", setting, "length"] = log
        yield from logged(f"{setting}/inspect", log)
    yield from reports(made, "personafeedback_general", {})
    yield from ranked("logs")
    yield from printed("replies_refused", "replies", log, "--out", "replies.jsonl", exits=1)


def hard_inspect() -> Stored:
    """General Hard as it is, in Inspect: `careful` in every setting, `longest` and `first`; their cards."""
    yield from _hard("inspect", {"generate": SETTINGS})
    made: Made = {}
    for judge in JUDGES[1:]:
        log = in_inspect(
            f"inspect/generate/persona/{judge}", HARD, f"personafeedback/{judge}", {"data": str(release())}
        )
        made["inspect", "generate", "persona", judge] = log
        yield from logged(f"generate/persona/{judge}/inspect", log)
    yield from reports(made, HARD, {})
    longest = made["inspect", "generate", "persona", "longest"]
    yield from printed("paper", "report", longest, "--paper")
    yield from printed("card_longest", "card", longest, "--model-card", "longest.md")
    yield from file("longest.md")
    yield from ranked("logs")


def hard_lm_eval() -> Stored:
    """The same of `careful` in lm-eval, and its choice by log-likelihoods."""
    yield from _hard("lm_eval", {"generate": SETTINGS, "mc": SETTINGS[:1]})
    generated, likelier = (
        max(Path("logs/lm_eval", method, "persona").rglob("results_*.json")) for method in ("generate", "mc")
    )
    yield from both("compare", "compare", generated, likelier)
    yield from ranked("logs")


def _hard(harness: str, asked: dict[str, Sequence[str]]) -> Stored:
    models.learn(release())
    told = {"data": str(release())}
    made: Made = {}
    yield from judged(made, HARD, told, ["careful"], asked, [harness])
    yield from reports(made, HARD, told)
    controls = [
        word
        for setting in SETTINGS[1:]
        for word in (f"--{setting.replace('_', '-')}", made[harness, "generate", setting, "careful"])
    ]
    log = made[harness, "generate", "persona", "careful"]
    yield from printed("card", "card", log, *controls, "--paper", "GPT-4o-mini", "--model-card", "careful.md")
    yield from file("careful.md")


STAGES = {
    "recenter_extraction": "recenter_extraction", "recenter_relevance": "recenter_relevance",
    "recenter_relevance_select": "recenter_relevance", "recenter_response": "recenter_response",
}  # fmt: skip
"""Task of a stage -> its benchmark."""


def stages() -> Stored:
    """The tasks of the three stages on their sample, their controls, constant answers and recorded replies."""
    told = {"data": "sample"}
    for task, benchmark in STAGES.items():
        model = f"{models.NAME}/{task}"
        controlled = benchmark != "recenter_extraction"
        for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
            log = run(f"{harness}/{task}", task, model, told)
            yield from logged(f"{task}/{harness}", log)
            yield from report(f"{harness}/{task}", log, task=task, options=told)
            if controlled:
                other = run(f"{harness}/{task}-control", task, model, told | {"control": "other_user"})
                yield from logged(f"{task}/{harness}-control", other)
                yield from report(f"{harness}/{task}-control", other)
    constants = {
        "recenter_extraction": "always_problematic", "recenter_relevance": "always_yes", "recenter_response": "always_4"
    }  # fmt: skip
    for task, constant in constants.items():
        log = in_inspect(f"inspect/{task}-{constant}", task, f"{task}/{constant}", told)
        yield from logged(f"{task}/{constant}", log)
    for harness in ("inspect", "lm_eval"):
        yield from printed(f"{harness}_folder", "report", f"logs/{harness}", "--out", f"all/{harness}")
        yield from files(f"all/{harness}")
    one, other = (
        max(Path("logs/inspect", name).glob("*.eval"))
        for name in ("recenter_relevance", "recenter_relevance-always_yes")
    )
    yield from both("compare", "compare", one, other)
    yield from ranked("logs")


def duel() -> Stored:
    """Two writers on the sample, in both harnesses; their duels; a judge's votes, its exam, and people's votes; a grader."""
    models.learn(sample_folder())
    written: dict[str, Path] = {}
    for name, harness, run in (("writer", "inspect", in_inspect), ("writer-two", "lm_eval", in_lm_eval)):
        for setting in SETTINGS[:2]:
            log = run(
                f"{name}/{setting}",
                "personafeedback_write",
                f"{models.NAME}/{name}",
                {"data": "sample", "setting": setting},
            )
            written[f"{name}/{setting}"] = log
            yield from logged(f"{name}/{setting}/{harness}", log)
            yield from report(f"{name}/{setting}", log)
    exams = {
        "inspect": in_inspect("exam/inspect", "personafeedback", f"{models.NAME}/steady", {"data": "sample"}),
        "lm_eval": in_lm_eval("exam/lm_eval", "personafeedback", f"{models.NAME}/steady", {"data": "sample"}),
    }
    against = {
        "chosen": (written["writer/persona"], "chosen"), "rejected": (written["writer/persona"], "rejected"),
        "other": (written["writer/persona"], written["writer-two/persona"]),
        "without": (written["writer-two/no_persona"], "rejected"),
    }  # fmt: skip
    for name, (log, other) in against.items():
        yield from printed(f"{name}.duel", "duel", log, "--against", other, "--out", f"duels/{name}")
        yield from files(f"duels/{name}")
        people(Path("duels", name), Path(f"{name}.votes.csv"))
        for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
            if harness == "lm_eval" and name in ("other", "without"):
                continue
            votes = run(
                f"judged/{harness}/{name}", "personafeedback", f"{models.NAME}/steady", {"data": f"duels/{name}"}
            )
            yield from logged(f"{name}/{harness}", votes)
            yield from report(f"{name}/{harness}", votes)
            yield from both(f"{name}_{harness}_verdict", "verdict", votes, "--exam", exams[harness])
            yield from both(
                f"{name}_{harness}_human", "verdict", votes, "--exam", exams[harness], "--human", f"{name}.votes.csv"
            )
    yield from both("verdicts", "verdict", "logs/judged/inspect", "--exam", exams["inspect"])
    for harness, exam in exams.items():
        yield from ranked(f"logs/judged/{harness}", "--exam", exam, name=f"{harness}_rank")
    grader = f"{models.NAME}/steady"
    graded = in_inspect(
        "graded", "personafeedback_write", f"{models.NAME}/writer", {"data": "sample", "against": "chosen,rejected"},
        model_roles={"grader": get_model(grader, memoize=False)},
    )  # fmt: skip
    yield from logged("graded/inspect", graded)
    yield from report("graded", graded)


def people(duels: Path, path: Path) -> None:
    """Two people's votes on every duel, one of five of them drawn by lot."""
    with path.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["case", "winner"])
        for cell in sorted(duels.glob("data/*/*.jsonl")):
            for row in rows(cell):
                for voter in "12":
                    text = voter + row["source"]
                    fair = (
                        "reply"
                        if models.worth(row["chosen"].strip()) >= models.worth(row["reject"].strip())
                        else "other"
                    )
                    drawn = models.one_of(("reply", "other", "tie"), "drawn" + text)
                    writer.writerow([row["source"], fair if models.chance(text) > 0.2 else drawn])


def build() -> Stored:
    """A set that scripted models write and scripted people vote on, from an empty folder to a run on its release."""
    root = Path("ours")
    yield from printed("init", "build", "init", root, "--name", "Our users")
    set_up(root, personas=12, specific=3, general=1, annotators=5, test=0.75)
    seeds = "".join(json.dumps({"age": 20 + number, "job": f"job {number}"}) + "\n" for number in range(14))
    (root / "seeds.jsonl").write_text(seeds, encoding="utf-8")
    pool = (f"How would anybody go about {models.words(str(number), 6)}?" for number in range(30))
    (root / "pool.jsonl").write_text(
        "".join(json.dumps({"question": question}) + "\n" for question in pool), encoding="utf-8"
    )
    writers = [word for name in ("builder", "builder-two") for word in ("--model", f"{models.NAME}/{name}")]
    yield from printed("plan", "build", "plan", root)
    for step in ("personas", "questions", "answers"):
        yield from printed(step, "build", step, root, *(writers if step == "answers" else writers[:2]))
        yield from printed(f"{step}.status", "build", "status", root)
    for form in ("html", "label-studio", "potato", "csv"):
        yield from printed(f"packs_{form}", "build", "packs", root, "--format", form)
    yield from printed("votes", "build", "votes", root, *filled_in(root, Path("sent")))
    for step in ("votes", "tiers"):
        yield from printed(f"{step}.after", "build", step, root)
    yield from printed("release", "build", "release", root, *accepted())
    yield from printed("status", "build", "status", root)
    yield from printed("training", "build", "training", root, "--benchmark", "none")
    yield from written_by(root)
    models.learn(root / "release")
    for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
        log = run(harness, "personafeedback_hard", f"{models.NAME}/steady", {"data": "ours/release"})
        yield from logged(harness, log)
        yield from report(harness, log)
    yield from printed("audit", "audit", "--data", "ours/release")
    yield from printed("card", "card", log, "--model-card", "CARD.md")
    yield from file("CARD.md")


def set_up(root: Path, **values: float) -> None:
    """Change settings of a build.yaml, which must be there."""
    path = root / "build.yaml"
    text = path.read_text(encoding="utf-8")
    for name, value in values.items():
        text, count = re.subn(rf"(?m)^{name}: [\d.]+", f"{name}: {value}", text)
        if count != 1:
            raise RuntimeError(f"{path} has {count} lines of {name}, expected one")
    path.write_text(text, encoding="utf-8")


def accepted() -> list[str]:
    return [word for name in ("longest", "overlap", "name") for word in ("--accept", name)]


def written_by(root: Path) -> Stored:
    """What the steps left in a build, without Inspect's own logs and cache."""
    for name, text in files(str(root)):
        if Path(name).relative_to(root).parts[0] not in ("logs", "cache"):
            yield name, text


def filled_in(root: Path, folder: Path) -> list[Path]:
    """The packs as annotators send them: right on the items for attention, else mostly for the better informed answer."""
    answers = {row["text"].strip(): row for row in rows(root / "answers.jsonl")}
    strategies = ("improved", "full", "masked", "question", "degraded")
    folder.mkdir()
    sent = []
    for path in sorted((root / "packs").glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as table:
            reader = csv.DictReader(table)
            lines, names = list(reader), list(reader.fieldnames or [])
        for line in lines:
            shown = {letter: answers[line[letter].strip()] for letter in "AB"}
            ranks = {letter: strategies.index(row["strategy"]) for letter, row in shown.items()}
            vote = "A" if ranks["A"] <= ranks["B"] else "B"
            asked = {letter: row["question_id"] for letter, row in shown.items()}
            if asked["A"] != asked["B"]:  # for attention: one answers another question
                own = line["question"].strip()
                vote = "A" if question_of(root, asked["A"]) == own else "B"
            elif models.chance(path.stem + line["A"]) < 0.22:
                vote = "B" if vote == "A" else "A"
            line["vote"] = vote
        target = folder / path.name
        with target.open("w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, names)
            writer.writeheader()
            writer.writerows(lines)
        sent.append(target)
    if not sent:
        raise RuntimeError(f"{root}/packs has no pack")
    return sent


def question_of(root: Path, question: str) -> str:
    with (root / "questions.csv").open(encoding="utf-8-sig", newline="") as table:
        return next(line["question"].strip() for line in csv.DictReader(table) if line["id"] == question)


def imported() -> Stored:
    """A set from pairs that exist, voted on again by models."""
    root = Path("theirs")
    with Path("pairs.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["profile", "ask", "good", "bad"])
        for row in rows(sample_folder() / "data" / "general" / "hard.jsonl"):
            persona = json.loads((sample_folder() / "persona" / f"{row['user_id']}.json").read_text(encoding="utf-8"))
            writer.writerow([json.dumps(persona, ensure_ascii=False), row["question"], row["chosen"], row["reject"]])
    yield from printed(
        "import", "build", "import", root, "--from", "pairs.csv", "--map", "persona=profile,question=ask,chosen=good,rejected=bad",
        "--name", "Their users",
    )  # fmt: skip
    yield from printed("release", "build", "release", root, *accepted())
    yield from written_by(root)
    models.learn(sample_folder())
    set_up(root, annotators=3)
    yield from printed("packs", "build", "packs", root)
    yield from printed(
        "votes", "build", "votes", root, "--votes-by", f"{models.NAME}/steady", "--votes-by", f"{models.NAME}/longest",
        "--votes-by", f"{models.NAME}/noisy",
    )  # fmt: skip
    for step in ("tiers", "status"):
        yield from printed(step, "build", step, root)
    yield from ((f"voted/{name}", text) for name, text in written_by(root))


def commands() -> Stored:
    """The commands that need no run, on the sample and on the General half."""
    general = release()
    yield from printed("paper", "paper")
    yield from printed("paper_models", "paper", "--models")
    for table in range(2, 8):
        yield from printed(f"paper_{table}", "paper", "--table", table)
    yield from printed("paper_json", "paper", "--json", "-")
    for name, words in (("sample", ("--data", "sample")), ("general", ("--data", general, "--category", "general"))):
        for of in ("audit", "baselines"):
            yield from printed(f"{of}_{name}", of, *words)
            yield from printed(f"{of}_{name}_json", of, *words, "--json", "-")
    plans: dict[str, tuple[object, ...]] = {
        "sample": ("--data", "sample"), "general": ("--data", general, "--task", "personafeedback_general"),
        "cot": ("--data", general, "--task", HARD, "--method", "cot", "--setting", "no_persona"),
        "difference": ("--data", general, "--task", HARD, "--difference", "5"),
        "write": ("--data", "sample", "--task", "personafeedback_write"),
        "stage": ("--data", "sample", "--task", "recenter_relevance_select"),
    }  # fmt: skip
    for name, words in plans.items():
        yield from printed(f"plan_{name}", "plan", *words)
        yield from printed(f"plan_{name}_json", "plan", *words, "--json", "-")
    for setting in SETTINGS:
        yield from printed(
            f"export_{setting}", "export", "--format", "rewardbench", "--setting", setting, "--data", "sample",
            "--out", f"{setting}.jsonl",
        )  # fmt: skip
        yield from file(f"{setting}.jsonl")


PARTS: dict[str, Callable[[], Stored]] = {
    "sample": sample, "general": general, "options": options, "reward": reward, "hard_inspect": hard_inspect, "hard_lm_eval": hard_lm_eval, "stages": stages, "duel": duel,
    "build": build, "imported": imported, "commands": commands,
}  # fmt: skip
