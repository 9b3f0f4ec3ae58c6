"""The votes of a grader in a writing run -> the grader's runs on duels, one for each side that the replies were compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..engine.benchmark import Benchmark, find
from ..engine.cases import CaseSet
from ..engine.duels import Duels, NotAsked
from ..engine.evidence import Reply
from ..engine.graded import Ask, Graded
from ..engine.method import FACTS
from ..engine.outcome import Answers, Outcome, ScoredCase
from ..engine.signature import signature
from .log import Grader, LoggedDocument
from .logged import tasks_of
from .run import Run, RunError


def writer_of(run: Run) -> str:
    """Who wrote the replies of a run: the model, and how it was asked where that is not the default."""
    return f"{run.model} ({', '.join(run.remarks)})" if run.remarks else run.model


def has_votes(run: Run) -> bool:
    """Whether a grader judged in the same run."""
    return any(document.votes for _, document in _documents(run))


def graded_runs(run: Run, cases: CaseSet[Any]) -> list[tuple[Run, Duels, CaseSet[Any]]]:
    """The runs of the grader, what they are, and their cases; empty without votes.

    Args:
        cases: what was written for, as the run showed it.

    Raises:
        RunError: a vote is missing or is no answer, or the run has several epochs.
        DataError: the cases are others than those of the run.
    """
    graded = run.benchmark.graded
    documents = [(grader, document) for grader, document in _documents(run) if document.votes]
    if graded is None or not documents:
        return []
    votes = {name: answers for _, document in documents for name, answers in document.votes.items()}
    sides = [side for side in graded.compared if any(name.startswith(f"{side} ") for name in votes)]
    grader = documents[0][0]
    asked = [ask for _, document in documents for ask in _asks(run, cases, graded, sides, document)]
    return [_of_side(run, cases, grader, side, [row[side] for row in asked], votes) for side in sides]


def _documents(run: Run) -> Iterator[tuple[Grader, LoggedDocument]]:
    for task in tasks_of(run):
        for document in task.documents() if task.grader is not None else ():
            if document.epoch > 1:
                raise RunError(f"{task.path}: found votes of several epochs, expected one reply to each question.")
            if not document.mark:
                assert task.grader is not None  # checked above
                yield task.grader, document


def _asks(
    run: Run, cases: CaseSet[Any], graded: Graded, sides: list[str], logged: LoggedDocument
) -> list[dict[str, Ask]]:
    written_for = next((case for case in cases if case.id == logged.id), None)
    (reply,) = logged.evidence
    if written_for is None or logged.document is None or not isinstance(reply, Reply):
        raise RunError(f"{run.logs[0]}, {logged.where}: found votes on {logged.id}, which is not in {cases.source}.")
    return graded.asks(written_for, {FACTS: logged.document.facts}, sides, reply.text)


def _of_side(
    run: Run,
    cases: CaseSet[Any],
    grader: Grader,
    side: str,
    asks: list[Ask],
    votes: Mapping[str, Answers],
) -> tuple[Run, Duels, CaseSet[Any]]:
    graded = run.benchmark.graded
    assert graded is not None  # checked by the caller
    judge, writer = find(graded.benchmark), writer_of(run)
    compared = [ask for ask in asks if not ask.why_not]
    duel_cases = graded.cases(cases, [ask.case for ask in compared])
    duels = Duels(
        writer=writer,
        against=side,
        models=(run.model,),
        sources={ask.case.id: ask.case.id for ask in compared},
        not_asked=tuple(
            NotAsked(case=ask.case.id, cell=ask.case.cell, user_id=ask.case.user_id, why=ask.why_not)
            for ask in asks
            if ask.why_not
        ),
    )  # fmt: skip
    options = judge.options.read({"data": cases.source, "counts": "any"})
    cells = dict(Counter(ask.case.cell for ask in compared))
    if run.partial:  # nobody knows which of the other replies would have been asked about
        cells |= Counter(case.cell for case in graded.cases(cases, None) if case.cell in cells)
    signed = signature(judge, judge.task(""), duel_cases, options)
    judged = Run(
        model=grader.model,
        harness=run.harness,
        date=run.date,
        signature={
            **signed,
            "set": {"name": f"duel of {writer} against {side}", "counts": cells},
            "demonstration": False,
        },
        conditions=grader.conditions,
        cells=cells,
        cases={ask.case.id: ScoredCase(_outcomes(run, judge, options.method, ask, votes)) for ask in compared},
        logs=run.logs,
        status=run.status,
        named=run.named,
    )
    return judged, duels, duel_cases


def _outcomes(run: Run, judge: Benchmark, name: str, ask: Ask, votes: Mapping[str, Answers]) -> list[Outcome]:
    method, answers = judge.methods[name], votes.get(ask.name, ())
    if len(answers) != len(method.calls) or not set(answers) <= set(judge.answers):
        raise RunError(
            f"{run.logs[0]}: found the votes {list(answers)} on {ask.name}, expected one for each of {len(method.calls)} calls, of "
            f"{', '.join(judge.answers)}. Judge again: inspect score {run.logs[0]} --model-role ..."
        )
    return method.judge(judge.scorable(method, judge.logged(method, ask.case)), (), [answers])
