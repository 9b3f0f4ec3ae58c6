"""Files that kill: no nesting, number or size ends a command; good logs beside them are read."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.samples import a_part

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.records import DEEPEST, LONGEST_NUMBER, check_json, rows

MEMORY, SECONDS = 3 * 2**30, 60
"""Of a command that reads a killer."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[" * 200_000, "nesting that is too deep"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nesting that is too deep"),
        ('{"a":' * (DEEPEST + 1) + "1" + "}" * (DEEPEST + 1), "nesting that is too deep"),
        ("[[],{}," * (DEEPEST + 1), "nesting that is too deep"),
        ('["]",' * (DEEPEST + 1), "nesting that is too deep"),
        (r'["\\",' * (DEEPEST + 1), "nesting that is too deep"),
        ("9" * 200_000, "a number of more than 400 digits"),
        (f"[0.{'1' * (LONGEST_NUMBER + 1)}]", "a number of more than 400 digits"),
        (f'["{"1" * LONGEST_NUMBER}", 1e{"1" * (LONGEST_NUMBER + 1)}]', "a number of more than 400 digits"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_ends_a_parser_is_refused(text, found):
    with pytest.raises(ValueError, match=found):
        check_json(text)


@pytest.mark.parametrize(
    "value",
    [
        "[" * 200_000,
        "7" * 200_000,
        '\\"{[' * 10_000 + "\\",
        ["1" * 399, int("1" * LONGEST_NUMBER), "]" * 300, "[" * 300],
        {"\\": {'"': ["[{" * 200]}},
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_brackets_and_digits_in_a_text_are_text(value):
    for text in (json.dumps(value), json.dumps(value, indent=1)):
        check_json(text)


def test_a_file_that_does_not_fit_is_refused_before_it_is_read(tmp_path):
    with open(tmp_path / "sparse.jsonl", "wb") as file:
        file.truncate(2**40)  # takes no room on the disk
    with pytest.raises(
        DataError, match=r"sparse.jsonl: found a file of 1,099,511,627,776 bytes, more than 1,073,741,824"
    ):
        list(rows(tmp_path / "sparse.jsonl"))


BODIES = {
    "brackets": "[" * 200_000 + "]" * 200_000,
    "objects": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "digits": "9" * 200_000,
    "fraction": f"0.{'9' * 200_000}",
    "exponent": f"1e{'9' * 200_000}",
}


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A `personafeedback` command with little memory and time."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run(
        [sys.executable, "-m", "personafeedback_tasks", *map(str, arguments)], preexec_fn=limited, timeout=SECONDS,
        env={**os.environ, "COLUMNS": "300", "OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[str, Path]:
    from support.logs import inspect_log, lm_eval_log

    folder, task = tmp_path_factory.mktemp("good"), "personafeedback_general_hard"
    return {
        "lm-eval": lm_eval_log(folder / "lm", "gold", task, "sample"),
        "inspect": inspect_log(folder / "inspect", "mixed", task, "sample"),
    }


@pytest.fixture(scope="module")
def killers(good, tmp_path_factory) -> dict[str, Path]:
    """Name -> a log that kills, each in `bad`; the good ones are beside it in `good`."""
    folder = tmp_path_factory.mktemp("killers")
    shutil.copytree(good["lm-eval"].parent, folder / "good")
    shutil.copy(good["inspect"], folder / "good")
    (folder / "bad").mkdir()
    found = {}

    def lm_eval_copy(name: str) -> Path:
        shutil.copytree(good["lm-eval"].parent, folder / "bad" / name)
        return folder / "bad" / name / good["lm-eval"].name

    for body, text in BODIES.items():
        for name, head in (
            ("results", '{"results": {}, "configs": {}, "date": %s}'),
            ("log", '{"version": 2, "status": "success", "eval": %s}'),
        ):
            if name == "results" and body in ("fraction", "exponent"):
                continue  # Python's parser survives these: a results file without a task of ours, and no fault
            found[f"{name} {body}"] = folder / "bad" / f"{name}-{body}.json"
            found[f"{name} {body}"].write_text(head % text, encoding="utf-8")
        for number, member in enumerate(("header.json", "_journal/start.json", "sample")):
            found[f"{member} {body}"] = rebuilt(good["inspect"], folder / "bad" / f"{body}{number}.eval", member, text)
        found[f"line {body}"] = lm_eval_copy(f"line-{body}")
        (samples,) = found[f"line {body}"].parent.glob("samples_*.jsonl")
        samples.write_bytes(samples.read_bytes() + b'{"doc": ' + text.encode() + b"}\n")
    for when in ("1e300", "1e999", "-1e18", "99999999999999", "NaN", "1" * 399):
        found[f"date {when}"] = results = lm_eval_copy(f"date-{when[:20]}")
        text = results.read_text("utf-8")
        changed = text.replace(f'"date": {json.loads(text)["date"]}', f'"date": {when}')
        assert changed != text
        results.write_text(changed, "utf-8")
    return found


def rebuilt(log: Path, path: Path, changed: str, content: str) -> Path:
    """A copy of an Inspect log with another content of one member."""
    with zipfile.ZipFile(log) as old:
        members = {name: old.read(name) for name in old.namelist()}
    name = next((name for name in members if name.startswith("samples/")), "") if changed == "sample" else changed
    members[name] = content.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in members.items():
            out.writestr(name, text)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("words", a_part(["report", "rank --data sample --full"], 2))
def test_killers_are_passed_over_beside_good_logs(words, killers):
    assert len(killers) == 34
    folder = next(iter(killers.values())).parent.parent
    name, *options = words.split()
    done = command(name, folder, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(killers), done.stderr
    assert all(line.startswith(f"Skipped {folder / 'bad'}") for line in lines)
    assert all("found" in line and "expected" in line for line in lines)
    for model in ("CUSTOM", "scripted/mixed"):
        assert model in done.stdout
