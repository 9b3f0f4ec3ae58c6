"""Every kind of item by the rules of Label Studio itself: its project, each task, and each answer."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from support.builds import a_build
from support.commands import personafeedback
from support.duel_folders import write_duels
from support.environments import UV

RULES = """
import json, sys
from pathlib import Path
from label_studio_sdk.label_interface import LabelInterface

def answer(interface, name, value):
    about = interface.get_control(name).to_name[0]
    return {"result": [{"id": "v", "from_name": name, "to_name": about, "type": "choices", "value": {"choices": [value]}}]}

tried = 0
for path in sorted(Path(".").rglob("label-studio.xml")):
    interface = LabelInterface(path.read_text("utf-8"))
    interface.validate()
    assert not interface.validate_task({"data": {"item": "i"}})
    for pack in path.parent.glob("*.label-studio.json"):
        tasks = json.loads(pack.read_text("utf-8"))
        refused = [task for task in tasks if not interface.validate_task(task)]
        assert not refused, (pack, refused[:1])
        tried += len(tasks)
    for control in ("vote", "faults"):
        if any(one.name == control for one in interface.controls):
            labels = interface.get_control(control).labels
            assert len(labels) > 2
            assert all(interface.validate_annotation(answer(interface, control, label)) for label in labels), (path, control)
            assert not interface.validate_annotation(answer(interface, control, "Z"))
print(tried)
"""


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Packs of every kind: pairs, what was noted of conversations, profiles, replies to rate, and duels."""
    packs = tmp_path_factory.mktemp("packs")
    build = a_build(packs / "pairs", annotators=1, faults=True)
    form = ("--format", "label-studio")
    duels = write_duels(tmp_path_factory.mktemp("duels") / "duels", lambda case: "A reply.", difficulty="hard")
    done = [
        personafeedback("annotate", "pack", duels, "--out", packs / "duels", "--annotators", 1, "--draw", 5, *form),
        personafeedback("annotate", "pack", build.root, *form),
        personafeedback("annotate", "pack", "sample", "--out", packs / "study", "--annotators", 1, *form),
    ]
    assert [one.exit_code for one in done] == [0, 0, 0], done
    assert len(list(packs.rglob("label-studio.xml"))) == 5
    return packs


def test_every_task_has_every_field_that_its_config_names(packs):
    for path in packs.rglob("label-studio.xml"):
        config = ET.fromstring(path.read_text("utf-8"))
        fields = {text.get("value").removeprefix("$") for text in config.iter("Text")}
        (pack,) = path.parent.glob("*.label-studio.json")
        tasks = json.loads(pack.read_text("utf-8"))
        assert tasks
        assert all(fields < task["data"].keys() and task["data"]["item"] for task in tasks)
        (votes,) = (control for control in config.iter("Choices") if control.get("name") == "vote")
        answers = [choice.get("value") for choice in votes]
        assert answers[-1] == "cannot judge"
        if path.parent.parent.name in ("pairs", "duels"):
            assert fields == {"persona", "question", "A", "B"}
            assert answers[:-1] == ["A", "B"]


@pytest.mark.release
def test_label_studios_own_rules_accept_every_task_and_answer(packs, tmp_path):
    """In an environment of its own: it brings 370 MB, and other versions of what we use."""
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, python.parents[1]], check=True)
    subprocess.run([UV, "pip", "install", "-q", "--python", python, "label-studio-sdk==2.1.2"], check=True)
    said = subprocess.run([python, "-c", RULES], cwd=packs, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert int(said.stdout) > 100
