"""A build whose models are functions, and texts that pass its checks."""

from __future__ import annotations

import hashlib
import json
import random
import re

from personafeedback_tasks.building.build import Build
from personafeedback_tasks.building.texts.runner import write_texts
from personafeedback_tasks.building.texts.sources import start
from personafeedback_tasks.inspect_harness import generation
from personafeedback_tasks.inspect_harness.generation import WrittenText

_WORDS = [
    "river", "stone", "window", "garden", "letter", "market", "engine", "harbor", "violin", "candle", "forest", "ladder", "bottle",
    "pepper", "winter", "saddle", "copper", "meadow", "anchor", "basket", "thunder", "lantern", "pillow", "orchard", "tunnel", "marble",
    "feather", "kettle", "canyon", "ribbon", "glacier", "button", "wagon", "mirror", "pebble", "cabin",
]  # fmt: skip


def words(key: str, count: int) -> str:
    """A text that only its key tells apart."""
    drawn = random.Random(hashlib.sha256(key.encode()).digest())
    return " ".join(drawn.choice(_WORDS) for _ in range(count))


def persona(key: str, **changes: object) -> dict[str, object]:
    def text(count: int) -> str:
        return words(f"{key} {count}", count)

    return {
        "Name": f"N{hashlib.sha256(key.encode()).hexdigest()[:6]}",
        "Demographics": {
            "Age": 30, "Gender": "female", "Nationality": "Irish", "Language": ["English"], "Career_Information": text(9),
        },
        "Personality": {
            "Extraversion_or_Introversion": "E", "Sensing_or_Intuition": "S", "Thinking_or_Feeling": "T", "Judging_or_Perceiving": "J",
            "Values_and_Interests": [text(5), text(6)],
        },
        "Preference": {
            "Local_Life": {"Food_Drinks": text(8), "Entertainment": text(7), "Shopping": text(10), "Daily_Outings": text(11)},
            "Travel": {"Business_Trips": text(12), "Leisure_Travel": text(13)}, "Social": text(14),
            "Productivity": {"Study_Work": text(15), "Fitness": text(16)}, "Content_Interests": [text(3), text(4)],
        },
        **changes,
    }  # fmt: skip


def write(prompt: str, model: str = "") -> str:
    """What a model that does as it is told writes."""
    if "Write the profile of one invented person" in prompt:
        return f"```json\n{json.dumps(persona(prompt))}\n```"
    if "What do they suggest about this user?" in prompt:
        return f"- likes {words(prompt, 5)}\n- avoids {words(prompt, 6)}"
    if "Situation:" in prompt:
        return f"What should anybody do about {words(prompt, 9)}?"
    if "<discreet>" in prompt:
        question = prompt.partition("<question>\n")[2].partition("\n</question>")[0]
        return f"<natural>yes</natural>\n<discreet>yes</discreet>\n<question>{question}</question>"
    if "open and personal" in prompt:
        return ", ".join(str(number) for number in range(1, 21))
    if "<fits>" in prompt:
        return "<reason>It does.</reason>\n<fits>yes</fits>"
    if "numbered list" in prompt:
        return "3, 1, 2"
    if "<reasons>" in prompt:
        return f"<reasons>It is better.</reasons>\n<answer>{words(model + prompt, 40)}.</answer>"
    return f"{words(model + prompt, 20 + len(words(model + prompt, 1)) * 3)}."


class Writer:
    """In place of `generation.generate`.

    Attributes:
        write: (prompt, model) -> the text.
        replies: id of a text -> it, a `WrittenText`, or an error for one that fails, in place of what `write` gives; also for what
            replaces it (`id~1`), where that has no reply of its own.
        asked: (step, model, id, prompt) of every text.
        told: model -> the arguments and the batch that its last texts were asked with.
        seeds: id of a text that was asked for again -> its seed.
    """

    def __init__(self):
        self.write, self.asked, self.replies, self.told, self.seeds = write, [], {}, {}, {}

    def __call__(self, prompts, model, folder, *, step, model_args=None, batch=False, seeds=(), **_):
        texts, failures = {}, {}
        self.seeds.update(seeds)
        self.told[model] = model_args, batch
        for name, prompt in prompts.items():
            self.asked.append((step, model, name, prompt))
            first = re.sub(r"~[0-9]+$", "", name)
            text = (
                self.replies.get(name, self.replies.get(first)) if first in self.replies else self.write(prompt, model)
            )
            if isinstance(text, Exception):
                failures[name] = str(text)
            else:
                texts[name] = text if isinstance(text, WrittenText) else WrittenText(text, False)
        if prompts and not texts:
            raise generation.GenerationError("no reply to any")
        return texts, failures

    def take(self):
        """What was asked since the last time."""
        asked, self.asked = self.asked, []
        return asked


def a_build(root, **changes) -> Build:
    """A folder as `init` makes it, with some settings changed."""
    build = Build(root)
    start(build)
    path = root / "build.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    values = {"personas": 8, "specific": 2, **changes}
    kept = [line for line in lines if line.partition(" =")[0] not in values]
    path.write_text(
        "\n".join([*kept, *(f"{name} = {json.dumps(value)}" for name, value in values.items())]) + "\n",
        encoding="utf-8",
    )
    return build


def _writes(step: str):
    """A step that returns the lines that it says."""

    def run(build, models, say=None):
        lines = []
        write_texts(build, models, say or lines.append, step)
        return lines

    return run


write_personas, write_questions, write_answers = map(_writes, ("personas", "questions", "answers"))
