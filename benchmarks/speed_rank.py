"""`personafeedback rank` on twenty runs of all 8,298 cases, ten from each harness.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_rank.py

One run of each harness is made; the others are copies under other models' names, whose replies are read and checked like
those of any log. Prints the seconds and the peak memory. Bounds: 60 s and 1 GB.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from pathlib import Path

import inspect_ai.log  # noqa: F401 - its logs are compressed as zipfile alone cannot read
from speed_report import row, write_logs

COPIES = 10


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_logs(folder)
        for number in range(COPIES):
            copy_inspect(
                next((folder / "inspect").glob("*.eval")), folder / "runs" / f"{number}.eval", f"model/i{number}"
            )
            copy_lm_eval(folder / "lm_eval", folder / "runs" / f"lm{number}", f"model/l{number}")
        print("| command, median of 3 | seconds | MiB |\n|---|---|---|")
        row(f"rank, {2 * COPIES} runs", folder, "rank", folder / "runs", "--data", folder / "release")


def copy_inspect(log: Path, to: Path, model: str) -> None:
    """The same samples, of another model."""
    to.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(log) as source, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for member in source.infolist():
            content = source.read(member)
            if member.filename in ("header.json", "_journal/start.json"):
                changed = json.loads(content)
                changed["eval"] |= {"model": model, "task_id": model, "eval_id": model}
                content = json.dumps(changed).encode()
            target.writestr(member.filename, content)


def copy_lm_eval(results: Path, to: Path, model: str) -> None:
    """The same samples, of another model."""
    shutil.copytree(next(results.rglob("results_*.json")).parent, to)
    file = next(to.glob("results_*.json"))
    changed = json.loads(file.read_text(encoding="utf-8"))
    changed["config"]["model_args"] = {"pretrained": model}
    file.write_text(json.dumps(changed), encoding="utf-8")


if __name__ == "__main__":
    main()
