"""Load the real cases and build both prompts, in one process after imports.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_core.py

Promised: loading the 3,841 cases of the General half in under 1 s, building at least 5,000 cases (10,000 prompts) a second, retrieving in under 5 ms a case.
"""

from __future__ import annotations

import statistics
import time

from personafeedback_tasks import prompts, retrieval
from personafeedback_tasks.answers import read_reply
from personafeedback_tasks.dataset import load_cases
from personafeedback_tasks.orders import ORDERS

REPEATS = 5


def seconds(function) -> float:
    """Median of REPEATS calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    load = seconds(lambda: load_cases(category="general"))
    cases = load_cases(category="general")
    build = seconds(lambda: [prompts.build(c, prompts.Template(), order) for c in cases for order in ORDERS])
    bm25 = prompts.Template(setting="persona_bm25")

    def retrieve() -> None:
        retrieval._index.cache_clear()  # a run makes each user's index once
        for case in cases:
            prompts.build(case, bm25, ORDERS[0])

    bm25.check(cases)
    retrieved = seconds(retrieve)
    replies = ["A", "**B**", "Answer: B", "答案：A"] * 500
    read = seconds(lambda: [read_reply(reply) for reply in replies])
    print(f"load {len(cases):,} cases with personas: {load:.3f} s")
    print(f"build both prompts: {len(cases) / build:,.0f} cases/s")
    print(f"retrieve for one case (persona_bm25): {1000 * retrieved / len(cases):.3f} ms")
    print(f"read short replies: {len(replies) / read:,.0f} replies/s")


if __name__ == "__main__":
    main()
