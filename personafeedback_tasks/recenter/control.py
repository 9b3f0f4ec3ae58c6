"""The options that the tasks of a stage have: its data, and the control."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..engine.options import option
from ..engine.report import Control
from .data import Rows, file_name
from .others import A, attributes_of_others
from .rows import STAGES

OTHER_USER = "other_user"
NO_CONTROL = "none"


def data_option() -> Any:
    """The field for the data."""
    files = ", ".join(map(file_name, STAGES))
    return option(None, f"a folder with any of {files}, or `sample`; RECENTER_DATA if not given")


def counts_option() -> Any:
    """The field for the number of rows, which nothing says."""
    return option("any", "nothing says how many rows there should be", values=lambda: ("any",))


def control_option() -> Any:
    """The field for the control."""
    return option(
        NO_CONTROL,
        "other_user shows attributes of other users instead, which nothing makes relevant",
        values=lambda: (NO_CONTROL, OTHER_USER),
        said=lambda value: [f"control {value}"],
    )


def under_control(found: Rows[A], control: str) -> Rows[A]:
    """The rows with what the control shows, whatever they showed before.

    Raises:
        DataError: see `others.attributes_of_others`.
    """
    given = attributes_of_others(found.cases) if control != NO_CONTROL else {}
    return replace(found, cases=tuple(replace(row, other=given.get(row.id, "")) for row in found))


SELECTED = "selected"
"""Of the values of a row: how far the model lets the attribute that it is shown matter, in [0, 1]."""

CONTROL = Control(
    option="control",
    value=OTHER_USER,
    gain="own minus others'",
    without="with attributes of another user",
    others=(NO_CONTROL,),
    measure=SELECTED,
)
"""How much more the model makes of the users' own attributes than of others'. People judged the own ones only, so that nothing
is right or wrong under the control."""
