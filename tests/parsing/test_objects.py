"""Replies that should be a JSON list of objects."""

from __future__ import annotations

import pytest

from personafeedback_tasks.parsing.objects import read_objects

KEYS = ("attribute", "reason", "quote")
TEA, DOG = ("Likes tea", "Says so.", "I love tea"), ("Has a dog", "", "")
PLAIN = '[{"attribute": "Likes tea", "reason": "Says so.", "quote": "I love tea"}, {"attribute": "Has a dog"}]'


@pytest.mark.parametrize("reply", [
    PLAIN, f"```json\n{PLAIN}\n```", f"Here is what I found:\n\n{PLAIN}\n\nTell me if you need more.", f'{{"attributes": {PLAIN}}}',
    PLAIN.replace("}]", "},\n]").replace('tea"}', 'tea",}'), PLAIN[1:-1].replace("}, {", "}\n{"), PLAIN.replace("attribute", "Attribute"),
    f"<think>[1, 2] or [3]?</think>{PLAIN}", f"{PLAIN}\n\nThe same again:\n{PLAIN}",
])  # fmt: skip
def test_what_models_write_in_place_of_a_plain_list_is_read(reply):
    assert read_objects(reply, KEYS) == (TEA, DOG)
    assert read_objects(reply, KEYS, truncated=True) == "truncated", "it may go on"


@pytest.mark.parametrize("reply", ["[]", "```json\n[]\n```", '{"attributes": []}', "NONE", "No attributes found."])
def test_nothing_is_a_list(reply):
    assert read_objects(reply, KEYS) == ()


UNREADABLE = [
    "The user likes tea.", "1. Likes tea\n2. Has a dog", PLAIN[:-20], '[{"reason": "Says so."}]', "[" * 100_000 + '"',
    '[{"attribute": "Likes tea"}] or perhaps [{"attribute": "Has a dog"}]',
]  # fmt: skip


def test_what_cannot_be_read_has_a_reason():
    assert {read_objects(reply, KEYS) for reply in UNREADABLE} == {"invalid_response_format"}
    replies = ("", "<think>Where do I begin?", "I'm sorry, but I cannot help with that.")
    assert [read_objects(reply, KEYS) for reply in replies] == ["no_response", "truncated", "refusal"]
