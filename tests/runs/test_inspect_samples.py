"""Samples of Inspect's logs, parsed by its own parser: as json has them, whatever is in their texts."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("inspect_ai")

from personafeedback_tasks.runs.inspect_log import _parsed


@pytest.mark.parametrize(
    "raw",
    [
        b'{"text": "\\ud83d", "n": 1}',  # a reply that was cut off within an emoji
        b'{"text": "\\ud83d\\ude00 \xe4\xbd\xa0 \\u0000"}',
        b'{"n": [NaN, Infinity, -Infinity, 1e999, -0.0, 5e-324, 0.1234567890123456789]}',
        b'{"n": 123456789012345678901234567890, "n": 2}',
        b" [] ",
    ],
)
def test_a_sample_is_what_json_makes_of_it(raw):
    assert repr(_parsed(raw)) == repr(json.loads(raw))


@pytest.mark.parametrize("raw", [b"", b"{", b"[1,]", b'{"a": 1} x', b'{"a": "\x01"}'])
def test_a_broken_one_is_an_error_of_json(raw):
    with pytest.raises(json.JSONDecodeError):
        _parsed(raw)
