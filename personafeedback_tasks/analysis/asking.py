"""Which duels people are asked about: those on which their votes narrow a judge's win rate most."""

from __future__ import annotations

from ..common.errors import OptionError
from ..common.human_votes import LEAST_USERS
from ..common.sampling import draw
from ..engine.duels import Duels
from ..runs.run import Run
from .abstaining import certainty_of, opinions, rates_of
from .verdict import refuse_other_judge, refuse_other_users

SEED = "people"
"""Of the draw: the same run and exam give the same duels."""


def asked(run: Run, exam: Run, duels: Duels, count: int) -> dict[str, float]:
    """The duels that people are asked about: case id -> the probability that it was drawn.

    Args:
        count: how many.

    Raises:
        OptionError: there are fewer duels, or they are of too few users.
        RunError: see `verdict.make_verdict`.
    """
    refuse_other_judge(run, exam)
    refuse_other_users(run, exam, duels)
    ids = sorted(run.cases)
    users = [run.cases[case_id].user_id for case_id in ids]
    if not LEAST_USERS <= count <= len(ids) or len(set(users)) < LEAST_USERS:
        raise OptionError(
            f"--ask-people must be a number from {LEAST_USERS} to that of the duels that the judge answered, which must be of at least {LEAST_USERS} "
            f"users; got {count} of {len(ids):,} duels of {len(set(users)):,} users."
        )
    rates, mine = rates_of(run, exam), opinions(run, certainty_of(run, exam))
    sure = [mine[case_id].certainty for case_id in ids]
    drawn, likely = draw([rates[case_id] for case_id in ids], sure, users, count, SEED)
    return {ids[place]: likely[place] for place in drawn}
