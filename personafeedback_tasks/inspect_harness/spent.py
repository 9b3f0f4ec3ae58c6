"""What the texts of a build took, from the logs of `generation`: each text that was paid for counts once, whatever was killed in between."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSampleSummary, read_eval_log, read_eval_log_sample_summaries, read_eval_log_samples_by_id

from .generation import LOGS


@dataclass
class Spent:
    """What one model took in one step.

    Attributes:
        input_tokens, output_tokens: of these, as the provider counted them. What failed, or was under way when a run was killed, is
            not known.
    """

    step: str
    model: str
    texts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def spent(folder: Path) -> tuple[list[Spent], list[Path]]:
    """What was spent, by step and model in the order of their names; and the logs that cannot be read.

    A text that a killed run wrote is in no log of its own: the next run found it in the cache, with its tokens.
    """
    found: dict[tuple[str, str], Spent] = {}
    paid: set[tuple[str, str, str]] = set()
    from_cache: list[tuple[tuple[str, str], Path, list[EvalSampleSummary]]] = []
    broken = []
    for path in sorted((folder / LOGS).glob("*/*.eval")):
        try:
            model = read_eval_log(path, header_only=True).eval.model
            summaries = read_eval_log_sample_summaries(path)
        except Exception:  # of a dozen unrelated classes: a killed process can leave half a file
            broken.append(path)
            continue
        key = (path.parent.name, model)
        of = found.setdefault(key, Spent(*key))
        cached = []
        for one in summaries:
            if one.model_usage:
                usage = list(one.model_usage.values())
                _add(of, sum(part.input_tokens for part in usage), sum(part.output_tokens for part in usage))
                paid.add((*key, str(one.id)))
            elif one.completed and not one.error:
                cached.append(one)
        from_cache.append((key, path, cached))
    for key, path, cached in from_cache:
        new = [one for one in cached if (*key, str(one.id)) not in paid]
        if new:
            paid.update((*key, str(one.id)) for one in new)
            for sample in read_eval_log_samples_by_id(path, [(one.id, one.epoch) for one in new]):
                told = sample.output.usage
                _add(found[key], told.input_tokens if told else 0, told.output_tokens if told else 0)
    return [found[key] for key in sorted(found)], broken


def arguments(folder: Path, step: str) -> dict[str, dict[str, Any]]:
    """Model -> the arguments with which a step asked it the last time. Logs that cannot be read say nothing."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / LOGS / step).glob("*.eval")):
        with suppress(Exception):  # as above
            told = read_eval_log(path, header_only=True).eval
            address = {"base_url": told.model_base_url} if told.model_base_url else {}
            found[told.model] = {**address, **told.model_args}
    return found


def _add(of: Spent, input_tokens: int, output_tokens: int) -> None:
    of.texts += 1
    of.input_tokens += input_tokens
    of.output_tokens += output_tokens
