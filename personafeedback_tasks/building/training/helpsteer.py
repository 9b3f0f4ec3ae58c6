"""HelpSteer2, the paper's second source of training pairs (Appendix E): two responses to a prompt, of which people found one more helpful.

Written after the dataset's description and not verified on the real data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...common.records import broken, short
from ..imported.sources import SourceRow
from .contamination import TrainingPair

HUB_ID = "nvidia/HelpSteer2"
KIND = "helpsteer2"
LEAST_DIFFERENCE = 2
"""Of the two ratings of helpfulness, from 0 to 4: the paper takes 3,632 pairs of this kind."""

SEVERAL_TURNS = "<extra_id_1>"
"""Stands between the turns of a prompt with several."""


def helpsteer_pairs(source: Iterable[SourceRow]) -> tuple[list[TrainingPair], Counter[str]]:
    """(the pairs, reason -> how many prompts give none).

    Raises:
        DataError: a row has no `prompt`, `response` and whole-number `helpfulness`.
    """
    of_prompt: dict[str, list[tuple[int, str]]] = {}
    for where, row in source:
        for name, kind in (("prompt", str), ("response", str), ("helpfulness", int)):
            if type(row.get(name)) is not kind:
                raise broken(
                    where, f"{name} = {short(row.get(name))}", "prompt, response and helpfulness as HelpSteer2 has them"
                )
        of_prompt.setdefault(row["prompt"], []).append((row["helpfulness"], row["response"]))
    pairs: list[TrainingPair] = []
    left_out: Counter[str] = Counter()
    for number, (prompt, responses) in enumerate(of_prompt.items(), start=1):
        if SEVERAL_TURNS in prompt:
            left_out["several turns"] += 1
        elif len(responses) != 2:
            left_out["not two responses"] += 1
        elif abs(responses[0][0] - responses[1][0]) < LEAST_DIFFERENCE:
            left_out["about as helpful"] += 1
        else:
            (_, worse), (_, better) = sorted(responses, key=lambda rated: rated[0])
            pairs.append(
                {
                    "prompt": [{"role": "user", "content": prompt}],
                    "chosen": [{"role": "assistant", "content": better}],
                    "rejected": [{"role": "assistant", "content": worse}],
                    "id": f"{KIND}:{number}",
                    "kind": KIND,
                    "user_id": "",
                }
            )
    return pairs, left_out
