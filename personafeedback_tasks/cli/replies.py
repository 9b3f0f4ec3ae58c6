"""The command for replies of any other harness: score-replies."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import OptionError, require
from ..common.files import write
from ..common.outputs import json_lines
from ..core.asked import AskedTask, asked_for
from ..core.recorded import Key, read, require_text
from ..logs.data import RunData
from ..logs.recorded import run_of
from .options import given_options, json_option, out_option, task_option
from .output import say
from .runs import note_skipped, print_report


@click.command("score-replies")
@click.argument("task", metavar="TASK")
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@task_option("the options that the model was run with, and data=FOLDER")
@click.option(
    "--template", is_flag=True, help="Write FILE instead: a line per call with its prompt, to which you add the reply."
)
@click.option("--partial", is_flag=True, help="Leave out cases without any record, as after a run with --limit.")
@out_option("Folder for report.md, report.json and report.html, a page with every case.")
@json_option
def score_replies(
    task: str,
    file: Path,
    given: tuple[str, ...],
    template: bool,
    partial: bool,
    out: Path | None,
    json_file: Path | None,
) -> None:
    """Score recorded replies and report them. No harness, no model.

    TASK is a task's name in either harness. FILE has one line of JSON per call:

    \b
        {"id": CASE, "call": CALL, "reply": TEXT, "truncated": true}

    `call` may be left out where a case has one. `truncated` says whether the reply was cut off, `"filtered": true` that
    a filter withheld it, `"prompt_cut": true` that the prompt did not fit into the model's window, and `"epoch": 2`
    that it is the second one to the same call. `--template` writes a file with the ids of the cases, the names of the
    calls and, under `prompt`, the messages to send: add `reply` to each line. The report equals that of a run with the
    same replies, to the last digit.

    A call without a record is an error that names it. Records of other cases are counted but not used.

    \b
        personafeedback score-replies personafeedback_hard replies/new.jsonl -T data=FOLDER --template
        personafeedback score-replies personafeedback_hard replies/a.jsonl -T data=FOLDER
        personafeedback score-replies personafeedback_hard replies/b.jsonl -T setting=no_persona -T method=cot
        personafeedback score-replies recenter_relevance replies/c.jsonl -T data=DIR --out report
    """
    if template and (partial or out or json_file):
        raise OptionError("--template writes FILE alone. Leave --partial, --out and --json out.")
    asked = asked_for(task, given_options(given), once=True)
    if template:
        _write_template(file, asked)
        return
    require("rich", extra="report")  # before the work
    run = run_of(asked, read(file), partial, note_skipped)
    print_report([(run, {})], RunData(), None, json_file, out, full=True)


def _write_template(file: Path, task: AskedTask) -> None:
    require_text(task.method, OptionError, task.task)
    if first := task.benchmark.first(vars(task.options)):
        raise OptionError(
            f"--template has the prompts of all calls, and {first}=true builds one from the reply to another. Run the task in Inspect."
        )
    if file.exists():
        raise OptionError(f"{file}: found a file, expected none: --template writes it. Name another one.")
    prompts = {
        Key(name, call): task.benchmark.turns(document, task.options, call)
        for name, document in task.documents.items()
        for call in task.method.calls
    }
    write(file, json_lines({"id": key.case_id, "call": key.call, "prompt": turns} for key, turns in prompts.items()))
    say(f"wrote {file}: {len(prompts):,} calls of {len(task.cases):,} cases")
    say('Send each prompt, and add "reply" to its line. Then: the same command without --template.')
