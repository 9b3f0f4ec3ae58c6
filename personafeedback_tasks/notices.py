"""The two sentences that every run says about itself, in the same words in both harnesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .answers import LETTERS
from .dataset import CaseSet
from .prompts import PROMPT_VERSION

UNREADABLE_SHARE = 0.01
"""Share of unreadable replies above which a run warns."""


def opening(
    *,
    task: str,
    cases: int,
    calls: int,
    characters: int,
    setting: str,
    method: str,
    data: CaseSet,
    chat_template: bool | None = None,
) -> str:
    """One line at the start of a run. `chat_template` is None where the harness always sends chat messages."""
    languages = ", ".join(f"{name} {count}" for name, count in sorted(data.languages.items()))
    parts = [
        f"{task}: {cases:,} of {len(data):,} cases",
        f"{calls:,} model calls",
        f"{characters:,} prompt characters",
        f"setting {setting}",
        f"method {method}",
        f"prompt {PROMPT_VERSION}",
        f"data {data.revision}",
        f"languages {languages}",
    ]
    if chat_template is not None:
        parts.append(f"chat template {'applied' if chat_template else 'not applied'}")
    if data.release.is_sample:
        parts.append("DEMONSTRATION on the bundled sample: no evidence about a model")
    return "; ".join(parts)


def unreadable(task: str, answers: Iterable[str]) -> str | None:
    """A warning if more than 1 % of the replies are unreadable, else None."""
    answers = list(answers)
    reasons = Counter(answer for answer in answers if answer not in LETTERS)
    if reasons.total() <= UNREADABLE_SHARE * len(answers):
        return None
    reason, count = min(reasons.items(), key=lambda item: (-item[1], item[0]))
    return (
        f"{task}: {reasons.total():,} of {len(answers):,} replies ({reasons.total() / len(answers):.1%}) are unreadable "
        f"and count as not picked; commonest reason: {reason} ({count:,}). {_REMEDIES[reason]}"
    )


_REMEDIES = {
    "truncated": (
        "Give thinking models room: --gen_kwargs max_gen_toks=16384 (lm-eval), --max-tokens 16384 (Inspect)."
    ),
    "no_response": (
        "The model, or the server (lm-eval turns a broken reply into an empty one), said nothing. Look at the server's "
        "log; give thinking models room: --gen_kwargs max_gen_toks=16384 (lm-eval), --max-tokens 16384 (Inspect)."
    ),
    "refusal": "The model declines to choose; that is behaviour, report it beside the score.",
    "invalid_response_format": (
        "The model does not answer with a letter. In lm-eval, pass --apply_chat_template for a chat model and use the "
        "task's _mc variant for a base model; give thinking models room: --gen_kwargs max_gen_toks=16384."
    ),
}
