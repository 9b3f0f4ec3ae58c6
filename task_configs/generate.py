"""Write lm-eval's YAML files and Inspect's task file of each benchmark from its record.

    python task_configs/generate.py

Both are committed, so that lm-eval, `inspect list` and editors read plain files. A test says when they are stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from personafeedback_tasks.common.files import write
from personafeedback_tasks.engine.benchmark import Benchmark, Method, Metric, benchmarks

HERE = Path(__file__).resolve().parent
ROOM = "personafeedback_tasks.lm_eval_harness"
WRITTEN = "written by task_configs/generate.py from the benchmark's record"


def yaml_files(benchmark: Benchmark) -> dict[str, str]:
    """File name -> text, of all lm-eval tasks and groups of a benchmark."""
    found = {}
    leaves = [name for name in benchmark.selections if name in benchmark.cells] if benchmark.sums else []
    leaves = leaves or list(benchmark.selections)
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


def _name(kind: str, method: Method) -> str:
    return "_" + "_".join(part for part in (kind, method.suffix, "yaml") if part)


def _default(benchmark: Benchmark, method: Method) -> str:
    """What all leaves of a method share."""
    text = method.read is not None
    lines = [
        f"# Shared by all cells; {WRITTEN}.",
        f"class: !function {ROOM}.task.BenchmarkTask",
        f"dataset_path: {benchmark.report.card.dataset if benchmark.report.card else benchmark.name}",
        "test_split: test",
        f"output_type: {'generate_until' if text else 'multiple_choice'}",
    ]
    if text:
        lines += [
            "generation_kwargs:",
            '  # As good as no stop string: an empty list would be sent as "stop": [], which some OpenAI-compatible servers refuse.',
            '  until: ["<|endoftext|>"]',
            f"  max_gen_toks: {method.room}",
            "  do_sample: false",
            "  temperature: 0.0",
        ]
    else:
        lines.append(f"doc_to_choice: [{', '.join(f'{chr(34)}{label}{chr(34)}' for label in benchmark.labels)}]")
    lines += ["filter_list:", "  - name: none", "    filter:", "      - function: take_first"]
    if text and not method.described:  # what is measured stays text
        lines += [
            f"      - function: !function {ROOM}.metrics.ReadReply",
            f"        benchmark: {benchmark.name}",
            f"        method: {method.name}",
        ]
    lines += ["num_fewshot: 0", "metric_list:"]
    for metric in method.metrics_in("lm-eval"):
        if method.several:
            lines += _metric(metric.name, "mean_of_cases", metric.higher_is_better)
        elif metric.defined:
            lines += _metric(metric.name, "mean", metric.higher_is_better)
        else:
            lines += _metric(
                metric.name, "mean", metric.higher_is_better, "undefined (nan) for some cases, which are left out"
            )
    if benchmark.report.primary in {metric.name for metric in method.metrics}:
        lines += _metric(f"{benchmark.report.primary}_stderr_clustered", "user_stderr", None)
    for name in benchmark.corpus:
        lines += _metric(name, "over_cases", None if name in benchmark.undirected else True) + _metric(
            f"{name}_stderr_clustered", "over_cases_stderr", None
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
    """What all groups of a method share: the metrics whose denominator is the case, which alone can be pooled."""
    lines = [f"# Weighted by cases; {WRITTEN}.", "aggregate_metric_list:"]
    for metric in filter(_poolable, method.metrics):
        lines += [f"  - metric: {metric.name}", "    aggregation: mean", "    weight_by_size: true"]
    return "\n".join([*lines, "metadata:", f'  version: "{benchmark.version}"', ""])


def _poolable(metric: Metric) -> bool:
    return metric.defined


def _group(benchmark: Benchmark, method: Method, task: str, narrowed: Mapping[str, str]) -> str:
    cells = [cell for cell in benchmark.cells if narrowed.items() <= benchmark.selections[cell].items()]
    lines = [f"include: {_name('group', method)}", f"group: {task}", "task:"]
    return "\n".join([*lines, *(f"  - {benchmark.task(cell, method.suffix)}" for cell in cells), ""])


def inspect_file(benchmark: Benchmark) -> str:
    """The text of the benchmark's file in inspect_tasks/."""
    fixed = [None, *(method for method in benchmark.methods.values() if method.tasks)]
    return "\n".join(
        [
            _head(benchmark),
            *(_task(benchmark, selection, method) for method in fixed for selection in benchmark.selections),
        ]
    )


def _head(benchmark: Benchmark) -> str:
    return f'''"""The {benchmark.title} tasks of Inspect, under the same names as in lm-eval.

{WRITTEN[0].upper()}{WRITTEN[1:]}.

Run one by name or, from a checkout, by path:

    inspect eval personafeedback_tasks/{benchmark.task(list(benchmark.selections)[-1])} --model openai/gpt-4o
    inspect eval inspect_tasks/{benchmark.name}.py@{benchmark.task(list(benchmark.selections)[-1])} --model openai/gpt-4o
"""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task
'''


def _task(benchmark: Benchmark, selection: str, method: Method | None) -> str:
    """The function of a task.

    Args:
        method: the one that its name says; None leaves it to an option.
    """
    options = [one for one in _parameters(benchmark) if method is None or one[0] != "method"]
    narrowing = _narrowing(benchmark) if not selection else {}
    parameters = [
        *(f"    {name}: Literal[{_quoted(values)}] | None = None," for name, values in narrowing.items()),
        *(f"    {name}: {kind} = {_literal(default)}," for name, kind, default, _ in options),
        "    **unknown: Any,",
    ]
    where = f"the cases of {selection.replace('_', ' ')}" if selection else "all cases"
    where += ", or those of one part" if narrowing else ""
    where += f"; {method.help}" if method else ""
    documented = [
        *(f"        {name}: one of these alone." for name in narrowing),
        *(f"        {name}: {help}." for name, _, _, help in options),
        "        unknown: refused; Inspect would leave them out.",
    ]
    fixed = f', "{method.name}"' if method else ""
    return "\n".join(
        [
            "", "@task", f"def {benchmark.task(selection, method.suffix if method else '')}(", *parameters, ") -> Task:",
            f'    """{benchmark.title}: {where}.', "", *([f"    {benchmark.public}", ""] if benchmark.public else []),
            "    Args:", *documented, '    """',
            f'    return build_task("{benchmark.name}", "{selection}", locals(){fixed})', "",
        ]
    )  # fmt: skip


def _narrowing(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """What a selection may name -> its values."""
    found: dict[str, dict[str, None]] = {}
    for narrowed in benchmark.selections.values():
        for name, value in narrowed.items():
            found.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in found.items()}


def _parameters(benchmark: Benchmark) -> Iterator[tuple[str, str, Any, str]]:
    """(name, type, default, help) of each option."""
    for option in fields(benchmark.options):
        values = option.metadata["values"]
        kind, default = str(option.type), option.default
        if option.name == "method":
            kind = f"Literal[{_quoted(m.name for m in benchmark.methods.values() if 'inspect' in m.harnesses)}]"
        elif values:
            kind = f"Literal[{_quoted(values())}]"
        elif option.metadata["parse"]:  # users write text or a list
            kind, default = "str | list[str] | None", default or None
        yield option.name, kind, default, option.metadata["help"]


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _quoted(values: Any) -> str:
    return ", ".join(f'"{value}"' for value in values)


def files() -> dict[Path, str]:
    """Every file that is written -> its text."""
    found = {}
    groups: dict[str, list[Benchmark]] = {}
    for benchmark in benchmarks().values():
        groups.setdefault(benchmark.group, []).append(benchmark)
        found |= {HERE / benchmark.name / name: text for name, text in yaml_files(benchmark).items()}
        found[HERE.parent / "inspect_tasks" / f"{benchmark.name}.py"] = inspect_file(benchmark)
    for group, members in groups.items():
        if group:
            found[HERE / group / f"_{group}.yaml"] = _group_of_benchmarks(group, members)
            found[HERE.parent / "inspect_tasks" / f"{group}.py"] = _source(group, members)
    return found


def _group_of_benchmarks(group: str, members: Sequence[Benchmark]) -> str:
    """Several benchmarks as one task of lm-eval. They have no score in common."""
    return "\n".join(
        [
            f"# {WRITTEN[0].upper()}{WRITTEN[1:]}s.",
            f"group: {group}",
            "task:",
            *(f"  - {one.name}" for one in members),
            "",
        ]
    )


def _source(group: str, members: Sequence[Benchmark]) -> str:
    """The same for Inspect: a source of tasks, with the options that all members have."""
    common = [
        one
        for one in _parameters(members[0])
        if all(one in list(_parameters(other)) for other in members) and one[0] != "method"
    ]
    names = [one.name for one in members]
    arguments = ", ".join(f"{name}={name}" for name, *_ in common)
    return "\n".join(
        [
            f'"""All of {group} in one run of Inspect, as in lm-eval.', "", f"{WRITTEN[0].upper()}{WRITTEN[1:]}s.", "",
            f"    inspect eval personafeedback_tasks/{group} --model openai/gpt-4o", '"""', "",
            "from typing import Literal", "", "from inspect_ai import TaskSource, task_source",
            *(f"from personafeedback_tasks.inspect_tasks.{name} import {name}" for name in names), "", "", "@task_source", f"def {group}(",
            *(f"    {name}: {kind} = {_literal(default)}," for name, kind, default, _ in common), ") -> TaskSource:",
            f'    """{", ".join(names[:-1])} and {names[-1]}.', "", "    Args:",
            *(f"        {name}: {help}." for name, _, _, help in common), '    """', "    return TaskSource.from_tasks(",
            "        [", *(f"            {name}({arguments})," for name in names), "        ]", "    )", "",
        ]
    )  # fmt: skip


if __name__ == "__main__":
    for path, text in files().items():
        write(path, text)
