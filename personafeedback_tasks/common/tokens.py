"""How many tokens a text has: by a tokenizer that the user names, else an estimate."""

# The estimate counts 0.7 tokens per Chinese, Japanese or Korean character and 0.25 per other one. Against real
# tokenizers, on prompts of the General half (Chinese personas) and of the bundled sample (English ones):
#
#     tokenizer       Chinese, persona   no_persona   English
#     Qwen 2.5                    1.00         0.92      0.92
#     Qwen 3.6                    0.94         0.87      0.96
#     DeepSeek V4                 0.95         0.87      0.94
#     cl100k (GPT-4)              1.74         1.70      0.92
#
# These are all tokens of 400 prompts (24 English ones) as a share of the estimate. Single prompts lie between 0.70 and
# 1.11, for cl100k up to 2.1: a tokenizer without a Chinese vocabulary has about 1.3 tokens per character.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice

from .errors import OptionError, require

WIDE, OTHER = 0.7, 0.25
"""Tokens per Chinese, Japanese or Korean character, and per other one."""

_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003134f]+")
"""The characters that are as wide as two, punctuation included."""

_AT_ONCE = 1_000
"""Texts that a tokenizer gets in one call."""

Count = Callable[[Sequence[str]], list[int]]
"""Texts -> their numbers of tokens."""


def estimated(texts: Sequence[str]) -> list[int]:
    """About how many tokens each text has."""
    others = [len(_WIDE.sub("", text)) for text in texts]
    return [round(WIDE * (len(text) - other) + OTHER * other) for text, other in zip(texts, others, strict=True)]


@cache
def counted_by(name: str) -> Count:
    """The counts of a model's tokenizer (a folder or a Hub id), without the tokens that a chat template adds."""
    require("transformers", extra="hf")
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except Exception as error:  # of a dozen unrelated classes
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        raise OptionError(
            f"The tokenizer {name!r} could not be loaded ({type(error).__name__}: {reason}). Name a folder with a model's "
            "tokenizer or a Hub id, or leave it out for an estimate."
        ) from error

    def count(texts: Sequence[str]) -> list[int]:
        left, found = iter(texts), []
        while some := list(islice(left, _AT_ONCE)):
            made = tokenizer(some, add_special_tokens=False, return_attention_mask=False, verbose=False)
            found += [len(ids) for ids in made["input_ids"]]
        return found

    return count
