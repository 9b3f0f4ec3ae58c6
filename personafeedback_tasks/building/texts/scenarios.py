"""scenarios.csv: situations for questions, with shares and conditions, by default the paper's Table 5."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import msgspec

from ...common.errors import DataError
from ...common.records import NonEmpty
from ...common.row_files import columns, table
from ...personafeedback.persona import Persona
from ..settings import Settings
from .checks import IDEOGRAPH
from .seeds import SCENARIOS, Listed, Share, given, listed

_GOLDEN = 0.6180339887498949

NOT = "!"
"""Prefix of a word that a persona must not have."""


class Scenario(msgspec.Struct, frozen=True):
    """A situation, as a line of scenarios.csv has it.

    Attributes:
        fits: words; the persona must have one of them, and none of those with NOT. Empty for everybody.
    """

    category: NonEmpty
    scenario: NonEmpty
    share: Share
    description: str = ""
    fits: Listed = Listed()

    @property
    def text(self) -> str:
        """The situation in a prompt."""
        return f"{self.scenario}: {self.description}" if self.description else self.scenario

    def is_for(self, persona: Persona) -> bool:
        wanted = [word for word in self.fits if not word.startswith(NOT)]
        unwanted = [word.removeprefix(NOT) for word in self.fits if word.startswith(NOT)]
        text = persona.values
        return (not wanted or any(_has(text, word) for word in wanted)) and not any(
            _has(text, word) for word in unwanted
        )


def _has(text: str, word: str) -> bool:
    if IDEOGRAPH.search(word):  # Chinese has no spaces between words
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def scenarios(root: Path) -> list[Scenario]:
    """The scenarios of a build. Raises DataError if there are none, or a line is broken or repeated."""
    path = given(root, SCENARIOS, f"a table with the columns {', '.join(columns(Scenario))}")
    found: dict[str, Scenario] = {}
    for where, line in table(path, Scenario, lax=listed):
        if line.scenario in found:
            raise DataError(f"{where}: found the scenario {line.scenario!r} again, expected each once. Fix it.")
        found[line.scenario] = line
    if not found:
        raise DataError(f"{path}: found no scenario, expected some. Add them, or restore the file with `build init`.")
    return list(found.values())


def draw_scenarios(settings: Settings, persona: Persona, choices: Sequence[Scenario], count: int) -> list[Scenario]:
    """The scenarios of a user's questions, in the shares of the table. Raises DataError if none fits the user.

    Steps of the golden ratio spread them over the categories; a larger count leaves the first ones unchanged.
    """
    of_category: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in choices:
        if scenario.is_for(persona):
            of_category[scenario.category].append(scenario)
    if not of_category:
        raise DataError(
            f"{SCENARIOS}: found no scenario for {persona.user_id!r}, expected at least one. Add a line with nothing "
            "under fits."
        )
    bounds = list(accumulate(sum(scenario.share for scenario in group) for group in of_category.values()))
    start, drawn = settings.generator("scenarios", persona.user_id).random(), list[Scenario]()
    for place in range(count):
        point = (start + place * _GOLDEN) % 1 * bounds[-1]
        group = list(of_category.values())[next(at for at, bound in enumerate(bounds) if point < bound)]
        left = [scenario for scenario in group if scenario not in drawn] or group
        draw = settings.generator("scenario", f"{persona.user_id}:{place}")
        drawn += draw.choices(left, [scenario.share for scenario in left])
    return drawn
