"""Cases that are duels, for a verdict: the facts of their folder's manifest."""

from __future__ import annotations

from ..common.errors import DataError
from ..common.strict_json import cut, short
from ..engine.duels import Duels
from .cases import CaseSet

SOURCE = "source"
"""The key of a row that names the benchmark's case."""


def duels(cases: CaseSet) -> Duels | None:
    """What the manifest and the rows say; None for cases that are no duels.

    Raises:
        DataError: a row does not name its case.
    """
    manifest = cases.release.manifest
    if manifest is None or manifest.duel is None:
        return None
    found, sources = manifest.duel, {}
    for case in cases:
        source = case.extra.get(SOURCE)
        if not isinstance(source, str):
            raise DataError(
                f"{cases.source}, {cut(case.id)}: found {SOURCE} = {short(source)}, expected the id of the benchmark's case. "
                "Make the folder again with `personafeedback duel`."
            )
        sources[case.id] = source
    return Duels(**vars(found), sources=sources)
