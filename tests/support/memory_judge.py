"""A judge in both harnesses that answers from the prompt: right in 90 of 100 calls without a memory, yields to its user's in 40 of 100
of these, and to another user's in 10."""

from __future__ import annotations

import hashlib

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from lm_eval import models as models  # else the first one that is registered here would be the only one
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.pairwise.prompts import responses

RIGHT, YIELDS, DISTRACTED = 0.9, 0.4, 0.1


def chance(*about: str) -> float:
    return int(hashlib.sha256(" ".join(about).encode()).hexdigest()[:8], 16) / 16**8


def planted(case_id: str, order: str, told: str) -> bool:
    """Whether it picks the right answer. `told` is the setting."""
    right = chance("right", case_id, order) < RIGHT
    lost = {"persona": YIELDS, "other_persona": DISTRACTED}.get(told, 0)
    return right and chance(told, case_id, order) >= lost


def reply(prompt: str, case_id: str, order: str) -> str:
    memory = prompt.partition("<memory>\n")[2].partition("\n</memory>")[0]
    told = "no_persona"
    if memory:  # the user's own one quotes an answer of this case
        told = "persona" if any(answer in memory for answer in responses(prompt, TWO)) else "other_persona"
    right = TWO.right[order]
    return right if planted(case_id, order, told) else "BA"["AB".index(right)]


@register_model("memory")
class MemoryLM(LM):
    """`--model memory`."""

    @classmethod
    def create_from_arg_obj(cls, arg_dict, additional_config=None):
        return cls()

    def generate_until(self, requests, disable_tqdm=False):
        names = TWO.names
        return [reply(r.args[0], r.doc["id"], names[r.idx % len(names)]) for r in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")


@modelapi(name="memory")
class MemoryAPI(ModelAPI):
    """`memory/planted`."""

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        output = ModelOutput.from_content("memory", reply(input[-1].text, about["case_id"], about["call"].split()[-1]))
        output.usage = ModelUsage()
        return output
