"""Coverage and error rates of the printed intervals and tests: the truth is planted and drawn again and again.

    python benchmarks/inference.py [SIMULATIONS]

Prints the table of docs/metrics.md: claim, what was planted, the rate with its Monte Carlo error, users and cases. Needs the
extra `report`.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support import planted_prompts, planted_users
from support.planted_rankings import CASES, USERS, found_among, places_hold, scores

from personafeedback_tasks.analysis.ranking import LEVEL, pairs_of

SIMULATIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
SEED = 20250615


def row(claim: str, planted: str, hits: int, of: int, users: int, cases: int) -> None:
    rate = hits / of
    error = math.sqrt(rate * (1 - rate) / of)
    print(f"| {claim} | {planted} | {rate:.1%} ± {error:.1%} | {users:,} | {cases:,} |", flush=True)


def places() -> None:
    for runs in (6, 20):
        for step in (0.0, 0.001, 0.005, 0.015):
            rng = np.random.default_rng(SEED)
            held = sum(places_hold(rng, runs, step) for _ in range(SIMULATIONS))
            row(
                "all places of a ranking hold",
                f"{runs} runs, {100 * step:g} points apart",
                held,
                SIMULATIONS,
                USERS,
                USERS * CASES,
            )


def many_runs() -> None:
    for runs in (22, 23, 60):
        found, users = scores(np.random.default_rng(SEED), np.linspace(0.98, 0.02, runs))
        pairs = pairs_of(found, users)
        apart = sum(pair.p < LEVEL for pair in pairs)
        row("pairs told apart", f"{runs} runs from 2 to 98 %", apart, len(pairs), USERS, USERS * CASES)


def planned() -> None:
    found = found_among(np.random.default_rng(SEED), 10, SIMULATIONS)
    hits = round(found * SIMULATIONS)
    row("`plan`: two of 10 ranked runs told apart", "what shows in 80 %", hits, SIMULATIONS, USERS, USERS * CASES)


def users() -> None:
    for sizes in ([10] * 101, [26] * 147, [10] * 30):
        for mean, spread in ((0.75, 0.05), (0.75, 0.1), (0.85, 0.12)):
            count = SIMULATIONS // 2
            names = ("10 % of users at", "50 % of users at", "90 % of users at", "mean of the worst tenth")
            for name, rate in zip(names, planted_users.quantiles_held(sizes, mean, spread, count), strict=True):
                planted = f"mean {100 * mean:g} %, standard deviation {100 * spread:g} points"
                row(f"interval: {name}", planted, round(rate * count), count, len(sizes), sum(sizes))


def prompts() -> None:
    for spread in (0.0, 0.3, 0.5, 1.0):
        both, alone = planted_prompts.held(spread, SIMULATIONS, SEED)
        where = planted_prompts.USERS, planted_prompts.PAIRS * planted_prompts.ROWS
        planted = f"{planted_prompts.PROMPTS} prompts with a standard deviation of {spread:g} logits"
        row("interval by user and prompt", planted, round(both * SIMULATIONS), SIMULATIONS, *where)
        row("the same by user alone", planted, round(alone * SIMULATIONS), SIMULATIONS, *where)


if __name__ == "__main__":
    print("| claim | planted | rate | users | cases |\n| :-- | :-- | --: | --: | --: |")
    many_runs()
    planned()
    places()
    users()
    prompts()
