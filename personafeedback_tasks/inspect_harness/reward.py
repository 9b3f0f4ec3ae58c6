"""A reward model in Inspect: one call per response, the right one first. Its solver, its scorer and their metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from inspect_ai.model import GenerateConfig, Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Solver, TaskState

from ..engine.benchmark import Benchmark, find
from ..engine.cases import CaseSet
from ..engine.options import Options
from ..engine.rewards import RewardError, correlations
from . import explained
from .calls import ask_every_call, events, replies
from .evidence import about_of, given, score_name
from .metrics import measures, outcomes_of
from .reward_api import API, CONNECTIONS, RewardModelAPI
from .scorers import document_of


def parts(record: Benchmark, cases: CaseSet[Any], every: Sequence[Options]) -> tuple[Solver, Scorer, GenerateConfig]:
    """The solver and the scorer for a classifier that scores each response."""
    asking = ask_every_call(record, cases, every, refuse_other_model)
    return asking, responses(record.name, every[0].method)(), GenerateConfig(max_connections=CONNECTIONS)


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
        cases = outcomes_of(scores)
        return cast(Value, correlations([outcome.rewards or {} for outcome in case] for case in cases))

    return compute


@cache
def responses(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method that compares rewards.

    acc is 1 if the right response alone has the highest reward, so 0 on a tie; acc_half is an equal share there, 0.5 of two; tie says
    whether it is one;
    truncated is the share of responses whose conversation was cut; acc_<aspect> is acc of one output of the model.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]
    held_against = (
        method.score_rewards is not None
    )  # something of the case, as neither response is the right one by itself

    @scorer(metrics=[measures(name), *([] if held_against else [pearson()])], name=score_name(benchmark, method))
    def scores() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            document = document_of(benchmark, method, state, target)
            asked = replies(state.output, events, method.asked(document.settings))
            outcomes = method.judge(document, given(method, asked, f"{state.sample_id}", f"{state.model}"))
            (values,) = benchmark.tabled(method, outcomes, "inspect")
            about = about_of(asked[method.calls[0]])
            return Score(
                value=cast(Any, values),
                answer=", ".join(reply.message.text for reply in asked.values()),
                explanation=explained.rewards(benchmark, outcomes, state),
                metadata={
                    "rewards": {
                        name: dict(zip(method.calls, pair, strict=True))
                        for name, pair in (outcomes[0].rewards or {}).items()
                    },
                    **({"targets": list(target)} if held_against else {}),
                    # A log from before the revision was noted can be scored again.
                    **{name: about[name] for name in ("persona", "dtype", "revision") if name in about},
                },
            )

        return score

    return scores
