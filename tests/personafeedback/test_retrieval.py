"""The setting rag: which pieces, from where, in which words, and the model's own filter before them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import personafeedback

from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.core.plan import estimated
from personafeedback_tasks.core.signature import KEY, Signature
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import rag_filter
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.memory import digest, retrieve, search_terms
from personafeedback_tasks.personafeedback.prompts import Template, build
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import SAMPLE, locate

CELL = "personafeedback_general_hard"


@pytest.fixture
def remembered(tmp_path) -> Path:
    """A copy of the sample, in which every user has a memory."""
    return shutil.copytree(locate(SAMPLE).root, tmp_path / "remembered")


def hard(root: Path | str = SAMPLE):
    return load_cases(root, "general", "hard", counts="any")


RAG = Template(setting="rag")


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("How do I get back into reading?", "Post: how I want to get back to reading before the winter."),
        ("Which timetable has the ferry?", "The ferry's timetable changes on the first of May."),
        ("雨天在家里做什么好？", "雨天在家里整理照片的一天。"),
        ("邮票多少钱", "求助：一张明信片要贴多少钱的邮票？"),
    ],
)
def test_the_piece_that_shares_the_rarest_terms_with_the_question_comes_first(question, best):
    pieces = [
        "Thread: three novels of under 200 pages that I finished, and two that I did not.", "Review: one page of it in bed, and I was asleep.",
        "The ferry's timetable changes on the first of May.", "Post: how I want to get back to reading before the winter.",
        "Review of a lamp to read by at the kitchen table.", "分享一组雨天的街景。", "讨论：为什么总有人劝我多出门？", "雨天在家里整理照片的一天。",
        "周末带妈妈去哪里吃饭？", "求助：一张明信片要贴多少钱的邮票？",
    ]  # fmt: skip
    assert retrieve(question, pieces, 3)[0] == best


PIECE = st.lists(
    st.sampled_from(["tea", "milk", "喝茶", "茶", "跑步", "…", "2", "\n", "<memory>"]), min_size=1, max_size=6
)
PIECES = st.lists(PIECE.map(" ".join), max_size=12)


@given(PIECES, PIECE.map(" ".join), st.integers(1, 8))
def test_retrieval_takes_k_different_pieces_and_fewer_are_the_beginning_of_more(pieces, question, k):
    found = retrieve(question, pieces, k)
    different = list(dict.fromkeys(pieces))
    assert len(found) == len(set(found)) == min(k, len(different))
    assert set(found) <= set(different)
    whole = retrieve(question, pieces, len(pieces) + 1)
    assert found == whole[:k]
    asked = set(search_terms(question))
    shares = [bool(asked & set(search_terms(piece))) for piece in whole]
    assert shares == sorted(shares, reverse=True)  # what shares a term comes before what shares none
    without = [piece for piece, share in zip(whole, shares, strict=True) if not share]
    assert without == [piece for piece in different if piece in without]


def test_where_nothing_is_left_to_show_nothing_is_known():
    case = hard()[0]
    assert build(case, replace(RAG, kept=()), TWO.names[0]) == build(case, Template(setting="no_persona"), TWO.names[0])


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"text": "a"}\n{"note": "b"}\n', r"line 2: found no 'text' \(keys: 'note'\), expected a string 'text', or 'role' and 'content'"),
        (b'{"text": " "}\n', "line 1: found text = ' ', expected a non-empty string"),
        (b'{"text": "a"}\n["b"]\n', "line 2: found .*, expected one JSON object"),
        (b'{"text": "a"}\n\n{"text": "b"}\n', "line 2: found .*, expected one JSON object"),
    ],
)  # fmt: skip
def test_a_memory_that_is_broken_or_missing_stops_the_task(content, found, remembered):
    RAG.check(hard(remembered))
    path = remembered / "memory" / "Nora_s01.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"/memory/Nora_s01\.jsonl, {found}\. Fix this record, or replace the file"):
        RAG.check(hard(remembered))
    path.unlink()
    missing = (
        r"^setting=rag: found no memory of user_id 'Nora_s01', expected the file .*/memory/Nora_s01\.jsonl with one "
        r'\{"text": "\.\.\."\} per line\. The release has no memories: write these files into a folder .* data=\.$'
    )
    with pytest.raises(DataError, match=missing):
        RAG.check(hard(remembered))
    Template().check(hard(remembered))


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"setting": "rag", "rag_filter": 1}, "rag_filter must be true or false, got 1."),
        ({"rag_filter": True}, "rag_filter=true needs setting=rag and, in Inspect, method=generate, cot or logprobs, got setting=persona"),
        ({"setting": "rag", "method": "mc", "rag_filter": True}, "got setting=rag and method=mc."),
        ({"setting": "no_persona", "hide": "Name"}, "hide=Name has no effect with setting=no_persona, which shows no persona"),
        ({"setting": "rag", "hide": "Name,Bias"}, "hide=Bias,Name has no effect with setting=rag, which shows no persona"),
    ],
)  # fmt: skip
def test_an_option_that_does_not_exist_is_refused(option, sentence):
    with pytest.raises(OptionError, match=re.escape(sentence)):
        Template.read(option)


def test_the_signature_holds_the_filter_and_the_memories_of_all_users(remembered):
    def signed(cell="hard", **options):
        cases = load_cases(remembered, "general", cell, counts="any")
        return Signature.of(PERSONAFEEDBACK, CELL, cases, Template(**options)).to_json()

    one = signed(setting="rag")
    assert (one["rag_filter"], one["memory"]) == (False, digest(remembered))
    assert signed()["memory"] is None
    assert signed("easy", setting="rag")["memory"] == one["memory"]  # the cells of a run agree
    assert signed(setting="rag", rag_filter=True)["rag_filter"] is True
    path = remembered / "memory" / "Nora_s01.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("radios", "lanterns"), encoding="utf-8")
    assert signed(setting="rag")["memory"] not in (one["memory"], None)
    assert signed()["data"] == one["data"]


def test_a_reply_names_numbers_or_is_unreadable():
    said = {"3,1,3": (1, 3), "编号：1，3。": (1, 3), "Piece 2 is about food.\nNumbers: 1, 3": (1, 3), "0": (), "None.": (),
            "": None, "6": None, "0, 1": None}  # fmt: skip
    case = hard()[0]
    for reply, numbers in said.items():
        options, outcome = rag_filter.after(case, RAG, reply)
        if numbers is None:
            assert (options, outcome) == (RAG, "unreadable")
        else:
            assert options.kept == tuple(RAG.pieces(case)[number - 1] for number in numbers)
            assert outcome == f"kept {len(numbers)} of 5"


def test_a_plan_counts_what_the_filter_may_say_where_the_choice_takes_fewer_tokens():
    """8 cases: a filter of 1,024 tokens, and two calls of 16, of each."""
    words = ("plan", CELL, "-T", "data=sample", "-T", "setting=rag", "-T", "rag_filter=true", "-T", "method=logprobs")
    planned = json.loads(personafeedback(*words, "--json", "-").stdout)
    assert planned["settings"]["rag"]["reply_tokens"] == 8 * 1024 + 16 * 16
    assert planned["reply_tokens_of_a_call_at_most"] == 1024
    shorter = json.loads(personafeedback(*words, "--json", "-", "--reply-tokens", 10).stdout)
    assert shorter["settings"]["rag"]["reply_tokens"] == 24 * 10


@cache
def register_model() -> None:
    """A model that judges as gold; asked which pieces matter it says its name."""
    from support.models import register

    register("filtering", lambda judge, prompt, case_id, call: judge if call == "rag_filter" else TWO.right[call])


def asked(log, *calls: str) -> dict[tuple[str, str], str]:
    """(case id, call) -> prompt, of these calls."""
    made = [(event.input[-1], s.id) for s in log.samples for event in s.events if event.event == "model"]
    made = [(message, case) for message, case in made if message.metadata["call"] in calls]
    found = {(case, message.metadata["call"]): message.text for message, case in made}
    assert len(found) == len(made)  # each once
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "kept", "said"),
    [("1, 3", (0, 2), "kept 2 of 5"), ("I would keep most of them.", (0, 1, 2, 3, 4), "unreadable")],
)
def test_the_filter_of_inspect_keeps_exactly_the_pieces_that_it_names(reply, kept, said, tmp_path, caplog):
    from inspect_ai import score
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import get_model
    from personafeedback_tasks.inspect_tasks import personafeedback as tasks
    from support.inspect_runs import evaluate

    from personafeedback_tasks.inspect_harness.scorers import scores

    register_model()
    model = get_model(f"filtering/{reply}", memoize=False)  # as a string it would be split at commas
    task = tasks.personafeedback_general_hard(data=SAMPLE, setting="rag", rag_filter=True)
    log = read_eval_log(evaluate(task, model, tmp_path / "logs").location, resolve_attachments=True)
    cases = {case.id: case for case in hard()}
    prompts = asked(log, *TWO.names)
    assert len(prompts) == 2 * len(cases)
    for (case_id, order), prompt in prompts.items():
        case = cases[case_id]
        lines = "\n".join(f"- {RAG.pieces(case)[place]}" for place in kept)
        whole = f"<memory>\n{lines}\n</memory>"
        assert prompt == re.sub(
            r"<memory>.*</memory>", lambda _, whole=whole: whole, build(case, RAG, order), flags=re.S
        )
    # Once per case, with the persona, the question and the numbered pieces.
    filters = asked(log, "rag_filter")
    assert filters == {(name, "rag_filter"): rag_filter.prompt(case, RAG) for name, case in cases.items()}
    warning = "8 of 8 replies to rag_filter (100.0%) are unreadable: these cases were run as without rag_filter"
    assert (warning in caplog.text) == (said == "unreadable")
    assert log.eval.task == f"{CELL} (rag, rag_filter, demonstration)"
    assert log.eval.metadata[KEY]["rag_filter"] is True
    words = (CELL, "-T", "data=sample", "-T", "setting=rag", "-T", "rag_filter=true")
    planned = json.loads(personafeedback("plan", *words, "--json", "-").stdout)
    assert planned["calls"] == planned["settings"]["rag"]["calls"] == 24  # 8 cases: 8 filters and 16 orders
    whole = [*filters.values(), *(build(case, RAG, order) for case in cases.values() for order in TWO.names)]
    assert planned["prompt_tokens"] == sum(estimated(whole))  # as if it kept all pieces
    # Scored again, also where only the events are left of a killed run.
    for sample in log.samples:
        sample.store, sample.output.choices = {}, sample.output.choices[:1]
    again = score(log, scores("personafeedback", "generate")(), action="overwrite", display="none")
    for sample in (*log.samples, *again.samples):
        assert sample.scores["personafeedback"].value["acc"] == 1
        assert sample.scores["personafeedback"].metadata["rag_filter"] == said
