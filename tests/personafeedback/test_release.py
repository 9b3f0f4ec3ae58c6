"""Finding the release: folder, sample or Hub."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.releases import ENVIRONMENT_VARIABLE

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.personafeedback import release
from personafeedback_tasks.personafeedback.cases import CATEGORIES, DIFFICULTIES
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION, PAPER_COUNTS, locate

CELLS = {
    f"{category}/{difficulty}": [{"user_id": "u1", "question": "?", "chosen": "yes", "reject": "no"}]
    for category in CATEGORIES
    for difficulty in DIFFICULTIES
}
PERSONAS = {"u1": {"Name": "Ann"}}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(make_release) -> Path:
    return make_release(CELLS, PERSONAS)


@pytest.fixture
def hub(folder, monkeypatch):
    """Replace the Hub client by a recorder that serves `folder` as a snapshot."""
    import huggingface_hub

    calls = []

    def snapshot_download(*arguments, **options):
        calls.append((arguments, options))
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    release._fetch.cache_clear()
    yield calls
    release._fetch.cache_clear()


def test_an_explicit_folder_goes_before_the_environment(folder, make_release, monkeypatch):
    other = make_release(CELLS, PERSONAS)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(other))
    assert locate(folder).root == folder
    assert locate().root == other


@pytest.mark.parametrize("name", ["nowhere", "a/b/c", "o/n@"])
def test_a_name_that_is_nothing_says_what_would_be_something(name, hub):
    with pytest.raises(
        DataError, match=f"^There is no folder {name!r}, and it is not a Hub dataset id .* Set PERSONAFEEDBACK_DATA"
    ):
        locate(name)
    assert hub == []


@pytest.mark.parametrize(
    ("name", "arguments", "revision"),
    [
        (None, (HUB_ID,), HUB_REVISION),
        (" ", (HUB_ID,), HUB_REVISION),
        (HUB_ID, (HUB_ID,), HUB_REVISION),
        (f"{HUB_ID}@main", (HUB_ID,), "main"),
        ("owner/name", ("owner/name",), None),
        (f"owner/name@{COMMIT}", ("owner/name",), COMMIT),
        ("owner/name@refs/pr/1", ("owner/name",), "refs/pr/1"),
    ],
)
def test_the_hub_is_asked_for_one_revision_and_the_folders_that_are_read(hub, folder, name, arguments, revision):
    found = locate(name)
    patterns = ["data/*", "persona/*", "memory/*", "set.json"]
    assert hub == [(arguments, {"repo_type": "dataset", "revision": revision, "allow_patterns": patterns})]
    assert found.source == f"{arguments[0]}@{folder.name}"  # a snapshot's folder is its commit
    assert found.counts == PAPER_COUNTS


def test_a_hub_that_refuses_or_cannot_be_reached_is_one_sentence_with_what_to_do(monkeypatch):
    import huggingface_hub

    def refuse(*arguments, **options):
        raise PermissionError("Access is restricted.\nYou must have access to it.")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(DataError) as refused:
        locate("owner/name@v1")
    said = str(refused.value)
    assert said.startswith(
        "Could not get owner/name@v1 from the Hugging Face Hub (PermissionError: Access is restricted.)"
    )
    for remedy in ("HF_TOKEN", "HF_HUB_OFFLINE=1", "PERSONAFEEDBACK_DATA=sample"):
        assert remedy in said
    with pytest.raises(DataError, match=r"\AThere is no folder 'duels/chosen'\. Could not get duels/chosen@main"):
        locate("duels/chosen")  # without a revision it may be meant as a folder


@pytest.mark.slow
def test_the_real_client_without_a_network_says_how_to_work_offline(tmp_path):
    """In a fresh process, since huggingface_hub reads its environment when it is imported. Nobody listens on port 9."""
    load = "import sys, time; time.sleep = lambda seconds: None\nfrom personafeedback_tasks.personafeedback.release import locate; locate()"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING", "PERSONA"))}
    clean |= {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", load], env=clean, capture_output=True, text=True, timeout=120)
    said = done.stderr.splitlines()[-1]
    assert f"DataError: Could not get {HUB_ID}@{HUB_REVISION} from the Hugging Face Hub (" in said
    assert "set HF_HUB_OFFLINE=1" in said
