"""Numbers that a build decides by, each as its documents say: defaults and limits of settings, lengths, packs, agreement, scripted personas."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support import building as scripted
from support.builds import a_build
from support.commands import build_step, personafeedback

from personafeedback_tasks.building.coins import label_rule
from personafeedback_tasks.building.models import Models
from personafeedback_tasks.building.rows import Question, Refused
from personafeedback_tasks.building.settings import Settings
from personafeedback_tasks.building.texts.personas import write_personas
from personafeedback_tasks.building.texts.questions import write_questions
from personafeedback_tasks.common.errors import DataError

ONE = Models(("openai/gpt-4o",))


# --- settings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("seed", ("0", "1000000000000"), ("-1", "1000000000001")),
        ("personas", ("0", "100000"), ("-1", "100001")),
        ("specific", ("0", "1000"), ("-1", "1001")),
        ("general", ("0", "1000"), ("-1", "1001")),
        ("annotators", ("1", "1000"), ("0", "1001")),
        ("test", ("0", "1", "1/3"), ("1.1", "4/3", "1/0")),
        ("masked", ("0", "1", "0.5"), ("1.1",)),
        ("medium", ("0.51", "1"), ("1/2", "1.1")),
        ("language", ("zh", "deu"), ("z", "zh-CN", "ZHXX")),
    ],
)  # fmt: skip
def test_a_setting_has_its_limits(name, allowed, refused, tmp_path):
    path = tmp_path / "build.yaml"
    for value in allowed:
        path.write_text(f"{name}: {value}\n", encoding="utf-8")
        assert str(getattr(Settings.load(path), name)) == str(
            Fraction(value) if name in ("test", "masked", "medium") else value
        )
    for value in refused:
        path.write_text(f"{name}: {value}\n", encoding="utf-8")
        with pytest.raises(DataError, match=f"found {name} = "):
            Settings.load(path)


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
