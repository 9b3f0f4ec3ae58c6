"""The install lines of README and docs/, as plain pip resolves them. A dry run installs nothing."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import metadata
from pathlib import Path

import pytest
from support.documents import DOCS, README, text
from support.environments import Venv

TEN_MINUTES = 600
pytestmark = [pytest.mark.release, pytest.mark.slow]


def documented_extras() -> set[str]:
    """`[inspect]` of `pip install '.[inspect]'`, and so on."""
    return {
        extras
        for page in (README, *DOCS.glob("*.md"))
        for extras in re.findall(r"pip install '\.(\[[^']+\])'", text(page))
    }


@pytest.fixture
def venv(tmp_path: Path) -> Venv:
    """The newest pip, and what most often keeps it from an answer: torch and the newest fsspec are there already.

    Torch is only said to be there. Where an index has no metadata, a dry run downloads 2 GB of torch and CUDA.
    """
    venv = Venv.create(tmp_path)
    updated = venv.run("uv pip install -q --upgrade pip fsspec")
    assert updated.returncode == 0, updated.stderr
    torch = venv.site_packages / "torch-2.13.0.dist-info"
    torch.mkdir()
    (torch / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n", encoding="utf-8")
    return venv


def tried(venv: Venv, requirement: str) -> set[str]:
    """The packages of which pip tried several versions. No answer in ten minutes is an error."""
    done = subprocess.run(
        [venv.root / "bin" / "python", "-m", "pip", "install", "--dry-run", requirement],
        cwd=venv.home, capture_output=True, text=True, timeout=TEN_MINUTES, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Would install" in done.stdout
    return set(re.findall(r"looking at multiple versions of (\S+)", done.stdout))


def test_pip_resolves_every_line_without_a_search(venv, wheel):
    """inspect-ai alone has pip try some versions of AWS packages, which takes seconds. Ours must add nothing to that."""
    lines = documented_extras()
    assert "[inspect]" in lines
    with ThreadPoolExecutor(2) as two:
        alone = two.submit(tried, venv, "inspect-ai")
        ours = {extras: two.submit(tried, venv, f"{wheel}{extras}") for extras in lines}
        added = {extras: result.result() - alone.result() for extras, result in ours.items()}
    assert not any(added.values()), added


def test_one_line_installs_every_extra():
    extras = set(metadata("personafeedback-tasks").get_all("Provides-Extra"))
    everything = max(documented_extras(), key=len).strip("[]").split(",")
    of_all = {"lm-eval", "inspect", "api", "openai", "anthropic", "report", "retrieval"}
    assert {*everything, *of_all, "test"} == extras
