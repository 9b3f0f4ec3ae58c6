"""The samples of a log -> the answers of its cases, after a check that the log does not contradict itself.

A log passes through many hands. Only the replies are taken as given; everything else is recomputed: the answers from the replies,
the values from the answers, the table of means from the values. Needs no harness.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.answered import CaseAnswers
from ..engine.benchmark import Benchmark
from ..engine.documents import document_digest
from ..engine.judged import Answers
from ..engine.outcome import Outcome, joined
from ..engine.signature import set_of
from ..replies.answers import excerpt
from .run import RunError

TOLERANCE = 1e-9
"""By how much a logged number may differ from ours: sums in another order."""


@dataclass(frozen=True, kw_only=True)
class LoggedCase(Outcome):
    """One case in one epoch, as logged: its targets and answers are the log's, its values follow from them.

    Attributes:
        where: `line 12`, `sample ID`.
        again: the reading of the replies by this version.
        logged: metric -> value, as logged.
        checked: the metrics that `logged` must have too.
    """

    where: str
    again: Answers
    logged: Mapping[str, Any]
    checked: Sequence[str]


def answers_of(
    path: Path, samples: Iterable[LoggedCase], signature: Mapping[str, Any], benchmark: Benchmark
) -> tuple[dict[str, CaseAnswers], int]:
    """(case id -> its answers, number of replies that this version of the reader reads differently from the run's).

    Raises:
        RunError: a case occurs twice in the log, an answer is invalid, or the log contradicts itself.
    """
    cases: dict[str, list[LoggedCase]] = {}
    for sample in samples:
        epochs = cases.setdefault(sample.case_id, [])
        _refuse_unknown(path, sample, signature, benchmark)
        for other in epochs:
            _refuse_twice(path, other, sample)
        epochs.append(sample)
    every = [sample for epochs in cases.values() for sample in epochs]
    differing = [sample for sample in every if sample.answers != sample.again]
    if differing and signature["task_version"] == benchmark.version:
        first = differing[0]
        raise _contradiction(
            path, differing, every, "the answers {}", ", ".join(first.answers), ", ".join(first.again), "its replies"
        )
    for name in dict.fromkeys(name for sample in every[:1] for name in sample.checked):
        wrong = [sample for sample in every if not equal(sample.logged.get(name), sample.values[name])]
        if wrong:
            found, expected = wrong[0].logged.get(name, "nothing"), wrong[0].values[name]
            if signature["task_version"] != benchmark.version:
                raise RunError(
                    f"{path}, {wrong[0].where}: found {name} {found} for {wrong[0].case_id}, expected {expected:g} "
                    f"({len(wrong):,} of {len(every):,} rows disagree). Task version {signature['task_version']} scored the "
                    f"log, {benchmark.version} is installed: score it again (`inspect score`) or run again."
                )
            raise _contradiction(path, wrong, every, f"{name} {{}}", found, f"{expected:g}", "its answers")
    otherwise = sum(a != b for sample in differing for a, b in zip(sample.answers, sample.again, strict=True))
    return {case_id: joined(sorted(epochs, key=lambda one: one.epoch)) for case_id, epochs in cases.items()}, otherwise


def cases_of(path: Path, where: str, document: Mapping[str, Any], answers: int) -> list[tuple[str, str]]:
    """(id, digest) of each case of a document that has several, as logged.

    Args:
        document: its id, digest and cases.
        answers: how many it has.

    Raises:
        RunError: they are not those that were asked, or stand in another order.
    """
    listed = document.get("cases")
    if not isinstance(listed, list) or not all(isinstance(case, dict) for case in listed) or len(listed) != answers:
        found = f"{len(listed)} cases" if isinstance(listed, list) else "no list of cases"
        raise RunError(
            f"{path}, {where}: found {found}, expected one for each of {answers} answers. Use the log as the harness wrote it."
        )
    found_cases = [(case.get("id"), case.get("digest")) for case in listed]
    expected = document_digest(str(document.get("id")), [str(digest) for _, digest in found_cases])
    if document.get("digest") != expected:
        raise RunError(
            f"{path}, {where}: found cases with the digest {expected}, expected {document.get('digest')}: other ones, or in another "
            "order. The log was changed after the run: use it as the harness wrote it, or run again."
        )
    return [(str(name), str(digest)) for name, digest in found_cases]


def refuse_other_number(path: Path, where: str, replies: Sequence[int], calls: int) -> None:
    """Raise RunError unless each call has one reply.

    Args:
        replies: how many each call of a case or document has.
        calls: how many it has.
    """
    if list(replies) != [1] * calls:
        raise RunError(
            f"{path}, {where}: found {sum(replies)} replies to {len(replies)} calls, expected one to each of {calls}. Use the log as the "
            "harness wrote it, or run again."
        )


def unread_of(benchmark: Benchmark, answers: Sequence[Answers], replies: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(reason, excerpt) of each unreadable reply of a document.

    Args:
        answers: of each of its cases. Several cases share one reply: if it is unreadable, all of their answers are.
    """
    said = zip(answers[0], replies, strict=False)  # a killed run may have more answers than replies
    return tuple((answer, excerpt(reply)) for answer, reply in said if answer not in benchmark.labels)


def refuse_other_table(
    path: Path, table: str, printed: Mapping[str, Any], ours: Mapping[str, float], primary: str
) -> None:
    """Raise RunError unless the means that the harness printed are those of the rows.

    Args:
        table: what to call it: a task of lm-eval, or Inspect's results.
        printed: metric -> value; what is not in `ours` is skipped.
        ours: metric -> value, recomputed from the rows.
        primary: the metric that must be printed.
    """
    for name, value in ours.items():
        if name in printed and not equal(printed[name], value):
            raise RunError(
                f"{path}: found {name} {printed[name]} in the table of {table}, expected {value:g} from its samples. "
                "The rows or the table were changed after the run, or belong to two runs: use the files as the harness wrote them."
            )
    if primary in ours and primary not in printed:
        raise RunError(
            f"{path}: found no {primary} in the table of {table}, expected {ours[primary]:g} from its samples. Use the log "
            "as the harness wrote it."
        )


def cells_of(path: Path, signature: Mapping[str, Any], benchmark: Benchmark) -> dict[str, int]:
    """Cell -> its number of cases: the log's claim, checked against the benchmark's sizes unless it says counts=any.

    Raises:
        RunError: a cell or a number that does not exist.
    """
    known, named = benchmark.sizes(signature), set_of(signature)
    cells = tuple(named.counts) if named else benchmark.cells
    found = {cell: entry["cases"] for cell, entry in signature["cells"].items()}
    for cell, count in found.items():
        if cell not in cells or type(count) is not int or count < 0:
            raise RunError(f"{path}: found the cell {cell!r} with {count!r} cases, expected one of {', '.join(cells)}.")
        if signature["counts"] != "any" and count != known.get(cell, count):
            raise RunError(
                f"{path}: found {count:,} as the number of cases of {cell}, expected {known[cell]:,}, "
                f"since the log says counts={signature['counts']}. It was changed after the run; use the log as the harness wrote it."
            )
    return found


def _refuse_unknown(path: Path, sample: LoggedCase, signature: Mapping[str, Any], benchmark: Benchmark) -> None:
    texts = sample.case_id, sample.cell, sample.user_id, sample.digest
    if not all(isinstance(text, str) and text for text in texts):
        raise RunError(
            f"{path}, {sample.where}: found {texts!r}, expected the case's id, cell, user id and digest. Use the log as the "
            "harness wrote it."
        )
    "".join(texts).encode()  # a lone surrogate is a ValueError here, and not while a report is written
    if sample.cell not in signature["cells"]:
        raise RunError(
            f"{path}, {sample.where}: found a case of {sample.cell}, expected one of {', '.join(signature['cells'])}, the cells "
            "of the run. Keep the files of one run together."
        )
    unknown = [answer for answer in sample.answers if answer not in benchmark.answers]
    if unknown:
        raise RunError(
            f"{path}, {sample.where}: found the answer {unknown[0]!r} to {sample.case_id}, expected one of "
            f"{', '.join(benchmark.answers)}. Use the log as the harness wrote it."
        )


def _refuse_twice(path: Path, one: LoggedCase, other: LoggedCase) -> None:
    """Two samples of a case are two epochs of it."""
    if one.epoch == other.epoch:
        raise RunError(
            f"{path}, {other.where}: found {other.case_id} a second time (first: {one.where}), expected each case once. "
            "Which one counts is unclear; use the log as the harness wrote it."
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
        f"{path}, {first.where}: found {what.format(found)} for {first.case_id}, expected {expected} from {source} "
        f"({len(wrong):,} of {len(of):,} rows disagree). The log was changed after the run: use it as the harness wrote it, or "
        "run again."
    )


def equal(found: object, expected: float) -> bool:
    """Whether a logged number is ours; nan is nan."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return False
    return math.isclose(found, expected, rel_tol=0, abs_tol=TOLERANCE) or (math.isnan(found) and math.isnan(expected))
