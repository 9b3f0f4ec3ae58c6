"""Checks of texts, what replaces a refused one, how questions of a pool come to persons, and how models are told."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from support.building import a_build, words, write
from support.commands import build_step, personafeedback, ran
from support.servers import serving

from personafeedback_tasks.building.rows import Answer, Origin, Pair, Person, PoolQuestion, Question, Refused
from personafeedback_tasks.building.texts.answers import answer_id
from personafeedback_tasks.building.texts.asking import HOPELESS, ROUNDS
from personafeedback_tasks.building.texts.specific import slots
from personafeedback_tasks.inspect_harness import generation

MODEL = "openai/gpt-4o"


def run(name, folder, *options):
    done = build_step(name, folder.root, *options)
    assert done.exit_code == 0, done.output
    return done.output


def step(name, folder):
    return run(name, folder, "--model", MODEL)


# --- what replaces a refused text -------------------------------------------------------------------------------------


def test_a_refused_text_is_replaced_from_other_memory_with_another_seed_until_the_number_is_reached(writer, upto):
    folder = upto("personas", personas=2, specific=3)
    user, other = (person.user_id for person in folder.people())
    folder.memory_path(user).parent.mkdir()
    essays = [json.dumps({"text": f"An essay on {words(str(number), 3)}"}) + "\n" for number in range(40)]
    folder.memory_path(user).write_text("".join(essays), "utf-8")
    slot, never = f"{user}:specific:0", [f"{other}:specific:{number}" for number in range(3)]
    bad = "1. What should I eat?"
    writer.replies = {slot: bad, f"{slot}~1": "What now? And where?", f"{slot}~2": write("Situation: a")}
    writer.replies |= dict.fromkeys(never, bad)  # and whatever replaces them
    writer.take()
    step("questions", folder)
    assert Counter(question.user_id for question in folder.read(Question)) == {user: 3}
    assert Counter((text.id, text.reason) for text in folder.read(Refused)) == {
        (slot, "numbered"): 1, (slot, "several questions"): 1, **{(name, "numbered"): 1 + ROUNDS for name in never},
    }  # fmt: skip
    drafts = {name: prompt for *_, name, prompt in writer.take() if "Situation:" in prompt and name.startswith(slot)}
    assert list(drafts) == [slot, f"{slot}~1", f"{slot}~2"]
    assert len(set(drafts.values())) == 3
    assert len({re.search("Situation: (.*)", prompt)[1] for prompt in drafts.values()}) == 1  # Table 5's shares stay
    seeds = {f"{slot}~{time}{about}": time for time in (1, 2) for about in ("", "~features")} | {f"{slot}~2~natural": 2}
    assert {name: seed for name, seed in writer.seeds.items() if name.startswith(slot)} == seeds
    assert "lacking" not in personafeedback("build", "status", folder.root).output
    step("questions", folder)
    assert writer.take() == []  # what was refused in all rounds is settled
    # A team that removes refused texts has them written anew.
    folder.path(Refused).unlink()
    writer.replies = {}
    assert "3 lacking: run it again" in personafeedback("build", "status", folder.root).output
    step("questions", folder)
    assert len([name for *_, name, _ in writer.take() if not name.endswith("~natural")]) == 3
    assert len(folder.read(Question)) == 6


def test_where_nothing_passes_no_more_is_asked(writer, upto):
    folder = upto("personas", personas=4, specific=HOPELESS // 4)
    writer.take()
    writer.write = lambda prompt, model: "Sure! Here's a question: what now?"
    done = personafeedback("build", "texts", folder.root, "questions", "--model", MODEL)
    assert done.exit_code == 1
    assert f"Refused {HOPELESS}: {HOPELESS} preamble" in done.output
    assert len(writer.take()) == HOPELESS


@pytest.mark.slow
def test_the_cache_forgets_what_the_files_have(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    replies = iter(["Sure! What now?"] * (1 + ROUNDS))

    def reply(prompt, model):
        return next(replies, None) or write(prompt) if "Situation:" in prompt else write(prompt)

    with serving(reply) as server:
        folder = a_build(tmp_path / "build", personas=1, specific=1)
        options = ["--model", MODEL, "-M", f"base_url={server.url}"]
        ran("build", "texts", folder.root, "personas", *options)
        assert personafeedback("build", "texts", folder.root, "questions", *options).exit_code == 1
        asked = len(server.seen)
        assert asked == 1 + 1 + ROUNDS
        folder.path(Refused).unlink()
        ran("build", "texts", folder.root, "questions", *options)
        assert len(server.seen) == asked + 2  # the question, and its check: the model writes again, not the cache
    assert len(folder.read(Question)) == 1


# --- questions --------------------------------------------------------------------------------------------------------


def checked(natural, discreet, question):
    return f"<natural>{natural}</natural>\n<discreet>{discreet}</discreet>\n<question>{question}</question>"


def test_a_question_is_judged_and_rewritten(writer, upto):
    folder = upto("personas", personas=1, specific=6)
    (user,) = (person.user_id for person in folder.people())
    slots = [f"{user}:specific:{number}" for number in range(6)]
    questions = (
        "What would Ann the nurse eat on a rainy day?", "What should a nurse eat?", "Is it blue of wind?",
        "How do I mend a chair?", "How do I clean a lamp?", "How do I read a map?",
    )  # fmt: skip
    always = {
        slots[1]: checked("yes", "no", questions[1]),
        slots[2]: checked("no", "yes", questions[2]),
        slots[4]: "It is fine.",
    }
    writer.replies = {
        **dict(zip(slots, questions, strict=True)),
        **{f"{slot}{time}~natural": reply for slot, reply in always.items() for time in ("", "~1", "~2", "~3")},
        f"{slots[0]}~natural": checked("yes", "no", "What is good to eat on a rainy day?"),
        f"{slots[3]}~natural": checked("yes", "yes", "How is a chair mended by me?"),
        f"{slots[5]}~natural": checked("yes", "no", "1. How are maps read?"),
        f"{slots[5]}~1": "How do I hang a door?",
    }
    writer.take()
    step("questions", folder)
    assert [question.question for question in folder.read(Question)] == [
        "What is good to eat on a rainy day?", "How do I mend a chair?", "How do I hang a door?",
    ]  # fmt: skip
    assert Counter((text.id, text.reason) for text in folder.read(Refused)) == {
        (slots[1], "gives its user away"): 4, (slots[2], "unnatural"): 4,
        (slots[4], "no verdict"): 4, (slots[5], "numbered"): 1,
    }  # fmt: skip
    origins = {origin.id: origin for origin in folder.read(Origin)}
    assert all("natural.md " in origins[question.id].prompt for question in folder.read(Question))


# --- general questions ------------------------------------------------------------------------------------------------


def with_pool(folder, count):
    pool = [f"How would I go about {words(str(number), 6)}?" for number in range(count)]
    lines = [*pool, pool[0], "Why not now?"]  # one again, and one that is too short
    (folder.root / "pool.jsonl").write_text("".join(json.dumps({"question": text}) + "\n" for text in lines), "utf-8")
    return folder, pool


def test_a_pool_is_filtered_matched_and_each_match_is_validated(writer, upto):
    folder, pool = with_pool(upto("personas", specific=0, personas=2, general=2), 30)
    first, second = (person.user_id for person in folder.people())

    def reply(prompt, model):
        if "open and personal" in prompt:
            return "none" if pool[0] not in prompt else ", ".join(str(number) for number in range(1, 13))
        if "<fits>" in prompt and folder.persona(second).text in prompt:
            return "<fits>no</fits>"
        return write(prompt, model)

    writer.write = reply
    assert "12 of 30 questions of the pool are open and personal (pool.csv)" in step("questions", folder)
    rows = folder.read(PoolQuestion)
    assert [row.question for row in rows if row.keep == "yes"] == pool[:12]
    questions = folder.read(Question)
    assert [question.user_id for question in questions] == [first] * 2
    assert {question.question for question in questions} <= set(pool[:12])
    refused = folder.read(Refused)
    assert {(text.id, text.reason) for text in refused} == {(f"{second}:general:2", "does not fit its person")}
    shown = [text for row in refused for text in row.text.splitlines()]
    assert len(shown) == len(set(shown)) == 2 * 4  # none is offered to this person again
    folder.write(Refused, refused[1:])
    writer.take()
    step("questions", folder)
    offered = [prompt for *_, prompt in writer.take() if "numbered list of questions. Choose" in prompt]
    assert offered
    assert not any(text in prompt for row in refused[1:] for text in row.text.splitlines() for prompt in offered)
    # People have the last word on the pool, and nothing is judged twice.
    folder.write(PoolQuestion, [*rows[:12], *(row.__class__(id=row.id, question=row.question) for row in rows[12:])])
    folder.path(Refused).unlink()
    writer.write = write
    writer.take()
    assert "30 of 30 questions of the pool are open and personal" in step("questions", folder)
    assert not [prompt for *_, prompt in writer.take() if "open and personal" in prompt]
    assert Counter(question.user_id for question in folder.read(Question)) == {first: 2, second: 2}


def test_a_choice_of_which_a_check_failed_is_not_paid_twice(writer, upto):
    folder, _ = with_pool(upto("personas", specific=0, personas=2, general=2), 30)
    failed = []

    def reply(prompt, model):
        if "<fits>" in prompt and not failed:
            failed.append(prompt)
            return RuntimeError("down")
        return write(prompt, model)

    writer.write = reply
    writer.take()
    step("questions", folder)
    before = {(name, prompt) for *_, name, prompt in writer.take()}
    assert len(folder.read(Question)) == 2  # of the other person
    step("questions", folder)
    again = {(name, prompt) for *_, name, prompt in writer.take()}
    assert again <= before  # all but the one that failed is in the cache
    assert failed[0] in {prompt for _, prompt in again}
    assert Counter(question.user_id for question in folder.read(Question)) == {
        person.user_id: 2 for person in folder.people()
    }


def test_a_choice_gives_as_many_as_are_missing_and_an_empty_pool_ends(writer, upto):
    folder, _ = with_pool(upto("personas", specific=0, personas=1, general=3), 30)
    chosen, counts = iter(["1", "1, 2, 3, 4, 5"]), []

    def reply(prompt, model):
        if "numbered list of questions. Choose" not in prompt:
            return write(prompt, model)
        counts.append(re.search(r"the numbers of the best (\d+)", prompt)[1])
        return next(chosen)

    writer.write = reply
    step("questions", folder)
    assert counts == ["3", "2"]
    assert len(folder.read(Question)) == len({one.question for one in folder.read(Question)}) == 3
    assert [text.reason for text in folder.read(Refused)] == ["too few"]
    writer.write = write
    few = upto("personas", "few", specific=0, personas=1, general=5)
    assert "general = 0 in build.toml" in build_step("questions", few.root, "--model", MODEL).stderr
    (few.root / "pool.jsonl").write_text('{"question": "Why now?"}\n', "utf-8")
    done = build_step("questions", few.root, "--model", MODEL)
    assert "found no question of 4 to 120 words, expected some" in done.stderr
    _, pool = with_pool(few, 3)
    assert "Read 3 questions of the pool; 1 more are too short or too long" in step("questions", few)
    assert {one.question for one in few.read(Question)} == {*pool}


# --- models -----------------------------------------------------------------------------------------------------------

BIG, SMALL = MODEL, "ollama/llama3:8b"


def test_a_text_that_is_withheld_is_asked_for_again_and_then_settled(writer, upto):
    folder = upto("personas", personas=2, specific=2)
    first, other = (slot for person in folder.people()[:2] for slot in slots(folder.settings, person.user_id)[:1])
    withheld = generation.WrittenText("", False, True)
    checks = (f"{other}~natural", *(f"{other}~{time}~natural" for time in range(1, 1 + ROUNDS)))
    writer.replies = dict.fromkeys((first, *checks), withheld)  # one is never written, one is never checked
    run("questions", folder, "--model", BIG)
    assert Counter((one.id, one.reason) for one in folder.read(Refused)) == {
        (first, "withheld by the provider"): 1 + ROUNDS,
        (other, "withheld by the provider"): 1 + ROUNDS,
    }
    writer.take()
    run("questions", folder, "--model", BIG)
    assert writer.take() == []
    assert "questions  2 (2 specific)\n" in run("status", folder)
    writer.replies = {answer_id(folder.questions()[0].id, "full", BIG): withheld}
    shown = run("answers", folder, "--model", BIG)
    assert shown.splitlines()[-1] == f"Next: personafeedback annotate pack {folder.root}"
    assert "lacking" not in run("status", folder)


def test_one_command_writes_what_steps_one_by_one_write_and_all_models_get_its_arguments(tmp_path, writer):
    both = ("--model", BIG, "--model", SMALL)
    alone, together = (a_build(tmp_path / name, personas=2, specific=1) for name in ("alone", "together"))
    run("personas", alone, "--model", BIG, "-M", "timeout=9", "--batch")
    assert writer.told == {BIG: ({"timeout": 9}, True)}
    run("questions", alone, "--model", BIG)
    run("answers", alone, *both, *["-M", "timeout=9", "-M", "base_url=http://here/v1", "-M", "stop=[1,2]"])
    told = {"timeout": 9, "base_url": "http://here/v1", "stop": [1, 2]}
    assert writer.told == dict.fromkeys((BIG, SMALL), (told, False))
    asked = writer.take()
    shown = ran("build", "texts", together.root, *both)
    assert shown.output.count("Next:") == 1
    assert shown.output.splitlines()[-1] == f"Next: personafeedback annotate pack {together.root}"
    assert writer.take() == asked
    for kind in (Person, Question, Answer, Pair):
        assert together.read(kind) == alone.read(kind)
    ran("build", "texts", together.root, *both)
    assert writer.take() == []
