"""Ways to read a model's choice: what each takes as evidence, and how that becomes answers and values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Any, ClassVar, TypeVar

from ..parsing.answers import PROMPT_CUT, REASONS
from ..parsing.letter_probabilities import bounded, impossible
from .cases import CaseGroup
from .evidence import Evidence, LogLikelihoods, Reply, Reward, likeliest, why_not
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
    harnesses: tuple[str, ...] | None = None  # whose tables have it; None for all. Reports have it in any case


@dataclass(frozen=True, kw_only=True)
class Several:
    """How one call asks for several cases."""

    unit: str  # its documents, in the plural: `prompts`
    gather: Callable[[Sequence[Any]], list[CaseGroup[Any]]]  # both in the order of a run
    split: Callable[[str, int], Answers]  # (the reading of the reply, number of cases) -> the answer of each case


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
    several: Several | None = None  # None where each case has calls of its own
    max_tokens: int = 0  # default limit on the new tokens of a reply; 0 where none is read as a text

    evidence: ClassVar[str]  # what is read, for people
    harnesses: ClassVar[tuple[str, ...]] = ("lm-eval", "inspect")  # where it works, of HARNESSES

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
        return [metric for metric in self.metrics if metric.harnesses is None or harness in metric.harnesses]

    def tabled(self, values: Mapping[str, float], harness: str) -> dict[str, float]:
        """The values of a case that go into a harness's table."""
        shown = {metric.name for metric in self.metrics_in(harness)}
        return {name: value for name, value in values.items() if name in shown}

    def facts(self, case: Any) -> dict[str, Any]:
        """What a log says of a case beside its ids, ready for JSON: under the key FACTS, or nothing."""
        return {}

    def documents(self, cases: Sequence[Any]) -> Sequence[Any]:
        """What a harness asks, in order: the cases, or documents that hold several of them."""
        return self.several.gather(cases) if self.several else cases

    def asked(self, settings: Sequence[str]) -> list[str]:
        """All calls about a document, setting after setting; those of the first setting have the call's name alone."""
        return [*self.calls, *(f"{setting} {call}" for setting in settings[1:] for call in self.calls)]

    def of_each(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """One label per call and case of a document, as logs have them -> those of each case."""
        width = len(self.calls)
        return [tuple(labels[start : start + width]) for start in range(0, len(labels), width)]

    def judge(self, cases: Sequence[Result], evidence: Sequence[Evidence]) -> list[Result]:
        """The cases of a document, setting after setting, scored by the evidence in the order of `asked`.

        Here alone evidence becomes answers, and answers become values.
        """
        settings = list(dict.fromkeys(case.setting for case in cases))
        if len(evidence) != len(self.calls) * len(settings):
            ids = ", ".join(dict.fromkeys(case.case_id for case in cases))
            raise ValueError(
                f"{ids}: found {len(evidence)} replies, expected one to each of {', '.join(self.asked(settings))}"
            )
        results: list[Result] = []
        for of_setting, given in zip(
            of_settings(cases, len(settings)), of_settings(evidence, len(settings)), strict=True
        ):
            results += self._score(of_setting, given)
        return results

    @abstractmethod
    def _score(self, cases: Sequence[Result], evidence: Sequence[Any]) -> list[Result]: ...


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


def _unread(answers: Answers, replies: Sequence[Reply]) -> tuple[tuple[str, str], ...]:
    read = zip(answers, replies, strict=False)  # one reply may have the answers of several cases: all of them, or none
    return tuple((answer, reply.excerpt) for answer, reply in read if answer in REASONS)


@dataclass(frozen=True, kw_only=True)
class LabelMethod(ReplyMethod):
    """Reads a label in the text of a reply."""

    score: Score

    def scored(self, case: Result, answers: Answers) -> Result:
        """A case with answers that no reply was read to, such as those of a person."""
        return replace(case, answers=answers, values=self.score(case.targets, answers, ()))

    def _score(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        answers = [tuple(self.reading(reply) for reply in evidence)]
        if self.several is not None:
            answers = [(answer,) for reading in answers[0] for answer in self.several.split(reading, len(cases))]
        unread = _unread(answers[0], evidence)
        return [replace(self.scored(case, of), unread=unread) for case, of in zip(cases, answers, strict=True)]


@dataclass(frozen=True, kw_only=True)
class TextMethod(ReplyMethod):
    """Measures the texts of a case's replies."""

    facts_of: Callable[[Any], Mapping[str, Any]]  # case -> what `measure` needs of it, ready for JSON, for logs
    measure: Callable[[Answers, Sequence[Reply], Mapping[str, Any]], dict[str, float]]  # (readings, replies, facts)
    # (replies, facts) -> what they list, for metrics over the corpus, ready for JSON.
    items: Callable[[Sequence[Reply], Mapping[str, Any]], Sequence[Mapping[str, Any]]] | None = None

    def facts(self, case: Any) -> dict[str, Any]:
        return {FACTS: dict(self.facts_of(case))}

    def _score(self, cases: Sequence[Result], evidence: Sequence[Reply]) -> list[Result]:
        (case,) = cases
        answers = tuple(self.reading(reply) for reply in evidence)
        items = tuple(self.items(evidence, case.facts)) if self.items else ()
        values = self.measure(answers, evidence, case.facts)
        return [replace(case, answers=answers, values=values, unread=_unread(answers, evidence), items=items, facts={})]


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

    def _score(self, cases: Sequence[Result], evidence: Sequence[Any]) -> list[Result]:
        (case,) = cases
        readings = [self.likelihoods(given) for given in evidence]
        answers = tuple(answer for answer, _ in readings)
        values = [self._bounded(values, given) for (_, values), given in zip(readings, evidence, strict=True)]
        bounds = self._bounds([values for _, values in readings])
        return [replace(case, answers=answers, values=self.score(case.targets, answers, values), bounds=bounds)]

    def _bounded(self, values: LogLikelihoods, given: Any) -> LogLikelihoods:
        return values

    def _bounds(self, values: Sequence[LogLikelihoods]) -> int:
        return 0


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

    def _bounded(self, values: LogLikelihoods, given: Any) -> LogLikelihoods:
        return bounded(values, given.top) if -inf in values else values

    def _bounds(self, values: Sequence[LogLikelihoods]) -> int:
        return sum(-inf in of_call for of_call in values)


@dataclass(frozen=True, kw_only=True)
class RewardMethod(Method):
    """Compares a reward model's scores of the responses; each is a call of its own, and no label is read."""

    conversation: Callable[[Any, Any, str], list[Message]]  # (case, options, call) -> what the model scores

    evidence: ClassVar[str] = "rewards"
    harnesses: ClassVar[tuple[str, ...]] = ("inspect",)

    def tabled(self, values: Mapping[str, float], harness: str) -> dict[str, float]:
        """All that the table of this harness has, and the aspects, which each model has of its own."""
        hidden = {metric.name for metric in self.metrics} - {metric.name for metric in self.metrics_in(harness)}
        return {name: value for name, value in values.items() if name not in hidden}

    def _score(self, cases: Sequence[Result], evidence: Sequence[Reward]) -> list[Result]:
        (case,) = cases
        rewards = named_rewards(evidence)
        values = score_rewards(case.case_id, rewards)
        return [replace(case, targets=(), values=values, rewards=rewards)]  # the first response is the right one
