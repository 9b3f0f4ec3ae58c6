"""Texts that a key decides: what the scripted models of `unchanged.py` write with, and what its sets are made of."""

from __future__ import annotations

import random
import re
import zlib
from typing import Any

WORDS = re.findall(
    r"\w+",
    "river stone window garden letter market engine harbor violin candle forest ladder bottle pepper winter saddle copper meadow "
    "anchor basket thunder lantern pillow orchard tunnel marble feather kettle canyon ribbon glacier button wagon mirror pebble cabin",
)


def chance(text: str) -> float:
    """A number in [0, 1) that a text decides."""
    return zlib.crc32(text.encode()) / 2**32


def one_of(options: Any, text: str) -> Any:
    return options[int(chance(text) * len(options))]


def words(key: str, count: int) -> str:
    """Some words that a key decides."""
    drawn = random.Random(key)
    return " ".join(drawn.choice(WORDS) for _ in range(count))


def profile(key: str) -> dict[str, Any]:
    """A persona in the structure of the release."""

    def text(count: int) -> str:
        return words(f"{key} {count}", count)

    return {
        "Name": f"N{zlib.crc32(key.encode()):08x}",
        "Demographics": {
            "Age": 30, "Gender": "female", "Nationality": "Irish", "Language": ["English"], "Career_Information": text(9),
        },
        "Personality": {
            "Extraversion_or_Introversion": "E", "Sensing_or_Intuition": "S", "Thinking_or_Feeling": "T", "Judging_or_Perceiving": "J",
            "Values_and_Interests": [text(5), text(6)],
        },
        "Preference": {
            "Local_Life": {"Food_Drinks": text(8), "Entertainment": text(7), "Shopping": text(10), "Daily_Outings": text(11)},
            "Travel": {"Business_Trips": text(12), "Leisure_Travel": text(13)}, "Social": text(14),
            "Productivity": {"Study_Work": text(15), "Fitness": text(16)}, "Content_Interests": [text(3), text(4)],
        },
    }  # fmt: skip
