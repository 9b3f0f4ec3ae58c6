"""Replies that should be a JSON list of objects."""

from __future__ import annotations

import pytest

from personafeedback_tasks.parsing.objects import read_objects

KEYS = ("attribute", "reason", "quote")
TEA, DOG = ("Likes tea", "Says so.", "I love tea"), ("Has a dog", "", "")
PLAIN = '[{"attribute": "Likes tea", "reason": "Says so.", "quote": "I love tea"}, {"attribute": "Has a dog"}]'


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"Here is what I found:\n\n{PLAIN}\n\nTell me if you need more.",
        PLAIN.replace("}]", "},\n]").replace('tea"}', 'tea",}'),
        f'{{"attributes": {PLAIN}}}',
        PLAIN[1:-1].replace("}, {", "}\n{"),
        PLAIN.replace("attribute", "Attribute"),
        f"<think>[1, 2] or [3]?</think>{PLAIN}",
        f"{PLAIN}\n\nThe same again:\n{PLAIN}",
    ],
)
def test_what_models_write_in_place_of_a_plain_list_is_read(reply):
    found = read_objects(reply, KEYS)
    assert [tuple(text.rstrip(".") for text in one) for one in found] == [
        tuple(text.rstrip(".") for text in one) for one in (TEA, DOG)
    ]


@pytest.mark.parametrize("reply", ["[]", "```json\n[]\n```", '{"attributes": []}', "NONE", "No attributes found."])
def test_nothing_is_a_list(reply):
    assert read_objects(reply, KEYS) == ()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no_response"),
        ("<think>Where do I begin?", "truncated"),
        ("I'm sorry, but I cannot help with that.", "refusal"),
        ("The user likes tea.", "invalid_response_format"),
        ("1. Likes tea\n2. Has a dog", "invalid_response_format"),
        (PLAIN[:-20], "invalid_response_format"),
        ('[{"reason": "Says so."}]', "invalid_response_format"),
        ('[{"attribute": "Likes tea"}] or perhaps [{"attribute": "Has a dog"}]', "invalid_response_format"),
        ("[" * 100_000 + '"', "invalid_response_format"),
    ],
)
def test_what_cannot_be_read_has_a_reason(reply, reason):
    assert read_objects(reply, KEYS) == reason


def test_a_list_that_was_cut_off_may_go_on():
    assert read_objects(PLAIN, KEYS, truncated=True) == "truncated"
