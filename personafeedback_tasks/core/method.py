"""Ways to read a model's choice: what a call gives as evidence, and how that becomes answers and values.

Harnesses, logs and files of replies translate into evidence. `Method.judge` alone makes results of it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any, ClassVar, NamedTuple, TypeVar

from ..parsing.answers import PROMPT_CUT, REASONS, THINKING_ONLY, excerpt
from ..parsing.letter_probabilities import LogLikelihoods as LogLikelihoods
from ..parsing.letter_probabilities import bounded, impossible
from .result import Answers, Result
from .rewards import Reward, named_rewards, score_rewards

T = TypeVar("T")

HARNESSES = {"lm-eval": "lm-eval", "inspect": "Inspect"}
"""The harnesses, and how people write them."""

TOP_TOKENS = 16
"""Limit on the new tokens where only the first one counts: OpenAI's responses API refuses fewer."""


# --- evidence: what a model gave to one call, before anything is read from it -----------------------------------------


class Reply(NamedTuple):
    """The text of a reply."""

    text: str
    truncated: bool | None = False  # cut off by a token limit; None where the harness does not say, as in lm-eval
    filtered: bool = False  # a filter of the provider withheld it, or its end
    thinking: bool = False  # whether there was some, which is no part of `text`
    prompt_cut: bool = False  # beyond the window, so that `text` is an error message or answers a part of it


class FirstToken(NamedTuple):
    """The beginning of a reply, where a label must be."""

    top: Sequence[tuple[str, float]]  # likeliest tokens (text, nats) in place of the first that is not white space
    truncated: bool = False
    filtered: bool = False
    prompt_cut: bool = False


Evidence = Reply | LogLikelihoods | FirstToken | Reward
"""Of one call. A method reads one kind."""


_INSIDE = ("text", "content", "parts", "value", "refusal")
"""The keys under which a part of a message has its text or further parts; the first of them counts."""

_THOUGHT = re.compile("think|reason|thought|summary", re.I)
"""In the type of a part, or in the key of one without a type: it is no part of the answer."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
"""Half of a character that a server cut in two. lm-eval cannot write it to a file, and would lose every sample."""


def text_in(content: object) -> str:
    """The text of a reply, whatever a harness, server, log or file hands over: a text, or (nested) parts of a message.

    The texts of parts are joined by new lines. A part that is thinking leaves an empty `<think>` element, so that the
    log says that there was some. What has no text, such as null, a number or the call of a tool, is empty.
    """
    if isinstance(content, str):
        return _HALF_A_PAIR.sub("\ufffd", content)
    if isinstance(content, Mapping):
        key = next((key for key in _INSIDE if content.get(key) is not None), None)
        kind = content.get("type") or key or " ".join(map(str, content))
        if content.get("thought") is True or _THOUGHT.search(str(kind)):
            return "<think></think>"
        return text_in(content[key]) if key else ""
    if isinstance(content, (list, tuple)):
        return "\n".join(filter(None, map(text_in, content)))
    return ""


def per_call(values: Sequence[float], labels: Sequence[str]) -> list[LogLikelihoods]:
    """Log-likelihoods of each label, call after call -> those of one call together."""
    width = len(labels)
    if len(values) % width:
        raise ValueError(f"found {len(values)} log-likelihoods, expected {width} per call")
    return [tuple(values[start : start + width]) for start in range(0, len(values), width)]


def likeliest(labels: Sequence[str], values: LogLikelihoods) -> str:
    """The likeliest label. A tie at the top is unreadable, not the first label; so are values that no model gives."""
    if reason := impossible(values):
        return reason
    top = max(values)
    return labels[values.index(top)] if values.count(top) == 1 else "invalid_response_format"


# --- methods ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """A value of a case; its mean over cases is a metric."""

    name: str
    higher_is_better: bool | None = True  # None where neither direction is
    defined: bool = True  # for every case; lm-eval cannot pool one that is nan for some
    harnesses: tuple[str, ...] = tuple(HARNESSES)  # whose tables have it; reports have it in any case


def of_settings(listed: Sequence[T], settings: int) -> list[Sequence[T]]:
    """What a document has setting after setting, such as its calls or replies -> the part of each setting."""
    each = -(-len(listed) // settings)
    return [listed[place * each : (place + 1) * each] for place in range(settings)]


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """One way to read a model's choice."""

    name: str
    help: str  # one line, for docs/options.md
    calls: tuple[str, ...]  # of a case, by name, in the order of their answers
    metrics: tuple[Metric, ...]
    per_case: str = ""  # what each case is made of, for tables: `both orders`
    suffix: str = ""  # in the names of tasks and scorers
    primary: str = ""  # its score, empty for `ReportSpec.primary`; read it through `Benchmark.primary`
    max_tokens: int = 0  # default limit on the new tokens of a reply; 0 where none is read as a text

    evidence: ClassVar[str]  # what is read, for people
    harnesses: ClassVar[tuple[str, ...]] = ("lm-eval", "inspect")  # where it works, of HARNESSES
    groups: ClassVar[str] = ""  # what one call asks for several cases: `prompts`; empty where each case has its calls

    @property
    def new_tokens(self) -> int:
        """New tokens of a reply, at most, its label included: 0 where the model only reads."""
        return self.max_tokens

    @property
    def requests(self) -> int:
        """How many requests lm-eval makes for one call."""
        return 1

    def metrics_in(self, harness: str) -> list[Metric]:
        """The metrics of a harness's table."""
        return [metric for metric in self.metrics if harness in metric.harnesses]

    def documents(self, cases: Sequence[Any]) -> Sequence[Any]:
        """What a harness asks, in order: the cases, or groups of them."""
        return cases

    def asked(self, settings: Sequence[str]) -> list[str]:
        """All calls about a document, setting after setting; those of the first setting have the call's name alone."""
        return [*self.calls, *(f"{setting} {call}" for setting in settings[1:] for call in self.calls)]

    @abstractmethod
    def judge(self, cases: Sequence[Result], evidence: Sequence[Any]) -> list[Result]:
        """The cases of a document under one setting, scored by the evidence of its calls, one per call."""


@dataclass(frozen=True, kw_only=True)
class ReplyMethod(Method):
    """Reads the text of a reply."""

    read: Callable[[str, bool], str]  # (text of a reply, whether it was cut off) -> a label or a reason
    max_tokens: int

    evidence: ClassVar[str] = "reply"

    def readings(self, replies: Sequence[Reply]) -> tuple[Answers, tuple[tuple[str, str], ...]]:
        """(what each reply is read to, a label or a reason; (reason, excerpt) of each that could not be read)."""
        answers, unread = [], []
        for reply in replies:
            answer = PROMPT_CUT if reply.prompt_cut else self.read(reply.text, bool(reply.truncated))
            if answer in REASONS:
                answer = why_not(reply, answer)
                # a reply of thinking alone is not one that the server left out
                unread.append((answer, excerpt(reply.text) or (THINKING_ONLY if reply.thinking else "")))
            answers.append(answer)
        return tuple(answers), tuple(unread)


def why_not(given: Reply | FirstToken, reason: str) -> str:
    """Why nothing can be read, in view of how the reply ended: an element of `parsing.answers.REASONS`."""
    if given.prompt_cut:
        return PROMPT_CUT
    return "truncated" if given.truncated else "refusal" if given.filtered else reason


@dataclass(frozen=True, kw_only=True)
class LabelMethod(ReplyMethod):
    """Reads a label in the text of a reply."""

    score: Callable[[Sequence[str], Answers], dict[str, float]]  # (targets, answers) -> metric -> value

    def judge(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        (case,) = cases
        answers, unread = self.readings(evidence)
        return [case.changed(answers=answers, values=self.score(case.targets, answers), unread=unread)]


@dataclass(frozen=True, kw_only=True)
class TextMethod(ReplyMethod):
    """Measures the texts of a case's replies."""

    facts_of: Callable[[Any], Mapping[str, Any]]  # case -> what `measure` needs of it, ready for JSON, for logs
    measure: Callable[[Answers, Sequence[Reply], Mapping[str, Any]], dict[str, float]]  # (readings, replies, facts)
    # (replies, facts) -> what they list, for metrics over the corpus, ready for JSON.
    items: Callable[[Sequence[Reply], Mapping[str, Any]], Sequence[Mapping[str, Any]]] | None = None

    def judge(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        (case,) = cases
        answers, unread = self.readings(evidence)
        items = tuple(self.items(evidence, case.facts)) if self.items else ()
        values = self.measure(answers, evidence, case.facts)
        return [case.changed(answers=answers, values=values, unread=unread, items=items, facts={})]


@dataclass(frozen=True, kw_only=True)
class LikelihoodMethod(Method):
    """Compares the log-likelihoods of all labels after the prompt: the model writes nothing."""

    labels: tuple[str, ...]
    # (targets, answers, log-likelihoods of the labels in each call) -> metric -> value
    score: Callable[[Sequence[str], Answers, Sequence[LogLikelihoods]], dict[str, float]]

    evidence: ClassVar[str] = "log_likelihoods"
    harnesses: ClassVar[tuple[str, ...]] = ("lm-eval",)

    @property
    def requests(self) -> int:
        return len(self.labels)

    def judge(self, cases: Sequence[Result], evidence: Sequence[Any]) -> list[Result]:
        (case,) = cases
        answers = tuple(likeliest(self.labels, values) for values in evidence)
        return [case.changed(answers=answers, values=self.score(case.targets, answers, evidence))]


@dataclass(frozen=True, kw_only=True)
class TopTokenMethod(LikelihoodMethod):
    """Compares the labels among the likeliest tokens where the reply begins."""

    read_tokens: Callable[[Iterable[tuple[str, float]]], LogLikelihoods]  # top tokens (text, nats) -> those of labels

    evidence: ClassVar[str] = "top_tokens"
    harnesses: ClassVar[tuple[str, ...]] = ("inspect",)

    @property
    def new_tokens(self) -> int:
        return TOP_TOKENS

    @property
    def requests(self) -> int:
        return 1

    def likelihoods(self, given: FirstToken) -> tuple[str, LogLikelihoods]:
        """The label read from one call, or the reason why there is none, and the log-likelihoods it rests on."""
        undefined = (nan,) * len(self.labels)
        if not given.top:
            return why_not(given, "no_response"), undefined
        texts, listed = zip(*set(given.top), strict=True)
        if reason := impossible(listed, texts):
            return reason, undefined
        found = self.read_tokens(given.top)
        if any(map(isnan, found)):  # another word is about to be said
            return "invalid_response_format", found
        return likeliest(self.labels, found), found

    def judge(self, cases: Sequence[Result], evidence: Sequence[FirstToken]) -> list[Result]:
        (case,) = cases
        answers, values, bounds = [], [], 0
        for given in evidence:
            answer, found = self.likelihoods(given)
            if -inf in found:
                bounds += 1
                found = bounded(found, given.top)
            answers.append(answer)
            values.append(found)
        scores = self.score(case.targets, tuple(answers), values)
        return [case.changed(answers=tuple(answers), values=scores, bounds=bounds)]


@dataclass(frozen=True, kw_only=True)
class RewardMethod(Method):
    """Compares a reward model's scores of the responses; each is a call of its own, and no label is read."""

    evidence: ClassVar[str] = "rewards"
    harnesses: ClassVar[tuple[str, ...]] = ("inspect",)

    def judge(self, cases: Sequence[Result], evidence: Sequence[Reward]) -> list[Result]:
        (case,) = cases
        rewards = named_rewards(evidence)
        # without targets: the first response is the right one
        return [case.changed(targets=(), values=score_rewards(case.case_id, rewards), rewards=rewards)]
