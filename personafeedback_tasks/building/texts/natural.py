"""Questions checked by a model: is one natural, and does it give its user away? It is rewritten if not, and checked again.

As in the paper, where a model judges and rewrites in one call (Appendix I), and another rewrites what gives a trait away. What was rewritten is
judged in a second call, which does not see the draft, and by our rules.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import checks, prompts
from .asking import TextRun
from .leaks import Leaks

GIVES_AWAY, UNNATURAL, NO_VERDICT = "gives_away", "unnatural", "no_verdict"

MEANINGS: Mapping[str, str] = {
    GIVES_AWAY: "reveals who asks (name, job, age, type or rare facts), even after a rewrite",
    UNNATURAL: "nobody would ask it like this, and the rewrite is the same or no better",
    NO_VERDICT: "a check without <natural>, <discreet> and <question>",
}
"""Reason -> what was found."""

ABOUT, AGAIN = "natural", "reworded"
"""The first check, which may rewrite a question; the second one, of what was rewritten."""

_Verdict = tuple[str, str] | None
"""(why a question does not pass, empty if it does; the model's question); None for a reply that has no verdict."""


def mended(run: TextRun, leaks: Leaks, drafts: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Id -> (a question that passed, the reason why it was rewritten; empty if it was not).

    Questions that do not pass are refused. Those whose check failed are in neither.

    Args:
        drafts: id -> (user, question).
    """
    passed, reworded = {}, {}
    for name, (verdict, reply) in _verdicts(run, leaks, drafts, ABOUT).items():
        text = drafts[name][1]
        if verdict is None:
            run.refuse(name, NO_VERDICT, reply)
            continue
        why, new = verdict
        if not why:
            passed[name] = text, ""
        elif new == text:
            run.refuse(name, why, text)
        elif reason := checks.fault_of_question(new, run.settings.language):
            run.refuse(name, reason, new)
        else:
            reworded[name] = new, why
    again = {name: (drafts[name][0], new) for name, (new, _) in reworded.items()}
    for name, (verdict, reply) in _verdicts(run, leaks, again, AGAIN).items():
        if verdict is None:
            run.refuse(name, NO_VERDICT, reply)
        elif verdict[0]:
            run.refuse(name, verdict[0], reworded[name][0])
        else:
            passed[name] = reworded[name]
    return {name: passed[name] for name in drafts if name in passed}


def _verdicts(
    run: TextRun, leaks: Leaks, questions: Mapping[str, tuple[str, str]], about: str
) -> dict[str, tuple[_Verdict, str]]:
    """Id -> (verdict, reply), of each question that a model judged: it fails, too, if our rules find that it gives its user away."""
    prompt, found, told = run.prompt(ABOUT), {}, {}
    for name, (user, text) in questions.items():
        persona = run.folder.persona(user)
        found[name] = leaks.found(persona, text)
        told[name] = prompt.filled(persona=persona.text, question=text, leaks="\n".join(found[name]))
    verdicts: dict[str, tuple[_Verdict, str]] = {}
    for name, reply in run.ask(told, about):
        natural, discreet = (prompts.says_yes(reply.text, tag) for tag in ("natural", "discreet"))
        new = " ".join((prompts.tagged(reply.text, "question") or "").split())
        why = UNNATURAL if not natural else GIVES_AWAY if found[name] or not discreet else ""
        verdicts[name] = None if natural is None or discreet is None or not new else (why, new), reply.text
    return verdicts
