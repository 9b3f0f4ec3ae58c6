"""A list that ends a reply is one statement: read where it is clear which letter it puts first, and never by its last item."""

from __future__ import annotations

import json
import re

import pytest
from support.commands import personafeedback

from personafeedback_tasks.pairwise.orders import ORDERS
from personafeedback_tasks.parsing.answers import LETTERS, read_last_line, read_reply
from personafeedback_tasks.parsing.letters import readers
from personafeedback_tasks.personafeedback.cases import load_cases

FOUR = ("A", "B", "C", "D")

# What the list puts first is A; "" where that is open.
FIRST = [
    "Response A: 8\nResponse B: 3", "Response B: 3\nResponse A: 8", "Response A: 8 / Response B: 3", "A: 8, B: 3", "A) 8/10\nB) 3/10", "**A:** 8/10\n**B:** 3/10",
    "Response A (8/10): warm.\nResponse B (3/10): cold.", "### Response A: 8/10\n### Response B: 3/10", "A - 4 stars\nB - 2 stars", "A = 8\nB = 3", "A: 80%\nB: 20%",
    "Scores:\nA: 8\nB: 3", "Scores: A: 8, B: 3", "Score for A: 8\nScore for B: 3", "P(A) = 0.8\nP(B) = 0.2", "A：8分\nB：3分", "得分：A 8，B 3", "回答A：8分，回答B：3分", "Bewertung:\nA: 8\nB: 3",
    "| A | 8 |\n| B | 3 |", "| Response | Score |\n|---|---|\n| A | 8 |\n| B | 3 |", "| Rank | Response |\n|---|---|\n| 1 | A |\n| 2 | B |",
    "[{\"model\": \"A\", \"score\": 8}, {\"model\": \"B\", \"score\": 3}]", "[\n{\"model\": \"A\",\n\"rank\": 1},\n{\"model\": \"B\",\n\"rank\": 2}\n]", "{\"A\": 8, \"B\": 3}",
    "Ranking:\n1. A\n2. B", "Ranking: 1. A 2. B", "Ranking: 1. A / 2. B", "Ranking (best first):\n1) Response A\n2) Response B", "From best to worst:\n1. A\n2. B", "排名：\n1. A\n2. B", "Ranking: A, B",
    "1st: A\n2nd: B", "First place: A\nSecond place: B", "第一名：A\n第二名：B", "#1: A\n#2: B", "Best: A\nSecond best: B", "Rank: A 1, B 2",
    "Answer: A\nB: rejected, it guesses.", "Answer: A / B: rejected, it guesses.", "Answer: A\n- A: names the dog\n- B: guesses", "Winner: A\nB is close, too.", "答案：A\nB：太长，不考虑。",
    "Answer: A\n\nScores\nA: 8\nB: 3", "Answer: A\nA: 5\nB: 5", "Winner: A\nLoser: B", "A ✅\nB ❌", "Response A is better.\nResponse B is worse.",
]  # fmt: skip
OPEN = [
    "- Response A: fits\n- Response B: mentions fish", "A: 7\nB: 7", "A: 1\nB: 2", "Errors: A: 3, B: 1", "Errors:\nA: 3\nB: 1", "A: 3 errors\nB: 1 error", "I counted the errors.\nA: 3\nB: 1",
    "| Response | Errors |\n|---|---|\n| A | 3 |\n| B | 1 |", "Scores (lower is better):\nA: 3\nB: 1", "扣分：\nA：3\nB：1", "Words: A: 90, B: 140", "A: 90 words\nB: 140 words",
    "A: 4/5\nB: 8/10", "1. A\n2. B", "Options:\n1. A\n2. B", "From worst to best:\n1. A\n2. B", "Helpfulness:\nA: 8\nB: 6\n\nTone:\nA: 4\nB: 9", "Answer: A\nAnswer: B", "- A\n- B",
    "Response A: fit 8, tone 3\nResponse B: fit 3, tone 8", "Response A is generic.\nResponse B mentions diving.", "| A | warm |\n| B | cold |", "A: 8\nB: 3\nA: 4\nB: 9",
]  # fmt: skip


def exchanged(text: str) -> str:
    return re.sub(r"(?<![A-Za-z])[AB](?![A-Za-z])", lambda letter: "BA"["AB".index(letter[0])], text)


@pytest.mark.parametrize("reply", FIRST + OPEN)
def test_the_last_item_is_no_verdict_of_its_own(reply: str) -> None:
    """Neither for the letters as they are nor exchanged; a reader of whole replies may read less of it, and nothing else."""
    expected = "A" if reply in FIRST else None
    for text, letter in ((reply, expected), (exchanged(reply), {"A": "B"}.get(expected or ""))):
        read = read_last_line(f"She keeps to what she said.\n\n{text}")
        assert (read if read in LETTERS else None) == letter, text
        assert read_reply(f"She keeps to what she said.\n\n{text}") in (letter, "invalid_response_format"), text


@pytest.mark.parametrize("reply", ["Tone: A\nFit: B", "Answer: A\nA: 3\nB: 8", "Answer: A\nB"])
def test_two_answers_in_the_last_lines_are_none(reply: str) -> None:
    assert read_last_line(f"She keeps to what she said.\n\n{reply}") == "invalid_response_format"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A: 8\nB: 3\nC: 9\nD: 1", "C"), ("Ranking:\n1. C\n2. A\n3. B\n4. D", "C"), ("1st: D\n2nd: A\n3rd: C\n4th: B", "D"), ("| A | 3 |\n| B | 9 |\n| C | 1 |\n| D | 2 |", "B"),
        ("- A\n- B\n- C\n- D", ""), ("Answer: C\nD: too expensive", "C"), ("A: too loud\nB: too far\nC: it fits\nD: too expensive", ""), ("A: 8\nB: 9\nC: 9\nD: 1", ""), ("Answer: A\nAnswer: D", ""),
    ],
)  # fmt: skip
def test_lists_of_four_letters(reply: str, expected: str) -> None:
    _, read = readers(FOUR)
    found = read(f"It depends on the price.\n{reply}", False)
    assert (found if found in FOUR else "") == expected


def test_recorded_cot_replies_with_lists_score_as_their_verdicts(tmp_path) -> None:
    def record(case: str, order: str, reply: str) -> str:
        return json.dumps({"id": case, "call": order, "reply": reply if order == "chosen_first" else exchanged(reply)})

    for reply in (
        "A is kind.\n\nResponse A: 8\nResponse B: 3",
        "A is kind.\n\nRanking:\n1. A\n2. B",
        "A is kind.\n\nAnswer: A\nB: rejected.",
    ):
        path = tmp_path / "replies.jsonl"
        cases = load_cases("sample", "general", "hard")
        path.write_text(
            "\n".join(record(case.id, order, reply) for case in cases for order in ORDERS), encoding="utf-8"
        )
        done = personafeedback(
            "score-replies", "personafeedback_general_hard", path, "--data", "sample", "-T", "method=cot", "--json", "-"
        )
        assert done.exit_code == 0, done.output
        metrics = json.loads(done.stdout)["reports"][0]["groups"]["general_hard"]["measures"]
        assert (metrics["acc"]["value"], metrics["invalid"]["value"]) == (1, 0), metrics
