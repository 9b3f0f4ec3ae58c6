"""Recorded replies: read strictly, scored with no harness and answered from in Inspect, always with the same numbers; and their template."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import read_eval_log
from personafeedback_tasks.inspect_tasks.personafeedback import personafeedback_general_hard, personafeedback_hard
from personafeedback_tasks.inspect_tasks.recenter import recenter_relevance
from support.commands import personafeedback, ran
from support.documents import DOCS, block, run_as_printed
from support.inspect_runs import command as inspect
from support.inspect_runs import evaluate
from support.judges import JUDGES
from support.lines import write_lines
from support.logs import lm_eval_log
from support.recorded import exported, line_of
from support.shown import as_json

from personafeedback_tasks.analysis.report import report_document
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core.asked import asked_for
from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.core.recorded import Key, read
from personafeedback_tasks.logs.data import RunData
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import SAMPLE, locate
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.relevance import RELEVANCE as RECORD
from personafeedback_tasks.recenter.rows import Relevance

ROWS = with_judgment(load(Relevance, "sample"))
PEOPLE = {row.id: RECORD.targets(row)[0] for row in ROWS}
HARD = load_cases("sample", difficulty="hard")
RELEVANCE = ("recenter_relevance", "-T", "data=sample")
LETTERS = ("personafeedback_hard", "-T", "data=sample")


def relevance(said) -> list[dict]:
    """A record for each row; `said`: the majority's label -> a reply."""
    return [{"id": case, "reply": said(label)} for case, label in PEOPLE.items()]


def letters(judge: str, cases=HARD) -> list[dict]:
    return [
        {"id": case.id, "call": order, "reply": JUDGES[judge](case.id, order)} for case in cases for order in TWO.names
    ]


def scored(*arguments: object) -> dict:
    """The report that `score-replies` gives as JSON."""
    done = ran("score-replies", *arguments, "--json", "-")
    return json.loads(done.stdout)["reports"][0]


def refused(*arguments: object) -> str:
    done = personafeedback("score-replies", *arguments)
    assert done.exit_code == 1, done.output
    assert not done.stdout
    return done.stderr.removeprefix("Error: ").strip()


def replayed(task, file: Path, logs: Path, model: str = "personafeedback/replay", **kwargs) -> Path:
    return Path(evaluate(task, model, logs, model_args={"replies": str(file)}, **kwargs).location)


def of_log(path: Path) -> dict:
    """What `report` says of a log, ready for JSON."""
    return as_json(report_document([(read_run(path), {})], RunData("sample")).reports[0])


OF_A_RUN = ("model", "name", "label", "signature", "short_signature", "costs")


def numbers(report: dict) -> dict:
    """All of a report but what names the run, what its calls took, and its harness's options in a remedy."""
    kept = {name: value for name, value in report.items() if name not in OF_A_RUN}
    caveats = [{**caveat, "sentence": caveat["sentence"].partition("not the model.")[0]} for caveat in kept["caveats"]]
    return {**kept, "caveats": caveats}


# --- round trips ------------------------------------------------------------------------------------------------------

FILES = {"personafeedback_hard": "mixed", "personafeedback_hard_cot": "reasoned"}


def check_round_trip(log: Path, name: str, task, folder: Path) -> dict:
    """From a log to a file, from there to scores without a harness, and to a log of Inspect: always the numbers of the log."""
    expected = numbers(of_log(log))
    file = exported(log, folder / "replies.jsonl")
    assert numbers(scored(name, file, "-T", "data=sample")) == expected
    again = replayed(task(), file, folder / "logs")
    assert numbers(of_log(again)) == expected
    assert read(exported(again, folder / "again.jsonl")).replies == read(file).replies
    return expected


@pytest.mark.slow
@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
@pytest.mark.parametrize(("task", "judge"), FILES.items())
def test_a_run_of_either_harness_keeps_its_numbers(harness, task, judge, tmp_path):
    def built():
        return personafeedback_hard(data="sample", method="cot" if task.endswith("cot") else "generate")

    if harness == "lm-eval":
        log = lm_eval_log(tmp_path / "first", judge, task, "sample")
    else:
        log = replayed(built(), write_lines(tmp_path / "first.jsonl", letters(judge)), tmp_path / "first")
    found = check_round_trip(log, task, built, tmp_path)
    assert 0 < found["groups"]["total"]["measures"]["invalid"]["value"] < 0.5


@pytest.mark.slow
def test_several_epochs_keep_their_numbers(tmp_path):
    records = [
        {"id": case, "epoch": epoch, "reply": "YES" if epoch == 2 else label}
        for case, label in PEOPLE.items()
        for epoch in (1, 2)
    ]
    file = write_lines(tmp_path / "replies.jsonl", records)
    log = replayed(recenter_relevance(data="sample"), file, tmp_path / "logs", epochs=2)
    share = sum(label == "YES" for label in PEOPLE.values()) / len(PEOPLE)
    report = of_log(log)
    assert report["groups"]["total"]["measures"]["acc"]["value"] == pytest.approx((1 + share) / 2, abs=1e-12)
    assert numbers(scored("recenter_relevance", file, "-T", "data=sample")) == numbers(report)
    assert len(read(exported(log, tmp_path / "again.jsonl")).replies) == len(records)


@pytest.mark.slow
def test_the_file_also_answers_the_calls_of_a_filter(tmp_path):
    """A stage of its own is a call like any other."""
    root = shutil.copytree(locate(SAMPLE).root, tmp_path / "remembered")
    (root / "memory").mkdir(exist_ok=True)
    cases = load_cases(root, "general", "hard", counts="any")
    for user in {case.user_id for case in cases}:
        write_lines(root / "memory" / f"{user}.jsonl", [{"text": f"Piece {number} of {user}."} for number in range(7)])
    options = {"setting": "rag", "rag_filter": True, "counts": "any"}
    records = [{**record, "truncated": False} for record in letters("mixed", cases)]
    filters = [{"id": case.id, "call": "rag_filter", "reply": "1, 3", "truncated": False} for case in cases]
    file = write_lines(tmp_path / "replies.jsonl", [*records, *filters])
    log = replayed(personafeedback_general_hard(data=str(root), **options), file, tmp_path / "logs")
    given = [word for name, value in options.items() for word in ("-T", f"{name}={json.dumps(value)}")]
    report = as_json(report_document([(read_run(log), {})], RunData()).reports[0])
    assert numbers(scored("personafeedback_general_hard", file, "-T", f"data={root}", *given)) == numbers(report)

    short = write_lines(tmp_path / "short.jsonl", records)
    assert f"found no reply to {cases[0].id} (rag_filter)" in refused(
        "personafeedback_general_hard", short, "-T", f"data={root}", *given
    )
    told = refused("personafeedback_general_hard", tmp_path / "new.jsonl", "-T", f"data={root}", *given, "--template")
    assert "rag_filter=true builds one from the reply to another" in told
    assert not (tmp_path / "new.jsonl").exists()


# --- a template -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["personafeedback_hard_cot", "prefeval", "recenter_relevance_select"])
def test_a_template_has_the_prompts_of_a_run_and_is_scored_once_it_has_replies(task, tmp_path):
    """The messages are those that the model is sent, in every call; no line is a record before it has a reply."""
    file = tmp_path / "new.jsonl"
    done = ran("score-replies", task, file, "-T", "data=sample", "--template")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert f"{len(rows)} calls" in done.stdout
    asked = asked_for(task, {"data": "sample"})
    calls, documents = asked.method.calls, [*asked.documents.values()]
    assert [(row["id"], row["call"]) for row in rows] == [(one.id, call) for one in documents for call in calls]
    assert rows[-1]["prompt"] == asked.benchmark.turns(documents[-1], asked.options, calls[-1])
    assert "line 1: found no reply, expected one" in refused(task, file, "-T", "data=sample")
    assert "--template writes it" in refused(task, file, "-T", "data=sample", "--template")
    write_lines(file, [{**row, "reply": "None of them."} for row in rows])
    assert scored(task, file, "-T", "data=sample")["groups"]["total"]["cases"] > 0


# --- known answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("judge", "acc"), [("gold", 1), ("anti_gold", 0), ("always_first", 0.5)])
def test_known_letters_have_known_scores(judge, acc, tmp_path):
    task = f"personafeedback_tasks/{LETTERS[0]}"  # as Inspect names it
    found = scored(task, write_lines(tmp_path / "r.jsonl", letters(judge)), *LETTERS[1:])["groups"]["total"]
    assert (found["measures"]["acc"]["value"], found["cases"]) == (acc, len(HARD))


def test_a_reply_that_was_cut_off_or_withheld_is_read_as_such(tmp_path):
    """Said in passing, a letter counts unless the reply was cut off; a filter's refusal is one."""
    file = tmp_path / "r.jsonl"
    for more, acc, reasons in (
        ({}, 1, {}),
        ({"truncated": True}, 0, {"truncated": 2 * len(HARD)}),
        ({"filtered": True}, 1, {}),
        ({"filtered": True, "reply": ""}, 0, {"refusal": 2 * len(HARD)}),
    ):
        write_lines(file, [{**record, **more} for record in letters("in_passing")])
        total = scored(LETTERS[0], file, *LETTERS[1:])["groups"]["total"]
        assert total["measures"]["acc"]["value"] == acc
        assert total["reasons"] == reasons


# --- what a file lacks, and what it has beyond -------------------------------------------------------------------------


def test_a_case_without_a_record_is_named(tmp_path):
    records = relevance(lambda label: label)
    file = write_lines(tmp_path / "r.jsonl", records[4:])
    told = refused(RELEVANCE[0], file, *RELEVANCE[1:])
    assert told.startswith(f"{file}: found no reply to {records[0]['id']} (yes_or_no), expected one ")
    assert "calls without one: 4, in 4 of 55 cases" in told
    assert "--partial" in told
    assert "belong" not in told
    other = {**records[0], "id": "another"}
    write_lines(file, [other, *records[1:]])
    beyond = "1 of 55 records belong to no call of this run (first: line 1: another"
    assert beyond in refused(RELEVANCE[0], file, *RELEVANCE[1:])
    write_lines(file, records[4:])
    part = scored(RELEVANCE[0], file, *RELEVANCE[1:], "--partial")
    assert part["groups"]["total"]["cases"] == len(records) - 4
    assert part["partial"] == {"relevance": [51, 55]}


GOOD = {"id": "a", "call": "c", "reply": "YES"}


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (["{"], "line 1: found Expecting property name"),
        (["[1]"], "line 1: found "),
        ([{"id": "a"}], "line 1: found no reply, expected one"),
        ([{**GOOD, "truncated": "yes"}], "line 1: found truncated = 'yes', expected bool"),
        ([{**GOOD, "truncted": True}], "line 1: found the key 'truncted', expected only id, reply, call, "),
        ([GOOD, {**GOOD, "id": "b"}, GOOD], "line 3: found a second reply to a (c) (first: line 1)"),
        ([{"id": "a", "reply": ""}, GOOD], "line 2: found a with `call` (line 2) and without (line 1)"),
        ([""], "the file is empty"),
    ],
)
def test_a_broken_record_is_an_error_with_its_line(records, told, tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in records), encoding="utf-8")
    with pytest.raises(DataError) as error:
        read(file)
    assert str(file) in str(error.value)
    assert told in str(error.value)
    assert refused(RELEVANCE[0], file, *RELEVANCE[1:]) == str(error.value)


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
NAMES = st.text(min_size=1).filter(str.strip).filter(lambda name: "\0" not in name)
RECORDS = st.dictionaries(
    st.builds(Key, NAMES, NAMES, st.integers(1, 3)), st.builds(Reply, ANY_TEXT, st.booleans(), st.booleans(), st.just(False)), min_size=1
)  # fmt: skip


@pytest.mark.slow
@given(RECORDS, st.booleans())
def test_what_is_written_is_read_back(replies, named):
    """Whatever a model wrote: lone surrogates, NUL and U+2028 too."""
    if not named:
        replies = {Key(key.case_id, "", key.epoch): reply for key, reply in replies.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "replies.jsonl")
        path.write_bytes("".join(line_of(key, reply, named) for key, reply in replies.items()).encode())
        found = read(path)
    assert found.replies == replies
    assert list(found.lines.values()) == list(range(1, len(replies) + 1))


# --- options and methods ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["recenter"], "task must begin with one of memsyco, personafeedback, personafeedback_swap, personafeedback_write, prefeval, recenter_extract, recenter_extraction, recenter_relevance, recenter_respond, recenter_response, recenter_select, got 'recenter'."),
        (["personafeedback_harder"], "task must be one of personafeedback, "),
        (["personafeedback_hard_mc"], "personafeedback_hard: found the method mc (log-likelihoods of the two letters), expected "),
        (["personafeedback_hard", "-T", "method=reward"], "found the method reward "),
        (["personafeedback_hard_cot", "-T", "method=generate"], "task personafeedback_hard_cot has the method cot, got"),
        (["personafeedback_hard", "-T", "seting=rag"], "seting='rag' is not an option. Did you mean setting? Use: "),
        (["personafeedback_hard", "-T", "setting"], "-T needs NAME=VALUE, got 'setting'."),
        (["personafeedback_hard", "-T", "hide=[Name"], "-T hide=[Name: found a value that is not valid YAML"),
        (["personafeedback_hard", "-T", "data=sample"], "data is given twice."),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_says_why(arguments, told, tmp_path):
    file = write_lines(tmp_path / "r.jsonl", letters("gold"))
    task, *options = arguments
    assert told in refused(task, file, "-T", "data=sample", *options)


# --- in Inspect -------------------------------------------------------------------------------------------------------

REPLAY = ("--model", "personafeedback/replay")
RELEVANCE_TASK = ("personafeedback_tasks/recenter_relevance", "-T", "data=sample")


@pytest.mark.slow
def test_a_missing_record_fails_the_run_with_one_sentence(tmp_path):
    records = relevance(lambda label: label)
    file = write_lines(tmp_path / "r.jsonl", [*records[:-1], {"id": "extra", "reply": "NO"}])
    done = inspect(*RELEVANCE_TASK, *REPLAY, "-M", f"replies={file}", "--log-dir", tmp_path / "logs")
    missing = f"{records[-1]['id']} (yes_or_no)"
    sentence = (
        f"DataError: {file}: found no reply to {missing}, expected one to every call of the run. Add its record, or ask"
    )
    assert sentence in " ".join(done.stdout.split())
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert read_eval_log(str(log), header_only=True).status == "error"


# --- as printed --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_commands_of_the_page_run_as_printed(tmp_path, monkeypatch):
    """Another harness adds the replies between the first command and the others."""
    monkeypatch.chdir(tmp_path)
    home, template, *others = block(DOCS / "replies.md", "replies").splitlines()
    run_as_printed([home, template], monkeypatch)
    rows = [json.loads(line) for line in Path("model.jsonl").read_text("utf-8").splitlines()]
    write_lines(Path("model.jsonl"), [{**row, "reply": "Answer: A"} for row in rows])
    assert "personafeedback/replay" in run_as_printed(others, monkeypatch)
