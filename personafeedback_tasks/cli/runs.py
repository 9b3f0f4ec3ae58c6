"""The commands that read logs: report, compare, card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.errors import OptionError
from ..engine.usage import Prices
from ..runs.data import RunData, opened
from ..runs.logged import with_tokens
from ..runs.names import AS_LOGGED, offers, refuse_unknown, with_names
from ..runs.read import only
from ..runs.run import Run, RunError
from .options import (
    FILE,
    RUN,
    SHORT,
    control_options,
    data_option,
    json_option,
    markdown_option,
    name_option,
    out_option,
    price_options,
    run_argument,
    runs_argument,
    tokenizer_option,
    which_option,
)
from .output import files_written, progress, say, show, write_json

if TYPE_CHECKING:
    from ..analysis.report import Report


@click.command()
@runs_argument
@data_option
@control_options(*SHORT)
@name_option
@tokenizer_option
@price_options("the runs' model")
@out_option("DIR", "Write report.md, report.json, the figures and index.html, a page with every case, there.")
@click.option("--full", is_flag=True, help="Print every table and the whole signature, as report.md has them.")
def report(
    runs: tuple[Path, ...],
    data: RunData,
    control: Sequence[tuple[str, Path]],
    names: dict[str, str],
    tokenizer: str | None,
    prices: Prices | None,
    out: Path | None,
    full: bool,
    **short: Path | None,
) -> None:
    """Report runs: a verdict, scores with their intervals, baselines and caveats. A screen for each run; --full prints everything.

    RUN is an output folder or a results_*.json or samples_*.jsonl file of lm-eval, or an .eval log of Inspect. In a folder,
    the logs of one model that were asked the same form one row, no_persona and other_persona runs become the controls of the
    run that they belong to, and failed logs are passed over. Each further RUN adds its own row.

    \b
        personafeedback report results/Qwen__Qwen3-8B
        personafeedback report logs/a.eval logs/b.eval --out report
        personafeedback report with.eval --no-persona without.eval
        personafeedback report with.eval --no-persona without.eval --other-persona other.eval
        personafeedback report with.eval --no-persona without.eval --rag rag.eval
        personafeedback report with.eval --control no_persona=without.eval
    """
    from ..analysis.control import with_controls, with_named
    from ..analysis.measures import Contender
    from ..analysis.run_data import ranked
    from ..reports import files, report_short, report_text
    from ..reports.blocks import lines

    found = read(runs, [data], names, tokenizer)
    rows = with_controls(found)
    named = _read_controls([run for run, _ in rows], control, short, [data], names, tokenizer)
    check_names(names, [*found, *(run for _, run in named)])
    rows = with_named(rows, named)
    reports = [report_of(run, data, controls, prices) for run, controls in rows]
    contents = files.report_files(reports, ranked([Contender(*row) for row in rows], [data])) if out else {}
    with files_written(contents, out):
        for place, made in enumerate(reports):
            if place:
                say("")
            show(report_text.blocks(made) if full else report_short.blocks(made, others=len(reports) > 1))
        show([lines(report_text.wording_ranges(reports))])


@click.command()
@click.argument("run_a", type=RUN)
@click.argument("run_b", type=RUN)
@which_option
@json_option
@markdown_option
@data_option
def compare(
    run_a: Path,
    run_b: Path,
    which: str | None,
    json_file: Path | None,
    as_markdown: bool,
    data: RunData,
) -> None:
    """Compare two runs of the same task: which is better, and by how much.

    Every difference is paired by case, with an interval that clusters by user. Measures that need all
    cases at once, such as F1, are compared too.

    \b
        personafeedback compare logs/a.eval results/Qwen__Qwen3-8B
    """
    from ..analysis import comparison
    from ..reports import compare_text

    runs = {"A": the_run(run_a, [data], which)[0], "B": the_run(run_b, [data], which)[0]}
    unchecked = {}
    for name, run in runs.items():
        cases, why_not = data.of(run)
        if cases is None:
            unchecked[name] = why_not
    made = comparison.compare(runs["A"], runs["B"], unchecked)
    if write_json(json_file, compare_text.document(made)):
        show(compare_text.blocks(made), as_markdown)


@click.command()
@run_argument
@click.option(
    "--model-card",
    metavar="README.md",
    required=True,
    type=FILE,
    help="The model's card; created if missing. Existing text is kept, except comments within its `model-index`.",
)
@which_option
@control_options("no_persona", "other_persona")
@name_option
@data_option
def card(
    run: Path,
    model_card: Path,
    which: str | None,
    control: Sequence[tuple[str, Path]],
    names: dict[str, str],
    data: RunData,
    **short: Path | None,
) -> None:
    """Add a run to a model card: `model-index` metadata, and a section with intervals, baselines and caveats.

    Nothing is uploaded. Refused, with the reason: a partial run, the sample, 10 % unreadable replies (refusals do not
    count) or other void numbers, unchecked data, logs that do not belong together, and the card of another model.

    \b
        personafeedback card logs/a.eval --model-card README.md
        personafeedback card results/MODEL --no-persona results-control/MODEL --model-card README.md
        personafeedback card a.eval --no-persona none.eval --other-persona other.eval --model-card README.md
    """
    from ..analysis.report import make_report
    from ..reports.card import update_card

    asked, controls = the_run(run, [data], which, names)
    controls |= dict(_read_controls([asked], control, short, [data], names))
    check_names(names, [asked, *controls.values()])
    cases, why_not = data.of(asked)
    made = make_report(asked, cases, controls, why_not)
    for line in update_card(made, cases, model_card):
        say(line)


def read(
    paths: Sequence[Path],
    data: Sequence[RunData] = (),
    names: Mapping[str, str] = AS_LOGGED,
    tokenizer: str | None = None,
) -> list[Run]:
    """See `opened`; what is left out is said on stderr."""
    with progress() as show:
        found = with_names(opened(paths, data, passed_over, lambda path: show(f"Reading {path}")), names)
        return [with_tokens(run, tokenizer) for run in found]


def check_names(names: Mapping[str, str], runs: Sequence[Run], writers: Sequence[Run] = ()) -> None:
    """Offer the names that would make models of these runs one, on stderr.

    Args:
        writers: runs under the names of those who wrote the duels, which may have names, too.

    Raises:
        OptionError: --name is of a model that no run is of.
    """
    refuse_unknown(names, [*runs, *writers])
    for offer in offers(runs):
        say(offer, err=True)


def passed_over(line: str) -> None:
    """Say on stderr which log of a folder is left out."""
    say(line, err=True)


def the_run(
    path: Path, data: Sequence[RunData] = (), which: str | None = None, names: Mapping[str, str] = AS_LOGGED
) -> tuple[Run, dict[str, Run]]:
    """The run of a file or folder, and the controls that are there: value of the control's option -> run.

    Args:
        which: the name of its task, where there are others.

    Raises:
        RunError: there are several, or none of that task.
    """
    from ..analysis.control import with_controls

    rows = with_controls(read([path], data, names))
    found = [row for row in rows if which is None or _is_of(row[0], which)]
    if not found:
        tasks = ", ".join(dict.fromkeys(run.task for run, _ in rows))
        raise RunError(f"{path}: found no run of --task {which}, expected one. It has {tasks}.")
    only(path, [run for run, _ in found], "--task")
    return found[0]


def _is_of(run: Run, task: str) -> bool:
    """Whether a task asks as this run was asked, whatever its cells."""
    return task in [run.benchmark.task(selection, run.method.suffix) for selection in ("", *run.benchmark.selections)]


def _read_controls(
    runs: Sequence[Run],
    control: Sequence[tuple[str, Path]],
    short: Mapping[str, Path | None],
    data: Sequence[RunData],
    names: Mapping[str, str],
    tokenizer: str | None = None,
) -> list[tuple[str, Run]]:
    """(setting, control), for each task of the runs.

    Raises:
        OptionError: no control of these runs has such a setting.
        RunError: a log has several runs under its setting.
    """
    specs = [run.benchmark.report.control for run in runs]
    known = list(dict.fromkeys(value for spec in specs if spec is not None for value in spec.values))
    for setting, _ in control:
        if known and setting not in known:
            raise OptionError(f"the setting of --control must be one of {', '.join(known)}, got {setting!r}.")
    controls = []
    for setting, path in (*control, *short.items()):
        if path is not None:  # a folder may also have the runs of other settings and tasks
            candidates = read([path], data, names, tokenizer)
            under = [run for run in candidates if run.signature.get("setting") == setting] or candidates
            tasks = dict.fromkeys(run.task for run in runs)
            fitting = [[one for one in under if one.task == task] for task in tasks]
            controls += [(setting, only(path, own)) for own in filter(None, fitting or [under])]
    return controls


def report_of(
    run: Run,
    data: RunData,
    controls: Mapping[str, Run] | None = None,
    prices: Prices | None = None,
) -> Report:
    """The report of a run on the available data.

    Raises:
        DataError: see `RunData.of`.
        RunError: see `report.make_report`.
    """
    from ..analysis.report import make_report

    cases, why_not = data.of(run)
    return make_report(run, cases, controls, why_not, data.texts(run), prices)
