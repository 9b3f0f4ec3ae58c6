"""A chain whose every share is known: users with planted tastes, a model that does what a plan says, and people who judge by another.

Attributes and prompts are those of `planted`: an attribute matters for a prompt of its topic.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from personafeedback_tasks.core.earlier import Earlier, EarlierCase
from personafeedback_tasks.core.evidence import Reply
from personafeedback_tasks.recenter.rows import Message, conversation_id
from support.planted import TOPICS

USERS, CONVERSATIONS, EACH = 8, 4, 3
"""How many users there are, conversations of each, attributes that the model notes in each."""

TOPIC = {attribute: topic for topic, (attributes, _) in TOPICS.items() for attribute in attributes}
ALL = [attributes[number] for number in range(5) for attributes, _ in TOPICS.values()]
PROMPTS = [(topic, TOPICS[topic][1][number]) for number in (0, 1) for topic in ("food", "sport", "music", "travel")]
SENSITIVE = {"sport", "travel"}


@dataclass
class PlantedChain:
    """What is known of it.

    Attributes:
        noted: conversation id -> what the model notes there.
        accepted: whether people accept an attribute of a conversation.
        missing: conversation id -> what people name as missing there.
        sources: conversation id -> its source.
        owner: conversation id -> its user.
    """

    noted: dict[str, list[str]] = field(default_factory=dict)
    accepted: dict[tuple[str, str], bool] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    messages: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def profile(self, user: str) -> list[str]:
        return [one for name, noted in self.noted.items() if self.owner[name] == user for one in noted]


def plan() -> PlantedChain:
    """Users differ in what people accept of theirs and in what they miss; human conversations fare better."""
    made = PlantedChain()
    for user, number in ((user, number) for user in range(USERS) for number in range(CONVERSATIONS)):
        source = ("human", "synthetic")[number % 2]
        attributes = [ALL[(7 * user + EACH * number + place) % len(ALL)] for place in range(EACH)]
        turns = [
            ("user", " ".join(f"{text}." for text in attributes)),
            ("assistant", "I see."),
            ("user", f"Part {number}, thanks."),
        ]
        messages = [{"role": role, "content": text} for role, text in turns]
        name = conversation_id(f"u{user}", [Message(*turn) for turn in turns])
        made.noted[name], made.sources[name], made.owner[name], made.messages[name] = (
            attributes,
            source,
            f"u{user}",
            messages,
        )
        right = (3 if user % 2 else 2) if source == "human" else user % 3
        made.accepted |= {(name, attribute): place < right for place, attribute in enumerate(attributes)}
        made.missing[name] = ["Owns a small vineyard near the coast"] if (user + number) % 3 == 0 else []
    return made


def relevant(attribute: str, topic: str) -> bool:
    return TOPIC[attribute] == topic


def selects(user: str, attribute: str, topic: str) -> bool:
    """What the model does: of what is relevant it leaves something out for some users, and adds what is of the next topic for others."""
    number, topics = int(user[1:]), list(TOPICS)
    if relevant(attribute, topic):
        return number % 4 != 0 or attribute == min(one for one in TOPICS[topic][0])
    return number % 2 == 1 and TOPIC[attribute] == topics[(topics.index(topic) + 1) % len(topics)]


def ratio_and_mention(user: str, prompt: int) -> tuple[int, bool]:
    """(the binary logarithm of the length ratio, whether an attribute is named) of a personalized reply."""
    return (int(user[1:]) + prompt) % 3, (int(user[1:]) // 2 + prompt) % 2 == 0


GENERIC = "z" * 128


def personalized(user: str, prompt: int, attributes: list[str]) -> str:
    doublings, named = ratio_and_mention(user, prompt)
    begin = f"Since you said: {attributes[0]}. " if named else ""
    return begin + "z" * (len(GENERIC) * 2**doublings - len(begin))


def votes(user: str, prompt: int) -> list[int]:
    """A rating of 2, half a point for each doubling, a point for naming an attribute; people of odd users give half a point more or less."""
    doublings, named = ratio_and_mention(user, prompt)
    twice = 4 + doublings + 2 * named + (0, 1, 0, -1)[int(user[1:]) % 4]
    return [twice // 2, twice - twice // 2]


def write_data(folder: Path, made: PlantedChain) -> Path:
    """What the chain begins with."""
    lines(
        folder / "conversations.jsonl",
        (
            {"user_id": made.owner[name], "conversation": made.messages[name], "source": source}
            for name, source in made.sources.items()
        ),
    )
    lines(
        folder / "prompts.jsonl",
        (
            {"id": f"q{number}", "prompt": text, **({"sensitive": True} if topic in SENSITIVE else {})}
            for number, (topic, text) in enumerate(PROMPTS)
        ),
    )
    return folder


def write_people(
    folder: Path, made: PlantedChain, files: tuple[str, ...] = ("extraction", "missing", "relevance", "response")
) -> Path:
    """What people said of what the model makes of it; in an order and under ids of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {
        "extraction": [
            {"id": f"x{number}", "user_id": made.owner[name], "conversation": made.messages[name], "attribute": f" {attribute.upper()}",
             "reason": "It says so.", "source": made.sources[name], "votes": ["accepted" if right else "rejected"] * 3}
            for number, ((name, attribute), right) in enumerate(made.accepted.items())
        ],
        "missing": [
            {"id": f"m{number}", "user_id": made.owner[name], "source": made.sources[name], "conversation": made.messages[name],
             "missing": [named, named, []]}
            for number, (name, named) in enumerate(made.missing.items())
        ],
        "relevance": [
            {"id": f"r{user}-{number}-{place}", "user_id": f"u{user}", "prompt": text, "attribute": attribute,
             "votes": [relevant(attribute, topic)] * 3}
            for user in range(USERS)
            for number, (topic, text) in enumerate(PROMPTS)
            for place, attribute in enumerate(made.profile(f"u{user}"))
        ],
        "response": [
            {"id": f"p{user}-{number}", "user_id": f"u{user}", "prompt": text, "attribute": "any", "generic": GENERIC,
             "personalized": personalized(f"u{user}", number, chosen), "votes": votes(f"u{user}", number),
             "faults": {"asked": 4, "generic": {}, "personalized": {"uncomfortable": (user + number) % 4, "over-personalized": number % 3}}}
            for user in range(USERS)
            for number, (topic, text) in enumerate(PROMPTS)
            if (chosen := shown(made, f"u{user}", topic))
        ],
    }  # fmt: skip
    for name in files:
        lines(folder / f"{name}.jsonl", rows[name][::-1])
    return folder


def shown(made: PlantedChain, user: str, topic: str) -> list[str]:
    """What the model selects, by name."""
    return sorted(one for one in made.profile(user) if selects(user, one, topic))


def runs(plan: PlantedChain) -> dict[str, Earlier]:
    """What the model makes, without a harness: task -> its run."""
    extract, select, respond = [], [], []
    for name, noted in plan.noted.items():
        found = [{"attribute": one, "reason": "", "quote": ""} for one in noted]
        facts = {"conversation": plan.messages[name]}
        extract.append(_case(name, plan.owner[name], plan.sources[name], facts, json.dumps(found)))
    for user in (f"u{number}" for number in range(USERS)):
        for number, (topic, text) in enumerate(PROMPTS):
            profile, chosen = plan.profile(user), shown(plan, user, topic)
            about = {"prompt_id": f"q{number}", "prompt": text, "sensitive": topic in SENSITIVE}
            numbers = [str(place) for place, one in enumerate(profile, 1) if one in chosen]
            facts = {**about, "attributes": profile}
            select.append(_case(f"{user}-q{number}", user, "", facts, ", ".join(numbers) or "NONE"))
            if chosen:
                facts = {**about, "attributes": chosen}
                texts = personalized(user, number, chosen), GENERIC
                respond.append(_case(f"{user}-q{number}", user, "", facts, *texts))
    cases = {"recenter_extract": extract, "recenter_select": select, "recenter_respond": respond}
    return {task: Earlier("model", "data", task, "LOG", tuple(own)) for task, own in cases.items()}


def _case(name: str, user: str, cell: str, facts: dict[str, object], *replies: str) -> EarlierCase:
    return EarlierCase(name, user, cell, facts, ("listed",) * len(replies), tuple(map(Reply, replies)))


def script(made: PlantedChain, benchmark: str, cases: dict[str, object]) -> Callable[[str, str], str]:
    """The model: (case id, call) -> its reply."""

    def extract(case: str, call: str) -> str:
        return json.dumps([{"attribute": one, "reason": "It says so.", "quote": one} for one in made.noted[case]])

    def select(case: str, call: str) -> str:
        row = cases[case]
        topic = dict((text, topic) for topic, text in PROMPTS)[row.question]
        numbers = [number for number, one in enumerate(row.attributes, 1) if selects(row.user_id, one, topic)]
        return ", ".join(map(str, numbers)) or "NONE"

    def respond(case: str, call: str) -> str:
        row = cases[case]
        return (
            GENERIC if call == "generic" else personalized(row.user_id, int(row.prompt_id[1:]), sorted(row.attributes))
        )

    return {"recenter_extract": extract, "recenter_select": select, "recenter_respond": respond}[benchmark]


def lines(path: Path, rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
