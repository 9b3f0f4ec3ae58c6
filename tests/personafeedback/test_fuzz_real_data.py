"""The real files, damaged at random: a load gives every case as it stands in its line, or a DataError, never less."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS

CASES = 60
"""Lines of general_hard that are kept, so that one load takes milliseconds. Exactly so many cases are demanded."""

MEGABYTE = 2**20
CELL = "data/general/hard.jsonl"


@pytest.fixture(scope="module")
def copy(real_data, tmp_path_factory) -> Path:
    """The beginning of a real cell with the personas that it names."""
    root = tmp_path_factory.mktemp("damaged")
    (root / CELL).parent.mkdir(parents=True)
    (root / "persona").mkdir()
    lines = (real_data / CELL).read_bytes().splitlines(keepends=True)[:CASES]
    (root / CELL).write_bytes(b"".join(lines))
    for user in {json.loads(line)["user_id"] for line in lines}:
        shutil.copyfile(real_data / "persona" / f"{user}.json", root / "persona" / f"{user}.json")
    return root


def load(root: Path):
    with mock.patch.dict(PAPER_COUNTS, {("general", "hard"): CASES}):
        return load_cases(root, "general", "hard")


def load_with(root: Path, name: str, content: bytes):
    """Load with other content in one file, which is as before afterwards."""
    intact = (root / name).read_bytes()
    try:
        (root / name).write_bytes(content)
        return load(root)
    finally:
        (root / name).write_bytes(intact)


# --- the ways in which a file is damaged: (content, two places from 0 to 1, junk) -> content -------------------------

JUNK = [
    *(bytes([number]) for number in range(0x20)),  # control characters, line feed and record separator among them
    b"\x7f", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80",  # bytes that are no UTF-8
    *(c.encode() for c in ("\x85", "\u2028", "\u2029", "\ufeff", "\u200b", "\ud7ff", "\U0010ffff", "é", "老")),
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\\u0000", b"\\ud800", b"\\u2028", b"\\q", b"NaN", b"1e999", b"null",
    b"[" * 5_000, b'{"a":' * 5_000, b"9" * 5_000, *[b"\xef\xbb\xbf", b"\x1e"] * 5,  # these two matter before a line
]  # fmt: skip
LONG_JUNK = [b"x" * MEGABYTE, "李".encode() * (MEGABYTE // 3), b"\n" * MEGABYTE, b" " * MEGABYTE]
VALUES = [
    b"null", b"true", b"0", b"-1", b"17", b"1.5", b"1e999", b"NaN", b"9" * 400, b"9" * 5_000, b'""', b'" "', b'"\\n"',
    b'" two  spaces \\r\\n "', b'"\\u0000"', b'"\\ud800"', b'"\\u2028"', b'"."', b'".."', b'"../x"', b'"' + b"a" * 300 + b'"',
    b"[]", b"{}", b"[1]", b'["a"]', b'{"a": 1, "a": 2}', b'{"user_id": "x"}', b"[" * 5_000 + b"]" * 5_000, b"[" * 5_000,
]  # fmt: skip


def strict(raw: bytes) -> object:
    """What stands in a line or a file, read without this package."""

    def unique(pairs):
        assert len(dict(pairs)) == len(pairs), "a key stands twice"
        return dict(pairs)

    return json.loads(raw.decode(), object_pairs_hook=unique)


def span(size: int, x: float, y: float) -> tuple[int, int]:
    at, end = sorted((int(x * size), int(y * size)))
    return at, max(end, at + 1)


def flip(raw, x, y, junk):
    at = int(x * len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << int(y * 8))]) + raw[at + 1 :] if raw else raw


def insert(raw, x, y, junk):
    return raw[: int(x * len(raw))] + junk + raw[int(x * len(raw)) :]


def insert_between_lines(raw, x, y, junk):
    lines = raw.split(b"\n")
    return b"\n".join([*lines[: int(x * len(lines))], junk, *lines[int(x * len(lines)) :]])


def overwrite(raw, x, y, junk):
    return raw[: int(x * len(raw))] + junk + raw[int(x * len(raw)) + len(junk) :]


def delete(raw, x, y, junk):
    at, end = span(len(raw), x, y)
    return raw[:at] + raw[end:]


def delete_a_little(raw, x, y, junk):
    at = int(x * len(raw))
    return raw[:at] + raw[at + 1 + int(y * 8) :]


def duplicate(raw, x, y, junk):
    at, end = span(len(raw), x, y)
    return raw[:end] + raw[at:end] + raw[end:]


def truncate(raw, x, y, junk):
    return raw[: int(x * len(raw))]


def swap_lines(raw, x, y, junk):
    lines = raw.split(b"\n")
    one, two = int(x * len(lines)), int(y * len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def drop_a_line(raw, x, y, junk):
    lines = raw.split(b"\n")
    del lines[int(x * len(lines))]
    return b"\n".join(lines)


def duplicate_a_line(raw, x, y, junk):
    lines = raw.split(b"\n")
    lines.insert(int(y * len(lines)), lines[int(x * len(lines))])
    return b"\n".join(lines)


def put_a_line_over_another(raw, x, y, junk):
    lines = raw.split(b"\n")
    lines[int(y * len(lines))] = lines[int(x * len(lines))]
    return b"\n".join(lines)


def put_before_a_line(raw, x, y, junk):
    lines = raw.split(b"\n")
    lines[int(x * len(lines))] = junk + lines[int(x * len(lines))]
    return b"\n".join(lines)


def record_at(raw: bytes, x: float) -> tuple[bytes, bytes, bytes]:
    """(what stands before it, one record, what stands after it): a persona is one record, a cell one a line."""
    if b'"question"' not in raw:
        return b"", raw, b""
    lines = raw.split(b"\n")
    at = int(x * len(lines))
    return b"".join(line + b"\n" for line in lines[:at]), lines[at], b"".join(b"\n" + line for line in lines[at + 1 :])


def replace_a_value(raw, x, y, junk):
    """One value of a record becomes another JSON value, or stands under another key, or under two keys."""
    before, line, after = record_at(raw, x)
    try:
        record = json.loads(line)
        key = list(record)[int(y * len(record))] if isinstance(record, dict) else None
    except (ValueError, IndexError, RecursionError):  # an earlier damage left no record here
        return raw
    if key is None:
        return raw
    choice = (int(x * 10_000) + 7 * int(y * 10_000)) % (len(VALUES) + 3)
    value = VALUES[choice] if choice < len(VALUES) else b'"another text"'
    if choice == len(VALUES):
        record[junk.decode("latin-1")] = record.pop(key)
    elif choice == len(VALUES) + 1:
        record[{"reject": "rejected"}.get(key, "reject")] = "@@"
    elif choice < len(VALUES):
        record[key] = "@@"
    line = json.dumps(record).encode().replace(b'"@@"', value)
    if choice == len(VALUES) + 2:
        line = line[:-1] + b", " + json.dumps(key).encode() + b": " + value + b"}"
    return before + line + after


DAMAGES = {
    damage.__name__: damage
    for damage in (
        flip, insert, insert_between_lines, overwrite, delete, delete_a_little, duplicate, truncate, swap_lines,
        drop_a_line, duplicate_a_line, put_a_line_over_another, put_before_a_line, replace_a_value,
    )
}  # fmt: skip
DAMAGED = 2_400
PLACE = st.integers(0, 9_999).map(lambda number: number / 10_000)
ONE_DAMAGE = st.tuples(
    st.sampled_from([*sorted(DAMAGES), "put_before_a_line", *["replace_a_value"] * 4]),
    PLACE,
    PLACE,
    st.one_of(*[st.sampled_from(JUNK)] * 9, st.binary(max_size=8), st.sampled_from(LONG_JUNK)),
)


@pytest.mark.release
@pytest.mark.tried("damaged files of the data: all cases as they stand, or one error", DAMAGED)
@given(
    in_cell=st.lists(ONE_DAMAGE, max_size=2),
    in_persona=st.lists(ONE_DAMAGE, max_size=1),
    whose=PLACE,
)
@settings(max_examples=DAMAGED, derandomize=True, deadline=None, database=None)
def test_damage_gives_all_cases_as_they_stand_or_a_data_error(copy, in_cell, in_persona, whose):
    personas = sorted((copy / "persona").iterdir())
    persona = personas[int(whose * len(personas))]
    intact = {copy / CELL: (copy / CELL).read_bytes(), persona: persona.read_bytes()}
    damaged = dict(intact)
    for path, damages in ((copy / CELL, in_cell), (persona, in_persona)):
        for name, x, y, junk in damages:
            damaged[path] = DAMAGES[name](damaged[path], x, y, junk)
    changed = [path for path in intact if damaged[path] != intact[path]]
    try:
        for path in changed:
            path.write_bytes(damaged[path])
        cases, refused = None, ""
        try:
            cases = load(copy)
        except DataError as error:
            refused = str(error)
        if cases is None:
            assert any(str(path) in refused for path in changed)
        else:
            lines = damaged[copy / CELL].split(b"\n")
            assert sorted(int(case.id.partition(":")[2]) for case in cases) == list(range(1, CASES + 1))
            assert (len(cases.digest), cases.languages.total()) == (12, CASES)
            for case in cases:
                row = strict(lines[int(case.id.partition(":")[2]) - 1])
                texts = (str(row["user_id"]), row["question"], row["chosen"], row.get("reject", row.get("rejected")))
                assert (case.user_id, case.question, case.chosen, case.rejected) == texts
                assert case.persona.profile == strict((copy / "persona" / f"{case.user_id}.json").read_bytes())
    finally:
        for path in changed:
            path.write_bytes(intact[path])


def with_first_row(root: Path, **changes: object) -> bytes:
    first, rest = (root / CELL).read_bytes().split(b"\n", 1)
    return json.dumps({**json.loads(first), **changes}, ensure_ascii=False).encode() + b"\n" + rest


def test_the_undamaged_copy_loads(copy):
    assert len(load(copy)) == CASES


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_separator_that_is_no_line_feed_stays_in_its_text(copy, separator):
    text = f"one{separator}two"
    cases = load_with(copy, CELL, with_first_row(copy, chosen=text))
    assert len(cases) == CASES
    assert [case.chosen for case in cases if case.id == "general_hard:1"] == [text]


def test_a_response_of_a_megabyte_loads(copy):
    text = "long " * (MEGABYTE // 5)
    cases = load_with(copy, CELL, with_first_row(copy, reject=text))
    assert len(cases) == CASES
    assert [case.rejected for case in cases if case.id == "general_hard:1"] == [text]


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"x" * MEGABYTE, id="letters"),
        pytest.param(b"\xff" * MEGABYTE, id="no UTF-8"),
        pytest.param(b"9" * MEGABYTE, id="digits"),
        pytest.param(b"[" * MEGABYTE, id="brackets"),
        pytest.param(b'"' + b"x" * MEGABYTE + b'"', id="a string"),
        pytest.param(b'{"user_id": ["' + b"x" * MEGABYTE + b'"]}', id="a value of another type"),
        pytest.param(b'{"user_id": "../' + b"x" * MEGABYTE + b'", "question": "q", "chosen": "c", "reject": "r"}', id="path"),
        pytest.param(
            b'{"user_id": "' + b"x" * MEGABYTE + b'", "question": "q", "chosen": "c", "reject": "r"}', id="user",
        ),
        pytest.param(b"9" * MEGABYTE + b"e999", id="a float"),
        pytest.param(b'{"' + b"x" * MEGABYTE + b'": 1}', id="a key"),
        pytest.param(b'{"' + b"x" * MEGABYTE + b'": 1, "' + b"x" * MEGABYTE + b'": 1}', id="a key twice"),
    ],
)  # fmt: skip
def test_a_megabyte_of_garbage_is_refused_in_a_short_sentence(copy, garbage):
    rest = (copy / CELL).read_bytes().split(b"\n", 1)[1]
    with pytest.raises(DataError) as caught:
        load_with(copy, CELL, garbage + b"\n" + rest)
    length, named = len(str(caught.value)), str(caught.value).startswith(f"{copy / CELL}, line 1: ")
    assert named
    assert length < 700
