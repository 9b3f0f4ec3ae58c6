"""`build questions`: specific ones that a model writes for each person, general ones that it chooses from a pool, and a team's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ...common.row_files import Row
from ...common.similar import Seen
from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import Basis, PoolQuestion, Question, kept
from ..steps import ANSWERS, QUESTIONS, Say
from . import checks, general, prompts
from .asking import Models, Replies
from .leaks import Leaks
from .personas import SIMILAR, say_of_memories
from .questions_run import QuestionsRun, question_id
from .seeds import pool
from .sources import MEANINGS as OF_SOURCES
from .sources import Sources

NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

GIVES_AWAY, UNNATURAL, NO_VERDICT = "gives_away", "unnatural", "no_verdict"

ABOUT, AGAIN = "natural", "reworded"
"""The first check, which may rewrite a question; the second one, of what was rewritten."""

MEANINGS: Mapping[str, str] = {
    SIMILAR: "nearly the words of another question",
    **OF_SOURCES,
    **checks.OF_QUESTIONS,
    GIVES_AWAY: "reveals who asks (name, job, age, type or rare facts), even after a rewrite",
    UNNATURAL: "nobody would ask it like this, and the rewrite is the same or no better",
    NO_VERDICT: "a check without <natural>, <discreet> and <question>",
    **general.MEANINGS,
    **checks.MEANINGS,
}
"""Reason -> what was found."""

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))


def write_questions(folder: Folder, models: Models, say: Say) -> None:
    """Take the questions that a team put there and, with a model, those that are missing.

    Raises:
        DataError: a file of the build is broken, general questions are wanted and there is no pool, or no question is left.
        OptionError: there is no such model.
        GenerationError: the model wrote nothing.
    """
    with folder.step(QUESTIONS):
        run = QuestionsRun(folder, models, say)
        before = len(run.questions)
        say(f"Read {len(run.people)} persons, {before} questions")
        if run.model:
            texts = _pool(run) if run.settings.general else []  # before anything is spent
            if run.settings.specific:
                _specific(run)
            if texts:
                general.write_general(run, texts)
        # A row of basis.jsonl without its question is harmless: the question comes from the cache, with the same row.
        bases = {basis.id: basis for basis in run.bases}.values()
        rows: dict[type[Row], Iterable[Row]] = {PoolQuestion: run.pool.values(), Basis: bases}
        run.save({**{kind: of_kind for kind, of_kind in rows.items() if of_kind}, Question: run.questions})
        counts = Counter(question.category for question in kept(run.questions))
        say(
            f"Wrote {len(run.questions) - before} questions, {len(run.own)} of your own; questions.csv has {counts['specific']} specific, "
            f"{counts['general']} general"
        )
        say_of_memories(folder, say)
        run.end(ANSWERS, Question, kept(run.questions), "question", "Name a --model, or add your own lines.")


def _specific(run: QuestionsRun) -> None:
    settings, check = run.settings, run.prompt(ABOUT)
    sources = Sources(run, run.people)
    leaks = Leaks(run.people.values())
    specific = ((question.id, question.question) for question in run.questions if question.category == "specific")
    seen = Seen(NEAR, specific)

    def take(replies: Replies) -> None:
        drafts = {}
        for slot, reply in replies:
            text = _unquoted(reply.text)
            if reason := checks.fault_of_question(text, settings.language, reply.cut):
                run.refuse(slot, reason, reply.text)
            else:
                drafts[slot] = sources.of[slot].persona.user_id, " ".join(text.split())
        for slot, (text, rewritten) in _mended(run, leaks, drafts).items():
            if like := seen.like(text):
                run.refuse(slot, SIMILAR, text, like)
                continue
            seen.add(slot, text)
            source = sources.of[slot]
            user = source.persona.user_id
            about, name = source.scenario.scenario, question_id(user, text)
            question = Question(id=name, user_id=user, category="specific", scenario=about, question=text)
            draft = [f"draft:{digest_of([drafts[slot][1]])}"] if rewritten else []
            run.bases += sources.basis(slot, question.id)
            run.add(question, f"{sources.version(slot)}, {check.version}", slot, *source.parents(), *draft)
            run.done.add(slot)

    run.progress.expect(sources.calls(run.done))
    run.complete(sources.of, sources.prompt, take, prepare=sources.infer)


_Verdict = tuple[str, str] | None
"""(why a question does not pass, empty if it does; the model's question); None for a reply that has no verdict."""


def _mended(run: QuestionsRun, leaks: Leaks, drafts: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Id -> (a question that passed, the reason why it was rewritten; empty if it was not), after a model has checked it.

    As in the paper, where a model judges and rewrites in one call (Appendix I), and another rewrites what gives a trait away. What was
    rewritten is judged in a second call, which does not see the draft, and by our rules. Questions that do not pass are refused. Those whose check failed are in neither.

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
    run: QuestionsRun, leaks: Leaks, questions: Mapping[str, tuple[str, str]], about: str
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


def _pool(run: QuestionsRun) -> list[str]:
    texts, out = pool(run.folder.root)
    left_out = f" ({', '.join(f'{count} {why}' for why, count in out.items())})" if out else ""
    run.say(f"Read {len(texts)} questions of the pool{left_out}")
    return texts


def _unquoted(text: str) -> str:
    """A text without the one pair of quotes around all of it."""
    inner = text[1:-1]
    for opening, closing in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", inner)  # an apostrophe is no quote
        if (text[:1], text[-1:]) == (opening, closing) and inner and not {opening, closing} & set(inside):
            return inner.strip()
    return text
