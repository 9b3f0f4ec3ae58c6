"""The samples of a log -> its rows, once nothing in the log contradicts anything else in it.

A log passes through many hands. What was said is the reply; everything else in it is worked out again: the answers from the replies,
the values from the answers, the table of means from the values. Needs no harness.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import TASK_VERSION
from ..common.statistics import mean
from ..personafeedback.release import PAPER_COUNTS, SAMPLE_CASES_PER_CELL
from ..replies.answers import LETTERS, REASONS, joined
from .run import Answers, Row, RunError

TOLERANCE = 1e-9
"""By how much a logged number may differ from ours: sums in another order."""


@dataclass(frozen=True)
class LoggedCase:
    """One case in one epoch, as a log has it.

    Attributes:
        where: `line 12`, `sample general_hard:7`.
        case_id, cell, user_id, digest: see `dataset.Case`.
        epoch: from 1.
        answers: what the log says that the replies were read to; empty for a reward model.
        again: what this version reads in the replies.
        values: metric -> value, as logged.
        follow: metric -> value, as it follows from the answers, the log-likelihoods or the rewards. All are to be in `values`.
        unread: see `runs.Row`.
        further: what follows and is not logged.
    """

    where: str
    case_id: str
    cell: str
    user_id: str
    digest: str
    epoch: int
    answers: Answers
    again: Answers
    values: Mapping[str, Any]
    follow: Mapping[str, float]
    unread: tuple[tuple[str, str], ...] = ()
    further: Mapping[str, float] | None = None


def rows_of(path: Path, samples: Iterable[LoggedCase], signature: Mapping[str, Any]) -> tuple[dict[str, Row], int]:
    """(case id -> row, number of replies that this version of the reader reads otherwise than the one of the run).

    Raises:
        RunError: a case stands twice in the log, an answer is none, or one thing in the log contradicts another.
    """
    cases: dict[str, list[LoggedCase]] = {}
    for sample in samples:
        epochs = cases.setdefault(sample.case_id, [])
        _refuse_unknown(path, sample, signature)
        for other in epochs:
            _refuse_twice(path, other, sample)
        epochs.append(sample)
    every = [sample for epochs in cases.values() for sample in epochs]
    differing = [sample for sample in every if sample.answers != sample.again]
    if differing and signature["task_version"] == TASK_VERSION:
        raise _contradiction(
            path, differing, every, "the answers {}", joined(differing[0].answers), joined(differing[0].again), "its replies"
        )  # fmt: skip
    for name in dict.fromkeys(name for sample in every[:1] for name in sample.follow):
        wrong = [sample for sample in every if not _equal(sample.values.get(name), sample.follow[name])]
        if wrong:
            found, expected = wrong[0].values.get(name, "nothing"), wrong[0].follow[name]
            raise _contradiction(path, wrong, every, f"{name} {{}}", found, f"{expected:g}", "its answers")
    otherwise = sum(a != b for sample in differing for a, b in zip(sample.answers, sample.again, strict=True))
    return {case_id: _row(sorted(epochs, key=lambda one: one.epoch)) for case_id, epochs in cases.items()}, otherwise


def _row(epochs: Sequence[LoggedCase]) -> Row:
    one = epochs[0]
    known = [{**epoch.follow, **(epoch.further or {})} for epoch in epochs]
    symmetric, chosen = (
        mean(values[name] for values in known) if name in known[0] else None for name in ("acc_sym", "p_chosen")
    )
    return Row(
        one.case_id, one.cell, one.user_id, one.digest,
        answers=tuple(epoch.answers for epoch in epochs if epoch.answers),
        acc_sym=symmetric,
        p_chosen=chosen,
        rewards=tuple((epoch.follow["acc"], epoch.follow["tie"]) for epoch in epochs if not epoch.answers),
        unread=tuple(found for epoch in epochs for found in epoch.unread),
    )  # fmt: skip


def refuse_other_table(path: Path, table: str, printed: Mapping[str, Any], ours: Mapping[str, float]) -> None:
    """Raise RunError unless the means that the harness printed are those of the rows.

    Args:
        table: what to call it: a task of lm-eval, or Inspect's results.
        printed: metric -> value; what is not in `ours` is passed over.
        ours: metric -> value, recomputed from the rows.
    """
    for name, value in ours.items():
        if name in printed and not _equal(printed[name], value):
            raise RunError(
                f"{path}: found {name} {printed[name]} in the table of {table}, expected {value:g}, which its samples give. "
                "Rows or table were changed after the run, or belong to two runs: use the files as the harness wrote them."
            )
    if "acc" not in printed:
        raise RunError(
            f"{path}: found no acc in the table of {table}, expected {ours['acc']:g}, which its samples give. Use the log as "
            "the harness wrote it."
        )


def cells_of(path: Path, signature: Mapping[str, Any]) -> dict[str, int]:
    """Cell -> number of cases that it has: what the log claims, held against the paper's Table 2 where it says that it was.

    Raises:
        RunError: a cell or a number that does not exist.
    """
    known = {f"{category}_{difficulty}": count for (category, difficulty), count in PAPER_COUNTS.items()}
    if signature["demonstration"]:
        known = dict.fromkeys(known, SAMPLE_CASES_PER_CELL)
    found = {cell: entry["cases"] for cell, entry in signature["cells"].items()}
    for cell, count in found.items():
        if cell not in known or type(count) is not int or count < 0:
            raise RunError(f"{path}: found the cell {cell!r} with {count!r} cases, expected one of {', '.join(known)}.")
        if signature["counts"] == "table2" and count != known[cell]:
            raise RunError(
                f"{path}: found {count:,} as the number of cases of {cell}, expected {known[cell]:,} (Table 2 of the paper), "
                "since the log says counts=table2. It was changed after the run; use the log as the harness wrote it."
            )
    return found


def _refuse_unknown(path: Path, sample: LoggedCase, signature: Mapping[str, Any]) -> None:
    texts = sample.case_id, sample.cell, sample.user_id, sample.digest
    if not all(isinstance(text, str) and text for text in texts):
        raise RunError(
            f"{path}, {sample.where}: found {texts!r}, expected the case's id, cell, user id and digest. Use the log as the "
            "harness wrote it."
        )
    "".join(texts).encode()  # half a surrogate pair is a ValueError here, and not while a report is written
    if sample.cell not in signature["cells"]:
        raise RunError(
            f"{path}, {sample.where}: found a case of {sample.cell}, expected one of {', '.join(signature['cells'])}, the cells "
            "of the run. Keep the files of one run together."
        )
    unknown = [answer for answer in sample.answers if answer not in (*LETTERS, *REASONS)]
    if unknown:
        raise RunError(
            f"{path}, {sample.where}: found the answer {unknown[0]!r} to {sample.case_id}, expected one of "
            f"{', '.join((*LETTERS, *REASONS))}. Use the log as the harness wrote it."
        )


def _refuse_twice(path: Path, one: LoggedCase, other: LoggedCase) -> None:
    """Two samples of a case are two epochs of it."""
    if one.epoch == other.epoch:
        raise RunError(
            f"{path}, {other.where}: found {other.case_id} a second time (first: {one.where}), expected each case once. "
            "Which of the two counts cannot be known; use the log as the harness wrote it."
        )
    if (one.cell, one.user_id, one.digest) != (other.cell, other.user_id, other.digest):
        raise RunError(
            f"{path}, {other.where}: found {other.case_id} with another cell, user or digest than in epoch {one.epoch}, "
            "expected the same case in every epoch. Use the log as the harness wrote it."
        )


def _contradiction(
    path: Path,
    wrong: Sequence[LoggedCase],
    of: Sequence[LoggedCase],
    what: str,
    found: object,
    expected: object,
    source: str,
) -> RunError:
    first = wrong[0]
    return RunError(
        f"{path}, {first.where}: found {what.format(found)} for {first.case_id}, expected {expected}, which {source} give "
        f"({len(wrong):,} of {len(of):,} rows disagree). The log was changed after the run: use it as the harness wrote it, or "
        "run again."
    )


def _equal(found: object, expected: float) -> bool:
    """Whether a logged number is ours; nan is nan."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return False
    return math.isclose(found, expected, rel_tol=0, abs_tol=TOLERANCE) or (math.isnan(found) and math.isnan(expected))
