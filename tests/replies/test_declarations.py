"""What a plain text declares, clause by clause."""

from __future__ import annotations

import pytest

from personafeedback_tasks.replies.declarations import declarations

ROWS = [  # (text, its declarations: letter or -, rank, and ! where it settles)
    ("B", "B2"), ("b)", "B2"), ("a.", "A2"), ("I like tea. B", "B1"), ("B. I like tea", "B2"),
    ("B.\nI like tea", "B2"), ("Response B", "B2"), ("x. Response B", ""), ("x. Response B.", "B1"),
    ("Answer: B", "B2"), ("my choice is B", "B2"), ("B is my choice", "B2"), ("I prefer B", "B1"),
    ("B is better", "B1"), ("better: B", "B2"), ("B is right", "B0"), ("not A", "B0"), ("B beats A", "B1"),
    ("A is beaten by B", ""), ("A is worse", "B1"), ("wrong answer: A", "B1"), ("It is a tie", "-1"),
    ("Answer: tie", "-2"), ("Answer: both", "-2"), ("Answer: A or B", "-2"), ("both are fine", ""),
    ("So B", "B1!"), ("Therefore, B is better", "B1!"), ("Tea is nice, so B", "B1!"), ("but B is better", "B1!"),
    ("A. Wait, B.", "A1 B1!"), ("A. Wait.", "A1 -2!"), ("A. No, B.", "A1 B1!"), ("A, no.", "A1 -2!"),
    ("A is better, but not B", "A1"), ("A. Actually A fits", "A1"), ("Is B better?", ""),
    ("If he likes tea, B is better", ""), ("B is better if he likes tea", ""),
    ("B is better because it is long", "B1"), ("B, because it is long", "B2"), ("B since A is worse", "B2"),
    ("While A is long, B is better", "B1"), ("B is better while A is long", "B1"),
    ("Although A is better, x", ""), ("some prefer B", ""), ("B may be better", ""),
    ("In terms of tone, B is better", ""), ("For this user, B is better", "B1"),
    ("Stylistically, B is better", ""), ("Stylistically, so B is better", "B1!"), ("Tone: B", ""),
    ("Overall: B", "B2!"), ("Worse: A", "B1"), ("Not the answer: B", ""), ("No: B", "B1!"), ("A: warm", "A1"),
    ("A: B is better", "B1"), ("B: warm\nA: cold", ""), ("A. warm. B. cold. x", ""), ("A\nB", ""),
    ("B is better than A", "B1"), ("B, not A", "B1 B0"), ("A is not better", "-0"), ("A is not as good as B", "B1"),
    ("A and B are equal", "-1"), ("A beats B beats A", ""), ("A beats B, B is better", "A1 B1"),
    ("B is better, then A", "B1 -1"), ("B is better, in A", "B1"),
    ("B is better, but A is more helpful", "B1 -1"), ("B is better, A lacks tea", "B1"),
    ("A is better and B is worse", "A1 A1"), ("A is better and worse", ""), ("A is not worse", ""),
    ("A is better and B is better", "A1 B1"), ("B is better at jokes", ""), ("B is better for him at home", "B1"),
    ("B is better for Lin", "B1"), ("The better choice for him is B", "B2"), ("A ✓ B ✗", "A1 A1"),
    ("ranking: B, A", "B2"), ("B > A", "B1"), ("B < A", "A1"), ("the first is better", "A1"),
    ("B is warm, A is dry. The former is better", ""), ("I choose B, even if A is long", "B1"),
    ("If I must choose, B is better", "B1"), ("Answer: A, then B", "A2 -2"), ("x y: B", ""),
    ("B. Tone: A", "B1 -2"), ("B. Tone: A. x", "B1 -1"), ("so A and B", ""), ("Answer: Response B", "B2"),
    ("The answer for him is: B", "B2"), ("(B)", "B2"), ("B, A", ""), ("A = B", ""), ("A, B and tea", ""),
    ("B is better, but it does not", "B1 -1"), ("⟦ B", "B2"), ("not ⟦ B", ""), ("Wait ⟦ B", "B2!"),
    ("x: ⟦ B", "B2"), ("tea: x is better: B", ""), ("B?", ""), ("B!", "B2"), ("为B", "B1"), ("更好的是B", "B1"),
    ("选B", "B1"), ("不选A", "B0"), ("B更好，但A更贴心", "B1 -1"), ("A没有B好", "B1"),
    ("not response A", "B0"), ("not response B", "A0"), ("Answer: A tie", "-2"), ("Wait, so ⟦ B", "B2!"), ("Final answer: so B", "B1!"),
    ("Answer: tone: B", ""), ("A: warm, B: cold", ""), ("A and B: B is better", "B1"),
    ("B is warm, while A is better", "A1"), ("While A is better, he likes tea", ""), ("I say B but he likes tea", "B1"),
    ("B, not tea", "B1"), ("B, while tea is nice", "B1"), ("B, although tea is nice", "B1"), ("B, tea is nice", ""),
    ("Tea is nice, so response B", "B1!"), ("Tea is nice, response B", ""), ("Tea is nice, response B.", "B1"),
    ("Tea is nice, response B. x y. z", "B1"), ("Tea is nice, but response B", ""), ("I prefer B. A: warm", "B1"),
    ("Answer: B. Tea with him is A. x", "B2 -1"), ("Answer: B, tea with him is A. x", "B2 -2"), ("Tea.\nB\nMore tea", "B2"),
    ("Tea. B. More tea", "B1"), ("A: B is warm\nB: warm", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_declarations(text: str, expected: str) -> None:
    assert all(isinstance(one.letter, str) for one in declarations(text))
    found = [f"{one.letter or '-'}{one.rank}{'!' * one.settles}" for one in declarations(text)]
    assert " ".join(found) == expected
