"""Reports, comparisons, rankings and the page for rows that people judged: from logs of both harnesses, by the commands."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")
pytest.importorskip("krippendorff")

from support import inspect_runs, lm_eval_runs
from support.commands import personafeedback
from support.shown import embedded, rank_runs
from support.tables import in_markdown

from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.logs.read import read_run, read_runs
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.rows import Extraction, Relevance, Response
from personafeedback_tasks.reports import page

pytestmark = pytest.mark.slow

same = pytest.approx
ROWS = with_judgment(load(Relevance, "sample"))


def asked(run):
    """The rows of the sample that a run asked."""
    return run.benchmark.report.load("sample", "any")


TASK = "recenter_relevance"
BENCHMARK = find(TASK)
MEASURES = [line.measure for line in BENCHMARK.report.compared]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs by the harnesses' own commands: a judge of each answer, and one of replies that nobody can read."""
    root = tmp_path_factory.mktemp("logs")
    for answer in ("always_yes", "always_no"):
        done = inspect_runs.command(
            f"personafeedback_tasks/{TASK}",
            "-T",
            "data=sample",
            "--model",
            f"{TASK}/{answer}",
            "--log-dir",
            root / answer,
        )
        assert done.returncode == 0, done.stdout
    done = lm_eval_runs.command(
        "--model", "dummy", "--tasks", TASK, "--metadata", '{"data": "sample"}', "--output_path", root / "dummy", "--log_samples"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def template(logs) -> Run:
    return read_run(next((logs / "always_yes").glob("*.eval")))


# --- beside the run ---------------------------------------------------------------------------------------------------


def test_the_table_has_every_row_and_fits_80_columns(logs):
    done = personafeedback("report", "--full", logs / "dummy", COLUMNS="80")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines if re.search(r"\S {2,}\S", line)) <= 80
    for row in ("this run", "always YES", "always NO"):
        assert len([line for line in lines if line.startswith(row)]) == 1, row
    assert "Krippendorff's alpha (nominal) +0." in " ".join(done.stdout.split())
    assert re.search(r"always YES.* \+0\.000 +2\.292", done.stdout)  # a ratio has no sign, a coefficient has one


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(logs, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    done = personafeedback("report", "--full", logs, "--out", out)
    assert done.exit_code == 0, done.output
    return out


def test_report_writes_everything_and_the_same_again(written, logs, tmp_path):
    names = {"report.md", "report.json", "index.html", "accuracy.png", "accuracy.svg"}
    assert {path.name for path in written.iterdir()} == names
    assert personafeedback("report", "--full", logs, "--out", tmp_path).exit_code == 0
    assert all((tmp_path / name).read_bytes() == (written / name).read_bytes() for name in names)
    text = (written / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# Recenter relevance\n")
    found = in_markdown(text)["Beside baselines"]
    assert found["over-selection"]["always YES"] == "2.292"
    assert found["kappa"]["always YES"] == "+0.000"


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """Logs of the other stages."""
    root = tmp_path_factory.mktemp("stages")
    for task, judge in (("extraction", "always_problematic"), ("response", "always_4")):
        done = inspect_runs.command(
            f"personafeedback_tasks/recenter_{task}", "-T", "data=sample", "--model", f"recenter_{task}/{judge}",
            "--log-dir", root,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
    return {run.benchmark.name.removeprefix("recenter_"): run for run in read_runs([root])}


def test_pages_of_the_other_stages_show_what_people_saw(stages):
    shown = {}
    for stage, run in stages.items():
        rows = asked(run)
        ranking = rank_runs(run, texts=run.benchmark.report.examine(rows, run.cases), data=rows)
        data = embedded(page.render([ranking]))
        shown[stage] = {
            case["id"]: (case, data["answers"][data["runs"][0]["answers"][n]]["picks"])
            for n, case in enumerate(data["cases"])
        }
    for row in load(Extraction, "sample"):
        if row.judgment is not None:
            texts = dict(shown["extraction"][row.id][0]["texts"])
            assert row.reason == texts["Reason"]
            assert all(message.content in texts["Conversation"] for message in row.conversation)
    for row in load(Response, "sample"):
        case, picks = shown["response"][row.id]
        assert case["responses"] == [row.personalized, row.generic]
        assert dict(case["texts"])["People"].startswith(f"{row.judgment:.2f}")
        assert picks == [[["4", ""], ["4", ""]]]  # no rating is right: people's mean is none
