"""Whatever is printed about a set says its name, and nothing of the benchmark's own data."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import ran
from support.inspect_runs import evaluate
from support.logs import lm_eval_log
from support.releases import write_set
from support.shared import built_once

from personafeedback_tasks.logs.read import read_run

NAME = "kitchen questions"
OF_THE_PAPER = ("Table 2", "2506.12915", "PersonaFeedback", "nine annotators", "PersonalAILab", "8,298")


USERS = ("u0", "u1", "u2", "u3")


def build(root):
    cells = {}
    for cell in ("general/easy", "general/hard"):
        row = {"chosen": "A soup that suits you.", "reject": "Fish."}
        cells[cell] = [{**row, "user_id": user, "question": f"What does {user} cook, {cell}?"} for user in USERS]
    write_set(root / "set", cells, {user: {"Name": f"Ada {user}", "Likes": "soup"} for user in USERS})
    evaluate(tasks.personafeedback(data=str(root / "set")), "scripted/readable", root / "logs" / "set")
    lm_eval_log(root / "lm", "readable", "personafeedback_general_hard", root / "set")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return built_once(tmp_path_factory, "sets_named", build)


def test_both_harnesses_sign_the_set(folder):
    for log in (folder / "logs" / "set", folder / "lm"):
        run = read_run(log)
        assert run.signature.to_json()["set"] == {"name": NAME, "counts": {"general_easy": 4, "general_hard": 4}}
        assert NAME in run.signature.task
        assert not run.partial


def test_every_command_speaks_of_the_set(folder, tmp_path):
    log, data = folder / "logs" / "set", folder / "set"
    card = tmp_path / "CARD.md"
    outputs = {
        "report": ran("report", log).output,
        "rank": ran("rank", log, "--out", tmp_path / "rank").output,
        "card": ran("card", log, "--model-card", card).output,
        "audit": ran("audit", "--data", data).output,
        "plan": ran("plan", "personafeedback", "-T", f"data={data}").output,
    }
    outputs["the card"] = card.read_text("utf-8")
    outputs["the page"] = (tmp_path / "rank" / "ranking.md").read_text("utf-8")
    for what, said in outputs.items():
        if what != "card":  # says which file it wrote
            assert NAME in " ".join(said.split()), what
        for word in OF_THE_PAPER:
            assert word not in said, (what, word)
    assert "CC-BY-4.0" in outputs["the card"]
    assert "Two cooks voted." in outputs["the card"]
