"""The arguments and options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ..common.errors import OptionError
from ..core.usage import Prices
from ..logs.data import RunData

Decorator = Callable[[Any], Any]

RUN = click.Path(exists=True, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


runs_argument = click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=RUN)

FILE_OR_STDOUT = click.Path(dir_okay=False, allow_dash=True, path_type=Path)

json_option = click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=FILE_OR_STDOUT,
    help="Write everything to FILE as JSON; - writes JSON to stdout and no tables.",
)

price_option = click.option(
    "--price",
    "prices",
    metavar="IN,OUT",
    callback=lambda context, option, value: None if value is None else _prices(value),
    help="Dollars per million prompt tokens and per million reply tokens, such as 2.5,10.",
)


def _prices(value: str) -> Prices:
    try:
        first, second = map(float, value.split(","))
    except ValueError:
        first = second = -1.0
    if not (0 <= first < math.inf and 0 <= second < math.inf):
        raise OptionError(
            f"--price must be two numbers of dollars with a comma between them, such as 2.5,10, got {value!r}."
        )
    return Prices(first, second)


name_option = click.option(
    "--name",
    "names",
    metavar="MODEL=SHOWN",
    multiple=True,
    callback=lambda context, option, values: dict(map(_name, values)),
    help="Show MODEL under the name SHOWN; may be repeated. Runs with the same name count as one model, such as a "
    "run in Inspect and its control in lm-eval.",
)


def _name(value: str) -> tuple[str, str]:
    model, _, shown = value.partition("=")
    if not (model and shown.strip()):
        raise OptionError(f"--name must be MODEL=SHOWN, got {value!r}.")
    return model, shown.strip()


def task_option(which: str) -> Decorator:
    """-T, as the argument `given`: pairs for `given_options`."""
    help = f"Task option, as in Inspect: {which}. May be repeated."
    return click.option("-T", "given", metavar="NAME=VALUE", multiple=True, help=help)


def given_options(given: Sequence[str], option: str = "-T") -> dict[str, Any]:
    """The options of -T or -M as Inspect reads them, YAML 1.1. OptionError if one is repeated."""
    import yaml  # reports need none

    options: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        name = name.replace("-", "_")
        if not equals or not name:
            raise OptionError(f"{option} needs NAME=VALUE, got {pair!r}.")
        if name in options:
            raise OptionError(f"{name} is given twice. Leave one of them out.")
        try:
            options[name] = yaml.safe_load(value)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise OptionError(
                f"{option} {pair}: found a value that is not valid YAML, which Inspect expects. Quote it."
            ) from error
        if isinstance(options[name], str) and "," in options[name]:
            options[name] = options[name].split(",")
    return options


def out_option(help: str, required: bool = False) -> Decorator:
    """--out, a folder."""
    return click.option("--out", metavar="DIR", required=required, type=FOLDER, help=help)


data_option = click.option(
    "--data",
    callback=lambda context, option, named: RunData(named),
    help="The data of the run: a folder, `sample`, or a Hub dataset id. Default: the data that the log names, else "
    "the benchmark's environment variable, such as PERSONAFEEDBACK_DATA.",
)

places_option = click.option(
    "--data",
    metavar="DIR",
    multiple=True,
    callback=lambda context, option, named: RunData(*named, anywhere=True),
    help="Where the data of the runs, their duels or the calibration set are now, if they were moved; may be "
    "repeated. Default: the place that the logs name, else the benchmark's environment variable, such as "
    "PERSONAFEEDBACK_DATA.",
)

value_option = click.option(
    "--value",
    "values",
    metavar="NAME",
    multiple=True,
    help="Which number to use if a task reports several: a scorer, a key of its scores, or METRIC,FILTER. "
    "May be repeated.",
)

cost_option = click.option(
    "--cost",
    "cost_logs",
    metavar="LOG",
    multiple=True,
    type=RUN,
    help="Logs of other tasks run with and without a user's profile (see `cost`). Shows what the profile costs "
    "there next to the gain.",
)
