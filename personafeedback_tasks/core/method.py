"""Ways to read a model's choice: what each takes as evidence, and how that becomes answers and values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Any, ClassVar, TypeVar

from ..parsing.answers import PROMPT_CUT, REASONS, excerpt
from ..parsing.letter_probabilities import bounded, impossible
from .evidence import Evidence, FirstToken, LogLikelihoods, Reply, Reward, likeliest, why_not
from .result import Answers, Result
from .rewards import Message, named_rewards, score_rewards

T = TypeVar("T")

HARNESSES = {"lm-eval": "lm-eval", "inspect": "Inspect"}
"""The harnesses, and how people write them."""

FACTS = "facts"
"""The key under which both harnesses log what the measures of a text need of its case."""

TOP_TOKENS = 16
"""Limit on the new tokens where only the first one counts: OpenAI's responses API refuses fewer."""

Score = Callable[[Sequence[str], Answers, Sequence[LogLikelihoods]], dict[str, float]]
"""(targets, answers, log-likelihoods per call or nothing) -> metric -> value."""


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

    def judge(self, cases: Sequence[Result], evidence: Sequence[Evidence]) -> list[Result]:
        """The cases of a document, setting after setting, scored by the evidence in the order of `asked`.

        Here alone evidence becomes answers, and answers become values.
        """
        settings = list(dict.fromkeys(case.setting for case in cases))
        width, calls = len(cases) // len(settings), len(self.calls)
        if len(evidence) != calls * len(settings):
            ids = ", ".join(dict.fromkeys(case.case_id for case in cases))
            raise ValueError(
                f"{ids}: found {len(evidence)} replies, expected one to each of {', '.join(self.asked(settings))}"
            )
        results: list[Result] = []
        for place in range(len(settings)):
            of_setting = cases[place * width : (place + 1) * width]
            results += self.results(of_setting, evidence[place * calls : (place + 1) * calls])
        return results

    @abstractmethod
    def results(self, cases: Sequence[Result], evidence: Sequence[Any]) -> list[Result]:
        """The cases of a document under one setting, scored by the evidence of its calls."""


@dataclass(frozen=True, kw_only=True)
class ReplyMethod(Method):
    """Reads the text of a reply."""

    read: Callable[[str, bool], str]  # (text of a reply, whether it was cut off) -> a label or a reason
    max_tokens: int

    evidence: ClassVar[str] = "reply"

    def reading(self, given: Any) -> str:
        """What one call is read to: a label or a reason."""
        if given.prompt_cut:
            return PROMPT_CUT
        answer = self.read(given.text, bool(given.truncated))
        return why_not(given, answer) if answer in REASONS else answer


def unread(answers: Answers, replies: Sequence[Reply]) -> tuple[tuple[str, str], ...]:
    """(reason, excerpt) of each reply that could not be read."""
    found = []
    for answer, reply in zip(answers, replies, strict=True):
        if answer in REASONS:  # a reply of thinking alone is not one that the server left out
            found.append((answer, excerpt(reply.text or ("(thinking only)" if reply.thinking else ""))))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class LabelMethod(ReplyMethod):
    """Reads a label in the text of a reply."""

    score: Score

    def scored(self, case: Result, answers: Answers) -> Result:
        """A case with answers that no reply was read to, such as those of a person."""
        return replace(case, answers=answers, values=self.score(case.targets, answers, ()))

    def results(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        (case,) = cases
        answers = tuple(map(self.reading, evidence))
        values = self.score(case.targets, answers, ())
        return [replace(case, answers=answers, values=values, unread=unread(answers, evidence))]


@dataclass(frozen=True, kw_only=True)
class TextMethod(ReplyMethod):
    """Measures the texts of a case's replies."""

    facts_of: Callable[[Any], Mapping[str, Any]]  # case -> what `measure` needs of it, ready for JSON, for logs
    measure: Callable[[Answers, Sequence[Reply], Mapping[str, Any]], dict[str, float]]  # (readings, replies, facts)
    # (replies, facts) -> what they list, for metrics over the corpus, ready for JSON.
    items: Callable[[Sequence[Reply], Mapping[str, Any]], Sequence[Mapping[str, Any]]] | None = None

    def results(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        (case,) = cases
        answers = tuple(map(self.reading, evidence))
        items = tuple(self.items(evidence, case.facts)) if self.items else ()
        values = self.measure(answers, evidence, case.facts)
        return [replace(case, answers=answers, values=values, unread=unread(answers, evidence), items=items, facts={})]


@dataclass(frozen=True, kw_only=True)
class LikelihoodMethod(Method):
    """Compares the log-likelihoods of all labels after the prompt: the model writes nothing."""

    labels: tuple[str, ...]
    score: Score

    evidence: ClassVar[str] = "log_likelihoods"
    harnesses: ClassVar[tuple[str, ...]] = ("lm-eval",)

    @property
    def requests(self) -> int:
        return len(self.labels)

    def likelihoods(self, given: Any) -> tuple[str, LogLikelihoods]:
        """What one call is read to, a label or a reason, and the log-likelihoods behind it."""
        return likeliest(self.labels, given), given

    def results(self, cases: Sequence[Result], evidence: Sequence[Any]) -> list[Result]:
        (case,) = cases
        answers, values = zip(*map(self.likelihoods, evidence), strict=True)
        return [replace(case, answers=answers, values=self.score(case.targets, answers, values))]


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

    def likelihoods(self, given: Any) -> tuple[str, LogLikelihoods]:
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

    def results(self, cases: Sequence[Result], evidence: Sequence[FirstToken]) -> list[Result]:
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
        return [replace(case, answers=tuple(answers), values=scores, bounds=bounds)]


@dataclass(frozen=True, kw_only=True)
class RewardMethod(Method):
    """Compares a reward model's scores of the responses; each is a call of its own, and no label is read."""

    conversation: Callable[[Any, Any, str], list[Message]]  # (case, options, call) -> what the model scores

    evidence: ClassVar[str] = "rewards"
    harnesses: ClassVar[tuple[str, ...]] = ("inspect",)

    def results(self, cases: Sequence[Result], evidence: Sequence[Reward]) -> list[Result]:
        (case,) = cases
        rewards = named_rewards(evidence)
        # without targets: the first response is the right one
        return [replace(case, targets=(), values=score_rewards(case.case_id, rewards), rewards=rewards)]
