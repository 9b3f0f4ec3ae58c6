"""The story of the README, from runs to a verdict: its lines as printed, in an environment of its own and with a server on loopback."""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("lm_eval")

from pytest_httpserver import HTTPServer
from support.documents import DOCS, README, block, needs_checkout, section
from support.environments import Venv
from support.judges import readable
from support.one_task import leave_one_task
from support.releases import small_paper
from support.servers import providers
from support.shared import built_once

from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import SAMPLE_CASES_PER_CELL

pytestmark = [pytest.mark.slow, needs_checkout]

SETTINGS = ("persona", "no_persona", "other_persona")
ADDRESS = "http://localhost:8000/v1"


@pytest.fixture(scope="module", params=["linked", pytest.param("installed", marks=pytest.mark.release)])
def venv(request, tmp_path_factory) -> Venv:
    """What these tests run in; before a release, the wheel with the extras that the story installs."""
    (extras,) = re.findall(r"^pip install '\.(\[.*?\])'$", section(README, "Run it"), re.M)

    def build(root: Path) -> None:
        if request.param == "linked":
            made = Venv.linked(root)
        else:
            made = Venv.create(root)
            made.install(f"{request.getfixturevalue('wheel')}{extras}")
            leave_one_task(made.site_packages)
        small_paper(made.site_packages, SAMPLE_CASES_PER_CELL)  # the smallest cell of the release has a thousand cases

    return Venv(built_once(tmp_path_factory, f"story-{request.param}", build))


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A release that calls itself one, with the texts of the sample."""
    return Path(
        shutil.copytree(
            str(files("personafeedback_tasks.personafeedback") / "sample"), tmp_path_factory.mktemp("data") / "release"
        )
    )


@pytest.fixture(scope="module")
def address():
    with HTTPServer(host="127.0.0.1") as server:
        providers(server, load_cases("sample"), readable, SETTINGS)
        yield server.url_for("/v1")


@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_the_story_runs_as_printed(harness, venv, data, address):
    """Each harness leaves its log. What follows from it, and publishing the logs of Inspect, is tried once."""
    folder = venv.home / harness
    folder.mkdir(exist_ok=True)

    def run(lines: str) -> str:
        # By PYTHONPATH, since the Python of some systems has a sitecustomize of its own.
        done = venv.run(
            f"set -e; cd {harness}\n{lines}", PERSONAFEEDBACK_DATA=str(data), PYTHONPATH=str(venv.site_packages)
        )
        assert done.returncode == 0, lines + done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    printed = block(README, f"story: {harness}")
    assert ADDRESS in printed
    run(printed.replace(ADDRESS, address))
    logs = [path for path in (folder / "logs/qwen").rglob("*") if re.search(r"\.eval$|/results_.*\.json$", str(path))]
    assert len(logs) == 1
    if harness == "lm-eval":
        return

    ranking = run(block(README, "story: rank"))
    for line in block(README, "story: excerpt").splitlines():
        if not re.match(r"\d", line):
            assert set(line.split()) <= set(ranking.split()), line
    assert {path.name for path in (folder / "ranking").iterdir()} >= {"index.html"}

    run(block(README, "story: card"))
    card = (folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "| persona gain |" in card
    assert "| right minus wrong |" in card
    assert "Qwen/Qwen2.5-7B-Instruct" in card

    view, bundle = block(DOCS / "page.md", "inspect's viewer").splitlines()
    assert view == "inspect view --log-dir logs"  # which starts a server and does not end
    if "installed" not in venv.home.parent.name + venv.home.name:  # it copies Inspect's whole viewer
        return
    run(bundle)
    assert (folder / "site" / "index.html").is_file()
    assert len(list((folder / "site" / "logs").rglob("*.eval"))) == 1
