"""A part of `unchanged.py`: what is decided by runs of several settings, runs that stop, judges that may abstain, and people."""

from __future__ import annotations

from pathlib import Path

import unchanged_models as models
from unchanged_data import filled_in, subset
from unchanged_runs import SETTINGS, Stored, both, files, in_inspect, in_lm_eval, logged, printed, ranked, report

EACH, RISK = 60, 0.2
"""Real cases of each cell; the share of verdicts that may be wrong."""


def decisions() -> Stored:
    """Several settings at once and a run that stops, on a part of General; judges and people on its duels."""
    subset(Path("part"), EACH)
    models.learn(Path("part"))
    told = {"data": "part", "counts": "any"}
    steady, task = f"{models.NAME}/steady", "personafeedback_general"
    for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
        log = run(f"several/{harness}", task, steady, told | {"setting": ",".join(SETTINGS)})
        yield from logged(f"several/{harness}", log)
        yield from report(f"several/{harness}", log, "--price-in", 2, "--price-out", 8)
        yield from printed(f"full_{harness}", "report", log, "--full")
    yield from ranked("logs/several")
    yield from printed("columns", "rank", "logs/several", "--columns", "all")
    stopped = in_inspect("stopped", task, steady, told | {"stop": "acc:15"}, max_samples=1)
    yield from logged("stopped", stopped)
    yield from report("stopped", stopped)
    other = in_inspect("other", task, f"{models.NAME}/steady-2", told)
    exam = in_inspect("exam", task, steady, told)
    yield from printed("sequential", "compare", exam, other, "--sequential")
    for stop in ("5", "acc:10"):
        yield from printed(f"plan_{stop}", "plan", "--data", "part", "--counts", "any", "--task", task, "--stop", stop)
    yield from duels(told, exam, other)


def duels(told: dict[str, str], exam: Path, second_exam: Path) -> Stored:
    """A writer's duels with the chosen responses: a judge that abstains, a second one, and people on the duels that tell most."""
    written = in_inspect("written", "personafeedback_write_general", f"{models.NAME}/writer", told)
    yield from printed("duel", "duel", written, "--against", "chosen", "--out", "duels/chosen")
    run = in_inspect("judged", "personafeedback_general", f"{models.NAME}/steady", {"data": "duels/chosen"})
    told_exam = ("--exam", exam, "--risk", RISK)
    yield from both("risk", "verdict", run, *told_exam)
    yield from printed("export", "export", "--abstained", run, *told_exam, "--out", "duels/rest")
    yield from without_personas("duels")
    rest = in_inspect("rest", "personafeedback_general", f"{models.NAME}/steady-2", {"data": "duels/rest"})
    yield from both("cascade", "verdict", run, "--then", rest, "--exam", second_exam, *told_exam)
    yield from printed("ask", "verdict", run, "--exam", exam, "--ask-people", 40, "--out", "asked")
    yield from printed("packs", "build", "packs", "asked", "--format", "csv")
    yield from without_personas("asked")
    sent = [
        filled_in(path, Path("sent"), lambda line: {"vote": models.one_of("AB", line["A"])})
        for path in sorted(Path("asked/packs").glob("*.csv"))
    ]
    yield from printed("votes", "build", "votes", "asked", *sent)
    yield from both("human", "verdict", run, "--exam", exam, "--human", "asked")


def without_personas(folder: str) -> Stored:
    """The files below a folder, but for the users' profiles, which are those of the release."""
    yield from ((name, text) for name, text in files(folder) if "persona" not in Path(name).parts)
