"""A folder of logs: which of them make a run, such as shards, which are skipped, and what is no log at all."""

from __future__ import annotations

import csv
import json
import re
import shutil
from contextvars import copy_context
from pathlib import Path

import pytest
from inspect_ai import eval_set
from inspect_ai.log import read_eval_log, write_eval_log
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback, ran
from support.logs import bent, inspect_log, lm_eval_log, set_options, set_version

from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.logs.read import read_run, read_runs

TASK, SHARDED = "personafeedback_general_hard", "personafeedback_hard"


@pytest.fixture
def logs(part_log, real_part):
    """One cell: whole, in part, without samples; another one."""
    return {
        "hard": part_log("lm-eval", "mixed", TASK),
        "partial": part_log("lm-eval", "mixed", TASK, limit=30),
        "no samples": part_log("lm-eval", "mixed", TASK, samples=False),
        "easy": part_log("lm-eval", "mixed", "personafeedback_general_easy"),
    }


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """The whole run, and two halves of it in folders of their own; the second half has another copy in parts."""
    root = tmp_path_factory.mktemp("shards")
    for name, limit in (("whole", None), ("first", (0, 6)), ("second", (6, 16)), ("overlap", (4, 16))):
        inspect_log(root / name, "mixed", SHARDED, "sample", limit=limit)
    return root


def test_cells_in_several_logs_of_a_folder_make_one_run(logs, tmp_path):
    for name in ("hard", "easy"):
        for file in logs[name].parent.iterdir():
            shutil.copy(file, tmp_path)
    (run,) = read_runs([tmp_path])
    assert run.answered == {"general_hard": 40, "general_easy": 45}
    (from_samples,) = read_runs(tmp_path.glob("samples_*general_easy*.jsonl"))
    assert from_samples.cases == {id_: case for id_, case in run.cases.items() if case.cell == "general_easy"}
    for file in logs["no samples"].parent.iterdir():
        shutil.copy(file, tmp_path)
    said = []
    (again,) = read_runs([tmp_path], said.append)
    assert repr((again, again.results)) == repr((run, run.results))  # nan is nan
    assert len(said) == 1
    assert "found no samples in it" in said[0]


@pytest.mark.slow
def test_a_log_that_was_scored_again_takes_the_place_of_the_first(tmp_path):
    from inspect_ai import score

    from personafeedback_tasks.inspect_harness.scorers import scores

    path = inspect_log(tmp_path, "gold", "personafeedback_hard", "sample")
    again = tmp_path / f"{path.stem}-scored.eval"  # the name that `inspect score` proposes
    write_eval_log(
        score(read_eval_log(str(path)), scores("personafeedback", "generate")(), action="overwrite"), str(again)
    )
    run = read_run(tmp_path)
    assert run.logs == (again,)
    assert run.partial == {}


@pytest.mark.parametrize("field", ["prompt", "task_version"])
def test_logs_that_differ_in_what_moves_a_score_share_no_row(field, logs, real_part, tmp_path):
    for name in ("hard", "easy"):
        shutil.copytree(logs[name].parent, tmp_path / name)
    (results,) = (tmp_path / "easy").glob("results_*.json")
    content, easy = json.loads(results.read_text(encoding="utf-8")), "personafeedback_general_easy"
    if field == "prompt":
        set_options(content, easy, real_part, prompt="v2")
    else:
        set_version(content, easy, "0.9")
    results.write_text(json.dumps(content), encoding="utf-8")
    assert sorted(list(run.cells) for run in read_runs([tmp_path])) == [["general_easy"], ["general_hard"]]


def test_the_same_cases_twice_count_once_in_a_folder_and_are_refused_by_name(logs, real_part, tmp_path):
    """`--limit` tried first, then the whole run: the larger log counts, in either order."""
    for name in ("hard", "partial"):
        shutil.copytree(logs[name].parent, tmp_path / name)
    said = []
    (run,) = read_runs([tmp_path], said.append)
    assert len(run.cases) == 40
    assert len(said) == 1
    assert re.search(r"Skipped \S*partial/results\S+: \S*hard/results\S+ has the same cases", said[0])
    done = ran("report", "--full", tmp_path, "--data", real_part)
    assert "Skipped" in done.stderr
    assert "Skipped" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("what", ["failed", "damaged", "a retry that failed", "a retry that runs", "continued"])
def test_a_log_that_does_not_count_is_passed_over_in_one_line(what, shards, tmp_path):
    """Of a log and the one that continues it the last one counts that came to its end."""
    shutil.copy(next((shards / "whole").glob("*.eval")), good := tmp_path / "a.eval")
    bad, log = tmp_path / "b.eval", read_eval_log(str(good))
    if what == "damaged":
        bad.write_bytes(good.read_bytes()[:2000])
    elif what == "continued":
        good, bad = shutil.copy(good, bad), good
    else:
        log.status = "started" if what == "a retry that runs" else "error"
        log.samples, log.results, log.eval.created = log.samples[:3], None, "2099-01-01T00:00:00+00:00"
        if what == "failed":
            log.eval.task_id = "another"
        write_eval_log(log, str(bad))
    said = []
    (run,) = read_runs([tmp_path], said.append)
    assert (run.logs, len(run.cases), run.finished) == ((good,), 16, True)
    (line,) = said
    assert line.startswith(f"Skipped {bad}: ")
    if what == "continued":
        assert line.endswith(f"{good} continues it and has its samples. Name the log to report it.")
    elif what.startswith("a retry"):
        assert line.endswith(f"; {good}, which it continues, is complete. Name the log to report it.")
    good.unlink()
    if what == "damaged":
        with pytest.raises(RunError, match="cannot read"):
            read_runs([tmp_path])
    elif what != "continued":
        (alone,) = read_runs([tmp_path])
        assert len(alone.cases) == 3


@pytest.mark.slow
def test_a_log_continues_another_only_with_its_model_and_its_samples(shards, tmp_path):
    """The same id of a task in logs of two models, of two halves, and of a run and its copy."""
    inspect_log(tmp_path / "gold", "gold", SHARDED, "sample")
    for names, cases, skipped in [
        (("whole", "gold"), [16, 16], []),
        (("first", "second"), [16], []),
        (("whole", "whole"), [16], ["1.eval continues it"]),
        (("first", "whole"), [16], ["1.eval continues it"]),
    ]:
        folder, said = tmp_path / "-".join(names), []
        folder.mkdir()
        for place, name in enumerate(names):
            (log,) = (tmp_path if name == "gold" else shards).joinpath(name).glob("*.eval")
            task = {"task_id": "one", "created": f"2026-11-0{place + 1}T12:00:00+00:00"}
            copy = bent(log, tmp_path / "bent", lambda header, samples, task=task: header["eval"].update(task))
            shutil.copy(copy, folder / f"{place}.eval")
        assert [len(run.cases) for run in read_runs([folder], said.append)] == cases
        assert [re.sub(r".*/(.*? it)\b.*", r"\1", line) for line in said] == skipped


# --- shards, and what `eval-set` leaves -------------------------------------------------------------------------------


def ranked(tmp_path, *arguments):
    done = ran("rank", *arguments, "--data", "sample", "--json", tmp_path / "r.json")
    rankings = json.loads((tmp_path / "r.json").read_text("utf-8"))["rankings"]
    return [row for ranking in rankings for row in ranking["runs"]], " ".join(done.stderr.split())


def halves(shards, folder, *names):
    for name in names:
        shutil.copytree(shards / name, folder / name)
    return folder


@pytest.mark.slow
def test_shards_in_a_folder_make_the_run_and_are_named_on_every_first_screen(shards, tmp_path):
    folder = halves(shards, tmp_path / "logs", "first", "second")
    (row,), _ = ranked(tmp_path, folder)
    (whole,), _ = ranked(tmp_path, shards / "whole")
    assert not row["partial"]
    assert row["measures"] == whole["measures"]
    logs = {log.name for log in folder.rglob("*.eval")}  # which one comes first is open within a second
    for command, name in (("report", "report.html"), ("rank", "ranking.html")):
        done = personafeedback(command, folder, "--data", "sample", "--out", tmp_path / command)
        joined = re.search(r"JOINED: one run of (.*?\.eval), (.*?\.eval)\.", " ".join(done.stdout.split()))
        assert joined, done.output
        assert {*joined.groups()} == logs
        page = (tmp_path / command / name).read_text("utf-8")
        assert all(log in page for log in logs)
    assert "JOINED" not in personafeedback("report", shards / "whole", "--data", "sample").stdout


@pytest.mark.slow
def test_a_log_with_fewer_samples_than_its_header_counts_is_void(shards, tmp_path):
    log = read_eval_log(str(next((shards / "whole").glob("*.eval"))))
    log.samples = log.samples[:10]
    log.results.scores[0].metrics = {}
    write_eval_log(log, str(fewer := tmp_path / "fewer.eval"))
    said = "MISSING SAMPLES: fewer.eval has 10 of the 16 samples that its header counts."
    done = personafeedback("report", fewer, "--data", "sample")
    assert said in " ".join(done.stdout.split()).partition("accuracy")[0], done.output
    assert "No verdict: the numbers are void." in done.stdout
    done = personafeedback("rank", fewer, shards / "second", "--data", "sample", "--out", tmp_path / "rank")
    assert said in " ".join(done.stdout.split())
    assert said in (tmp_path / "rank" / "ranking.html").read_text("utf-8")


@pytest.mark.slow
def test_logs_with_a_case_in_common_or_other_options_are_no_shards(shards, tmp_path):
    done = personafeedback("rank", halves(shards, tmp_path / "twice", "first", "overlap"), "--data", "sample")
    assert "expected each once in a run. Pass only the log that counts." in " ".join(done.stderr.split())
    folder = halves(shards, tmp_path / "other", "first")
    inspect_log(folder / "hot", "mixed", SHARDED, "sample", limit=(6, 16), temperature=0.5)
    rows, _ = ranked(tmp_path, folder, "--csv", tmp_path / "r.csv")
    assert [row["partial"] for row in rows] == [True, True]
    with open(tmp_path / "r.csv", encoding="utf-8", newline="") as file:
        assert [row["partial"] for row in csv.DictReader(file)] == ["1", "1"]


@pytest.mark.slow
def test_a_folder_of_eval_set_has_its_settings_apart(tmp_path):
    settings = ("persona", "other_persona", "no_persona")
    done, _ = copy_context().run(  # Inspect leaves the model of the run in its context
        eval_set,
        [tasks.personafeedback_hard(data="sample", setting=setting) for setting in settings],
        str(tmp_path / "logs"), model="personafeedback/longest", display="none",
    )  # fmt: skip
    assert done
    assert [path for path in (tmp_path / "logs").iterdir() if path.suffix == ".json"]  # its own files lie beside
    (row,), said = ranked(tmp_path, tmp_path / "logs")
    assert said == ""
    assert {row["measures"][name]["value"] for name in ("right_minus_wrong", "persona_gain")} == {0.0}


# --- what is no log --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda folder, task: lm_eval_log(folder, "mixed", task, "sample", samples=False),
        lambda folder, task: inspect_log(folder, "mixed", task, "sample", log_samples=False),
    ],
    ids=["lm-eval", "inspect"],
)
def test_a_log_without_samples_is_one_error_that_says_how_to_run_again(write, tmp_path):
    log = write(tmp_path, "personafeedback_general_hard")
    done = personafeedback("report", "--full", log)
    assert done.exit_code == 1
    assert done.output == (
        f"Error: {log}: found no samples in it, expected the answers of every case. Run it again with samples: "
        "--log_samples in lm-eval, without --no-log-samples in Inspect.\n"
    )


def refused(path: Path) -> None:
    """Assert that a report of this file is one line that names it."""
    done = personafeedback("report", path)
    assert done.exit_code == 1
    assert re.fullmatch(rf"Error: {re.escape(str(path))}.*: found [^\n]*\n", done.output), done.output


FOREIGN = {
    "empty.eval": b"", "empty.json": b"", "text.txt": b"hello", "list.json": b"[1]", "other.json": b'{"results": {}}',
    "a.json": b'{"a": 1}', "other.eval": b"PK\x03\x04", "binary.bin": bytes(range(256)), "scalar.jsonl": b"1\n",
    "newer.json": b'{"version": 99, "status": "success", "eval": {"task": "personafeedback"}}',
    "hellaswag.json": b'{"results": {"hellaswag": {}}, "configs": {"hellaswag": {"metadata": {"version": 1}}}, "date": 1}',
}  # fmt: skip


def test_a_foreign_file_and_an_empty_folder_are_one_clear_error(tmp_path):
    done = personafeedback("report", tmp_path)
    assert (done.exit_code, len(done.output.splitlines())) == (1, 1)
    assert str(tmp_path) in done.output
    for name, content in FOREIGN.items():
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name)


@pytest.mark.parametrize(("name", "encoding"), [("UTF-8", "utf-8-sig"), ("UTF-16", "utf-16")])
def test_a_log_that_was_converted_to_another_encoding_is_called_that(name, encoding, shards, logs, tmp_path):
    inspect = tmp_path / "inspect.json"
    write_eval_log(read_eval_log(str(next((shards / "first").glob("*.eval")))), str(inspect))
    shutil.copytree(logs["hard"].parent, tmp_path / "lm_eval")
    (results,), (samples,) = ((tmp_path / "lm_eval").glob(f"{kind}_*") for kind in ("results", "samples"))
    for log, file in ((inspect, inspect), (results, samples), (results, results)):
        file.write_bytes(file.read_text("utf-8").encode(encoding))
        if file == samples and name == "UTF-8":
            assert read_runs([log])
            continue
        mark = "" if file == samples else f"found a log in {name} with a byte order mark"
        with pytest.raises(RunError, match=rf"{file.name}.*{mark}.* Use the log as the harness wrote it\."):
            read_runs([log])


@pytest.mark.slow
def test_the_error_of_a_json_log_that_was_cut_off_has_its_line(shards, tmp_path):
    log = tmp_path / "log.json"
    write_eval_log(read_eval_log(str(next((shards / "first").glob("*.eval")))), str(log))
    lines = log.read_text("utf-8").splitlines(keepends=True)
    at = len(lines) // 2
    log.write_text("".join(lines[:at]).rstrip()[:-1], "utf-8")
    with pytest.raises(RunError, match=rf"log.json: found a log that .* \(line {at}, column \d+\)\)"):
        read_runs([log])


@pytest.mark.parametrize(("form", "name"), [("eval", "log.json"), ("eval", "log"), ("json", "log.eval")])
def test_a_log_of_inspect_under_a_name_of_another_format_is_called_that(form, name, shards, tmp_path):
    log = tmp_path / f"whole.{form}"
    write_eval_log(read_eval_log(str(next((shards / "first").glob("*.eval")))), str(log))
    log = log.rename(tmp_path / name)
    with pytest.raises(RunError, match=rf"in the format \.{form}.* Rename the file\."):
        read_runs([log])


def test_blank_lines_and_line_ends_of_windows_change_nothing_in_a_samples_file(logs, tmp_path):
    shutil.copytree(logs["hard"].parent, tmp_path / "log")
    (samples,) = (tmp_path / "log").glob("samples_*")
    samples.write_bytes(samples.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\n")
    assert repr(read_run(tmp_path / "log").cases) == repr(read_run(logs["hard"]).cases)


def test_other_files_in_a_folder_are_passed_over(logs, tmp_path):
    shutil.copytree(logs["hard"].parent, tmp_path / "log")
    for name in ("text.txt", "list.json", "a.json", "hellaswag.json"):
        (tmp_path / "log" / name).write_bytes(FOREIGN[name])
    assert read_run(tmp_path / "log").answered == {"general_hard": 40}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "hellaswag.json").write_bytes(FOREIGN["hellaswag.json"])
    with pytest.raises(RunError, match=r"found no log of these tasks in it.*Skipped: .*found the tasks hellaswag"):
        read_run(tmp_path / "other")
