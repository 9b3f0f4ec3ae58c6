"""Replies -> scores: one scorer for each method of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from inspect_ai.model import ChatCompletionChoice
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from ..core.benchmark import SETTINGS, find
from ..core.evidence import Evidence
from ..core.method import Method, ReplyMethod, RewardMethod, TopTokenMethod
from ..core.result import Result
from ..core.thinking import settle, settled, shows_thinking
from ..parsing.letter_probabilities import mass
from ..stats.estimates import mean
from .calls import events, replies, stage_outcome
from .evidence import about_of, given, score_name
from .metrics import IF_THINKS, RESULTS, THINKS, measures, pearson


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
            asked = replies(state.output, events, names)
            if len(asked) < len(names):
                return unanswered(len(asked), len(names))
            evidence = settle(given(method, asked, f"{state.sample_id}", f"{state.model}"), method)
            results = method.judge(cases, evidence)
            answers = [answer for result in results for answer in result.answers]
            if isinstance(method, RewardMethod):
                shown = [reply.message.text for reply in asked.values()]
            else:  # of several cases, what each call was read to, before it is split into their answers
                shown = [method.reading(of) for of in evidence] if isinstance(method, ReplyMethod) else answers
            return Score(
                value=cast(Any, over_cases(benchmark.tabled(method, results, "inspect"))),
                answer=", ".join(shown),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={
                    RESULTS: [result.to_json() for result in results],
                    **_of_thinking(method, cases, evidence),
                    **_of_calls(method, asked, evidence),
                    **stage_outcome(benchmark.stage, state),
                },
            )

        return score

    return of_method


def unanswered(replies: int, calls: int) -> Score:
    """The score of a sample that ended before all its calls were answered; Inspect leaves it out of its metrics."""
    return Score.unscored(reason="unanswered", explanation=f"{replies} of {calls} calls were answered: does not count.")


def over_cases(values: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The score of a sample: that of its case, or the mean over several."""
    return values[0] if len(values) == 1 else {name: mean(of_case[name] for of_case in values) for name in values[0]}


def _of_calls(
    method: Method, asked: Mapping[str, ChatCompletionChoice], evidence: Sequence[Evidence]
) -> dict[str, Any]:
    # where a reward model has the persona, its precision and its commit; p_letters: call -> the probability of all
    # labels together
    if isinstance(method, RewardMethod):
        about = about_of(asked[method.calls[0]])
        return {name: about[name] for name in ("persona", "dtype", "revision") if name in about}
    if isinstance(method, TopTokenMethod):
        return {"p_letters": {call: mass(method.likelihoods(of)[1]) for call, of in zip(asked, evidence, strict=True)}}
    return {}


def _of_thinking(method: Method, cases: Sequence[Result], evidence: Sequence[Evidence]) -> dict[str, Any]:
    if any(map(shows_thinking, evidence)):
        return {THINKS: True}
    in_view = [settled(of, method) for of in evidence]
    if in_view == list(evidence):
        return {}
    return {IF_THINKS: [result.to_json() for result in method.judge(cases, in_view)]}
