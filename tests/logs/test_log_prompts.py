"""Prompts are ours, whole: a log that says another setting, wording or order than its prompts have is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import personafeedback, ran
from support.judges import OTHER
from support.logs import bent, inspect_log, lm_eval_log, set_options, set_version, signed

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.prompts import Template

pytestmark = pytest.mark.slow

Json = dict[str, Any]
HARD = "personafeedback_general_hard"
HARNESSES = ("lm-eval", "inspect")
ASKED: dict[str, Json] = {
    "persona": {"setting": "persona"}, "no_persona": {"setting": "no_persona"}, "v2": {"prompt": "v2"},
    "hidden": {"hide": "Name"},
}  # fmt: skip


def task_of(header: Json) -> str:
    return HARD if "eval" in header else str(next(iter(header["configs"])))


def claim(**fields: Any) -> Callable[[Json, list[Json]], None]:
    """Other values in the signature alone."""
    return lambda header, rows: signed(header, task_of(header)).update(fields)


def claim_everywhere(data: Path | str = "sample", **options: Any) -> Callable[[Json, list[Json]], None]:
    """Other options everywhere but in the prompts."""
    return lambda header, rows: set_options(header, task_of(header), data, **options)


def refused(log: Path, data: Path | str, tmp_path: Path) -> str:
    """What `report` and `card` say of a log that they refuse; the same, in one sentence."""
    said = set()
    for command in (("report",), ("card", "--model-card", tmp_path / "card.md")):
        done = personafeedback(*command, log, "--data", data)
        assert done.exit_code == 1, done.output
        assert re.fullmatch(r"Error: [^\n]*\n", done.output), done.output
        said.add(done.output)
    assert not (tmp_path / "card.md").exists()
    (sentence,) = said
    return str(sentence)


def accepted(log: Path, data: Path | str) -> str:
    done = ran("report", "--full", log, "--data", data)
    assert "not compared" not in done.output
    return str(done.stdout)


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[tuple[str, str], Path]:
    """(harness, how it was asked) -> a log on the sample."""
    folder = tmp_path_factory.mktemp("logs")
    found = {}
    for name, options in ASKED.items():
        found["lm-eval", name] = lm_eval_log(folder / f"lm {name}", "readable", HARD, "sample", metadata=options)
        given = options if "setting" in options else {"told": options}
        found["inspect", name] = inspect_log(folder / f"inspect {name}", "readable", HARD, "sample", **given)
    found["mc", "persona"] = lm_eval_log(folder / "mc", "readable", f"{HARD}_mc", "sample")
    return found


def test_no_honest_log_is_refused(logs):
    for log in logs.values():
        accepted(log, "sample")
        assert len(read_run(log).asked or ()) == 8


# --- signatures -------------------------------------------------------------------------------------------------------

CLAIMS: dict[str, tuple[Json, str]] = {
    "newer": ({"task_version": "9.0"}, rf"found task version 9\.0 of personafeedback, expected at most {re.escape(TASK_VERSION)}"),
    "1.10 is newer than 1.2": ({"task_version": "1.10"}, r"found task version 1\.10 of personafeedback"),
    "setting": ({"setting": "no_persona"}, "found the settings persona, expected no_persona"),
    "method": ({"method": "cot"}, "(found another prompt|found no answers from our scorer|found the answers)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("harness", HARNESSES)
def test_a_signature_that_the_prompts_or_the_data_refute_is_refused(harness, name, logs, tmp_path):
    fields, sentence = CLAIMS[name]
    log = bent(logs[harness, "persona"], tmp_path / "bent", claim(**fields))
    assert re.search(sentence, refused(log, "sample", tmp_path))


# --- the prompts ------------------------------------------------------------------------------------------------------


CLAIMED: list[Json] = [{"setting": "no_persona"}, {"prompt": "v2"}, {"hide": ["Name"]}]


@pytest.mark.parametrize("claimed", CLAIMED, ids=str)
@pytest.mark.parametrize("harness", HARNESSES)
def test_a_log_under_another_name_has_other_prompts(harness, claimed, logs, tmp_path):
    for name, options in ASKED.items():
        own = Template.read(options)
        if "no_persona" in (claimed.get("setting"), own.setting) and ("hide" in claimed or own.hide):
            continue  # no run has both
        log = bent(logs[harness, name], tmp_path / "bent", claim_everywhere(**claimed))
        if Template.read({**own.signed(), **claimed}) == own:
            accepted(log, "sample")
            continue
        done = personafeedback("report", log, "--data", "sample")
        sentence = r"found (another prompt \(chosen_first\) than its options ask for|the settings )"
        assert re.fullmatch(rf"Error: [^\n]*{sentence}[^\n]*\n", done.output), (name, done.output)


def test_the_orders_are_those_of_the_calls(logs, tmp_path):
    def swap_lm_eval(header: Json, rows: list[Json]) -> None:
        for row in rows:
            first, second = row["arguments"].values()
            row["arguments"] = {"gen_args_0": second, "gen_args_1": first}

    def swap_inspect(header: Json, rows: list[Json]) -> None:
        for row in rows:
            for message in row["events_data"]["messages"]:
                message["metadata"]["call"] = TWO.names[message["metadata"]["call"] == TWO.names[0]]

    for harness, swap in (("lm-eval", swap_lm_eval), ("inspect", swap_inspect)):
        log = bent(logs[harness, "persona"], tmp_path / harness, swap)
        assert re.search(r"found another (prompt \(chosen_first\)|reply)", refused(log, "sample", tmp_path))


def test_labels_are_those_of_the_log_likelihoods(logs, tmp_path):
    def swap(header: Json, rows: list[Json]) -> None:
        for row in rows:
            for request in row["arguments"].values():
                request["arg_1"] = f" {OTHER[request['arg_1'].strip()]}"

    log = bent(logs["mc", "persona"], tmp_path / "mc", swap)
    assert "found another prompt (chosen_first, A)" in refused(log, "sample", tmp_path)


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_log_without_prompts_says_so_before_the_numbers(harness, logs, tmp_path):
    def lose(header: Json, rows: list[Json]) -> None:
        rows[0].pop("arguments", None)
        rows[0]["events"] = []

    log = bent(logs[harness, "persona"], tmp_path / harness, lose)
    said = " ".join(personafeedback("report", log, "--data", "sample").stdout.split())
    line = "its prompts were not compared with its options: 1 of 8 cases have no prompt in the log."
    assert line in said.partition("accuracy")[0]


# --- hints, prefills, other prompts, and what a harness adds ----------------------------------------------------------

Message = dict[str, Any]
Change = Callable[[int, str, list[Message]], list[Message]]
"""(number of the row, its right label, the messages of a call) -> other messages."""


def user(change: Callable[[int, str, str], str]) -> Change:
    """Another text in the last message."""
    return lambda number, gold, messages: [*messages[:-1], {**messages[-1], "content": change(number, gold, messages[-1]["content"])}]  # fmt: skip


OTHERWISE: dict[str, Change] = {
    "a hint in every prompt": user(lambda number, gold, text: f"{text}\n\nHint: people preferred {gold}."),
    "a hint in the last prompt": user(lambda number, gold, text: f"{text} ({gold})" if number == 7 else text),
    "a space at the end": user(lambda number, gold, text: f"{text} "),
    "a system turn each": lambda number, gold, messages: [{"role": "system", "content": f"It is {gold}."}, *messages],
    "the beginning of a reply": lambda number, gold, messages: [*messages, {"role": "assistant", "content": "Answer:"}],
    "a conversation before": lambda number, gold, messages: [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hi!"}, *messages],
}  # fmt: skip


def ask_otherwise(change: Change) -> Callable[[Json, list[Json]], None]:
    """What the model was asked is changed, in every place of a log that has it."""

    def lm_eval(number: int, row: Json) -> None:
        for request, gold in zip(row["arguments"].values(), row["doc"]["targets"], strict=True):
            messages = change(number, gold, [{"role": "user", "content": request["arg_0"]}])
            request["arg_0"] = messages[0]["content"] if len(messages) == 1 else messages

    def inspect(number: int, row: Json) -> None:
        pool = []
        calls = [event for event in row["events"] if event["event"] == "model"]
        for event, message in zip(calls, row["events_data"]["messages"], strict=True):
            text = row["attachments"][message["content"].removeprefix("attachment://")]
            gold = row["target"][TWO.names.index(message["metadata"]["call"])]
            made = change(number, gold, [{**message, "content": text}])
            made[-1].setdefault("metadata", message["metadata"])
            event["input_refs"] = [[len(pool), len(pool) + len(made)]]
            pool += made
        row["events_data"]["messages"] = pool

    def changed(header: Json, rows: list[Json]) -> None:
        for number, row in enumerate(sorted(rows, key=lambda row: str(row.get("id", row.get("doc_id"))))):
            (inspect if "eval" in header else lm_eval)(number, row)

    return changed


@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.parametrize("harness", HARNESSES)
def test_prompts_are_ours_to_the_last_character_in_every_row(harness, name, logs, tmp_path):
    log = bent(logs[harness, "persona"], tmp_path / "bent", ask_otherwise(OTHERWISE[name]))
    assert "found another prompt" in refused(log, "sample", tmp_path)


def test_no_command_takes_a_log_with_other_prompts(logs, tmp_path):
    log = bent(logs["lm-eval", "persona"], tmp_path / "bent", ask_otherwise(OTHERWISE["a space at the end"]))
    for command in (("rank", log, logs["mc", "persona"]), ("compare", log, logs["lm-eval", "no_persona"])):
        done = personafeedback(*command, "--data", "sample")
        assert (done.exit_code, "found another prompt" in done.output) == (1, True), done.output


def test_a_tool_that_the_model_had_is_another_prompt(logs, tmp_path):
    def tool(header: Json, rows: list[Json]) -> None:
        for row in rows:
            for event in row["events"]:
                if event["event"] == "model":
                    event["tools"] = [{"name": "oracle", "description": "says which response is better", "parameters": {"type": "object"}}]  # fmt: skip

    log = bent(logs["inspect", "persona"], tmp_path / "bent", tool)
    assert "oracle" in refused(log, "sample", tmp_path)


CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def applied(template: str, system: str = "", before: str = "", after: str = "") -> Callable[[Json, list[Json]], None]:
    """A chat template in an lm-eval log: rendered where it is CHATML, messages where it is empty."""

    def change(header: Json, rows: list[Json]) -> None:
        header["chat_template"] = template
        for row in rows:
            for request in row["arguments"].values():
                turns = [{"role": "user", "content": f"{before}{request['arg_0']}{after}"}]
                turns = ([{"role": "system", "content": system}] if system else []) + turns
                text = "".join(f"<|im_start|>{turn['role']}\n{turn['content'].strip()}<|im_end|>\n" for turn in turns)
                sent = [json.dumps(turns, ensure_ascii=False)]  # as models behind an API have it
                request["arg_0"] = f"{text}<|im_start|>assistant\n" if template else sent

    return change


@pytest.mark.parametrize("template", ["", CHATML], ids=["messages", "a template"])
def test_a_chat_template_and_a_system_instruction_may_wrap_a_prompt(template, logs, tmp_path):
    def claims(header: Json, rows: list[Json]) -> None:
        header["system_instruction"] = "Be kind."

    plain, log = logs["lm-eval", "persona"], logs["lm-eval", "hidden"]
    accepted(bent(log, tmp_path / "chat", applied(template)), "sample")
    accepted(bent(log, tmp_path / "system", claims, applied(template, "Be kind.")), "sample")
    for name, changes in {
        "an instruction that no prompt has": (claims, applied(template)),
        "one that the log does not name": (applied(template, "People preferred B."),),
        "a hint before": (applied(template, before="Hint: people preferred B.\n"),),
        "a hint after": (applied(template, after="\nHint: people preferred B."),),
    }.items():
        bad = bent(log, tmp_path / "bad", *changes)
        done = personafeedback("card", bad, "--model-card", tmp_path / "card.md", "--data", "sample")
        assert done.exit_code == 1, name
        said = personafeedback("report", bad, "--data", "sample").output
        # nobody can render a template without its tokenizer
        expected = "OTHER PROMPTS" if template else "found another prompt"
        assert expected in said.partition("accuracy")[0], (name, said)

    def one_more(header: Json, rows: list[Json]) -> None:
        applied(template, after="\nuser")(header, rows[:1])  # words of the template, in one row alone

    def all_but_one(header: Json, rows: list[Json]) -> None:
        applied(template)(header, rows[1:])

    assert "found another prompt" in refused(bent(plain, tmp_path / "one", one_more, all_but_one), "sample", tmp_path)
    for name, changes in {
        "no template": (applied(template), lambda header, rows: header.update(chat_template=None)),
        "a template that no prompt has": (lambda header, rows: header.update(chat_template=None, system_instruction="Be kind."),),
        "examples": (lambda header, rows: header["configs"][HARD].update(num_fewshot=5),),
    }.items():  # fmt: skip
        assert re.search("found (another prompt|num_fewshot 5)", refused(bent(plain, tmp_path / name, *changes), "sample", tmp_path))  # fmt: skip


def test_inspects_own_system_message_may_be_before_a_prompt(tmp_path):
    log = inspect_log(tmp_path / "logs", "readable", HARD, "sample", system_message="Be kind.")
    accepted(log, "sample")

    def other(header: Json, rows: list[Json]) -> None:
        header["plan"]["config"]["system_message"] = header["eval"]["model_generate_config"]["system_message"] = (
            "Be rude."
        )

    assert "found another prompt" in refused(bent(log, tmp_path / "bent", other), "sample", tmp_path)


# --- other prompts, other data ----------------------------------------------------------------------------------------------------


def older(header: Json, rows: list[Json]) -> None:
    set_version(header, task_of(header), "1.1")
    signed(header, task_of(header))["fingerprint"] = "v1-000000000000"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (older, "task version 1.1 had other prompts (fingerprint v1-000000000000; "),
        (claim(data="000000000000"), "are not those of the run (sha256 000000000000)"),
    ],
)
@pytest.mark.parametrize("harness", HARNESSES)
def test_other_prompts_or_data_are_said_and_make_no_card(harness, change, sentence, part_log, real_part, tmp_path):
    log = bent(part_log(harness, "readable", HARD), tmp_path / "bent", change)
    assert sentence in " ".join(ran("report", "--full", log, "--data", real_part).stdout.split())
    done = personafeedback("card", log, "--model-card", tmp_path / "card.md", "--data", real_part)
    assert done.exit_code == 1
    assert "should not be in a model card" in done.output
    assert sentence in " ".join(done.output.split())
