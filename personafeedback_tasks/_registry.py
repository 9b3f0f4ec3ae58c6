"""What Inspect loads through the entry point `inspect_ai`: the tasks, and each benchmark's scorers, judges and reward models."""

from .core.benchmark import benchmarks
from .inspect_harness.judges import judges
from .inspect_harness.reward_api import reward_models
from .inspect_harness.scorers import scores
from .inspect_tasks import (
    memsyco,
    personafeedback,
    personafeedback_swap,
    personafeedback_write,
    prefeval,
    recenter,
    with_user,
)

for _name, _benchmark in benchmarks().items():
    judges(_name)
    for _method in _benchmark.methods.values():
        if "inspect" in _method.harnesses:
            scores(_name, _method.name)

__all__ = [
    "memsyco", "personafeedback", "personafeedback_swap", "personafeedback_write", "prefeval", "recenter", "reward_models",
    "with_user",
]  # fmt: skip
