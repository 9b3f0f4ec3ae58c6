"""One way to read a model's choice: what it takes as evidence, and how that becomes answers and values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any, cast

from ..parsing.answers import REASONS
from ..parsing.letter_probabilities import bounded, impossible
from .conversation import Message
from .documents import Scorable, Several
from .evidence import Evidence, FirstToken, LogLikelihoods, Reply, Reward, answer_in, likeliest, why_not
from .outcome import Answers, Outcome
from .rewards import NamedRewards, named_rewards, score_rewards

HARNESSES = {"lm-eval": "lm-eval", "inspect": "Inspect"}
"""The harnesses, and how people write them."""

FACTS = "facts"
"""The key under which both harnesses log what the measures of a text need of its case."""


TOP_TOKENS = 16
"""Limit on the new tokens where only the first one counts: OpenAI's responses API refuses fewer."""


@dataclass(frozen=True)
class Metric:
    """A value of a case; its mean over cases is a metric.

    Attributes:
        higher_is_better: None where neither direction is.
        defined: whether every case has it. One that some cases leave undefined (nan) cannot be pooled by lm-eval.
        harnesses: whose tables have it; None for every harness. Reports have it in any case.
    """

    name: str
    higher_is_better: bool | None = True
    defined: bool = True
    harnesses: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Described:
    """What is measured of the texts of a case's replies, beside what they are read to.

    Attributes:
        facts: case -> what `measure` needs of it, ready for JSON; both harnesses log it with the case.
        measure: (what the reply to each call was read to, the replies, those facts) -> metric -> value.
        items: (the replies, those facts) -> what they list, for metrics over the corpus, ready for JSON; None where there are none.
    """

    facts: Callable[[Any], Mapping[str, Any]]
    measure: Callable[[Answers, Sequence[Reply], Mapping[str, Any]], dict[str, float]]
    items: Callable[[Sequence[Reply], Mapping[str, Any]], Sequence[Mapping[str, Any]]] | None = None


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to read a model's choice.

    Attributes:
        help: one line, for docs/options.md.
        evidence: what is read: `reply` (its text), `log_likelihoods` (of each label after the prompt), `top_tokens` (their
            log-probabilities where the reply begins), or `rewards` (a score of each response; no label at all).
        harnesses: where it works, of HARNESSES.
        calls: the calls of a case, by name, in the order of their answers.
        score: (targets, answers, log-likelihoods per call or nothing) -> metric -> value. None for rewards, and where `described`
            gives the values.
        per_case: what each case is made of, for tables: `both orders`.
        suffix: of the method in the names of tasks and scorers.
        primary: the metric that is its score, from which every output forms differences, verdicts and ranks; empty for that of the
            benchmark, `ReportSpec.primary`. Read it through `Benchmark.primary`.
        room: default limit on the new tokens of a reply, in both harnesses.
        read: (text of a reply, whether it was cut off) -> a label or a reason. None where no text is read.
        read_tokens: `top_tokens` only: the likeliest tokens (text, log-probability) at one place -> those of the labels.
        conversation: `rewards` only: what the model scores.
        score_rewards: `rewards` only: (the rewards, targets) -> metric -> value, where neither response is the right one by itself. None
            where the first one is, see `rewards.score_rewards`.
        tasks: whether Inspect, too, has tasks of its own for it, named with its suffix as in lm-eval.
        several: how its one call asks for several cases at once; None where each case has calls of its own.
        described: what is measured of the texts of its calls' replies; None where labels are all that counts.
    """

    name: str
    help: str
    evidence: str
    harnesses: tuple[str, ...]
    calls: tuple[str, ...]
    per_case: str = ""
    score: Callable[[Sequence[str], Answers, Sequence[LogLikelihoods]], dict[str, float]] | None
    metrics: tuple[Metric, ...]
    suffix: str = ""
    primary: str = ""
    room: int = 0
    read: Callable[[str, bool], str] | None = None
    read_tokens: Callable[[Iterable[tuple[str, float]]], LogLikelihoods] | None = None
    conversation: Callable[[Any, Any, str], list[Message]] | None = None
    score_rewards: Callable[[NamedRewards, Sequence[str]], dict[str, float]] | None = None
    tasks: bool = False
    several: Several | None = None
    described: Described | None = None

    @property
    def writes(self) -> int:
        """New tokens of a reply, at most, its label included: 0 where the model only reads."""
        return TOP_TOKENS if self.evidence == "top_tokens" else self.room

    def metrics_in(self, harness: str) -> list[Metric]:
        """The metrics of a harness's table."""
        return [metric for metric in self.metrics if metric.harnesses is None or harness in metric.harnesses]

    def tabled(self, values: Mapping[str, float], harness: str) -> dict[str, float]:
        """The values of a case that go into a harness's table; of rewards all, since a model has aspects of its own."""
        shown = {metric.name for metric in self.metrics_in(harness)}
        if self.evidence == "rewards":
            shown |= values.keys() - {metric.name for metric in self.metrics}
        return {name: value for name, value in values.items() if name in shown}

    def facts(self, case: Any) -> dict[str, Any]:
        """What a log says of a case beside its ids, see `Described.facts`; under the key FACTS, or nothing."""
        return {FACTS: dict(self.described.facts(case))} if self.described else {}

    def documents(self, cases: Sequence[Any]) -> Sequence[Any]:
        """What a harness asks, in order: the cases, or documents that hold several of them."""
        return self.several.gather(cases) if self.several else cases

    def asked(self, settings: Sequence[str]) -> list[str]:
        """The names of all calls about a document, setting after setting. Those of the first setting are named after the call alone."""
        return [*self.calls, *(f"{setting} {call}" for setting in settings[1:] for call in self.calls)]

    def of_each(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """One label per call and case of a document, as logs have them -> those of each case."""
        width = len(self.calls)
        return [tuple(labels[start : start + width]) for start in range(0, len(labels), width)]

    def answers(self, read: Sequence[str], cases: int) -> list[Answers]:
        """The answers of each case of a document, setting after setting.

        Args:
            read: the readings of its replies, one per call.
        """
        if self.several is None:
            return self.of_each(read)
        return [(answer,) for reading in read for answer in self.several.split(reading, cases)]

    def reading(self, given: Evidence, labels: Sequence[str]) -> tuple[str, LogLikelihoods]:
        """What one call is read to, a label or a reason, and the log-likelihoods behind it; none where a text is read."""
        if isinstance(given, Reply):
            assert self.read is not None  # of a text
            return answer_in(given, self.read), ()
        if isinstance(given, FirstToken):
            assert self.read_tokens is not None
            if not given.top:
                return why_not(given, "no_response"), (nan,) * len(labels)
            texts, listed = zip(*set(given.top), strict=True)
            if reason := impossible(listed, texts):
                return reason, (nan,) * len(labels)
            given = self.read_tokens(given.top)
            if any(map(isnan, given)):  # another word is about to be said
                return "invalid_response_format", given
        values = cast(LogLikelihoods, given)
        return likeliest(labels, values), values

    def judge(
        self,
        document: Scorable,
        evidence: Sequence[Evidence],
        answers: Sequence[Answers] | None = None,
        epoch: int = 1,
    ) -> list[Outcome]:
        """The outcome of each case of a document under each setting, setting after setting. Here alone evidence becomes answers, and
        answers become values.

        Args:
            evidence: one per call, in the order of `asked`; or none beside answers.
            answers: of each case under each setting, where they were read before, such as by an older version whose log this is. They
                count in place of what the evidence is read to.

        Raises:
            ValueError: the number of answers is not the number of targets, or that of the evidence not that of the calls.
            RewardError: a reward is not a finite number.
        """
        width, count = len(self.calls), len(document.cases)
        if len(evidence) != width * len(document.settings) and (evidence or answers is None):
            ids = ", ".join(case.id for case in document.cases)
            raise ValueError(
                f"{ids}: found {len(evidence)} replies, expected one to each of {', '.join(self.asked(document.settings))}"
            )
        outcomes: list[Outcome] = []
        for place, setting in enumerate(document.settings):
            after = (
                place + 1 if setting != document.settings[-1] else None
            )  # what is left over is an error of the last one
            given, read = (slice(place * each, after and after * each) for each in (width, count))
            outcomes += self._judge(
                document,
                setting,
                evidence[given],
                None if answers is None else answers[read],
                epoch,
            )
        return outcomes

    def _judge(
        self,
        document: Scorable,
        setting: str,
        evidence: Sequence[Evidence],
        answers: Sequence[Answers] | None,
        epoch: int,
    ) -> list[Outcome]:
        """`judge` under one of the settings."""
        cases, texts = document.cases, self.read is not None
        rewards, bounds = None, 0
        pairs: list[LogLikelihoods] = []
        values: list[dict[str, float]]
        items: tuple[Mapping[str, Any], ...] = ()
        if self.evidence == "rewards":
            (case,) = cases
            given = cast(Sequence[Reward], evidence)
            rewards, answers = named_rewards(given), [()]
            values = [score_rewards(case.id, rewards, [reward.truncated for reward in given])]
            if self.score_rewards is not None:
                values = [{"truncated": values[0]["truncated"], **self.score_rewards(rewards, case.targets)}]
        else:
            if answers is None or not texts:
                readings = [self.reading(given, document.labels) for given in evidence]
                pairs = [_within(pair, given) for (_, pair), given in zip(readings, evidence, strict=True) if pair]
                bounds = sum(-inf in pair for _, pair in readings) if self.evidence == "top_tokens" else 0
                if answers is None:
                    answers = self.answers([answer for answer, _ in readings], len(cases))
            if self.described is not None:
                (of_calls,), replies = answers, cast(Sequence[Reply], evidence)
                values = [self.described.measure(of_calls, replies, document.facts)]
                if self.described.items is not None:
                    items = tuple(self.described.items(replies, document.facts))
            else:
                assert self.score is not None  # of labels
                values = [self.score(case.targets, of, pairs) for case, of in zip(cases, answers, strict=True)]
        unread: tuple[tuple[str, str], ...] = ()
        if texts:  # several cases share one reply: if it is unreadable, all of their answers are
            read = zip(answers[0], cast(Sequence[Reply], evidence), strict=False)
            unread = tuple((answer, reply.excerpt) for answer, reply in read if answer in REASONS)
        return [
            Outcome(
                case_id=case.id, cell=document.cell, user_id=document.user_id, digest=case.digest, setting=setting, epoch=epoch,
                targets=() if rewards and self.score_rewards is None else case.targets, answers=of, values=scores, rewards=rewards,
                unread=unread, items=items, bounds=bounds,
            )
            for case, of, scores in zip(cases, answers, values, strict=True)
        ]  # fmt: skip


def _within(values: LogLikelihoods, given: Evidence) -> LogLikelihoods:
    return bounded(values, given.top) if isinstance(given, FirstToken) and -inf in values else values
