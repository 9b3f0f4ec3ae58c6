"""A part of `unchanged.py`: what is decided by runs of several settings, runs that stop, and duels."""

from __future__ import annotations

from pathlib import Path

import unchanged_models as models
from unchanged_data import rows, subset
from unchanged_runs import SETTINGS, Stored, both, in_inspect, in_lm_eval, logged, printed, ranked, report

EACH, VOTES = 60, 40
"""Real cases of each cell; duels that people vote on."""


def decisions() -> Stored:
    """Several settings at once and a run that stops, on a part of General; judges and people on its duels."""
    subset(Path("part"), EACH)
    models.learn(Path("part"))
    told = {"data": "part", "counts": "any"}
    steady, task = f"{models.NAME}/steady", "personafeedback_general"
    for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
        log = run(f"several/{harness}", task, steady, told | {"setting": ",".join(SETTINGS)})
        yield from logged(f"several/{harness}", log)
        yield from report(f"several/{harness}", log, "--price", "2,8")
        yield from printed(f"full_{harness}", "report", log, "--full")
    yield from ranked("logs/several")
    yield from printed("columns", "rank", "logs/several", "--full")
    stopped = in_inspect("stopped", task, steady, told | {"stop": "acc:15"}, max_samples=1)
    yield from logged("stopped", stopped)
    yield from report("stopped", stopped)
    exam = in_inspect("exam", task, steady, told)
    yield from duels(told, exam)


def duels(told: dict[str, str], exam: Path) -> Stored:
    """A writer's duels with the chosen responses: a judge, and people on some of the duels."""
    written = in_inspect("written", "personafeedback_write_general", f"{models.NAME}/writer", told)
    yield from printed("duel", "duel", written, "--against", "chosen", "--out", "duels/chosen")
    run = in_inspect("judged", "personafeedback_general", f"{models.NAME}/steady", {"data": "duels/chosen"})
    yield from both("verdict", "verdict", run, "--exam", exam)
    sources = [row["source"] for path in sorted(Path("duels/chosen/data").rglob("*.jsonl")) for row in rows(path)]
    votes = [f"{source},{models.one_of(['reply', 'other', 'tie'], source)}\n" for source in sources[:VOTES]]
    Path("votes.csv").write_text("".join(["case,winner\n", *votes]), encoding="utf-8")
    yield from both("human", "verdict", run, "--exam", exam, "--human", "votes.csv")
