"""Parameters of tests that are many and dear: a part of them runs in each session, all of them before a release."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest


def a_part(values: Collection[Any], every: int, first: int = 0) -> list[Any]:
    """All values, a tuple for several parameters; but for one in `every`, they are for `tox -e release`."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if number % every == first else pytest.mark.release,
        )
        for number, value in enumerate(values)
    ]
