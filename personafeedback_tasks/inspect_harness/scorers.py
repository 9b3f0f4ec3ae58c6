"""Replies -> scores: one scorer for each method of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from inspect_ai.model import ChatCompletionChoice
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from ..common.statistics import mean
from ..core.benchmark import Benchmark, find
from ..core.documents import Scorable
from ..core.evidence import Evidence
from ..core.method import Method, ReplyMethod, RewardMethod, TextMethod, TopTokenMethod
from ..core.result import Result
from ..core.thinking import settle, settled, shows_thinking
from ..parsing.letter_probabilities import mass
from .calls import events, replies, stage_outcome
from .evidence import about_of, given, score_name
from .metrics import IF_THINKS, ITEMS, THINKS, VALUES, measures, pearson


@cache
def scores(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method.

    Of rewards, acc is 1 if the right response alone has the highest reward, so 0 on a tie; acc_half is an equal share
    there, 0.5 of two; tie says whether it is one; acc_<aspect> is acc of one output of the model.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]
    more = [pearson()] if isinstance(method, RewardMethod) else []

    @scorer(metrics=[measures(name, benchmark.primary(method)), *more], name=score_name(benchmark, method))
    def of_method() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            logged = {**state.metadata, "id": str(state.sample_id), "targets": list(target)}
            document = benchmark.scorable(method, logged)
            names = method.asked(document.settings)
            asked = replies(state.output, events, names)
            if len(asked) < len(names):
                return unanswered(len(asked), len(names))
            evidence = settle(given(method, asked, f"{state.sample_id}", f"{state.model}"), method)
            outcomes = method.judge(document, evidence)
            values = benchmark.tabled(method, outcomes, "inspect")
            answers = [answer for outcome in outcomes for answer in outcome.answers]
            if isinstance(method, RewardMethod):
                shown = [reply.message.text for reply in asked.values()]
                metadata = _of_rewards(method, asked, outcomes[0])
            else:  # of several cases, what each call was read to, before it is split into their answers
                shown = [method.reading(of) for of in evidence] if isinstance(method, ReplyMethod) else answers
                metadata = {"answers": answers, "targets": logged["targets"]}
                metadata |= {} if method.several is None else {VALUES: values}
                metadata |= _of_labels(benchmark, method, dict(zip(asked, evidence, strict=True)), outcomes[0])
                metadata |= _of_thinking(benchmark, method, document, evidence)
            return Score(
                value=cast(Any, over_cases(values)),
                answer=", ".join(shown),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata=metadata | stage_outcome(benchmark.stage, state),
            )

        return score

    return of_method


def unanswered(replies: int, calls: int) -> Score:
    """The score of a sample that ended before all its calls were answered; Inspect leaves it out of its metrics."""
    return Score.unscored(reason="unanswered", explanation=f"{replies} of {calls} calls were answered: does not count.")


def over_cases(values: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The score of a sample: that of its case, or the mean over several."""
    return values[0] if len(values) == 1 else {name: mean(of_case[name] for of_case in values) for name in values[0]}


def _of_rewards(method: RewardMethod, asked: Mapping[str, ChatCompletionChoice], outcome: Result) -> dict[str, Any]:
    about = about_of(asked[method.calls[0]])
    rewards = {name: dict(zip(method.calls, pair, strict=True)) for name, pair in (outcome.rewards or {}).items()}
    noted: dict[str, Any] = {name: about[name] for name in ("persona", "dtype", "revision") if name in about}
    return {"rewards": rewards, **noted}


def _of_labels(
    benchmark: Benchmark, method: Method, evidence: Mapping[str, Evidence], outcome: Result
) -> dict[str, Any]:
    # p_letters: call -> the probability of all labels together
    noted = _items(method, outcome)
    if isinstance(method, TopTokenMethod):
        noted["p_letters"] = {call: mass(method.likelihoods(of, benchmark.labels)[1]) for call, of in evidence.items()}
    return noted


def _of_thinking(
    benchmark: Benchmark, method: Method, document: Scorable, evidence: Sequence[Evidence]
) -> dict[str, Any]:
    if any(map(shows_thinking, evidence)):
        return {THINKS: True}
    in_view = [settled(of, method) for of in evidence]
    if in_view == evidence:
        return {}
    outcomes = method.judge(document, in_view)
    answers = [answer for outcome in outcomes for answer in outcome.answers]
    values = benchmark.tabled(method, outcomes, "inspect")
    return {IF_THINKS: {"answers": answers, VALUES: values, **_items(method, outcomes[0])}}


def _items(method: Method, outcome: Result) -> dict[str, Any]:
    return {ITEMS: list(outcome.items)} if isinstance(method, TextMethod) and method.items else {}
