"""Exams and duels drawn anew, with the judge's errors and the true win rate planted; users go together in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from personafeedback_tasks.common.corrected import Votes


@dataclass(frozen=True)
class Planted:
    """
    Attributes:
        rate: how often the reply is the better text; users have rates of their own around it, by a beta distribution.
        skill: log odds that the judge picks the better text of a pair in one order; new: the same on replies.
        length, place: what it adds where the better text is the longer one (and subtracts otherwise), or the first.
        spread: standard deviation of skill between users, the same in the exam and on replies.
        unread: share of its answers that cannot be read.
        users, duels, exam: how many, and how many cases each user has.
        longer: share of the replies that are longer than the other side; of the better texts of the exam, it is 0.55.
    """

    rate: float = 0.6
    skill: float = 1.2
    new: float | None = None
    length: float = 0.3
    place: float = 0.5
    spread: float = 0.4
    unread: float = 0.0
    users: int = 100
    duels: int = 5
    exam: int = 8
    longer: float = 0.65

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, Votes, Votes]:
        """(1 where the reply is better, the duels, the exam)."""
        rates = rng.beta(10 * self.rate, 10 * (1 - self.rate), self.users)
        skills = rng.normal(0, self.spread, self.users)
        owner = np.repeat(np.arange(self.users), self.duels)
        better = rng.random(owner.size) < rates[owner]
        duels = self._votes(rng, self.skill if self.new is None else self.new, skills, owner, better, self.longer)
        owner = np.repeat(np.arange(self.users), self.exam)
        exam = self._votes(rng, self.skill, skills, owner, np.ones(owner.size, bool), 0.55)
        return better, duels, exam

    def _votes(self, rng, skill, skills, owner, better, longer):
        side = np.where(rng.random(owner.size) < longer, 1, -1)
        side[rng.random(owner.size) < 0.02] = 0
        item = rng.normal(0, 0.5, owner.size)
        sign = np.where(better, 1, -1)  # of the better text: the first of the pair, or the second
        won, lost = np.zeros((2, owner.size))
        for order in (1, -1):
            odds = skill + skills[owner] + item + self.length * side * sign + self.place * order * sign
            first = (rng.random(owner.size) < 1 / (1 + np.exp(-odds))) == better
            read = rng.random(owner.size) >= self.unread
            won += (first & read) / 2
            lost += (~first & read) / 2
        return Votes(won, lost, side, owner.tolist(), ["cell"] * owner.size)
