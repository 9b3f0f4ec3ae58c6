"""No row of a result has the path of the data, or the name of the person whose folder it is; an error may."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from support.commands import personafeedback
from support.duel_folders import write_duels
from support.logs import inspect_log, lm_eval_log
from support.releases import write_set

from personafeedback_tasks.personafeedback.cases import load_cases

HARD = "personafeedback_general_hard"
OWNER, FOLDER = "annelise", "kitchen data"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A home with the data and with logs of both harnesses, with controls."""
    home = tmp_path_factory.mktemp("home") / OWNER
    rows = [
        {"user_id": f"u{n % 6}", "question": f"q{n}?", "chosen": f"a good one {n}", "reject": f"a bad one {n}"}
        for n in range(24)
    ]
    personas = {f"u{n}": {"Name": f"Ann{n}", "Job": "baker"} for n in range(6)}
    data = write_set(home / FOLDER, {"general/hard": rows}, personas)
    for setting in ("persona", "no_persona"):
        inspect_log(home / "logs" / setting, "readable", HARD, data, setting)
    lm_eval_log(home / "lm-eval", "mixed", HARD, data)
    return home


def outputs(home: Path, out: Path) -> dict[str, str]:
    """Everything that the commands print or write about runs, by name."""
    logs, other = home / "logs", home / "lm-eval"
    found = {}
    for name, command in {
        "report": ("report", "--full", logs, other, "--out", out / "report"),
        "report, short": ("report", logs),
        "rank": ("rank", logs, other, "--out", out / "rank", "--csv", out / "rank.csv", "--json", out / "rank.json"),
        "compare": ("compare", logs / "persona", other, "--json", out / "compare.json"),
    }.items():
        done = personafeedback(*command, HOME=str(home))
        assert done.exit_code == 0, done.output
        # What is on stdout; but for the lines that name a file which was written where the user said.
        found[name] = "\n".join(line for line in done.stdout.split("\n") if not line.startswith("wrote "))
    return found | {
        str(path.relative_to(out)): path.read_bytes().decode("utf-8", "replace")
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def private(home: Path) -> list[str]:
    return [str(home), str(home.parent), OWNER]


def test_no_output_has_the_path_of_the_data(home, tmp_path):
    found = outputs(home, tmp_path / "out")
    digest = load_cases(home / FOLDER).digest
    leaks = {name: word for name, text in found.items() for word in private(home) if word in text}
    assert leaks == {}
    assert {"report/report.md", "report/report.json", "report/index.html"} <= found.keys()
    assert {
        "rank/ranking.csv",
        "rank/ranking.json",
        "rank/index.html",
        "rank.csv",
        "rank.json",
        "compare.json",
    } <= found.keys()
    for name in ("report", "report/report.json", "report/index.html", "rank/ranking.csv"):
        assert f"data {FOLDER} | sha256 {digest}" in " ".join(found[name].split()), name


def test_nor_when_the_data_are_gone(home, tmp_path):
    (home / FOLDER).rename(home / "moved")
    try:
        found = outputs(home, tmp_path / "out")
    finally:
        (home / "moved").rename(home / FOLDER)
    assert {name: word for name, text in found.items() for word in private(home) if word in text} == {}
    assert f"There is no folder '{FOLDER}'" in " ".join(found["report"].split())


def test_a_verdict_has_neither(home, tmp_path):
    duels, calibration = home / "duels", home / "calibration"
    write_duels(duels, lambda case: "Try it.", difficulty="hard")
    shutil.copytree(Path(str(load_cases("sample").release.root)), calibration)
    for name, data in (("judged", duels), ("examined", calibration)):
        log = tmp_path / name
        inspect_log(log, "readable", "personafeedback_hard", data, counts="checked" if name == "judged" else "any")
    done = personafeedback(
        "verdict", tmp_path / "judged", "--calibration", tmp_path / "examined", "--json", tmp_path / "verdict.json", HOME=str(home)
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = {"terminal": done.stdout, "json": (tmp_path / "verdict.json").read_text("utf-8")}
    assert {name: word for name, text in found.items() for word in (str(home), OWNER) if word in text} == {}
    assert f"data {duels.name} | sha256" in found["terminal"]


def test_a_card_has_neither(home, tmp_path):
    done = personafeedback("card", home / "logs", "--model-card", tmp_path / "card.md", HOME=str(home))
    assert done.exit_code == 0, done.output
    card = (tmp_path / "card.md").read_text("utf-8")
    assert [word for word in private(home) if word in card] == []
    assert f"sha256 {load_cases(home / FOLDER).digest}" in card


def test_plan_and_audit_have_neither(home, tmp_path):
    for command in (("plan", "personafeedback", "-T", f"data={home / FOLDER}"), ("audit", "--data", home / FOLDER)):
        file = tmp_path / f"{command[0]}.json"
        for words in ((), ("--json", file)):
            done = personafeedback(*command, *words, HOME=str(home))
            assert done.exit_code == 0, done.output
            assert [word for word in private(home) if word in done.output] == []
        text = file.read_text("utf-8")
        assert [word for word in private(home) if word in text] == []
        assert FOLDER in text
