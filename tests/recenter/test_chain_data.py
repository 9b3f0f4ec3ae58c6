"""What the chain begins with, and its measures, by hand."""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import pytest
from support.documents import DOCS, needs_checkout, text

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.cases import digest_of
from personafeedback_tasks.core.evidence import Reply
from personafeedback_tasks.recenter.data import conversations
from personafeedback_tasks.recenter.extract import EXTRACT, is_there
from personafeedback_tasks.recenter.respond import to_reply
from personafeedback_tasks.recenter.select import to_select

SAID = [{"role": "user", "content": "I love tea."}, {"role": "assistant", "content": "Which one?"}]


@needs_checkout
@pytest.mark.parametrize("page", ["chain.md", "recenter.md"])
def test_the_page_says_how_lm_eval_finds_the_tasks(page):
    """Without it, its commands end with `Tasks not found`."""
    blocks = re.findall(r"```bash\n(.*?)```", text(DOCS / page), re.S)
    asked = [block for block in blocks if "lm_eval run" in block]
    assert asked
    assert all("personafeedback register" in block or "--include_path" in block for block in asked)


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def folder(tmp_path):
    rows = [
        {"user_id": user, "conversation": [{**SAID[0], "content": f"I love tea {day}."}], "source": "human"}
        for user, day in [("a", 3), ("a", 1), ("a", 2), ("b", 1)]
    ]  # fmt: skip
    lines(tmp_path / "conversations.jsonl", rows)
    return tmp_path


def test_the_sample_has_six_users_with_four_conversations_each():
    rows = conversations("sample")
    assert Counter(row.user_id for row in rows) == {f"demo-u{number}": 4 for number in range(1, 7)}
    assert {row.cell for row in rows} == {"human", "synthetic"}
    assert rows.demonstration


def test_users_take_turns_whatever_the_order_of_the_file(folder):
    rows = conversations(str(folder))
    assert {row.user_id for row in rows[:2]} == {"a", "b"}
    reversed_ = (folder / "conversations.jsonl").read_text("utf-8").splitlines(keepends=True)[::-1]
    (folder / "conversations.jsonl").write_text("".join(reversed_), "utf-8")
    assert list(conversations(str(folder))) == list(rows)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"source": "chat"}, "source = 'chat', expected one of human, synthetic"),
        ({"conversation": SAID[1:]}, "conversation without a message of the user"),
        ({"mood": "good"}, "the unknown key 'mood'"),
    ],
)  # fmt: skip
def test_a_broken_conversation_is_named(folder, row, says):
    with (folder / "conversations.jsonl").open("a") as file:
        file.write(json.dumps({"user_id": "a", "conversation": SAID, "source": "human", **row}) + "\n")
    with pytest.raises(DataError, match="line 5.*") as error:
        conversations(str(folder))
    assert says in str(error.value)


def test_the_same_conversation_twice_is_an_error(folder):
    row = (folder / "conversations.jsonl").read_text("utf-8").splitlines()[0]
    with (folder / "conversations.jsonl").open("a") as file:
        file.write(row + "\n")
    with pytest.raises(DataError, match="line 5.*which line 1 has"):
        conversations(str(folder))


def test_prompts_are_for_everybody_or_for_some(tmp_path):
    rated = {"user_id": "a", "attribute": "Likes tea", "label": True}
    lines(
        tmp_path / "relevance.jsonl", [{**rated, "id": f"r{n}", "prompt": text} for n, text in enumerate(["Hi", "Bye"])]
    )
    lines(tmp_path / "prompts.jsonl", [{"id": "q1", "prompt": "Hi", "sensitive": True}])
    pairs = to_select(str(tmp_path), None)
    assert {(row.prompt_id[:2], row.cell) for row in pairs} == {
        ("q1", "sensitive"),
        ("p" + digest_of(("Bye",))[0], "everyday"),
    }
    assert {row.attributes for row in to_reply(str(tmp_path), None)} == {("Likes tea",)}


# --- measures ------------------------------------------------------------------------------------------------------------


def test_a_quote_is_there_up_to_white_space():
    said = ["My knee\nis acting  up again.", "Hardwax oil."]
    assert is_there("knee is acting up", said)
    assert is_there(" Hardwax\toil. ", said)
    assert not is_there("knees", said)
    assert not is_there("again. Hardwax", said)
    assert not is_there("  ", said)


def test_an_unreadable_list_is_no_empty_one():
    (method,) = EXTRACT.methods.values()
    row = conversations("sample")[0]
    cases = EXTRACT.logged_cases(method, EXTRACT.logged(method, row))
    for reply, listed, none in (("[]", 1, 1), ("Well,", 0, math.nan)):
        (one,) = method.judge(cases, [Reply(reply)])
        assert (one.values["listed"], one.items) == (listed, ())
        assert one.values["none"] == none or (math.isnan(one.values["none"]) and math.isnan(none))


def test_the_prompt_without_attributes_says_nothing_of_the_user():
    respond = find("recenter_respond")
    row = to_reply("sample", None)[0]
    prompts = {call: respond.prompt(row, None, call) for call in ("personalized", "generic")}
    assert all(text in prompts["personalized"] and text not in prompts["generic"] for text in row.attributes)
    assert all(row.question in prompt for prompt in prompts.values())
