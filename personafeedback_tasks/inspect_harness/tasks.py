"""Adapter to Inspect: one sample asks both orders, concurrently.

A sample holds ids and the question; both prompts stand in the transcript as they were asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import Event, ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatCompletionChoice, ChatMessageUser, GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from .. import TASK_VERSION
from ..common.errors import choose
from ..personafeedback import prompts, scoring
from ..personafeedback.cases import Case, CaseSet, load_cases
from ..personafeedback.options import Options
from ..personafeedback.orders import CHOSEN_LETTER, ORDERS
from ..replies.answers import LETTERS, joined, read_last_line, read_reply
from . import hooks as inspect_notices
from . import rag as inspect_rag


def letter_config(method: str) -> GenerateConfig:
    """How the methods that read a letter from a reply generate."""
    return GenerateConfig(
        max_tokens=prompts.ROOM[method],
        temperature=0.0,
        # The part of a prompt that cases share is shorter than what Anthropic caches: a cache write is never read back.
        cache_prompt=False,
    )


def build_task(
    name: str, category: str | None = None, difficulty: str | None = None, *, options: Options | None = None
) -> Task:
    """The Inspect task for some cells under some options.

    Args:
        name: the task's name, shown with the setting where that is not `persona`.
        category: see `dataset.load_cases`.
        difficulty: see `dataset.load_cases`.
        options: see `options.Options`.

    Raises:
        DataError: the data is not what the release promises.
    """
    options = options or Options()
    cases = load_cases(options.data, category, difficulty, options.counts)
    options.check(cases)
    solver, scorer, config = METHODS[choose("method", options.method, tuple(METHODS))](cases, options)
    return Task(
        dataset=MemoryDataset([_sample(case) for case in cases], name="PersonaFeedback", location=cases.release.source),
        solver=solver,
        scorer=scorer,
        config=config,
        epochs=Epochs(1, []),  # no reducer, see `measures`; --epochs and --epochs-reducer work as ever
        version=TASK_VERSION,
        name=options.named(name, cases),
        metadata=inspect_notices.watch(name, cases, options),
    )


def _sample(case: Case) -> Sample:
    return Sample(
        id=case.id,
        input=case.question,
        target=[CHOSEN_LETTER[order] for order in ORDERS],
        metadata={
            "cell": case.cell,
            "user_id": case.user_id,
            "language": case.language,
            "digest": case.digest,
        },
    )


def ask_both_orders(cases: CaseSet, template: prompts.Template) -> Solver:
    """A solver that makes the two calls of a case at the same time, after that of `rag_filter` if it is on."""
    case_of = {case.id: case for case in cases}

    # Inspect writes a solver's arguments into the log: the cases come in from outside, the setting is an argument.
    @solver(name="ask_both_orders")
    def ask(setting: str) -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            model, case = get_model(), case_of[str(state.sample_id)]
            told = await inspect_rag.filtered(model, case, template, state)
            outputs = await collect(*(model.generate([_message(case, told, order)]) for order in ORDERS))
            # One output with one choice per order: what the scorer reads, also when a log is scored again.
            state.output = ModelOutput(model=outputs[0].model, choices=[_choice(output) for output in outputs])
            return state

        return solve

    return ask(template.setting)


def _message(case: Case, template: prompts.Template, order: str) -> ChatMessageUser:
    text = prompts.build(case, template, order)
    return ChatMessageUser(content=text, metadata={"case_id": case.id, "order": order})


def choices(output: ModelOutput, events: Callable[[], Sequence[Event]]) -> list[ChatCompletionChoice]:
    """The reply to each order, in the order of ORDERS.

    Args:
        output: of a sample.
        events: gives those of the sample. Inspect rebuilds the samples of a killed run from their events and knows only
            the last output: then the events tell.
    """
    if len(output.choices) == len(ORDERS):
        return output.choices
    calls = [event for event in events() if isinstance(event, ModelEvent) and event.input]
    asked = {(call.input[-1].metadata or {}).get("order"): _choice(call.output) for call in calls}
    return [asked[order] for order in ORDERS if order in asked]


def events() -> Sequence[Event]:
    """Those of the sample that is being scored."""
    return transcript().events


def _choice(output: ModelOutput) -> ChatCompletionChoice:
    """The reply of one call. A provider that returns no choice at all said nothing."""
    if output.choices:
        return output.choices[0]
    return ModelOutput.from_content(output.model, "", stop_reason="unknown").choices[0]


def read_choice(choice: ChatCompletionChoice, read: Callable[[str, bool], str]) -> str:
    """The answer of one reply, with what its stop reason says of it: cut off, or withheld by a filter."""
    truncated = choice.stop_reason in ("max_tokens", "model_length")
    answer = read(choice.message.text, truncated)
    if answer in LETTERS or choice.stop_reason != "content_filter":
        return "truncated" if truncated and answer not in LETTERS else answer
    return "refusal"


@metric
def measures() -> Metric:
    """Every key of the scores: its mean and standard error over all cases, over each cell, and over a category of several.

    They are called `acc`, `acc_stderr`, `acc_general_hard`, `acc_general_hard_stderr`, `acc_general`, ... Means are weighted by
    cases as in the paper, nan is left out; standard errors are clustered by user. `acc` stands there once more under the
    names that other tools know, `accuracy` and `stderr`.

    One metric computes them all, and without a reducer before it: both a reducer and a dict of metrics make Inspect copy
    every score for each key, time and again while a run goes on.
    """

    # Without this annotation Inspect passes bare scores, stripped of the metadata that names the cell and the user.
    def compute(scores: list[SampleScore]) -> Value:
        epochs: dict[object, list[SampleScore]] = {}
        for score in scores:
            epochs.setdefault(score.sample_id, []).append(score)
        found = scoring.table(_scored(same) for same in epochs.values())
        return cast(Value, found | {"accuracy": found["acc"], "stderr": found["acc_stderr"]} if found else {})

    return compute


def _scored(epochs: list[SampleScore]) -> scoring.Scored:
    about = epochs[0].sample_metadata or {}
    return about["cell"], about["user_id"], cast(Any, [score.score.value for score in epochs])


@scorer(metrics=[measures()], name="personafeedback")
def both_orders() -> Scorer:
    """Score one case from the replies of both orders; see `scoring.CaseScore` for the keys."""
    return _score_letters(read_reply)


@scorer(metrics=[measures()], name="personafeedback_cot")
def both_last_lines() -> Scorer:
    """The same from their last lines. A name of its own: a log that is scored again tells the scorer no method."""
    return _score_letters(read_last_line)


def _score_letters(read: Callable[[str, bool], str]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        answers = [read_choice(choice, read) for choice in choices(state.output, events)]
        return Score(
            value=cast(Any, scoring.as_dict(scoring.score_answers(answers))),
            answer=joined(answers),
            reason=next((answer for answer in answers if answer not in LETTERS), None),
            metadata=inspect_rag.outcome(state),
        )

    return score


Method = Callable[[CaseSet, Options], tuple[Solver, Scorer, GenerateConfig]]


def letter(cases: CaseSet, options: Options) -> tuple[Solver, Scorer, GenerateConfig]:
    """Methods `generate` and `cot`: the reply of each order is read to a letter."""
    scorer = both_last_lines() if options.method == "cot" else both_orders()
    return ask_both_orders(cases, options), scorer, letter_config(options.method)


def logprobs(cases: CaseSet, options: Options) -> tuple[Solver, Scorer, GenerateConfig]:
    """Method `logprobs`, which has a module of its own."""
    from . import logprobs as inspect_logprobs  # it needs this module

    return inspect_logprobs.logprobs(cases, options)


def reward(cases: CaseSet, options: Options) -> tuple[Solver, Scorer, GenerateConfig]:
    """Method `reward`, which has a module of its own."""
    from . import reward as inspect_reward  # it needs this module

    return inspect_reward.reward(cases, options)


METHODS: dict[str, Method] = {"generate": letter, "cot": letter, "logprobs": logprobs, "reward": reward}
"""How the model's choice is read: method -> what asks and what scores."""
