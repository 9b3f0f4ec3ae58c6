"""A log as its reader gives it: evidence, and the scores of the log. Nothing in it is checked yet; see checks.py.

A reader knows the files of one harness. Another harness than lm-eval and Inspect is for `score-replies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.benchmark import find
from ..core.documents import Scorable
from ..core.evidence import Evidence
from ..core.outcome import Answers
from ..core.stopping import StopPlan
from ..core.usage import Usage
from .run import Asked, Run


@dataclass(frozen=True, kw_only=True)
class LoggedDocument:
    """One document in one epoch.

    Attributes:
        where: `line 12`, `sample ID`.
        document: what is scored; None for a marked sample without a score.
        evidence: one per call, see `Method.asked`.
        answers: of each case under each setting, as logged; None where the log has none beside the evidence.
        values: metric -> value of each case, as logged; None where the harness scored nothing.
        epoch: see `core.outcome.Outcome`.
        usage: under each setting; empty where nothing is counted.
        mark: why it does not count, see marks.py; empty if it does.
        asked: gives its prompts; None where nobody may ask for them.
    """

    where: str
    id: str
    document: Scorable | None
    evidence: Sequence[Evidence] = ()
    answers: Sequence[Answers] | None = None
    values: Sequence[Mapping[str, Any]] | None = None
    epoch: int = 1
    usage: Sequence[Usage] = ()
    mark: str = ""
    asked: Callable[[], Asked] | None = None


@dataclass(frozen=True, kw_only=True)
class LoggedTask:
    """One task of a log.

    Attributes:
        signatures: one per setting, see `core.signature.signature`.
        harness: whose table the values are in, see `Metric.harnesses`.
        documents: reads them, in the order of the file. Raises RunError.
        completed: how many documents the log says were answered, in all epochs; 0 where it does not.
        epochs: how many the log says were asked; None where a harness has none.
        invalidated: whether the log has the mark as a whole.
        stop: when it was to stop, if it was.
        max_tokens: limit on the new tokens of a reply; 0 where it is the method's.
    """

    path: Path
    signatures: Sequence[dict[str, Any]]
    harness: str
    documents: Callable[[], Iterable[LoggedDocument]]
    completed: int = 0
    epochs: int = 1
    invalidated: bool = False
    stop: StopPlan | None = None
    max_tokens: int = 0

    @property
    def signature(self) -> dict[str, Any]:
        """That of the first setting: the others have another task's name, and of what is read for a setting other digests."""
        return self.signatures[0]

    @property
    def settings(self) -> tuple[str, ...]:
        """Those that it asks, in the order of its calls."""
        return tuple(map(find(self.signature["benchmark"]).setting, self.signatures))

    @property
    def staged(self) -> list[bool]:
        """For each setting, whether it uses the call of the benchmark's stage."""
        stage = find(self.signature["benchmark"]).stage
        return [bool(stage and signature.get(stage.name)) for signature in self.signatures]


@dataclass(frozen=True)
class Log:
    """The tasks of one run of a harness in a log.

    Attributes:
        tasks: the tasks; more than one where a harness runs each cell as its own. All ask the same settings.
        run: gives what the header says of the run under the first setting, without cells and cases. To be called after all documents
            were read, since these may say more of its conditions.
    """

    tasks: Sequence[LoggedTask]
    run: Callable[[], Run]


@dataclass(frozen=True)
class Reader:
    """What reads the logs of a harness.

    Attributes:
        owns: (the first bytes of a file, at most 4,096) -> whether it is such a log.
        open: reads the logs of a file: one, or more where its tasks were asked in several ways. Raises RunError.
        suffixes: the ends of the names of such logs in a folder; a file that another one brings along has none of these.
    """

    owns: Callable[[bytes], bool]
    open: Callable[[Path], Sequence[Log]]
    suffixes: tuple[str, ...]


def _lazily(module: str) -> Callable[[Path], Sequence[Log]]:
    """What opens a log once it is there: reading Inspect's needs Inspect."""

    def opened(path: Path) -> Sequence[Log]:
        logs: Sequence[Log] = import_module(module, __package__).opened(path)
        return logs

    return opened


def _of_inspect(head: bytes) -> bool:
    return head.startswith(b"PK") or (_json(head) and b'"eval"' in head and b'"version"' in head[:64])


def _of_lm_eval(head: bytes) -> bool:
    return _json(head) and (b'"doc_id"' in head[:64] or b'"results"' in head[:64])


def _json(head: bytes) -> bool:
    return head.lstrip().startswith(b"{")


READERS = (
    Reader(_of_inspect, _lazily(".inspect_log"), (".eval", ".json")),
    Reader(_of_lm_eval, _lazily(".lm_eval_log"), (".json",)),
)


def reader_of(head: bytes) -> Reader | None:
    """The reader of a file; None for a file that is no log."""
    return next((reader for reader in READERS if reader.owns(head)), None)
