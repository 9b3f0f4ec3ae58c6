"""A log as its reader gives it: evidence, and the scores of the log, all unchecked.

A reader knows the files of one harness. Replies from elsewhere are for `score-replies`.
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
from ..core.result import Answers
from ..core.stopping import StopPlan
from ..core.usage import Usage
from .run import Asked, Run


@dataclass(frozen=True, kw_only=True)
class LoggedDocument:
    """One document in one epoch.

    Attributes:
        where: `line 12`, `sample ID`.
        document: what is scored; None for a marked sample without a score.
        evidence: one per call.
        answers: of each case under each setting, as logged; None where the log has none beside the evidence.
        values: metric -> value of each case, as logged; None where the harness scored nothing.
        usage: under each setting; empty where nothing is counted.
        mark: why it does not count; empty if it does.
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
        signatures: one per setting.
        harness: whose table the values are in.
        documents: reads them, in the order of the file. Raises RunError.
        completed: documents that the log says were answered, in all epochs; 0 where it does not.
        epochs: how many the log says were asked; None where a harness has none.
        invalidated: whether the log is marked as a whole.
        max_tokens: limit on the new tokens of a reply; 0 for the method's own.
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
        """That of the first setting; the others differ in the task's name and in digests of what only they read."""
        return self.signatures[0]

    @property
    def settings(self) -> tuple[str, ...]:
        """Its settings, in the order of its calls."""
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
        tasks: several where a harness runs each cell as a task. All ask the same settings.
        run: what the header says of the run under the first setting, without cells and cases. Call it after all
            documents were read, since these may add conditions.
    """

    tasks: Sequence[LoggedTask]
    run: Callable[[], Run]


@dataclass(frozen=True)
class Reader:
    """Reads the logs of a harness.

    Attributes:
        owns: (the first bytes of a file, at most 4,096) -> whether it is such a log.
        open: reads the logs of a file, several where its tasks were asked in several ways. Raises RunError.
        suffixes: the ends of the names of such logs in a folder, not of files that they bring along.
    """

    owns: Callable[[bytes], bool]
    open: Callable[[Path], Sequence[Log]]
    suffixes: tuple[str, ...]


def _lazily(module: str) -> Callable[[Path], Sequence[Log]]:
    # reading Inspect's logs needs Inspect, so its module is imported once there is such a log
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
