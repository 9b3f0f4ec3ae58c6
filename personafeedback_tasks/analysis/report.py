"""A run -> everything that its report has: every number with its uncertainty, its baselines and its caveats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from ..core.cases import CaseSet
from ..core.report import Examined
from ..core.result import Result
from ..core.usage import Prices
from ..logs.caveat import Caveat
from ..logs.compare import checked
from ..logs.data import RunData
from ..logs.errors import RunError
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import Estimate
from .baselines import Judges, make_judges, with_scores
from .caveats import of_result
from .contender import Contender
from .control import named_differences, refuse_other_control
from .costs import CostOfCalls, costs
from .groups import Group, groups_of, has_macro
from .measures import Measure, of_report
from .use import Use, use_of
from .users import Users, make_users
from .void import is_void

EXAMPLES = 5
"""How many unreadable replies a report shows."""

MACRO = "macro"
"""Name of the row whose cells weigh the same."""


@dataclass(frozen=True)
class Unread:
    """A reply that cannot be read.

    Attributes:
        case: its id.
        reason: why.
        reply: an excerpt.
    """

    case: str
    reason: str
    reply: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that is printed about one run.

    Attributes:
        groups: the cells that were started, and groups of several of them; the last group has them all.
        macro: the last group with the plain mean of its cells.
        measures: the measures that a group has, in the order of the tables.
        texts: baselines and subsets from the texts of the cases; empty without data.
        controls: value of the control's option -> the same model's run under it.
        unread: EXAMPLES unreadable replies, of every reason in turn.
        judges: baselines that answer, and people, with every measure of the run; None without data.
        users: how far the users differ; None with few of them.
    """

    run: Run
    groups: tuple[Group, ...]
    macro: Group | None
    measures: tuple[Measure, ...]
    caveats: tuple[Caveat, ...]
    texts: Examined = field(default_factory=Examined)
    controls: Mapping[str, Run] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()
    judges: Judges | None = None
    users: Users | None = None
    costs: tuple[CostOfCalls, ...] = ()

    @property
    def signature(self) -> str:
        return signature_line(self.run, self.texts.version)

    @property
    def shown(self) -> tuple[Group, ...]:
        """The rows of a table."""
        return (*self.groups, *([self.macro] if self.macro else []))

    @property
    def overall(self) -> Group:
        return self.groups[-1]

    @property
    def named_controls(self) -> dict[str, str]:
        """Name of a difference -> setting of its control, asked or not, unless it is a further one; gain last."""
        control = self.run.benchmark.report.control
        if control is None:
            return {}
        own = self.run.signature.options[control.option]
        silent = {one.name for one in control.named if one.further and one.less not in self.controls}
        names = {
            name: value for name, value in named_differences(self.run).items() if value != own and name not in silent
        }
        return dict(sorted(names.items(), key=lambda item: item[1] == control.value))

    @property
    def void(self) -> bool:
        """Whether the numbers do not measure the model, so that nothing is concluded from them."""
        return is_void(self.run)

    @property
    def use(self) -> Use | None:
        """Whether the run uses who its user is, over all cases; None for a benchmark that does not ask that."""
        found = self.overall.measures
        return use_of(self.run, {one.heading: found.get(one.key) for one in self.measures if one.ranked}, self.controls)

    def differences(self, group: Group) -> dict[str, Estimate]:
        """The differences to the controls that are there, by name."""
        found = {name: group.measures.get(name.replace(" ", "_")) for name in self.named_controls}
        return {name: value for name, value in found.items() if value is not None}


def report_of(
    run: Run,
    data: RunData,
    controls: Mapping[str, Run] | None = None,
    prices: Prices | None = None,
) -> Report:
    """The report of a run on the data that there are."""
    cases, why_not = data.of(run)
    return make_report(run, cases, controls, why_not, data.texts(run), prices)


def make_report(
    run: Run,
    cases: CaseSet[Any] | None,
    controls: Mapping[str, Run] | None = None,
    no_data: str = "No data were loaded.",
    texts: Examined | None = None,
    prices: Prices | None = None,
) -> Report:
    """The report of one run.

    Args:
        cases: all cases of the available data, other cells included, in which repeats are searched.
            None leaves out what needs the texts.
        controls: value of the control's option -> the same model's run under it.
        texts: result of `ReportSpec.examine`, if it is known.

    Raises:
        RunError: the run has other texts than `cases`, or other prompts than its options ask for; or a
            control is not one of this run.
    """
    spec = run.benchmark.report
    if cases is not None:
        run = checked(run, cases)
        if spec.examine is not None:
            texts = texts or spec.examine(cases, run.cases.keys())
    texts = with_scores(run, texts) if texts else None
    controls = _checked(run, controls or {}, cases)
    whole = Contender(run, controls, texts=texts)
    listed = of_report(whole)
    found = groups_of(run.cases.values(), run.cells, run.benchmark)
    groups = tuple(_group(replace(whole, part=ids), name, cells, listed) for name, cells, ids in found)
    _, cells, ids = found[-1]
    macro = _group(replace(whole, part=ids, plain=True), MACRO, cells, listed) if has_macro(run) else None
    overall = groups[-1]
    shared = {one.baseline: overall.measures.get(one.key) for one in listed if one.kind == "shared"}
    caveats = of_result(run, controls, cases, no_data, overall.measures[run.primary], shared)
    return Report(
        run=run,
        groups=groups,
        macro=macro,
        measures=tuple(one for one in listed if any(one.key in group.measures for group in groups)),
        caveats=tuple(caveats),
        texts=texts or Examined(),
        controls=controls,
        unread=examples(run.results),
        judges=make_judges(run, texts) if texts and spec.compared else None,
        users=_users(run),
        costs=costs(run, controls, prices),
    )


def _group(one: Contender, name: str, cells: Sequence[str], measures: Sequence[Measure]) -> Group:
    run, results = one.run, one.results
    answers = [answer for result in results for answer in result.answers]
    scored = sum(not result.answers for result in results) * len(run.method.calls)
    values = {measure.key: measure.of(one) for measure in measures}
    return Group(
        name=name,
        cases=len(one.ids),
        of=sum(run.cells[cell] for cell in cells),
        replies=len(answers) + scored,
        reasons=dict(sorted(Counter(answer for answer in answers if answer not in run.benchmark.labels).items())),
        measures={key: value for key, value in values.items() if value is not None},
    )


def _checked(run: Run, controls: Mapping[str, Run], cases: CaseSet[Any] | None) -> dict[str, Run]:
    # from the control that is told most
    spec = run.benchmark.report.control
    if spec is None:
        for control in controls.values():
            raise RunError(f"{control.logs[0]}: {run.benchmark.title} has no control. Report the runs separately.")
        return {}
    found = {}
    for value in sorted(controls, key=spec.values.index):
        refuse_other_control(run, controls[value], value)
        found[value] = controls[value] if cases is None else checked(controls[value], cases)
    return found


def _users(run: Run) -> Users | None:
    if is_void(run):
        return None
    cases = run.cases.values()
    return make_users(
        list(run.values(run.primary).values()), [case.user_id for case in cases], [case.cell for case in cases]
    )


def examples(results: Iterable[Result]) -> tuple[Unread, ...]:
    """EXAMPLES unreadable replies: the first of each reason, then the second ones, ..."""
    found: dict[str, list[Unread]] = {}
    for result in sorted(results, key=lambda result: result.case_id):
        for reason, said in result.unread:
            found.setdefault(reason, []).append(Unread(result.case_id, reason, said))
    turns = zip_longest(*(found[reason] for reason in sorted(found)))
    return tuple(one for turn in turns for one in turn if one)[:EXAMPLES]
