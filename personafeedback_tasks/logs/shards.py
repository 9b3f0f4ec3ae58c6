"""Parts of a run -> the run: the logs of its cells, and shards such as `--limit 1-505` and `--limit 506-1010`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from .run import Run, RunError


def join_shards(runs: Sequence[Run], say: Callable[[str], object]) -> list[Run]:
    """Runs that are partial, were asked the same and have no case in common become one, wherever their logs are."""
    joined: list[Run] = []
    for run in runs:
        place = next((place for place, other in enumerate(joined) if _are_shards(run, other)), None)
        if place is None:
            joined.append(run)
        else:
            joined[place] = merged([joined[place], run])
    for run in joined:
        shards = [one for one in runs if set(one.logs) < set(run.logs)]
        if shards:
            counts = " + ".join(f"{len(one.cases):,}" for one in shards)
            say(f"Joined shards of {run.label}: {counts} of {sum(run.cells.values()):,} cases.")
    return joined


def _are_shards(run: Run, other: Run) -> bool:
    partial = bool(run.partial and other.partial and run.cases and other.cases)
    return partial and run.same == other.same and not run.cases.keys() & other.cases.keys()


def merged(parts: Sequence[Run]) -> Run:
    """The parts as one run. Raises RunError if they differ in what moves a score or share a case."""
    first, *others = parts
    merged = first
    for other in others:
        for name, here in first.same.items():
            if here != (there := other.same.get(name)):
                raise RunError(
                    f"{other.logs[0]} and {first.logs[0]} differ in {name} ({there} and {here}), expected the same in one "
                    "row. Pass each as a run of its own."
                )
        twice = sorted(merged.cases.keys() & other.cases.keys())
        if twice:
            raise RunError(
                f"{other.logs[0]}: {twice[0]} is also in {' or '.join(map(str, merged.logs))} ({len(twice)} in all), expected "
                "each once in a run. Pass only the log that counts."
            )
        merged = replace(
            merged,
            date=min(merged.date, other.date),
            cells={**merged.cells, **other.cells},
            cases={**merged.cases, **other.cases},
            cached={**merged.cached, **other.cached},
            joined=tuple(
                dict.fromkeys((*(merged.joined or (merged.logs[0].name,)), *(other.joined or (other.logs[0].name,))))
            ),
            logs=tuple(dict.fromkeys((*merged.logs, *other.logs))),
            otherwise=merged.otherwise + other.otherwise,
            status=merged.status if other.finished else other.status,
            left_out=dict(Counter(merged.left_out) + Counter(other.left_out)),
            asked=(*(merged.asked or ()), *(other.asked or ())),
            unchecked=tuple(dict.fromkeys((*merged.unchecked, *other.unchecked))),
            prompts=merged.prompts + other.prompts,
            usage=merged.usage + other.usage,
            elsewhere=merged.elsewhere + other.elsewhere,
        )
    return merged
