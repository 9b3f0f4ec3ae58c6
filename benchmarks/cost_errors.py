"""How often the intervals of `personafeedback cost` cover a planted change, and find harm where none is planted.

    python benchmarks/cost_errors.py --runs 1000

Each sample has its own chance to be right without the message; samples of one user share what the message does to them.
The planted change is the mean over new samples and users. Shapes: every sample changes alike; one sample in ten has all
of the change; some users are harmed and the others not; the message helps half of the users and harms the others, so
that nothing changes on average.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from personafeedback_tasks.analysis.other_tasks import CostOfUser, costs_of
from personafeedback_tasks.logs.other_tasks import SampleResult, TaskRun

SIZES = {"50 samples, 25 users": (50, 25), "200 samples, 50 users": (200, 50), "200 samples, one user each": (200, 200)}
HARM = (0.0, 0.08)


def run_of(setting: str, right: np.ndarray, users: np.ndarray) -> TaskRun:
    samples = {
        str(number): SampleResult(
            id=str(number), value=float(value), asked="", target="", replies=(),
            user=f"u{user}" if setting == "persona" else "",
        )
        for number, (value, user) in enumerate(zip(right, users, strict=True))
    }  # fmt: skip
    return TaskRun(
        task="planted", model="planted", setting=setting, told="", value="accuracy", conditions={}, samples=samples,
        missed=(0, 1),
        path=Path("planted"), program="planted",
    )  # fmt: skip


def effects(shape: str, harm: float, users: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Change of each sample's chance to be right; its expectation is -harm."""
    if shape == "alike":
        return np.full(len(users), -harm)
    if shape == "one sample in ten":
        return np.where(rng.random(len(users)) < 0.1, -10 * harm, 0.0)
    of_user = rng.random(users.max() + 1)
    if shape == "one user in five":
        return np.where(of_user < 0.2, -5 * harm, 0.0)[users]
    return (np.where(of_user < 0.5, 0.2, -0.2) - harm)[users]


def measured(shape: str, harm: float, size: tuple[int, int], rng: np.random.Generator) -> CostOfUser:
    count, people = size
    users = rng.permutation(np.arange(count) % people)
    # Room for the largest change on both sides, so that the planted mean is not cut off.
    chance = rng.uniform(0.8, 1.0, count) if shape == "one sample in ten" else rng.uniform(0.45, 0.75, count)
    told = chance + effects(shape, harm, users, rng)
    assert told.min() >= 0, "a chance below 0 would change the planted mean"
    runs = [run_of("no_persona", rng.random(count) < chance, users), run_of("persona", rng.random(count) < told, users)]
    return costs_of(runs)[0].entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print(
        "| shape | planted | data | over samples | over users | the wider | harm found |\n| :-- | --: | :-- | --: "
        "| --: | --: | --: |"
    )
    for shape in ("alike", "one sample in ten", "one user in five", "helps half, harms half"):
        for harm in HARM:
            for name, size in SIZES.items():
                rng = np.random.default_rng(1)
                found = [measured(shape, harm, size, rng) for _ in range(runs)]
                print(f"| {shape} | {-100 * harm or 0:+.0f} | {name} | {' | '.join(row(found, harm))} |", flush=True)
    print("\nIn percent of the runs; `harm found`: the wider interval lies below 0.")


def row(found: list[CostOfUser], harm: float) -> list[str]:
    ends = {
        "samples": [(one.by_sample.low, one.by_sample.high) for one in found if one.by_sample],
        "users": [(one.by_user.low, one.by_user.high) for one in found if one.by_user],
    }
    ends["wider"] = [
        max([ends[name][n] for name in ("samples", "users") if ends[name]], key=lambda end: end[1] - end[0])
        for n in range(len(found))
    ]
    shown = [f"{100 * np.mean([low <= -harm <= high for low, high in of]):.1f}" if of else "–" for of in ends.values()]
    return [*shown, f"{100 * np.mean([high < 0 for _, high in ends['wider']]):.1f}"]


if __name__ == "__main__":
    main()
