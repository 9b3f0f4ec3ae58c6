"""docs/stopping.svg: a simulated run that stops.

    python docs/stopping.py

Right minus wrong is 10 points, on a benchmark of 101 users with 10 cases each.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from personafeedback_tasks.engine.stopping import StopPlan, StopState, drawn, read_rule
from personafeedback_tasks.reports.figure import files
from personafeedback_tasks.reports.stopping_figure import draw

HERE = Path(__file__).parent
SEED, USERS, CASES, GAP = 3, 101, 10, 0.1


def simulated() -> StopState:
    """What is known after each user of the run."""
    plan = StopPlan(read_rule(5), tuple(tuple(f"{user}:{case}" for case in range(CASES)) for user in range(USERS)))
    sums = drawn(np.random.default_rng(SEED), plan.sizes, GAP)
    return plan.known({case: total / CASES for ids, total in zip(plan.cases, sums, strict=True) for case in ids})


def pictures() -> dict[str, bytes]:
    """File name -> content."""
    return files(draw(simulated(), "right minus wrong"), "stopping")


if __name__ == "__main__":
    (HERE / "stopping.svg").write_bytes(pictures()["stopping.svg"])
