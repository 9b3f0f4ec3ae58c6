"""Judges of four responses, in both harnesses: they answer from the prompt, or from the case and the order alone."""

from __future__ import annotations

import hashlib

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from lm_eval import models as models  # else the first one that is registered here would be the only one
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from personafeedback_tasks.pairwise.baselines import judges
from personafeedback_tasks.pairwise.orders import rotations

FOUR = rotations(4)
REPLIES = (
    "{right}", "Answer: {right}", "My choice:\n{right}", "**{other}**", "A", "D", "", "I cannot help with that.", "A or B.",
    "<think>Perhaps {other}</think>{right}",
)  # fmt: skip


def noisy(case_id: str, call: str) -> str:
    """Right, wrong, biased and unreadable replies; which one depends on case and order alone."""
    number = int(hashlib.sha256(f"{case_id} {call}".encode()).hexdigest(), 16)
    right = FOUR.right[call]
    other = FOUR.letters[(FOUR.letters.index(right) + 1 + number % 3) % 4]
    return REPLIES[number // 3 % len(REPLIES)].format(right=right, other=other)


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    return noisy(case_id, call) if judge == "noisy" else judges(FOUR)[judge](prompt)


@register_model("four")
class FourLM(LM):
    """`--model four --model_args judge=noisy`; for `_mc`, the log-likelihood of the letter that it would say is higher."""

    def __init__(self, judge, **kwargs):
        super().__init__()
        self.judge = judge

    @classmethod
    def create_from_arg_obj(cls, arg_dict, additional_config=None):
        return cls(**arg_dict)

    def generate_until(self, requests, disable_tqdm=False):
        return [reply(self.judge, r.args[0], r.doc["id"], FOUR.names[r.idx]) for r in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        said = [reply(self.judge, r.args[0], r.doc["id"], FOUR.names[r.idx // 4]) for r in requests]
        return [
            (-0.5 if letter == r.args[1].strip() else -2.0, False) for letter, r in zip(said, requests, strict=True)
        ]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")


@modelapi(name="four")
class FourAPI(ModelAPI):
    """`four/noisy`."""

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        output = ModelOutput.from_content(
            "four", reply(self.model_name, input[-1].text, about["case_id"], about["call"])
        )
        output.usage = ModelUsage()
        return output
