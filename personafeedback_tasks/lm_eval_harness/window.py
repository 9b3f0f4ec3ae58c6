"""The windows of lm-eval's models. Each kind cuts prompts by a rule of its own, and most do not say so."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import CachingLM

from ..core.window import PromptCheck, Window, check, made_for

_KINDS = {
    "HFLM": ("max_length", 1),
    "TemplateAPI": ("max_length", 0),
    "SGLangLM": ("max_model_len", 0),
    "VLLM": ("max_model_len", -1),
}
"""Class of models that cut prompts -> (argument that sets the window, tokens by which prompt and label may exceed it).

Other models send what they get; what a server does with it cannot be seen in lm-eval.
"""


def check_prompts(task: str, requests: Sequence[Instance], labels: int, chat_template: Any) -> PromptCheck:
    """Count the prompts that the model of the run would cut, before it is asked.

    Args:
        labels: number of requests per prompt: 1 where the model writes a reply.
    """
    model = _model(chat_template)
    if requests[0].request_type == "generate_until":
        texts, new = [request.args[0] for request in requests], requests[0].args[1].get("max_gen_toks", 0)
    else:
        texts, new = [], None
        for start in range(0, len(requests), labels):  # of each prompt, with its longest label
            texts.append(max(("".join(request.args) for request in requests[start : start + labels]), key=len))
    window = _window(model, new) if all(isinstance(text, str) for text in texts) else None
    encode = getattr(model, "tok_encode", None)
    return check(task, texts, window, (lambda text: len(encode(text))) if encode else None)


def _model(chat_template: Any) -> Any:
    # lm-eval hands a task its model with a chat template only. Without one, it is a variable of the function that has
    # all tasks build their requests.
    model = getattr(chat_template, "__self__", None)
    frame: FrameType | None = sys._getframe()
    while model is None and frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == ("lm_eval.evaluator", "evaluate"):
            model = frame.f_locals.get("lm")
        frame = frame.f_back
    return model.lm if isinstance(model, CachingLM) else model


def _window(model: Any, new: int | None) -> Window | None:
    # None if nobody here knows what is cut. `new`: tokens that are kept free for a reply; None where the model only
    # reads.
    kinds = {kind.__name__ for kind in type(model).__mro__}
    kind = next((kind for kind in _KINDS if kind in kinds), None)
    over_api = kind == "TemplateAPI"
    if kind is None or (over_api and (model.tokenizer is None or (new is not None and not model.tokenized_requests))):
        return None
    option, beyond = _KINDS[kind]
    size = model.max_length + over_api  # whose max_length is one less than what was passed
    room = model.max_length + beyond if new is None else model.max_length - new
    if getattr(model, "backend", "") == "seq2seq":  # a reply has a window of its own
        room = size
    elif (made := made_for(getattr(model, "config", None))) and made.room < room:
        return made  # a longer max_length gives a model no more positions
    if new is not None and getattr(model, "truncation", False) and model.tokenizer.model_max_length < room:
        room = model.tokenizer.model_max_length
        return Window(room, room, "its tokenizer's, with truncation=True", "Leave truncation out of --model_args.")
    lower = "" if new is None else ", or lower max_gen_toks with --gen_kwargs"
    remedy = (
        f"They would lose their beginning, which is the persona. Pass --model_args {option}={{smallest}} if the model "
        f"has such a window{lower}; else take another model."
    )
    return Window(size, room, f"{option} of the model", remedy)
