"""The figures of the authors' project page that stand beside a run. Only first-hand ones, see reference.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..common.errors import OptionError
from ..engine.report import Line, Published

FILE = Path(__file__).with_name("reference.json")

LINES = {
    "f1": Line("f1", "F1 of YES"),
    "kappa": Line("kappa", share=False),
    "no_better": Line("no_better", "no better than generic"),
}
"""How each measure is named and printed."""


@cache
def _file() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def beside(stage: str) -> Callable[[str | None, Sequence[str]], Published]:
    """What stands beside a run of a stage, see `ReportSpec.published`. The authors name no model with these figures."""

    def published(model: str | None, settings: Sequence[str]) -> Published:
        if model is not None:
            raise OptionError(
                f"The published figures of this benchmark belong to no single model, got {model!r}. Put --paper after the runs, without a name."
            )
        values: dict[str, dict[str, float]] = {}
        for figure in _file()["figures"]:
            if figure["stage"] == stage:
                values.setdefault(figure["measure"], {})[figure["label"]] = figure["value"]
        why = (
            f"Published on {_file()['source']}. Not comparable with the run: their rows, split and prompt differ, and they are not "
            "public in full."
        )
        return Published(why, figures=tuple((LINES[measure], of) for measure, of in values.items()))

    return published
