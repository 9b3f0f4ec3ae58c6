"""What a model card says about this benchmark: what was measured, and what the numbers do not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..common import foreign
from ..engine.report import CardFacts

_SHOWN = {
    "persona": "the user's whole persona",
    "no_persona": "nothing about the user (the control)",
    "other_persona": "the whole persona of another user instead of the user's own (a control)",
}
_READ = {
    "generate": "from its reply",
    "cot": "from its reply, after it had reasoned",
    "mc": "from the log-likelihoods of the two letters",
    "logprobs": "from the log-probabilities of the two letters",
    "reward": "from its score of each response",
}
_IN_BOTH_ORDERS = (
    "both responses, in both orders, and its choice was read {}. `acc` is the share of the orders in which it picked the "
    "response that the annotators chose, averaged over cases; an unreadable reply counts as not picked; chance is 50 %."
)
_ONE_BY_ONE = (
    "one response at a time, and its choice was read {}. `acc` is the share of the cases in which the response that the "
    "annotators chose has the higher score; a tie is wrong; without ties chance is 50 %."
)
_LANGUAGES = {"zh": "Chinese", "en": "English"}


def measured(model: str, options: Mapping[str, Any], measures: Sequence[str]) -> str:
    """What was measured, in Markdown.

    Args:
        model: its name, in Markdown that is safe.
        options: the options of the run.
        measures: those that the run has.
    """
    setting, method, hidden = options["setting"], options["method"], ", ".join(options["hide"])
    shown = _SHOWN.get(setting, f"the setting {setting}")
    if hidden and setting != "no_persona":
        shown = f"{shown.replace('whole ', '')} without {hidden}"
    how = (_ONE_BY_ONE if method == "reward" else _IN_BOTH_ORDERS).format(
        foreign.markdown(_READ.get(method, f"by the method {method}"))
    )
    text = (
        "[PersonaFeedback](https://arxiv.org/abs/2506.12915) asks which of two responses suits a given user better. "
        f"{model} was shown {foreign.markdown(shown)}, the user's question and {how}"
    )
    return f"{text} `acc_sym` decides on the log-odds averaged over both orders." if "acc_sym" in measures else text


def caveats(facts: CardFacts) -> list[str]:
    """What every card says, with the figures of this run, in Markdown."""
    languages = ", ".join(f"{_LANGUAGES.get(code, code)} {count:,}" for code, count in facts.languages.most_common())
    return [
        "The task is to recognize a personalized reply, not to write one.",
        "The personas are synthetic and mostly Chinese: not a sample of any population.",
        "The labels come from nine annotators in the user's place, not from the users themselves: Easy sets the response that "
        "most of them chose against a generic or unfitting one, Medium and Hard are pairs decided by their majority.",
        "Label ceiling, the highest accuracy of an order-blind judge over all cells of the data (contradictory labels): "
        f"{', '.join(facts.ceilings)} (from the audit).",
        f"Always picking the longer response reaches {facts.baselines['longest']} % on these cases, picking the one that "
        f"shares more terms with the persona {facts.baselines['overlap']} %.",
        "The data have been public since 2025; whether the model was trained on them was not checked.",
        f"Language of the data, in cases: {languages}.",
        f"The prompt ({foreign.markdown(facts.prompt)}) is that of {facts.package}, not the authors', which was never released: "
        "these numbers are not interchangeable with the paper's.",
    ]
