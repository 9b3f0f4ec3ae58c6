"""What goes beside a run: the macro mean, the paper's numbers, and the same model told less."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.caveats import sentences
from support.commands import personafeedback
from support.inspect_runs import evaluate
from support.judges import OTHER
from support.tables import in_markdown, printed_rows

from personafeedback_tasks.choice.orders import CHOSEN_LETTER
from personafeedback_tasks.common.statistics import paired
from personafeedback_tasks.personafeedback.cases import CELLS, load_cases
from personafeedback_tasks.personafeedback.paper.tables import table
from personafeedback_tasks.personafeedback.release import SAMPLE, locate

pytestmark = pytest.mark.slow

same = pytest.approx
PIECE = "Kettles are the subject of this forum thread."
SETTINGS = ("persona", "rag", "no_persona")


@modelapi(name="attentive")
class Attentive(ModelAPI):
    """Is right more often, the more it is told."""

    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args):  # noqa: B008
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        about, prompt = input[-1].metadata, input[-1].text
        told = "persona" if "<persona>" in prompt else "rag" if PIECE in prompt else "no_persona"
        gold = CHOSEN_LETTER[about["call"]]
        output = ModelOutput.from_content("attentive", gold if knows(about["case_id"], told) else OTHER[gold])
        output.usage = ModelUsage()
        return output


def knows(case_id: str, told: str) -> bool:
    """All but every 7th, 3rd and 2nd case of a cell; each cell begins elsewhere."""
    cell, line = case_id.split(":")
    return (int(line) + CELLS.index(cell)) % {"persona": 7, "rag": 3, "no_persona": 2}[told] != 0


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    """The sample with two cases less in one cell, so that cells weigh differently, and a memory of every user."""
    root = shutil.copytree(locate(SAMPLE).root, tmp_path_factory.mktemp("beside") / "release")
    (path,) = root.glob("data/general/easy.jsonl")
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")
    for case in load_cases(root, counts="any"):
        (root / "memory" / f"{case.user_id}.jsonl").write_text(json.dumps({"text": PIECE}), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def logs(release, tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("logs")
    return {setting: log(release, folder, setting) for setting in SETTINGS}


def log(release, folder, setting="persona", task="personafeedback", **kwargs) -> str:
    built = getattr(tasks, task)(data=str(release), setting=setting, counts="any")
    return evaluate(built, "attentive/model", folder, **kwargs).location


@pytest.fixture(scope="module")
def acc(release):
    """Setting -> cell -> whether the model knows each of its cases, computed here."""
    cases = load_cases(release, counts="any")
    return {
        setting: {cell: [knows(case.id, setting) for case in of] for cell, of in cases.cells.items()}
        for setting in SETTINGS
    }


def reported(tmp_path, *arguments):
    done = personafeedback("report", "--full", *arguments, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    return done.stdout, json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["reports"][0]


def written(tmp_path) -> dict[str, dict[str, dict[str, str]]]:
    return in_markdown((tmp_path / "report.md").read_text(encoding="utf-8"))


def test_macro_is_the_plain_mean_of_the_six_cells_beside_the_total(logs, acc, tmp_path):
    printed, stored = reported(tmp_path, logs["persona"])
    cells = acc["persona"]
    every = [right for of in cells.values() for right in of]
    assert stored["groups"]["total"]["measures"]["acc"]["value"] == same(np.mean(every))
    assert stored["macro"]["measures"]["acc"]["value"] == same(np.mean([np.mean(of) for of in cells.values()]))
    assert stored["macro"]["measures"]["acc"]["value"] != same(np.mean(every), abs=1e-4)
    for found in (
        {label: texts[2] for label, texts in printed_rows(printed, "Result").items()},
        written(tmp_path)["Result"]["acc"],
    ):
        assert list(found)[-2:] == ["total", "macro"]
        assert float(found["total"]) == round(100 * np.mean(every), 1)
        assert float(found["macro"]) == round(100 * np.mean([np.mean(of) for of in cells.values()]), 1)


@pytest.mark.parametrize("task", ["personafeedback_general", "personafeedback_hard"])
def test_without_all_six_cells_there_is_no_macro(task, release, tmp_path):
    printed, stored = reported(tmp_path, log(release, tmp_path, task=task))
    assert stored["macro"] is None
    assert "macro" not in printed


def test_one_sheet_has_every_setting_and_the_paired_differences(logs, acc, release, tmp_path):
    release_cases = load_cases(release, counts="any")
    printed, stored = reported(tmp_path, logs["persona"], "--no-persona", logs["no_persona"], "--rag", logs["rag"])
    sheet = stored["settings"]
    assert sheet["groups"].keys() == {*CELLS, "specific", "general", "total", "macro"}
    for name, column in sheet["groups"].items():
        within = [cell for cell in CELLS if name in ("total", "macro", cell, cell.partition("_")[0])]
        mean = {}
        for setting in SETTINGS:
            per_cell = [acc[setting][cell] for cell in within]
            mean[setting] = np.mean(list(map(np.mean, per_cell)) if name == "macro" else np.concatenate(per_cell))
            assert column["scores"][setting]["value"] == same(mean[setting])
        assert column["cases"] == sum(len(acc["persona"][cell]) for cell in within)
        for a, b in itertools.combinations(SETTINGS, 2):
            assert column["differences"][f"{a} - {b}"]["value"] == same(mean[a] - mean[b])
    gaps = [float(knows(case.id, "persona")) - knows(case.id, "rag") for case in release_cases]
    gap = paired(gaps, [case.user_id for case in release_cases])
    assert sheet["groups"]["total"]["differences"]["persona - rag"] == same(vars(gap))
    shown = written(tmp_path)
    heading = {of: name for name, of in sheet["named"].items()}
    for label, column in sheet["groups"].items():
        for setting in SETTINGS:
            value = f"{100 * column['scores'][setting]['value']:.1f}"
            assert shown["Scores"][setting][label.replace("_", " ")] == value
        for name, gap in column["differences"].items():
            assert (
                shown["Differences"][heading.get(name, name)][label.replace("_", " ")] == f"{100 * gap['value']:+.1f}"
            )
    assert printed_rows(printed, "Scores")["total"][:2] == ["46", shown["Scores"]["persona"]["total"]]
    assert printed_rows(printed, "Differences")["total"][0] == shown["Differences"]["persona - rag"]["total"]
    assert "setting rag" in printed
    assert stored["groups"]["total"]["gain"]["value"] == same(
        sheet["groups"]["total"]["differences"]["persona - no_persona"]["value"]
    )
    assert "| rag |" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_a_sheet_keeps_to_the_cases_that_every_run_answered(release, logs, tmp_path):
    part = log(release, tmp_path, "rag", limit=10)
    _, stored = reported(tmp_path, logs["persona"], "--rag", part)
    assert stored["settings"]["groups"]["total"]["cases"] == 10
    assert stored["settings"]["left_out"] == 36
    assert "PARTIAL control rag" in " ".join(sentences(stored))


@pytest.mark.parametrize(
    ("run", "option", "other", "message"),
    [
        ("persona", "--rag", "no_persona", "found setting no_persona, expected rag for a control"),
        ("rag", "--rag", "rag", "found setting rag, expected a run that is told more or other things than its control"),
        ("no_persona", "--no-persona", "no_persona", "Pass the run first, and its controls as options"),
    ],
)
def test_a_run_of_another_setting_is_refused(run, option, other, message, logs):
    done = personafeedback("report", "--full", logs[run], option, logs[other])
    assert done.exit_code == 1
    assert message in " ".join(done.output.split())


def test_the_best_rows_of_the_paper_go_under_a_line_that_says_why_they_cannot_be_compared(logs, tmp_path):
    printed, stored = reported(tmp_path, logs["persona"], "--paper")
    why = "Not comparable with the run: we found neither the authors' prompt nor their order of the options nor their decoding."
    models = table("3").rows
    best = max((row for row in models if row.group != "reward"), key=lambda row: row.cells["total_avg"])
    reward = max((row for row in models if row.group == "reward"), key=lambda row: row.cells["total_avg"])
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    shown = written(tmp_path)["Published"]
    for row in (best, reward):
        numbers = list(shown[f"{row.name}, Table 3"].values())
        cells = [row.cells[cell] for cell in (*CELLS, "specific_avg", "general_avg", "total_avg")]
        assert numbers == [*map(str, cells), "–"]
        assert f"{row.name}, Table 3" not in text[: text.index(why)]
    numbers = list(shown[f"{best.name}, persona, Table 7"].values())
    assert numbers == ["–"] * 9 + [str(table("7").row(best.name).cells["persona"])]
    assert len(shown) == 3
    for label, texts in printed_rows(printed[printed.index(why) :], "Published").items():
        assert texts == [column[label] for column in shown.values()]
    _, alone = reported(tmp_path, logs["persona"])
    assert alone["published"] is None
    assert {key: value for key, value in stored.items() if key != "published"} == {
        key: value for key, value in alone.items() if key != "published"
    }


@pytest.mark.parametrize("name", ["QRM-Llama3.1-8B-v2", "qrm-llama3.1-8b-v2", "nicolinho/QRM-Llama3.1-8B-v2"])
def test_a_row_is_found_by_its_name_or_its_id(name, logs, tmp_path):
    _, stored = reported(tmp_path, logs["persona"], "--paper", name)
    assert list(stored["published"]["rows"]) == ["QRM-Llama3.1-8B-v2, Table 3"]
    assert stored["published"]["rows"]["QRM-Llama3.1-8B-v2, Table 3"]["general_hard"] == same(0.625)
    svg = (tmp_path / "accuracy.svg").read_text(encoding="utf-8")
    assert "QRM-Llama3.1-8B-v2, Table 3" in svg
    assert "Hollow marks: published, not comparable" in svg
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Not comparable with the run" in markdown
    assert "| QRM-Llama3.1-8B-v2, Table 3 |" in markdown


def test_every_model_of_the_paper_can_be_named(logs):
    from personafeedback_tasks.personafeedback.paper.beside import beside

    for number in ("3", "6", "7"):
        for row in table(number).rows:
            found = beside(row.name, SETTINGS).rows
            if number == "7":
                values = {label: of["macro"] for label, of in found.items() if label.endswith("Table 7")}
                assert sorted(values.values()) == same(sorted(value / 100 for value in row.cells.values()))
            else:
                shown = [of for label, of in found.items() if label.endswith(f"Table {number}")]
                assert any(of["total"] == same(row.cells["total_avg"] / 100) for of in shown), row.name
    for row in table("8").rows:
        assert beside(row.about["hub"], SETTINGS).rows, row.name


def test_table_3_is_about_the_persona_and_table_7_about_each_setting(logs, tmp_path):
    _, stored = reported(tmp_path, logs["rag"], "--paper", "GPT-4o")
    assert stored["published"]["rows"] == {"GPT-4o-2024-11-20, rag, Table 7": {"macro": same(0.737)}}
    _, stored = reported(tmp_path, logs["persona"], "--rag", logs["rag"], "--paper", "GPT-4o")
    assert stored["published"]["rows"].keys() == {
        "GPT-4o-2024-11-20, Table 3",
        "GPT-4o-2024-11-20, persona, Table 7",
        "GPT-4o-2024-11-20, rag, Table 7",
    }


def test_the_known_slip_is_shown_as_printed_and_named(logs, tmp_path):
    printed, stored = reported(tmp_path, logs["persona"], "--paper", "Skywork-Reward-Llama-3.1-8B")
    assert "has 70.3, and its cells give 71.1" in " ".join(printed.split())
    assert stored["published"]["rows"]["Skywork-Reward-Llama-3.1-8B, Table 3"]["specific"] == same(0.703)


@pytest.mark.parametrize("order", ["before", "after"])
def test_a_run_after_the_option_is_not_taken_for_a_model_in_silence(order, logs):
    words = ("report", "--paper", logs["persona"]) if order == "before" else ("report", logs["persona"], "--paper")
    done = personafeedback(*words)
    if order == "after":
        assert done.exit_code == 0, done.output
    else:
        assert done.exit_code == 1
        assert "The paper has no model" in done.output
        assert "put --paper after the runs for its best models" in " ".join(done.output.split())


def test_a_close_name_is_suggested(logs):
    done = personafeedback("report", "--full", logs["persona"], "--paper", "QwQ32B")
    assert done.exit_code == 1
    assert "QwQ-32B" in done.output
