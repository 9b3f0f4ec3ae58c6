"""`build plan`: every number from the settings and the assumed tokens, by hand."""

from __future__ import annotations

import json
import re

import pytest
from support.building import a_build
from support.commands import personafeedback

from personafeedback_tasks.building.texts import prompts
from personafeedback_tasks.common.tokens import estimated

SEED, OTHERS, PERSONA, EXAMPLE, QUESTION, CHOICE, VERDICT = 150, 40 * 40, 900, 50, 40, 15, 20
ANSWER, REASONS, POOL, OPTIONS = 240, 100, 20, 2


def planned(root, *options):
    """(what is said, kind of call -> calls, input tokens and output tokens)."""
    said = personafeedback("build", "plan", root, *options).output
    lines = re.findall(r"(?m)^(\S.*?)  +([\d,]+)  +([\d,]+)  +([\d,]+)$", said)
    return said, {what: tuple(int(number.replace(",", "")) for number in numbers) for what, *numbers in lines}


@pytest.mark.parametrize(("general", "shown"), [(1, POOL), (3, 30)])
def test_a_new_build_takes_what_its_settings_say(tmp_path, general, shown):
    folder = a_build(
        tmp_path / "build", personas=4, specific=2, general=general, test="1/2", masked="3/4", annotators=5
    )
    filled = {name: estimated([prompts.load(folder.root, name).text])[0] for name in prompts.PLACEHOLDERS}
    pool = folder.root / "pool.jsonl"
    pool.write_text("".join(json.dumps({"question": f"What is {word} number?"}) + "\n" for word in range(41)), "utf-8")
    said, calls = planned(folder.root, "--models", 3)
    questions, answers = 4 * (2 + general), 4 * (2 + general) * 3
    pairs = 2 * (2 + general) * 4  # of two test persons, four kinds
    rewrites = 2 * (2 + general) * 3  # by three models, of their questions
    worse = (filled["less_personal"] + filled["less_helpful"]) / 2
    expected = {
        "personas": (4, filled["persona"] + SEED + OTHERS, PERSONA),
        "specific questions": (4 * 2, filled["specific"] + PERSONA + EXAMPLE, QUESTION),
        "specific questions, checked": (4 * 2, filled["natural"] + PERSONA + QUESTION, VERDICT + QUESTION),
        "pool, filtered": (3, filled["open"] + POOL * QUESTION, CHOICE),  # 41 questions, 20 at once
        "general questions": (4, filled["general"] + PERSONA + shown * QUESTION, CHOICE),
        "general questions, checked": (4 * general, filled["fits"] + PERSONA + QUESTION, VERDICT),
        "answers, full": (answers, filled["answer"] + QUESTION + PERSONA, ANSWER),
        "answers, masked": (answers, filled["answer"] + QUESTION + PERSONA // 4, ANSWER),
        "answers, question": (answers, filled["question"] + QUESTION, ANSWER),
        "answers, improved": (rewrites, filled["improve"] + PERSONA + QUESTION + ANSWER, ANSWER + REASONS),
        "answers, degraded": (rewrites, worse + QUESTION + ANSWER, ANSWER + REASONS),
    }
    products = {what: (n, round(n * told), n * written) for what, (n, told, written) in expected.items()}
    assert calls == {**products, "total": tuple(map(sum, zip(*products.values(), strict=True)))}
    assert f"{pairs} pairs of 2 test persons; 4 persons and {questions} questions in all; 3 models answer" in said
    assert f"Votes to buy: {pairs * 5} (5 to each pair)" in said


def test_a_size_decides_how_many_personas_there_must_be(tmp_path):
    root = a_build(tmp_path / "build", personas=4, specific=2, test="1/2").root
    # Eight pairs of a test person, and every other person is one: 17 pairs take three of them, the fifth person being the third.
    said, calls = planned(root, "--size", 17)
    assert f"Set personas: 5 in {root / 'build.yaml'} (it has 4), or bring your own personas." in said
    assert "24 pairs of 3 test persons; 5 persons and 10 questions in all; 2 models answer" in said
    assert calls["personas"][0] == 5
    for size in (9, 16):  # two of them, the third person being the second
        assert "16 pairs of 2 test persons; 3 persons" in planned(root, "--size", size)[0]
    assert "Set personas" not in planned(root)[0]


@pytest.mark.parametrize(
    ("changes", "name"), [({"test": "0"}, "test"), ({"specific": 0, "general": 0}, "specific and general")]
)
def test_without_pairs_to_vote_on_there_is_nothing_to_plan(tmp_path, changes, name):
    root = a_build(tmp_path / "build", **changes).root
    assert f"{name} must be above 0 in {root / 'build.yaml'}" in personafeedback("build", "plan", root).output


def test_hours_and_money_of_each_annotator(tmp_path):
    root = a_build(tmp_path / "build", personas=60, specific=4, test="1", annotators=12, votes_per_pair=9).root
    said, _ = planned(root, "--models", 2, "--words-per-minute", 100, "--pay", 15)
    pairs = 60 * 4 * 4  # of four kinds, one of which is voted on as OPTIONS answers at a time
    own = pairs * 9 / 12
    items = own + own // 20
    answers = (3 * 2 + OPTIONS) / 4
    words = 0.75 * (items * (QUESTION + answers * ANSWER) + 60 * 9 / 12 * PERSONA)
    hours = (words / 100 + items / 6) / 60
    found = re.search(
        r"Each of 12 annotators: about 720 pairs and 36 attention items, ([\d.]+) hours in (\d+) sessions, \$([\d,.]+)\n"
        r"All annotators: ([\d,.]+) hours at 100 words a minute and 10 seconds to decide, \$([\d,.]+) at \$15 an hour",
        said,
    )  # fmt: skip
    each, count, money, together, total = (float(number.replace(",", "")) for number in found.groups())
    assert each == pytest.approx(hours, abs=0.05)
    assert count == -(-hours // 1)
    assert money == pytest.approx(15 * hours, abs=0.01)
    assert together == pytest.approx(12 * hours, abs=0.05)
    assert total == pytest.approx(180 * hours, abs=0.01)
    assert "--pay prints what they cost" in planned(root)[0]
