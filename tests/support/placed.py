"""A judge that prefers the first place by far. Its log-odds may hold knowledge all the same; its replies hold next to none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache

from inspect_ai.model import GenerateConfig, Logprob, Logprobs, ModelAPI, ModelOutput, ModelUsage, TopLogprob, modelapi
from lm_eval import models as models  # else the first one that is registered here would be the only one
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.pairwise.orders import TWO, Orders, rotations

FOUR = rotations(4)
SETTINGS = ("persona", "other_persona", "no_persona")
LISTED = ",".join(SETTINGS)

KNOWN: Mapping[str, Mapping[str, float]] = {
    "small": {"persona": 31 / 48, "other_persona": 30 / 48, "no_persona": 24 / 48},  # as SmolLM2-135M on the sample
    "personal": {"persona": 44 / 48, "other_persona": 20 / 48, "no_persona": 24 / 48},
}
"""Judge -> setting -> the share of a benchmark's sample in which its log-odds prefer the right response by a little."""

PLACE, WORTH = 4.0, 0.5
"""What the first place adds to the log-odds of its response, and knowledge to those of another one."""

OTHERWISE = 0.03
"""Share of the calls in which the judge `nearly` replies with another letter than the first."""


def drawn(text: str) -> float:
    """A number in [0, 1) that a text decides."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) / 2**256


@cache
def ranks() -> dict[str, float]:
    """Case of a sample -> its place among all of that sample in a drawn order, as a share."""
    found: dict[str, float] = {}
    for name in ("personafeedback", "prefeval"):
        benchmark = find(name)
        options = benchmark.options.read({"data": "sample"})
        ids = sorted((case.id for case in benchmark.load(options, {})), key=drawn)
        found |= {case_id: place / len(ids) for place, case_id in enumerate(ids)}
    return found


def likelihoods(judge: str, case_id: str, call: str, orders: Orders) -> list[float]:
    """The log-likelihood of each letter.

    Args:
        call: as `Method.asked` names it.
    """
    setting, _, order = call.rpartition(" ")
    right, count = orders.letters.index(orders.right[order]), len(orders.letters)
    knows = ranks().get(case_id, drawn(case_id)) < KNOWN[judge][setting or SETTINGS[0]]
    values = [PLACE - 10, *[-10.0] * (count - 1)]
    values[right if knows else (right + 1) % count] += WORTH
    return values


def reply(judge: str, case_id: str, call: str, orders: Orders) -> str:
    """`A`; of the judge `nearly`, sometimes another letter."""
    return orders.letters[-1] if judge == "nearly" and drawn(f"{case_id} {call}") < OTHERWISE else "A"


def orders_of(call: str) -> Orders:
    return FOUR if "right_at" in call else TWO


@register_model("placed")
class PlacedLM(LM):
    """`--model placed --model_args judge=small`."""

    def __init__(self, judge: str) -> None:
        super().__init__()
        self.judge = judge

    @classmethod
    def create_from_arg_obj(cls, arguments, additional_config=None):
        return cls(arguments["judge"])

    def generate_until(self, requests, disable_tqdm=False):
        return [reply(self.judge, r.doc["id"], *_call(r, 1)) for r in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        found = []
        for r in requests:
            count = len(r.doc["targets"])  # a letter for each order
            found.append((likelihoods(self.judge, r.doc["id"], *_call(r, count))[r.idx % count], False))
        return found

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")


def _call(request, letters: int) -> tuple[str, Orders]:
    orders = TWO if len(request.doc["targets"]) == 2 else FOUR
    calls = [
        *orders.names,
        *(f"{setting} {order}" for setting in request.doc.get("settings", [""])[1:] for order in orders.names),
    ]
    return calls[request.idx // letters], orders


@modelapi(name="placed")
class PlacedAPI(ModelAPI):
    """`placed/small`."""

    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args):  # noqa: B008
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        case_id, call = input[-1].metadata["case_id"], input[-1].metadata["call"]
        orders = orders_of(call)
        output = ModelOutput.from_content("placed", reply(self.model_name, case_id, call, orders))
        if config.logprobs:
            values = likelihoods(self.model_name, case_id, call, orders)
            likely = [TopLogprob(token=of, logprob=value) for of, value in zip(orders.letters, values, strict=True)]
            output.choices[0].logprobs = Logprobs(content=[Logprob(**dict(likely[0]), top_logprobs=likely)])
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output
