"""What is broken, missing or left out is one sentence: which record, what was found and expected, what to do next."""

from __future__ import annotations

import json
import shutil

import pytest
from support.builds import a_build
from support.commands import personafeedback, ran, tree

from personafeedback_tasks.annotation.rows import PackItem

STATUS, PERSONAS = "build status DIR", "build texts DIR personas --model x/y"
QUESTIONS, OWN = "build texts DIR questions --model x/y", "build texts DIR questions"
ANSWERS, VOTES = "build texts DIR answers --model x/y", "annotate votes DIR DIR/sent"
IMPORT = "build init DIR/new --from DIR/pairs.jsonl"
SCENARIOS, NAMES = "category,scenario,description,share,fits\n", "country,share,female,male,family\n"
PAIR = {"persona": "A cook", "question": "What now?", "chosen": "Soup", "rejected": "Fish"}
IDS = {"id": "p", "question_id": "q", "user_id": "u1", "first": "a", "second": "b"}
VOTE, DATA = (
    '{"result": [{"from_name": "vote", "value": {"choices": ["A"]}}]}',
    '{"data": {"item": "i"}, "annotations": ',
)


def pairs(*changes):
    return "\n".join(json.dumps({**PAIR, **change}) for change in changes)


REFUSED = [
    # settings
    ("build.toml", None, STATUS, "expected the folder of a build. Start one: personafeedback build init DIR"),
    ("build.toml", None, "annotate pack DIR", "Start one: personafeedback build init DIR"),
    ("build.toml", "annotator = 9", STATUS, "build.toml: found the key 'annotator', expected only name,"),
    ("build.toml", "annotators = 0", STATUS, "found annotators = 0, expected int >= 1"),
    ("build.toml", "personas = 10000000", STATUS, "found personas = 10000000, expected int <= 100000"),
    ("build.toml", 'annotators = "1:30"', STATUS, "found annotators = '1:30', expected int"),
    ("build.toml", "test = 9", STATUS, "found test = 9, expected a share such as 8/9 or 0.8, from 0 to 1"),
    ("build.toml", "test = -1", STATUS, "found test = -1, expected a share"),
    ("build.toml", "test = nan", STATUS, "found test = nan, expected a share"),
    ("build.toml", 'test = "1e-999999999"', STATUS, "found test = '1e-999999999', expected a share"),
    ("build.toml", 'test = "1/0"', STATUS, "found test = '1/0', expected a share"),
    ("build.toml", 'language = "zh-CN"', STATUS, "language = 'zh-CN', expected a code of two or three letters"),
    ("build.toml", 'name = "Persona-Feedback"', STATUS, "expected a name that is not the benchmark's"),
    ("build.toml", 'license = ""', STATUS, "found license = '', expected one printable line"),
    ("build.toml", 'faults = "maybe"', STATUS, "found faults = 'maybe', expected bool"),
    ("build.toml", "name = [1]", STATUS, "found name = [1], expected str"),
    ("build.toml", "a = [", STATUS, "invalid TOML"),
    ("build.toml", "annotators: 9", STATUS, "invalid TOML"),
    # tables
    ("people.csv", "name,split\nAda,test\n", STATUS, "people.csv, line 1: found the columns 'name', 'split', expected one 'user_id'"),
    ("people.csv", "user_id,split\nu1,dev\n", STATUS, "line 2: found split = 'dev', expected one of train, test"),
    ("people.csv", "user_id,kepp\nu1,no\n", STATUS, "line 1: found the column 'kepp', which nothing reads, and no column 'keep'"),
    ("people.csv", "user_id,ours\nu1,dull\n", STATUS, "line 2: found the key 'ours', expected only user_id, name, split, keep, reason"),
    ("people.csv", "user_id,keep\nu1,maybe\n", STATUS, "line 2: found keep = 'maybe', expected one of yes, no, nothing. Fix it."),
    ("people.csv", "user_id,name\nu1,Ada,Bell\n", STATUS, "line 2: found 3 values, expected 2"),
    ("people.csv", "user_id\nu1\nu1\n", STATUS, "line 3: found the user_id 'u1' of DIR/people.csv, line 2 again, expected each once"),
    ("people.csv", 'user_id\n"u1', STATUS, "expected a CSV"),
    ("questions.csv", "user_id,category,question\nnobody,general,Why?\n", OWN, "found the user_id 'nobody' in question"),
    ("questions.csv", "user_id,category,question\nu1,general,Why?\nu1,specific,Why?\n", OWN, "line 3: found the id"),
    ("questions.csv", "user_id,category,question\nu1,general,Why, me?\n", OWN, "found 4 values, expected 3"),
    ("people.csv", "user_id\nu1\n", "annotate pack DIR", "found the user_id 'u0' in question"),
    ("pairs.jsonl", json.dumps({**IDS, "second": "a"}), STATUS, "line 1: found first = second = 'a', expected two answers"),
    ("pairs.jsonl", json.dumps({**IDS, "easy": "c"}), STATUS, "line 1: found easy = 'c', expected first, second or nothing"),
    ("pairs.jsonl", json.dumps({**IDS, "label": "c"}), STATUS, "line 1: found label = 'c', expected first, second or nothing"),
    # what texts are made from
    ("prompts/answer.md", "{{question}}", ANSWERS, "prompts/answer.md: found no {{persona}}"),
    ("prompts/answer.md", "{{persona}} {{question}} {{words}} {{anwser}}", ANSWERS, "found {{anwser}}, which nothing fills"),
    ("prompts/answer.md", None, ANSWERS, "prompts/answer.md: there is no such file"),
    ("scenarios.csv", f"{SCENARIOS}A,One,,0,\n", QUESTIONS, "line 2: found share = '0', expected float > 0"),
    ("scenarios.csv", f"{SCENARIOS},One,,1,\n", QUESTIONS, "line 2: found category = '', expected a non-empty string"),
    ("scenarios.csv", f"{SCENARIOS}A,One,,1,\nB,One,,1,\n", QUESTIONS, "line 3: found the scenario 'One' again"),
    ("scenarios.csv", f"{SCENARIOS}A,One,,1,farm\n", QUESTIONS, "found no scenario for 'u0', expected at least one"),
    ("examples.jsonl", '{"scenario": "Rain"}', QUESTIONS, "examples.jsonl, line 1: found no question, expected one"),
    ("examples.jsonl", '{"scenario": "a", "question": "b", "features": "c"}', QUESTIONS, "found features = 'c'"),
    ("build.toml", "general = 1", QUESTIONS, "pool.jsonl: there is no such file, expected"),
    ("names.csv", f"{NAMES}Chad,1,,Idriss,Deby\n", PERSONAS, "names.csv, line 2: found nothing under female"),
    ("names.csv", f"{NAMES}Chad,none,Zara,Idriss,Deby\n", PERSONAS, "line 2: found share = 'none'"),
    ("seeds.jsonl", "{}", PERSONAS, "seeds.jsonl, line 1: found an empty object, expected a profile"),
    ("persona/u1.json", "[]", PERSONAS, "persona/u1.json: found [], expected a non-empty JSON object. Fix this record"),
    ("persona/ new.json", '{"Name": "Ann"}', PERSONAS, "found user_id = ' new', expected the name of a file"),
    ("persona/n\new.json", '{"Name": "Ann"}', PERSONAS, "found user_id = 'n\\new', expected the name of a file"),
    ("persona/new.json", '{"Contact": ["at wen@example.org"]}', PERSONAS, "persona/new.json: an e-mail address in Contact at character 4. "),
    ("memory/u1.jsonl", '{"role": "user", "content": "call me at +49 171 2345678"}', PERSONAS, "memory/u1.jsonl, line 1: a phone number in content at"),
    ("memory/u1.jsonl", '{"role": "system", "content": "a"}', PERSONAS, "u1.jsonl, line 1: found role = 'system', expected user or assistant"),
    ("memory/u1.jsonl", '{"note": "a"}', PERSONAS, "u1.jsonl, line 1: found no 'text' (keys: 'note')"),
    ("memory/u1.jsonl", '{"text": "a", "date": 3}', PERSONAS, "u1.jsonl, line 1: found date = 3, expected a string"),
    ("memory/u1.jsonl", '{"role": "user", "content": " "}', PERSONAS, "found content = ' ', expected a non-empty string"),
    # the step before, and options
    ("questions.csv", None, ANSWERS, "Run first: personafeedback build texts DIR questions"),
    ("pairs.jsonl", None, "annotate pack DIR", "Run first: personafeedback build texts DIR answers"),
    ("pairs.jsonl", None, "build release DIR", "Run first: personafeedback build texts DIR answers"),
    ("answers.jsonl", "", "annotate pack DIR", "answers.jsonl: found no rows, expected those of an earlier step"),
    ("votes.jsonl", None, "build release DIR", "Run first: personafeedback annotate votes DIR"),
    ("", "", "build texts DIR answers", "The step answers needs a model"),
    ("", "", "build texts DIR personas --model x/y -M z", "-M needs NAME=VALUE, got 'z'"),
    ("", "", "build training DIR --benchmark none", "found no pair to train on, expected training persons"),
    ("", "", "build training DIR --benchmark nowhere", "pass --benchmark FOLDER, or `--benchmark none`"),
    ("", "", "annotate pack DIR --votes 3", "with no option but --format. build.toml has its settings"),
    ("", "", "annotate pack DIR --out DIR/study", "with no option but --format. build.toml has its settings"),
    # what annotators send
    ("sent", "item,vote\nnobody,A\n", VOTES, "sent, line 2: found the item 'nobody', expected one of"),
    ("sent", "item,vote\nITEM,C\n", VOTES, "line 2: found the vote 'C', expected A, B or `cannot judge`, or nothing"),
    ("sent", "item,vote\nITEM,\n", VOTES, "found no vote in it"),
    ("sent", "item,vote\nITEM,A\nITEM,B\n", VOTES, "found a second vote on the item 'ITEM', expected one of each person"),
    ("sent", f"[{DATA}[{VOTE}, {VOTE}]}}]", VOTES, "found a second vote on the item 'i', expected one of each person"),
    ("sent", '{"a": 1, "b": 2}', VOTES, "expected array. Pass a CSV with the columns item and vote"),
    ("sent", "[", VOTES, "expected a CSV or a JSON export. Export it again"),
    ("sent", '[{"id": 1, "vote": "A"}]', VOTES, "not JSON-MIN"),
    ("sent", '[{"data": {"item": 1}, "annotations": []}]', VOTES, "data.item = 1, expected str"),
    ("sent", f"[{DATA}[{{}}]}}]", VOTES, "expected one"),
    ("sent", "item,choice\nITEM,A\n", VOTES, "expected one 'vote'"),
    ("sent", "item,vote,at\nITEM,A,1/31/2026 9:30\n", VOTES, "line 2: found the time '1/31/2026 9:30', expected one in UTC"),
    # pairs to import
    ("pairs.jsonl", pairs({}, {"chosen": ""}), IMPORT, "line 2: found chosen = '', expected a non-empty string"),
    ("pairs.jsonl", pairs({}, {"question": 7}), IMPORT, "line 2: found question = 7, expected str"),
    ("pairs.jsonl", pairs({}, {"persona": None}), IMPORT, "line 2: found persona = None, expected str | object"),
    ("pairs.jsonl", pairs({}, {"user_id": "../x"}), IMPORT, "line 2: found user_id = '../x', expected the name of a file"),
    ("pairs.jsonl", pairs({"user_id": "é" * 100}, {"user_id": "é" * 100 + "x"}), IMPORT, r"line 2: found user_id = '\xe9\xe9"),
    ("pairs.jsonl", pairs({}, {"user_id": "ann "}), IMPORT, "line 2: found user_id = 'ann ', expected the name of a file"),
    ("pairs.jsonl", pairs({}, {"category": "other"}), IMPORT, "category = 'other', expected one of specific, general, nothing"),
    ("pairs.jsonl", pairs({"user_id": 0}, {"user_id": 0, "persona": "Other"}), IMPORT, "line 2: found another persona of '0' than in an earlier row"),
    ("pairs.jsonl", pairs({"rejected": "Soup"}), IMPORT, "found no pair, expected some. Left out: 1 whose responses are the same text."),
    ("pairs.parquet", "PAR1", "build init DIR/new --from DIR/pairs.parquet", "--from must be a .csv or .jsonl file, got pairs.parquet"),
]  # fmt: skip
"""(file, its content or None for no file, command, what it says)."""


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A build up to its packs."""
    build = a_build(tmp_path_factory.mktemp("ready") / "b", people=2, questions=1, annotators=2)
    ran("build", "init", build.root)
    ran("annotate", "pack", build.root)
    return build


@pytest.mark.parametrize(("name", "content", "command", "said"), REFUSED)
def test_what_cannot_be_is_named_and_nothing_is_written(ready, tmp_path, name, content, command, said):
    root, item = shutil.copytree(ready.root, tmp_path / "b"), ready.read(PackItem)[0].item
    if content is None:
        (root / name).unlink(missing_ok=True)
    elif name:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(content.replace("ITEM", item), encoding="utf-8")
    before = tree(root)
    done = personafeedback(*(word.replace("DIR", str(root)) for word in command.split()))
    assert done.exit_code in (1, 2), done.output
    shown = " ".join(done.stderr.split())
    assert said.replace("DIR", str(root)).replace("ITEM", item) in shown
    assert "download" not in shown  # the files are a team's own
    assert {path: found for path, found in tree(root).items() if not path.endswith(".lock")} == before
