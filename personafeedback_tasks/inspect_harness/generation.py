"""Texts that a model writes, one Inspect sample each, so that a killed run is completed and nothing is asked twice.

Inspect brings providers, retries, cache and log. Cache entries belong to one request id, so equal prompts under two ids
are two texts.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import BatchConfig, CachePolicy, Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ..common.errors import OptionError, PersonaFeedbackError
from ..common.records import cut
from ..core.usage import NONE, Usage

RETRIES = 5
"""Retries before Inspect gives up a text, for about a minute and a half. By default it never gives up."""

PATIENCE = 20
"""Failures in a row after which the rest is not asked: with a server that is down, each takes a minute and a half."""

LOGS, CACHE = "logs", "cache"
"""Folders of a build."""

# characters of a failure; a server may answer with a page
_LONGEST_REASON = 300

# Inspect's, for its own terminal
_MARKUP = re.compile(r"\[/?(?:bold|blue)\]")


class GenerationError(PersonaFeedbackError):
    """A model wrote none of the texts."""


class WrittenText(NamedTuple):
    """A text that a model wrote."""

    text: str  # without the thinking before it, where the provider keeps that apart; may be empty
    cut: bool  # it ended at the limit of its length
    withheld: bool = False  # a filter of the provider kept it back, or its end; the text is then empty


Generated = tuple[dict[str, WrittenText], dict[str, str]]
"""(id -> text, id -> why there is none); each id that was asked for is in one of the two."""


def generate(
    prompts: Mapping[str, str],
    model: str,
    folder: Path,
    *,
    step: str,
    model_args: Mapping[str, Any] = {},
    max_tokens: int | None = None,
    seeds: Mapping[str, int] = {},
    batch: bool | BatchConfig = False,
    came: Callable[[], None] = lambda: None,
) -> Generated:
    """Have a model write the texts that are not yet in the cache.

    Args:
        prompts: id of a text -> all that the model is told.
        model: as Inspect names it: `openai/gpt-4o`.
        folder: of the build. The log is written to logs/<step>/, the cache to cache/<step>/.
        step: which step asks; the name of the task in the log.
        max_tokens: limit on a reply; the provider's if None.
        seeds: id of a text that is asked for again -> seed of the provider's sampling, where it takes one.
        batch: use the provider's batch interface, where it has one; or its settings.
        came: is called after each request that ended.

    Raises:
        OptionError: there is no such model, or it lacks something, such as a key.
        GenerationError: every request failed.
        KeyboardInterrupt: the user stopped it. What was written is in the cache.
    """
    if not prompts:
        return {}, {}
    writer = _started(model, model_args)
    task = Task(
        dataset=MemoryDataset(
            [Sample(id=name, input=prompt, metadata={"seed": seeds.get(name)}) for name, prompt in prompts.items()],
            name=step,
        ),
        solver=_writes(came),
        name=step,
    )
    with _environment("INSPECT_CACHE_DIR", str(_cache(folder, step))):
        logs = inspect_eval(
            task,
            model=writer,
            log_dir=str((folder / LOGS / step).resolve()),
            display="none",
            fail_on_error=False,
            score=False,
            score_display=False,
            log_realtime=False,  # a killed run is completed from the cache, and needs no second copy of its samples
            max_retries=RETRIES,
            max_tokens=max_tokens,
            batch=batch,
        )
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    (log,) = logs
    texts, failures = _read(log, prompts)
    if not texts:
        name, why = next(iter(failures.items()))
        raise GenerationError(
            f"{model}: found no reply to any of the {len(prompts)} requests of `{step}`; {name!r} failed with: {why} "
            "Check the server and its address, the key and the model's name, then run the step again. The log: "
            f"{log.location}"
        )
    return texts, failures


def forget(folder: Path, step: str) -> None:
    """Empty the cache of a step whose texts are all in the build's files, so that a removed text is asked for again."""
    shutil.rmtree(_cache(folder, step), ignore_errors=True)


def _cache(folder: Path, step: str) -> Path:
    return (folder / CACHE / step).resolve()


def check_models(names: Iterable[str], arguments: Mapping[str, Any]) -> None:
    """Raise OptionError if a model cannot be started with these arguments, before the first is paid."""
    for name in names:
        _started(name, arguments)


def _started(model: str, model_args: Mapping[str, Any]) -> Model:
    given = dict(model_args)
    base_url = given.pop("base_url", None)
    try:
        return get_model(model, base_url=base_url, memoize=False, **given)
    except Exception as error:  # of a dozen unrelated classes: a provider's package, key or argument is missing
        reason = _one_line(_MARKUP.sub("", str(error))) or type(error).__name__
        raise OptionError(
            f"model {model!r} could not be started: {reason.rstrip('.')}. Name it as Inspect does, such as "
            "openai/gpt-4o, and install what its provider needs."
        ) from error


@solver(name="writes")
def _writes(came: Callable[[], None]) -> Solver:
    in_a_row = 0

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        nonlocal in_a_row
        if in_a_row >= PATIENCE:
            raise GenerationError(f"not asked: {PATIENCE} requests in a row had failed")
        kept = CachePolicy(expiry=None, per_epoch=False, scopes={"request": str(state.sample_id)})
        try:
            written = await generate(state, cache=kept, seed=state.metadata["seed"])
        except Exception:
            in_a_row += 1
            raise
        finally:
            came()
        in_a_row = 0
        return written

    return solve


def _read(log: EvalLog, names: Iterable[str]) -> Generated:
    samples = {str(sample.id): sample for sample in log.samples or ()}
    texts, failures = dict[str, WrittenText](), dict[str, str]()
    for name in names:
        sample = samples.get(name)
        why = _failure(log, sample)
        if sample is None or why:
            failures[name] = why
        else:
            output = sample.output
            cut_off = output.stop_reason in ("max_tokens", "model_length")
            withheld = output.stop_reason == "content_filter"
            texts[name] = WrittenText("" if withheld else output.choices[0].message.text.strip(), cut_off, withheld)
    return texts, failures


def _failure(log: EvalLog, sample: EvalSample | None) -> str:
    error = log.error if sample is None else sample.error
    if error is not None:
        # The message of a sample's error has the whole request before the reason; the last call has the reason alone.
        why = error.message
        for event in sample.events if sample else ():
            if isinstance(event, ModelEvent) and event.error:
                why = event.error
        return f"{_one_line(why).rstrip('.')}."
    if sample is None:
        return f"the run ended before it ({log.status})."
    if not sample.output.choices:
        return "the provider sent no reply."
    return ""


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST_REASON)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def spent(folder: Path) -> tuple[dict[str, Usage], int]:
    """(model -> tokens as the provider counted them, ordered by name; number of logs that do not say how many).

    A run that was killed wrote no count into its log. Texts from the cache cost nothing.
    """
    found: dict[str, Usage] = {}
    without = 0
    for path in sorted((folder / LOGS).glob("*/*.eval")):
        try:
            log = read_eval_log(path, header_only=True)
        except Exception:  # of a dozen unrelated classes: a killed process can leave half a file
            without += 1
            continue
        without += log.status == "started"
        for model, usage in log.stats.model_usage.items():
            took = Usage(0, usage.input_tokens, 0, usage.output_tokens, 0)
            found[model] = found.get(model, NONE) + took
    return dict(sorted(found.items())), without
