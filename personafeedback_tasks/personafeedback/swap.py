"""The record of `personafeedback_swap`: one question that two users asked, and the response chosen for each of them.

Each pair is asked with either persona. A judge blind to the person is right in half of a pair's four calls: exactly, if
its replies are readable and deterministic. Nobody voted on these two responses side by side.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..core.options import option
from ..core.report import CardFacts, Control, Examined, Line
from ..core.result import Result
from ..core.table import UnitMean, Units
from ..pairwise.cases import in_proportion
from ..pairwise.orders import TWO
from ..pairwise.report import PADDING, SIMILAR_PERSONA, shown_of
from ..pairwise.scoring import DEBIASED
from ..stats.clusters import Clusters, shared_variance
from ..stats.estimates import mean
from ..stats.significance import detectable
from . import card
from .baselines import COMPARISONS, acc_of
from .cases import PersonaCase, PersonaCases, load_cases, with_rows_of
from .cells import DIFFICULTIES
from .persona import Persona
from .prompts import SETTINGS, Template
from .record import PERSONAFEEDBACK, PersonaFeedback

MATCHED, ALL = "matched", "all"
CATEGORY = "general"
CELLS = tuple(f"{CATEGORY}_{difficulty}" for difficulty in DIFFICULTIES)

PAIRS = {
    MATCHED: dict(zip(CELLS, (355, 307, 276), strict=True)),
    ALL: dict(zip(CELLS, (3253, 2460, 1362), strict=True)),
}
"""Pairs of rows in the release, by what `pairs` says. Each makes two cases."""

SAMPLE = Path(__file__).with_name("sample") / "swap"
"""Rows of the bundled sample for this task alone: no question of its other rows was asked by two users."""
SAMPLE_PAIRS = dict(zip(CELLS, (1, 1, 2), strict=True))

SEED = 1
"""Another number draws other pairs."""


@dataclass(frozen=True, kw_only=True)
class SwapCase(PersonaCase):
    """A case whose rejected response is the one that was chosen for another user with the same question."""

    partner: str  # id of the other user

    @property
    def pair(self) -> str:
        return pair_of(self.id)

    def another(self, setting: str) -> Persona:
        """A third user's persona: the usual one, or a drawn one if that is the partner's. DataError without one."""
        other = super().another(setting)
        if other.user_id != self.partner or self.release is None:
            return other
        thirds = []
        for persona in self.release.others.personas.values():
            if persona.language == self.language and persona.user_id not in (self.user_id, self.partner):
                thirds.append(persona)
        if not thirds:
            raise DataError(
                f"setting=other_persona: found only {self.partner}'s persona to show in place of that of user_id "
                f"{self.user_id}, expected one of a third user. Leave setting=other_persona out."
            )
        return min(thirds, key=lambda persona: _hash(self.pair, self.user_id, persona.user_id))


@dataclass(frozen=True, kw_only=True)
class SwapOptions(Template):
    """The options of PersonaFeedback, and which pairs of users are asked."""

    setting: str = option(
        "persona", "what the model is told about the user", said=lambda setting: [setting], always=True,
        # SIMILAR_PERSONA may be the other one of a pair, and PADDING gives half by construction
        values=lambda: tuple(setting for setting in SETTINGS if setting not in (SIMILAR_PERSONA, PADDING)),
    )  # fmt: skip
    pairs: str = option(
        MATCHED, "the pairs of users of a question: each row in one pair at most, or all",
        values=lambda: (MATCHED, ALL), said=lambda pairs: [f"{pairs} pairs"], always=True,
    )  # fmt: skip


def swapped(cases: PersonaCases, pairs: str = MATCHED) -> PersonaCases:
    """The cases of every pair of users who asked the same question, the two of a pair one after the other.

    Args:
        cases: with all rows of their cells.
        pairs: `matched` draws one row of each user and question and puts it into one pair at most, by hash; `all` takes
            every pair of rows of two users.
    """
    cells = []
    for own in cases.cells.values():
        asked: dict[tuple[str, str], list[PersonaCase]] = defaultdict(list)
        for case in own:
            asked[case.question.strip(), case.language].append(case)
        cells.append([pair for rows in asked.values() for pair in _pairs(rows, pairs)])
    found: list[PersonaCase] = []
    for first, second in in_proportion(cells):
        found += [_case(first, second), _case(second, first)]
    if not found:
        raise DataError(
            f"{cases.source}: found no question that two users asked, expected some. Use the tasks of PersonaFeedback, "
            "which need none."
        )
    return replace(cases, cases=tuple(found))


def _pairs(rows: Sequence[PersonaCase], pairs: str) -> list[tuple[PersonaCase, PersonaCase]]:
    # Of the rows with one question: two users each, with two responses.
    if pairs == ALL:
        found = [*combinations(sorted(rows, key=lambda row: row.line), 2)]
    else:
        drawn = {row.user_id: row for row in sorted(rows, key=_chance)}
        every = sorted(drawn.values(), key=_chance)
        found = [*zip(every[::2], every[1::2], strict=False)]
    return [(one, other) for one, other in found if one.user_id != other.user_id and one.chosen != other.chosen]


def _chance(row: PersonaCase) -> bytes:
    return _hash(row.user_id, row.question, row.chosen)


def _hash(*texts: str) -> bytes:
    return hashlib.sha256("\0".join((str(SEED), *texts)).encode()).digest()


def _case(own: PersonaCase, other: PersonaCase) -> SwapCase:
    return SwapCase.of(
        own.persona, id=f"{own.id}~{other.line}", cell=own.cell, question=own.question,
        responses=(own.chosen, other.chosen), release=own.release, partner=other.user_id,
    )  # fmt: skip


def _rows(data: str | None, counts: str, difficulty: str | None = None) -> PersonaCases:
    cases = load_cases(data, CATEGORY, difficulty, counts)
    return with_rows_of(cases, SAMPLE) if cases.demonstration and not cases.named_set else cases


def pair_of(case_id: str) -> str:
    """The pair of a case: `general_hard:3~7` of `general_hard:7~3`."""
    cell, _, lines = case_id.partition(":")
    return f"{cell}:{'~'.join(sorted(lines.split('~'), key=int))}"


PAIR = Units("pair", 2, pair_of)


def _changed(pair: Sequence[Result]) -> list[float]:
    rights = [one.values["acc"] for one in pair if one.rewards]
    rights += [one.values[DEBIASED] for one in pair if DEBIASED in one.values]
    if rights:  # one pick a case, by rewards or where place cancels; a tie is none
        return [float(rights[0] == rights[1])] if {*rights} <= {0.0, 1.0} else []
    # a case in one order shows what its twin shows in the other; only readable picks count
    own, others = (TWO.picks(one.answers) for one in pair)
    shown_alike = zip(own, reversed(others), strict=True)
    return [float(mine == its) for mine, its in shown_alike if None not in (mine, its)]  # each its own, or the other's


def _examine(cases: PersonaCases, asked: Collection[str]) -> Examined:
    # no audit: each pair of responses is there twice
    asked_cases: list[Any] = [case for case in cases if case.id in asked]
    baselines = acc_of(asked_cases)
    overlap: dict[str, list[float]] = defaultdict(list)
    for case in asked_cases:
        overlap[case.pair].append(baselines["overlap"][case.id])
    untold = frozenset(case.id for case in asked_cases if mean(overlap[case.pair]) <= 0.5)
    return Examined(
        baselines=baselines,
        subsets={"acc_untold": ("acc_untold: `overlap` is right in at most half of the calls of the pair", untold)},
        prompts={case.id: case.question for case in asked_cases},
        partners={case.id: case.partner for case in asked_cases},
        label_note="Labels follow from the votes on each user's own pair, not on these two responses.",
    )


def _caveats(facts: CardFacts) -> tuple[list[str], list[str]]:
    first, rest = card.caveats(facts)
    return [
        first[0],
        "Both responses were chosen for somebody who asked this question; nobody voted on the two side by side. "
        f"Counting the terms that a response shares with the persona is right in {facts.baselines['overlap']} %.",
    ], rest


_BASE = PERSONAFEEDBACK.report


class Swap(PersonaFeedback):
    """One question, two users, and the response chosen for each: which suits this user better?"""

    name = "personafeedback_swap"
    title = "PersonaFeedback swap"
    version = "1.0"
    options = SwapOptions
    cells = CELLS
    selections = {"": {}, **{cell: {"difficulty": cell.rpartition("_")[2]} for cell in CELLS}}
    corpus = {"changed": UnitMean(PAIR, _changed)}
    units = PAIR
    comparisons = ()  # they take users for independent
    report = replace(
        _BASE,
        headline=(
            *_BASE.headline,
            Line(
                "changed",
                "picks that change with the user",
                interval=True,
                meaning=(
                    "share of the prompts, alike but for the persona, whose picks are two different responses; "
                    "log-odds and rewards pick once for both orders"
                ),
                none="0 of {n:,} picks changed with the user",
                higher_is_better=None,
            ),
        ),
        beside=("overlap", "acc_untold"),
        examine=_examine,
        shown=shown_of("Persona", ("chosen for this user", "chosen for the other user")),
        duels=None,
        adjusted="",
        shortcuts={"overlap": _BASE.shortcuts["overlap"], "name": _BASE.shortcuts["name"]},
        control=Control(),
        drawn={"overlap": _BASE.drawn["overlap"]},
        card=_BASE.card and replace(_BASE.card, caveats=_caveats, baselines={}),
        load=_rows,
        # a control may have been loaded as the run that it controls
        under=lambda cases, signature: (
            cases if isinstance(cases[0], SwapCase) else swapped(cases, signature.options["pairs"])
        ),
        macro=False,
        swaps=True,
        asks=(
            "Each case is a question that two users asked, and the response chosen for each of them, asked in both "
            "orders with the persona of one of them. The model picks the response that was chosen for this user; "
            "without the person, half of its picks are right."
        ),
    )

    def load(self, options: Any, selection: Mapping[str, str]) -> PersonaCases:
        return swapped(_rows(options.data, options.counts, **selection), options.pairs)

    def sizes(self, cases: Any, options: Any) -> dict[str, int]:
        """Two cases for each pair of the release or of the sample; nothing for a set."""
        if cases.named_set is not None:
            return {}
        pairs = SAMPLE_PAIRS if cases.demonstration else PAIRS[options.pairs]
        return {cell: 2 * count for cell, count in pairs.items()}

    def detects(self, cases: Sequence[Any]) -> float:
        """Detectable difference, for cases answered alike in both orders and the correlation of baselines."""

        def squares(numbers: Any) -> float:  # ordered pairs of cases in one cluster, also of a case with itself
            return float(sum(size**2 for size in Counter(numbers.ravel().tolist()).values()))

        users, questions = [case.user_id for case in cases], [case.question for case in cases]
        clusters, count = Clusters.of(users, questions, partners=[case.partner for case in cases]), len(cases)
        effect = 1 + COMPARISONS[0].correlation * (shared_variance(squares, clusters) / count - 1)
        return detectable(math.sqrt(0.25 * effect / count), clusters.count - 1)


SWAP = Swap()
