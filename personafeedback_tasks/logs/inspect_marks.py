"""What Inspect, or somebody with it, says of a sample: why it does not count."""

# Inspect 0.3.285 can invalidate samples (`inspect_ai.log.invalidate_samples`), which leaves its table of means as it
# was. Later versions can exclude samples from the metrics, too. Neither says that a sample was answered wrongly: it is
# left out here.

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from . import fields
from .log import INVALIDATED

EXCLUDED = "excluded from metrics"

# A sample that a limit or an error ended counts nevertheless if all its calls were answered before.
_ENDED = ("limit", "error")

# the beginnings of fields that mark a sample or a score: `invalidation`, and others in later versions
_MARK = re.compile("invalid|exclu")


def mark_of(sample: Mapping[str, Any], scorer: str) -> str:
    """Why a sample does not count; empty if it does, or if nothing is scored yet."""
    # Inspect leaves a score that is nan as a whole out of its metrics.
    score = (sample.get("scores") or {}).get(scorer)
    score = score if isinstance(score, dict) else {}
    value = score.get("value")
    unscored = isinstance(value, float) and math.isnan(value)
    for name in fields.named("inspect EvalSample", fields.REASON):
        if (found := sample.get(name)) and (name not in _ENDED or unscored or (name == "error" and not score)):
            return fields.words(name).format_map(found if isinstance(found, dict) else {})
    later = [name for of in (sample, score) for name, value in of.items() if value and _MARK.match(name)]
    if any(name.startswith("invalid") for name in later):
        return INVALIDATED
    return (unscored and fields.words(str(score.get("reason")))) or (EXCLUDED if later or unscored else "")
