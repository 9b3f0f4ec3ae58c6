"""The sentences that a run says about itself, and the options that its name shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.core import messages
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.parsing.answers import LETTERS, REASONS
from personafeedback_tasks.personafeedback.prompts import SETTINGS

RECORD = find("personafeedback")


def unreadable(task, answers, method="generate", harness="lm-eval"):
    return messages.unreadable(RECORD, task, answers, RECORD.methods[method], harness)


@pytest.mark.parametrize("hundreds", [1, 7, 29, 57, 83])
def test_one_percent_unreadable_is_not_worth_a_warning_and_one_reply_more_is(hundreds):
    replies = ["refusal"] * hundreds + ["A", "B", "B"] * (33 * hundreds)
    assert len(replies) == 100 * hundreds
    assert unreadable("t", replies) is None
    assert unreadable("t", ["refusal", *replies[:-1]]) is not None


def test_more_than_one_percent_of_unreadable_filters_is_worth_a_warning():
    assert messages.unreadable_first("t", "rag_filter", []) is None
    assert messages.unreadable_first("t", "rag_filter", ["kept 0 of 5"] * 99 + ["unreadable"]) is None
    warning = messages.unreadable_first("t", "rag_filter", ["kept 0 of 5"] * 98 + ["unreadable"] * 2)
    assert warning is not None
    assert warning.startswith("t: 2 of 100 replies to rag_filter (2.0%) are unreadable")


@pytest.mark.parametrize("reason", ["truncated", "no_response", "refusal", "invalid_response_format"])
def test_the_warning_names_the_most_common_reason(reason):
    other = next(name for name in REASONS if name != reason)
    warning = unreadable("hard", [*LETTERS * 593, reason, other] + [reason] * 12)
    said = f"hard: 14 of 1,200 replies (1.2%) are unreadable and count as wrong; most common reason: {reason} (13). "
    assert warning.startswith(said)


def test_a_single_empty_reply_is_worth_a_warning_since_it_may_be_a_broken_server():
    warning = unreadable("t", ["no_response", "refusal", *["A"] * 998])
    assert "2 of 1,000 replies (0.2%) are unreadable" in warning
    assert "among them: no_response (1)" in warning


@pytest.mark.parametrize(
    ("benchmark", "method", "harness", "reason", "options", "others"),
    [
        ("personafeedback", "generate", "lm-eval", "invalid_response_format", ["--apply_chat_template", "_mc", "max_gen_toks"], ["-T", "--max-tokens"]),
        ("personafeedback", "generate", "inspect-ai", "invalid_response_format", ["-T method=logprobs", "--max-tokens"], ["_mc", "--gen_kwargs"]),
        ("personafeedback", "generate", "lm-eval", "no_response", ["max_gen_toks", "lm-eval turns"], ["--max-tokens"]),
        ("personafeedback", "generate", "inspect-ai", "no_response", ["--max-tokens"], ["lm-eval"]),
        ("personafeedback", "generate", "inspect-ai", "truncated", ["--max-tokens"], ["--gen_kwargs"]),
        ("personafeedback", "mc", "lm-eval", "invalid_response_format", ["softmax_dtype=float32"], ["--apply_chat_template"]),
        ("personafeedback", "logprobs", "inspect-ai", "invalid_response_format", ["p_letters"], ["-T method=logprobs"]),
        ("recenter_relevance", "generate", "lm-eval", "invalid_response_format", ["--apply_chat_template", "YES or NO"], ["_mc"]),
        ("recenter_relevance", "select", "inspect-ai", "invalid_response_format", ["with the numbers of"], ["YES"]),
        ("recenter_extract", "extract", "inspect-ai", "invalid_response_format", ["with a JSON list of"], ["listed"]),
    ],
)  # fmt: skip
def test_a_remedy_names_options_of_its_harness_its_method_and_its_benchmark(
    benchmark, method, harness, reason, options, others
):
    record = find(benchmark)
    remedy = messages.remedy(record, record.methods[method], reason, harness)
    assert [option for option in options if option not in remedy] == []
    assert [option for option in others if option in remedy] == []


# --- a run that is refused ---------------------------------------------------------------------------------------------

LM_EVAL = ["lm_eval", "run", "--include_path", task_configs(), "--model", "dummy", "--tasks", "personafeedback_hard"]
NO_FILE = (
    "Error: {0}/data/spedific/hard.jsonl or {0}/data/specific/hard.jsonl: no such file, so there are no specific_hard cases. "
    "Get a complete copy of the release, or run only tasks whose cells are all present: general_hard."
)
NO_SETTING = f"OptionError: setting must be one of {', '.join(SETTINGS)}, got 'x'."


@pytest.mark.release
@pytest.mark.parametrize(
    ("command", "sentence"), [(LM_EVAL, NO_FILE), ([*LM_EVAL, "--metadata", '{"setting": "x"}'], NO_SETTING)]
)
def test_the_last_line_of_a_refused_run_of_lm_eval_is_our_sentence(command, sentence, make_release, tmp_path):
    release = make_release(
        {"general/hard": [{"user_id": "u", "question": "?", "chosen": "a", "reject": "b"}]}, {"u": {"Name": "x"}}
    )
    done = subprocess.run(
        [Path(sys.executable).with_name(command[0]), *command[1:]], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PERSONAFEEDBACK_DATA": str(release), "COLUMNS": "500"}, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert " ".join(done.stdout.split()).endswith(sentence.format(release))
