"""The conversations that reward models score."""

from __future__ import annotations

from itertools import product

import pytest

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.personafeedback import conversations
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template as Options


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
        conversations.check(Options(method="reward", **options))
