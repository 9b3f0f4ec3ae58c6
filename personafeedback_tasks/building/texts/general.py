"""General questions: open and personal ones of a pool, matched to persons by a model and validated by another call."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.cases import digest_of
from ..rows import PoolQuestion, kept
from ..settings import Settings
from . import checks
from .asking import Ask, Refusal, Reply, Writing
from .prompts import NO_NUMBERS, chosen, listed, says_yes

if TYPE_CHECKING:
    from .questions import QuestionsRun

NOT_OPEN = "not open"
"""Reason in pool.csv for a question that a model dropped."""

NO_FIT, FEW = "does not fit its person", "too few"

CANDIDATES, AT_ONCE = 20, 20
"""Pool questions in a prompt (ten for each missing general one, if that is more); and pool questions judged at once."""

_NONE = re.compile(r"\bnone\b|没有|无", re.IGNORECASE)


def general_slot(settings: Settings, user: str) -> str:
    """Id of the request for all of a user's general questions."""
    return f"{user}:general:{settings.general}"


def pool_id(text: str) -> str:
    return f"pool:{digest_of([text])}"


def _open_questions(run: QuestionsRun, texts: Sequence[str]) -> list[str]:
    # By pool.csv; a model judges those that are missing there.
    prompt = run.prompt("open")
    missing = [text for text in texts if pool_id(text) not in run.pool]
    in_parts = [missing[start : start + AT_ONCE] for start in range(0, len(missing), AT_ONCE)]
    parts = {f"pool:{digest_of(part)}": part for part in in_parts}

    def judge(name: str) -> Writing:
        reply = yield Ask(prompt, {"questions": listed(parts[name])})
        opened = set(chosen(parts[name], reply.text))
        if not opened and not _NONE.search(reply.text):
            raise _no_numbers(reply)
        run.done.add(name)
        for text in parts[name]:
            keep, reason = ("yes", "") if text in opened else ("no", NOT_OPEN)
            run.pool[pool_id(text)] = PoolQuestion(id=pool_id(text), question=text, keep=keep, reason=reason)

    run.complete(parts, judge)
    usable = {row.id for row in kept(run.pool.values())}
    opened = [text for text in texts if pool_id(text) in usable]
    run.say(f"{len(opened)} of {len(texts)} questions of the pool are open and personal (pool.csv)")
    return opened


def write_general(run: QuestionsRun, texts: Sequence[str]) -> None:
    """Match pool questions to persons who lack some, and take the valid matches."""
    opened, settings = _open_questions(run, texts), run.settings
    prompt, fits = run.prompt("general"), run.prompt("fits")
    user_of = {general_slot(settings, user): user for user in run.people}
    own, unfit = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)  # user -> questions
    for question in run.questions:
        if question.category == "general":
            own[question.user_id].add(question.question)
    for refused in run.refused:
        if refused.step == run.step.name and refused.reason == NO_FIT:
            unfit[refused.id.rpartition(":general:")[0]].update(refused.text.split("\n"))
    shown, replies = dict[str, list[str]](), dict[str, Reply]()

    def missing(slot: str) -> int:
        return settings.general - len(own[user_of[slot]])

    def match(slot: str) -> Writing:
        user = user_of[slot]
        left = [text for text in opened if text not in own[user] | unfit[user]]
        draw = settings.generator("pool", f"{slot}:{run.time(slot)}")
        shown[slot] = draw.sample(left, min(len(left), max(CANDIDATES, 10 * missing(slot))))
        texts = {"persona": run.people[user].text, "questions": listed(shown[slot]), "count": str(missing(slot))}
        replies[slot] = yield Ask(prompt, texts)

    def validate(slots: Sequence[str]) -> None:
        asked, matches = dict[str, Ask](), dict[str, dict[str, str]]()
        for slot in slots:
            picked = chosen(shown[slot], replies[slot].text)[: missing(slot)]
            matches[slot] = {f"{slot}:{digest_of([text])}": text for text in picked}
            for name, text in matches[slot].items():
                asked[name] = Ask(fits, {"persona": run.people[user_of[slot]].text, "question": text}, "fits")
        judged = {name: says_yes(reply.text, "fits") for name, reply in run.ask(asked).items()}
        judged |= {name: False for name in asked if run.time(name)}  # withheld
        for slot in slots:
            if not judged.keys() >= matches[slot].keys():
                continue  # a call failed: the next run has the rest from the cache, with the same prompt
            user, misfits = user_of[slot], [text for name, text in matches[slot].items() if not judged[name]]
            unfit[user].update(misfits)
            for text in matches[slot].values():
                if text not in misfits:
                    run.add(user, text, "general", f"{prompt.version}, {fits.version}", pool_id(text))
                    own[user].add(text)
            if missing(slot) <= 0:
                run.done.add(slot)
            elif misfits:
                run.refuse(slot, NO_FIT, "\n".join(misfits))
            elif matches[slot]:
                run.refuse(slot, FEW, replies[slot].text)
            else:
                run.refuse(slot, *_no_numbers(replies[slot]).args)

    lacking = [slot for slot in user_of if missing(slot) > 0]
    run.complete(lacking, match, validate)


def _no_numbers(reply: Reply) -> Refusal:
    return Refusal(NO_NUMBERS if reply.text else checks.EMPTY, reply.text)
