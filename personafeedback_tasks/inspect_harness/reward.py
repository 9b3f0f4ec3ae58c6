"""Reward models in Inspect: the model API `personafeedback-reward/<path or Hub id>`, and what asks and scores it.

A case is two calls, one conversation per response. The reply is the reward as text; what else the model says travels
in the reply's metadata.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from inspect_ai.event import Event, ModelEvent
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import collect

from ..common.errors import OptionError, PersonaFeedbackError
from ..personafeedback import conversations, rewards
from ..personafeedback.cases import CATEGORIES, CELLS, Case, CaseSet
from ..personafeedback.conversations import SIDES
from ..personafeedback.options import Options
from ..personafeedback.rewards import RewardError
from ..replies.answers import joined
from . import tasks as inspect_task

if TYPE_CHECKING:
    from ..reward_models.classifier import Encoded, RewardModel, Rewards

logger = logging.getLogger(__name__)

API = "personafeedback-reward"
WINDOW = 128
"""Conversations that are scored before any of their results is handed on."""
CONNECTIONS = 8 * WINDOW
"""While one window is scored, others wait: the more of them, the less the lengths in the next window differ."""
PAUSE = 0.01
"""Seconds without a new request after which a window is full enough."""

TOTAL = "reward"
"""The name of the reward itself among those of the aspects."""
RESERVED = ("", TOTAL, *CELLS, *CATEGORIES, "stderr")
"""No names of aspects: `acc_general` is acc in a category, `acc_<aspect>` in an aspect."""

ARGUMENTS = ("batch_size", "aspects", "truncate", "trust_remote_code", "dtype", "revision", "unpinned")


@dataclass(eq=False)
class _Request:
    encoded: Encoded
    result: Rewards | Exception | None = None


class RewardModelAPI(ModelAPI):
    """Scores the conversations of the task's method `reward`; `-M` takes ARGUMENTS, see `reward_model.RewardModel`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature that Inspect's own providers have
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        from .. import reward_models  # noqa: F401 - says which extra to install, before the first call

        self.arguments = _arguments(model_args)
        self.waiting: list[_Request] = []
        self.turn = anyio.Lock()

    @property
    def model(self) -> RewardModel:
        """The model, loaded at the first call: Inspect builds a second API just to look up what it knows of a name.

        Raises:
            PersonaFeedbackError: it cannot be loaded. Hundreds of calls wait for it: none of them tries again.
        """
        if isinstance(self._loaded, Exception):
            raise self._loaded.with_traceback(None)  # else each call would make it longer
        return self._loaded

    @cached_property
    def _loaded(self) -> RewardModel | PersonaFeedbackError:
        from ..reward_models.classifier import RewardModel

        try:
            model = RewardModel(self.model_name, **self.arguments)
        except PersonaFeedbackError as error:
            return error
        # Inspect shows nothing below WARNING unless it is asked to.
        logger.warning(
            "%s/%s (%s): %s; persona %s; at most %s tokens; %s on %s", API, self.model_name, model.commit,
            f"outputs {', '.join(model.aspects)}" if model.aspects else "one output",
            "as a system turn" if model.has_system_turn else "before the question",
            f"{model.max_length:,}" if model.max_length else "unlimited", model.dtype, model.model.device,
        )  # fmt: skip
        return model

    def max_connections(self) -> int:
        return CONNECTIONS

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        about = input[-1].metadata or {}
        if input[-1].role != "assistant" or about.get("side") not in SIDES:
            raise RewardError(
                f"{API} found a prompt to reply to, expected a conversation to score. A reward model needs the task's "
                "method for it: -T method=reward."
            )
        turns = [{"role": message.role, "content": message.text} for message in input]
        name = f"{about['case_id']}, {about['side']} response"
        request = _Request(self.model.encode([turns], [name])[0])
        found = await self._scored(request)
        output = ModelOutput.from_content(f"{API}/{self.model_name}", repr(found.score))
        output.choices[0].message.metadata = {
            "side": about["side"],
            "persona": request.encoded.persona,
            "truncated": request.encoded.truncated,
            "dtype": self.model.dtype,
            "revision": self.model.commit,
            "aspects": found.aspects,
        }
        tokens = len(request.encoded.ids)
        output.usage = ModelUsage(input_tokens=tokens, total_tokens=tokens)
        return output

    async def _scored(self, request: _Request) -> Rewards:
        """The result of one request. Whoever has the turn scores a window for all, its own request in it."""
        self.waiting.append(request)
        try:
            async with self.turn:
                if request.result is None:
                    await self._score_window(request)
        finally:
            if request in self.waiting:  # cancelled before its turn came
                self.waiting.remove(request)
        if isinstance(request.result, Exception):
            raise RewardError(
                f"{API}/{self.model_name} failed on a batch ({type(request.result).__name__}: {request.result}). "
                "If it ran out of memory, pass a smaller -M batch_size."
            ) from request.result
        assert request.result is not None
        return request.result

    async def _score_window(self, first: _Request) -> None:
        from ..reward_models.classifier import nearest

        seen = 0
        size = max(WINDOW, self.model.batch_size)
        while seen < len(self.waiting) < size:
            seen = len(self.waiting)
            await anyio.sleep(PAUSE)
        lengths = [len(request.encoded.ids) for request in self.waiting]
        window = [self.waiting[index] for index in nearest(lengths, self.waiting.index(first), size)]
        self.waiting = [request for request in self.waiting if request not in window]
        # Others wait for this window: if the one that scores it is cancelled, that must not lose their results.
        with anyio.CancelScope(shield=True):
            try:
                found: Sequence[Rewards | Exception] = await anyio.to_thread.run_sync(
                    self.model.score, [request.encoded for request in window]
                )
            except Exception as error:
                found = [error] * len(window)
        for request, result in zip(window, found, strict=True):
            request.result = result


@modelapi(name=API)
def reward_models() -> type[ModelAPI]:
    """What `--model personafeedback-reward/...` names. (Decorated itself, the class would be a class no more.)"""
    return RewardModelAPI


def _arguments(model_args: dict[str, Any]) -> dict[str, Any]:
    """What `-M` gave, for RewardModel.

    Raises:
        OptionError: an unknown name, or a value of another type.
    """
    for name, value in model_args.items():
        if name not in ARGUMENTS:
            raise OptionError(f"-M {name}={value!r} is no option of {API}. Use: {', '.join(ARGUMENTS)}.")
    found = dict(model_args)
    size = found.get("batch_size", 1)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise OptionError(f"batch_size={size!r} is not known. Use a whole number from 1.")
    revision = found.get("revision")
    if "revision" in found and (not isinstance(revision, str) or not revision):
        raise OptionError(
            f"revision={revision!r} is not known, expected a commit, branch or tag as text. Quote what looks like a number: "
            "-M 'revision=\"1.0\"'."
        )
    for name in ("truncate", "trust_remote_code", "unpinned"):
        if not isinstance(found.get(name, False), bool):
            raise OptionError(f"{name}={found[name]!r} is not known. Use one of: true, false.")
    if "aspects" in found:
        found["aspects"] = _names(found["aspects"])
    return found


def _names(aspects: object) -> tuple[str, ...]:
    """The names of a model's outputs: Inspect hands over `a,b` as a list, and a single word or nothing as YAML reads it."""
    listed = aspects.split(",") if isinstance(aspects, str) else aspects
    names = tuple(str(name).strip() for name in listed) if isinstance(listed, list | tuple) else ()
    if not names or not set(names).isdisjoint(RESERVED):
        raise OptionError(
            f"aspects={aspects!r} is not known, expected a name for each output, none of them empty or one of "
            f"{', '.join(RESERVED[1:])}, which have a meaning of their own. Name them in their order: -M aspects=helpfulness,correctness,..."
        )
    return names


def score_both_responses(cases: CaseSet, template: Options) -> Solver:
    """A solver that has both responses of a case scored at the same time."""
    case_of = {case.id: case for case in cases}

    @solver(name="score_both_responses")
    def ask(setting: str) -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            model, case = get_model(), case_of[str(state.sample_id)]
            if not isinstance(model.api, RewardModelAPI):
                raise RewardError(
                    f"method=reward found the model {model}, expected a reward model. Pass --model {API}/<path or Hub "
                    "id>, or leave method out."
                )
            outputs = await collect(*(model.generate(_messages(case, template, side)) for side in SIDES))
            # One output with one choice per response: what the scorer reads, also when a log is scored again.
            state.output = ModelOutput(model=outputs[0].model, choices=[output.choices[0] for output in outputs])
            return state

        return solve

    return ask(template.setting)


def _messages(case: Case, template: Options, side: str) -> list[ChatMessage]:
    made: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    messages = [
        made[turn["role"]](content=turn["content"]) for turn in conversations.conversation(case, template, side)
    ]
    messages[-1].metadata = {"case_id": case.id, "side": side}
    return messages


def choices(output: ModelOutput, events: Callable[[], Sequence[Event]], case_id: str) -> list[ChatCompletionChoice]:
    """The reply for each response, in the order of SIDES; from the events where Inspect rebuilt a killed run."""
    found = list(output.choices)
    if len(found) != len(SIDES):
        calls = [event for event in events() if isinstance(event, ModelEvent) and event.output.choices]
        found = [event.output.choices[0] for event in calls]
    of = {(choice.message.metadata or {}).get("side"): choice for choice in found}
    if not set(SIDES) <= of.keys():
        raise RewardError(
            f"sample {case_id}: found the rewards of {len(of.keys() & set(SIDES))} responses, expected both. "
            f"Run the case again with --model {API}/... -T method=reward."
        )
    return [of[side] for side in SIDES]


@metric
def pearson() -> Metric:
    """`pearson_reward` and `pearson_<aspect>`: correlation of the rewards with the chosen label."""

    # Without this annotation Inspect passes bare scores.
    def compute(scores: list[SampleScore]) -> Value:
        pairs: dict[str, list[dict[str, float]]] = {}
        for sample in scores:
            for name, pair in ((sample.score.metadata or {}).get("rewards") or {}).items():
                pairs.setdefault(name, []).append(pair)
        return {
            f"pearson_{name}": rewards.pearson([pair["chosen"] for pair in rows], [pair["rejected"] for pair in rows])
            for name, rows in pairs.items()
        }

    return compute


@scorer(metrics=[inspect_task.measures(), pearson()], name="personafeedback_reward")
def both_responses() -> Scorer:
    """Score one case from the rewards of its responses.

    acc is 1 if the chosen one is higher, 0.5 on an exact tie; tie says whether it is one; truncated is the share of
    responses whose conversation was cut; acc_<aspect> is acc of one output of the model.
    """

    async def score(state: TaskState, target: Target) -> Score:
        replies = choices(state.output, inspect_task.events, str(state.sample_id))
        about = [cast(dict[str, Any], choice.message.metadata) for choice in replies]
        return Score(
            value=cast(Any, values(replies, str(state.sample_id))),
            answer=joined(choice.message.text for choice in replies),
            metadata={
                "rewards": {name: dict(zip(SIDES, pair, strict=True)) for name, pair in _pairs(replies).items()},
                # The logs of version 0.1.0, which may be scored again, have no revision.
                **{name: about[0][name] for name in ("persona", "dtype", "revision") if name in about[0]},
            },
        )

    return score


def _pairs(replies: Sequence[ChatCompletionChoice]) -> dict[str, tuple[float, float]]:
    """TOTAL and each aspect -> the rewards of the chosen and of the rejected response."""
    chosen, rejected = replies
    one, other = (cast(dict[str, Any], choice.message.metadata)["aspects"] for choice in replies)
    return {
        TOTAL: (float(chosen.message.text), float(rejected.message.text)),
        **{name: (value, other[name]) for name, value in one.items()},
    }


def values(replies: Sequence[ChatCompletionChoice], case_id: str) -> dict[str, float]:
    """What is scored of one case, from the replies in the order of SIDES.

    Raises:
        RewardError: a reward is no finite number.
    """
    try:
        scored = {name: rewards.score_pair(*pair) for name, pair in _pairs(replies).items()}
    except RewardError as error:
        raise RewardError(f"{case_id}: {error}") from error
    acc, tie = scored.pop(TOTAL)
    cut = sum(bool((choice.message.metadata or {})["truncated"]) for choice in replies) / len(SIDES)
    return {"acc": acc, "tie": tie, "truncated": cut, **{f"acc_{name}": pair[0] for name, pair in scored.items()}}


def reward(cases: CaseSet, options: Options) -> tuple[Solver, Scorer, GenerateConfig]:
    """Method `reward`: a classifier scores each response."""
    conversations.check(options)
    return score_both_responses(cases, options), both_responses(), GenerateConfig(max_connections=CONNECTIONS)
