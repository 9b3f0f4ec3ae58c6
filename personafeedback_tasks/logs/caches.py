"""Runs of two models with one cache: lm-eval's `--use_cache` looks requests up by their arguments, whatever the
model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations

from .run import Run, RunError

TELLING = 10
"""So many different shared replies are no chance, whatever else differs: letters alone are fewer."""


def refuse_shared(runs: Sequence[Run]) -> None:
    """Raise RunError if runs of different models, or under other conditions, name one cache file and have its replies."""
    for one, other in combinations([run for run in runs if run.cached], 2):
        models = {"model": (one.model, other.model)} if one.model != other.model else {}
        differing = models | one.other_conditions(other)
        if differing and _may_be_one_file(one.cache, other.cache) and _share_replies(one, other):
            what = "; ".join(f"{name} {mine} and {its}" for name, (mine, its) in differing.items())
            raise RunError(
                f"{one.logs[0]} and {other.logs[0]} have the same replies and name the same cache, {other.cache} (--use_cache), but differ "
                f"({what}): what ran later was never asked. Use one cache file per model, and run it again without this one."
            )


def _may_be_one_file(one: str, other: str) -> bool:
    # relative paths may begin in other folders
    paths = [f"/{os.path.normpath(path)}" for path in (one, other)]
    return paths[0].endswith(paths[1]) or paths[1].endswith(paths[0])


def _share_replies(one: Run, other: Run) -> bool:
    # one reply to everything may be chance; all requests, or many different replies, are not
    pairs = [(one.cached[request], other.cached[request]) for request in one.cached.keys() & other.cached.keys()]
    shared = {mine for mine, its in pairs if mine == its}
    return len(shared) >= TELLING or (len(shared) > 1 and all(mine == its for mine, its in pairs))
