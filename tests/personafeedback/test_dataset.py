"""Loading: what a release's rows become, in which order, the sentence for each kind of damage, and the bundled sample."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from itertools import groupby
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.releases import row_of as row
from support.releases import write_release

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.text import language_of
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.prompts import PIECES
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS

PERSONAS = {"u1": {"Name": "Ann", "Job": "baker"}, "u2": {"Name": "李雷", "Job": "老师"}}


ROWS = [row("u1", 0), row("u2", 1), row("u1", 2)]


@pytest.fixture
def release(make_release):
    return make_release({"general/easy": ROWS}, PERSONAS)


def load(root: Path, **options):
    return load_cases(root, "general", "easy", **{"counts": "any", **options})


def refuses(root: Path, sentence: str, **options) -> None:
    with pytest.raises(DataError) as caught:
        load(root, **options)
    assert re.fullmatch(sentence, str(caught.value)), str(caught.value)


def test_real_cases_are_the_lines_of_their_files(real_data):
    for cell, cases in load_cases(real_data, "general").cells.items():
        lines = (real_data / "data" / f"{cell.replace('_', '/')}.jsonl").read_text("utf-8").split("\n")
        assert {c.id for c in cases} == {f"{cell}:{n}" for n in range(1, PAPER_COUNTS[cell] + 1)}
        for case in cases:
            own = {"user_id": case.user_id, "question": case.question, "chosen": case.chosen, "reject": case.rejected}
            assert json.loads(lines[int(case.id.partition(":")[2]) - 1]) == {**own, **case.extra}


def test_a_copy_of_one_half_has_its_cases_in_the_order_of_that_half(make_release):
    cells = {f"general/{cell}": [row(number=n) for n in range(5)] for cell in ("easy", "mid", "hard")}
    root = make_release(cells, PERSONAS)
    assert load_present(root, counts="any").cases == load_cases(root, "general", counts="any").cases


def test_users_take_turns_of_1_3_and_9_cases(make_release):
    rows = [row(user, number) for user in PERSONAS for number in range(13)]
    users = [case.user_id for case in load(make_release({"general/easy": rows}, PERSONAS))]
    assert [len([*turn]) for _, turn in groupby(users)] == [1, 1, 3, 3, 9, 9]


def test_a_release_of_the_papers_size_loads_without_options_in_proportion(make_release):
    cells = {
        cell.replace("specific", "spedific").replace("_", "/"): [row(number=n) for n in range(size)]
        for cell, size in PAPER_COUNTS.items()
    }
    cases = load_cases(make_release(cells, PERSONAS))
    assert len(cases) == 8298
    assert Counter(c.cell for c in cases) == PAPER_COUNTS
    seen = Counter()
    for length, case in enumerate(cases, 1):  # every beginning has the proportions of the whole, to within one case
        seen[case.cell] += 1
        assert all(abs(seen[cell] - size * length / len(cases)) <= 1 for cell, size in PAPER_COUNTS.items())
    assert "counts=any" not in cases.revision


@pytest.mark.parametrize("folder", ["spedific", "specific"])
@pytest.mark.parametrize(("medium", "rejected", "user"), [("mid", "reject", "17"), ("medium", "rejected", 17)])
def test_every_spelling_of_the_release_loads_alike_and_keys_that_are_not_known_are_kept(
    make_release, folder, medium, rejected, user
):
    extra = {"note": ["a", {"b": None}], "annotators": 3}
    line = row(user, **extra)
    line[rejected] = line.pop("reject")
    root = make_release({f"{folder}/{medium}": [line]}, {"17": {"Name": "x"}})
    (case,) = load_cases(root, "specific", "medium", counts="any")
    assert (case.id, case.user_id, case.rejected, case.extra) == ("specific_medium:1", "17", "rejected 0", extra)


def test_a_cell_without_a_file_or_with_two_is_refused_while_the_others_load(make_release):
    root = make_release({"general/easy": ROWS, "general/medium": ROWS, "general/mid": ROWS}, PERSONAS)
    assert len(load(root)) == 3
    with pytest.raises(
        DataError, match=r"hard\.jsonl: no such file, so there are no general_hard cases\. Get a complete"
    ):
        load_cases(root, "general", "hard", counts="any")
    with pytest.raises(DataError, match=r"medium\.jsonl or .*mid\.jsonl: found 2 of them, expected one\. Remove"):
        load_cases(root, "general", "medium", counts="any")


MEND = r"\. Fix this record, or replace the file with an intact copy\."
STRING, OBJECT = f"expected a non-empty string{MEND}", f"expected one JSON object{MEND}"
TEXT = json.dumps(row("u2", 1))


def with_key(key: str, value: str) -> str:
    return json.dumps({**json.loads(TEXT), key: "@"}).replace('"@"', value)


LINES = {
    "truncated": (TEXT[:-20], f"found Input data was truncated, {OBJECT}"),
    "list": ("[1]", rf"found \[1\], {OBJECT}"),
    "two rows in a line": (TEXT + TEXT, f"found JSON is malformed: trailing .*, {OBJECT}"),
    "nested": ("[" * 100_000, f"found nesting that is too deep, {OBJECT}"),
    "no keys": ("{}", rf"found no 'user_id' \(keys: none\), expected a string 'user_id'{MEND}"),
    "blank": (with_key("reject", '" "'), f"found reject = ' ', {STRING}"),
    "number for a text": (with_key("question", "17"), f"found question = 17, {STRING}"),
    "no choice": (with_key("chosen", '"rejected 1"'), f"found chosen and rejected are the same text, expected two different responses{MEND}"),
    "both": (with_key("rejected", '"x"'), f"found both 'reject' and 'rejected', expected one of them{MEND}"),
    "surrogate": (with_key("chosen", r'"\ud83d"'), f"found .*, {OBJECT}"),
    "NaN": (with_key("note", "NaN"), f"found JSON is malformed: .*, {OBJECT}"),
    **{user: (with_key("user_id", json.dumps(user)), f"found user_id = {re.escape(ascii(user))}, expected a plain file name without path separators{MEND}")
       for user in ("../u1", "..", "a/b", r"a\b", "C:u1")},
}  # fmt: skip
"""What is wrong -> (the second line of a file, what is said of it)."""


@pytest.mark.parametrize("wrong", LINES)
def test_a_broken_line_is_refused_in_one_sentence(release, wrong):
    path = release / "data" / "general" / "easy.jsonl"
    (release / "u1.json").write_text('{"Name": "outside"}')
    first, _, third = path.read_text("utf-8").splitlines()
    line, found = LINES[wrong]
    path.write_bytes(f"{first}\n{line}\n{third}\n".encode())
    refuses(release, f"{re.escape(str(path))}, line 2: {found}")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", f"Input data was truncated, {OBJECT}"), (b'{"Name": "\xff"}', f".*can't decode byte 0xff.*, {OBJECT}"),
        (b'{"Age": NaN}', f"JSON is malformed: .*, {OBJECT}"), (b'["Li"]', rf"\['Li'\], expected a non-empty JSON object{MEND}"),
        (b"{}", rf"{{}}, expected a non-empty JSON object{MEND}"),
    ],
)  # fmt: skip
def test_a_persona_that_is_broken_or_missing_is_refused_in_one_sentence(release, content, found):
    path = release / "persona" / "u2.json"
    path.write_bytes(content)
    refuses(release, f"{re.escape(str(path))}: found {found}")
    path.unlink()
    missing = rf"found no persona for user_id 'u2', expected the file {re.escape(str(path))}\. Add the file\."
    refuses(release, rf".*easy.jsonl, line 2: {missing}")


def test_a_wrong_count_stops_with_the_remedy_that_the_signature_then_shows(release):
    path = re.escape(str(release / "data" / "general" / "easy.jsonl"))
    refuses(
        release,
        rf"{path}: found 3 cases of general_easy, expected 1510\. Get a complete copy, "
        r"or pass counts=any to run on the cases that are present; the results then say so\.",
        counts="checked",
    )
    cases = load(release, counts="any")
    assert cases.revision == f"{release.name} (sha256 {cases.digest}, counts=any)"


WHOLE = {cell.replace("specific", "spedific").replace("_", "/"): ROWS for cell in PAPER_COUNTS}


@pytest.mark.parametrize(
    "change", ["", "data/spedific/easy.jsonl", "data/general/medium.jsonl", "persona/u2.json", "persona/new.json"]
)
def test_the_digest_is_that_of_every_file_that_another_run_could_read_and_not_of_the_folder(make_release, change):
    one, two = make_release(WHOLE, PERSONAS), make_release(WHOLE, PERSONAS)
    if change:
        path = two / change
        path.write_bytes((path if path.is_file() else two / "persona/u1.json").read_bytes() + b"\n")
    before, after = (load_cases(root, "general", "hard", counts="any") for root in (one, two))
    assert before.source != after.source
    assert before.cases == after.cases
    assert (before.digest != after.digest) == bool(change)


JUNK = st.one_of(st.binary(max_size=4), st.sampled_from([b"\n", b"\\", b'"', b"{", b"]", b"\xe2\x80\xa8"]), st.none())


@pytest.mark.slow
@given(
    st.sampled_from(["data/general/easy.jsonl", "persona/u1.json"]),
    st.floats(0, 1),
    st.sampled_from([0, 0, 1, 9, 1e6]),
    JUNK,
)
@settings(max_examples=200)
def test_damage_never_changes_the_number_of_cases_and_raises_nothing_but_data_errors(name, place, length, junk):
    """Bytes are inserted, replaced, left out or, with None as junk, doubled; the rest of the file may be missing."""
    texts = [
        (user, f'问题 {number}\n"{"é" * number}"') for number, user in enumerate(["u1", "u1", "u2", "u1", "u2", "u2"])
    ]
    rows = [row(user, number, question=question, note=[number, None]) for number, (user, question) in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(PAPER_COUNTS, {"general_easy": 6}):
        root = write_release(Path(folder) / "release", {"general/easy": rows}, PERSONAS)
        raw = (root / name).read_bytes()
        at = int(place * len(raw))
        end = at + int(length)
        (root / name).write_bytes(raw[:at] + (2 * raw[at : end + 9] if junk is None else junk) + raw[end:])
        try:
            cases = load_cases(root, "general", "easy")
            assert (len(cases), len(cases.digest)) == (6, 12)
        except DataError as error:
            message = str(error)
        else:
            message = name
        assert name.rpartition("/")[2] in message


SAMPLE = load_cases("sample")
MEMORIES = {case.user_id: case.persona.memory for case in SAMPLE}


def test_it_is_balanced_in_cells_languages_and_lengths():
    assert Counter(case.cell for case in SAMPLE) == dict.fromkeys(PAPER_COUNTS, 8)
    personas = {case.user_id: case.persona for case in SAMPLE}
    assert Counter(persona.language for persona in personas.values()) == {"en": 4, "zh": 4}
    longer = Counter(case.cell for case in SAMPLE if len(case.chosen) > len(case.rejected))
    shorter = Counter(case.cell for case in SAMPLE if len(case.chosen) < len(case.rejected))
    assert longer == shorter == dict.fromkeys(PAPER_COUNTS, 4)
    assert min(map(len, MEMORIES.values())) > PIECES  # so that something is left out


def test_no_text_is_in_it_twice_or_in_the_real_data_and_each_is_in_its_users_language(real_data):
    languages = {case.user_id: case.language for case in SAMPLE}
    texts = [(case.user_id, text) for case in SAMPLE for text in (case.question, case.chosen, case.rejected)]
    texts += [(user, piece) for user, pieces in MEMORIES.items() for piece in pieces]
    assert len({text for _, text in texts}) == len(texts)
    real = "\n".join(path.read_text("utf-8") for path in sorted(real_data.rglob("*.json*")))
    for user, text in texts:
        assert language_of(text) == languages[user], text
        assert text not in real
    assert not languages.keys() & {path.stem for path in (real_data / "persona").iterdir()}
