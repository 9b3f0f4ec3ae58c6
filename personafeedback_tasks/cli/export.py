"""The command that writes what other programs read: export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..common.errors import OptionError
from ..common.files import write, write_all
from ..common.records import json_lines
from ..logs.data import RunData
from ..personafeedback.conversations import SETTINGS, rewardbench
from ..personafeedback.prompts import Template
from .data import selected
from .options import RUN, name_option, release_options
from .output import say
from .runs import check_names, report_of, the_run


@click.command("export")
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=RUN)
@click.option("--format", "as_format", type=click.Choice(["eee", "rewardbench"]), required=True, help="Output format.")
@click.option(
    "--out",
    metavar="PATH",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder of a datastore for eee, a file of JSONL for rewardbench.",
)
@click.option("--evaluator", metavar="NAME", help="eee: the organization that ran the evaluation.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    help="eee: of the evaluator to the model's developer.",
)
@click.option(
    "--deployment",
    type=click.Choice(["self_deployed", "externally_managed", "unknown"]),
    default="unknown",
    show_default=True,
    help="eee: who ran the model.",
)
@click.option(
    "--availability",
    type=click.Choice(["open_weights", "closed_weights", "unknown"]),
    default="unknown",
    show_default=True,
    help="eee: of the model's weights.",
)
@name_option
@click.option(
    "--setting",
    type=click.Choice(SETTINGS),
    default=SETTINGS[0],
    show_default=True,
    help="rewardbench: what the model is told about the user.",
)
@release_options
def export_command(
    runs: tuple[Path, ...],
    as_format: str,
    out: Path,
    evaluator: str | None,
    relationship: str | None,
    deployment: str,
    availability: str,
    names: dict[str, str],
    setting: str,
    **options: Any,
) -> None:
    """Write a run as a record of Every Eval Ever, or cases for reward models that ship their own code.

    eee writes data/BENCHMARK/DEVELOPER/MODEL/ID.json with every number, its clustered error and its interval, and beside it a
    sample for each call: their mean is acc. Several RUN are one run and its controls. What `card` refuses is refused here too.

    rewardbench writes cases, of which every row says that it is test data. RewardBench needs datasets 4 or later: earlier versions
    silently corrupt message lists. It also truncates conversations to 512 tokens by default.

    \b
        personafeedback export logs/a.eval --format eee --evaluator "Acme" --relationship third_party --out datastore
        personafeedback export --format rewardbench --out cases.jsonl
        rewardbench --model MODEL --dataset cases.jsonl --load_json --max_length 8192
    """
    if as_format == "rewardbench":
        if runs:
            raise OptionError("rewardbench takes no RUN: it is about cases. Leave it out, or pass --format eee.")
        cases, _ = selected(**options)
        write(out, json_lines(rewardbench(cases, Template(setting=setting, method="reward"))))
        say(f"wrote {out}: {len(cases):,} cases, data {cases.revision}")
        return
    from ..reports.card import refuse_unpublishable
    from ..reports.eee import Evaluator, record_files

    if not runs or not evaluator or not relationship:
        raise OptionError(
            "eee needs a RUN, --evaluator NAME and --relationship: no log says who evaluates. Pass all three."
        )
    data = RunData(options["data"])
    run, controls = the_run(runs, [data], None, names)
    check_names(names, [run, *controls.values()])
    reports = {run.setting: report_of(run, data, controls)}
    spec = refuse_unpublishable(reports[run.setting])
    reports |= {setting: report_of(control, data) for setting, control in controls.items()}
    files = record_files(reports, spec, Evaluator(evaluator, relationship, deployment, availability))
    write_all({out / path: content for path, content in files.items()})
    for path in files:
        say(f"wrote {out / path}")
