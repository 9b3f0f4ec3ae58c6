"""A run -> everything that its report has: every number with its uncertainty, its baselines and its caveats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from ..core.cases import CaseSet
from ..core.report import Examined
from ..core.result import Result
from ..core.usage import Prices
from ..logs.caveat import Caveat
from ..logs.compare import checked
from ..logs.errors import RunError
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import Estimate
from .beside import Beside, make_beside, with_scores
from .caveats import of_result
from .control import gains, named_differences, refuse_other_control
from .costs import RunCost, costs
from .groups import Group, groups_of, has_macro, make_group
from .harm import Harm, harm_of
from .measures import Contender, margin
from .sheet import MACRO, Sheet, make_sheet
from .shortcuts import Shortcuts, make_shortcuts
from .use import EXCESS, Use, excess_over_counting, same_pick, use_of
from .users import Users, make_users
from .void import is_void

EXAMPLES = 5
"""How many unreadable replies a report shows."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that is printed about one run.

    Attributes:
        groups: the cells that were started, and groups of several of them; the last group has them all.
        macro: the last group with the plain mean of its cells.
        texts: baselines and subsets from the texts of the cases; empty without data.
        controls: value of the control's option -> the same model's run under it.
        sheet: the run and its controls; None unless there are controls besides the one for the gain.
        unread: (case, reason, excerpt) of EXAMPLES unreadable replies, of every reason in turn.
        shortcuts: name of a group -> the run beside the baselines; empty without data.
        judges: baselines that answer, and people, with every measure of the run; None without data.
        users: how far the users differ; None with few of them.
        margins: baseline of the model card -> the score minus its, paired by case, over all cases.
        excess: name of a group -> excess over counting terms; empty without data or its control.
        alike: name of a group -> `right minus wrong` of the cases that get the same pick in every order.
        harms: name of a group -> word of `Control.harm` -> answers lost to a message that must change none.
    """

    run: Run
    groups: tuple[Group, ...]
    macro: Group | None
    caveats: tuple[Caveat, ...]
    texts: Examined = field(default_factory=Examined)
    controls: Mapping[str, Run] = field(default_factory=dict)
    sheet: Sheet | None = None
    unread: tuple[tuple[str, str, str], ...] = ()
    shortcuts: Mapping[str, Shortcuts] = field(default_factory=dict)
    judges: Beside | None = None
    users: Users | None = None
    margins: Mapping[str, Estimate] = field(default_factory=dict)
    costs: tuple[RunCost, ...] = ()
    excess: Mapping[str, Estimate] = field(default_factory=dict)
    alike: Mapping[str, Estimate] = field(default_factory=dict)
    harms: Mapping[str, Mapping[str, Harm]] = field(default_factory=dict)

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
        name = self.overall.name
        named = self.sheet.named_in(name) if self.sheet else {}
        return use_of(self.run, {**named, **self.differences(name), EXCESS: self.excess.get(name)}, self.controls)

    def differences(self, name: str) -> dict[str, Estimate]:
        """The differences to the controls that are there, in a group."""
        control = self.run.benchmark.report.control
        found = {} if self.sheet is None else self.sheet.named_in(name)
        for group in self.shown:
            if group.name == name and group.gain is not None and control is not None:
                found |= {
                    difference: group.gain
                    for difference, value in self.named_controls.items()
                    if value == control.value
                }
        return {difference: found[difference] for difference in self.named_controls if difference in found}


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
        controls: value of the control's option -> the same model's run under it: the control, for the gain, and others,
            for a sheet.
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
    control = controls.get(spec.control.value) if spec.control else None
    found = groups_of(run.cases.values(), run.cells, run.benchmark)
    ids_of = {name: ids for name, _, ids in found}
    gain = {name: gains(run, control, ids) if control else {} for name, ids in ids_of.items()}
    groups = tuple(make_group(run, name, cells, ids, texts, gain[name]) for name, cells, ids in found)
    name, cells, ids = found[-1]
    macro = make_group(run, MACRO, cells, ids, texts, gain[name], plain=True) if has_macro(run) else None
    score = groups[-1].measures[run.primary]
    shortcuts = make_shortcuts(run, ids_of, texts) if texts else {}
    has_sheet = len(controls) > (control is not None)
    return Report(
        run=run,
        groups=groups,
        macro=macro,
        caveats=tuple(of_result(run, controls, cases, no_data, score, shortcuts.get(groups[-1].name))),
        texts=texts or Examined(),
        controls=controls,
        sheet=make_sheet(run, controls, list(ids_of.items()), has_macro(run)) if has_sheet else None,
        unread=examples(run.results),
        shortcuts=shortcuts,
        judges=make_beside(run, texts) if texts and spec.compared else None,
        users=_users(run, texts),
        margins=_margins(run, texts) if texts else {},
        costs=costs(run, controls, prices),
        excess=_defined({name: excess_over_counting(run, controls, texts, ids) for name, ids in ids_of.items()}),
        alike=_defined({name: same_pick(run, controls, ids) for name, ids in ids_of.items()}),
        harms={name: _harms({run.setting: run, **controls}, ids) for name, ids in ids_of.items()},
    )


def _defined(estimates: Mapping[str, Estimate | None]) -> dict[str, Estimate]:
    return {name: found for name, found in estimates.items() if found is not None}


def _harms(runs: Mapping[str, Run], ids: Iterable[str]) -> dict[str, Harm]:
    spec = next(iter(runs.values())).benchmark.report.control
    if spec is None or (control := runs.get(spec.value)) is None or is_void(control):
        return {}
    sound = {value: run for value, run in runs.items() if not is_void(run)}
    found = {word: harm_of(sound[value], control, ids) for value, word in spec.harm.items() if value in sound}
    return {word: harm for word, harm in found.items() if harm is not None}


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


def _margins(run: Run, texts: Examined) -> dict[str, Estimate]:
    card, one = run.benchmark.report.card, Contender(run, texts=texts)
    found = {name: margin(name, one) for name in card.baselines} if card and run.cases else {}
    return {name: value for name, value in found.items() if value is not None}


def _users(run: Run, texts: Examined | None) -> Users | None:
    if is_void(run):
        return None
    cases = run.cases.values()
    scores = [case.value(run.primary) for case in cases]
    people = texts.people if texts else {}
    return make_users(scores, [case.user_id for case in cases], [case.cell for case in cases], people)


def examples(results: Iterable[Result]) -> tuple[tuple[str, str, str], ...]:
    """(case, reason, excerpt) of the first unreadable replies: the first of each reason, then the second ones, ..."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for result in sorted(results, key=lambda result: result.case_id):
        for reason, said in result.unread:
            found.setdefault(reason, []).append((result.case_id, reason, said))
    turns = zip_longest(*(found[reason] for reason in sorted(found)))
    return tuple(one for turn in turns for one in turn if one)[:EXAMPLES]
