"""A run -> what may be said about it: every number with its uncertainty, its baselines, its caveats and its signature."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from ..common.statistics import Estimate, estimate
from ..personafeedback.audit import AUDIT_VERSION, audit
from ..personafeedback.baselines import BASELINES, acc_of
from ..personafeedback.case_values import MEASURES, CaseValues, case_values
from ..personafeedback.cases import Case, CaseSet, columns
from ..personafeedback.conversations import SIDES
from ..personafeedback.signature import signature_line
from ..replies.answers import LETTERS
from ..runs.run import Row, Run, RunError
from .caveats import cautions, caveats
from .control import control_cautions, gains, refuse_other_control


@dataclass(frozen=True)
class Group:
    """One column of a report: a cell, a category, or all.

    Attributes:
        name: `general_hard`, `general`, `total`.
        cases: answered cases; `of` is how many the data have.
        replies: number of replies read, or of responses that a reward model scored; `reasons` counts the unreadable ones by reason.
        measures: name of CaseValues -> estimate over the cases.
        preference_fairness: bias_second - bias_first, in [-1, 1]: 0 is fair, below it the first place is preferred.
            It is the score of Shi et al. (arXiv 2406.07791), whose count times share of inconsistent pairs, scaled by
            its extremes, comes to this difference for two orders; here over the pairs with both replies readable.
        baselines: name -> accuracy on the same cases; empty without data.
        subsets: `not_flagged` (by the audit: repeats, contradictions, debris), `chosen_longer` and `chosen_shorter`
            -> accuracy on those cases; empty without data.
        persona_gain: acc minus that of the no_persona control on the same cases; None without a control.
    """

    name: str
    cases: int
    of: int
    replies: int
    reasons: Mapping[str, int]
    measures: Mapping[str, Estimate]
    preference_fairness: float
    baselines: Mapping[str, Estimate]
    subsets: Mapping[str, Estimate]
    persona_gain: Estimate | None = None


@dataclass(frozen=True)
class Report:
    """All that is printed about one run.

    Attributes:
        run: what was read.
        groups: the cells that were begun, each category and the total where they hold more than one of them.
        notes: what a reader must know before the numbers; the first ones forbid conclusions.
        ceiling: category or `total` -> highest accuracy of a judge that ignores order, from the audit.
        signature: one line that belongs to every number.
        control: the no_persona run, if there is one.
        unread: (case, reason, excerpt) of some unreadable replies, of every reason in turn; see EXAMPLES.
    """

    run: Run
    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    ceiling: Mapping[str, float]
    signature: str
    control: Run | None = None
    unread: tuple[tuple[str, str, str], ...] = ()

    @property
    def control_signature(self) -> str | None:
        return None if self.control is None else signature_line(self.control)

    @cached_property
    def by_name(self) -> dict[str, Group]:
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
                "control": self.control_signature,
                "partial": self.run.partial,
                "demonstration": self.run.signature["demonstration"],
                "notes": self.notes,
                "unread": [{"case": case, "reason": reason, "reply": reply} for case, reason, reply in self.unread],
                "ceiling": self.ceiling,
                "groups": {group.name: asdict(group) for group in self.groups},
            }
        )


def make_report(
    run: Run, cases: CaseSet | None, control: Run | None = None, no_cases: str = "No data were looked for."
) -> Report:
    """The report of one run.

    Args:
        run: from `runs.read_runs`.
        cases: all cases of the data that are at hand, also of other cells: the audit looks for repeats among them.
            None leaves out what needs the texts.
        control: a no_persona run of the same model, for the persona gain.
        no_cases: why `cases` is None, for the notes.

    Raises:
        RunError: the run was asked other texts than `cases` holds, or the control is no control of this run.
    """
    notes = list(caveats(run))
    if cases is not None:
        refuse_other_data(run, cases)
    if control is not None:
        refuse_other_control(run, control)
        if cases is not None:
            refuse_other_data(control, cases)
        notes += control_cautions(control)
    if run.rows is None:
        return _without_samples(run, notes)
    texts = None if cases is None else _Texts(cases, run.rows.keys())
    if texts is None:
        unchecked = ", and nobody checked how many cases a cell has" if run.signature["counts"] != "table2" else ""
        notes.append(f"{no_cases} So there are no baselines, no audit and no split by length{unchecked}. Pass --data.")
    gain = {} if control is None else gains(run, control)
    if gain and len(gain) < len(run.rows):
        notes.append(
            f"The persona gain is over the {len(gain):,} of {len(run.rows):,} cases that the control answered too."
        )
    values = {case_id: case_values(row) for case_id, row in run.rows.items()}
    groups = tuple(
        _group(
            name, [run.rows[case_id] for case_id in ids], values, sum(run.cells[cell] for cell in cells), texts, gain
        )
        for name, cells, ids in groups_of(run.rows.values(), run.cells)
    )
    notes += cautions(groups[-1].measures["acc"])
    return Report(
        run, groups, tuple(notes), {} if texts is None else texts.ceiling, signature_line(run, AUDIT_VERSION if texts else None),
        control, examples(run.rows.values()),
    )  # fmt: skip


EXAMPLES = 5
"""How many unreadable replies a report shows."""


def examples(rows: Iterable[Row]) -> tuple[tuple[str, str, str], ...]:
    """(case, reason, excerpt) of the first unreadable replies: the first one of each reason, then the second ones, ..."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for row in sorted(rows, key=lambda row: row.case_id):
        for reason, said in row.unread:
            found.setdefault(reason, []).append((row.case_id, reason, said))
    turns = zip_longest(*(found[reason] for reason in sorted(found)))
    return tuple(one for turn in turns for one in turn if one)[:EXAMPLES]


class _Texts:
    """What the texts of the cases add to the answers."""

    def __init__(self, cases: CaseSet, asked: Collection[str]) -> None:
        found = audit(cases)
        self.case_of: dict[str, Case] = {case.id: case for case in cases if case.id in asked}
        self.acc_of = acc_of(self.case_of.values())
        self.flagged = found.flagged
        self.ceiling = found.ceilings

    def baselines(self, rows: Sequence[Row], users: Sequence[str]) -> dict[str, Estimate]:
        return {name: estimate([self.acc_of[row.case_id][name] for row in rows], users) for name in BASELINES}

    def subsets(self, rows: Sequence[Row], acc: Sequence[float], users: Sequence[str]) -> dict[str, Estimate]:
        def longer(row: Row) -> int:
            case = self.case_of[row.case_id]
            return len(case.chosen) - len(case.rejected)

        belongs: dict[str, Callable[[Row], bool]] = {
            "not_flagged": lambda row: row.case_id not in self.flagged,
            "chosen_longer": lambda row: longer(row) > 0,
            "chosen_shorter": lambda row: longer(row) < 0,
        }
        return {
            name: estimate([a if inside(row) else math.nan for row, a in zip(rows, acc, strict=True)], users)
            for name, inside in belongs.items()
        }


def groups_of(rows: Iterable[Row], begun: Iterable[str] = ()) -> list[tuple[str, list[str], list[str]]]:
    """(name, its cells, ids of its answered cases in order) of every cell, and of what holds more than one of them.

    Args:
        rows: the answered cases.
        begun: cells that are to appear even if none of their cases is answered.
    """
    ids: dict[str, list[str]] = {cell: [] for cell in begun}
    for row in rows:
        ids.setdefault(row.cell, []).append(row.case_id)
    return [
        (name, cells, sorted(case_id for cell in cells for case_id in ids[cell]))
        for name, cells in columns(ids).items()
    ]


def _group(
    name: str,
    rows: Sequence[Row],
    values: Mapping[str, CaseValues],
    of: int,
    texts: _Texts | None,
    gain: Mapping[str, float],
) -> Group:
    users = [row.user_id for row in rows]
    measures = {
        measure: estimate([getattr(values[row.case_id], measure) for row in rows], users) for measure in MEASURES
    }
    answers = [answer for row in rows for epoch in row.answers for answer in epoch]
    acc = [values[row.case_id].acc for row in rows]
    return Group(
        name=name,
        cases=len(rows),
        of=of,
        replies=len(answers) + sum(len(row.rewards) * len(SIDES) for row in rows),
        reasons=dict(sorted(Counter(answer for answer in answers if answer not in LETTERS).items())),
        measures=measures,
        preference_fairness=measures["bias_second"].value - measures["bias_first"].value,
        baselines=texts.baselines(rows, users) if texts else {},
        subsets=texts.subsets(rows, acc, users) if texts else {},
        persona_gain=estimate([gain.get(row.case_id, math.nan) for row in rows], users) if gain else None,
    )


def refuse_other_data(run: Run, cases: CaseSet) -> None:
    """Raise RunError unless every answer was given to the very texts that `cases` holds, and each case is the cell's and user's there."""
    case_of = {case.id: case for case in cases}
    for cell, size in run.cells.items():
        if (here := len(cases.cells.get(cell, ()))) != size:
            raise RunError(
                f"{run.logs[0]}: found {size:,} as the number of cases of {cell}, expected {here:,}, as {cases.release.source} has it. "
                "Pass --data with the data of the run (its log names them), or run again."
            )
    for name, meaning in (
        ("digest", "were asked with other texts"),
        ("cell", "are of another cell"),
        ("user_id", "are of another user"),
    ):
        wrong = [
            row
            for row in (run.rows or {}).values()
            if getattr(case_of.get(row.case_id), name, None) != getattr(row, name)
        ]
        if wrong:
            row, there = wrong[0], getattr(case_of.get(wrong[0].case_id), name, "no such case")
            raise RunError(
                f"{run.logs[0]}: {len(wrong):,} of {len(run.rows or {}):,} cases {meaning} than in "
                f"{cases.release.source}; the first is {row.case_id}, found {getattr(row, name)}, expected {there}. Pass --data with "
                "the data of the run (its log names them), or run again."
            )


def _without_samples(run: Run, notes: list[str]) -> Report:
    """What the harness's own table says. There are no answers, so nothing can be computed."""
    notes.append(
        "The log holds no samples (--log_samples in lm-eval; --no-log-samples was given in Inspect). So these are the "
        "harness's own means; there are no intervals, no reasons of unreadable replies, no position bias by place, no "
        "baselines on the same cases, no audit, no split by length and no persona gain."
    )
    groups = []
    for name, cells, _ in groups_of((), run.cells):
        if set(cells) <= run.totals.keys() and (cases := sum(run.answered[cell] for cell in cells)):
            measures = {measure: _printed(run, cells, measure) for measure in MEASURES}
            of = sum(run.cells[cell] for cell in cells)
            groups.append(Group(name, cases, of, 0, {}, measures, math.nan, {}, {}))
    if not groups:
        raise RunError(
            f"{run.logs[0]}: found neither samples nor a table of results in it. The run did not finish; run it again."
        )
    return Report(run, tuple(groups), tuple(notes), {}, signature_line(run))


_OF_EVERY_CASE = ("acc", "acc_both", "invalid", "acc_sym", "tie")
"""The measures that leave no case out, so that those of some cells give that of all."""


def _printed(run: Run, cells: Sequence[str], measure: str) -> Estimate:
    """A measure of some cells as far as it follows from what the harness printed for each; a standard error for a single one."""
    weights = {cell: run.answered[cell] for cell in cells}
    value = stderr = math.nan
    if measure in _OF_EVERY_CASE or len(cells) == 1:
        value = sum(run.totals[cell].get(measure, math.nan) * w for cell, w in weights.items()) / sum(weights.values())
    if measure == "acc" and len(cells) == 1:
        stderr = run.totals[cells[0]].get("acc_se_user", math.nan)
    return Estimate(value, stderr, math.nan, math.nan, sum(weights.values()), 0)


def jsonable(value: Any) -> Any:
    """nan, which JSON does not have, becomes None."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    return value
