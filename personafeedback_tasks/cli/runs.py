"""The commands that read logs: report, compare, card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..analysis.run_data import RunData
from ..common.errors import OptionError
from ..common.files import Content, write, write_all
from ..common.strict_json import json_text
from ..engine.report import Published
from ..personafeedback.paper.beside import beside
from ..runs.read import only, read_runs
from ..runs.run import Run
from .output import progress, say

if TYPE_CHECKING:
    from ..analysis.report import Report

RUN = click.Path(exists=True, path_type=Path)
BEST = ""
"""The value of --paper without a model."""

SHORT = {
    "no_persona": "The same run with setting=no_persona, for the persona gain.",
    "other_persona": "The same run with setting=other_persona: how much of the score needs the right person.",
    "rag": "The same run with setting=rag, for a sheet of all settings with paired differences.",
}
"""Settings with an option of their own -> its help."""


def control_options(*short: str) -> Callable[[Any], Any]:
    """--control as the argument `control`, and the options that are short for it as arguments of their own.

    Args:
        short: of SHORT.
    """
    names = ", ".join(f"--{name.replace('_', '-')} RUN" for name in short)

    def add(command: Any) -> Any:
        for name in reversed(short):
            command = click.option(f"--{name.replace('_', '-')}", metavar="RUN", type=RUN, help=SHORT[name])(command)
        return click.option(
            "--control",
            metavar="SETTING=RUN",
            multiple=True,
            callback=lambda context, option, given: list(map(_control, given)),
            help=f"The same run with another setting; may be given for each. Short for it: {names}.",
        )(command)

    return add


def _control(given: str) -> tuple[str, Path]:
    """(setting, log) of a value of --control."""
    setting, _, path = given.partition("=")
    if not (setting and path and Path(path).exists()):
        raise OptionError(f"--control must be SETTING=RUN with a log or folder that exists, got {given!r}.")
    return setting, Path(path)


data_option = click.option(
    "--data",
    callback=lambda context, option, named: RunData(named),
    help="The data of the run: a folder, `sample`, or a Hub dataset id. Default: the data that the log names, "
    "else PERSONAFEEDBACK_DATA, PREFEVAL_DATA or RECENTER_DATA, as the task. Every case is checked against the log.",
)

paper_option = click.option(
    "--paper",
    metavar="[MODEL]",
    is_flag=False,
    flag_value=BEST,
    callback=lambda context, option, model: known_model(model),
    help="Show what the benchmark's authors published of MODEL (of their best models if none is given), under a line on why it "
    "is not comparable. Without MODEL, put it after the runs.",
)


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=RUN)
@data_option
@control_options(*SHORT)
@paper_option
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write report.md, report.json, the figures and index.html, a page with every case, there.",
)
def report(
    runs: tuple[Path, ...],
    data: RunData,
    control: Sequence[tuple[str, Path]],
    paper: str | None,
    out: Path | None,
    **short: Path | None,
) -> None:
    """Report runs: scores with their intervals, baselines and caveats.

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
        personafeedback report logs/a.eval --paper
        personafeedback report logs/a.eval --paper GPT-4o-mini
    """
    from ..analysis.control import with_controls, with_named
    from ..analysis.measures import Contender
    from ..analysis.run_data import ranked
    from ..reports import files, report_text
    from ..reports.blocks import terminal
    from ..reports.terminal import show

    rows = with_controls(read(runs))
    rows = with_named(rows, _read_controls([run for run, _ in rows], control, short))
    # In a folder of several benchmarks or sets, those without published numbers go without. A folder of such ones alone is an error.
    some = any(_has_published(run) for run, _ in rows)
    reports = [report_of(run, data, beside, paper if _has_published(run) or not some else None) for run, beside in rows]
    for made in reports:
        show(terminal(report_text.blocks(made)))
    if moved := files.moved(reports):
        say("Prompt sensitivity (runs that differ only in prompt or language):")
        for one in moved:
            say(one)
    if out is not None:
        write_files(files.report_files(reports, ranked([Contender(*row) for row in rows], [data])), out)


def write_files(contents: Mapping[str, Content], out: Path, err: bool = False) -> None:
    """Write files into a folder, and say which ones.

    Args:
        err: on stderr.
    """
    write_all({out / name: content for name, content in contents.items()})
    for name in contents:
        say(f"wrote {out / name}", err=err)


def _read_controls(
    runs: Sequence[Run], given: Sequence[tuple[str, Path]], short: Mapping[str, Path | None]
) -> dict[str, Run]:
    """Setting -> control.

    Args:
        runs: those that are controlled.
        given, short: the options, see `control_options`.

    Raises:
        OptionError: no control of these runs has such a setting.
    """
    specs = [run.benchmark.report.control for run in runs]
    known = {value: None for spec in specs if spec is not None for value in spec.values}
    for setting, _ in given:
        if known and setting not in known:
            raise OptionError(f"the setting of --control must be one of {', '.join(known)}, got {setting!r}.")
    named = [*given, *((setting, path) for setting, path in short.items() if path is not None)]
    return {setting: run_under(path, setting) for setting, path in named}


def known_model(model: str | None) -> str | None:
    """The value of --paper, checked before anything is read: a RUN after it would be taken for a model."""
    if model:
        beside(model, ())
    return model


def read(paths: Sequence[Path]) -> list[Run]:
    """The runs of files and folders; what is left out is said on stderr."""
    with progress() as show:
        return read_runs(paths, passed_over, lambda path: show(f"Reading {path}"))


def passed_over(line: str) -> None:
    """Say on stderr which log of a folder is left out."""
    say(line, err=True)


def the_run(path: Path) -> tuple[Run, dict[str, Run]]:
    """The run of a file or folder, and the controls that are there: value of the control's option -> run.

    Raises:
        RunError: there are several.
    """
    from ..analysis.control import with_controls

    rows = with_controls(read([path]))
    only(path, [run for run, _ in rows])
    return rows[0]


def run_under(path: Path, setting: str) -> Run:
    """The run under a setting; a folder may also have those of others.

    Raises:
        RunError: there are several.
    """
    found = read([path])
    return only(path, [run for run in found if run.signature.get("setting") == setting] or found)


def report_of(
    run: Run,
    data: RunData,
    beside: Mapping[str, Run] | None = None,
    paper: str | None = None,
) -> Report:
    """The report of a run on the available data.

    Args:
        beside: see `report.make_report`.
        paper: as the option.

    Raises:
        DataError: see `RunData.of`.
        RunError: see `report.make_report`.
    """
    from ..analysis.report import make_report

    cases, why_not = data.of(run)
    published = published_of([run, *(beside or {}).values()], paper)
    return make_report(run, cases, beside, why_not, published, data.texts(run))


def _has_published(run: Run) -> bool:
    """Whether others published numbers on its data: those of a benchmark are not those of a set."""
    return run.named_set is None and run.benchmark.report.published is not None


def published_of(runs: Sequence[Run], paper: str | None) -> Published | None:
    """What others published under the settings of these runs; None if it was not asked for.

    Raises:
        OptionError: the benchmark or the set has nothing, or not that model.
    """
    if paper is None:
        return None
    spec = runs[0].benchmark.report
    if not _has_published(runs[0]) or spec.published is None:
        raise OptionError(f"{runs[0].title} has no published numbers. Leave --paper out.")
    settings = [str(run.signature[spec.control.option]) for run in runs] if spec.control else []
    return spec.published(paper or None, settings)


@click.command()
@click.argument("run_a", type=RUN)
@click.argument("run_b", type=RUN)
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write everything, including case ids, to FILE.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@data_option
def compare(run_a: Path, run_b: Path, json_file: Path | None, as_markdown: bool, data: RunData) -> None:
    """Compare two runs: paired on the same cases, clustered by user, with every measure that is no mean over cases, too.

    \b
        personafeedback compare logs/a.eval results/Qwen__Qwen3-8B
    """
    from ..analysis import comparison
    from ..reports import blocks, compare_text
    from ..reports.terminal import show

    runs = {"A": the_run(run_a)[0], "B": the_run(run_b)[0]}
    unchecked = {}
    for name, run in runs.items():
        runs[name] = data.checked(run)
        cases, why_not = data.of(run)
        if cases is None:
            unchecked[name] = why_not
    found = comparison.compare(runs["A"], runs["B"], unchecked)
    if as_markdown:
        click.echo(blocks.markdown(compare_text.blocks(found)), nl=False)
    else:
        show(blocks.terminal(compare_text.blocks(found)))
    if json_file is not None:
        write(json_file, json_text(compare_text.document(found)))


@click.command()
@click.argument("run", type=RUN)
@click.option(
    "--model-card",
    metavar="README.md",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The model's card; created if missing. Existing content is kept, except comments in its metadata.",
)
@click.option(
    "--replace", is_flag=True, help="Remove the sections and the `model-index` of another model from the card."
)
@control_options("no_persona", "other_persona")
@paper_option
@data_option
def card(
    run: Path,
    model_card: Path,
    replace: bool,
    control: Sequence[tuple[str, Path]],
    paper: str | None,
    data: RunData,
    **short: Path | None,
) -> None:
    """Add a run to a model card: `model-index` metadata, and a section with intervals, baselines and caveats.

    Nothing is uploaded. Refused, with the reason: a partial run, the sample, more than 10 % unreadable replies (refusals
    are behavior and only printed), unchecked data, logs that do not belong together, and the card of another model.

    \b
        personafeedback card logs/a.eval --model-card README.md
        personafeedback card results/MODEL --no-persona results-control/MODEL --model-card README.md
        personafeedback card a.eval --no-persona none.eval --other-persona other.eval --model-card README.md
    """
    from ..analysis.report import make_report
    from ..reports.card import update_card

    found, beside = the_run(run)
    beside |= _read_controls([found], control, short)
    cases, why_not = data.of(found)
    made = make_report(found, cases, beside, why_not, published_of([found], paper))
    for line in update_card(made, cases, model_card, replace):
        say(line)
