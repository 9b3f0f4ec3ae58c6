"""The paper's numbers that stand beside a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ...common.errors import OptionError
from ...engine.report import Published, PublishedAspects
from .tables import AVERAGES, COUNTS, MACRO, PaperRow, same_model, table

WHY = (
    "Published in arXiv 2506.12915, in percent. Not comparable with the run: we found neither the authors' prompt nor their order of the "
    "options nor their decoding."
)
_COLUMNS = {**{cell: cell for cell in COUNTS}, **AVERAGES}
"""Column of Tables 3 and 6 -> the report's column."""


def beside(model: str | None, settings: Sequence[str]) -> Published:
    """What the paper has of a model: Tables 3 and 6, which are about the setting `persona`, and Table 7, a plain mean of the cells.

    Args:
        model: a name of Tables 3, 6 or 7, or an id of Table 8; None for the best model and the best reward model of Table 3.
        settings: those of the runs that the numbers go beside.

    Raises:
        OptionError: the paper has no such model.
    """
    names = _best() if model is None else [_known(model)]
    rows: dict[str, dict[str, float]] = {}
    slips = []
    for name in names:
        for number in ("3", "6") if "persona" in settings else ():
            for row in table(number).rows:
                if row.name == name:
                    rows[_label(row, number)] = {to: row.cells[column] / 100 for column, to in _COLUMNS.items()}
                    slips += [_slip(row, slip) for column in _COLUMNS if (slip := table(number).erratum(row, column))]
        for row in table("7").rows:
            if same_model(row.name, name):
                rows |= {
                    f"{name}, {setting}, Table 7": {MACRO: row.cells[setting] / 100}
                    for setting in settings
                    if setting in row.cells
                }
    return Published(" ".join([WHY, *slips]), rows, _aspects())


def _best() -> list[str]:
    """The best model and the best reward model of Table 3, by its last column."""
    groups: dict[bool, list[PaperRow]] = {False: [], True: []}
    for row in table("3").rows:
        groups[row.group == "reward"].append(row)
    return [max(rows, key=lambda row: row.cells["total_avg"]).name for rows in groups.values()]


def _known(model: str) -> str:
    """The name of a model in Tables 3 and 6.

    Raises:
        OptionError: it is in neither.
    """
    names = list(dict.fromkeys(row.name for number in ("3", "6") for row in table(number).rows))
    ids = {row.about["hub"].lower(): row.name for row in table("8").rows if row.name in names}
    wanted = ids.get(model.lower(), model.rpartition("/")[2]).lower()
    for name in names:
        if name.lower() == wanted or same_model(wanted, name.lower()):
            return name
    near = get_close_matches(wanted, [name.lower() for name in names], n=3, cutoff=0.4)
    alike = ", ".join(name for name in names if name.lower() in near)
    raise OptionError(
        f"The paper has no model {model!r}. Use a name of its Table 3{alike and f', such as {alike}'} (see `personafeedback paper "
        "--table 3`), or put --paper after the runs for its best models."
    )


def _aspects() -> PublishedAspects:
    """The accuracy of each HelpSteer2 aspect per cell and category, for a reward model with several outputs."""
    table_4 = table("4")
    return PublishedAspects(
        label="paper",
        source=f"paper: Table {table_4.number}, {table_4.caption}. Whether that model saw the persona is not said.",
        acc={f"{row.group}_{row.name}".removesuffix("_whole"): row.cells for row in table_4.rows},
    )


def _slip(row: PaperRow, slip: Mapping[str, Any]) -> str:
    return (
        f"A likely slip, shown as printed: {row.name}, {table('3').columns[slip['column']]}, has {slip['printed']}, and its cells "
        f"give {slip['from_cells']}."
    )


def _label(row: PaperRow, number: str) -> str:
    return ", ".join([row.name, *([row.about["training"]] if row.about.get("training") else []), f"Table {number}"])
