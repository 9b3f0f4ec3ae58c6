"""The scorer that asks a second model: it judges what the first one wrote, in the same run or, with `inspect score`, again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from inspect_ai.model import ChatMessageUser, Model, ModelOutput, get_model, model_roles
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from ..common.errors import DataError, OptionError
from ..engine.benchmark import Benchmark, find
from ..engine.evidence import answer_in
from ..engine.graded import Ask, Graded
from ..engine.options import Options
from ..engine.outcome import Answers
from .calls import concurrently, events, kept, replies, text_config
from .evidence import said
from .metrics import VALUES, measures
from .scorers import over_cases, unanswered


def applies(benchmark: Benchmark, options: Options) -> bool:
    """Whether these options ask for a grader.

    Raises:
        OptionError: they do, and the run has none. Inspect would ask the model itself. A task that a program builds before its run
            is refused by its first sample, see `required`.
    """
    graded = benchmark.graded
    if graded is None or not getattr(options, graded.option):
        return False
    if _within_a_run():
        required(graded)
    return True


def arguments(benchmark: Benchmark, options: Options) -> dict[str, Any]:
    """Those of the scorer for a run with these options."""
    assert benchmark.graded is not None
    compared = getattr(options, benchmark.graded.option)
    return {"compared": ",".join(compared), "data": options.data, "counts": options.counts}


def required(graded: Graded) -> None:
    """Raise OptionError if the run has no grader."""
    if graded.role not in model_roles():
        raise OptionError(
            f"{graded.option} needs a model that judges, found none. Pass --model-role {graded.role}=MODEL, or leave "
            f"{graded.option} out."
        )


def refuse(benchmark: Benchmark) -> Callable[[Model], None]:
    """For the solver: `required`, whatever the model that writes."""
    graded = benchmark.graded
    assert graded is not None
    return lambda model: required(graded)


def _within_a_run() -> bool:
    """Whether the models of a run are known: Inspect's command sets them before it builds tasks."""
    try:
        from inspect_ai.model._model import (
            active_model,
        )  # inspect-evals-lint: ignore[private_api_imports] -- nothing public says so
    except ImportError:
        return False
    return active_model() is not None


@cache
def grades(name: str) -> Callable[..., Scorer]:
    """The scorer of a benchmark's grader."""
    benchmark = find(name)
    graded = benchmark.graded
    assert graded is not None  # whoever registers it has looked

    @scorer(metrics=[measures(name)], name=f"{name}_{graded.role}")
    def scores(compared: str | list[str] = "", data: str | None = None, counts: str | None = None) -> Scorer:
        """A log has these arguments. `inspect score` takes them as -S.

        Args:
            compared: what is compared, with commas between; all if empty.
        """
        given = {"data": data, "counts": counts, graded.option: compared or graded.compared}
        options = benchmark.options.strict({name: value for name, value in given.items() if value is not None})
        cases: dict[str, Any] = {}

        async def score(state: TaskState, target: Target) -> Score:
            if not cases:
                required(graded)
                load = benchmark.report.load
                assert load is not None
                cases.update((case.id, case) for case in load(cast(Any, options.data), options.counts))
            (method,) = benchmark.methods.values()
            written = replies(state.output, events, method.calls)
            if not written:
                return unanswered(0, len(method.calls))
            (reply,) = written.values()
            case = cases.get(str(state.sample_id))
            try:
                if case is None or case.digest != state.metadata["digest"]:
                    raise DataError(
                        f"{state.sample_id}: found {'no such case' if case is None else 'another one'} in {data or 'the data'}."
                    )
                rows = graded.asks(case, state.metadata, getattr(options, graded.option), reply.message.text)
            except DataError as error:
                raise DataError(f"{error} Pass the data of the run: -S data=FOLDER.") from error
            grader = get_model(role=graded.role, required=True)
            votes = await _votes(graded, grader, [ask for row in rows for ask in row.values() if ask.prompts])
            values = [graded.values(row, votes) for row in rows]
            return Score(
                value=cast(Any, over_cases(values)),
                metadata={
                    "compared": [ask.name for row in rows for ask in row.values()],
                    "votes": {ask: list(answers) for ask, answers in votes.items()},
                    VALUES: values,
                },
            )

        return score

    return scores


async def _votes(graded: Graded, grader: Model, asks: Sequence[Ask]) -> Mapping[str, Answers]:
    """Name of a comparison -> the grader's answers in the order of its calls."""
    config = text_config(graded.room).merge(grader.config)
    prompts = {
        f"{ask.name} {call}": (prompt, {"case_id": ask.name, "call": call})
        for ask in asks
        for call, prompt in ask.prompts.items()
    }

    async def one(call: str) -> ModelOutput:
        prompt, about = prompts[call]
        return await grader.generate([ChatMessageUser(content=prompt, metadata=about)], config=config, **kept())

    outputs = iter(await concurrently(list(prompts), one))
    return {
        ask.name: tuple(answer_in(said(next(outputs).choices[0]), graded.read) for _ in ask.prompts) for ask in asks
    }
