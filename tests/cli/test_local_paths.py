"""No row of a result has the path of the data, or the name of the person whose folder it is; an error may."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.commands import ran
from support.duel_folders import write_duels
from support.logs import inspect_log, lm_eval_log
from support.releases import write_set

from personafeedback_tasks.personafeedback.cases import load_cases

pytestmark = pytest.mark.slow

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


@pytest.fixture(scope="module")
def judged(home) -> tuple[object, ...]:
    """The arguments of a verdict on duels in this home."""
    duels, calibration = home / "duels", home / "calibration"
    write_duels(duels, lambda case: "Try it.", difficulty="hard")
    shutil.copytree(Path(str(load_cases("sample").release.root)), calibration)
    for name, data, counts in (("judged", duels, "checked"), ("examined", calibration, "any")):
        inspect_log(home / name, "readable", "personafeedback_hard", data, counts=counts)
    return home / "judged", "--calibration", home / "examined"


def outputs(home: Path, out: Path, *more: tuple[object, ...]) -> dict[str, str]:
    """Everything that the commands print or write about runs, by name."""
    logs, other = home / "logs", home / "lm-eval"
    found = {}
    for command in (
        ("report", "--full", logs, other, "--out", out / "report"),
        ("rank", logs, other, "--out", out / "rank", "--csv", out / "rank.csv", "--json", out / "rank.json"),
        ("compare", logs / "persona", other, "--json", out / "compare.json"),
        *more,
    ):
        done = ran(*command, HOME=str(home))
        # but for the lines that name a file which was written where the user said
        found[command[0]] = "\n".join(line for line in done.stdout.split("\n") if not line.startswith("wrote "))
    files = filter(Path.is_file, out.rglob("*"))
    return found | {str(path.relative_to(out)): path.read_bytes().decode("utf-8", "replace") for path in files}


def leaks(found: dict[str, str], home: Path) -> dict[str, str]:
    private = (str(home), str(home.parent), OWNER)
    return {name: word for name, text in found.items() for word in private if word in text}


def test_no_output_has_the_path_of_the_data(home, judged, tmp_path):
    out, data = tmp_path / "out", home / FOLDER
    more = (
        ("verdict", *judged, "--json", out / "verdict.json"),
        ("card", home / "logs", "--model-card", out / "card.md"),
        ("plan", "personafeedback", "-T", f"data={data}", "--json", out / "plan.json"),
        ("audit", "--data", data, "--json", out / "audit.json"),
    )
    found = outputs(home, out, *more)
    found["card"] = found["card"].replace(str(out), "")  # says where it is
    assert leaks(found, home) == {}
    pages = {"report/report.html", "rank/ranking.html"}
    assert {"report/report.md", "report/report.json", "rank/ranking.csv", "rank/ranking.json", *pages} <= found.keys()
    digest = load_cases(data).digest
    for name in ("report", "report/report.json", "report/report.html", "rank/ranking.csv"):
        assert f"data a local copy | sha256 {digest}" in " ".join(found[name].split()), name
    assert "data a local copy | sha256" in found["verdict"]
    assert f"sha256 {digest}" in found["card.md"]
    assert FOLDER in found["plan.json"]
    assert FOLDER in found["audit.json"]


def test_nor_when_the_data_are_gone(home, tmp_path):
    (home / FOLDER).rename(home / "moved")
    try:
        found = outputs(home, tmp_path / "out")
    finally:
        (home / "moved").rename(home / FOLDER)
    assert leaks(found, home) == {}
    assert f"There is no folder '{FOLDER}'" in " ".join(found["report"].split())
