"""The stories of docs/recenter.md, on the sample and on a folder in the authors' layout: their lines as printed."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path
from unittest.mock import patch

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("torch")

from inspect_ai.model import _model
from support import planted
from support.authors import PROFILES, profile, write
from support.documents import DOCS, block, run_as_printed
from support.minilm import cached
from support.servers import serving

from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.rows import Relevance

PAGE = DOCS / "recenter.md"


def told(lines, folder, minilm, **environment):
    """What the lines print, in a shell of their own that stops at the first one that fails."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RECENTER", "PERSONAFEEDBACK"))}
    done = subprocess.run(
        ["bash", "-ec", lines], cwd=folder, capture_output=True, text=True, timeout=600,
        env={**clean, "PATH": tools, "COLUMNS": "120", "INSPECT_DISPLAY": "plain", **cached(minilm, folder), **environment},
    )  # fmt: skip
    assert done.returncode == 0, lines + done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.release
def test_the_story_of_the_sample(minilm, tmp_path):
    record = find("recenter_relevance")
    rows = record.load(record.options(data="sample"), {})
    prompts = {record.prompt(row, None, "yes_or_no"): (row.judgment,) for row in rows}
    with serving(lambda relevant: "YES" if relevant else "NO", prompts) as server:
        printed = told(
            block(PAGE, "story: sample"), tmp_path, minilm, OPENAI_API_KEY="none", OPENAI_BASE_URL=server.url
        )
    assert "\nfilter  " in printed
    assert {path.name for path in (tmp_path / "report").iterdir()} >= {"report.md", "report.html"}
    report = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "always YES" in report


def judge(prompt, model):
    """A reply that each stage can read."""
    for asks, reply in (("the numbers of", "1"), ("ACCEPT", "ACCEPT"), ("YES", "YES")):
        if asks in prompt.rpartition("Reply with")[2]:
            return reply
    return str(1 + zlib.crc32(prompt.encode()) % 5)  # not the same for all: a correlation needs that


def test_the_story_of_the_stages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(judge) as server, patch.dict(_model._models, clear=True):
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        printed = run_as_printed(block(PAGE, "story: stages").splitlines(), monkeypatch)
    assert printed.count("openai/gpt-4o (") >= 4  # a report of each task
    for heading in ("F1 of PROBLEMATIC", "F1 of YES", "spearman"):
        assert set(heading.split()) <= set(printed.split())
    assert "(select, demonstration)" in printed
    for stage in ("extraction", "relevance", "response"):  # runs of several tasks are told apart by the task
        assert f"openai/gpt-4o (demonstration, recenter_{stage}), Recenter {stage}, total" in printed


@pytest.mark.release
def test_the_story_of_the_authors_files(minilm, tmp_path):
    found = {}
    for row in planted.rows(users=8, prompts=6, attributes=10):
        found.setdefault((row["user_id"], row["prompt"]), {})[row["attribute"]] = row["label"]
    prompts = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompt for _, prompt in found))}
    labels = [(user, prompts[prompt], prompt, of) for (user, prompt), of in found.items()]
    write(
        tmp_path / "FOLDER",
        {
            f"data/{PROFILES}": [profile(*line) for line in labels],
        },
    )
    printed = told(block(PAGE, "story: authors"), tmp_path, minilm)
    rows = with_judgment(load(Relevance, tmp_path / "recenter"))
    assert f"{len(rows):,}" in printed
    assert "\nfilter  " in printed
    assert "recenter_relevance/always_yes" in printed
