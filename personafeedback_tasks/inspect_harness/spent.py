"""Usage of a build's texts, from the logs of `generation`: each paid text counts once, whatever was killed in
between."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.log import EvalSampleSummary, read_eval_log, read_eval_log_sample_summaries, read_eval_log_samples_by_id

from ..core.usage import NONE, Usage
from .generation import LOGS


def spent(folder: Path) -> tuple[dict[tuple[str, str], Usage], int]:
    """((step, model) -> usage as the provider counted it, ordered by name; number of logs that cannot be read).

    Calls that failed or were under way at a kill are unknown. A text that a killed run wrote counts from the next run's
    log, where it comes from the cache with its tokens.
    """
    found: dict[tuple[str, str], Usage] = {}
    paid: set[tuple[str, str, str]] = set()
    from_cache: list[tuple[tuple[str, str], Path, list[EvalSampleSummary]]] = []
    broken = 0
    for path in sorted((folder / LOGS).glob("*/*.eval")):
        try:
            model = read_eval_log(path, header_only=True).eval.model
            summaries = read_eval_log_sample_summaries(path)
        except Exception:  # of a dozen unrelated classes: a killed process can leave half a file
            broken += 1
            continue
        key = (path.parent.name, model)
        found.setdefault(key, NONE)
        cached = []
        for one in summaries:
            if one.model_usage:
                usage = list(one.model_usage.values())
                found[key] += _call(sum(part.input_tokens for part in usage), sum(part.output_tokens for part in usage))
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
                found[key] += _call(told.input_tokens if told else 0, told.output_tokens if told else 0)
    return dict(sorted(found.items())), broken


def _call(input_tokens: int, output_tokens: int) -> Usage:
    return Usage(1, input_tokens, 0, output_tokens, 0)
