"""What a model card says about this benchmark: what was measured, and what the numbers do not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..choice.benchmark import DEBIASED_SCORE
from ..choice.methods import DEBIASED
from ..common import foreign
from ..engine.report import CardFacts
from .cases import PersonaCases
from .ceiling import sentence, source
from .manifest import CHOSEN, REJECTED, Manifest

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
    "both responses, in both orders, and its choice was read {read}. `acc` is the share of the orders in which it picked "
    "{right}, averaged over cases; an unreadable reply counts as not picked; chance is 50 %."
)
_ONE_BY_ONE = (
    "one response at a time, and its choice was read {read}. `acc` is the share of the cases in which {right} has the higher "
    "score; a tie is wrong; without ties chance is 50 %."
)
_LANGUAGES = {"zh": "Chinese", "en": "English"}


def measured(model: str, options: Mapping[str, Any], measures: Sequence[str], cases: PersonaCases) -> str:
    """What was measured, in Markdown."""
    manifest = cases.release.manifest
    setting, method, hidden = options["setting"], options["method"], ", ".join(options["hide"])
    shown = _SHOWN.get(setting, f"the setting {setting}")
    if hidden and setting != "no_persona":
        shown = f"{shown.replace('whole ', '')} without {hidden}"
    how = (_ONE_BY_ONE if method == "reward" else _IN_BOTH_ORDERS).format(
        read=foreign.markdown(_READ.get(method, f"by the method {method}")), right=_right(manifest)
    )
    text = (
        f"{_asks(manifest)} which of two responses suits a given user better. "
        f"{model} was shown {foreign.markdown(shown)}, the user's question and {how}"
    )
    return f"{text} {DEBIASED_SCORE}" if DEBIASED in measures else text


def _asks(manifest: Manifest | None) -> str:
    if manifest is None:
        return "[PersonaFeedback](https://arxiv.org/abs/2506.12915) asks"
    return f"The set {foreign.code(manifest.name)} asks"


def _right(manifest: Manifest | None) -> str:
    """What a right answer picks."""
    if manifest is None:
        return "the response that the annotators chose"
    if manifest.duel is None:
        return "the response that the labels of the set prefer"
    other = {CHOSEN: "the chosen response", REJECTED: "the rejected response"}.get(manifest.duel.against)
    return f"the reply of {foreign.code(manifest.duel.writer)} over {other or f'that of {foreign.code(manifest.duel.against)}'}"


def caveats(facts: CardFacts) -> tuple[list[str], list[str]]:
    """What every card says, with the figures of this run, in Markdown: what everybody must see, and the rest."""
    manifest: Manifest | None = facts.cases.release.manifest
    return _of_the_release(facts) if manifest is None else _of_a_set(facts, manifest)


def _of_a_set(facts: CardFacts, manifest: Manifest) -> tuple[list[str], list[str]]:
    """What the manifest says, and what holds of any data."""
    duel, shown = manifest.duel, manifest.agreement
    agreement = "unknown"
    if shown is not None:
        between = "" if shown.low is None else f", 95 % interval {shown.low:g} to {shown.high:g}"
        agreement = f"{foreign.markdown(shown.measure)} {shown.value:g}{between}"
    first = [
        "These numbers include the judge's own errors." if duel else _RECOGNIZES,
        "No annotators are named: nobody's votes are behind the labels." if not (manifest.annotators or shown) else "",
        *_of_the_texts(facts),
    ]
    return [*filter(None, first)], [
        f"How the labels were made: {foreign.markdown(manifest.labels)}",
        f"Who wrote the texts: {foreign.markdown(manifest.generator)}",
        *(
            [f"Annotators: {manifest.annotators or 'none are named'}; their agreement: {agreement}."]
            if manifest.annotators or shown
            else []
        ),
        *(
            [f"{len(duel.not_asked):,} pairs of the duel are not among the cases: ties and empty replies."]
            if duel and duel.not_asked
            else []
        ),
        f"License of the texts: {foreign.markdown(manifest.licence)}",
        _languages(facts),
        "Whether the model was trained on these texts was not checked.",
        f"The prompt ({foreign.markdown(facts.prompt)}) is that of {facts.package}.",
    ]


_RECOGNIZES = "The task is to recognize a personalized reply, not to write one."


def _of_the_texts(facts: CardFacts) -> list[str]:
    """The figures of the texts at hand."""
    ceiling = f"{sentence(facts.cases, 'accuracy')}: {', '.join(facts.ceilings)} (from {source(facts.cases)})."
    return [
        *([ceiling] if facts.ceilings else []),
        *filter(None, [facts.label_note]),
        f"Always picking the longer response reaches {facts.baselines['longest']} % on these cases, picking the one that "
        f"shares more terms with the persona {facts.baselines['overlap']} %.",
    ]


def _languages(facts: CardFacts) -> str:
    counts = ", ".join(f"{_LANGUAGES.get(code, code)} {count:,}" for code, count in facts.languages.most_common())
    return f"Language of the data, in cases: {counts}."


def _of_the_release(facts: CardFacts) -> tuple[list[str], list[str]]:
    return [
        _RECOGNIZES,
        "The personas are synthetic and mostly Chinese: not a sample of any population.",
        *_of_the_texts(facts),
    ], [
        "The labels come from nine annotators in the user's place, not from the users themselves: Easy sets the response that "
        "most of them chose against a generic or unfitting one, Medium and Hard are pairs decided by their majority.",
        "The data have been public since 2025; whether the model was trained on them was not checked.",
        _languages(facts),
        f"The prompt ({foreign.markdown(facts.prompt)}) is that of {facts.package}; we did not find the authors': "
        "these numbers are not interchangeable with the paper's.",
    ]
