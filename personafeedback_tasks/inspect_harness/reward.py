"""The solver and the scorer of a reward model in Inspect: one call per response, the right one first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, cast

from inspect_ai.model import ChatCompletionChoice, GenerateConfig, Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Solver, TaskState

from ..engine import rewards
from ..engine.benchmark import Benchmark, find
from ..engine.cases import CaseSet
from ..engine.options import Options
from ..engine.rewards import TOTAL, Pairs, RewardError
from . import explained
from .calls import ask_every_call, events, replies
from .metrics import measures
from .reward_api import API, CONNECTIONS, RewardModelAPI
from .scorers import name_of


def parts(record: Benchmark, cases: CaseSet[Any], options: Options) -> tuple[Solver, Scorer, GenerateConfig]:
    """The solver and the scorer for a classifier that scores each response."""
    asking = ask_every_call(record, cases, options, refuse_other_model)
    return asking, responses(record.name, options.method)(), GenerateConfig(max_connections=CONNECTIONS)


def refuse_other_model(model: Model) -> None:
    """Raise RewardError for a model that generates text."""
    if not isinstance(model.api, RewardModelAPI):
        raise RewardError(
            f"method=reward needs a reward model, got {model}. Pass --model {API}/<path or Hub id>, or leave "
            "method out."
        )


@metric
def pearson() -> Metric:
    """`pearson_reward` and `pearson_<aspect>`: correlation of the rewards with being the better response."""

    # Without this annotation Inspect passes bare scores.
    def compute(scores: list[SampleScore]) -> Value:
        epochs: dict[object, list[Pairs]] = {}
        for sample in scores:
            noted = (sample.score.metadata or {}).get("rewards") or {}
            both = {name: tuple(by_call.values()) for name, by_call in noted.items()}
            epochs.setdefault(sample.sample_id, []).append(cast(Pairs, both))
        return cast(Value, correlations(epochs.values()))

    return compute


def correlations(cases: Iterable[Sequence[Pairs]]) -> dict[str, float]:
    """The metrics of `pearson`, of the rewards of each case in each epoch."""
    cases = list(cases)
    responses = len(next(iter(cases[0][0].values()), ())) if cases else 0
    found = rewards.with_better(rewards.over_responses(cases), responses)
    return {f"pearson_{name}": value for name, value in found.items()}


@cache
def responses(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method that compares rewards.

    acc is 1 if the right response alone has the highest reward, so 0 on a tie; acc_half is an equal share there, 0.5 of two; tie says
    whether it is one;
    truncated is the share of responses whose conversation was cut; acc_<aspect> is acc of one output of the model.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]

    @scorer(metrics=[measures(name), pearson()], name=name_of(benchmark, method))
    def scores() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            found = both(replies(state.output, events, method.calls), method.calls, str(state.sample_id))
            about = _about(found[0])
            return Score(
                value=cast(Any, values(found, str(state.sample_id))),
                answer=", ".join(reply.message.text for reply in found),
                explanation=explained.rewards(benchmark, pairs(found)[TOTAL], state),
                metadata={
                    "rewards": {
                        name: dict(zip(method.calls, pair, strict=True)) for name, pair in pairs(found).items()
                    },
                    # A log from before the revision was noted can be scored again.
                    **{name: about[name] for name in ("persona", "dtype", "revision") if name in about},
                },
            )

        return score

    return scores


def both(
    found: dict[str, ChatCompletionChoice], calls: Sequence[str], case_id: str
) -> tuple[ChatCompletionChoice, ...]:
    """The replies about all responses.

    Raises:
        RewardError: one is missing, or is not a reward.
    """
    rewarded = [found[call] for call in calls if call in found and "reward" in _about(found[call])]
    if len(rewarded) != len(calls):
        raise RewardError(
            f"sample {case_id}: found the rewards of {len(rewarded)} responses, expected {'both' if len(calls) == 2 else len(calls)}. "
            f"Run the case again with --model {API}/... -T method=reward."
        )
    return tuple(rewarded)


def values(replies: Sequence[ChatCompletionChoice], case_id: str) -> dict[str, float]:
    """The values of one case, from the replies about all responses.

    Raises:
        RewardError: a reward is not a finite number.
    """
    found = pairs(replies)
    try:
        scored = {name: rewards.score_rewards(*of_case) for name, of_case in found.items()}
    except RewardError as error:
        raise RewardError(f"{case_id}: {error}") from error
    acc, tie = scored.pop(TOTAL)
    cut = sum(bool(_about(reply)["truncated"]) for reply in replies) / len(replies)
    of_aspects = {f"acc_{name}": right for name, (right, _) in scored.items()}
    return {
        "acc": acc,
        "acc_half": acc + tie / found[TOTAL].count(found[TOTAL][0]),
        "tie": tie,
        "truncated": cut,
        **of_aspects,
    }


def pairs(replies: Sequence[ChatCompletionChoice]) -> Pairs:
    """The rewards in the replies about all responses."""
    notes = [_about(reply) for reply in replies]
    aspects = {name: tuple(float(note["aspects"][name]) for note in notes) for name in notes[0]["aspects"]}
    return {TOTAL: tuple(float(note["reward"]) for note in notes), **aspects}


def _about(reply: ChatCompletionChoice) -> dict[str, Any]:
    return reply.message.metadata or {}
