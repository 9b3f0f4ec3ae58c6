"""Finding the release: folder, sample or Hub. The Hub is played by a server on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from support.releases import ENVIRONMENT_VARIABLE
from werkzeug import Response

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


# --- folders ---------------------------------------------------------------------------------------------------------


def test_an_explicit_folder_goes_before_the_environment(folder, make_release, monkeypatch):
    other = make_release(CELLS, PERSONAS)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(other))
    assert locate(folder).root == folder
    assert locate().root == other


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_data_the_pinned_hub_release_is_taken(hub, monkeypatch, value):
    if value is not None:
        monkeypatch.setenv(ENVIRONMENT_VARIABLE, value)
    locate()
    assert [arguments for arguments, _ in hub] == [(HUB_ID,)]


@pytest.mark.parametrize("name", ["nowhere", "/no/such/folder", "a/b/c", "o/n@"])
def test_a_name_that_is_nothing_says_what_would_be_something(name, hub):
    sentence = re.escape(
        f"There is no folder {name!r}, and it is not a Hub dataset id (OWNER/NAME or OWNER/NAME@REVISION). Set "
        "PERSONAFEEDBACK_DATA (or data=) to a folder that contains data/ and persona/, to 'sample', or to a dataset id."
    )
    with pytest.raises(DataError, match=f"^{sentence}$"):
        locate(name)
    assert hub == []


# --- what is asked of the Hub ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "revision"),
    [
        (None, (HUB_ID,), HUB_REVISION),
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


# --- the real client against a Hub on loopback -----------------------------------------------------------------------

LOAD = """
import sys, time
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.common.errors import DataError
time.sleep = lambda seconds: None  # the client waits between its retries
try:
    cases = load_cases(sys.argv[1], counts="any")
    print(len(cases), cases.revision)
except DataError as error:
    print("DataError", error)
"""
OFFLINE = (
    "To work offline, copy the release (data/ and persona/) into a folder and set PERSONAFEEDBACK_DATA to it, "
    "or fill the Hub cache once and set HF_HUB_OFFLINE=1. PERSONAFEEDBACK_DATA=sample runs the bundled demonstration."
)
GATED = "If the dataset is gated or private, set HF_TOKEN to a token with read access. "


@pytest.fixture
def server():
    """A server of this test alone, since some tests stop it."""
    with HTTPServer(host="127.0.0.1") as server:
        yield server


@pytest.fixture
def run_with_hub(tmp_path):
    """Load in a fresh process, since huggingface_hub reads its environment when it is imported."""

    def run(endpoint: str, data: str = "owner/name", script: str = LOAD, **environment: str) -> str:
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING")) and "proxy" not in k.lower()
        }
        clean |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_ETAG_TIMEOUT": "5"}
        clean |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            [sys.executable, "-c", script, data], env=clean | environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def serve_dataset(server, folder: Path, token: str | None = None, branch: str = "v1") -> list[str]:
    """Answer like the Hub for dataset owner/name, whose `branch` is COMMIT; return the paths of the files asked for."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files["README.md"] = b"not one of the folders that are read"
    asked: list[str] = []

    def ids(content: bytes) -> str:
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    def answer(request) -> Response:
        if token is not None and request.headers.get("Authorization") != f"Bearer {token}":
            return Response("{}", 401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
        path = request.path
        if path in [f"/api/datasets/owner/name/revision/{name}" for name in (branch, COMMIT)]:
            siblings = [{"rfilename": name} for name in files]
            about = {"id": "owner/name", "sha": COMMIT, "siblings": siblings, "private": False, "tags": []}
            return Response(json.dumps(about), content_type="application/json")
        if path == f"/api/datasets/owner/name/tree/{COMMIT}":
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": ids(content)}
                for name, content in files.items()
            ]
            return Response(json.dumps(tree), content_type="application/json")
        name = path.removeprefix(f"/datasets/owner/name/resolve/{COMMIT}/")
        if name in files:
            asked.append(name)
            headers = {"ETag": f'"{ids(files[name])}"', "X-Repo-Commit": COMMIT}
            return Response(files[name], headers=headers, content_type="text/plain")
        code = "RevisionNotFound" if "/revision/" in path else "EntryNotFound"
        return Response("{}", 404, {"X-Error-Code": code, "X-Error-Message": f"no {path}"})

    server.expect_request(re.compile(".*")).respond_with_handler(answer)
    return asked


def test_a_gated_dataset_asks_for_a_token_and_opens_with_it(server, run_with_hub, folder):
    serve_dataset(server, folder, token="hf_right")
    endpoint = server.url_for("")
    said = run_with_hub(endpoint, "owner/name@v1", HF_TOKEN="hf_wrong")
    assert said.startswith("DataError Could not get owner/name@v1 from the Hugging Face Hub (GatedRepoError: 401")
    assert said.endswith(f"). {GATED}{OFFLINE}")
    assert run_with_hub(endpoint, "owner/name@v1", HF_TOKEN="hf_right").startswith(f"6 owner/name@{COMMIT} ")


def test_an_unreachable_hub_says_how_to_work_offline(server, run_with_hub):
    endpoint = server.url_for("")
    server.stop()  # nobody listens on that port any more
    said = run_with_hub(endpoint, HUB_ID)
    assert said.startswith(f"DataError Could not get {HUB_ID}@{HUB_REVISION} from the Hugging Face Hub (")
    assert said.endswith(f"). {GATED}{OFFLINE}")
    assert "\n" not in said
