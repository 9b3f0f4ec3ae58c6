"""Specific questions, each asked in a scenario, from the persona or from features of some memory (section 3.2).

A model then checks that each is natural and does not give away its user, and rewrites it if not (Appendix I).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from ...common.errors import DataError
from ...common.similar import Seen
from ...personafeedback.persona import Persona
from ..rows import Basis
from ..settings import Settings
from . import checks
from .asking import Call, Refusal, Reply
from .personas import SIMILAR
from .prompts import bulleted, says_yes, tagged
from .sources import SCENARIOS, Scenario, question_examples, scenarios

if TYPE_CHECKING:
    from .questions import QuestionsRun

HANDFUL = 5
"""Pieces of memory that are drawn for a question."""

MOST_FEATURES, LONGEST_FEATURE = 8, 200
"""Features of a reply that are taken; characters of one. What is longer is an essay about the user."""

NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

NO_FEATURES, GIVES_AWAY, UNNATURAL, NO_VERDICT = "no features", "gives its user away", "unnatural", "no verdict"

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))

_GOLDEN = 0.6180339887498949

_BULLET = re.compile(r"\A\s*(?:[-*•–—]|[0-9]{1,2}[.):、．])?\s*")


@dataclass
class _Wanted:
    # A question on its way: its memory and features are empty where the user has no memory.
    persona: Persona
    scenario: Scenario
    memory: tuple[str, ...]
    features: tuple[str, ...] = ()
    text: str = ""

    @property
    def prompts(self) -> tuple[str, ...]:
        return ("features", "from_memory", "natural") if self.memory else ("specific", "natural")


def slots(settings: Settings, user: str) -> list[str]:
    """Ids of the requests for a user's specific questions, before their texts are known."""
    return [f"{user}:specific:{number}" for number in range(settings.specific)]


def write_specific(run: QuestionsRun) -> None:
    """Have a model write the missing questions, in up to three calls: features of memory; the question; its check."""
    settings, table, examples = run.settings, scenarios(run.build.root), question_examples(run.build.root)
    wanted: dict[str, _Wanted] = {}
    for user, persona in run.people.items():
        drawn = draw_scenarios(settings, persona, table, settings.specific)
        for slot, scenario in zip(slots(settings, user), drawn, strict=True):
            wanted[slot] = _Wanted(persona, scenario, _handful(run, persona, slot))
    prompt = {name: run.prompt(name) for name in {name for one in wanted.values() for name in one.prompts}}
    specific = ((question.id, question.question) for question in run.questions if question.category == "specific")
    seen = Seen(NEAR, specific)

    def told_memory(slot: str) -> str | None:
        one = wanted[slot]
        one.memory = _handful(run, one.persona, run.draw(slot))  # other pieces in place of those that were refused
        one.features = ()
        return prompt["features"].filled(memory=bulleted(one.memory)) if one.memory else None

    def infer(slot: str, reply: Reply) -> None:
        features = _features(reply.text)
        reason = checks.fault("\n".join(features) or reply.text, settings.language, reply.cut)
        if reason or not features:
            raise Refusal(reason or NO_FEATURES, reply.text)
        wanted[slot].features = features

    def told(slot: str) -> str:
        one, example = wanted[slot], settings.generator("example", run.draw(slot)).choice(examples)
        return prompt["from_memory" if one.memory else "specific"].filled(
            scenario=one.scenario.text, example=example, features=bulleted(one.features), memory=bulleted(one.memory),
            persona=one.persona.text,
        )  # fmt: skip

    def draft(slot: str, reply: Reply) -> None:
        text = _unquoted(reply.text)
        if reason := checks.fault_of_question(text, settings.language, reply.cut):
            raise Refusal(reason, reply.text)
        wanted[slot].text = " ".join(text.split())

    def told_question(slot: str) -> str:
        return prompt["natural"].filled(persona=wanted[slot].persona.text, question=wanted[slot].text)

    def judge(slot: str, reply: Reply) -> None:
        natural, discreet = (says_yes(reply.text, tag) for tag in ("natural", "discreet"))
        one, new = wanted[slot], " ".join((tagged(reply.text, "question") or "").split())
        if natural is None or discreet is None or not new:
            raise Refusal(NO_VERDICT, reply.text)
        if natural and discreet:
            return
        if new == one.text:
            raise Refusal(GIVES_AWAY if natural else UNNATURAL, new)
        if reason := checks.fault_of_question(new, settings.language):
            raise Refusal(reason, new)
        one.text = new

    def finish(passed: Iterable[str]) -> None:
        for slot in passed:
            one, user = wanted[slot], wanted[slot].persona.user_id
            if seen.like(one.text):
                run.refuse(slot, SIMILAR, one.text)
                continue
            seen.add(slot, one.text)
            versions = ", ".join(prompt[name].version for name in one.prompts)
            name = run.add(user, one.text, "specific", versions, slot, scenario=one.scenario.scenario)
            if one.memory:
                run.bases[name] = Basis(id=name, features=one.features, memory=one.memory)
            run.done.add(slot)

    run.complete(
        wanted, Call(told_memory, infer, "features"), Call(told, draft), Call(told_question, judge, "natural"),
        finish=finish,
    )  # fmt: skip


def _handful(run: QuestionsRun, persona: Persona, slot: str) -> tuple[str, ...]:
    pieces = [piece.text for piece in run.build.memory(persona.user_id)]
    return tuple(run.settings.generator("memory", slot).sample(pieces, min(HANDFUL, len(pieces))))


def _features(reply: str) -> tuple[str, ...]:
    lines = [_BULLET.sub("", line, count=1).strip() for line in reply.splitlines()]
    fitting = [line for line in lines if line and len(line) <= LONGEST_FEATURE and not line.endswith((":", "："))]
    return tuple(dict.fromkeys(fitting))[:MOST_FEATURES]


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    for opening, closing in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", inner)  # an apostrophe is no quote
        if (text[:1], text[-1:]) == (opening, closing) and inner and not {opening, closing} & set(inside):
            return inner.strip()
    return text


def draw_scenarios(settings: Settings, persona: Persona, choices: Sequence[Scenario], count: int) -> list[Scenario]:
    """The scenarios of a user's questions, in the shares of the table. Raises DataError if none fits the user.

    Steps of the golden ratio spread them over the categories; a larger count leaves the first ones unchanged.
    """
    of_category: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in choices:
        if scenario.is_for(persona):
            of_category[scenario.category].append(scenario)
    if not of_category:
        raise DataError(
            f"{SCENARIOS}: found no scenario for {persona.user_id!r}, expected at least one. Add a line with nothing "
            "under fits."
        )
    bounds = list(accumulate(sum(scenario.share for scenario in group) for group in of_category.values()))
    start, drawn = settings.generator("scenarios", persona.user_id).random(), list[Scenario]()
    for place in range(count):
        point = (start + place * _GOLDEN) % 1 * bounds[-1]
        group = list(of_category.values())[next(at for at, bound in enumerate(bounds) if point < bound)]
        left = [scenario for scenario in group if scenario not in drawn] or group
        draw = settings.generator("scenario", f"{persona.user_id}:{place}")
        drawn += draw.choices(left, [scenario.share for scenario in left])
    return drawn
