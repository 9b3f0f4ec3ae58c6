"""Models do the stages: what known models come to, in both harnesses, and how one step goes on from the log of another."""

from __future__ import annotations

import json

from support.recenter import in_inspect, in_lm_eval, same

from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.recenter.histories import conversations
from personafeedback_tasks.recenter.made import extracted, selected
from personafeedback_tasks.recenter.rows import Relevance
from personafeedback_tasks.runs import earlier

EXTRACT, SELECT, RESPOND = map(find, ("recenter_extract", "recenter_select", "recenter_respond"))
CONVERSATIONS = {row.id: row for row in conversations("sample")}


def said(row):
    return [message.content for message in row.messages if message.role == "user"]


def everything(case_id, call):
    """Extracts every message of the user, with a true quote."""
    items = [
        {"attribute": text[:60], "reason": "It says so.", "quote": "  ".join(text.split())}
        for text in said(CONVERSATIONS[case_id])
    ]
    return f"```json\n{json.dumps(items, indent=1)}\n```"


def invents(case_id, call):
    return json.dumps([{"attribute": f"Likes {case_id}", "reason": "", "quote": "I never said that."}])


def test_a_model_that_extracts_everything_quotes_truly_and_one_that_invents_does_not(tmp_path):
    messages = sum(len(said(row)) for row in CONVERSATIONS.values())
    for name, replies, quoted, each in (("all", everything, 1, messages / 24), ("invented", invents, 0, 1)):
        there, log = in_inspect(EXTRACT, replies, tmp_path / name, method="extract")
        here, results = in_lm_eval(EXTRACT, replies, tmp_path / name, method="extract")
        for table in (there, here):
            assert same(table["quoted"], quoted)
            assert same(table["attributes"], each)
            assert table["listed"] == 1
        for metric in ("quoted", "attributes", "repeated", "persistent", "listed"):
            assert same(there[metric], here[metric])
        assert same(there["quoted_stderr"], here["quoted_stderr_clustered"])
        for path in (log, results):
            made = extracted(earlier.find(str(path), "recenter_extract"))
            assert len(made) == each * 24
            assert all(one.quoted == bool(quoted) for one in made)
            assert all(one.conversation == CONVERSATIONS[one.conversation_id].messages for one in made)
            assert all(one.source == CONVERSATIONS[one.conversation_id].source for one in made)


# --- one step goes on from another ---------------------------------------------------------------------------------------

LABELED = {}
for _row in load(Relevance, "sample"):
    LABELED.setdefault((_row.user_id, _row.prompt), []).append(_row)
TICKED = {key: {row.attribute for row in rows if row.judgment} for key, rows in LABELED.items()}
"""(user, prompt) -> what most people found relevant."""


def chooses(rule):
    """A model that selects the attributes that a rule takes, of (user, prompt, attribute)."""

    def replies(case_id, call, shown):
        row = shown[case_id]
        numbers = [str(at) for at, one in enumerate(row.attributes, start=1) if rule(row.user_id, row.question, one)]
        return ", ".join(numbers) or "NONE"

    return replies


RULES = {
    "all": lambda user, prompt, attribute: True,
    "none": lambda user, prompt, attribute: False,
    "people": lambda user, prompt, attribute: attribute in TICKED[user, prompt],
}


@pytest.mark.parametrize("rule", RULES)
def test_what_a_model_selects_is_what_its_log_says(rule, tmp_path):
    shown = {row.id: row for row in SELECT.load(SELECT.options(data="sample"), {})}
    assert {(row.user_id, row.question) for row in shown.values()} == LABELED.keys()

    def replies(case_id, call):
        return chooses(RULES[rule])(case_id, call, shown)

    share = {
        "all": 1.0,
        "none": 0.0,
        "people": sum(len(TICKED[key]) / len(rows) for key, rows in LABELED.items()) / len(LABELED),
    }[rule]
    there, log = in_inspect(SELECT, replies, tmp_path, method="select")
    here, results = in_lm_eval(SELECT, replies, tmp_path, method="select")
    for table in (there, here):
        assert same(table["selected"], share)
        assert table["listed"] == 1
        assert same(table["none"], sum(not RULES[rule](*key, one) for key in ()) if 0 else table["none"])
    for path in (log, results):
        for one in selected(earlier.find(str(path), "recenter_select")):
            expected = {text for text in one.attributes if RULES[rule](one.user_id, one.prompt, text)}
            assert set(one.selected) == expected
