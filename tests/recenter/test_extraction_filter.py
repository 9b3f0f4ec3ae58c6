"""The trained filter of extraction, with the real weights of MiniLM: what it weighs, its splits, and the judge that Inspect runs."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from support import planted
from support.commands import personafeedback

pytestmark = pytest.mark.torch
np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.engine.evidence import Reply
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.extraction import PROMPT, build, texts_of, user_turns
from personafeedback_tasks.recenter.fields import Message
from personafeedback_tasks.recenter.filter.features import joined, of_extraction
from personafeedback_tasks.recenter.filter.judge import extraction_filter, relevance_filter, step_filter
from personafeedback_tasks.recenter.made import extracted
from personafeedback_tasks.recenter.rows import Extraction
from personafeedback_tasks.recenter.stages import filled
from personafeedback_tasks.replies.words import read_accept
from personafeedback_tasks.runs import earlier

JUDGE = "extraction-filter"
ROWS = planted.extractions(users=6, conversations=5)


def trained(data, out, minilm, *arguments):
    return personafeedback(
        "recenter", "train", "--stage", "extraction", data, "--out", out, "--embeddings", minilm, *arguments
    )


def asked(judge, row) -> Reply:
    return judge(build(row), {"case_id": row.id, "call": "accept"})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return planted.write(tmp_path_factory.mktemp("extractions"), ROWS, "extraction")


@pytest.fixture(scope="module")
def made(data, minilm, tmp_path_factory):
    """(the folder of a filter that was trained on the planted rows, what the command printed)."""
    out = tmp_path_factory.mktemp("filter") / "extraction"
    done = trained(data, out, minilm)
    assert done.exit_code == 0, done.output
    return out, done.output


def row(conversation, attribute="Plays chess", reason="Says so."):
    return Extraction("c-1", "u", tuple(Message(*turn) for turn in conversation), attribute, reason, "human")


def test_the_texts_of_a_row_come_back_out_of_its_prompt():
    spoken = [("user", "Hi\n\nI play chess."), ("assistant", "user: no"), ("system", "s"), ("user", "Bye.\n\nuser: x")]
    assert texts_of(build(row(spoken))) == ("Plays chess", "Says so.", "Hi\n\nI play chess.", "Bye.", "x")
    assert user_turns(row(spoken).transcript) == ["Hi\n\nI play chess.", "Bye.", "x"]


def test_the_prompt_of_another_task_and_tags_within_a_text_are_refused():
    with pytest.raises(
        DataError, match=r"the task recenter_extraction does not make .*Run the task recenter_extraction"
    ):
        texts_of("Is this so?")
    tags = "\n</conversation>\n\n<note>\n"
    with pytest.raises(DataError, match="several times"):
        texts_of(filled(PROMPT, conversation=f"user: a{tags}b", attribute="c", reason="d"))


def test_features_are_the_texts_the_nearest_turns_and_three_cosines():
    """Of four turns the three nearest to the attribute count; their mean is (1 + .8 + .6) / 3, (0 + .6 + .8) / 3."""
    attribute, reason = [1.0, 0.0], [0.0, 1.0]
    turns = [[-1.0, 0.0], [0.6, 0.8], [1.0, 0.0], [0.8, 0.6]]
    blocks = of_extraction([np.array([attribute, reason, *turns]), np.array([attribute, attribute, reason])])
    assert {name: block.shape for name, block in blocks.items()} == {
        "attribute": (2, 2), "reason": (2, 2), "turns": (2, 2), "product": (2, 2), "cosines": (2, 3),
    }  # fmt: skip
    assert joined(blocks)[0] == pytest.approx([1, 0, 0, 1, 0.8, 1.4 / 3, 0.8, 0, 0, 1, 0.8])
    assert joined(blocks)[1] == pytest.approx([1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0])  # one turn that says something else


def test_what_people_reject_is_learnt_for_users_that_it_has_not_seen(made, data):
    """From the meaning alone. There is no evaluation by prompt: these rows have none."""
    out, printed = made
    found = json.loads((out / "metrics.json").read_text("utf-8"))
    assert set(found) == {"by_user", "always_problematic", "always_accept"}
    assert found["by_user"]["f1"]["value"] > found["always_problematic"]["f1"]["value"] + 0.15
    assert found["by_user"]["kappa"]["value"] > 0.5
    assert "filter, by user " in printed
    assert "60 rows of 6 users" in printed
    about = json.loads((out / "filter.json").read_text("utf-8"))
    assert about["task"] == "recenter_extraction"
    assert {"rows": 60, "problematic": 30, "users": 6}.items() <= about["data"].items()
    predicted = [json.loads(line) for line in (out / "predictions.jsonl").read_text("utf-8").splitlines()]
    assert {line["id"]: line["label"] for line in predicted} == {
        line["id"]: line["label"] == "rejected" for line in ROWS
    }
    folds = {}
    for line in predicted:
        folds.setdefault(line["user_id"], set()).add(line["by_user"]["fold"])
    assert all(len(of) == 1 for of in folds.values())  # a user is in one fold


def test_the_card_says_what_it_weighs_and_how_to_run_it(made):
    card = (made[0] / "README.md").read_text("utf-8")
    for words in (
        "# Extraction filter", "PROBLEMATIC or ACCEPT", "the 3 turns of the user that are nearest", "recenter train --stage extraction",
        "personafeedback_tasks/recenter_extraction --model personafeedback/extraction-filter -M path=.", "people find 30 problematic",
        "jackknife over users:", "`FOLDER` has extraction.jsonl.",
    ):  # fmt: skip
        assert words in card
    assert "prompt" not in card.partition("## Use")[0].replace("prompts=", "")


def test_inspect_asks_it_and_gets_the_held_out_answers(made, data, tmp_path):
    pytest.importorskip("inspect_ai")
    from support.recenter import in_inspect

    out, _ = made
    from inspect_ai.model import get_model

    model = get_model(f"personafeedback/{JUDGE}", path=str(out))
    scores, _ = in_inspect(find("recenter_extraction"), model, tmp_path, data=str(data))
    found = json.loads((out / "metrics.json").read_text("utf-8"))["by_user"]
    for name in ("acc", "f1", "kappa", "selection_rate", "f1_gap"):
        assert scores[name] == pytest.approx(found[name]["value"], abs=1e-12), name


def test_another_row_gets_the_answer_of_the_filter_of_all_rows(made, data):
    judge = extraction_filter(path=str(made[0]))
    chat = [("user", "Suggest a cake, please. I bake every week.")]
    said = {
        attribute: asked(judge, row(chat, attribute, "Talks about it.")).text
        for attribute in ("Bakes cakes", "Uses Linux on a laptop")
    }
    assert [read_accept(text) for text in said.values()] == ["ACCEPT", "PROBLEMATIC"]
    assert all("trained on all rows" in text for text in said.values())
    known = next(iter(load(Extraction, data)))
    assert "trained without this user" in asked(judge, known).text


def test_a_filter_of_another_stage_is_named(made):
    with pytest.raises(
        OptionError,
        match=r"found a filter of the stage extraction, expected one of relevance.*`extraction-filter` is for the task recenter_extraction",
    ):
        relevance_filter(path=str(made[0]))


def test_a_random_split_and_too_few_users_are_refused(tmp_path):
    pytest.importorskip("sentence_transformers")
    done = trained("sample", tmp_path / "out", "nobody/has-this", "--split", "random")
    assert done.exit_code != 0
    assert "leaks" in done.output
    few = planted.write(tmp_path / "few", planted.extractions(2, 3), "extraction")
    done = trained(few, tmp_path / "out", "nobody/has-this")
    assert "12 rows of 2 users, too few to test on users that were held out: expected at least 3 users" in done.output
    all_right = [{**line, "label": "accepted"} for line in ROWS]
    done = trained(planted.write(tmp_path / "right", all_right, "extraction"), tmp_path / "out", "nobody/has-this")
    assert "expected problematic and accepted rows to train on, found only accepted rows" in " ".join(
        done.output.split()
    )


def test_the_chain_goes_on_without_what_it_rejects(made, tmp_path):
    """Through a run of recenter_extract: the attributes to select from are those that the filter lets through."""
    pytest.importorskip("inspect_ai")
    from support import planted_chain
    from support.recenter import in_inspect

    plan = planted_chain.plan()
    data = planted_chain.write_data(tmp_path / "data", plan)
    extract, select = find("recenter_extract"), find("recenter_select")

    def notes(case, call):
        """Two things that the user says, and one that nobody said."""
        texts = [*plan.noted[case][:2], "Administers a database in Peru"]
        return json.dumps([{"attribute": text, "reason": "It says so.", "quote": text} for text in texts])

    _, log = in_inspect(extract, notes, tmp_path / "logs", method="extract", data=str(data))
    told = {"data": str(data), "attributes": str(log)}
    plain = select.load(select.options(**told), {})
    filtered = select.load(select.options(**told, extraction_filter=str(made[0])), {})
    judge = step_filter(str(made[0]))
    rows = [
        Extraction(one.id, one.user_id, one.conversation, one.attribute, one.reason, one.source)
        for one in extracted(earlier.find(str(log), extract.name))
    ]
    kept = {(row.user_id, row.attribute) for row in rows if not judge.drops(row)}
    assert {(row.user_id, one) for row in filtered for one in row.attributes} == kept
    assert 0 < len(kept) < len({(row.user_id, one) for row in plain for one in row.attributes})
    assert select.signs(filtered, None)["filtered_by"] == f"{judge.signature}, {sum(map(judge.drops, rows))} dropped"
    _in_one_command(data, notes, made[0], sum(map(judge.drops, rows)), tmp_path / "chain")
    with pytest.raises(OptionError, match=r"extraction_filter filters what a run made.*Pass attributes=RUN"):
        select.load(select.options(data=str(data), extraction_filter=str(made[0])), {})
    respond = find("recenter_respond")
    with pytest.raises(OptionError, match="found a filter of the stage extraction, expected one of relevance"):
        step_filter(str(made[0]), "relevance")
    assert "relevance_filter" in {field.name for field in fields(respond.options)}


def _in_one_command(data, notes, folder, dropped, logs):
    from inspect_ai.model import get_model
    from personafeedback_tasks.inspect_tasks.recenter_chain import recenter_chain
    from support.inspect_runs import inspect_eval

    said = {"attributes": notes, "select": lambda case, call: "1"}
    model = get_model(
        "recenter-replies/model",
        memoize=False,
        replies=lambda case, call: said.get(call, lambda *of: "Sure.")(case, call),
    )
    task = recenter_chain(data=str(data), extraction_filter=str(folder))
    done = inspect_eval(task, model=model, display="none", score_display=False, log_dir=str(logs))
    assert [log.status for log in done] == ["success"] * 3
    signed = {
        log.eval.metadata["personafeedback_tasks"]["benchmark"]: log.eval.metadata["personafeedback_tasks"]
        for log in done
    }
    assert signed["recenter_select"]["filtered_by"].endswith(f", {dropped} dropped")
    assert signed["recenter_respond"]["filtered_by"] == "none"
