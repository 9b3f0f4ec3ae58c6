"""Replies -> scores, one scorer for each method of a benchmark; and scores -> the numbers in Inspect's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

from inspect_ai.log import transcript
from inspect_ai.model import ChatCompletionChoice
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from ..core.benchmark import SETTINGS, find
from ..core.method import Method, ReplyMethod, RewardMethod, TopTokenMethod
from ..core.result import Result
from ..core.rewards import correlations
from ..core.table import table
from ..core.thinking import marked_if_open, shows_thinking
from ..parsing.letter_probabilities import mass
from ..stats.estimates import mean
from .evidence import about_of, first_outcome, given, replies, score_name

RESULTS = "results"
"""Key in the metadata of a score: the results of its cases, as `Result.to_json` makes them."""

THINKS, IF_THINKS = "thinks", "if_thinks"
"""Keys: a reply of the sample shows thinking; the results that count if one of another sample does, since a scorer sees
one sample at a time."""


@cache
def scores(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method.

    Of rewards, acc is 1 if the right response alone has the highest reward, so 0 on a tie; acc_half is an equal share
    there, 0.5 of two; tie says whether it is one; acc_<aspect> is acc of one output of the model.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]
    more = [pearson()] if isinstance(method, RewardMethod) else []

    @scorer(metrics=[measures(name, method_name), *more], name=score_name(benchmark, method))
    def of_method() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            logged = {**state.metadata, "id": str(state.sample_id), "targets": list(target)}
            cases = benchmark.logged_cases(method, logged, state.epoch)
            names = method.asked(logged.get(SETTINGS) or [""])
            events = transcript().events
            asked = replies(state.output, events, names)
            if len(asked) < len(names):
                return unanswered(len(asked), len(names))
            evidence = given(method, asked, f"{state.sample_id}", f"{state.model}")
            notes: dict[str, Any] = {}
            # A scorer sees one sample at a time: how it reads if another sample thinks is kept beside.
            marked = [marked_if_open(one, method) for one in evidence]
            if shows_thinking(evidence):
                evidence, notes[THINKS] = marked, True
            elif marked != evidence:
                notes[IF_THINKS] = [result.to_json() for result in method.judge(cases, marked)]
            results = method.judge(cases, evidence)
            answers = [answer for result in results for answer in result.answers]
            shown, of_model = beside(method, asked, evidence, answers)
            first, whole = benchmark.first_call, len(state.output.choices) == len(names)
            noted = (state.output.metadata or {}) if whole else first_outcome(events, first)
            if first in noted:
                notes[first] = noted[first]
            rows = benchmark.tabled(method, results, "inspect")  # of a group of cases, the table has their mean
            return Score(
                value=rows[0] if len(rows) == 1 else {name: mean(row[name] for row in rows) for name in rows[0]},
                answer=", ".join(shown),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={RESULTS: [result.to_json() for result in results], **of_model, **notes},
            )

        return score

    return of_method


def beside(
    method: Method, asked: Mapping[str, ChatCompletionChoice], evidence: Sequence[Any], answers: Sequence[str]
) -> tuple[Sequence[str], dict[str, Any]]:
    """The answers that a score displays, one text per call, and metadata with the model's probabilities or setup."""
    if isinstance(method, RewardMethod):
        about = about_of(asked[next(iter(asked))])
        shown = [reply.message.text for reply in asked.values()]
        return shown, {name: about[name] for name in ("persona", "dtype", "revision") if name in about}
    if isinstance(method, TopTokenMethod):  # the probability of all labels together
        masses = [mass(method.likelihoods(one)[1]) for one in evidence]
        return answers, {"p_letters": dict(zip(asked, masses, strict=True))}
    if isinstance(method, ReplyMethod) and method.groups:  # the answers are parts of what a call was read to
        return [method.reading(one) for one in evidence], {}
    return answers, {}


def unanswered(replies: int, calls: int) -> Score:
    """The score of a sample that ended before all its calls were answered; Inspect leaves it out of its metrics."""
    return Score.unscored(reason="unanswered", explanation=f"{replies} of {calls} calls were answered: does not count.")


# --- the numbers in Inspect's table -----------------------------------------------------------------------------------


@metric
def measures(benchmark: str, method: str) -> Metric:
    """Every key of the scores: its mean and standard error over all cases, and over each cell and group of cells that
    is less than all.

    They are called `acc`, `acc_stderr`, `acc_CELL`, `acc_CELL_stderr`, ... Means are weighted by cases, nan is left
    out; standard errors are clustered by user. Metrics over the corpus are beside them. The method's primary measure is
    repeated as `accuracy` and `stderr`, the names that other tools know.

    One metric without a reducer computes all: a reducer or a dict of metrics makes Inspect copy every score for each
    key.
    """
    record = find(benchmark)
    of_method = record.methods[method]
    primary = record.primary(of_method)

    # Without this annotation Inspect passes bare scores, stripped of their metadata.
    def compute(scores: list[SampleScore]) -> Value:
        every: list[Result] = []
        for results in in_view([score.score.metadata or {} for score in scores]):
            # those of the first setting come first, and the table has what the others add to them
            for result, values in zip(results, record.tabled(of_method, results, "inspect"), strict=False):
                every.append(replace(result, values=values))
        counted = {*record.counted({result.case_id for result in every})}
        found = table([one for one in every if one.case_id in counted], record.columns, record.corpus)
        if primary in found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


@metric
def pearson() -> Metric:
    """`pearson_reward` and `pearson_<aspect>`: correlation of the rewards with being the better response."""

    def compute(scores: list[SampleScore]) -> Value:  # annotated for the same reason
        cases: dict[str, list[Any]] = {}
        for results in in_view([score.score.metadata or {} for score in scores]):
            cases.setdefault(results[0].case_id, []).append(results[0].rewards or {})
        return cast(Value, correlations(cases.values()))

    return compute


def in_view(notes: Sequence[Mapping[str, Any]]) -> list[Sequence[Result]]:
    """The results in the metadata of each score of a run, read in view of each other."""
    thinks = any(THINKS in note for note in notes)
    found: list[Sequence[Result]] = []
    for note in notes:
        logged = (thinks and note.get(IF_THINKS)) or note.get(RESULTS, ())
        found.append([Result.from_json(one) for one in logged])
    return found
