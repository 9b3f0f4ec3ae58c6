"""What a benchmark is: harness adapters, signatures, log readers and reports get everything from it.

Each is registered once, by an entry point or by `register`; nothing else in this package names a benchmark.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from math import nan
from typing import Any

from ..common.errors import OptionError, PersonaFeedbackError, did_you_mean
from ..stats.significance import Comparison
from .cases import CaseSet, NamedSet, digest_of, each_and_all
from .method import HARNESSES, Method, RewardMethod, TextMethod
from .options import Options
from .report import ReportSpec
from .result import CorpusMetric, Result
from .rewards import Message
from .table import Units

SETTINGS = "settings"
"""The key under which both harnesses log the settings of a case, in the order of its calls."""

FACTS = "facts"
"""The key under which both harnesses log what the measures of a text need of its case."""

GROUP = "personafeedback_tasks.benchmarks"
"""The entry point group: name -> module:record."""

FIRST_TOKENS = 1024
"""New tokens of the reply to `Benchmark.first_call` under a method that reads no text."""


class Benchmark(ABC):
    """What a benchmark is, and how it loads and asks its cases. `register` or the entry point has an instance."""

    name: str  # the beginning of its tasks' names
    title: str
    version: str  # rises whenever a score can move
    options: type[Options]
    methods: Mapping[str, Method]  # the first one is the default
    labels: tuple[str, ...]  # the closed set that an answer is one of
    cells: tuple[str, ...]  # the smallest groups of cases, in the order of tables
    report: ReportSpec
    selections: Mapping[str, Mapping[str, str]] = {"": {}}  # end of a task's name -> argument of `load`
    corpus: Mapping[str, CorpusMetric] = {}  # scores over all cases at once
    units: Units | None = None  # cases that count together or not at all; None where each counts alone
    first_call: str = ""  # made before those of the method, if the option of this name is on; Inspect only
    judges: Mapping[str, Callable[[str], str]] = {}  # without a model: they answer from the prompt alone
    signed: tuple[str, ...] = ()  # the names of what `signs` gives
    comparisons: tuple[Comparison, ...] = ()  # what is assumed of two runs before there are any, see `plan`

    @abstractmethod
    def load(self, options: Any, selection: Mapping[str, str]) -> CaseSet[Any]:
        """The cases of a selection. Raises DataError. `AskedTask.load` counts them, too."""

    @abstractmethod
    def prompt(self, case: Any, options: Any, call: str) -> str:
        """The text of one call about a case, or about a document where the method asks for several cases at once."""

    def conversation(self, case: Any, options: Any, side: str) -> list[Message]:
        """The messages of the one response that a reward model scores in a call. Benchmarks with a reward method need it."""
        raise NotImplementedError

    def after(self, case: Any, options: Any, reply: str) -> tuple[Any, str]:
        """The options of the method's calls after the reply to `first_call`, and what a score says of that reply.

        If it is unreadable, the options stay as they are, and a score says `messages.UNREADABLE`.
        """
        raise NotImplementedError

    @abstractmethod
    def targets(self, case: Any) -> list[str]:
        """The right label of each call."""

    @abstractmethod
    def fingerprint(self, options: Any) -> str:
        """What changes with every fixed text of the prompts and with their layout, see `fingerprint_of`."""

    def columns(self, cells: Collection[str]) -> dict[str, list[str]]:
        """The columns of a table of these cells: name -> its cells; each cell, and each group of several cells."""
        return each_and_all(cells)

    def input(self, case: Any) -> str:
        """What a harness shows of a case, or of a document of several, in one line."""
        return str(case.question)

    def check(self, options: Any, cases: Any) -> None:
        """Find out before the first call whether every prompt can be built. Raises OptionError or DataError."""
        return

    def sizes(self, cases: Any, options: Any) -> dict[str, int]:
        """Cell -> number of cases that the data must have; empty if unknown."""
        return {}

    def detects(self, cases: Sequence[Any]) -> float:
        """How far above chance a score must be for these cases to show it in 80 % of benchmarks, as a share; or nan."""
        return nan

    def signs(self, cases: Any, options: Any) -> dict[str, Any]:
        """What a signature contains beside the options, under the names of `signed`, ready for JSON."""
        return {}

    def counted(self, ids: Collection[str]) -> Collection[str]:
        """Those of some cases that count, where no others were asked."""
        return self.units.whole(ids) if self.units else ids

    @property
    def measures(self) -> list[str]:
        """The names of the values that a case can have, under any method."""
        return list(dict.fromkeys(metric.name for method in self.methods.values() for metric in method.metrics))

    def method(self, name: str, harness: str) -> Method:
        """A method, which must work in this harness; else OptionError."""
        there = [method.name for method in self.methods.values() if harness in method.harnesses]
        if name in there:
            return self.methods[name]
        known = f"method must be one of {', '.join(there)} in {HARNESSES[harness]}, got {name!r}."
        if name not in list(self.methods):  # a list is no key: `-T method=a,b`
            raise OptionError(f"{known}{did_you_mean(name, there)}")
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
        remarks = [*self.options.remarks(vars(options)), *([cases.remark] if cases.remark else [])]
        return f"{task} ({', '.join(remarks)})" if remarks else task

    def setting(self, options: Mapping[str, Any]) -> str:
        """The value of the option that a control changes, from options by name; empty without a control."""
        return str(options.get(self.report.control.option, ""))

    def options_of(self, given: Mapping[str, Any], strict: bool = True) -> tuple[Options, ...]:
        """The options of a run: once, or once for each setting that it asks, in their order.

        An option without effect under a setting, such as hidden fields of a persona, is left at its default there.

        Args:
            given: by name, as a user wrote them: of settings a list, or names with commas between.
            strict: whether other names than those of options are refused.
        """
        read = self.options.strict if strict else self.options.read
        option = self.report.control.option or "setting"
        listed = given.get(option)
        if isinstance(listed, str) and "," in listed:
            listed = listed.split(",")
        if not isinstance(listed, (list, tuple)) or not listed:
            return (read(given),)
        if not self.setting_values:
            raise OptionError(
                f"{option} must be one of {', '.join(self.options.table()[option].values())}, got {given[option]!r}. Run "
                "this task once for each. (The tasks that choose between responses take a list of settings.)"
            )
        settings: list[dict[str, Any]] = []
        for name in listed:
            name = name.strip() if isinstance(name, str) else name
            if any(setting[option] == name for setting in settings):
                raise OptionError(f"{option} must have each value once, got {name!r} again.")
            settings.append({**given, option: name})
        unused = [self.options.without_effect(setting) for setting in settings]
        nowhere = set.intersection(*unused)  # reading these says that they have no effect
        for setting, without in zip(settings, unused, strict=True):
            for name in without - nowhere:
                setting.pop(name, None)
        return tuple(map(read, settings))

    @property
    def setting_values(self) -> tuple[str, ...]:
        """The settings that one run can ask together; empty where it asks one."""
        control = self.report.control
        return self.options.table()[control.option].values() if control.of_one_run else ()

    def primary(self, method: Method) -> str:
        """The measure that is a method's score, see `Method.primary`."""
        return method.primary or self.report.primary

    def of_several(self, method: Method, settings: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """What further settings add to a case: name -> the setting whose value it is, or (setting, subtracted one)."""
        found: dict[str, tuple[str, ...]] = {}
        for setting in settings[1:]:
            found[f"{self.primary(method)}_{setting}"] = (setting,)
        for difference in self.report.control.of_one_run:
            if difference.more in settings and difference.less in settings:
                found[difference.key] = difference.more, difference.less
        return found

    def tabled(self, method: Method, results: Iterable[Result], harness: str) -> list[Result]:
        """The cases of documents with the values of a harness's table: of the first setting, and what others add."""
        left_out = {metric.name for metric in method.metrics if harness not in metric.harnesses}
        by_case: dict[tuple[str, int], list[Result]] = {}
        for result in results:
            by_case.setdefault((result.case_id, result.epoch), []).append(result)
        rows = []
        for first, *others in by_case.values():
            values = {name: value for name, value in first.values.items() if name not in left_out}
            if others:
                measure = self.primary(method)
                under = {one.setting: one.value(measure) for one in (first, *others)}
                for name, (more, *less) in self.of_several(method, list(under)).items():
                    values[name] = under[more] - under[less[0]] if less else under[more]
            rows.append(first.changed(values=values))
        return rows

    def logged(self, method: Method, document: Any, settings: Sequence[str] = ("",)) -> dict[str, Any]:
        """What harnesses log of a document: all that it takes to score it later, ready for JSON."""
        found = {name: getattr(document, name) for name in ("id", "cell", "user_id", "language", "digest")}
        if any(settings):
            found[SETTINGS] = list(settings)
        if isinstance(method, TextMethod):
            found[FACTS] = dict(method.facts_of(document))
        if not method.groups:
            return {**found, "targets": self.targets(document)}
        found["cases"] = [{"id": case.id, "digest": case.digest} for case in document.cases]
        return {**found, "targets": [label for case in document.cases for label in self.targets(case)]}

    def logged_cases(self, method: Method, logged: Mapping[str, Any], epoch: int = 1) -> list[list[Result]]:
        """The way back from `logged`: its cases without answers, under each setting in the order of the calls.

        A missing value or another type is a TypeError, ValueError or LookupError.
        """
        cases = logged["cases"] if method.groups else [logged]
        targets, calls = logged["targets"], len(method.calls)
        if len(targets) != len(cases) * calls:
            raise ValueError(f"found {len(targets)} targets, expected {calls} of each case")
        under = []
        for setting in logged.get(SETTINGS) or ("",):
            results = []
            for place, case in enumerate(cases):
                of_case = tuple(targets[place * calls : (place + 1) * calls])
                results.append(
                    Result(
                        case_id=case["id"], cell=logged["cell"], user_id=logged["user_id"], digest=case["digest"],
                        setting=setting, epoch=epoch, targets=of_case, facts=logged.get(FACTS, {}),
                    )
                )  # fmt: skip
            under.append(results)
        return under

    def first(self, options: Mapping[str, Any]) -> str:
        """`first_call` if these options turn it on, else empty."""
        return self.first_call if options.get(self.first_call) else ""

    def fingerprint_of(self, version: str, shown: Iterable[tuple[Any, Any]]) -> str:
        """The version, and a SHA-256 (12 hex digits) of all that is shown.

        Args:
            shown: stand-ins for cases or documents, under every setting, so that a run and its controls have the same.
                What moves a text of a prompt must move one of these.
        """
        texts: list[Any] = []
        for document, options in shown:
            method = self.methods[options.method]
            texts += [self.turns(document, options, call) for call in method.calls]
            if first := self.first(vars(options)):
                texts.append(self.prompt(document, options, first))
        return f"{version}-{digest_of(texts)}"

    def turns(self, document: Any, options: Any, call: str) -> list[Message]:
        """The messages of one call about a case or a document of several."""
        if isinstance(self.methods[options.method], RewardMethod):
            return self.conversation(document, options, call)
        return [{"role": "user", "content": self.prompt(document, options, call)}]


_REGISTERED: dict[str, Benchmark] = {}


def register(benchmark: Benchmark) -> None:
    """Make a benchmark known in this process. One with an entry point need not be registered."""
    _REGISTERED[benchmark.name] = benchmark


@cache
def _declared() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def _loaded(name: str) -> Benchmark:
    benchmark: Benchmark = _declared()[name].load()
    return benchmark


def benchmarks() -> dict[str, Benchmark]:
    """Every known benchmark, by name."""
    return {name: find(name) for name in {**_declared(), **_REGISTERED}}


def find(name: str) -> Benchmark:
    """The benchmark of that name; the others are not imported."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name not in _declared():
        known = sorted({*_declared(), *_REGISTERED})
        raise PersonaFeedbackError(
            f"benchmark must be one of {', '.join(known)}, got {name!r}. Install the package that provides it."
        )
    return _loaded(name)
