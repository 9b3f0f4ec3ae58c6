"""The options of a run, the same in both harnesses (`--metadata '{...}'` in lm-eval, `-T` in Inspect)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .dataset import COUNTS, CaseSet
from .errors import OptionError, choose
from .prompts import SETTINGS


@dataclass(frozen=True)
class Options:
    """
    Attributes:
        data: where the release is, see `release.locate`.
        setting: what the model is told about the user, see `prompts.SETTINGS`.
        counts: `table2` or `any`, see `dataset.load_cases`.
    """

    data: str | None = None
    setting: str = "persona"
    counts: str = "table2"

    def __post_init__(self) -> None:
        if self.data is not None and not isinstance(self.data, str):
            raise OptionError(f"data={self.data!r} is not known. Use a folder, 'sample', or a Hub dataset id.")
        choose("setting", self.setting, tuple(SETTINGS))
        choose("counts", self.counts, COUNTS)

    @classmethod
    def read(cls, mapping: Mapping[str, Any]) -> Options:
        """Take our own keys out of a mapping that also holds other people's."""
        return cls(**{field.name: mapping[field.name] for field in fields(cls) if mapping.get(field.name) is not None})

    def named(self, task: str, cases: CaseSet) -> str:
        """The task's name as rows and logs show it: what a reader must not overlook stands in it."""
        remarks = [self.setting] * (self.setting != "persona") + ["demonstration"] * cases.release.is_sample
        return f"{task} ({', '.join(remarks)})" if remarks else task
