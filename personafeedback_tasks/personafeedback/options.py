"""The options of a run, the same in both harnesses (`--metadata '{...}'` in lm-eval, `-T` in Inspect)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..common.errors import OptionError, choose
from .cases import COUNTS, CaseSet
from .prompts import Template


@dataclass(frozen=True, kw_only=True)
class Options(Template):
    """A template, and the data that it is applied to.

    Attributes:
        data: where the release is, see `release.locate`.
        counts: `table2` or `any`, see `dataset.load_cases`.
    """

    data: str | None = None
    counts: str = "table2"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data is not None and not isinstance(self.data, str):
            raise OptionError(f"data={self.data!r} is not known. Use a folder, 'sample', or a Hub dataset id.")
        choose("counts", self.counts, COUNTS)

    @classmethod
    def read(cls, mapping: Mapping[str, Any]) -> Options:
        """Take our own keys out of a mapping that also holds other people's."""
        found = {field.name: mapping[field.name] for field in fields(cls) if mapping.get(field.name) is not None}
        if "hide" in found:
            found["hide"] = _names(found["hide"])
        return cls(**found)

    @classmethod
    def strict(cls, **mapping: Any) -> Options:
        """As `read`, but a key of somebody else is an error."""
        known = [field.name for field in fields(cls)]
        unknown = [key for key in mapping if key not in known]
        if unknown:
            raise OptionError(f"{unknown[0]}={mapping[unknown[0]]!r} is no option. Use: {', '.join(sorted(known))}.")
        return cls.read(mapping)

    def named(self, task: str, cases: CaseSet) -> str:
        """The task's name as rows and logs show it: what a reader must not overlook stands in it."""
        remarks = self.remarks()
        if cases.release.is_sample:
            remarks.append("demonstration")
        return f"{task} ({', '.join(remarks)})" if remarks else task


def _names(value: object) -> tuple[str, ...]:
    """`Name,Preference.Travel`, or a list of such names."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise OptionError(
            f"hide={value!r} is not known. Use names of persona fields, as in hide=Name,Preference.Travel."
        )
    return tuple(sorted({part.strip() for part in parts}))
