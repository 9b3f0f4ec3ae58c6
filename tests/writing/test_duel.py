"""`duel`: a reply and what it stands against are compared alike in both harnesses, and by people."""

from __future__ import annotations

import csv
import json
import shutil
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import get_model
from personafeedback_tasks.inspect_tasks import personafeedback_write as writing_tasks
from support.commands import personafeedback, ran
from support.duel_folders import write_duels
from support.inspect_runs import command as inspect_command
from support.inspect_runs import inspect_eval
from support.logs import lm_eval_log
from support.models import register
from support.recenter import in_inspect, in_lm_eval

from personafeedback_tasks.analysis.duel_runs import human_votes
from personafeedback_tasks.annotation.rows import PackItem
from personafeedback_tasks.annotation.study import StudyFolder
from personafeedback_tasks.common import tables
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.files import write_all
from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.core.window import KEY
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.report import duels as duels_of
from personafeedback_tasks.writing.cases import questions
from personafeedback_tasks.writing.duel import SIDES, Writer, files, pairs, people
from personafeedback_tasks.writing.record import WRITE

SAMPLE = load_cases("sample")
QUESTIONS = questions(SAMPLE)
OF_ID = {one.id: one for one in QUESTIONS}


def echo(name: str, call: str = "") -> str:
    return OF_ID[name].pairs[0].chosen


def mixed(name: str, call: str = "") -> str:
    """Ties with either side, an empty reply, a short and a long one."""
    case = OF_ID[name].pairs[0]
    mood = int(name.rpartition(":")[2], 16) % 5
    return [case.chosen, f" {case.rejected}\n", "", "Tea.", f"<think>hm</think>{case.chosen} {case.rejected}"][mood]


def refusal(*words: object) -> str:
    done = personafeedback(*words)
    assert done.exit_code != 0, done.output
    return done.output


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writing runs: name -> log."""
    folder = tmp_path_factory.mktemp("written")
    return {
        "mixed": in_inspect(WRITE, mixed, folder / "mixed", method="write")[1],
        "echo": in_lm_eval(WRITE, echo, folder, method="write")[1],
    }


@pytest.fixture(scope="module")
def duels(written, tmp_path_factory):
    """Duels of `mixed`: side -> (folder, what the command printed)."""
    folder = tmp_path_factory.mktemp("duels")
    sides = {**{side: side for side in SIDES}, "echo": written["echo"].parent}
    return {
        name: (folder / name, ran("duel", written["mixed"], "--against", side, "--out", folder / name).output)
        for name, side in sides.items()
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(drawn=st.data(), against=st.sampled_from([*SIDES, "model"]))
@settings(max_examples=40)
def test_every_pair_is_asked_or_says_why_not(drawn, against, tmp_path_factory):
    asked = list(QUESTIONS)[:6]
    texts = st.one_of(TEXTS, st.sampled_from([one.pairs[0].chosen for one in asked]))
    ours, theirs = (
        Writer(name, name, {one.id: Reply(drawn.draw(texts)) for one in asked}, Path("log"))
        for name in ("ours", "theirs")
    )
    compared = pairs(QUESTIONS, ours, theirs if against == "model" else against)
    wanted = [pair for pair in compared if not pair.why_not]
    assert len(compared) == 6
    if not wanted:
        with pytest.raises(DataError, match="nothing to ask"):
            files(compared, "ours", against)
        return
    root = tmp_path_factory.mktemp("duel")
    contents = people(SAMPLE.release.root) | files(compared, "ours", against)
    write_all({root / name: content for name, content in contents.items()})
    loaded = load_present(root)
    assert sorted((case.extra["source"], case.chosen, case.rejected) for case in loaded) == sorted(
        (pair.case.id, pair.reply, pair.other) for pair in wanted
    )
    not_asked = {one.case: one.why for one in loaded.release.manifest.duel.not_asked}
    assert not_asked == {pair.case.id: pair.why_not for pair in compared if pair.why_not}


def test_a_duel_has_a_row_for_each_case_of_the_release_or_for_each_question_of_another_writer(duels):
    of_source = {case.id: case for case in SAMPLE}
    for side in SIDES:
        cases = load_present(duels[side][0])
        for case in cases:
            source = of_source[case.extra["source"]]
            of_case = (source.user_id, source.question, getattr(source, side), source.persona.text)
            assert (case.user_id, case.question, case.rejected, case.persona.text) == of_case
        why = Counter(one.why for one in cases.release.manifest.duel.not_asked)
        assert min(why["tie"], why["empty"]) > 0
        assert len(cases) + why.total() == len(SAMPLE)
        assert f"{why['tie']} ties, {why['empty']} empty replies" in duels[side][1]
    cases = load_present(duels["echo"][0])
    assert {case.rejected for case in cases} <= {echo(one.id) for one in QUESTIONS}
    assert len(cases) + len(cases.release.manifest.duel.not_asked) == len(QUESTIONS)


@pytest.mark.slow
def test_mistakes_are_named(written, duels, tmp_path):
    out = ["--out", tmp_path / "duel"]
    assert "no such file or folder" in refusal("duel", written["mixed"], "--against", "choosen", *out)
    assert "not empty" in refusal("duel", written["mixed"], "--against", "chosen", "--out", duels["chosen"][0])
    judged = in_inspect_judge(duels["rejected"][0], tmp_path / "judged")
    assert "expected one of personafeedback_write" in refusal("duel", judged, "--against", "chosen", *out)
    assert not (tmp_path / "duel").exists()


def in_inspect_judge(data: Path, folder: Path, judge: str = "by-prompt/judge") -> Path:
    task = ("personafeedback_tasks/personafeedback", "-T", f"data={data}")
    done = inspect_command(*task, "--model", judge, "--log-dir", folder)
    assert done.returncode == 0, done.stdout
    (log,) = folder.glob("*.eval")
    return log


def vote(judge: str, prompt: str, case_id: str, call: str) -> str:
    """A judge with every kind of answer, which depends on the whole prompt and on nothing else."""
    return ["A", "B", "Answer: A", "I prefer B.", "Hm."][zlib.crc32(prompt.strip().encode()) % 5]


Judging = register("by-prompt", vote)


def votes_of(log: Path, data: Path) -> dict[str, tuple[str, ...]]:
    """Id of a case of the release -> the answers to its duel."""
    source = {case.id: case.extra["source"] for case in load_present(data)}
    return {source[name]: case.answers for name, case in read_run(log).cases.items()}


@pytest.mark.slow
def test_both_harnesses_have_the_same_votes(duels, tmp_path):
    folder = duels["rejected"][0]
    in_inspect_log = in_inspect_judge(folder, tmp_path / "inspect")
    in_lm = lm_eval_log(tmp_path / "lm", Judging(), "personafeedback", folder)
    assert votes_of(in_inspect_log, folder) == votes_of(in_lm, folder)


@pytest.mark.slow
def test_a_card_of_duels_counts_those_that_were_not_asked_and_is_refused_on_the_samples_questions(duels, tmp_path):
    judged = in_inspect_judge(duels["rejected"][0], tmp_path / "judged", "personafeedback/longest")
    assert "DEMONSTRATION" in refusal("card", judged, "--model-card", tmp_path / "CARD.md")
    assert "DEMONSTRATION" in ran("report", judged).output
    # the same questions, as if they were a team's own
    own = shutil.copytree(duels["rejected"][0], tmp_path / "own")
    document = json.loads((own / "set.json").read_text("utf-8"))
    assert document["duel"].pop("demonstration")
    (own / "set.json").write_text(json.dumps(document), encoding="utf-8")
    judged = in_inspect_judge(own, tmp_path / "judged_own", "personafeedback/longest")
    personafeedback("card", judged, "--model-card", tmp_path / "CARD.md")
    not_asked = len(document["duel"]["not_asked"])
    assert f"{not_asked} pairs of the duel are not among the cases" in (tmp_path / "CARD.md").read_text("utf-8")


@pytest.mark.slow
def test_texts_of_prompts_that_were_cut_are_not_compared(written, tmp_path):
    cut = shutil.copytree(written["echo"].parent, tmp_path / "cut") / written["echo"].name
    document = json.loads(cut.read_bytes())
    for config in document["configs"].values():
        config["metadata"].get(KEY, {})["cut"] = 2
    cut.write_text(json.dumps(document), encoding="utf-8")
    for writer, against in ((cut, "chosen"), (written["mixed"], cut)):
        said = refusal("duel", writer, "--against", against, "--out", tmp_path / "duel")
        assert "found a run that is void" in said


@pytest.mark.slow
def test_a_writing_run_that_failed_says_that_it_failed(tmp_path):
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"id": "no such question", "reply": "Tea."}\n', encoding="utf-8")
    task = writing_tasks.personafeedback_write_general_hard(data="sample")
    model = get_model("personafeedback_write/replay", replies=str(replies), memoize=False)
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path / "logs"))
    said = refusal("duel", log.location, "--against", "chosen", "--out", tmp_path / "duel")
    for words in ("found no written replies", "an error stopped it", "inspect eval-retry"):
        assert words in said


@pytest.mark.parametrize("which", ["asked", "not asked"])
def test_losses_that_somebody_deleted_before_the_judge_runs_are_missed(duels, tmp_path, which):
    """From the rows and their counts, or from what nobody is asked: the writer would win more often."""
    folder = shutil.copytree(duels["rejected"][0], tmp_path / "shorter")
    document = json.loads((folder / "set.json").read_text("utf-8"))
    if which == "asked":
        path = next((folder / "data").rglob("*.jsonl"))
        lines = path.read_text("utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[1:]), encoding="utf-8")
        document["counts"]["_".join((path.parent.name, path.stem))] -= 1
    else:
        document["duel"]["not_asked"].pop()
    (folder / "set.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=r"found the pairs = .* not asked', expected \d+ in all"):
        load_present(folder)


@pytest.mark.slow
def test_data_that_fit_no_run_are_never_passed_over(duels, tmp_path):
    """A folder that --data names and that is broken: the log names one that is whole."""
    judged = in_inspect_judge(duels["rejected"][0], tmp_path / "judged")
    calibration = in_inspect_judge("sample", tmp_path / "calibration")
    broken = shutil.copytree(duels["rejected"][0], tmp_path / "broken")
    cell = next((broken / "data").rglob("*.jsonl"))
    cell.write_text(cell.read_text("utf-8").replace('"chosen"', '"chose"', 1), encoding="utf-8")
    ran("verdict", judged, "--calibration", calibration, "--data", duels["rejected"][0])
    said = refusal("verdict", judged, "--calibration", calibration, "--data", broken)
    assert "found the data of none of these runs" in said
    assert f"{cell.name}, line 1" in said
    assert f"{cell.name}, line 1" in refusal("rank", judged, "--data", broken)
    shorter = shutil.copytree(duels["rejected"][0], tmp_path / "shorter")
    document = json.loads((shorter / "set.json").read_text("utf-8"))
    left = [one for one in document["duel"]["not_asked"] if one["why"] != "empty"]
    document["duel"] |= {"not_asked": left, "pairs": sum(document["counts"].values()) + len(left)}
    (shorter / "set.json").write_text(json.dumps(document), encoding="utf-8")
    assert "changed after the run" in refusal("verdict", judged, "--calibration", calibration, "--data", shorter)


def pack(folder, study, draw):
    ran("annotate", "pack", folder, "--out", study, "--annotators", 2, "--votes", 2, "--draw", draw, "--format", "csv")
    return {row.pair_id for row in StudyFolder(study).read(PackItem) if not row.attention}


def test_peoples_votes_on_drawn_duels_are_the_file_of_verdict(tmp_path):
    folder = write_duels(tmp_path / "duels", lambda case: f"My reply to {case.id}.", difficulty="hard")
    study = tmp_path / "study"
    few = pack(folder, study, 4)
    asked = pack(folder, study, 7)
    assert (len(few), len(asked), few < asked) == (4, 7, True)
    assert asked != pack(folder, tmp_path / "other", len(load_present(folder)))
    files = sorted((study / "packs").glob("*.csv"))
    for path in files:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
        sent = [{"item": line["item"], "vote": "AB"[line["B"].startswith("My reply")]} for line in lines]
        path.write_text(tables.text(["item", "vote"], sent), "utf-8")
    done = ran("annotate", "votes", study, *files)
    assert done.stdout.splitlines()[-1].endswith(f"--human {study / 'human.csv'}")
    cases = load_present(folder)
    found = duels_of(cases)
    votes = human_votes(study / "human.csv", found)
    assert {f"duel:{found.sources[name]}": of_case for name, of_case in votes.items()} == {
        name: [1, 1] for name in asked
    }
    ran("annotate", "votes", study, "--drop", "annotator-1", "--drop", "annotator-2")
    assert (study / "human.csv").read_text("utf-8-sig").split() == ["case,winner"], "no vote counts any more"
    ran("build", "init", tmp_path / "build")
    done = personafeedback("build", "training", tmp_path / "build", "--ratings", study)
    assert f"{study}: found no row of extraction.jsonl, relevance.jsonl, response.jsonl in asked/" in " ".join(
        done.stderr.split()
    )
    done = personafeedback("annotate", "pack", "sample", "--out", study)
    assert "found a study of something else than sample. Pass another --out." in " ".join(done.stderr.split())
    for more in ([folder, "sample"], ["sample", folder, "--draw", 2], ["sample", "--draw", 2]):
        done = personafeedback("annotate", "pack", *more, "--out", tmp_path / "new")
        assert done.exit_code, "what was passed is never left out without a word"
        assert not (tmp_path / "new").exists()
        assert "expected" in done.stderr
