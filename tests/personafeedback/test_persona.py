"""A persona's text loses nothing; its language is that of its values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personafeedback_tasks.personafeedback.persona import Persona
from personafeedback_tasks.personafeedback.release import locate


def marks(value: Any) -> Iterator[str]:
    """Every key, scalar and empty object of a JSON value, as a text that should stand in the prompt."""
    if not isinstance(value, (dict, list)) or not value:
        yield value if isinstance(value, str) else json.dumps(value)
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield f"{key}:" if isinstance(value, dict) else ""
        yield from marks(item)


def missing(profile: dict[str, Any]) -> list[str]:
    """Walk the text once, in the order of the profile, so that repeated values must be repeated."""
    text, at, lost = Persona("u", profile).text, 0, []
    for mark in marks(profile):
        found = text.find(mark, at)
        if found < 0:
            lost.append(mark)
        else:
            at = found + len(mark)
    return lost


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=5))
def test_no_json_persona_loses_a_key_or_a_value(profile):
    assert missing(profile) == []
    assert Persona("u", profile).language in ("en", "zh")


def test_the_text_is_indented_lines_in_the_order_of_the_file():
    profile = {
        "Name": "李雷",
        "Demographics": {"Age": 29, "Height": 1.7, "Married": False, "Car": None, "Language": ["中文", "英文"]},
        "Pets": [],
        "Family": {},
        "Trips": [{"to": "Rome"}, ["x", ["y"]]],
        "": "",
        "Say": 'two\n{lines} "quoted"',
    }
    assert Persona("u", profile).text.splitlines() == [
        "Name: 李雷", "Demographics:", "  Age: 29", "  Height: 1.7", "  Married: false", "  Car: null", "  Language:", "    - 中文", "    - 英文",
        "Pets: []", "Family: {}", "Trips:", "  -", "    to: Rome", "  -", "    - x", "    -", "      - y", ": ", "Say: two", '{lines} "quoted"',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "language"),
    [
        ({"Name": "李雷", "Job": "a baker in a small town"}, "en"),  # a Chinese name in an English persona
        ({"Name": "Ann", "喜好": {"品牌": ["Nike", "iPhone"]}, "说明": "喜欢户外运动和摄影"}, "zh"),  # brands in Chinese
        ({"姓名": "Ann", "职业": "a baker"}, "en"),  # values count, keys do not
        ({"Name": "李", "Job": "老师", "Favourite_food_and_drinks": ["面"]}, "zh"),
        ({"Age": 29, "List": [], "Flag": True}, "en"),  # no text at all
        ({"Job": "李 à é"}, "en"),  # letters with accents are Latin words too
        ({"Job": "𠮷𠮷 ok"}, "zh"),  # ideographs beyond the basic plane
    ],
)  # fmt: skip
def test_the_language_is_that_of_the_values(profile, language):
    assert Persona("u", profile).language == language


def test_hiding_each_part_of_the_real_personas_removes_exactly_its_lines(real_data):
    for persona in [*locate(real_data).others.personas.values()][:20]:
        for name in persona.fields:
            kept = persona.without((name,)).fields
            assert kept == {field for field in persona.fields if field != name and not field.startswith(f"{name}.")}
