"""Whole runs of both harnesses over the General half, relative to a bare task that does the minimum.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_harness.py [lm_eval_generate] [lm_eval_mc] [inspect]

Each contestant is its own process. Contestants alternate; the result is the median of five rounds. Floors:

- lm-eval: a YAML task over a JSON file of ready-made prompts, one document per request, `--model dummy`.
- Inspect: the same number of samples, each making the same two calls with ready-made strings, with a model that answers
  at once.

lm-eval also runs the task as most people would write it: Jinja templates, every case twice in the file.
Bounds: wall time, peak memory and (Inspect) log size at most 1.10 times the floor's.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from personafeedback_tasks.choice.orders import CHOSEN_LETTER, ORDERS, TWO
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.wordings import WORDINGS

ROUNDS = int(os.environ.get("ROUNDS", "5"))
HERE = Path(__file__).parent


@dataclass
class Measure:
    wall: float  # seconds
    cpu: float  # seconds of the process, less affected by other work on the machine
    memory: float  # MiB, peak resident
    log: float  # MiB on disk, 0 where nothing is written


def run(command: list[str], cwd: Path, log_glob: str) -> Measure:
    for old in cwd.glob(log_glob):
        old.unlink()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    start = time.perf_counter()
    with open(cwd / "output", "wb") as output:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit((cwd / "output").read_text()[-3000:])
    size = sum(path.stat().st_size for path in cwd.glob(log_glob)) / 2**20
    return Measure(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, size)


def race(title: str, contestants: dict[str, list[str]], cwd: Path, log_glob: str = "none/*") -> None:
    """Print the median of every contestant and its ratio to the one named floor."""
    measures: dict[str, list[Measure]] = {name: [] for name in contestants}
    for round_ in range(ROUNDS):
        names = list(contestants)
        for name in names[round_ % len(names) :] + names[: round_ % len(names)]:
            measures[name].append(run(contestants[name], cwd, log_glob))
    medians = {
        name: Measure(*(statistics.median(getattr(m, key) for m in rows) for key in ("wall", "cpu", "memory", "log")))
        for name, rows in measures.items()
    }
    floor = medians["floor"]
    print(f"\n{title}, median of {ROUNDS}\n")
    print(
        "| task | wall s | ratio | CPU s | ratio | memory MiB | ratio | log MiB | ratio |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name, m in medians.items():
        log = f"{m.log:.1f} | {m.log / floor.log:.2f}" if floor.log else "- | -"
        print(
            f"| {name} | {m.wall:.1f} | {m.wall / floor.wall:.2f} | {m.cpu:.1f} | {m.cpu / floor.cpu:.2f} | {m.memory:.0f} | {m.memory / floor.memory:.2f} | {log} |"
        )


def lm_eval(folder: Path, task: str) -> list[str]:
    return [
        sys.executable, "-c",
        # `--model dummy` looks its tokenizer up on the Hub when results are written; without --output_path it does not.
        "from lm_eval.__main__ import cli_evaluate; cli_evaluate()",
        "run", "--model", "dummy", "--tasks", task, "--include_path", str(folder),
    ]  # fmt: skip


def lm_eval_race(method: str, folder: Path) -> None:
    cases = load_cases(category="general")
    requests, plain = folder / "requests.jsonl", folder / "plain.jsonl"
    with open(requests, "w", encoding="utf-8") as ready, open(plain, "w", encoding="utf-8") as raw:
        for case in cases:
            for order in ORDERS:
                target = CHOSEN_LETTER[order]
                text = prompts.build(case, prompts.Template(), order)
                ready.write(json.dumps({"prompt": text, "target": target}, ensure_ascii=False) + "\n")
                a, b = TWO.shown(case.responses, order)
                row = {"persona": case.persona.text, "question": case.question, "a": a, "b": b, "target": target}
                raw.write(json.dumps(row, ensure_ascii=False) + "\n")
    instructions, ask = WORDINGS["v1"]["zh"].with_persona, WORDINGS["v1"]["zh"].ask
    jinja = (
        f"{instructions}\n\n<persona>\n{{{{persona}}}}\n</persona>\n\n<question>\n{{{{question}}}}\n</question>\n\n"
        "<response_A>\n{{a}}\n</response_A>\n\n<response_B>\n{{b}}\n</response_B>\n\n" + ask
    )
    output = "multiple_choice" if method == "mc" else "generate_until"
    for name, file, text in (("floor", requests, "prompt"), ("jinja", plain, jinja)):
        config = {
            "task": f"bare_{name}", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(file)}},
            "test_split": "test", "output_type": output, "doc_to_text": text, "doc_to_target": "target", "num_fewshot": 0,
            "metric_list": [{"metric": "acc" if method == "mc" else "exact_match", "aggregation": "mean", "higher_is_better": True}],
        }  # fmt: skip
        if method == "mc":
            config["doc_to_choice"] = ["A", "B"]
        else:
            config["generation_kwargs"] = {"until": ["<|endoftext|>"], "max_gen_toks": 1024, "do_sample": False}
        (folder / f"{name}.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    suffix = "_mc" if method == "mc" else ""
    contestants = {
        "ours": lm_eval(task_configs(), f"personafeedback_general{suffix}"),
        "floor": lm_eval(folder, "bare_floor"),
        "jinja, documents doubled": lm_eval(folder, "bare_jinja"),
    }
    race(f"lm-eval, {method}, {len(cases):,} cases", contestants, folder)


def inspect_race(folder: Path) -> None:
    cases = load_cases(category="general")
    rows = [
        [case.id, case.question, *(prompts.build(case, prompts.Template(), order) for order in ORDERS)]
        for case in cases
    ]
    (folder / "requests.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    options = ["--model", "instant/x", "--display", "none", "--log-dir", "logs"]
    command = [sys.executable, str(HERE / "instant.py"), "eval"]
    contestants = {
        "ours": [*command, "personafeedback_tasks/personafeedback_general", *options],
        "floor": [*command, f"{HERE / 'instant.py'}@bare", *options, "-T", f"requests={folder / 'requests.json'}"],
    }
    race(f"Inspect, {len(cases):,} cases", contestants, folder, "logs/*.eval")


def main() -> None:
    wanted = sys.argv[1:] or ["lm_eval_generate", "lm_eval_mc", "inspect"]
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            if name == "inspect":
                inspect_race(Path(folder))
            else:
                lm_eval_race(name.removeprefix("lm_eval_"), Path(folder))


if __name__ == "__main__":
    main()
