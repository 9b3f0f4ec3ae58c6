"""Questions checked by a model: is one natural, and does it give its user away? It is rewritten if not, and checked again by our rules.

As in the paper, where a model judges and rewrites in one call (Appendix I), and another rewrites what gives a trait away.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import checks, prompts
from .asking import Models, TextRun
from .leaks import Leaks

GIVES_AWAY, UNNATURAL, NO_VERDICT = "gives_away", "unnatural", "no_verdict"

MEANINGS: Mapping[str, str] = {
    GIVES_AWAY: "reveals who asks (name, job, age, type or rare facts), even after a rewrite",
    UNNATURAL: "nobody would ask it like this, and the rewrite did not change it",
    NO_VERDICT: "a check without <natural>, <discreet> and <question>",
}
"""Reason -> what was found."""

ABOUT = "natural"


def mended(
    run: TextRun, models: Models, leaks: Leaks, drafts: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Id -> (a question that passed, the reason why it was rewritten; empty if it was not).

    Questions that do not pass are refused. Those whose check failed are in neither.

    Args:
        drafts: id -> (user, question).
    """
    (model,), prompt, passed = models.names, prompts.load(run.folder.root, ABOUT), {}
    told, found = {}, {}
    for name, (user, text) in drafts.items():
        persona = run.folder.persona(user)
        found[name] = leaks.found(persona, text)
        told[name] = prompt.filled(
            persona=persona.text, question=text, leaks="\n".join(found[name]), language=run.language
        )
    for name, reply in run.ask(models, model, told, about=ABOUT):
        user, text = drafts[name]
        natural, discreet = (prompts.says_yes(reply.text, tag) for tag in ("natural", "discreet"))
        new = " ".join((prompts.tagged(reply.text, "question") or "").split())
        if natural is None or discreet is None or not new:
            run.refuse(name, NO_VERDICT, reply.text)
            continue
        why = UNNATURAL if not natural else GIVES_AWAY if found[name] or not discreet else ""
        if not why:
            passed[name] = text, ""
        elif new == text:
            run.refuse(name, why, text)
        elif reason := checks.fault_of_question(new, run.settings.language):
            run.refuse(name, reason, new)
        elif leaks.found(run.folder.persona(user), new):
            run.refuse(name, GIVES_AWAY, new)
        else:
            passed[name] = new, why
    return passed
