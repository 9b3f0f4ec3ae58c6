"""The README.md of a release, its dataset card on the Hub, from the template `data_card.md.j2`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import DatasetCard, DatasetCardData

from ...annotation.rows import Dropped
from ...common import foreign
from ...common.errors import require
from ...personafeedback.manifest import UNKNOWN
from ..folder import Folder
from ..rows import STRATEGIES
from ..spending import HEADER, writers, yield_rows
from .labeling import CIRCULAR, CODINGS, agreement_table, risk_table
from .preferences import SHARED
from .release_folder import Made
from .shortcuts import MOST, STOPPING, Shortcuts, shortcut_table

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))

_HOW_MADE = {
    "full": "told the whole persona",
    "masked": "told the persona with most of its fields hidden",
    "question": "told the question alone",
    "improved": "an improved rewrite",
    "degraded": "a degraded rewrite",
    "imported": "brought from elsewhere",
}


def card(made: Made, folder: Folder, shortcuts: Shortcuts, accepted: Sequence[str], control: str) -> str:
    """The card of a release, with the Hub's metadata.

    Args:
        accepted: sentences on accepted reasons against the release.
        control: reason why a control cannot run on the set; empty if all can.
    """
    manifest, none = made.manifest, made.manifest.license == UNKNOWN
    total = sum(manifest.counts.values())
    data = DatasetCardData(
        language=folder.settings.language,
        license="other" if none else manifest.license.lower(),
        pretty_name=manifest.name,
        size_categories=next((name for most, name in _SIZES if total < most), "100K<n<1M"),
        task_categories=["text-generation"],
        tags=["personalization", "preference", "personafeedback"],
        configs=[
            {"config_name": cell, "data_files": f"data/{cell.replace('_', '/', 1)}.jsonl"} for cell in manifest.counts
        ],
    )
    strategies = Counter(answer.strategy for answer in made.answers.values())
    dropped = [f"{one.annotator}{f' ({one.reason})' if one.reason else ''}" for one in folder.read(Dropped)]
    yields, cells = yield_rows(folder), [[cell.replace("_", " "), f"{n:,}"] for cell, n in manifest.counts.items()]
    body = _template().render(
        manifest=manifest, made=made, cells=_table(["cell", "cases"], cells), writers=writers(folder), dropped=dropped, accepted=accepted,
        control=control, circular=CIRCULAR, codings=CODINGS, shared=SHARED, most=f"{100 * MOST:.0f}", license="" if none else manifest.license,
        responses=[(f"{strategies[name]:,}", _HOW_MADE[name]) for name in STRATEGIES if strategies[name]],
        yields=_table(HEADER, yields) if yields else "",
        agreement=_table(*agreement_table(made.agreement, " to ")) if made.agreement else "",
        risks=_table(*risk_table(made.noise, " to ")) if made.noise else "",
        shortcuts=_table(*shortcut_table(shortcuts, "`")), has_hard="hard" in next(iter(shortcuts.values())),
        stopping=", ".join(f"`{name}`" for name in STOPPING if name in shortcuts),
        faults=any("faults" in row for rows in made.rows.values() for row in rows), tasks=",".join(f"personafeedback_{cell}" for cell in manifest.counts),
    )  # fmt: skip
    return str(DatasetCard(f"---\n{data.to_yaml()}\n---\n\n{body}\n"))


def _template() -> Any:
    require("jinja2", extra="report")
    from jinja2 import Environment, StrictUndefined

    environment = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters.update(text=foreign.markdown, number="{:,}".format)
    return environment.from_string(Path(__file__).with_name("data_card.md.j2").read_text(encoding="utf-8"))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
