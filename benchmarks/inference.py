"""How far the printed intervals and tests hold: the truth is planted and drawn again and again.

    python benchmarks/inference.py [SHARE]

Prints the table of benchmarks/intervals.md: claim, what was planted, the rate with its Monte Carlo error, users and
cases. SHARE scales the number of simulations of each row. Needs the extra `test`. On two cores it takes under 20
minutes.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from claims import table_row
from studies import STUDIES


def rows(number: int, scale: float) -> list[str]:
    study = STUDIES[number]
    simulations = max(2, round(study.simulations * scale))
    return [
        table_row(claim, rate, error)
        for claim, (rate, error) in zip(study.claims, study.measured(simulations), strict=True)
    ]


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print("| claim | planted | expected | rate | users | cases |\n| :-- | :-- | --: | --: | --: | --: |")
    with ProcessPoolExecutor(max_workers=2) as pool:
        for made in pool.map(rows, range(len(STUDIES)), [scale] * len(STUDIES)):
            print("\n".join(made), flush=True)
