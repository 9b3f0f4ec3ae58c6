"""What `personafeedback export` writes: the schema that RewardBench's reader takes, run against its 0.1.4 once."""

from __future__ import annotations

import json
from itertools import product

import pytest
from click.testing import CliRunner

from personafeedback_tasks.cli.main import main
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.personafeedback import conversations
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template as Options


def run(*arguments):
    done = CliRunner().invoke(main, ["export", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.mark.parametrize("setting", conversations.SETTINGS)
def test_every_row_holds_one_case_as_two_whole_conversations_marked_as_test_data(setting, tmp_path):
    out = tmp_path / "cases" / "rewardbench.jsonl"
    code, said = run("--data", "sample", "--setting", setting, "--out", out.parent)
    cases = load_cases("sample")
    assert code == 0, said
    assert f"wrote {out}: {len(cases)} cases" in said
    rows = [json.loads(line) for line in out.read_bytes().decode().removesuffix("\n").split("\n")]
    assert [row["id"] for row in rows] == [case.id for case in cases]
    for row, case in zip(rows, cases, strict=True):
        assert set(row) == {"prompt", "chosen", "rejected", "split", "notice", "id", "cell", "user_id", "digest"}
        (question,) = row["prompt"]
        # RewardBench takes the prompt from chosen, and turns by their place: user, assistant.
        assert row["chosen"] == [question, {"role": "assistant", "content": case.chosen}]
        assert row["rejected"] == [question, {"role": "assistant", "content": case.rejected}]
        assert question["role"] == "user"
        assert question["content"].endswith(case.question)
        assert (case.persona.text in question["content"]) == (setting == "persona")
        assert (case.another("other_persona").text in question["content"]) == (setting == "other_persona")
        assert (row["split"], row["notice"]) == (
            "test",
            conversations.NOTICE.format("PersonaFeedback (arXiv 2506.12915)"),
        )
        assert (row["cell"], row["user_id"], row["digest"]) == (case.cell, case.user_id, case.digest)


def test_the_conversation_about_another_persona_is_that_of_persona_with_the_other_profile():
    for case, hide in product(load_cases("sample"), [(), ("Name",)]):
        told, *rest = conversations.conversation(case, Options(hide=hide), "chosen")
        wrong, *others = conversations.conversation(case, Options(setting="other_persona", hide=hide), "chosen")
        right, other = (persona.without(hide).text for persona in (case.persona, case.another("other_persona")))
        assert wrong == {"role": "system", "content": told["content"].replace(right, other)} != told
        assert others == rest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "v2"}, "prompt does not apply to reward models, got 'v2'. Leave prompt out."),
        (
            {"setting": "rag"},
            "Reward models support setting=persona, no_persona, other_persona, similar_persona or padding, got 'rag'",
        ),
    ],
)
def test_what_has_no_meaning_for_a_reward_model_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        list(conversations.rewardbench(load_cases("sample"), Options(method="reward", **options)))
