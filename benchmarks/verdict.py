"""How often the intervals of a verdict hold a planted win rate, and how often a judge is said to err otherwise on replies.

    python benchmarks/verdict.py [SIMULATIONS]

Needs the extra `verdict`. The judge errs by length and place, and users differ in how often the reply is better and in
how good the judge is; see tests/support/planted_duels.py. It takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from ppi_py import ppi_mean_ci
from support.planted_duels import Planted, differing

from personafeedback_tasks.common.corrected import corrected
from personafeedback_tasks.common.human_votes import prediction_powered

SIMULATIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
SEED = 20250615
VOTES = 200

CORRECTED = {
    "reply better in 60 %": Planted(),
    "in 30 %": Planted(rate=0.3),
    "in 90 %": Planted(rate=0.9),
    "in 97 %": Planted(rate=0.97),
    "stronger bias of length and place": Planted(length=0.4, place=1.2),
    "9 of 10 replies are longer": Planted(longer=0.9, length=0.4),
    "weak judge": Planted(skill=0.7, place=0.8, length=0.1),
    "users differ much": Planted(spread=1.0),
    "30 users": Planted(users=30),
    "147 users, 26 cases each in the exam, 1 duel": Planted(users=147, duels=1, exam=26),
    "10 % unreadable": Planted(unread=0.1, rate=0.8, skill=1.6),
}

PEOPLE = {
    "as good on replies, 100 users": Planted(skill=1.6),
    "as good, 40 users with 12 duels": Planted(skill=1.6, users=40, duels=12),
    "as good, users differ much": Planted(skill=1.6, spread=1.0),
    "worse, 100 users": Planted(skill=1.6, new=0.7),
    "worse, 40 users with 12 duels": Planted(skill=1.6, new=0.7, users=40, duels=12),
    "better, 100 users": Planted(skill=0.85, new=2.6, rate=0.2),
}
WRONG = (0, 0.05, 0.1, 0.2)
"""How often a person's vote is for the worse text."""


def corrected_rates() -> None:
    print(
        f"{SIMULATIONS:,} simulations: the exam's accuracy, the votes as they are, how often there is a corrected rate and holds"
    )
    for name, planted in CORRECTED.items():
        rng = np.random.default_rng(SEED)
        held, given, exams, plain = 0, 0, 0.0, 0.0
        for _ in range(SIMULATIONS):
            _, duels, exam = planted.draw(rng)
            found = corrected(duels, exam).rate
            exams += np.mean(exam.won) / SIMULATIONS
            plain += np.mean(duels.won) / SIMULATIONS
            if found is not None:
                given += 1
                held += found.low <= planted.rate <= found.high
        shares = f"{100 * exams:5.1f} {100 * plain:5.1f} {100 * given / SIMULATIONS:6.1f} {100 * held / given:5.1f}"
        print(f"{name:48} {shares}", flush=True)


def with_people() -> None:
    print(
        f"\n{VOTES} duels with votes of people: the judge in the exam and on replies; intervals hold, and those of ppi_py"
    )
    for name, planted in PEOPLE.items():
        rng = np.random.default_rng(SEED)
        found = np.zeros(4)
        for _ in range(SIMULATIONS):
            better, duels, exam = planted.draw(rng)
            seen = np.zeros(better.size, bool)
            seen[rng.choice(better.size, VOTES, replace=False)] = True
            people = [float(truth) if there else None for truth, there in zip(better, seen, strict=True)]
            rate = prediction_powered(people, duels).rate
            low, high = ppi_mean_ci(better[seen].astype(float), duels.won[seen], duels.won[~seen], alpha=0.05)
            found += (
                np.mean(exam.won),
                np.mean(np.where(better, duels.won, duels.lost)),
                rate.low <= planted.rate <= rate.high,
                low.item() <= planted.rate <= high.item(),
            )
        print(f"{name:48} {' '.join(f'{100 * value / SIMULATIONS:5.1f}' for value in found)}", flush=True)


def transfers() -> None:
    print(f"\nSaid to err otherwise on replies, votes wrong in {', '.join(f'{100 * wrong:g}' for wrong in WRONG)} %:")
    print(f"two votes on each of {VOTES} duels; one vote on each of {VOTES} duels and {VOTES} pairs of the exam")
    for name, planted in PEOPLE.items():
        rates = [differing(planted, SIMULATIONS // 2, wrong, 2) for wrong in WRONG]
        rates += [differing(planted, SIMULATIONS // 2, wrong, 1, on_exam=VOTES) for wrong in WRONG]
        print(f"{name:48} {' '.join(f'{100 * rate:5.1f}' for rate in rates)}", flush=True)


if __name__ == "__main__":
    corrected_rates()
    with_people()
    transfers()
