"""Settings and methods of docs/options.md: each combination that cannot run says so in one sentence before the first call."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.lm_eval_runs import evaluate as evaluate_lm_eval

from personafeedback_tasks.common.errors import PersonaFeedbackError
from personafeedback_tasks.core.signature import KEY
from personafeedback_tasks.personafeedback.prompts import SETTINGS
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK

INSPECT = {"generate", "cot", "logprobs", "reward"}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The sample with a memory of every user."""
    root = tmp_path_factory.mktemp("matrix") / "data"
    shutil.copytree(str(files("personafeedback_tasks.personafeedback") / "sample"), root)
    (root / "memory").mkdir(exist_ok=True)
    for persona in (root / "persona").iterdir():
        pieces = [f"piece {number} of {persona.stem}" for number in range(7)]
        lines = "".join(json.dumps({"text": piece}) + "\n" for piece in pieces)
        (root / "memory" / f"{persona.stem}.jsonl").write_text(lines, encoding="utf-8")
    return root


def inspect_task(data, **options):
    return tasks.personafeedback_general_hard(data=str(data), counts="any", **options)


def cells():
    """(setting, rag_filter, method, whether Inspect can)."""
    for setting, filtered in [*((setting, False) for setting in SETTINGS), ("rag", True)]:
        for method in PERSONAFEEDBACK.methods:
            reads_letters = method in INSPECT - {"reward"}
            scores = method == "reward" and setting != "rag"
            yield setting, filtered, method, reads_letters or scores


@pytest.mark.parametrize(("setting", "rag_filter", "method", "works"), list(cells()))
def test_a_cell_of_inspect_builds_or_is_refused(setting, rag_filter, method, works, data):
    options = {"setting": setting, "method": method} | ({"rag_filter": True} if rag_filter else {})
    if works:
        assert inspect_task(data, **options).metadata[KEY]["setting"] == setting
    else:
        with pytest.raises(PersonaFeedbackError) as caught:
            inspect_task(data, **options)
        assert "\n" not in str(caught.value)
        assert re.search(r"[Uu]se ", str(caught.value)), "the sentence does not say what to do"


@pytest.mark.parametrize(
    ("setting", "suffix"), [*((setting, "") for setting in SETTINGS), ("rag", "_cot"), ("other_persona", "_mc")]
)
def test_every_setting_and_every_method_of_lm_eval_runs(setting, suffix, data):
    task = f"personafeedback_general_hard{suffix}"
    metadata = {"setting": setting, "counts": "any"}
    results = evaluate_lm_eval("gold", task, data, metadata=metadata, limit=2)
    assert results["results"][task]["acc,none"] == 1


@pytest.mark.parametrize(
    ("suffix", "options", "told"),
    [
        ("", {"method": "logprobs"}, "must not set method, got 'logprobs'.* names that end with _cot or _mc"),
        (
            "_mc",
            {"method": "generate"},
            "must not set method, got 'generate'.*logprobs and reward work in Inspect only",
        ),
        ("", {"setting": "rag", "rag_filter": True}, "rag_filter=true works in Inspect only"),
    ],
)
def test_lm_eval_refuses_what_only_inspect_can(suffix, options, told, data):
    with pytest.raises(PersonaFeedbackError, match=told):
        evaluate_lm_eval(
            "gold", f"personafeedback_general_hard{suffix}", data, metadata={**options, "counts": "any"}, limit=1
        )
