"""A run -> its report: every number with its uncertainty, its baselines, its caveats and its signature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from ..analysis.aspects import Aspects, make_aspects
from ..analysis.control import gains, refuse_other_control
from ..analysis.groups import Group, groups_of, has_macro, make_group
from ..analysis.sheet import MACRO, Sheet, make_sheet
from ..analysis.shortcuts import Shortcuts, make_shortcuts
from ..analysis.users import Users, make_users
from ..common.strict_json import jsonable
from ..engine.cases import CaseSet
from ..engine.outcome import ScoredCase
from ..engine.report import Examined, Published
from ..runs.asked import checked
from ..runs.run import Run, RunError
from ..runs.signature_line import signature_line
from . import caveats
from .baselines import Beside, make_beside, with_scores


@dataclass(frozen=True)
class Report:
    """Everything that is printed about one run.

    Attributes:
        run: what was read.
        groups: the cells that were started, and groups of several of them; the last group has them all.
        macro: the last group with the plain mean of its cells, see `ReportSpec.macro`.
        caveats: what a reader must know before the numbers; the first ones forbid conclusions.
        ceiling: name of a group -> highest value of a judge, from the texts of the data; ceiling_note: in a sentence.
        labels: name of a subset -> its label.
        signature: one line that goes with every number.
        audit_version: of the audit of the texts; empty without data.
        beside: value of the control's option -> the same model's run under it.
        sheet: the run and those beside it; None where that is the control alone, or nothing.
        published: what others published, if asked for.
        unread: (case, reason, excerpt) of some unreadable replies, of every reason in turn; see EXAMPLES.
        aspects: of a reward model with several outputs.
        shortcuts: name of a group -> the run beside the baselines; empty without data.
        judges: baselines that answer, and people, with every measure of the run; None without data.
        covariate: what its adjusted score is, in words: `at equal length`.
        users: how far the users differ; None with few of them.
    """

    run: Run
    groups: tuple[Group, ...]
    caveats: tuple[str, ...]
    ceiling: Mapping[str, float]
    ceiling_note: str
    labels: Mapping[str, str]
    signature: str
    audit_version: str = ""
    beside: Mapping[str, Run] = field(default_factory=dict)
    macro: Group | None = None
    sheet: Sheet | None = None
    published: Published | None = None
    unread: tuple[tuple[str, str, str], ...] = ()
    aspects: Aspects | None = None
    shortcuts: Mapping[str, Shortcuts] = field(default_factory=dict)
    judges: Beside | None = None
    covariate: str = ""
    users: Users | None = None

    @property
    def above(self) -> tuple[str, ...]:
        """What goes above the table, most important first."""
        return (*self.caveats, *([self.ceiling_note] if self.ceiling_note else []))

    @property
    def signatures(self) -> dict[str, str]:
        """Value of the control's option -> the signature of the run under it, of the runs beside this one."""
        return {value: signature_line(run) for value, run in self.beside.items()}

    @property
    def shown(self) -> tuple[Group, ...]:
        """The columns of a table."""
        return (*self.groups, *([self.macro] if self.macro else []))

    @cached_property
    def by_name(self) -> dict[str, Group]:
        """Name -> group."""
        return {group.name: group for group in self.groups}

    @property
    def overall(self) -> Group:
        """The group of all cases of the run."""
        return self.groups[-1]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON; nan becomes None."""
        return jsonable(
            {
                "model": self.run.model,
                "signature": self.signature,
                "beside": self.signatures,
                "partial": self.run.partial,
                "left_out": self.run.left_out,
                "demonstration": self.run.signature["demonstration"],
                "set": self.run.named_set.name if self.run.named_set else None,
                "caveats": self.caveats,
                "unread": [{"case": case, "reason": reason, "reply": reply} for case, reason, reply in self.unread],
                "ceiling": self.ceiling,
                "groups": {group.name: asdict(group) for group in self.groups},
                "macro": asdict(self.macro) if self.macro else None,
                "shortcuts": {name: asdict(found) for name, found in self.shortcuts.items()},
                "judges": self.judges.as_dict() if self.judges else None,
                "users": asdict(self.users) if self.users else None,
                "settings": self.sheet.as_dict() if self.sheet else None,
                "published": _published(self.published) if self.published else None,
                **({"aspects": asdict(self.aspects)} if self.aspects else {}),
            }
        )


def make_report(
    run: Run,
    cases: CaseSet[Any] | None,
    beside: Mapping[str, Run] | None = None,
    no_cases: str = "No data were loaded.",
    published: Published | None = None,
    texts: Examined | None = None,
) -> Report:
    """The report of one run.

    Args:
        run: from `runs.read.read_runs`.
        cases: all cases of the available data, other cells included, in which repeats are searched.
            None leaves out what needs the texts.
        beside: value of the control's option -> the same model's run under it: the control, for the gain, and others, for a
            sheet (see `Control.others`).
        no_cases: why `cases` is None, for the caveats.
        published: what others published, to be shown beside.
        texts: what `ReportSpec.examine` says of the cases, where it was asked before.

    Raises:
        RunError: the run has other texts than `cases`, or other prompts than its options ask for; its cases have different aspects, or the control is not one of this run.
    """
    benchmark = run.benchmark
    if cases is not None:
        run = checked(run, cases)
    known = list(caveats.of_run(run))
    if cases is not None:
        known += caveats.of_data(run, cases)
    spec, beside = benchmark.report.control, _in_order(run, beside or {})
    control = beside.get(spec.value) if spec else None
    for value, other in beside.items():
        refuse_other_control(run, other, value)
        if cases is not None:
            beside[value] = other = checked(other, cases)
        known += caveats.of_control(other, value)
    if cases is None:
        unchecked = ", and the number of cases per cell was not checked" if run.signature["counts"] == "any" else ""
        known.append(f"{no_cases} So there are no baselines and nothing else from the texts{unchecked}. Pass --data.")
    elif benchmark.report.examine is not None:
        texts = texts or benchmark.report.examine(cases, run.cases.keys())
    texts = with_scores(run, texts) if texts else None
    gain = {} if control is None else gains(run, control)
    if gain and len(gain) < len(run.cases):
        assert spec is not None  # refused above
        known.append(
            f"The {spec.gain} covers the {len(gain):,} of {len(run.cases):,} cases that the control also answered."
        )

    def group(name: str, ids: Sequence[str], cells: Sequence[str], plain: bool = False) -> Group:
        of, there = sum(run.cells[cell] for cell in cells), [run.cases[case_id] for case_id in ids]
        return make_group(benchmark, name, there, of, texts, gain, len(run.method.calls), plain)

    found = groups_of(run.cases.values(), run.cells, benchmark)
    groups = tuple(group(name, ids, cells) for name, cells, ids in found)
    macro = None
    if has_macro(run):
        _, cells, ids = found[-1]
        macro = group(MACRO, ids, cells, plain=True)
    known += caveats.of_interval(groups[-1].measures[benchmark.report.primary])
    of_group = {name: ids for name, _, ids in found}
    shortcuts = make_shortcuts(run.cases, of_group, benchmark.report, texts) if texts else {}
    first = list(caveats.of_missing(run))
    known = [
        *first,
        *caveats.of_shortcuts(shortcuts.get(groups[-1].name), benchmark.report.shortcuts),
        *known[len(first) :],
    ]
    ceiling = texts.ceiling if texts else {}
    places = ", ".join(f"{name} {100 * value:.1f}" for name, value in ceiling.items())
    return Report(
        run, groups, tuple(known), ceiling, texts.ceiling_note.format(places) if texts and ceiling else "",
        {name: label for name, (label, _) in texts.subsets.items()} if texts else {},
        signature_line(run, texts.version if texts else ""), texts.version if texts else "", beside, macro,
        make_sheet(run, beside, [(name, ids) for name, _, ids in found], has_macro(run)) if len(beside) > bool(control) else None,
        published,
        examples(run.cases.values()),
        make_aspects(run, of_group, published.aspects if published else None), shortcuts,
        make_beside(run, texts) if texts and benchmark.report.compared else None,
        texts.covariate.equal if texts and texts.covariate else "", _users(run, texts),
    )  # fmt: skip


def _published(published: Published) -> dict[str, Any]:
    figures = {shown.title: values for shown, values in published.figures}
    return {"why": published.why, "rows": published.rows, "figures": figures}


def _in_order(run: Run, beside: Mapping[str, Run]) -> dict[str, Run]:
    """From the run that is told most. Raises RunError if the benchmark has no control."""
    spec = run.benchmark.report.control
    if spec is None:
        for other in beside.values():
            raise RunError(f"{other.logs[0]}: {run.benchmark.title} has no control. Report the runs separately.")
        return {}
    order = (*spec.others, spec.value)
    return dict(sorted(beside.items(), key=lambda item: order.index(item[0])))


def _users(run: Run, texts: Examined | None) -> Users | None:
    cases = list(run.cases.values())
    primary = [case.value(run.benchmark.report.primary) for case in cases]
    people = texts.people if texts else {}
    return make_users(primary, [case.user_id for case in cases], [case.cell for case in cases], people)


EXAMPLES = 5
"""How many unreadable replies a report shows."""


def examples(cases: Iterable[ScoredCase]) -> tuple[tuple[str, str, str], ...]:
    """(case, reason, excerpt) of the first unreadable replies: the first one of each reason, then the second ones, ..."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for case in sorted(cases, key=lambda case: case.case_id):
        for reason, said in (reply for outcome in case for reply in outcome.unread):
            found.setdefault(reason, []).append((case.case_id, reason, said))
    turns = zip_longest(*(found[reason] for reason in sorted(found)))
    return tuple(one for turn in turns for one in turn if one)[:EXAMPLES]
