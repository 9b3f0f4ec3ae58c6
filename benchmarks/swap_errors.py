"""How often the interval of `personafeedback_swap` covers the truth, on the real pairs of the General half, with planted users, questions and texts.

    python benchmarks/swap_errors.py --runs 300

Users may differ in how well a model knows them, questions in how much the person matters; a text that a judge likes helps one case of a pair and
harms the other. Truth is the mean of the planted probabilities over new users, questions and texts.
"""

from __future__ import annotations

import argparse

import numpy as np

from personafeedback_tasks.common.statistics import share
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.swap import ALL, DIFFICULTIES, MATCHED, swapped

SHAPES = {
    "alike": (0.0, 0.0, 0.0, 0.0),
    "users differ": (0.15, 0.0, 0.0, 0.0),
    "questions differ": (0.0, 0.15, 0.0, 0.0),
    "texts are liked": (0.0, 0.0, 0.3, 0.0),
    "all of it": (0.1, 0.1, 0.2, 0.0),
    "both users matter": (0.0, 0.0, 0.0, 0.1),
}
"""Name -> standard deviation of users, of questions, of what texts add to one side, and of users who matter to both cases of their pairs.
The intervals know nothing of the last."""

MEAN = 0.6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    rng = np.random.default_rng(1)
    print(f"| cell | pairs | {' | '.join(SHAPES)} |\n| :-- | :-- |{' --: |' * len(SHAPES)}")
    for difficulty in DIFFICULTIES:
        rows = load_cases(None, "general", difficulty)
        for pairs in (MATCHED, ALL):
            cases = list(swapped(rows, pairs))
            users, questions = [case.user_id for case in cases], [case.question for case in cases]
            names, of_user = np.unique(users, return_inverse=True)
            partner = np.searchsorted(names, [case.partner for case in cases])
            _, of_question = np.unique(questions, return_inverse=True)
            covered = []
            for user, question, text, both in SHAPES.values():
                held, truth = 0, _truth(user, question, text, both, both)
                for _ in range(runs):
                    likes = np.repeat(rng.normal(0, text, len(cases) // 2), 2) * np.tile([1, -1], len(cases) // 2)
                    p = MEAN + rng.normal(0, user, 200)[of_user] + rng.normal(0, question, 400)[of_question] + likes
                    of_both = rng.normal(0, both, 200)
                    p += of_both[of_user] + of_both[partner]
                    right = rng.binomial(2, np.clip(p, 0, 1)) / 2
                    found = share(right.tolist(), users, also=questions)
                    held += found.low <= truth <= found.high
                covered.append(f"{100 * held / runs:.1f}")
            print(f"| {difficulty} | {pairs} | {' | '.join(covered)} |", flush=True)


def _truth(*spreads: float) -> float:
    """The mean of a clipped normal probability."""
    draws = np.random.default_rng(2).normal(MEAN, np.hypot.reduce(spreads), 400_000)
    return float(np.clip(draws, 0, 1).mean())


if __name__ == "__main__":
    main()
