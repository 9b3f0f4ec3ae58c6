"""Reward models as an Inspect model API: `personafeedback-reward/<path or Hub id>`.

A call is one conversation; its reply is the reward as text, with the number and other outputs in the metadata.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from ..common.errors import OptionError, PersonaFeedbackError
from ..core.benchmark import benchmarks
from ..core.method import RewardMethod
from ..core.rewards import TOTAL, Reward, RewardError
from .errors import errors_in_one_line

if TYPE_CHECKING:
    from ..reward_models.classifier import Encoded, RewardModel

logger = logging.getLogger(__name__)

API = "personafeedback-reward"
CONNECTIONS = 256
"""Conversations at a time: while some are scored, the next ones gather."""
PAUSE = 0.01
"""Seconds in which requests gather before they are scored together."""

ARGUMENTS = ("batch_size", "aspects", "trust_remote_code", "dtype", "revision")


@dataclass(eq=False)
class _Request:
    encoded: Encoded
    result: Reward | Exception | None = None


class RewardModelAPI(ModelAPI):
    """Scores the conversations of the task's method `reward`; `-M` takes ARGUMENTS, the parameters of `RewardModel`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature that Inspect's own providers have
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        with errors_in_one_line():
            from .. import reward_models  # noqa: F401 - says which extra to install, before the first call

            self.arguments = _arguments(model_args)
        self.waiting: list[_Request] = []
        self.turn = anyio.Lock()

    @property
    def model(self) -> RewardModel:
        """The model, loaded at the first call: Inspect builds a second API just to look up a name.

        A failure to load is raised again without a new try, since hundreds of calls wait for it.
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
        # By default, Inspect shows nothing below WARNING.
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
        if input[-1].role != "assistant" or "call" not in about:
            raise RewardError(f"{API} scores conversations, got a prompt to reply to. Pass -T method=reward.")
        turns = [{"role": message.role, "content": message.text} for message in input]
        name = f"{about['case_id']}, {about['call']} response"
        request = _Request(self.model.encode(turns, name))
        found = await self._scored(request)
        output = ModelOutput.from_content(f"{API}/{self.model_name}", repr(found.reward))
        output.choices[0].message.metadata = {
            "reward": found.reward,
            "persona": request.encoded.persona,
            "dtype": self.model.dtype,
            "revision": self.model.commit,
            "aspects": found.aspects,
        }
        tokens = len(request.encoded.ids)
        output.usage = ModelUsage(input_tokens=tokens, total_tokens=tokens)
        return output

    async def _scored(self, request: _Request) -> Reward:
        # The request whose turn it is scores all that are waiting, itself included.
        self.waiting.append(request)
        await anyio.sleep(PAUSE)
        async with self.turn:
            if request.result is None:
                window, self.waiting = self.waiting, []
                # Others wait for this window: if the one that scores it is cancelled, that must not lose their results.
                with anyio.CancelScope(shield=True):
                    try:
                        found: Sequence[Reward | Exception] = await anyio.to_thread.run_sync(
                            self.model.score, [one.encoded for one in window]
                        )
                    except Exception as error:
                        found = [error] * len(window)
                for one, result in zip(window, found, strict=True):
                    one.result = result
        if not isinstance(request.result, Reward):
            raise RewardError(
                f"{API}/{self.model_name} failed on a batch ({type(request.result).__name__}: {request.result}). "
                "If it ran out of memory, pass a smaller -M batch_size."
            ) from request.result
        return request.result


@modelapi(name=API)
def reward_models() -> type[ModelAPI]:
    """The API behind `--model personafeedback-reward/...`. (Decorating the class would replace it by a function.)"""
    return RewardModelAPI


def refuse_other_model(model: Model) -> None:
    """Raise RewardError for a model that generates text."""
    if not isinstance(model.api, RewardModelAPI):
        raise RewardError(
            f"method=reward needs a reward model, got {model}. Pass --model {API}/<path or Hub id>, or leave "
            "method out."
        )


def _arguments(model_args: dict[str, Any]) -> dict[str, Any]:
    for name, value in model_args.items():
        if name not in ARGUMENTS:
            raise OptionError(f"-M {name}={value!r} is not an option of {API}. Use: {', '.join(ARGUMENTS)}.")
    found = dict(model_args)
    size = found.get("batch_size", 1)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise OptionError(f"batch_size must be a positive integer, got {size!r}.")
    if "revision" in found:
        found["revision"] = str(found["revision"])
    if not isinstance(found.get("trust_remote_code", False), bool):
        raise OptionError(f"trust_remote_code must be true or false, got {found['trust_remote_code']!r}.")
    if "aspects" in found:
        found["aspects"] = _names(found["aspects"])
    return found


def _names(aspects: object) -> tuple[str, ...]:
    # Inspect passes `a,b` as a list, and a single word or nothing as YAML reads it. `acc_general` is acc in a group of
    # cases, `acc_half` counts ties half, `acc_<aspect>` is acc in an aspect: none may have another's name.
    listed = aspects.split(",") if isinstance(aspects, str) else aspects
    names = tuple(str(name).strip() for name in listed) if isinstance(listed, list | tuple) else ()
    reserved = ["", TOTAL, "stderr", "half"]
    for benchmark in benchmarks().values():
        if any(isinstance(method, RewardMethod) for method in benchmark.methods.values()):
            reserved += benchmark.columns(benchmark.cells)
    if not names or not set(names).isdisjoint(reserved):
        raise OptionError(
            f"aspects must name each output, got {aspects!r}. Names must not be empty or one of "
            f"{', '.join(reserved[1:])}, which are reserved. Name them in order: -M aspects=helpfulness,correctness,..."
        )
    return names
