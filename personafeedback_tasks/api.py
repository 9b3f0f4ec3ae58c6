"""What the commands compute, as Python functions for notebooks, dashboards and tests.

    from personafeedback_tasks import api

    runs = api.read_runs("logs")
    api.rank(runs).to_frame()

Every function takes paths of logs, or runs that `read_runs` returned; `data` and `names` are as there. Shares are in
[0, 1] and their differences in [-1, 1]. Intervals cover 95 % and are clustered by user. Needs the extra `report`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common.errors import OptionError, require
from .common.outputs import Output, json_schema, json_text, jsonable
from .core.asked import asked_for
from .core.recorded import read
from .logs.data import RunData, opened
from .logs.errors import RunError
from .logs.names import AS_LOGGED, with_names
from .logs.recorded import run_of
from .logs.run import Run

if TYPE_CHECKING:
    import pandas as pd

    from .analysis.ranking import Ranking

__all__ = ["Document", "compare", "load_cases", "rank", "read_runs", "report", "schema", "score_replies", "verdict"]

logger = logging.getLogger(__name__)

Logs = str | Path | Run | Iterable[str | Path | Run]
"""One log, folder or run, or several."""

Paths = str | Path | Iterable[str | Path]
"""One log or folder, or several."""

Say = Callable[[str], object]
"""Gets a line on what is skipped."""

_ESTIMATE = ("value", "stderr", "low", "high", "n", "users")


@dataclass(frozen=True)
class Document:
    """What a command writes with --json.

    Attributes:
        output: the record that the command writes.
    """

    output: Output

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """The record as a mapping; `schema` describes its keys. Shares are in [0, 1]; undefined values are None."""
        found: Mapping[str, Any] = jsonable(self.output)
        return found

    def to_json(self) -> str:
        """The JSON text that the command writes."""
        return json_text(self.output)

    def to_frame(self) -> pd.DataFrame:
        """Every estimate in the document, one per row; `balance` of a ranking repeats some, and is left out.

        The columns `value`, `stderr`, `low`, `high`, `n` (cases) and `users` hold the estimate. The others identify
        it: `run` (the label of the run, or the title of the verdict) and the keys that lead to it, such as `group` and
        `measure`. A pair of a ranking has the labels `first` and `second` and the adjusted `p`.
        """
        require("pandas", extra="report")
        import pandas as pd

        rows = list(_estimates(self.content, {}))
        columns = dict.fromkeys(name for row in rows for name in row if name not in _ESTIMATE)
        return pd.DataFrame(rows, columns=[*columns, *_ESTIMATE])


_NAMES = {"reports": "", "rankings": "ranking", "verdicts": "", "runs": "", "groups": "group", "measures": "measure"}
"""Key of a document -> the column that names the entry a row is of; empty where the entry's label does."""


def _estimates(found: Any, of: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if not isinstance(found, Mapping):
        return
    if "stderr" in found:
        yield {**of, **{name: found[name] for name in _ESTIMATE}}
        return
    if "signature" in found:
        of = {**of, "run": found.get("label") or found["title"]}
    for key, value in found.items():
        if key == "pairs":
            labels = [run["label"] for run in found["runs"]]
            for pair in value:
                own = {**of, "measure": "difference", **{end: labels[pair[end] - 1] for end in ("first", "second")}}
                yield {**own, "p": pair["p"], **pair["difference"]}
                for group, gap in pair["groups"].items():
                    yield {**own, "group": group, "p": gap["p"], **gap["difference"]}
                for measure, difference in pair["measures"].items():
                    yield {**own, "measure": f"difference, {measure}", **difference}
        elif key in _NAMES:
            for name, inner in value.items() if isinstance(value, Mapping) else enumerate(value, start=1):
                yield from _estimates(inner, {**of, _NAMES[key]: name} if _NAMES[key] else of)
        else:
            yield from _estimates(value, {**of, "measure": f"{of['measure']}, {key}" if "measure" in of else key})


def read_runs(logs: Logs, *, data: str | Path | None = None, names: Mapping[str, str] = AS_LOGGED) -> list[Run]:
    """The runs in logs of lm-eval or Inspect, each checked against its data if they are there.

    Args:
        logs: folders are searched; logs of one model with the same options are one run.
        data: where the data of the runs are; None for where the logs say, else the benchmark's environment variable.
        names: model as logged -> what to call it. Runs under one name are of one model.

    Raises:
        RunError: a log cannot be read, or was changed after the run.
        DataError: `data` are broken.
        OptionError: no run is of a model that is named.
    """
    return _runs(logs, RunData(data), names)


def _paths(given: Paths) -> list[Path]:
    return [Path(given)] if isinstance(given, (str, Path)) else [*map(Path, given)]


def _runs(logs: Logs, data: RunData, names: Mapping[str, str] = AS_LOGGED) -> list[Run]:
    given = [logs] if isinstance(logs, (str, Path, Run)) or not isinstance(logs, Iterable) else [*logs]
    if wrong := [one for one in given if not isinstance(one, (str, Path, Run))]:
        raise OptionError(f"logs must be a path, a run, or a list of both, got {wrong[0]!r}.")
    if not given:
        raise RunError("logs: found an empty list, expected a path or a run in it. Check what the list is made of.")
    found = [data.checked(one) for one in given if isinstance(one, Run)]
    paths = [one for one in given if not isinstance(one, Run)]
    if paths:
        found += opened(paths, data, logger.info)
    return with_names(found, names)


def report(logs: Logs, *, data: str | Path | None = None) -> Document:
    """A report for each run; runs under no_persona, other_persona and the like are controls of their model's run.

    Raises:
        RunError, DataError: see `read_runs`.
    """
    from .analysis.control import with_controls
    from .analysis.report import report_document

    located = RunData(data)
    return Document(report_document(with_controls(_runs(logs, located)), located))


def rank(
    logs: Logs,
    *,
    cost: Paths = (),
    value: str | Sequence[str] = (),
    data: str | Path | None = None,
    names: Mapping[str, str] = AS_LOGGED,
) -> Document:
    """Rankings, best run first, with every pair and its adjusted p value; and what knowing the user gains and costs.

    Runs on the same cases with the same options share a ranking. `balance` has, for each model with both, its gain
    beside its costs: `yields` of memsyco's runs among `logs`, and `cost on TASK` of those in `cost`.

    Args:
        cost: logs of other tasks run with and without a user's profile, as `rank --cost` takes them.
        value: the number that counts, where such a task reports several; one, or one for each.

    Raises:
        RunError, DataError: see `read_runs`; RunError, too, if all runs are on duels, or a run in `cost` has none
            without a profile beside it.
        OptionError: `data` belong to none of the runs.
    """
    from .analysis.balance import rank_document
    from .analysis.other_tasks import costs_of_models

    located = RunData(data, anywhere=True)
    rankings = rankings_of(_runs(logs, located, names), located, logger.info)
    values = [value] if isinstance(value, str) else value
    of_tasks = costs_of_models(_paths(cost), values, names, logger.info)
    return Document(rank_document(rankings, of_tasks))


def rankings_of(runs: Sequence[Run], data: RunData, say: Say) -> list[Ranking]:
    """The rankings of runs; those on duels are left out, and `say` gets a line on each."""
    from .analysis.contender import Contender
    from .analysis.control import with_controls
    from .analysis.duel_runs import without_duels
    from .analysis.ranking import ranked

    for run in runs:
        data.of(run)  # of runs that were read before, they are looked for only now
    data.refuse_misfits(say)
    on_benchmark = without_duels(runs, data, say)
    return ranked([Contender(*row) for row in with_controls(on_benchmark)], data)


def compare(run_a: str | Path | Run, run_b: str | Path | Run, *, data: str | Path | None = None) -> Document:
    """The ranking of two runs on the cases that both answered, even if their options differ.

    Raises:
        RunError: a log has several runs, or the two share no case.
    """
    from .analysis import ranking
    from .analysis.balance import rank_document
    from .analysis.control import one_of, with_controls

    located = RunData(data)
    first, second = (
        one_of(with_controls(_runs(one, located)), one.logs[0] if isinstance(one, Run) else one)[0]
        for one in (run_a, run_b)
    )
    return Document(rank_document([ranking.compare(first, second, located)]))


def verdict(
    duels: Logs, *, calibration: Logs, human: str | Path | None = None, data: str | Path | None = None
) -> Document:
    """How often a model's replies win, with and without the judge's errors.

    Args:
        duels: runs of a judge on a folder that `personafeedback duel` wrote; others among them are skipped.
        calibration: runs of the same judges on the benchmark, with the same options.
        human: people's votes on some of the duels of one run: see `personafeedback verdict --help`.

    Raises:
        RunError: no run is on duels, or no calibration run has the same judge.
        OptionError: `data` belong to none of the runs.
    """
    from .analysis.duel_runs import verdicts_of

    located, votes = RunData(data, anywhere=True), Path(human) if human is not None else None
    return Document(verdicts_of(_runs(duels, located), _runs(calibration, located), located, logger.info, votes))


def load_cases(task: str, **options: Any) -> pd.DataFrame:
    """The cases of a task, one per row.

    Columns: `id`, `cell`, `user_id`, `language`, and where the benchmark has them `question`, `known` (about the user,
    as prompts show it) and `responses` (the right one first).

    Args:
        task: as in either harness: `personafeedback_hard`.
        options: of the task: `data="sample"`.

    Raises:
        OptionError: there is no such task or option. DataError: the data are broken.
    """
    require("pandas", extra="report")
    import pandas as pd

    asked = asked_for(task, options, once=True)
    cases, show = asked.cases, asked.benchmark.report.shown
    shown = show(cases, {case.id for case in cases}) if show else None
    rows = []
    for case in cases:
        row = {name: getattr(case, name) for name in ("id", "cell", "user_id", "language")}
        if shown is not None:
            about = {"question": shown.questions, "responses": shown.responses}
            row |= {name: values[case.id] for name, values in about.items() if case.id in values}
            row |= {"known": shown.people[case.user_id]} if case.user_id in shown.people else {}
        rows.append(row)
    return pd.DataFrame(rows)


def score_replies(task: str, file: str | Path, *, partial: bool = False, **options: Any) -> Document:
    """The report of recorded replies of any harness; `personafeedback score-replies --help` describes the file.

    Args:
        options: of the task, with one setting: `setting="no_persona"`.
        partial: leave out the cases without any reply.

    Raises:
        DataError: a line is no record, or a call has no reply.
    """
    from .analysis.report import report_document

    run = run_of(asked_for(task, options, once=True), read(Path(file)), partial, logger.info)
    return Document(report_document([(run, {})], RunData(options.get("data"))))


def outputs() -> dict[str, type[Output]]:
    """Command -> the type of the document that it writes."""
    from .analysis.documents import RankDocument, ReportDocument
    from .analysis.other_tasks import CostDocument
    from .analysis.verdict import VerdictDocument
    from .core.plan import PlanDocument
    from .personafeedback.audit import AuditDocument
    from .recenter.funnel import ChainDocument

    return {
        "report": ReportDocument,
        "rank": RankDocument,
        "verdict": VerdictDocument,
        "plan": PlanDocument,
        "audit": AuditDocument,
        "chain": ChainDocument,
        "cost": CostDocument,
    }


def schema() -> dict[str, Any]:
    """The JSON Schema of all files that commands write; `#/$defs/ReportDocument` describes `report.json`."""
    return json_schema(outputs().values())
