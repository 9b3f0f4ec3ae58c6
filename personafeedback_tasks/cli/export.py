"""The command that writes what other programs read: export."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import OptionError
from ..common.files import write, write_all
from ..common.outputs import json_lines
from ..logs.data import RunData
from ..personafeedback.conversations import SETTINGS, rewardbench
from ..personafeedback.prompts import Template
from .data import present
from .options import RUN, name_option, out_option, release_option
from .output import say
from .runs import check_names, the_run


@click.command("export")
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=RUN)
@out_option("The folder of a datastore; without RUN that of rewardbench.jsonl.", required=True)
@click.option("--evaluator", metavar="NAME", help="The organization that ran the evaluation.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    help="Of the evaluator to the model's developer.",
)
@name_option
@click.option(
    "--setting",
    type=click.Choice(SETTINGS),
    default=SETTINGS[0],
    show_default=True,
    help="Without RUN: what the reward model is told about the user.",
)
@release_option
def export_command(
    runs: tuple[Path, ...],
    out: Path,
    evaluator: str | None,
    relationship: str | None,
    names: dict[str, str],
    setting: str,
    data: str | None,
) -> None:
    """Write a run as a record of Every Eval Ever, or cases for RewardBench.

    Without RUN, the cases are for reward models that ship their own code.

    A record is data/BENCHMARK/DEVELOPER/MODEL/ID.json with every number, its clustered error and its interval, and
    beside it a sample for each call: their mean is acc. Several RUN are one run and its controls. What `card` refuses
    is refused here too.

    Cases are rewardbench.jsonl, of which every row says that it is test data. RewardBench needs datasets 4 or later:
    earlier versions silently corrupt message lists. It also truncates conversations to 512 tokens by default.

    \b
        personafeedback export logs/a.eval --evaluator "Acme" --relationship third_party --out datastore
        personafeedback export --out cases
        rewardbench --model MODEL --dataset cases/rewardbench.jsonl --load_json --max_length 8192
    """
    if not runs:
        cases = present(data)
        write(out / "rewardbench.jsonl", json_lines(rewardbench(cases, Template(setting=setting, method="reward"))))
        say(f"wrote {out / 'rewardbench.jsonl'}: {len(cases):,} cases, data {cases.revision}")
        return
    from ..analysis.report import report_of
    from ..reports.card import refuse_unpublishable
    from ..reports.eee import record_files

    if not evaluator or not relationship:
        raise OptionError("A RUN needs --evaluator NAME and --relationship: no log says who evaluates. Pass both.")
    of_runs = RunData(data)
    run, controls = the_run(runs, of_runs, names)
    check_names(names, [run, *controls.values()])
    report = report_of(run, of_runs, controls)
    spec = refuse_unpublishable(run, report)
    reported = {setting: (control, report_of(control, of_runs)) for setting, control in controls.items()}
    files = record_files({run.setting: (run, report), **reported}, spec, evaluator, relationship)
    write_all({out / path: content for path, content in files.items()})
    for path in files:
        say(f"wrote {out / path}")
