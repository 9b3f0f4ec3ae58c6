"""The record of a benchmark. Harness adapters, signatures, log readers and reports get everything from it.

A benchmark is registered once, by the entry point group `personafeedback_tasks.benchmarks` or by `register`; nothing
else in this package names a benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from ..common.errors import OptionError, PersonaFeedbackError
from ..common.power import Comparison
from ..common.text import skeleton
from ..replies.answers import REASONS
from .cases import CaseSet, NamedSet
from .conversation import Message
from .documents import Several
from .graded import Graded
from .judged import Answers, CorpusMetric, LogLikelihoods
from .judges import Reply
from .options import Options
from .report import ReportSpec

GROUP = "personafeedback_tasks.benchmarks"
"""The entry point group: name -> module:record."""


HARNESSES = {"lm-eval": "lm-eval", "inspect": "Inspect"}
"""The harnesses, and how people write them."""


def always(options: Mapping[str, Any]) -> bool:
    """Of `Benchmark.signed`: under all options."""
    return True


FACTS = "facts"
"""The key under which both harnesses log what the measures of a text need of its case."""


@dataclass(frozen=True)
class Metric:
    """A value of a case; its mean over cases is a metric.

    Attributes:
        name: as in tables and reports.
        higher_is_better: None where neither direction is.
        defined: whether every case has it. One that some cases leave undefined (nan) cannot be pooled by lm-eval.
        harnesses: whose tables have it; reports have every one.
    """

    name: str
    higher_is_better: bool | None = True
    defined: bool = True
    harnesses: tuple[str, ...] = tuple(HARNESSES)


@dataclass(frozen=True, kw_only=True)
class Described:
    """What is measured of the text of a reply, beside what it is read to.

    Attributes:
        facts: case -> what `measure` needs of it, ready for JSON; both harnesses log it with the case.
        measure: (what the reply was read to, the reply, those facts) -> metric -> value.
    """

    facts: Callable[[Any], Mapping[str, Any]]
    measure: Callable[[str, Reply, Mapping[str, Any]], dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to read a model's choice.

    Attributes:
        name: as in `-T method=`.
        help: one line, for docs/options.md.
        evidence: what is read: `reply` (its text), `log_likelihoods` (of each label after the prompt), `top_tokens` (their
            log-probabilities where the reply begins), or `rewards` (a score of each response; no label at all).
        harnesses: where it works, of HARNESSES.
        calls: the calls of a case, by name, in the order of their answers.
        score: (targets, answers, log-likelihoods per call or nothing) -> metric -> value. None for rewards, and where `described`
            gives the values.
        per_case: what each case is made of, for tables: `both orders`.
        metrics: the values of a case.
        suffix: of the method in the names of tasks and scorers.
        room: default limit on the new tokens of a reply, in both harnesses.
        read: (text of a reply, whether it was cut off) -> a label or a reason. None where no text is read.
        read_tokens: `top_tokens` only: the likeliest tokens (text, log-probability) at one place -> those of the labels.
        conversation: `rewards` only: what the model scores.
        tasks: whether Inspect, too, has tasks of its own for it, named with its suffix as in lm-eval.
        several: how its one call asks for several cases at once; None where each case has calls of its own.
        described: what is measured of the text of its one call's reply; None where labels are all that counts.
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
    room: int = 0
    read: Callable[[str, bool], str] | None = None
    read_tokens: Callable[[Iterable[tuple[str, float]]], LogLikelihoods] | None = None
    conversation: Callable[[Any, Any, str], list[Message]] | None = None
    tasks: bool = False
    several: Several | None = None
    described: Described | None = None

    def metrics_in(self, harness: str) -> list[Metric]:
        """The metrics of a harness's table."""
        return [metric for metric in self.metrics if harness in metric.harnesses]

    def tabled(self, values: Mapping[str, float], harness: str) -> dict[str, float]:
        """The values of a case that go into a harness's table: without those of reports alone.

        Values without a metric, such as those of a reward model's aspects, are in the table.
        """
        left_out = {metric.name for metric in self.metrics if harness not in metric.harnesses}
        return {name: value for name, value in values.items() if name not in left_out}

    def facts(self, case: Any) -> dict[str, Any]:
        """What a log says of a case beside its ids, see `Described.facts`; under the key FACTS, or nothing."""
        return {FACTS: dict(self.described.facts(case))} if self.described else {}

    def documents(self, cases: Sequence[Any]) -> Sequence[Any]:
        """What a harness asks, in order: the cases, or documents that hold several of them."""
        return self.several.gather(cases) if self.several else cases

    def of_each(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """One label per call and case of a document, as logs have them -> those of each case."""
        width = len(self.calls)
        return [tuple(labels[start : start + width]) for start in range(0, len(labels), width)]

    def answers(self, read: Sequence[str], cases: int) -> list[Answers]:
        """The answers of each case of a document.

        Args:
            read: the readings of its replies, one per call.
            cases: how many it has.
        """
        if self.several is None:
            return [tuple(read)]
        return [(answer,) for one in read for answer in self.several.split(one, cases)]

    def values(
        self,
        targets: Sequence[Sequence[str]],
        answers: Sequence[Answers],
        pairs: Sequence[LogLikelihoods] = (),
        replies: Sequence[Reply] = (),
        logged: Mapping[str, Any] = MappingProxyType({}),
    ) -> list[dict[str, float]]:
        """Metric -> value, of each case of a document.

        Args:
            targets: of each case, one per call; answers: the same.
            pairs: log-likelihoods of the labels per call, where they are read.
            replies: one per call, where texts are read; logged: what the log says of the case. Only `described` reads them.

        Raises:
            ValueError: the number of answers is not the number of targets.
        """
        if self.described is not None:
            ((answer,),), (reply,) = answers, replies
            return [self.described.measure(answer, reply, logged[FACTS])]
        assert self.score is not None  # of labels
        return [self.score(of_case, said, pairs) for of_case, said in zip(targets, answers, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A call before those of the method, whose reply changes what they show. Inspect only.

    Attributes:
        name: of the option that turns it on; its messages and scores carry it.
        room: new tokens of its reply where the method itself needs no more than a label.
        applies: whether these options ask for it.
        prompt: the text of the call.
        about: facts of the case that `read` needs; they travel with the message.
        read: (reply, those facts) -> what a score says of it.
        apply: (case, options, reply) -> the options for the calls of the method.
        warning: (task, what the scores say) -> a sentence, or None.
    """

    name: str
    room: int
    applies: Callable[[Any], bool]
    prompt: Callable[[Any, Any], str]
    about: Callable[[Any, Any], dict[str, Any]]
    read: Callable[[str, Mapping[str, Any]], str]
    apply: Callable[[Any, Any, str], Any]
    warning: Callable[[str, Sequence[str]], str | None]


@dataclass(frozen=True, kw_only=True)
class Explanations:
    """Scores in plain words, for readers of single cases.

    Attributes:
        facts: cases -> case id -> what the other two need of a case, ready for JSON; a log has it beside the score.
        of_answers: (answers in the order of the calls, facts) -> a sentence.
        of_rewards: (the rewards of the responses, that of the right one first; facts) -> a sentence.
    """

    facts: Callable[[Any], Mapping[str, Mapping[str, Any]]]
    of_answers: Callable[[Sequence[str], Mapping[str, Any]], str]
    of_rewards: Callable[[Sequence[float], Mapping[str, Any]], str]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: the beginning of its tasks' names.
        title: as people write it.
        version: rises whenever a score can move.
        group: the group of benchmarks that it belongs to, which both harnesses can run as one; empty without one.
        options: the class of its options.
        methods: name -> method; the first one is the default.
        labels: the closed set that an answer is one of.
        cells: the smallest groups of cases, in the order of tables.
        selections: the end of a task's name -> what `load` is told: `general_hard` -> {category: general, ...}.
        sums: whether a wider selection has each case of its cells once more, so that lm-eval can make a group of their tasks.
        load: (options, selection) -> cases. Raises DataError.
        columns: cells -> name -> its cells, for tables: each cell, and each group of several cells.
        about: what a harness's document contains beside the id, cell, user, language and digest of a case.
        prompt: (case, options, call) -> text; a document in place of the case where the method asks for several at once.
        input: what a harness shows of a case, or of a document of several, in one line: its question.
        targets: the right label of each call.
        check: finds out before the first call whether every prompt can be built. Raises OptionError or DataError.
        fingerprint: changes with every fixed text of the prompts and with their layout.
        sizes: a signature -> cell -> number of cases that the data must have; empty if unknown.
        corpus: name -> score over all cases at once.
        undirected: those of which neither more nor less is better.
        stage: a call before the others, if there is one.
        graded: what a second model can be asked about the replies, if anything.
        judges: judges without a model, which answer from the prompt alone: what shortcuts are worth.
        signs: what a signature contains beside the options: (cases, options) -> ready for JSON, under the names of `signed`.
        signed: those names -> whether options, by name, have it; else it is None.
        report: what its reports show.
        explanations: what Inspect's viewer says of each score.
        comparisons: what is assumed of two runs before there are any, see `plan`.
    """

    name: str
    title: str
    version: str
    options: type[Options]
    methods: Mapping[str, Method]
    labels: tuple[str, ...]
    cells: tuple[str, ...]
    selections: Mapping[str, Mapping[str, str]]
    load: Callable[[Any, Mapping[str, str]], CaseSet[Any]]
    columns: Callable[[Collection[str]], dict[str, list[str]]]
    prompt: Callable[[Any, Any, str], str]
    input: Callable[[Any], str]
    targets: Callable[[Any], list[str]]
    fingerprint: Callable[[Any], str]
    report: ReportSpec
    group: str = ""
    sums: bool = True
    about: Callable[[Any], dict[str, str]] = lambda case: {}
    check: Callable[[Any, Any], None] = lambda options, cases: None
    sizes: Callable[[Mapping[str, Any]], dict[str, int]] = lambda signature: {}
    corpus: Mapping[str, CorpusMetric] = field(default_factory=dict)
    undirected: tuple[str, ...] = ()
    stage: Stage | None = None
    graded: Graded | None = None
    judges: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    signed: Mapping[str, Callable[[Mapping[str, Any]], bool]] = field(default_factory=dict)
    signs: Callable[[Any, Any], dict[str, Any]] = lambda cases, options: {}
    explanations: Explanations | None = None
    comparisons: tuple[Comparison, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The names of the values that a case can have, under any method."""
        return list(dict.fromkeys(metric.name for method in self.methods.values() for metric in method.metrics))

    @property
    def answers(self) -> tuple[str, ...]:
        """Every possible answer."""
        return (*self.labels, *REASONS)

    def method(self, name: str, harness: str) -> Method:
        """A method of one of the harnesses.

        Raises:
            OptionError: there is no such method, or it does not work there.
        """
        there = [method.name for method in self.methods.values() if harness in method.harnesses]
        if name in there:
            return self.methods[name]
        known = f"method must be one of {', '.join(there)} in {HARNESSES[harness]}, got {name!r}."
        if name not in self.methods:
            raise OptionError(known)
        elsewhere = " and ".join(HARNESSES[one] for one in self.methods[name].harnesses)
        raise OptionError(f"{known} Use {elsewhere} for {name}, or leave method out.")

    def task(self, selection: str, suffix: str = "") -> str:
        """The name of a task: `personafeedback`, `personafeedback_general_hard_mc`."""
        return "_".join(part for part in (self.name, selection, suffix) if part)

    def titled(self, named: NamedSet | None) -> str:
        """What people call the data of a run: by the name of the set, or by this benchmark's."""
        return named.name if named else self.title

    def named(self, task: str, cases: CaseSet[Any], options: Options) -> str:
        """The task's name as rows and logs show it, with what a reader must not overlook."""
        return self.remarked(task, vars(options), cases.remark)

    def remarked(self, task: str, options: Mapping[str, Any], remark: str) -> str:
        """The same, of options by name; a signature has them.

        Args:
            remark: see `CaseSet.remark`.
        """
        remarks = [*self.options.remarks(options), *([remark] if remark else [])]
        return f"{task} ({', '.join(remarks)})" if remarks else task

    def turns(self, method: Method, document: Any, options: Any, call: str) -> list[Message]:
        """The messages of one call about a case or a document of several."""
        if method.conversation is None:
            return [{"role": "user", "content": self.prompt(document, options, call)}]
        return method.conversation(document, options, call)


_REGISTERED: dict[str, Benchmark] = {}


def register(benchmark: Benchmark) -> None:
    """Make a benchmark known in this process. One with an entry point need not be registered."""
    _REGISTERED[benchmark.name] = benchmark


@cache
def _declared() -> dict[str, Benchmark]:
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}


def benchmarks() -> dict[str, Benchmark]:
    """Every known benchmark, by name."""
    return {**_declared(), **_REGISTERED}


def passing_for(name: str) -> str:
    """The benchmark that a set of this name passes for: a benchmark's name or title, or one of its tasks; empty if nothing.

    Names count that a reader takes for the same, see `common.text.skeleton`. A name that only begins with a benchmark's, such as
    `PersonaFeedback of our users`, says that it is something else.
    """
    seen = skeleton(name)
    taken = (
        known
        for benchmark in benchmarks().values()
        for known in (benchmark.title, *map(benchmark.task, ("", *benchmark.selections)))
    )
    return next((known for known in taken if skeleton(known) == seen), "")


def find(name: str) -> Benchmark:
    """The benchmark of that name.

    Raises:
        PersonaFeedbackError: there is none.
    """
    known = benchmarks()
    if name not in known:
        raise PersonaFeedbackError(
            f"benchmark must be one of {', '.join(sorted(known))}, got {name!r}. Install the package that provides it."
        )
    return known[name]
