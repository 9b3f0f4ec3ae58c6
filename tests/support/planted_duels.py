"""Calibration sets and duels drawn anew, with the judge's errors and the true win rate planted, by user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from personafeedback_tasks.stats.corrected import Votes

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
        length: what a log length ratio of 1 between the better text and the other one adds, along `shape`.
        place: what the first place adds.
        shape: of the effect of the ratio: itself, or 0.35 times its sign or tanh, which level off where most end.
        spread: standard deviation of skill between users, the same in the calibration set and on replies.
        unread: share of its answers that cannot be read.
        users, duels, calibration: how many, and how many cases each user has.
        longer: mean log length ratio of the replies to the other side; in the calibration set and General Hard, 0.19.
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
    calibration: int = 8
    longer: float = 0.3
    shape: str = "line"

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, Votes, Votes]:
        """(1 where the reply is better, the duels, the calibration set)."""
        rates = rng.beta(10 * self.rate, 10 * (1 - self.rate), self.users)
        skills = rng.normal(0, self.spread, self.users)
        owner = np.repeat(np.arange(self.users), self.duels)
        better = rng.random(owner.size) < rates[owner]
        duels = self._votes(rng, self.skill if self.new is None else self.new, skills, owner, better, self.longer)
        owner = np.repeat(np.arange(self.users), self.calibration)
        calibration = self._votes(rng, self.skill, skills, owner, np.ones(owner.size, bool), 0.19)
        return better, duels, calibration

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
