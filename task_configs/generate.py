"""Write lm-eval's YAML files of each benchmark from its record.

    python task_configs/generate.py
    python -m personafeedback_tasks.task_configs.generate NAME FOLDER

They are committed, so that lm-eval and editors read plain files. A test says when they are stale. The second line writes those of one
benchmark, which another package may have registered, into a folder for `--include_path`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from personafeedback_tasks.common.files import write
from personafeedback_tasks.core.benchmark import Benchmark, benchmarks, find
from personafeedback_tasks.core.method import Method, ReplyMethod

HERE = Path(__file__).resolve().parent
ROOM = "personafeedback_tasks.lm_eval_harness"
WRITTEN = "written by task_configs/generate.py from the benchmark's record"


def yaml_files(benchmark: Benchmark) -> dict[str, str]:
    """File name -> text, of all lm-eval tasks and groups of a benchmark."""
    found = {}
    leaves = _leaves(benchmark.cells, benchmark.selections) or list(benchmark.selections)
    for method in benchmark.methods.values():
        if "lm-eval" in method.harnesses:
            found[_name("default", method)] = _default(benchmark, method)
            if len(leaves) < len(benchmark.selections):
                found[_name("group", method)] = _group_defaults(benchmark, method)
            for selection, narrowed in benchmark.selections.items():
                task = benchmark.task(selection, method.suffix)
                if selection in leaves:
                    found[f"{task}.yaml"] = _leaf(benchmark, method, task, narrowed)
                else:
                    found[f"_{task}.yaml"] = _group(benchmark, method, task, narrowed)
    return found


def _leaves(cells: Sequence[str], selections: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The selections that are one cell each, which lm-eval can make groups of; none where a selection is only a part of a cell."""
    cells_alone = [name for name in selections if name in cells]
    in_part = any(
        narrowed.items() > selections[cell].items() for narrowed in selections.values() for cell in cells_alone
    )
    return [] if in_part else cells_alone


def _name(kind: str, method: Method) -> str:
    return "_" + "_".join(part for part in (kind, method.suffix, "yaml") if part)


def _default(benchmark: Benchmark, method: Method) -> str:
    """What all leaves of a method share."""
    text = isinstance(method, ReplyMethod)
    lines = [
        f"# Shared by all cells; {WRITTEN}.",
        f"class: !function {ROOM}.task.BenchmarkTask",
        f"dataset_path: {benchmark.report.card.dataset if benchmark.report.card else benchmark.name}",
        "tag: personalization",
        "test_split: test",
        f"output_type: {'generate_until' if text else 'multiple_choice'}",
    ]
    if text:
        lines += [
            "generation_kwargs:",
            '  # As good as no stop string: an empty list would be sent as "stop": [], which some OpenAI-compatible servers refuse.',
            '  until: ["<|endoftext|>"]',
            f"  max_gen_toks: {method.max_tokens}",
            "  do_sample: false",
            "  temperature: 0.0",
        ]
    else:
        lines.append(f"doc_to_choice: [{', '.join(f'{chr(34)}{label}{chr(34)}' for label in benchmark.labels)}]")
    lines += ["filter_list:", "  - name: none", "    filter:", "      - function: take_first"]
    lines += ["num_fewshot: 0", "metric_list:"]
    aggregation = "mean_of_cases" if method.groups else "mean"
    for metric in method.metrics_in("lm-eval"):
        why = "" if method.groups or metric.defined else "undefined (nan) for some cases, which are left out"
        lines += _metric(metric.name, aggregation, metric.higher_is_better, why)
    if (primary := benchmark.primary(method)) in {metric.name for metric in method.metrics}:
        lines += _metric(f"{primary}_stderr", "user_stderr", None)
    for name in benchmark.corpus:
        lines += _metric(name, "over_cases", benchmark.report.line(name).higher_is_better) + _metric(
            f"{name}_stderr", "over_cases_stderr", None
        )
    return "\n".join([*lines, "metadata:", f'  version: "{benchmark.version}"', ""])


def _metric(name: str, aggregation: str, better: bool | None, why: str = "") -> list[str]:
    ours = bool(why) or aggregation != "mean"
    return [
        f"  - metric: {name}",
        f"    aggregation: {f'!function {ROOM}.metrics.{aggregation}' if ours else aggregation}{f' # {why}' if why else ''}",
        f"    higher_is_better: {'null' if better is None else str(better).lower()}",
    ]


def _leaf(benchmark: Benchmark, method: Method, task: str, narrowed: Mapping[str, str]) -> str:
    lines = [
        f"include: {_name('default', method)}",
        f"task: {task}",
        "dataset_kwargs:",
        f"  benchmark: {benchmark.name}",
    ]
    return "\n".join(
        [*lines, f"  method: {method.name}", *(f"  {name}: {value}" for name, value in narrowed.items()), ""]
    )


def _group_defaults(benchmark: Benchmark, method: Method) -> str:
    """What all groups of a method share: the metrics whose denominator is the case, which alone can be pooled.

    A group may name what no leaf has: lm-eval leaves it out without a word. So those of a run of several settings are among them.
    """
    lines = [f"# Weighted by cases; {WRITTEN}.", "aggregate_metric_list:"]
    names = [metric.name for metric in method.metrics_in("lm-eval") if metric.defined]
    for name in (*names, *benchmark.of_several(method, ["", *benchmark.setting_values])):
        lines += [f"  - metric: {name}", "    aggregation: mean", "    weight_by_size: true"]
    return "\n".join([*lines, "metadata:", f'  version: "{benchmark.version}"', ""])


def _group(benchmark: Benchmark, method: Method, task: str, narrowed: Mapping[str, str]) -> str:
    cells = [cell for cell in benchmark.cells if narrowed.items() <= benchmark.selections[cell].items()]
    lines = [f"include: {_name('group', method)}", f"group: {task}", "task:"]
    return "\n".join([*lines, *(f"  - {benchmark.task(cell, method.suffix)}" for cell in cells), ""])


def files() -> dict[Path, str]:
    """Every file that is written -> its text."""
    return {
        HERE / benchmark.name / name: text
        for benchmark in benchmarks().values()
        for name, text in yaml_files(benchmark).items()
    }


def main(arguments: Sequence[str]) -> None:
    """Write the files of all benchmarks here, or those of one benchmark into a folder."""
    if not arguments:
        found = files()
    elif len(arguments) == 2:
        name, folder = arguments
        Path(folder).mkdir(parents=True, exist_ok=True)
        found = {Path(folder) / file: text for file, text in yaml_files(find(name)).items()}
    else:
        raise SystemExit("Pass nothing, or the name of a benchmark and a folder.")
    for path, text in found.items():
        write(path, text)


if __name__ == "__main__":
    main(sys.argv[1:])
