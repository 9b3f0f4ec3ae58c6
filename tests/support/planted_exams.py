"""Exams of judges that say how certain they are, drawn anew; users go together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from personafeedback_tasks.common.risk import Judged, answered_and_wrong, parts_of, wrong_among_answered

CASES = 10


@dataclass(frozen=True)
class PlantedExam:
    """
    Attributes:
        skill: log odds that the judge is right where it says that it is sure in 73 %.
        slope: by how much they change with the log odds that it says; 1 is calibrated with a skill of 1, less is over-confident.
        spread: standard deviation of skill between users.
        misread: share of the users whose log odds are turned: the surer the judge, the more often it is wrong.
        agreement: it says 0.5 or 1 only.
    """

    skill: float = 1.0
    slope: float = 1.0
    spread: float = 0.4
    misread: float = 0.0
    agreement: bool = False
    users: int = 101

    def draw(self, rng: np.random.Generator, users: int) -> tuple[np.ndarray, np.ndarray]:
        """(certainty, wrong), users x cases."""
        said = np.abs(rng.normal(2.2, 1.6, (users, CASES)))
        odds = self.skill - self.slope + self.slope * said + rng.normal(0, self.spread, users)[:, None]
        odds = np.where(rng.random(users)[:, None] < self.misread, -odds, odds)
        wrong = rng.random((users, CASES)) >= 1 / (1 + np.exp(-odds))
        certainty = 1 / (1 + np.exp(-said))
        return np.where(certainty > 0.8, 1.0, 0.5) if self.agreement else certainty, wrong

    @cached_property
    def everybody(self) -> tuple[np.ndarray, np.ndarray]:
        """(certainties, wrong) of 10,000 users."""
        return self.draw(np.random.default_rng(7), 10_000)

    def truth(self, threshold: float) -> tuple[float, float, float]:
        """(answered and wrong, wrong among answered, answered) of new users; nothing is wrong where nothing is answered."""
        sure, wrong = self.everybody
        accepted = sure >= threshold
        lost, count = (accepted & wrong).sum(axis=1), accepted.sum(axis=1)
        among = lost[count > 0] / count[count > 0]
        return float(lost.mean() / CASES), float(among.mean()) if among.size else 0.0, float(count.mean() / CASES)

    def held(self, rng: np.random.Generator, risk: float) -> list[float]:
        """Of one exam, split as `verdict` does: answered and wrong, answered; whether wrong among answered is above the risk, answered."""
        sure, wrong = self.draw(rng, self.users)
        names = [f"u{number:03}" for number in range(self.users) for _ in range(CASES)]
        exam = Judged(sure.ravel().tolist(), wrong.ravel().tolist(), [1.0] * sure.size, names)
        ordering, choosing, _ = parts_of(names)
        lost, _, answered = self.truth(answered_and_wrong(exam.of(choosing), risk).value)
        _, among, too = self.truth(wrong_among_answered(exam.of(choosing), exam.of(ordering), risk).value)
        return [lost, answered, float(among > risk), too]
