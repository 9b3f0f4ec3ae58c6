"""Thinking that was cut off: what the replies of a run show together, and none of them alone."""

# A chat template may open `<think>` in the prompt. A reply that was cut off before `</think>` then looks like an answer
# ("So the answer is A"). So where a reply of a run closes its thinking, or the provider keeps it apart, one that does
# neither never left its thinking and is `truncated`, whatever it says. A model may think only sometimes, so two kinds
# of replies count all the same: one that is known to have ended by itself (Inspect's stop reason `stop`); and, where
# the harness does not say (lm-eval), a short one whose last line is an answer (`B`, `Answer: B`). Short means at most
# 2 bytes of UTF-8 for each token of the limit, which is about half of it. A reply that is all text to be measured has no such line; its length
# decides. With `think_end_token` lm-eval itself takes the thinking out, no reply closes any, and none is cut here.

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..parsing.answers import REASONS
from ..parsing.markup import after_thinking, closes_thinking, without_markup
from .method import Evidence, LabelMethod, Method, Reply

_ANSWER_LINE = re.compile(r"\W*(?:[^:：]{1,40}[:：]\W*)?(?:[^\W\d_]+[\W_]+)?(?:[^\W\d_]+|(?:\d+\W+)*\d+)[\W_]*")
"""A line without a sentence: a label of one or two words, or numbers, after the name of what it is."""


def shows_thinking(evidence: Iterable[Evidence]) -> bool:
    """Whether a reply has thinking that came to its end, or that the provider keeps apart."""
    return any(isinstance(given, Reply) and (given.thinking or closes_thinking(given.text)) for given in evidence)


def token_limit(arguments: Mapping[str, Any] | None) -> int:
    """The lowest limit on new tokens among lm-eval's generation arguments; 0 if there is none."""
    names = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
    limits = [value for name in names if isinstance(value := (arguments or {}).get(name), int)]
    return min(limits, default=0)


def mark_open_thinking(evidence: Iterable[Evidence], method: Method, max_tokens: int = 0) -> Sequence[Any]:
    """All replies of a run, in view of each other; `max_tokens` 0: the method's."""
    evidence = list(evidence)
    if not shows_thinking(evidence):
        return evidence
    return [marked_if_open(given, method, max_tokens) for given in evidence]


def marked_if_open(given: Evidence, method: Method, max_tokens: int = 0) -> Evidence:
    """A reply in a run in which some show their thinking. One that never left it gets back the prompt's opening tag.

    So every reader sees it as such; of the others it is known that they were not cut off. `max_tokens` 0: the method's.
    """
    if not isinstance(given, Reply) or not given.text or given.truncated is False or given.filtered:
        return given
    if shows_thinking([given]):
        return given
    if given.truncated is None and _ended(given.text, method, max_tokens or method.max_tokens):
        return given._replace(truncated=False)
    open_to_the_end = after_thinking(given.text) is None
    return given if open_to_the_end else given._replace(text=f"<think>{given.text}", truncated=True)


def _ended(text: str, method: Method, max_tokens: int) -> bool:
    if len(text.encode(errors="replace")) > 2 * max_tokens:
        return False
    if not isinstance(method, LabelMethod):
        return True
    last = next((line for line in reversed(text.split("\n")) if re.search(r"[^\W_]", line)), "")
    return _answers(last, method.read)


@lru_cache(maxsize=1024)  # most are a letter
def _answers(line: str, read: Callable[[str, bool], str]) -> bool:
    alone = len(line) <= 200 and _ANSWER_LINE.fullmatch(without_markup(after_thinking(line) or ""))
    return bool(alone) and read(line, False) not in REASONS
