"""An lm-eval run on several ranks, in threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from lm_eval.evaluator import evaluate
from lm_eval.tasks import TaskManager

from personafeedback_tasks.cli.registration import task_configs


class Ranks:
    """Joins the threads of all ranks: each gives a value and gets everyone's."""

    def __init__(self, size):
        self.size = size
        self._values = [None] * size
        self._barrier = threading.Barrier(size, timeout=600)

    def exchange(self, rank, value):
        self._values[rank] = value
        self._barrier.wait()
        values = list(self._values)
        self._barrier.wait()
        return values

    def run(self, function):
        """`function(rank)` in one thread per rank; all results, or the first error."""

        def work(rank):
            try:
                return function(rank)
            except BaseException:
                self._barrier.abort()
                raise

        with ThreadPoolExecutor(self.size) as threads:
            done = [threads.submit(work, rank) for rank in range(self.size)]
        errors = [one.exception() for one in done if one.exception()]
        for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
            raise error
        return [one.result() for one in done]


class Ranked:
    """What lm-eval's models for several GPUs communicate with: for a class of models, before `LM`."""

    def on(self, ranks, rank):
        """This model as one rank."""
        self._ranks, self._rank, self._world_size = ranks, rank, ranks.size
        return self

    def all_gather(self, tensor):
        torch = pytest.importorskip("torch")
        return torch.stack(self._ranks.exchange(self.rank, tensor))

    def gather_object(self, obj, dst=0):
        values = self._ranks.exchange(self.rank, obj)
        return values if self.rank == dst else None

    def barrier(self):
        self._ranks.exchange(self.rank, None)


def evaluate_on(models, task, data, limit=None, **options):
    """The results of rank 0 on as many ranks as there are models."""
    ranks = Ranks(len(models))
    models = [model.on(ranks, rank) for rank, model in enumerate(models)]
    metadata = {"data": str(data), **options}
    loaded = [
        TaskManager(include_path=str(task_configs()), include_defaults=False, metadata=metadata).load([task])
        for _ in models
    ]

    def work(rank):
        return evaluate(models[rank], loaded[rank], limit=limit, bootstrap_iters=2, log_samples=True)

    results, *others = ranks.run(work)
    assert others == [None] * (len(models) - 1)
    return results
