"""The commands that read logs: report, compare, card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..common import foreign
from ..common.errors import OptionError
from ..common.files import Content, write, write_all
from ..common.strict_json import json_text
from ..engine.report import Published
from ..personafeedback.paper.beside import beside
from ..runs.read import only, read_runs
from ..runs.run import Run
from .output import progress, say
from .run_data import RunData, data_option, first_with

if TYPE_CHECKING:
    from ..reports.page_data import Part
    from ..reports.report import Report

RUN = click.Path(exists=True, path_type=Path)
BEST = ""
"""The value of --paper without a model."""

control_option = click.option(
    "--no-persona",
    "control",
    metavar="RUN",
    type=RUN,
    help="The same run with setting=no_persona, for the persona gain.",
)


other_option = click.option(
    "--other-persona",
    "other",
    metavar="RUN",
    type=RUN,
    help="The same run with setting=other_persona: how much of the score needs the right person.",
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
@control_option
@other_option
@click.option(
    "--rag",
    metavar="RUN",
    type=RUN,
    help="The same run with setting=rag, for a sheet of all settings with paired differences.",
)
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
    control: Path | None,
    other: Path | None,
    rag: Path | None,
    paper: str | None,
    out: Path | None,
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
        personafeedback report logs/a.eval --paper
        personafeedback report logs/a.eval --paper GPT-4o-mini
    """
    from ..analysis.control import with_controls, with_named
    from ..reports import tables as report_text
    from ..reports.sensitivity import sensitivities
    from ..reports.terminal import show

    named = _named(no_persona=control, other_persona=other, rag=rag)
    rows = with_named(with_controls(read(runs)), named)
    # In a folder of several benchmarks or sets, those without published numbers go without. A folder of such ones alone is an error.
    some = any(_has_published(run) for run, _ in rows)
    reports = [report_of(run, data, beside, paper if _has_published(run) or not some else None) for run, beside in rows]
    for made in reports:
        show(report_text.terminal(made))
    moved = [str(found) for found in sensitivities(reports)]
    if moved:
        say("Prompt sensitivity (runs that differ only in prompt or language):")
        for one in moved:
            say(one)
    if out is not None:
        for path in write_report(reports, ranked(rows, [data]), moved, out):
            say(f"wrote {path}")


def _named(**paths: Path | None) -> dict[str, Run]:
    """Value of the control's option -> run, of those that an option names."""
    return {value: told(path, value) for value, path in paths.items() if path is not None}


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


def told(path: Path, setting: str) -> Run:
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
    from ..reports.report import make_report

    cases, why_not = data.checked(run)
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


def ranked(rows: Sequence[tuple[Run, Mapping[str, Run]]], data: Sequence[RunData]) -> list[Part]:
    """The rankings of some runs, with their cases.

    Args:
        rows: the runs with their controls, see `control.with_controls`.
        data: where their data may be; the last place counts where no other fits.

    Raises:
        DataError, RunError: see `RunData.checked`.
    """
    from ..reports.page_data import Part
    from ..reports.rank import alike, make_ranking

    parts = []
    for some in alike(rows):
        first = some[0][0]
        place = first_with(first, data)
        cases, why_not = place.checked(first)
        for run in (one for row, controls in some for one in (row, *controls.values())):
            there, unchecked = place.checked(run)
            if there is not None and unchecked:
                passed_over(unchecked)
        texts = place.texts(first)
        parts.append(Part(make_ranking(some, texts), cases, texts, why_not))
    return parts


def document(reports: Sequence[Report], moved: Sequence[str]) -> dict[str, Any]:
    """What report.json has: the reports, and how far the wordings move their scores."""
    return {"reports": [made.as_dict() for made in reports], "prompt_sensitivity": moved}


def write_report(reports: list[Report], parts: list[Part], moved: list[str], out: Path) -> list[Path]:
    """Write everything that --out promises, and say which files that is.

    Args:
        parts: the rankings of the same runs, for the page.
        moved: see `document`.
    """
    from ..reports import figure, heatmap, page, precision_recall
    from ..reports import tables as report_text

    titles, scores = (
        " and ".join(dict.fromkeys(names))
        for names in zip(*((made.run.title, made.run.benchmark.report.score) for made in reports), strict=True)
    )
    images = [f"![{scores} with 95 % intervals and baselines](accuracy.svg)\n"]
    drawn = figure.render(reports)
    planes = precision_recall.render(reports)
    images += [f"![{precision_recall.TITLE}]({name})\n" for name in planes if name.endswith(".svg")]
    drawn |= planes
    sections = []
    for made, files in zip(reports, heatmap.render(reports), strict=True):
        drawn |= files
        sections.append(report_text.markdown(made))
        sections += [f"![{heatmap.TITLE}]({name})\n" for name in files if name.endswith(".svg")]
    contents: dict[Path, Content] = {
        out / "report.md": "\n".join([f"# {foreign.markdown(titles)}\n", *images, *sections, *_section_of(moved)]),
        out / "report.json": json_text(document(reports, moved)),
        **{out / name: content for name, content in drawn.items()},
        out / "index.html": page.render(parts),
    }
    write_all(contents)
    return list(contents)


def _section_of(moved: list[str]) -> list[str]:
    return ["## Prompt sensitivity\n", *(f"- {foreign.markdown(line)}" for line in moved)] if moved else []


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
    from ..reports import compare as comparing
    from ..reports.terminal import show

    runs = {"A": the_run(run_a)[0], "B": the_run(run_b)[0]}
    unchecked = {}
    for name, run in runs.items():
        cases, why_not = data.checked(run)
        if cases is None:
            unchecked[name] = why_not
        elif why_not:
            runs[name] = replace(run, unchecked=(why_not,))
    found = comparing.compare(runs["A"], runs["B"], unchecked)
    if as_markdown:
        click.echo(comparing.markdown(found), nl=False)
    else:
        show(comparing.terminal(found))
    if json_file is not None:
        write(json_file, json_text(found.as_dict()))


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
@control_option
@other_option
@paper_option
@data_option
def card(
    run: Path,
    model_card: Path,
    replace: bool,
    control: Path | None,
    other: Path | None,
    paper: str | None,
    data: RunData,
) -> None:
    """Add a run to a model card: `model-index` metadata, and a section with intervals, baselines and caveats.

    Nothing is uploaded. Refused, with the reason: a partial run, the sample, more than 10 % unreadable replies (refusals
    are behavior and only printed), unchecked data, logs that do not belong together, and the card of another model.

    \b
        personafeedback card logs/a.eval --model-card README.md
        personafeedback card results/MODEL --no-persona results-control/MODEL --model-card README.md
        personafeedback card a.eval --no-persona none.eval --other-persona other.eval --model-card README.md
    """
    from ..reports.card import update_card
    from ..reports.report import make_report

    found, beside = the_run(run)
    beside |= _named(no_persona=control, other_persona=other)
    cases, why_not = data.of(found)
    made = make_report(found, cases, beside, why_not, published_of([found], paper))
    for line in update_card(made, cases, model_card, replace):
        say(line)
