"""The Inspect task for some cells of a benchmark: one sample asks all calls of a case, concurrently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig

from ..common.errors import OptionError
from ..core.asked import AskedTask
from ..core.benchmark import find
from ..core.cases import shown_source
from ..core.method import TOP_TOKENS, RewardMethod, TopTokenMethod
from . import hooks
from .calls import ask_every_call
from .errors import errors_in_one_line
from .reward_api import CONNECTIONS, refuse_other_model
from .scorers import scores

_LOGPROBS = GenerateConfig(
    logprobs=True,
    top_logprobs=20,  # OpenAI's and vLLM's maximum; where fewer are allowed, set --top-logprobs
    max_tokens=TOP_TOKENS,
    # Some servers scale log-probabilities by the temperature, but not at 0; and white space is not left to luck.
    temperature=0.0,
    cache_prompt=False,
)


@errors_in_one_line()
def build_task(benchmark: str, selection: str, options: Mapping[str, Any], only: str | None = None) -> Task:
    """The Inspect task for some cells of a benchmark under some options.

    Args:
        selection: one of `Benchmark.selections`: the end of the task's name.
        options: what the user passed: options of `Benchmark.options`.
        only: the method that the task's name says; None leaves it to an option.

    Raises:
        OptionError: an option has an invalid value, or conflicts with another option.
        DataError: the data are not what the release promises.
    """
    record = find(benchmark)
    given = {**options, **options.get("unknown", {})}
    given.pop("unknown", None)
    if only is not None:
        if given.get("method", only) != only:
            raise OptionError(f"method must be {only} in a task of that name, got {given['method']!r}. Leave it out.")
        given["method"] = only
    every = record.options_of(given)
    method = record.method(every[0].method, "inspect")
    name = record.task(selection, method.suffix if only else "")
    asked = AskedTask.load(record, name, record.selections[selection], every)
    refuse, config = None, _LOGPROBS
    if isinstance(method, RewardMethod):
        refuse, config = refuse_other_model, GenerateConfig(max_connections=CONNECTIONS)
    elif not isinstance(method, TopTokenMethod):
        # The part of a prompt that cases share is shorter than what Anthropic caches: a cache write is never read back.
        config = GenerateConfig(max_tokens=method.max_tokens, temperature=0.0, cache_prompt=False)
    samples = []
    for document, about in zip(asked.documents.values(), asked.logged(), strict=True):
        sample_id, targets = about.pop("id"), about.pop("targets")
        samples.append(Sample(id=sample_id, input=record.input(document), target=targets, metadata=about))
    return Task(
        dataset=MemoryDataset(
            samples, name=record.titled(asked.cases.named_set), location=shown_source(asked.cases.source)
        ),
        solver=ask_every_call(asked, refuse),
        scorer=scores(record.name, method.name)(),
        config=config,
        epochs=Epochs(1, []),  # no reducer, see `scorers.measures`; --epochs and --epochs-reducer work as usual
        version=record.version,
        name=_shown(asked.name),
        metadata=hooks.watch(asked),
    )


# bytes of a task's name: Inspect makes it part of the log file's name, of which a file system takes 255
_LONGEST = 150


def _shown(name: str) -> str:
    # for Inspect, a part before a slash would be a package; the signature has the name in full
    plain = name.replace("/", "-")
    cut = plain.encode()[:_LONGEST].decode(errors="ignore")
    return plain if cut == plain else f"{cut}…"
