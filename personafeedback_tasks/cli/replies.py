"""The commands for recorded replies: replies writes them from a run, score-replies scores them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from ..common.errors import OptionError
from ..common.files import write
from ..engine.benchmark import Benchmark
from ..engine.plan import asked, benchmark_of
from ..engine.recorded import calls_of, line_of, read
from ..runs.data import RunData
from ..runs.recorded import asked_of, run_of
from ..runs.run import Run, text
from .options import READABLE, given_options, json_option, out_option, run_argument, task_option
from .output import STDOUT, files_written, needs_tables, say, show, write_json
from .runs import report_of, the_run


@click.command()
@run_argument
@out_option("FILE", "The JSONL file.", required=True)
def replies(run: Path, out: Path) -> None:
    """Write the replies of a run to a file that can be scored, or answered from, again.

    RUN is a log or a folder of logs, as for `compare`, of either harness. FILE gets one line per call, with the text as it was
    logged:

    \b
        {"id": CASE, "call": CALL, "reply": TEXT, "truncated": true}

    `call` is left out where a case has one, `truncated` where nobody knows: lm-eval does not log which replies were cut
    off. A reply that never left its thinking, as the others of the run show, gets its opening `<think>` back. Log-likelihoods, log-probabilities and rewards are not replies: runs of these methods are refused.

    \b
        personafeedback replies logs/a.eval --out replies/a.jsonl
        inspect eval personafeedback_tasks/personafeedback_hard --model personafeedback/replay -M replies=replies/a.jsonl
    """
    from ..runs.logged import logged

    written, _ = the_run(run)
    several = len(calls_of(written.benchmark, written.signature)) > 1
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for key, reply in logged(written):  # one at a time: those of a thinking model may not fit into memory
            count += 1
            yield line_of(key, reply, several)

    write(out, lines())
    say(f"wrote {out}: {count:,} replies of {written.label} to {len(written.cases):,} cases")
    if written.prompts.cut:
        say(
            f"{written.prompts}: the run is void, and so is what these replies score; the file cannot say which they are."
        )
    say("Score them without a harness:")
    for command in _commands(written, out):
        say(f"    {command}")


@click.command("score-replies")
@click.argument("task", metavar="TASK")
@click.argument("file", metavar="FILE", type=READABLE)
@click.option("--data", help="The data of the task, as -T data=. Default: as in a run.")
@task_option("those that the model was asked with")
@click.option("--partial", is_flag=True, help="Leave out the cases without any record: of a run with --limit.")
@out_option("DIR", "Write report.md, report.json, the figures and index.html, a page with every case, there.")
@json_option
def score_replies(
    task: str,
    file: Path,
    data: str | None,
    given: tuple[str, ...],
    partial: bool,
    out: Path | None,
    json_file: Path | None,
) -> None:
    """Score recorded replies and report them. No harness, no model.

    TASK is a task's name in either harness. FILE has one line of JSON per call:

    \b
        {"id": CASE, "call": CALL, "reply": TEXT, "truncated": true}

    `call` may be left out where a case has one. `truncated` says whether the reply was cut off, `"filtered": true` that a filter
    withheld it, `"prompt_cut": true` that the prompt did not fit into the model's window, and `"epoch": 2` that it is the second one
    to the same call. The names of the calls and the ids of the cases
    are those that `personafeedback replies` writes. The report is that of a run with the same replies, to the last digit.

    A call without a record is an error that names it. Records of other cases are counted and not used.

    \b
        personafeedback score-replies personafeedback_hard replies/a.jsonl --data FOLDER
        personafeedback score-replies personafeedback_hard replies/b.jsonl -T setting=no_persona -T method=cot
        personafeedback score-replies recenter_relevance DIR/replies/MODEL.jsonl --data DIR --out report
    """
    needs_tables(json_file)
    from ..analysis.measures import Contender
    from ..analysis.run_data import ranked
    from ..reports import files, report_text

    benchmark = benchmark_of(task)
    values = given_options(given, data=data)
    selection, method = asked(benchmark, task, values.pop("method", None))
    every = benchmark.options_of({**values, "method": method.name}, benchmark.options.strict)
    if len(every) > 1:
        settings = ", ".join(benchmark.settings(every))
        raise OptionError(
            f"score-replies scores one setting at a time, got {settings}. Call it once for each. (Runs of a harness take the list: "
            "`inspect eval ... -T setting=A,B`, or `--metadata` of lm-eval.)"
        )
    (options,) = every
    cases = benchmark.cases(options, benchmark.selections[selection])
    benchmark.check(options, cases)
    recorded = read(file)
    run = run_of(benchmark, selection, cases, options, recorded, partial)
    if unused := recorded.compared(asked_of(benchmark, cases, options, recorded)):
        say(unused, err=True)
    located = RunData(None)
    made = report_of(run, located)
    contents = files.report_files([made], ranked([Contender(run)], [located])) if out else {}
    with files_written(contents, out, err=json_file == STDOUT):
        if write_json(json_file, files.report_document([made])):
            show(report_text.blocks(made))


def _commands(run: Run, file: Path) -> list[str]:
    """What scores the replies of a run: one command for each of its tasks."""
    words = ["--data", str(run.signature["source"])]
    options = run.benchmark.options.changed(run.signature)
    if run.signature["counts"] == "any" != run.benchmark.options().counts:
        options["counts"] = "any"
    for name, value in options.items():
        words += ["-T", f"{name}={','.join(value) if isinstance(value, list) else text(value)}"]
    words += ["--partial"] if run.partial else []
    tasks = [run.benchmark.task(selection, run.method.suffix) for selection in _selections(run.benchmark, run.cells)]
    return [shlex.join(["personafeedback", "score-replies", task, str(file), *words]) for task in tasks]


def _selections(benchmark: Benchmark, cells: Mapping[str, int]) -> list[str]:
    """The ends of the task names: that of the one task that has just these cells, else those of the cells, or of the only task."""
    selected = benchmark.selections
    for name, narrowed in selected.items():
        if set(cells) == {cell for cell in benchmark.cells if narrowed.items() <= selected.get(cell, {}).items()}:
            return [name]
    return [cell for cell in benchmark.cells if cell in cells and cell in selected] or [""]
