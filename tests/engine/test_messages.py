"""The sentences that a run says about itself, and the options that its name shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from personafeedback_tasks.choice.orders import ORDERS
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.engine import messages
from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.engine.window import PromptCheck
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template, build
from personafeedback_tasks.personafeedback.prompts import Template as Options
from personafeedback_tasks.personafeedback.rag.filter import warning as unfiltered
from personafeedback_tasks.replies.answers import LETTERS, REASONS

RECORD = find("personafeedback")


def opening(template, **kwargs):
    return messages.opening(RECORD, options=[template], **kwargs)


def unreadable(task, answers, method="generate"):
    return messages.unreadable(RECORD, task, answers, RECORD.methods[method])


@pytest.fixture
def two_cases(make_release):
    rows = [{"user_id": user, "question": "?", "chosen": "yes", "reject": "no"} for user in ("u1", "u2", "u3")]
    personas = {"u1": {"Name": "Ann"}, "u2": {"Name": "李雷"}, "u3": {"Name": "韩梅梅"}}
    return load_cases(make_release({"general/easy": rows}, personas), "general", "easy", counts="any")


NO_PERSONA = Template(setting="no_persona")
RUN = {"task": "personafeedback_hard", "calls": 5384, "prompts": PromptCheck(5384, 0, 8192)}


@pytest.mark.parametrize(
    ("template", "end"), [(None, ""), (True, "; chat template applied"), (False, "; chat template not applied")]
)
def test_the_opening_line_says_what_is_run(two_cases, template, end):
    characters = sum(len(build(case, NO_PERSONA, order)) for case in two_cases[:2] for order in ORDERS)
    assert opening(**RUN, asked=two_cases[:2], template=NO_PERSONA, data=two_cases, chat_template=template) == (
        f"personafeedback_hard: 2 of 3 cases; 5,384 model calls; {characters:,} prompt characters; "
        f"all prompts fit into 8,192 tokens; setting no_persona; "
        f"method generate; prompt v1; data {two_cases.revision}; languages en 1, zh 1{end}"
    )


def test_the_opening_line_of_a_sample_run_is_no_evidence(two_cases):
    remark = "; DEMONSTRATION on the bundled sample: not evidence about any model"
    sample = load_cases("sample")
    assert opening(**RUN, asked=sample, template=Template(method="mc"), data=sample).endswith(
        f"; languages en 24, zh 24{remark}"
    )
    assert remark not in opening(**RUN, asked=two_cases, template=Template(method="mc"), data=two_cases)


def test_the_opening_line_says_that_one_user_gives_no_standard_error(two_cases):
    assert "ONE USER: the standard error is undefined" in opening(
        **RUN, asked=two_cases[:1], template=Template(method="mc"), data=two_cases
    )
    assert "ONE USER" not in opening(**RUN, asked=two_cases, template=Template(method="mc"), data=two_cases)


def test_tied_log_likelihoods_have_a_remedy_of_their_own():
    warning = unreadable("t_mc", ["A", "invalid_response_format"], "mc")
    assert "softmax_dtype=float32" in warning
    assert "max_gen_toks" not in warning


@pytest.mark.parametrize("hundreds", [1, 7, 29, 57, 83])
def test_one_percent_unreadable_is_not_worth_a_warning_and_one_reply_more_is(hundreds):
    replies = ["refusal"] * hundreds + ["A", "B", "B"] * (33 * hundreds)
    assert len(replies) == 100 * hundreds
    assert unreadable("t", replies) is None
    assert unreadable("t", ["refusal", *replies[:-1]]) is not None


def test_a_single_empty_reply_is_worth_a_warning_since_it_may_be_a_broken_server():
    warning = unreadable("t", ["no_response", "refusal", *["A"] * 998])
    assert "2 of 1,000 replies (0.2%) are unreadable" in warning
    assert "among them: no_response (1)" in warning


@pytest.mark.parametrize("replies", [[], ["A"], ["A", "B"]])
def test_readable_replies_need_no_warning(replies):
    assert unreadable("t", replies) is None


def test_more_than_one_percent_of_unreadable_filters_is_worth_a_warning():
    assert unfiltered("t", []) is None
    assert unfiltered("t", ["kept 0 of 5"] * 99 + ["unreadable"]) is None
    warning = unfiltered("t", ["kept 0 of 5"] * 98 + ["unreadable"] * 2)
    assert warning is not None
    assert warning.startswith("t: 2 of 100 replies to rag_filter (2.0%) are unreadable")


ROOM = "max_gen_toks=16384"
SERVER = "server (lm-eval turns a broken reply into an empty one)"


@pytest.mark.parametrize(
    ("reason", "remedies"),
    [
        ("truncated", [ROOM, "--max-tokens 16384"]),
        ("no_response", [SERVER, ROOM]),
        ("refusal", ["declines"]),
        ("invalid_response_format", ["--apply_chat_template", "_mc", ROOM]),
    ],
)
def test_the_warning_names_the_most_common_reason_and_its_remedy(reason, remedies):
    other = next(name for name in REASONS if name != reason)
    replies = iter([*LETTERS * 593, reason, other] + [reason] * 12)
    warning = unreadable("personafeedback_hard", replies)
    assert warning is not None
    assert warning.startswith(
        "personafeedback_hard: 14 of 1,200 replies (1.2%) are unreadable and count as wrong; "
        f"most common reason: {reason} (13). "
    )
    assert [remedy for remedy in remedies if remedy not in warning] == []


def test_every_reason_has_a_remedy_and_a_tie_is_decided_by_name():
    assert "among them: prompt_cut (1). The prompts do not fit" in str(
        unreadable("t", ["prompt_cut", *["truncated"] * 9])
    )
    assert "among them: prompt_cut (1)" in str(unreadable("t", ["prompt_cut", *["A"] * 999]))
    for reason in REASONS:
        assert f"most common reason: {reason} (1). " in str(unreadable("t", [reason]))
    assert "most common reason: refusal (1). " in str(unreadable("t", ["truncated", "refusal"]))
    assert "most common reason: refusal (1). " in str(unreadable("t", ["refusal", "truncated"]))


# --- options ---------------------------------------------------------------------------------------------------------


def test_options_are_taken_out_of_other_peoples_mapping():
    assert Options.read({}) == Options(data=None, setting="persona", counts="checked")
    read = Options.read({"data": "sample", "setting": "no_persona", "counts": "any", "pretrained": "x", "task": 1})
    assert read == Options(data="sample", setting="no_persona", counts="any")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("setting", "none", "setting must be one of persona, no_persona, other_persona, rag, got 'none'."),
        (
            "setting",
            ["persona"],
            r"setting must be one of persona, no_persona, other_persona, rag, got \['persona'\].",
        ),
        ("counts", "all", "counts must be one of checked, any, got 'all'."),
        ("data", 7, "data must be a folder, 'sample' or a Hub dataset id, got 7."),
    ],
)
def test_an_option_that_does_not_exist_is_refused(option, value, sentence):
    with pytest.raises(OptionError, match=f"^{sentence}$"):
        Options.read({option: value})


def test_a_name_shows_what_must_not_be_overlooked(two_cases):
    sample = load_cases("sample")
    assert RECORD.named("t", two_cases, Options()) == "t"
    assert RECORD.named("t", two_cases, Options(setting="no_persona")) == "t (no_persona)"
    assert RECORD.named("t", sample, Options()) == "t (demonstration)"
    assert RECORD.named("t", sample, Options(setting="no_persona")) == "t (no_persona, demonstration)"


def test_the_remedy_fits_the_method():
    answers = ["A", "invalid_response_format"]
    assert "--apply_chat_template" in unreadable("t", answers)
    assert "softmax_dtype=float32" in unreadable("t", answers, "mc")
    assert "see p_letters" in unreadable("t", answers, "logprobs")
    assert "give thinking models room" in unreadable("t", ["A", "no_response"], "logprobs")


def test_the_characters_of_a_reward_run_are_those_of_its_conversations(two_cases):
    line = opening(**RUN, asked=two_cases[:1], template=Template(method="reward", setting="no_persona"), data=two_cases)
    assert f"; {len('?yes?no')} prompt characters" in line


# --- a run that is refused ---------------------------------------------------------------------------------------------

LM_EVAL = ["lm_eval", "run", "--include_path", task_configs(), "--model", "dummy", "--tasks", "personafeedback_hard"]
NO_FILE = (
    "Error: {0}/data/spedific/hard.jsonl or {0}/data/specific/hard.jsonl: no such file, so there are no specific_hard cases. "
    "Get a complete copy of the release, or run only tasks whose cells are all present."
)
NO_SETTING = "Error: setting must be one of persona, no_persona, other_persona, rag, got 'x'."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (LM_EVAL, NO_FILE),
        pytest.param([*LM_EVAL, "--metadata", '{"setting": "x"}'], NO_SETTING, marks=pytest.mark.release),
    ],
)
def test_the_last_line_of_a_refused_run_of_lm_eval_is_our_sentence(command, sentence, make_release, tmp_path):
    pytest.importorskip("lm_eval")
    release = make_release(
        {"general/hard": [{"user_id": "u", "question": "?", "chosen": "a", "reject": "b"}]}, {"u": {"Name": "x"}}
    )
    done = subprocess.run(
        [Path(sys.executable).with_name(command[0]), *command[1:]], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PERSONAFEEDBACK_DATA": str(release), "COLUMNS": "500"}, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert " ".join(done.stdout.split()).endswith(sentence.format(release))
