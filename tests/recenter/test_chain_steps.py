"""Models do the stages: what known models come to, in both harnesses, and how one step goes on from the log of another."""

from __future__ import annotations

import json

from support.recenter import in_inspect, in_lm_eval, same

from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.recenter.histories import conversations
from personafeedback_tasks.recenter.made import extracted
from personafeedback_tasks.runs import earlier

EXTRACT, SELECT, RESPOND = map(find, ("recenter_extract", "recenter_select", "recenter_respond"))
CONVERSATIONS = {row.id: row for row in conversations("sample")}


def said(row):
    return [message.content for message in row.messages if message.role == "user"]


def everything(case_id, call):
    """Extracts every message of the user, with a true quote."""
    items = [{"attribute": text[:60], "reason": "It says so.", "quote": "  ".join(text.split())} for text in said(CONVERSATIONS[case_id])]
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
            assert table["read"] == 1
        for metric in ("quoted", "attributes", "repeated", "persistent", "read"):
            assert same(there[metric], here[metric])
        assert same(there["quoted_stderr"], here["quoted_stderr_clustered"])
        for path in (log, results):
            made = extracted(earlier.find(str(path), "recenter_extract"))
            assert len(made) == each * 24
            assert all(one.quoted == bool(quoted) for one in made)
            assert all(one.conversation == CONVERSATIONS[one.conversation_id].messages for one in made)
            assert all(one.source == CONVERSATIONS[one.conversation_id].source for one in made)
