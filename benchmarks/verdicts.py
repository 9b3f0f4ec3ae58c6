"""How often planted judges get their own verdict, on the real cases of General Hard: whose persona helps them is known.

    python benchmarks/verdicts.py --seeds 200

Users differ in how often a judge is right by a standard deviation of 8 points, the same with every persona. A judge
decides once per case and setting, and anew in the second order in a fifth of the cases.
`tests/analysis/test_verdicts.py` runs each judge once through both harnesses.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from personafeedback_tasks.analysis.persona_use import COUNTING, NONE, SIMILAR, WRONG, WRONG_OVER_NONE, PersonaUse, Use
from personafeedback_tasks.analysis.void import MOST
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.baselines import BASELINES, READ_PERSONA
from personafeedback_tasks.personafeedback.cases import PersonaCases, load_cases
from personafeedback_tasks.personafeedback.cells import DIFFICULTIES
from personafeedback_tasks.stats.estimates import Estimate, paired, percent, share

SETTINGS = ("persona", "similar_persona", "other_persona", "no_persona")

PLACE = "by place"
"""In place of a verdict: the numbers are void, see `analysis.void`."""

COMPARED = {
    WRONG: ("persona", "other_persona"),
    NONE: ("persona", "no_persona"),
    WRONG_OVER_NONE: ("other_persona", "no_persona"),
    SIMILAR: ("persona", "similar_persona"),
}

Rights = dict[str, np.ndarray]
"""Setting -> whether the pick is right, cases x orders; nan for a refusal. The first order has the chosen one first."""


@dataclass(frozen=True)
class Data:
    """Real cases, and what the judges read of them."""

    cases: PersonaCases

    @cached_property
    def users(self) -> list[str]:
        return [case.user_id for case in self.cases]

    @cached_property
    def of_user(self) -> np.ndarray:
        """Case -> number of its user."""
        return np.unique(self.users, return_inverse=True)[1]

    @cached_property
    def longest(self) -> np.ndarray:
        """How far the longer response is right: 0, 0.5 or 1."""
        return np.array([BASELINES["longest"](case) for case in self.cases])

    @cached_property
    def counted(self) -> dict[str, dict[str, np.ndarray]]:
        """Baseline that counts terms -> setting -> how far its pick, with the persona shown there, is right."""
        return {name: self._counted(count) for name, count in READ_PERSONA.items()}

    def _counted(self, count: Callable[..., float]) -> dict[str, np.ndarray]:
        shown = {
            "persona": [case.persona for case in self.cases],
            "similar_persona": [case.another("similar_persona") for case in self.cases],
            "other_persona": [case.another("other_persona") for case in self.cases],
        }
        found = {
            setting: np.array(
                [count(case.responses, TWO, of.values) for case, of in zip(self.cases, personas, strict=True)]
            )
            for setting, personas in shown.items()
        }
        return {**found, "no_persona": np.full(len(self.users), 0.5)}


Judge = Callable[[np.random.Generator, Data], Rights]


def skilled(*shares: float, place: float = 0.0) -> Judge:
    """A judge that is right in these shares of the cases, by SETTINGS.

    Args:
        place: share of the cases in which it picks the first response in both orders.
    """

    def judge(rng: np.random.Generator, data: Data) -> Rights:
        lean = rng.normal(0, 0.08, len(data.of_user))[data.of_user]
        return {
            setting: _picked(rng, np.clip(known + lean, 0, 1), place)
            for setting, known in zip(SETTINGS, shares, strict=True)
        }

    return judge


def counter(baseline: str) -> Judge:
    """It picks as a baseline does with the persona that it is shown, and a random response in a tenth of the cases."""
    return lambda rng, data: {
        setting: _picked(rng, 0.9 * right + 0.05) for setting, right in data.counted[baseline].items()
    }


def follower(rng: np.random.Generator, data: Data) -> Rights:
    """It picks the longer response, and a random one in a tenth of the cases."""
    return {setting: _picked(rng, 0.9 * data.longest + 0.05) for setting in SETTINGS}


def refuser(rng: np.random.Generator, data: Data) -> Rights:
    """It knows nothing of anybody, and refuses 30 % of the calls without this user's persona."""
    found = skilled(0.8, 0.8, 0.8, 0.8)(rng, data)
    refused = {setting: 0.3 * (setting != "persona") for setting in SETTINGS}
    return {name: np.where(rng.random(right.shape) < refused[name], np.nan, right) for name, right in found.items()}


def _picked(rng: np.random.Generator, chance: np.ndarray, place: float = 0.0) -> np.ndarray:
    first, second = (rng.random(len(chance)) < chance for _ in range(2))
    right = np.stack([first, np.where(rng.random(len(chance)) < 0.2, second, first)], axis=1)
    by_place = rng.random(len(chance)) < place
    right[by_place] = [True, False]
    return right


PLANTED: Mapping[str, tuple[Judge, tuple[str, ...]]] = {
    "knower": (skilled(0.82, 0.62, 0.62, 0.62), (PersonaUse.USES.value,)),
    "place-biased knower, by place in 35 %": (skilled(0.87, 0.6, 0.6, 0.6, place=0.35), (PersonaUse.USES.value, PLACE)),
    "place-biased knower, by place in 65 %": (skilled(0.87, 0.6, 0.6, 0.6, place=0.65), (PersonaUse.USES.value, PLACE)),
    "counter of terms": (counter("overlap"), (PersonaUse.COUNTING.value,)),
    "counter of their share": (counter("overlap_share"), (PersonaUse.COUNTING.value, PersonaUse.NO_SIGN.value)),
    "type-knower": (skilled(0.82, 0.82, 0.62, 0.62), (PersonaUse.KIND.value,)),
    "misled by a wrong persona": (skilled(0.7, 0.6, 0.6, 0.7), (PersonaUse.MISLED.value,)),
    "helped by any persona": (skilled(0.75, 0.75, 0.75, 0.65), (PersonaUse.ANY.value,)),
    "length-follower": (follower, (PersonaUse.NO_SIGN.value,)),
    "refuses 30 % without this persona": (refuser, (PersonaUse.NO_SIGN.value,)),
}
"""Name -> (judge, the verdicts that are right for it)."""


def estimates(data: Data, rights: Rights) -> Use:
    """What a report has for these picks."""
    scores = {setting: np.nan_to_num(right).mean(axis=1) for setting, right in rights.items()}
    refused = {setting: np.isnan(right).mean() for setting, right in rights.items()}

    def minus(one: str, other: str) -> Estimate:
        return paired((scores[one] - scores[other]).tolist(), data.users)

    def further(one: str, other: str) -> float:
        return float(refused[other] - refused[one])

    gap = scores["persona"] - scores["other_persona"]
    counted = [of["persona"] - of["other_persona"] for of in data.counted.values()]
    excess = [
        paired((gap - of).tolist(), data.users) for of in (np.zeros_like(gap), *(of for of in counted if of.sum() > 0))
    ]
    return Use(
        "persona",
        differences={
            **{key: minus(*settings) for key, settings in COMPARED.items()},
            COUNTING: min(excess, key=lambda one: one.low),
        },
        unread={key: further(*settings) for key, settings in {**COMPARED, COUNTING: COMPARED[WRONG]}.items()},
    )


def verdict(data: Data, rights: Rights) -> str:
    """The name of the verdict, or PLACE."""
    for setting in SETTINGS:
        by_place = np.abs(np.diff(rights[setting].astype(float)))[:, 0]  # nan with a refusal
        if share(by_place.tolist(), data.users).low > MOST:
            return PLACE
    found = estimates(data, rights).verdict
    assert found is not None
    return found.value


MOST_POINTS = 38
"""The largest right minus wrong that is tried: such a knower is right in all cases."""


def smallest(data: Data, seen: Callable[[Use], bool], seeds: int = 100) -> str:
    """The smallest right minus wrong of a knower, in points, that is seen in 80 % of runs; a dash where none is."""
    low, high = 0, MOST_POINTS + 1
    while high - low > 1:
        points = (low + high) // 2
        judge = skilled(0.62 + points / 100, 0.62, 0.62, 0.62)
        runs = (estimates(data, judge(np.random.default_rng(seed), data)) for seed in range(seeds))
        low, high = (low, points) if sum(map(seen, runs)) >= 0.8 * seeds else (points, high)
    return f"{high}" if high <= MOST_POINTS else "–"


def power() -> None:
    """Print what each cell can see."""
    print("\n| cell | cases | users | `overlap` | above 0 | uses |\n| :-- | --: | --: | --: | --: | --: |")
    for difficulty in DIFFICULTIES:
        data = Data(load_cases(None, "general", difficulty))
        overlap = data.counted["overlap"]
        counted = paired((overlap["persona"] - overlap["other_persona"]).tolist(), data.users)
        ends = " to ".join(percent(value, sign=True) for value in (counted.low, counted.high))
        above = smallest(data, lambda use: use.sign(WRONG) == 1)
        uses = smallest(data, lambda use: use.verdict is PersonaUse.USES)
        sizes = f"general {difficulty} | {len(data.users):,} | {len(set(data.users))}"
        print(f"| {sizes} | {percent(counted.value, sign=True)} ({ends}) | {above} | {uses} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    seeds = parser.parse_args().seeds
    data = Data(load_cases(None, "general", "hard"))
    print('| planted judge | its own verdict | in % of runs | "uses", in % | others |\n| :-- | :-- | --: | --: | :-- |')
    for name, (judge, own) in PLANTED.items():
        found = Counter(verdict(data, judge(np.random.default_rng(seed), data)) for seed in range(seeds))
        others = ", ".join(f"{one} {100 * count / seeds:.1f}" for one, count in found.items() if one not in own)
        right = 100 * sum(found[one] for one in own) / seeds
        print(
            f"| {name} | {' or '.join(own)} | {right:.1f} | {100 * found['uses'] / seeds:.1f} | {others} |", flush=True
        )
    power()


if __name__ == "__main__":
    main()
