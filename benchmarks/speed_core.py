"""Load the real cases and build both prompts, in one process after imports.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_core.py

Bounds: load the 3,841 cases of the General half in under 1 s, build at least 5,000 cases (10,000 prompts) per second,
retrieve in under 5 ms per case, read a short reply in 60 us, 10 kB in 1 ms and a megabyte in a second.
"""

from __future__ import annotations

import statistics
import time

from personafeedback_tasks.choice.orders import ORDERS
from personafeedback_tasks.common import retrieval
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.replies.answers import read_reply

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
    rag = prompts.Template(setting="rag")
    for case in cases:  # the release has no memories: use the lines of each persona
        case.persona.__dict__["memory"] = tuple(case.persona.text.splitlines())

    def retrieve() -> None:
        retrieval._index.cache_clear()  # a run builds each user's index once
        for case in cases:
            prompts.build(case, rag, ORDERS[0])

    rag.check(cases)
    retrieved = seconds(retrieve)
    short = ["A", "**B**", "Answer: B", "答案：A", "Overall, Response B suits this user better."] * 100
    english = "Response A suggests a busy club, while Response B suggests a quiet tour for someone who reads. " * 105
    chinese = "回答A建议去热闹的俱乐部，不太符合用户的特点；回答B建议参观图书馆，更贴近用户的兴趣。" * 80
    texts = {
        "a short reply": short,
        "10 kB of English": [f"{english}\nAnswer: B"] * 5,
        "10 kB of Chinese": [f"{chinese}\n答案：B"] * 5,
    }
    loops = ["我的", ",", "A\n", "A is better, but B. ", "(", "<x>", '"a":', "I choose A. "]
    print(f"load {len(cases):,} cases with personas: {load:.3f} s")
    print(f"build both prompts: {len(cases) / build:,.0f} cases/s")
    print(f"retrieve for one case (rag): {1000 * retrieved / len(cases):.3f} ms")
    for name, replies in texts.items():
        read = seconds(lambda replies=replies: [read_reply(reply) for reply in replies]) / len(replies)
        print(f"read {name}: {1e6 * read:,.0f} us")
    slowest = max(seconds(lambda unit=unit: read_reply(unit * (1_000_000 // len(unit)) + "B")) for unit in loops)
    print(f"read a megabyte of a repeated unit of text: {slowest:.2f} s at most")


if __name__ == "__main__":
    main()
