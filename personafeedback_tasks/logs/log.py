"""What a reader gives of a log, unchecked: its samples, and what it says of the run.

A reader knows the files of one harness. Replies from elsewhere are for `score-replies`.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..common.errors import require
from ..core.benchmark import SETTINGS, Benchmark, find
from ..core.method import Evidence, Method
from ..core.result import Result
from ..core.signature import Signature, SignatureError, signatures
from ..core.thinking import marked_if_open, shows_thinking
from ..core.usage import UNCOUNTED, Usage
from .errors import AS_WRITTEN, UNFINISHED, ForeignError, RunError, refused
from .prompts import Asked
from .run import Run

INVALIDATED = "invalidated"
"""Mark of a sample that somebody took out with Inspect's own means."""


class Sample(Struct):
    """The calls about one case, or about a document of several, under one setting in one epoch.

    Attributes:
        where: the file, and the line or sample in it.
        cases: without answers; empty for a marked sample that has no score.
        evidence: one per call.
        usage: of each call that was made and billed, or of all together.
        mark: why it does not count; empty if it does.
        asked: its prompts; None where nobody may ask for them.
    """

    where: str
    id: str
    setting: str
    cases: Sequence[Result]
    evidence: Sequence[Evidence] = ()
    usage: Sequence[Usage] = (UNCOUNTED,)
    mark: str = ""
    asked: Asked | None = None


@dataclass(frozen=True, kw_only=True)
class Log:
    """The samples of one task, or of several that were asked alike, as where a harness runs each cell as a task.

    Attributes:
        runs: one per setting, without results.
        samples: of all settings.
        completed: samples that the log says were answered, in all epochs; 0 where it does not.
        epochs: how many the log says were asked.
        invalidated: whether the log is marked as a whole.
        max_tokens: limit on the new tokens of a reply; 0 for the method's own.
    """

    runs: Sequence[Run]
    samples: Sequence[Sample]
    completed: int = 0
    epochs: int = 1
    invalidated: bool = False
    max_tokens: int = 0

    @property
    def path(self) -> Path:
        return self.runs[0].logs[0]


def in_short(samples: Iterable[Sample], texts: bool = False) -> list[Sample]:
    """The samples. Without `texts` only the first under each setting keeps those of its prompts, see `Asked`."""
    found, kept = [], set()
    for sample in samples:
        if sample.asked and sample.setting in kept:
            sample.asked.calls = [*map(hash, sample.asked.calls)]
        elif sample.asked and sample.asked.calls and not texts:
            kept.add(sample.setting)
        found.append(sample)
    return found


def cases_in(
    where: str,
    benchmark: Benchmark,
    method: Method,
    settings: Sequence[str],
    logged: Mapping[str, Any],
    epoch: int = 1,
) -> list[list[Result]]:
    """`Benchmark.logged_cases` of a sample.

    Raises:
        RunError: it was not asked under the settings of its log, or its right answers are not those that it must have.
    """
    if (found := logged.get(SETTINGS) or [""]) != settings:
        expected = f"{', '.join(settings)} as in the signature of the log"
        raise refused(where, f"the settings {', '.join(map(str, found))}", expected, AS_WRITTEN)
    try:
        return benchmark.logged_cases(method, logged, epoch)
    except ValueError as error:
        raise RunError(f"{where}: {error}. {AS_WRITTEN}") from error


@dataclass(frozen=True)
class Reader:
    """Reads the logs of a harness.

    Attributes:
        owns: (the first bytes of a file, at most 4,096) -> whether it is such a log.
        open: (file, whether every sample keeps the texts of its prompts, samples files beside it to read; empty for
            all) -> its logs, several where its tasks were asked in several ways. Raises RunError.
        suffixes: the ends of the names of such logs in a folder, not of files that they bring along.
    """

    owns: Callable[[bytes], bool]
    open: Callable[[Path, bool, Collection[Path]], Sequence[Log]]
    suffixes: tuple[str, ...]


def _open_inspect(path: Path, texts: bool, only: Collection[Path]) -> Sequence[Log]:
    require("inspect_ai", extra="inspect")
    from .inspect_log import opened  # takes Inspect, which is imported once there is such a log

    return opened(path, texts)


def _open_lm_eval(path: Path, texts: bool, only: Collection[Path]) -> Sequence[Log]:
    from .lm_eval_log import opened

    return opened(path, texts, only)


def _of_inspect(head: bytes) -> bool:
    return head.startswith(b"PK") or (_json(head) and b'"eval"' in head and b'"version"' in head[:64])


def _of_lm_eval(head: bytes) -> bool:
    return _json(head) and (b'"doc_id"' in head[:64] or b'"results"' in head[:64])


def _json(head: bytes) -> bool:
    return head.lstrip().startswith(b"{")


READERS = (
    Reader(_of_inspect, _open_inspect, (".eval", ".json")),
    Reader(_of_lm_eval, _open_lm_eval, (".json",)),
)


# the first bytes of a text -> its encoding, its name in Python
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: ("UTF-8", "utf-8-sig"),
    codecs.BOM_UTF16_LE: ("UTF-16", "utf-16"),
    codecs.BOM_UTF16_BE: ("UTF-16", "utf-16"),
}


def reader_of(path: Path) -> Reader | None:
    """The reader of a file, by its content; None for a file that is no log. Raises RunError for an empty file."""
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise RunError(f"{path}: could not be read ({error.strerror}). Check the path.") from error
    if not head.strip():
        raise RunError(f"{path}: found an empty file, expected a log. The run is perhaps {UNFINISHED}.")
    for mark, (name, encoding) in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark) and any(reader.owns(head.decode(encoding, "ignore").encode()) for reader in READERS):
            raise RunError(
                f"{path}: found a log in {name} with a byte order mark, as some shells and editors convert a file, "
                f"expected UTF-8 without one. {AS_WRITTEN}"
            )
    return next((reader for reader in READERS if reader.owns(head)), None)


def open_logs(path: Path, texts: bool = False, only: Collection[Path] = ()) -> Sequence[Log]:
    """A file's logs, unchecked: one for each way in which its tasks were asked.

    If a reply shows thinking, the others of its log are read in view of that, see `core.thinking`.

    Args:
        texts: keep the texts of all prompts.
        only: the samples files to read of those beside a results file; empty for all.

    Raises:
        RunError: the file cannot be read, is empty, or is no log.
    """
    reader = reader_of(path)
    if reader is None:
        raise RunError(
            f"{path}: found no log, expected an Inspect log (.eval, .json), or a results_*.json or samples_*.jsonl of "
            "lm-eval."
        )
    logs = reader.open(path, texts, only)
    for log in logs:
        if shows_thinking(given for sample in log.samples for given in sample.evidence):
            method = log.runs[0].method
            for sample in log.samples:
                sample.evidence = [marked_if_open(given, method, log.max_tokens) for given in sample.evidence]
    return logs


def samples_of(run: Run, texts: bool = False) -> list[Sample]:
    """The samples of a run's logs, which are read again.

    Args:
        texts: keep the texts of all prompts.
    """
    # a results file of lm-eval brings the samples files of the run
    files = [path for path in run.logs if path.suffix != ".jsonl"] or run.logs
    setting, found = run.setting, []
    for path in files:
        for log in open_logs(path, texts, run.logs):
            found += [sample for sample in log.samples if sample.setting == setting]
    return found


def signed(metadata: object, path: Path) -> list[Signature]:
    """The signatures in a log's metadata, one per setting. Raises RunError if there is none that this version reads."""
    try:
        found = signatures(metadata)
    except SignatureError as error:
        raise RunError(f"{path}: found {error}") from error
    if not found:
        raise ForeignError(
            f"{path}: found no signature of personafeedback-tasks, expected a run of its tasks. Logs of other tasks or "
            "earlier versions cannot be reported: run again."
        )
    return found


def cells_of(path: Path, signature: Signature) -> dict[str, int]:
    """Cell -> its number of cases, as the signature says."""
    cells = tuple(signature.set.counts) if signature.set else find(signature.benchmark).cells
    found = {cell: entry["cases"] for cell, entry in signature.cells.items()}
    for cell, count in found.items():
        if cell not in cells or type(count) is not int or count < 0:
            raise RunError(f"{path}: found the cell {cell!r} with {count!r} cases, expected one of {', '.join(cells)}.")
    return found
