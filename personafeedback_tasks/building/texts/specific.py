"""Specific questions, each asked in a scenario, from the persona or from features of some memory (section 3.2).

A model then checks that each is natural and does not give away its user, and rewrites it if not (Appendix I).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from ...common.errors import DataError
from ...common.similar import Seen
from ...personafeedback.persona import Persona
from ..rows import Basis
from ..settings import Settings
from . import checks
from .asking import Ask, Refusal, Writing
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


def slots(settings: Settings, user: str) -> list[str]:
    """Ids of the requests for a user's specific questions, before their texts are known."""
    return [f"{user}:specific:{number}" for number in range(settings.specific)]


def write_specific(run: QuestionsRun) -> None:
    """Have a model write the missing questions, in up to three calls: features of memory; the question; its check."""
    settings, table, examples = run.settings, scenarios(run.build.root), question_examples(run.build.root)
    wanted: dict[str, tuple[Persona, Scenario]] = {}
    for user, persona in run.people.items():
        drawn = draw_scenarios(settings, persona, table, settings.specific)
        for slot, scenario in zip(slots(settings, user), drawn, strict=True):
            wanted[slot] = persona, scenario
    memory = {user: [piece.text for piece in run.build.memory(user)] for user in run.people}
    prompt = {name: run.prompt(name) for name in {name for pieces in memory.values() for name in _prompts(pieces)}}
    specific = ((question.id, question.question) for question in run.questions if question.category == "specific")
    seen = Seen(NEAR, specific)

    def write(slot: str) -> Writing:
        (persona, scenario), draw, features = wanted[slot], run.draw(slot), tuple[str, ...]()
        user = persona.user_id
        # other pieces in place of those that were refused
        handful = settings.generator("memory", draw).sample(memory[user], min(HANDFUL, len(memory[user])))
        if handful:
            reply = yield Ask(prompt["features"], {"memory": bulleted(handful)}, "features")
            features = _features(reply.text)
            reason = checks.fault("\n".join(features) or reply.text, settings.language, reply.cut)
            if reason or not features:
                raise Refusal(reason or NO_FEATURES, reply.text)
        shown = {
            "scenario": scenario.text,
            "example": settings.generator("example", draw).choice(examples),
            "features": bulleted(features),
            "memory": bulleted(handful),
            "persona": persona.text,
        }
        reply = yield Ask(prompt["from_memory" if handful else "specific"], shown)
        text = _unquoted(reply.text)
        if reason := checks.fault_of_question(text, settings.language, reply.cut):
            raise Refusal(reason, reply.text)
        text = " ".join(text.split())
        reply = yield Ask(prompt["natural"], {"persona": persona.text, "question": text}, "natural")
        text = _mended(text, reply.text, settings.language)
        if seen.like(text):
            raise Refusal(SIMILAR, text)
        seen.add(slot, text)
        versions = ", ".join(prompt[name].version for name in _prompts(handful))
        name = run.add(user, text, "specific", versions, slot, scenario=scenario.scenario)
        if handful:
            run.bases[name] = Basis(id=name, features=features, memory=tuple(handful))
        run.done.add(slot)

    run.complete(wanted, write)


def _prompts(memory: Sequence[str]) -> tuple[str, ...]:
    return ("features", "from_memory", "natural") if memory else ("specific", "natural")


def _mended(text: str, verdict: str, language: str) -> str:
    # The question, or what its check wrote in its place.
    natural, discreet = (says_yes(verdict, tag) for tag in ("natural", "discreet"))
    new = " ".join((tagged(verdict, "question") or "").split())
    if natural is None or discreet is None or not new:
        raise Refusal(NO_VERDICT, verdict)
    if natural and discreet:
        return text
    if new == text:
        raise Refusal(GIVES_AWAY if natural else UNNATURAL, new)
    if reason := checks.fault_of_question(new, language):
        raise Refusal(reason, new)
    return new


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
