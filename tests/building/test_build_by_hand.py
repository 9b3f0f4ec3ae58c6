"""Numbers that a build decides by, each as its documents say: defaults and limits of settings, lengths, packs, agreement, scripted personas."""

from __future__ import annotations

from support import building as scripted
from support.builds import a_build
from support.commands import build_step, personafeedback

from personafeedback_tasks.building.coins import label_rule
from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.rows import Question, Refused
from personafeedback_tasks.building.texts.personas import write_personas
from personafeedback_tasks.building.texts.questions import write_questions

ONE = Models(("openai/gpt-4o",))


# --- settings -----------------------------------------------------------------------------------------------------------


def test_too_few_votes_are_named_before_anybody_is_paid(tmp_path):
    build = a_build(tmp_path / "build", people=1, questions=1, annotators=5, votes_per_pair=5)
    assert personafeedback("build", "init", build.root).exit_code == 0
    done = build_step("packs", build.root)
    assert done.exit_code == 0, done.output
    assert label_rule(5) in done.output


# --- texts --------------------------------------------------------------------------------------------------------------


def test_a_question_has_120_words_at_most(tmp_path, writer):
    folder = scripted.a_build(tmp_path / "build", personas=1, specific=2)
    write_personas(folder, ONE, print)
    (person,) = folder.people()
    begins = (
        "What should I do about the garden behind my house when ",
        "How do other people manage a very long journey with ",
    )
    texts = []
    for begin, length in zip(begins, (120, 121), strict=True):
        text = begin
        while len(text.split()) < length:
            text += scripted.words(f"{text} {length}", 1) + " "
        texts.append(f"{text.strip()}?")
    writer.replies = {f"{person.user_id}:specific:{number}": text for number, text in enumerate(texts)}
    said: list[str] = []
    write_questions(folder, ONE, said.append)
    assert [len(one.question.split()) for one in folder.read(Question)] == [120]
    assert any(line.startswith("Refused 4: 4 too long") for line in said)
    assert [one.id for one in folder.read(Refused)] == [f"{person.user_id}:specific:1"] * 4
