"""`personafeedback paper`: what it prints is what the JSON files have, and its commands are ones that the harnesses take."""

from __future__ import annotations

import json
import re
import shlex
from itertools import chain
from unittest.mock import patch

import pytest

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from inspect_ai._cli.eval import eval_command
from inspect_ai._cli.util import parse_cli_args
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from lm_eval._cli.harness import HarnessCLI
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.models import MODEL_MAPPING
from personafeedback_tasks.inspect_tasks import personafeedback as inspect_tasks
from support.commands import personafeedback
from support.lm_eval_runs import GROUPS

from personafeedback_tasks.cli.build_set import training as training_command
from personafeedback_tasks.common import errors
from personafeedback_tasks.personafeedback.paper import models
from personafeedback_tasks.personafeedback.paper.models import MODELS
from personafeedback_tasks.personafeedback.paper.tables import FILES, document, table

API, OPEN, REWARD, PATCHED = "api", "open", "reward", "patched reward"
PRINTABLE = ["2", "3", "4", "5", "6", "7", "8"]
PLACES = {"cases": 0, "accuracy, per cent": 1, "accuracy, share": 2, "per cent": 2}


def paper(*arguments: str, **environment: str) -> str:
    done = personafeedback("paper", *arguments, **environment)
    assert done.exit_code == 0, done.output
    return done.stdout


def as_printed(value: float, unit: str) -> str:
    return f"{value:,.{PLACES[unit]}f}"


# --- the tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", PRINTABLE)
def test_every_number_of_a_table_is_printed_in_its_row(number):
    of = table(number)
    lines = [line.replace("*", "").split() for line in paper("--table", number).splitlines()]
    for row in of.rows:
        values = [as_printed(row.cells[key], of.units[key]) if number != "8" else row.about[key] for key in of.columns]
        # Rows come in the order of the data: each is looked for below the one before it.
        label = (row.about["training"] or "as a generative judge") if number == "6" else row.name
        expected = [*label.split(), *values]
        found = next((at for at, line in enumerate(lines) if line[: len(expected)] == expected), None)
        assert found is not None, row
        lines = lines[found + 1 :]


@pytest.mark.parametrize("number", ["3", "4", "6"])
def test_both_numbers_of_an_average_that_its_cells_do_not_give(number):
    """As the verification found them, which was made without this code."""
    checked = document("verification")
    entries = [
        (entry["model"], table(number).columns[column], average)
        for entry in checked["tables_3_and_6"] if entry["table"] == number
        for column, average in entry["averages"].items()
    ]  # fmt: skip
    if number == "4":
        entries = [(entry["group"], entry["aspect"], entry) for entry in checked["table_4"]]
    expected = {
        f"* {name}, {column}: {average['printed']:.1f} (from cells {average['case_weighted']:.1f})"
        for name, column, average in entries if not average["exact_weighted"]
    }  # fmt: skip
    shown = paper("--table", number)
    assert {line for line in shown.splitlines() if "(from cells" in line} == expected
    assert len(expected) == (8 if number == "3" else 0)
    assert len(re.findall(r"\d\*", shown)) == len(expected)


def test_table_7_has_the_plain_mean_of_table_3_beside_it():
    shown = paper("--table", "7")
    for entry in document("verification")["table_7"]:
        (line,) = [line for line in shown.splitlines() if line.split()[:1] == [entry["model"]]]
        assert line.split()[-1] == f"{entry['plain_mean_of_six']:.1f}"


def test_without_options_the_tables_of_results_are_printed():
    headings = re.findall(r"^Table (\d) \((.*?)\): ", paper(), re.M)
    assert headings == [(number, _section(number)) for number in ("2", "3", "4", "6", "7")]
    assert "we found neither the authors' prompt nor" in paper().splitlines()[0]


def _section(number: str) -> str:
    section = table(number).section
    return section if section.startswith("Appendix") else f"Section {section}"


@pytest.mark.parametrize("number", PRINTABLE)
def test_a_row_fits_a_terminal_of_80_columns_and_a_note_is_one_line_in_a_pipe(number, monkeypatch):
    of = table(number)
    assert {f"- {note}" for note in of.notes} <= set(paper("--table", number, COLUMNS="80").splitlines())
    monkeypatch.setenv("FORCE_COLOR", "1")  # it takes this for a terminal
    shown = paper("--table", number, COLUMNS="80")
    assert "\x1b[1m" in shown
    assert max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in shown.splitlines()) <= 80


def test_a_table_that_cannot_be_printed_is_one_error():
    for number in ("1", "9", "x"):
        done = personafeedback("paper", "--table", number)
        assert done.exit_code == 2
        assert done.stderr.splitlines()[-1].startswith("Error: Invalid value for '--table': ")
    done = personafeedback("paper", "--table", "4", "--models")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        2,
        "Error: --models goes with --table 3, 6, 7 alone, got 4.",
    )


def test_json_has_the_tables_what_is_recomputed_and_the_verification(tmp_path):
    found = json.loads(paper("--json", "-"))
    assert found["tables"] == {number: table(number).document for number in FILES}
    assert found["verification"] == document("verification")
    recomputed = {number: [row["averages"] for row in rows] for number, rows in found["recomputed"].items() if rows}
    expected = {
        number: [
            {column: average["case_weighted"] for column, average in entry["averages"].items()}
            for entry in document("verification")["tables_3_and_6"] if entry["table"] == number
        ]
        for number in ("3", "6")
    }  # fmt: skip
    expected["4"] = [
        {
            entry["aspect"]: entry["case_weighted"]
            for entry in document("verification")["table_4"]
            if entry["group"] == group
        }
        for group in ("specific", "general")
    ]
    expected["7"] = [{"macro": entry["plain_mean_of_six"]} for entry in document("verification")["table_7"]]
    assert recomputed.keys() == expected.keys()
    for number, rows in expected.items():
        assert recomputed[number] == [pytest.approx(row, abs=6e-4) for row in rows]
    file = tmp_path / "new" / "table.json"
    assert "Table 3 (" in paper("--table", "3", "--json", str(file))
    assert list(json.loads(file.read_text(encoding="utf-8"))["tables"]) == ["3"]


# --- the models -------------------------------------------------------------------------------------------------------


def test_every_row_has_one_model_and_every_model_a_row():
    names, ids = [model.name for model in MODELS], [model.id for model in MODELS]
    assert len(set(names)) == len(set(ids)) == len(MODELS)
    groups = {row.name: row.group for row in table("3").rows}
    trained = {row.name for row in table("6").rows}
    assert set(names) == groups.keys() | trained
    assert {model.name: model.group for model in MODELS} == dict.fromkeys(
        trained - groups.keys(), "reward training"
    ) | groups
    hub = {row.about["hub"] for row in table("8").rows}
    assert {model.id for model in MODELS if model.runs != API} == hub | {"Qwen/Qwen2.5-3B-Instruct"}
    for row in table("8").rows:  # its names differ from Table 6's in one case
        (model,) = [model for model in MODELS if model.id == row.about["hub"]]
        assert model.name == row.name.replace("0.5-", "0.5B-")


def test_the_list_is_a_script_of_every_command_each_on_a_line(monkeypatch):
    """Also where nothing can draw tables."""
    find = errors.importlib.util.find_spec
    monkeypatch.setattr(errors.importlib.util, "find_spec", lambda module: None if module == "rich" else find(module))
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines = paper("--models", COLUMNS="20").splitlines()
    commands = [line for line in lines if line and not line.startswith("# ")]
    of_table = {number: paper("--models", "--table", number).splitlines() for number in ("3", "6", "7")}
    assert commands == [line for of in of_table.values() for line in of if line and not line.startswith("# ")]
    small, others = (
        [model for model in MODELS if (model.group == models.TRAINED) is trained] for trained in (True, False)
    )
    asked = {row.name for row in table("7").rows}
    for number, expected in (
        ("3", [command for model in others for command in model.commands()]),
        ("6", [line for model in small for line in [*model.commands(), *chain(*model.trainings.values())]]),
        ("7", [line for model in MODELS if model.in_table_7 for line in model.commands("persona,rag,no_persona")]),
    ):
        assert [line for line in of_table[number] if line and not line.startswith("# ")] == expected
    assert len([model for model in MODELS if model.in_table_7]) == len(asked)
    for model in MODELS:
        line = f"# {model.name} ({model.group}){'. ' if model.note else ''}{model.note}"
        assert lines.count(line) == 1 + model.in_table_7
    for row in table("6").rows:
        if training := row.about["training"]:
            assert f"# {row.name}, {training}: {row.cells['total_avg']:.1f} in the paper" in of_table["6"]


def test_a_retired_model_says_so_with_a_date():
    retired = [model for model in MODELS if model.note.startswith("Retired")]
    assert len(retired) == 10
    assert all(model.runs == API and models.RETIRED_AS_OF in model.note for model in retired)
    assert f"by what we knew in {models.RETIRED_AS_OF}" in paper("--models", "--table", "6")


def test_json_of_the_models():
    found = json.loads(paper("--models", "--json", "-"))["models"]
    assert [model["id"] for model in found] == [model.id for model in MODELS]
    assert [model["commands"] for model in found] == [model.commands() for model in MODELS]
    assert [model["trainings"] for model in found] == [model.trainings for model in MODELS]
    assert sum(bool(model["commands_table_7"]) for model in found) == len(table("7").rows)


@pytest.mark.parametrize("model", [model for model in MODELS if model.trainings], ids=lambda model: model.name)
def test_the_trainings_have_the_papers_figures_and_lines_that_are_taken(model):
    for pairs, batch, (make, train, score) in zip(
        (["--only", "helpsteer2"], ["--mixture", "paper"]), (32, 64), model.trainings.values(), strict=True
    ):
        _, *words = shlex.split(make)
        assert words == ["build", "training", "ours", *pairs, "--tokenizer", model.id]
        context = training_command.make_context("training", [".", *words[3:]], resilient_parsing=True)
        assert context.params["tokenizer"] == model.id
        flags = dict(zip(*[iter(shlex.split(train)[2:])] * 2, strict=True))
        assert (flags["--model_name_or_path"], flags["--learning_rate"], flags["--num_train_epochs"]) == (
            model.id,
            "1e-5",
            "1",
        )
        assert flags["--max_length"] == "4096"
        assert int(flags["--per_device_train_batch_size"]) * int(flags["--gradient_accumulation_steps"]) == batch
        options, _, task = parsed(score)
        assert task == {"method": "reward"}
        assert options["model"] == f"personafeedback-reward/$PWD/{flags['--output_dir']}"


# --- the commands are taken by those whom they address ----------------------------------------------------------------


def commands(program: str, *kinds: str) -> list:
    return [
        pytest.param(model, command, id=f"{model.name}-{index}")
        for model in MODELS if model.runs in kinds
        for index, command in enumerate([*model.commands(), *(model.commands("persona,rag,no_persona") if model.in_table_7 else [])])
        if command.startswith(f"{program} ")
    ]  # fmt: skip


@pytest.mark.parametrize(("model", "command"), commands("lm_eval", OPEN))
def test_lm_eval_takes_its_commands(model, command):
    with patch("sys.argv", shlex.split(command)):
        config = EvaluatorConfig.from_cli(HarnessCLI().parse_args())
    assert config.model in MODEL_MAPPING
    assert set(config.tasks) <= GROUPS
    assert config.model_args["pretrained"] == model.id
    sampling = {"do_sample": True, "temperature": 0.6, "top_p": 0.95} if model.samples else {}
    assert config.gen_kwargs == ({"max_gen_toks": models.ROOM_TO_REASON} if model.reasons else {}) | sampling
    if "--metadata" in command:
        assert config.metadata["setting"] == "persona,rag,no_persona"
    assert config.log_samples
    assert config.apply_chat_template
    assert config.model_args.get("max_model_len", 10**6) >= config.gen_kwargs.get("max_gen_toks", 1024) + 7000


KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "command"), commands("inspect", API, OPEN))
def test_inspect_takes_its_commands(model, command, monkeypatch):
    """Up to the model. One of the Hub is not loaded here, and one SDK is not installed."""
    options, arguments, task = parsed(command)
    assert task in ({}, {"setting": ["persona", "rag", "no_persona"]})
    assert (options["temperature"], options["top_p"]) == ((0.6, 0.95) if model.samples else (None, None))
    assert (options["max_tokens"] == models.ROOM_TO_REASON) == model.reasons
    if model.runs == OPEN:
        assert (options["model"], arguments) == (f"hf/{model.id}", {} if model.samples else {"do_sample": False})
        return
    assert (options["model"], arguments) == (model.id, {})
    for key in KEYS:
        monkeypatch.setenv(key, "none")
    said = model_or_error(model.id)
    assert said == model.id or (model.id.startswith("google/") and "pip install google-genai" in said)


def model_or_error(name: str) -> str:
    try:
        return str(get_model(name))
    except PrerequisiteError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(("model", "command"), commands("inspect", REWARD, PATCHED))
def test_inspect_takes_the_commands_of_reward_models(model, command):
    pytest.importorskip("torch")
    options, arguments, task = parsed(command)
    assert task == {"method": "reward"}
    made = get_model(options["model"], **arguments)
    folder = model.id.partition("/")[2]
    assert made.api.model_name == (folder if model.runs == PATCHED else model.id)
    assert ",".join(made.api.arguments.get("aspects", ())) == model.aspects


def parsed(command: str) -> tuple[dict, dict, dict]:
    """(the options of an `inspect eval` line, its -M, its -T); the task can be made."""
    options = eval_command.make_context("eval", shlex.split(command)[2:]).params
    assert options["tasks"] == ("personafeedback_tasks/personafeedback",)
    task = parse_cli_args(options["t"])
    # The sample has no memories to search.
    without_memory = {"setting": ["persona", "no_persona"]} if "setting" in task else {}
    inspect_tasks.personafeedback(data="sample", **{**task, **without_memory})
    return options, parse_cli_args(options["m"]), task
