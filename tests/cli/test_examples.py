"""The commands on logs run as their help and the docs print them; logs of the toy harness stand for those that they name."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.commands import personafeedback, ran
from support.documents import DOCS, README, text
from support.duel_folders import write_duels
from support.jsonl_harness import judged

from personafeedback_tasks.cli.main import main
from personafeedback_tasks.personafeedback.cases import load_cases

OURS = ("plan", "report", "rank", "card", "audit", "compare", "score-replies", "export", "verdict")
"""The stories of the docs run the other ones, with a server."""

STANDS_FOR = {
    "FOLDER": "sample", "RUN": "persona.eval", "RUN...": "persona.eval", "stages": "persona.eval", "RUN_A": "logs/a.eval", "RUN_B": "no_persona.eval",
    "RUN_OR_FOLDER...": "logs", "results/*": "results/Qwen__Qwen3-8B", "logs/duels": "judged", "logs/JUDGE": "calibration",
    "logs/calibration.eval": "calibration.eval", "openai-api/local/lab/model=lab/model": "mixed=lab/model",
    "openai-api/local/lab/mid-a=lab/mid-a": "mixed=lab/mid-a",
}  # fmt: skip
"""Word of an example -> another one."""


def examples() -> Iterator[str]:
    texts = [main.get_command(click.Context(main), name).help for name in OURS]
    for page in (README, *sorted(DOCS.glob("*.md"))):
        texts += [block.replace("\\\n", " ") for block in re.findall(r"```bash\n(.*?)```", text(page), re.S)]
    for line in dict.fromkeys(re.findall(rf"^ *(personafeedback (?:{'|'.join(OURS)}) .*)$", "\n".join(texts), re.M)):
        if "--cost" not in line:  # needs logs of other tasks, and has a test of its own
            yield re.sub(" +#.*", "", line)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with every file that an example reads."""
    place = tmp_path_factory.mktemp("examples")
    for setting in ("persona", "no_persona", "other_persona"):
        judged(place / setting, "mixed", setting=setting).rename(place / f"{setting}.jsonl")
    for name, judge in (("a", "mixed"), ("b", "gold")):
        judged(place / "logs", judge).rename(place / "logs" / f"{name}.jsonl")
    for folder in ("logs/qwen", "results/Qwen__Qwen3-8B"):
        judged(place / folder, "mixed", prompt="v2")
    for against, folder in (("chosen", "judged"), ("rejected", "also")):
        duels = write_duels(place / "duels" / against, lambda case: "Try it.", against=against, difficulty="hard")
        shutil.copy(judged(place / folder, "readable", duels), place / f"{against}.jsonl")
    shutil.copy(judged(place / "calibration", "readable"), place / "calibration.jsonl")
    votes = [
        f"{case.id},{'reply' if place % 2 else 'other'}\n"
        for place, case in enumerate(load_cases("sample", difficulty="hard"))
    ]
    (place / "votes.csv").write_text("".join(["case,winner\n", *votes]), "utf-8")
    return place


@pytest.mark.parametrize("example", [*examples()])
def test_an_example_runs(example, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setenv("PERSONAFEEDBACK_DATA", "sample")
    _, command, *words = [STANDS_FOR.get(word, word) for word in shlex.split(example)]
    words = [re.sub(r"\.eval$", ".jsonl", word).replace("=FOLDER", "=sample").replace("=DIR", "=sample") for word in words]  # fmt: skip
    if command == "score-replies":
        file = place / words[1]
        file.unlink(missing_ok=True)
        options = [word for word in words if word not in ("--template", "--out", "report")]
        ran(command, *options, "--template")
        lines = [json.dumps({**json.loads(line), "reply": "A"}) for line in file.read_text("utf-8").splitlines()]
        file.write_text("\n".join(lines), "utf-8")
        words = options if "--template" in words else words
    if command in ("card", "export"):  # the stories have runs that may be published
        words = ["logs/qwen" if word == "logs" else word for word in words]
        assert "found a run that should not be in a model card" in personafeedback(command, *words).output
    else:
        ran(command, *words)
