"""How often the interval of `personafeedback_swap` covers planted truths, on the real pairs of the General half.

    python benchmarks/swap_errors.py --runs 1000

Users may differ in how well a model knows them, and in how easily they are told apart from anybody, which matters to
both cases of their pairs; questions in how much the person matters; a response that a judge likes helps one case of a
pair and harms the other. Truth is the mean of the planted probabilities over new users, questions and texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.swap import ALL, DIFFICULTIES, MATCHED, SwapCase, swapped
from personafeedback_tasks.stats.clusters import Clusters
from personafeedback_tasks.stats.estimates import share

PLANTED = {
    "alike": (0.0, 0.0, 0.0, 0.0),
    "users matter": (0.15, 0.0, 0.0, 0.0),
    "both users matter": (0.0, 0.12, 0.0, 0.0),
    "questions matter": (0.0, 0.0, 0.15, 0.0),
    "texts are liked": (0.0, 0.0, 0.0, 0.2),
    "all of it": (0.1, 0.1, 0.1, 0.15),
}
"""Name -> standard deviations: of users, of users in both cases of their pairs, of questions, of responses."""

MEAN = 0.6


def coverage(cases: Sequence[SwapCase], planted: tuple[float, float, float, float], runs: int) -> float:
    """Share of the runs whose interval covers the truth."""
    rng = np.random.default_rng(1)
    users, questions, partners = (
        [getattr(case, name) for case in cases] for name in ("user_id", "question", "partner")
    )
    clusters = Clusters.of(users, questions, partners=partners)
    names, of_user = np.unique(users, return_inverse=True)
    of_partner = np.searchsorted(names, partners)
    of_question = np.unique(questions, return_inverse=True)[1]
    texts, of_text = np.unique([case.responses for case in cases], return_inverse=True)
    of_text = of_text.reshape(-1, 2)
    user, both, question, text = planted
    draws = np.random.default_rng(2).normal(MEAN, np.hypot.reduce([user, both, both, question, text, text]), 400_000)
    truth, covered = np.clip(draws, 0, 1).mean(), 0
    for _ in range(runs):
        of_both, liked = rng.normal(0, both, len(names)), rng.normal(0, text, len(texts))[of_text]
        p = MEAN + rng.normal(0, user, len(names))[of_user] + of_both[of_user] + of_both[of_partner]
        p += rng.normal(0, question, of_question.max() + 1)[of_question] + liked[:, 0] - liked[:, 1]
        found = share((rng.binomial(2, np.clip(p, 0, 1)) / 2).tolist(), clusters)
        covered += found.low <= truth <= found.high
    return covered / runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print(f"| cell | pairs | {' | '.join(PLANTED)} |\n| :-- | :-- |{' --: |' * len(PLANTED)}")
    for difficulty in (*DIFFICULTIES, None):
        rows = load_cases(None, "general", difficulty)
        for pairs in (MATCHED, ALL):
            cases = [case for case in swapped(rows, pairs) if isinstance(case, SwapCase)]
            found = [coverage(cases, planted, runs) for planted in PLANTED.values()]
            cells = (f"{100 * covered:.1f}" for covered in found)
            print(f"| {difficulty or 'all three'} | {pairs} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
