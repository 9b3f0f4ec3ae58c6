"""A model in Inspect that answers the tasks of tests/with_user: right in 85 of 100 samples, and harmed by a profile in as many as planted."""

from __future__ import annotations

import re

from inspect_ai.model import ChatMessageTool, ModelAPI, ModelOutput, ModelUsage, modelapi
from lm_eval import models as models  # else the first one that is registered here would be the only one
from lm_eval.api.registry import register_model

from personafeedback_tasks.core.system import NEUTRAL, OPENING
from support.judges import chance
from support.lm_eval_runs import FakeLM

ASKED: list[list[tuple[str, str]]] = []
"""(role, text) of the messages of each call."""


SYSTEM_MESSAGES = 9
"""How many its chat template takes."""

DIES_AT = 0
"""The question that the model fails at."""


def right(number: int, told: str, harm: float, seed: str = "") -> bool:
    """Whether the model answers a question rightly. A profile changes it in twice as many as it harms more than it helps.

    Args:
        told: `persona`, `other_persona`, `padding` or nothing.
    """
    before = chance(seed, "right", number) < 0.85
    if told != "persona":
        return before
    lost, won = (harm / 0.85 + 0.05, 0.05 * 0.85 / 0.15)  # so that the mean falls by `harm`
    return chance(seed, "lost", number) >= lost if before else chance(seed, "won", number) < won


def told_in(text: str) -> str:
    """What a system message is about."""
    if any(opening in text for opening in OPENING.values()):
        return "persona"
    return "padding" if text[:20] in {neutral[:20] for neutral in NEUTRAL.values()} else ""


@modelapi(name="subject")
class Subject(ModelAPI):
    """`subject/8`: 8 points of harm."""

    def hf_chat(self, messages, tools):
        if [message.role for message in messages].count("system") > SYSTEM_MESSAGES:
            raise ValueError("Only one system message is allowed")

    async def generate(self, input, tools, tool_choice, config):
        ASKED.append([(message.role, message.text) for message in input])
        told = next(filter(None, (told_in(message.text) for message in input if message.role == "system")), "")
        harm = float(self.model_name.split("-")[0]) / 100
        question = next(message.text for message in reversed(input) if message.role == "user")
        number = int(re.search(r"\d+", question.partition("Question")[2] or question)[0])
        if number == DIES_AT:
            raise RuntimeError("planted")
        good = right(number, told, harm)
        if tools and not any(isinstance(message, ChatMessageTool) for message in input):
            output = ModelOutput.for_tool_call("subject", "double", {"number": number})
        elif "which one" in question:
            output = ModelOutput.from_content(
                "subject", f"<think>Hm.</think>ANSWER: {'ABC'[(number + (not good)) % 3]}"
            )
        else:
            output = ModelOutput.from_content("subject", str(2 * number if good else 2 * number + 1))
        output.usage = ModelUsage()
        return output


@register_model("subject")
class SubjectLM(FakeLM):
    """`--model subject`: 8 points of harm."""

    tokenizer_name = "subject"

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return "\n".join(turn["content"] for turn in chat_history)

    def chat_template(self, chat_template=False):
        return "subject"

    @classmethod
    def create_from_arg_obj(cls, arg_dict, additional_config=None):
        return cls()

    def generate_until(self, requests, disable_tqdm=False):
        replies = []
        for request in requests:
            told, _, question = request.args[0].rpartition("Question ")
            number = int(re.search(r"\d+", question)[0])
            replies.append(str(2 * number if right(number, told_in(told), 0.08) else 2 * number + 1))
        return replies
