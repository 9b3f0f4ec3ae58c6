"""Exams and duels drawn anew, with the judge's errors and the true win rate planted; users go together in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from personafeedback_tasks.common.corrected import Votes
from personafeedback_tasks.common.transfer import transfer

SEED = 20250615

SPREAD = 0.35
"""Standard deviation of the log length ratios."""

SHAPES = {
    "line": lambda ratio: ratio,
    "levels off": lambda ratio: SPREAD * np.tanh(ratio / SPREAD),
    "levels off early": lambda ratio: SPREAD * np.tanh(ratio / 0.15),
    "step": lambda ratio: SPREAD * np.sign(ratio),
}


@dataclass(frozen=True)
class Planted:
    """
    Attributes:
        rate: how often the reply is the better text; users have rates of their own around it, by a beta distribution.
        skill: log odds that the judge picks the better text of a pair in one order; new: the same on replies.
        length: what a log length ratio of 1 between the better text and the other one adds, along `shape`; place: what the first place adds.
        shape: of the effect of the ratio: itself, or 0.35 times its sign or tanh, which level off where most ratios end.
        spread: standard deviation of skill between users, the same in the exam and on replies.
        unread: share of its answers that cannot be read.
        users, duels, exam: how many, and how many cases each user has.
        longer: mean log length ratio of the replies to the other side; of the better texts of the exam, as of General Hard, it is 0.19.
    """

    rate: float = 0.6
    skill: float = 1.2
    new: float | None = None
    length: float = 0.8
    place: float = 0.5
    spread: float = 0.4
    unread: float = 0.0
    users: int = 100
    duels: int = 5
    exam: int = 8
    longer: float = 0.3
    shape: str = "line"

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, Votes, Votes]:
        """(1 where the reply is better, the duels, the exam)."""
        rates = rng.beta(10 * self.rate, 10 * (1 - self.rate), self.users)
        skills = rng.normal(0, self.spread, self.users)
        owner = np.repeat(np.arange(self.users), self.duels)
        better = rng.random(owner.size) < rates[owner]
        duels = self._votes(rng, self.skill if self.new is None else self.new, skills, owner, better, self.longer)
        owner = np.repeat(np.arange(self.users), self.exam)
        exam = self._votes(rng, self.skill, skills, owner, np.ones(owner.size, bool), 0.19)
        return better, duels, exam

    def ballots(
        self, rng: np.random.Generator, better: np.ndarray, seen: Sequence[int], wrong: float, votes: int
    ) -> list[list[float]]:
        """Votes of people on some cases, for the better text but for a share of them."""
        found: list[list[float]] = [[] for _ in range(better.size)]
        for place in seen:
            right = rng.random(votes) >= wrong
            found[place] = [float(vote) for vote in np.where(right, better[place], 1 - better[place])]
        return found

    def _votes(self, rng, skill, skills, owner, better, longer):
        ratio = rng.normal(longer, SPREAD, owner.size)
        ratio[rng.random(owner.size) < 0.02] = 0
        item = rng.normal(0, 0.5, owner.size)
        bent = SHAPES[self.shape]
        sign = np.where(better, 1, -1)  # of the better text: the first of the pair, or the second
        won, lost = np.zeros((2, owner.size))
        for order in (1, -1):
            odds = skill + skills[owner] + item + self.length * bent(ratio * sign) + self.place * order * sign
            first = (rng.random(owner.size) < 1 / (1 + np.exp(-odds))) == better
            read = rng.random(owner.size) >= self.unread
            won += (first & read) / 2
            lost += (~first & read) / 2
        return Votes(won, lost, ratio.tolist(), owner.tolist(), ["cell"] * owner.size)


def differing(planted, simulations, wrong, votes, on_exam=0, users=None):
    """Share of the simulations in which a judge is said to err otherwise on replies, with votes on 200 duels.

    Args:
        wrong: how often a vote is; votes: on each of the duels; on_exam: pairs of the exam with as many votes each.
        users: of so many users only, two duels each.
    """
    rng = np.random.default_rng(SEED)
    found = 0
    for _ in range(simulations):
        better, duels, exam = planted.draw(rng)
        if users is None:
            seen = rng.choice(better.size, 200, replace=False)
        else:
            of = rng.choice(planted.users, users, replace=False)
            seen = np.concatenate([np.flatnonzero(np.array(duels.users) == user)[:2] for user in of])
        people = planted.ballots(rng, better, seen, wrong, votes)
        asked = rng.choice(len(exam), on_exam, replace=False) if on_exam else []
        of_exam = planted.ballots(rng, np.ones(len(exam)), asked, wrong, votes)
        found += transfer(people, duels, exam, of_exam).differs
    return found / simulations
