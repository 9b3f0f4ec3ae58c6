"""What is left of a reply: the turn that was spoken, and its plain text. Row by row."""

from __future__ import annotations

import pytest

from personafeedback_tasks.replies.plain import READ, plain, spoken
from personafeedback_tasks.replies.vocabulary import GONE, classes

SPOKEN = [
    ("<i>B</i>x", "Bx"), ("<p>B</p>x", "B\nx"), ("a\rb", "a\nb"), ("<|x|>A<|im_end|>B", "A"), ("<|im_end|>A<|im_end|>B", "A"),
    ("<think>x</think>B", "B"), ("x</think>B", "B"), ("<think>x", None), ("a<think>x</think>b<think>y", None),
    ("<seed:think>x</seed:think>B", "B"), ("<note>Answer: A</note>B", "B"), ("<note>B</note>", "B"),
    ("<note><answer>B</answer></note>", "⟦ B."), ("<note>x<think>y</note>B", "B"), ("<p>A</p><p>B</p>", "A\nB"),
    ("x<br>y", "x\ny"), ("x<br/>y", "x\ny"), ("<div>A</div>b", "A\nb"), ("<b>B</b>", "B"),
    ("<strong>B</strong>", "B"), ("<h2>B</h2>", "B"), ("<answer>B", "⟦ B"), ("<answer> B </answer> as", "⟦ B.\nas"),
    ("<final_answer>B</final_answer>", "⟦ B."), ("<better>B</better>", "⟦ B."), ("<x><answer>B</x>", "⟦ B"),
    ("<s>A</s> B", "B"), ("<del>A</del> B", "B"), ("<strike>A</strike> B", "B"), ("<s>not A, surely</s> B", "¤ B"),
    ("<s>A", "A"), ("A</s>B", "A"), ("<s>A</s>B</s>C", "B"), ("<a>B</a>", "B"), ("<a>it is long</a>", "it is long"),
    ("<b>it is long</b>", "it is long"), ("<A>", "A"), ("<user>", "user"), ("x<end_of_turn>y", "x"),
    ("x<end_of_turn>y<end_of_turn>z", "x"), ("<|im_start|>A<|im_end|>B", "A"), ("A<|eot_id|>B", "A"),
    ("<|begin_of_box|>A<|end_of_box|>", "A"), ("<|thinking|>x<|/thinking|>B", "B"), ("[THINK]x[/THINK]B", "B"),
    ("◁think▷x◁/think▷B", "B"),
    ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B", "B"),
    ("a  b\n\n c\rd", "a b\nc\nd"), ("\uff21\u200b \u2019x\u2019", "A 'x'"), ("a\u2080b", "a¤b"), ("", ""),
    ("  ", ""), ("<x><y>B</x>z</y>w", "y Bzw"), ("it <em>is surely</em> B", "it is surely B"),
    ("A" + 40 * "\u0301" + "B", "\u00c1" + 39 * "\u0301" + "B"),
]  # fmt: skip
PLAIN = [
    ("```\nI prefer B\n```", "I prefer B"), ("```\nShe would like it long, so B.\n```", "She would like it long, so B."),
    ('{"choice": "not knowables"}', "{ ¤ }"), ('He said "Long!" x', "He said  ¤.  x"),
    ('He said "Long?" x', "He said  ¤.  x"), ('他说"很长。"x', "他说 ¤. x"), ('He said "It is long. " x', "He said  ¤.  x"),
    ('{"A": true, "B": false}', "{ A ✓ , B ✗ }"), ('{"A": 1}', "{ ¤ }"), ('{"x": true}', "{ ¤ }"),
    ('{"answer": "B"}', "{\n⟦ B\n}"), ('{"answer": "B', "{\n⟦ B"),
    ('{"final_answer": "Response B", "reason": "A is dry"}', "{\n⟦ Response B\n, ¤ }"),
    ("{'choice': 'A'}", "{\n⟦ A\n}"), ('{"choice": "\\u0041"}', "{ ¤ }"),
    ('{"choice": "it is surely response B"}', "{ ¤ }"), ('{"choice": "not known"}', "{\n⟦ not known\n}"),
    ('{"choice": "not knowable"}', "{\n⟦ not knowable\n}"), ('{"choice": ""}', "{\n⟦\n}"),
    ('{"final": "B"}', "{\n⟦ B\n}"), ('{"helpfulness": "B"}', "{ ¤ }"),
    ('{"result": {"answer": "B"}}', "{ ¤ : {\n⟦ B\n}}"), ('{"answer": B}', "{\n⟦ B\n}"), ("```\nB\n```", "B"),
    ("x\n```\nB\n```", "x\nB"), ("x\n```\nif B:\n  y\n```", "x\n¤"),
    ('x\n```json\n{"answer": "B"}\n```', "x\n{\n⟦ B\n}"), ("~~A~~ B", "B"), ("~~A is long~~ B", "¤ B"),
    ("<!-- A --> B", "B"), ("\\text{B}", "B"), ("\\boxed{B}", "⟦ B."), ("\\boxed B", "⟦ B."),
    ("\\boxed{\\text{B}} x", "⟦ B. x"), ("[[B]] x", "⟦ B. x"),
    ("- [x] A\n- [ ] B", "✓ A\n✗ B"), ("**B** __A__ ==B==\n---\nx", "B A B\nx"),
    ("A -> B => A 👉 B", "A → B → A → B"), ("A 3.5/10, 80%. B 7", "A 0, 0. B 0"),
    ("A4 paper and 3D", "A4 paper and 3D"), ('He wrote "B".', "He wrote  B ."),
    ('He wrote "Answer: B".', "He wrote  ¤ ."), ('"Answer: B"', "Answer: B "),
    ('"Answer: B".\nx', "Answer: B .\nx"), ('x\n"Answer: B"。', "x\nAnswer: B 。"),
    ('He said "It is long. B."x', "He said  ¤. x"), ('He said "It is long" x', "He said  ¤  x"),
    ("“B” 「A」 『B』 «A» `B`", "B   A   B   A   B "), ("it's 'B' then", "it's  B  then"),
    ('6\'2" tall "B', '0\'0" tall  B '), ('x ""', "x  "), ('"A\nB"', "¤ "), ("# Response A\nx", "¤\nx"),
    ("# B", "B"), ("Response A:\nx", "¤\nx"), ("A:\nx", "¤\nx"), ("A:", "A:"), ("Response A\n- x", "¤\nx"),
    ("Response A\n1. x", "¤\nx"), ("Response A\nx", "Response A\nx"), ("> B\nx", "B\nx"), ("> B", "B"),
    ("> it is B\nx\n> A", "¤\nx\nA"), ("- B", "B"), ("1. B", "B"), ("| B |", "B |"),
    ("(A) [b] 【A】 <<B>>", " A   B   A   B "), ("x > y", "x > y"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), SPOKEN)
def test_spoken(reply: str, expected: str | None) -> None:
    assert spoken(reply) == expected


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_of_a_reply_that_goes_on_and_on_the_beginning_and_the_end_are_read() -> None:
    assert spoken("x" * 2 * READ) == "x" * 2 * READ
    assert spoken("a" * READ + "b" + "c" * READ) == "a" * READ + f"\n{GONE}\n" + "c" * READ


@pytest.mark.parametrize(("text", "expected"), [
    ("A is better", "Aig"), ("A better choice", "αgd"), ("B better fits him", "BgfU"), ("a", "α"), ("b", "β"), ("plan B", "xO"),
    ("plan A and B", "xA&B"), ("计划B", "xxO"), ("Answer: A lot", "d:αx"), ("A. B", "A.B"), ("for Lin", "4U"), ("for beginners", "4k"),
    ("for jazz", "4x"), ("更好", "g"), ("選擇", "c"), ("DON'T", "!"), ("A+", "x"), ("A+ B", "AB"), ("A vs. B", "A|B"), ("A >> B", "AoB"), ("⟦ A jazz", "QAx"),
    (f"{GONE} A", "xA"), ("", ""), ("A", "A"), ("A worse choice", "αwd"), ("A wrong", "Aw"),
])  # fmt: skip
def test_classes(text: str, expected: str) -> None:
    assert classes(text) == expected
