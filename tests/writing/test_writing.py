"""`personafeedback_write`: a model writes in both harnesses, and what is measured follows from its replies."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import personafeedback
from support.inspect_runs import command as inspect_command
from support.logs import bent
from support.recenter import in_inspect, in_lm_eval, same

from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.parsing.answers import REASONS, THINKING_ONLY, WRITTEN, excerpt, read_written
from personafeedback_tasks.parsing.markup import after_thinking, shown_text
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.writing.cases import questions
from personafeedback_tasks.writing.record import WRITE, Writing, build, measures

QUESTIONS = {one.id: one for one in questions(load_cases("sample"))}

REFUSAL = "I'm sorry, but I can't help with that."


def written(name: str, call: str = "") -> str:
    """What a writer of many moods says: the chosen response, a refusal, nothing, thoughts, another language."""
    mood = int(name.rpartition(":")[2], 16) % 6
    chosen = QUESTIONS[name].pairs[0].chosen
    said = [chosen, REFUSAL, "", f"<think>{chosen}</think>\n\n{chosen}", "好的，我来回答你的问题。", f"<think>{chosen}"]
    return said[mood]


def test_each_question_of_a_user_is_asked_once(make_release):
    row = {"user_id": "1", "question": "Which tea?", "chosen": "Green.", "reject": "Black."}
    cells = {
        "general/easy": [row, row | {"question": "Which cake?"}, row | {"user_id": "2"}],
        "general/hard": [row | {"chosen": "Oolong."}],
    }
    root = make_release(cells, {"1": {"Name": "Ada"}, "2": {"Name": "Bo"}})
    found = questions(load_present(root, counts="any"))
    asked = {(one.user_id, one.question): [case.id for case in one.pairs] for one in found}
    assert asked == {
        ("1", "Which tea?"): ["general_easy:1", "general_hard:1"],
        ("1", "Which cake?"): ["general_easy:2"],
        ("2", "Which tea?"): ["general_easy:3"],
    }


@pytest.mark.parametrize("setting", ["persona", "no_persona", "other_persona", "rag"])
def test_no_prompt_shows_a_response_and_each_setting_what_it_tells(setting):
    options = Writing(setting=setting)
    for one in QUESTIONS.values():
        prompt = build(one, options)
        assert one.question in prompt
        assert (one.persona.text in prompt) == (setting == "persona")
        shown = [piece in prompt for piece in one.persona.memory]
        assert shown == [setting == "rag" and piece in options.pieces(one) for piece in one.persona.memory]
        assert all(text not in prompt for case in one.pairs for text in (case.chosen, case.rejected))


@given(st.text(max_size=60), st.booleans())
def test_any_reply_has_measures(reply, truncated):
    one = next(iter(QUESTIONS.values()))
    answer = read_written(reply, truncated)
    found = measures(answer, Reply(reply, truncated), {"question": one.question})
    assert answer in (WRITTEN, *REASONS)
    assert set(found) == {metric.name for metric in WRITE.methods["write"].metrics}
    assert found["written"] + found["truncated"] + found["refused"] <= 1
    assert found["length"] == len(shown_text(reply) or "")
    assert math.isnan(found["language"]) == bool(found["empty"])


def test_a_language_is_held_against_that_of_the_question_and_truncated_is_unknown_where_nobody_says_it():
    said = [measures(WRITTEN, Reply("绿茶。", None), {"question": text}) for text in ("Which tea?", "喝什么茶？")]
    assert [one["language"] for one in said] == [0, 1]
    assert all(math.isnan(one["truncated"]) for one in said)


MARKS = [
    ("<think>", "</think>"), ("<Thinking>\n", "\n</Thinking>"), ("<thought>", "</thought>"), ("<seed:think>", "</seed:think>"), ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"), ("&lt;think&gt;", "&lt;/think&gt;"), ("◁think▷", "◁/think▷"), ("<|think|>", "<|/think|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<|channel>thought", "<channel|>"), ("<unused94>thought\n", "<unused95>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"), ("Thinking...\n", "\n...done thinking.\n"),
]  # fmt: skip
"""How models open and close their thinking."""


@given(st.sampled_from(MARKS), st.text(max_size=30), st.text("ab [<(茶\n.", max_size=30))
def test_thinking_is_not_part_of_a_reply_however_it_is_marked(marks, thought, text):
    """What a judge and the reader of a report see, and what a choice is read from, have the same end of the thinking."""
    thinking = f"{marks[0]}{thought.replace('<', '').replace('[', '')}{marks[1]}"
    for reply in (f"{thinking}{text}", f"{thinking}\n{thinking}{text}", f"{thinking.removeprefix(marks[0])}{text}"):
        assert shown_text(reply) == text.strip(), "the template of the prompt may have opened it"
        assert (after_thinking(reply) == "") == (text.strip() == "")
        assert excerpt(reply) == (excerpt(text) or THINKING_ONLY)
    amid = f"{text}{thinking}{text}"
    in_text = marks[0] == "<reasoning>" and text.strip()
    assert shown_text(amid) in ((amid.strip(),) if in_text else (f"{text}{text}".strip(), text.strip()))
    if not marks[0].startswith("Thinking"):
        unclosed = thinking.removesuffix(marks[1])
        assert (shown_text(unclosed), excerpt(unclosed)) == (None, THINKING_ONLY)
    assert shown_text(text) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ms Li,\n\nI will be late because of <reason>, and will bring <name> along.\n\nBest, Bo",
        "Ask the model for this form:\n<reasoning>its steps</reasoning>\n<answer>a number</answer>\nThen read the number.",
    ],
)
def test_a_blank_or_an_example_in_a_text_is_no_thinking(text):
    assert shown_text(text) == text
    assert shown_text(f"<think>So.</think>{text}") == shown_text(f"<reasoning>So.</reasoning>\n{text}") == text
    assert read_written(text) == WRITTEN
    assert shown_text(f"<reasoning>{text}") in (None, text.partition("</reasoning>")[2].strip())


@pytest.mark.slow
def test_both_harnesses_have_the_numbers_of_the_same_replies(tmp_path):
    in_lm, log_of_lm = in_lm_eval(WRITE, written, tmp_path, method="write")
    in_ins, log_of_ins = in_inspect(WRITE, written, tmp_path, method="write")
    for metric in WRITE.methods["write"].metrics_in("lm-eval"):
        assert same(in_lm[metric.name], in_ins[metric.name]), metric.name
    assert same(in_lm["written_stderr"], in_ins["written_stderr"])
    assert 0 < in_ins["written"] < 1
    assert 0 < in_ins["refused"] < 1
    one, other = map(read_run, (log_of_lm, log_of_ins))
    assert one.cases.keys() == other.cases.keys() == QUESTIONS.keys()
    for name, case in one.cases.items():
        assert case.answers == other.cases[name].answers
        for metric in WRITE.methods["write"].metrics_in("lm-eval"):
            assert same(case.value(metric.name), other.cases[name].value(metric.name))
    # the language of a reply is held against the question, which the log says and the data know
    for file in log_of_lm.parent.glob("samples_*.jsonl"):
        file.write_text(
            file.read_text("utf-8").replace('"facts": {"question": "', '"facts": {"question": "Yes, '), "utf-8"
        )
    changed = bent(
        log_of_ins, tmp_path / "bent", lambda header, rows: rows[-1]["metadata"]["facts"].update(question="?")
    )
    for log in (log_of_lm, changed):
        done = personafeedback("report", log, "--data", "sample")
        assert (done.exit_code, "found other facts of " in done.output) == (1, True), done.output


def test_a_run_of_one_difficulty_finds_its_data(tmp_path):
    records = tmp_path / "said.jsonl"
    records.write_text("".join(json.dumps({"id": name, "reply": "Tea."}) + "\n" for name in QUESTIONS), "utf-8")
    done = inspect_command(
        "personafeedback_tasks/personafeedback_write_hard", "-T", "data=sample",
        "--model", "personafeedback_write/replay", "-M", f"replies={records}", "--log-dir", tmp_path / "logs",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "partial" not in personafeedback("report", tmp_path / "logs", "--data", "sample").output.lower()
    done = personafeedback("score-replies", "personafeedback_write_hard", records, "-T", "data=sample")
    assert "4.000" in done.output  # characters
