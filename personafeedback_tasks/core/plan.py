"""What one should know before a run: its calls, tokens and price, and the smallest difference that it can show."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from ..common.outputs import Output
from .asked import AskedTask
from .benchmark import FIRST_TOKENS, Benchmark
from .options import Options
from .usage import Prices, Usage, total

TOKENS_WIDE, TOKENS_OTHER = 0.7, 0.25
"""Tokens per Chinese, Japanese or Korean character, and per other one."""
# Against real tokenizers, on 400 prompts of the General half (Chinese personas) and 24 of the bundled sample (English
# ones), all their tokens as a share of the estimate:
#
#     tokenizer       Chinese, persona   no_persona   English
#     Qwen 2.5                    1.00         0.92      0.92
#     Qwen 3.6                    0.94         0.87      0.96
#     DeepSeek V4                 0.95         0.87      0.94
#     cl100k (GPT-4)              1.74         1.70      0.92

_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003134f]+")
"""The characters that are as wide as two, punctuation included."""


def estimated(texts: Sequence[str]) -> list[int]:
    """About how many tokens each text has."""
    others = [len(_WIDE.sub("", text)) for text in texts]
    return [
        round(TOKENS_WIDE * (len(text) - other) + TOKENS_OTHER * other)
        for text, other in zip(texts, others, strict=True)
    ]


class PlannedCell(msgspec.Struct, frozen=True):
    """A cell of a plan.

    Attributes:
        cases: cases at hand.
        expected: cases that there must be; null if that is not checked.
        users: number of users.
    """

    cases: int
    expected: int | None
    users: int


class PlannedCalls(msgspec.Struct, frozen=True):
    """What one setting takes.

    Attributes:
        calls: calls of the model.
        prompt_tokens: tokens of its prompts.
        reply_tokens: tokens of its replies, of `reply_tokens_of_a_call` each.
        dollars: at the prices; null without.
    """

    calls: float
    prompt_tokens: float
    reply_tokens: float
    dollars: float


class SmallestDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest difference that the cases show, of one kind of comparison.

    Attributes:
        name: of the comparison.
        variance: assumed variance of a case.
        correlation: assumed correlation of two cases of a user.
        paired: whether both runs have the same cases.
        design_effect: how much larger that correlation makes the variance of a mean.
        smallest: difference with 80 % power, a share; null where it is above 1.
    """

    name: str
    variance: float
    correlation: float
    paired: bool
    design_effect: float
    smallest: float


class PlanDocument(Output, frozen=True, kw_only=True):
    """`personafeedback plan --json`.

    Attributes:
        task: its name with what differs from the default.
        options: of the task.
        data: the data and their revision.
        cells: cell -> its size.
        cases: number of cases.
        users: number of users.
        calls: calls of the model.
        prompt_tokens: tokens of all prompts.
        longest_prompt_tokens: tokens of the longest prompt.
        reply_tokens_of_a_call_at_most: the limit on a reply; null where the model writes none that count.
        settings: setting -> what it takes.
        reply_tokens_of_a_call: --reply-tokens, else the limit.
        is_upper_bound: whether reply tokens are the limit and not what was expected.
        prices: dollars per million tokens; null without.
        dollars: of all settings together; null without prices.
        comparisons: what differences the cases show.
        detects: cell or group -> how far above chance a score must be to be seen with 80 % power, a share.
    """

    task: str
    options: Mapping[str, Any]
    data: str
    cells: Mapping[str, PlannedCell]
    cases: int
    users: int
    calls: float
    prompt_tokens: float
    longest_prompt_tokens: int
    reply_tokens_of_a_call_at_most: int | None
    settings: Mapping[str, PlannedCalls]
    reply_tokens_of_a_call: int
    is_upper_bound: bool
    prices: Prices | None
    dollars: float
    comparisons: Sequence[SmallestDifference]
    detects: Mapping[str, float]


def make_plan(asked: AskedTask, *, reply: int | None = None, prices: Prices | None = None) -> PlanDocument:
    """The calls, tokens and price of a run. Without `reply`, each reply is taken to be as long as the limit allows."""
    benchmark, cases, method, documents = asked.benchmark, asked.cases, asked.method, asked.documents
    expected = reply if method.new_tokens else 0
    reply = method.new_tokens if expected is None else expected
    asks, longest, max_tokens = {}, 0, method.max_tokens
    for setting, told in zip(asked.settings, asked.every, strict=True):
        prompts: list[str] = []
        for document in documents.values():
            prompts += _prompts(benchmark, document, told)
        tokens = estimated(prompts)
        calls = method.requests * len(tokens)
        output = calls * reply
        if benchmark.first(vars(told)):
            limit = method.max_tokens or FIRST_TOKENS
            max_tokens = max(max_tokens, limit)
            if expected is None:
                output += len(documents) * (limit - reply)
        asks[setting or "the run"] = Usage(calls=calls, input=method.requests * sum(tokens), output=output)
        longest = max(longest, *tokens)
    detects = {}
    for name, of in benchmark.columns(cases.cells).items():
        value = benchmark.detects([case for cell in of for case in cases.cells[cell]])
        if not math.isnan(value):
            detects[name] = value
    sizes = list(_users(cases).values())
    comparisons = [
        SmallestDifference(**asdict(one), design_effect=one.design_effect(sizes), smallest=one.smallest(sizes))
        for one in benchmark.comparisons
    ]
    expected_cases = {} if cases.counts == "any" else benchmark.sizes(cases, asked.options)
    dollars = prices.of if prices else lambda usage: math.nan
    every_ask = total(asks.values())
    return PlanDocument(
        task=benchmark.named("_".join(filter(None, (asked.task, method.suffix))), cases, asked.options),
        options=asked.options.signed(),
        data=cases.revision,
        cells={
            cell: PlannedCell(len(some), expected_cases.get(cell), len(_users(some)))
            for cell, some in cases.cells.items()
        },
        cases=len(cases),
        users=len(sizes),
        calls=every_ask.calls,
        prompt_tokens=every_ask.input,
        longest_prompt_tokens=longest,
        reply_tokens_of_a_call_at_most=max_tokens or None,
        settings={
            name: PlannedCalls(usage.calls, usage.input, usage.output, dollars(usage)) for name, usage in asks.items()
        },
        reply_tokens_of_a_call=reply,
        is_upper_bound=0 < method.new_tokens == reply,
        prices=prices,
        dollars=dollars(every_ask),
        comparisons=comparisons,
        detects=detects,
    )


def _prompts(benchmark: Benchmark, document: Any, options: Options) -> list[str]:
    # that of the first call, and of each other call as if the reply to the first had changed nothing
    method, first = benchmark.methods[options.method], benchmark.first(vars(options))
    prompts = [benchmark.prompt(document, options, first)] if first else []
    for call in method.calls:
        prompts.append("".join(turn["content"] for turn in benchmark.turns(document, options, call)))
    return prompts


def _users(cases: Iterable[Any]) -> Counter[str]:
    return Counter(case.user_id for case in cases)
