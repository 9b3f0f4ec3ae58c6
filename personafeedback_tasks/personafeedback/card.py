"""Text of a model card about this benchmark: what was measured, and what the numbers do not show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..common import foreign
from ..core.report import CardFacts
from ..pairwise.benchmark import DEBIASED_SCORE
from ..pairwise.scoring import DEBIASED
from .cases import PersonaCases
from .manifest import CHOSEN, REJECTED, Manifest

_SHOWN = {
    "persona": "the user's whole persona",
    "no_persona": "nothing about the user (the control)",
    "other_persona": "the whole persona of another user instead of the user's own (a control)",
    "similar_persona": "the whole persona of a similar user instead of the user's own (a control)",
    "padding": "as many characters of text about nobody (a control)",
}
_IN_BOTH_ORDERS = (
    "both responses, in both orders. `acc` is the share of the orders in which it picked {right}, averaged over cases; "
    "an unreadable reply counts as not picked; chance is 50 %."
)
_ONE_BY_ONE = (
    "one response at a time. `acc` is the share of the cases in which {right} has the higher score; a tie is wrong; "
    "without ties chance is 50 %."
)
_LANGUAGES = {"zh": "Chinese", "en": "English"}


def measured(model: str, options: Mapping[str, Any], primary: str, cases: PersonaCases) -> str:
    """What was measured, in Markdown."""
    manifest: Manifest | None = cases.release.manifest
    asks, right = "[PersonaFeedback](https://arxiv.org/abs/2506.12915)", "the response that the annotators chose"
    if manifest is not None:
        asks, right = f"The set {foreign.code(manifest.name)}", "the response that the labels of the set prefer"
        if duel := manifest.duel:
            other = {CHOSEN: "the chosen response", REJECTED: "the rejected response"}.get(duel.against)
            right = f"the reply of {foreign.code(duel.writer)} over {other or f'that of {foreign.code(duel.against)}'}"
    setting, hidden = options["setting"], ", ".join(options["hide"])
    shown = _SHOWN.get(setting, f"the setting {setting}")
    if hidden and setting != "no_persona":
        shown = f"{shown.replace('whole ', '')} without {hidden}"
    how = (_ONE_BY_ONE if options["method"] == "reward" else _IN_BOTH_ORDERS).format(right=right)
    return (
        f"{asks} asks which of two responses suits a given user better. {model} was shown {foreign.markdown(shown)}, "
        f"the user's question and {how}{f' {DEBIASED_SCORE}' if primary == DEBIASED else ''}"
    )


def caveats(facts: CardFacts) -> tuple[list[str], list[str]]:
    """(caveats that everybody must see, other caveats), in Markdown, with the figures of this run."""
    manifest: Manifest | None = facts.cases.release.manifest
    counts = ", ".join(f"{_LANGUAGES.get(code, code)} {count:,}" for code, count in facts.languages.most_common())
    recognizes = "The task is to recognize a personalized reply, not to write one."
    longest = (
        f"Always picking the longer response reaches {facts.baselines['longest']} % on these cases, picking the one "
        f"that shares more terms with the persona {facts.baselines['overlap']} %."
    )
    data = [
        f"Language of the data, in cases: {counts}.",
        "Whether the model was trained on these texts was not checked.",
        f"The prompt ({foreign.markdown(facts.prompt)}) is that of personafeedback-tasks.",
    ]
    if manifest is None:
        return [
            recognizes,
            "The personas are synthetic and mostly Chinese: not a sample of any population.",
            longest,
        ], [
            "The labels come from nine annotators in the user's place, not from the users themselves: Easy sets the "
            "response that most of them chose against a generic or unfitting one, Medium and Hard are pairs decided by "
            "their majority.",
            *data,
            "The data have been public since 2025, and we did not find the authors' prompts: these numbers are not "
            "interchangeable with the paper's.",
        ]
    left_out = len(manifest.duel.not_asked) if manifest.duel else 0
    return [
        "These numbers include the judge's own errors." if manifest.duel else recognizes,
        longest,
    ], [
        f"How the labels were made: {foreign.markdown(manifest.labels)} {_voted(manifest)}",
        f"Who wrote the texts: {foreign.markdown(manifest.generator)} Their license: "
        f"{foreign.markdown(manifest.license)}",
        *([f"{left_out:,} pairs of the duel are not among the cases: ties and empty replies."] if left_out else []),
        *data,
    ]


def _voted(manifest: Manifest) -> str:
    found = manifest.agreement
    if found is None:
        return f"Annotators: {manifest.annotators or 'none are named'}."
    ends = "" if found.low is None else f", 95 % interval {found.low:g} to {found.high:g}"
    return (
        f"Annotators: {manifest.annotators or 'not counted'}; {foreign.markdown(found.measure)} {found.value:g}{ends}."
    )
