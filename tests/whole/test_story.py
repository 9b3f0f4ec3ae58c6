"""The story of the README, from runs to a card: its lines as printed, with a server on loopback."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from unittest.mock import patch

import pytest
from inspect_ai.model import _model
from support.documents import DOCS, README, block, run_as_printed, section
from support.environments import Venv
from support.judges import readable, who_asks
from support.one_task import leave_one_task
from support.servers import serving

from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS, SAMPLE_CASES_PER_CELL

pytestmark = pytest.mark.slow

SETTINGS = ("persona", "no_persona", "other_persona")
ADDRESS = "http://localhost:8000/v1"
SMALL = dict.fromkeys(PAPER_COUNTS, SAMPLE_CASES_PER_CELL)
"""With it a card takes runs on the sample: the smallest cell of the release has a thousand cases."""


@pytest.fixture
def data(tmp_path) -> Path:
    """A release that calls itself one, with the texts of the sample."""
    sample = str(files("personafeedback_tasks.personafeedback") / "sample")
    return Path(shutil.copytree(sample, tmp_path / "release"))


def lines(page: Path, name: str) -> list[str]:
    return block(page, name).replace("\\\n", " ").splitlines()


def check_story(harness: str, run: Callable[[list[str]], str], folder: Path) -> None:
    """Each harness leaves its log; what follows from it is tried with that of Inspect."""
    asked = {p: who for setting in SETTINGS for p, who in who_asks(load_cases("sample"), setting).items()}
    with serving(readable, asked) as server:
        printed = lines(README, f"story: {harness}")
        assert any(ADDRESS in line for line in printed)
        run([line.replace(ADDRESS, server.url) for line in printed])
    logs = [path for path in (folder / "logs/qwen").rglob("*") if re.search(r"\.eval$|/results_.*\.json$", str(path))]
    assert len(logs) == 1
    if harness == "lm-eval":
        return
    ranking = run(lines(README, "story: rank"))
    for line in lines(README, "story: excerpt"):
        if not re.match(r"[\d!]", line):
            assert set(line.split()) <= set(ranking.split()), line
    assert (folder / "ranking" / "ranking.html").is_file()
    run(lines(README, "story: card"))
    card = (folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    for said in ("| persona gain (points) |", "| right minus wrong (points) |", "Qwen/Qwen2.5-7B-Instruct"):
        assert said in card


@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_the_story_runs_as_printed(harness, data, tmp_path, monkeypatch):
    def run(printed: list[str]) -> str:
        # lm-eval's tasks are found without it here; it would change this environment
        return run_as_printed([line for line in printed if line != "personafeedback register"], monkeypatch)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSONAFEEDBACK_DATA", str(data))
    monkeypatch.setenv("COLUMNS", "200")
    with patch.dict(PAPER_COUNTS, SMALL), patch.dict(_model._models, clear=True):
        check_story(harness, run, tmp_path)


@pytest.mark.release
def test_the_story_runs_in_an_environment_with_the_extras_that_it_installs(wheel, data, tmp_path):
    (extras,) = re.findall(r"^pip install '\.(\[.*?\])'$", section(README, "Run it"), re.M)
    venv = Venv.create(tmp_path)
    venv.install(f"{wheel}{extras}")
    leave_one_task(venv.site_packages)
    # By PYTHONPATH, since the Python of some systems has a sitecustomize of its own.
    (venv.site_packages / "sitecustomize.py").write_text(
        f"from personafeedback_tasks.personafeedback.release import PAPER_COUNTS\nPAPER_COUNTS.update({SMALL})\n",
        "utf-8",
    )
    for harness in ("lm-eval", "inspect"):
        folder = venv.home / harness
        folder.mkdir()

        def run(printed: list[str], place: str = harness) -> str:
            words = "\n".join(["set -e", f"cd {place}", *printed])
            done = venv.run(words, PERSONAFEEDBACK_DATA=str(data), PYTHONPATH=str(venv.site_packages))
            assert done.returncode == 0, words + done.stdout[-3000:] + done.stderr[-3000:]
            return done.stdout

        check_story(harness, run, folder)
    view, bundle = lines(DOCS / "page.md", "inspect's viewer")
    assert view == "inspect view --log-dir logs"  # which starts a server and does not end
    run([bundle])
    assert (folder / "site" / "index.html").is_file()
    assert len(list((folder / "site" / "logs").rglob("*.eval"))) == 1
