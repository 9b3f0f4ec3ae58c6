"""The chain as docs/chain.md prints it, in both harnesses and judged by people; where it breaks; its runs."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from inspect_ai.model import _model
from lm_eval.api import registry
from personafeedback_tasks.inspect_tasks.recenter import recenter_chain
from support.annotators import People, download, is_uncomfortable, matters, missed, rating, verdict
from support.commands import personafeedback, ran
from support.documents import DOCS, block, run_as_printed
from support.inspect_runs import inspect_eval
from support.killed import Command
from support.lm_eval_runs import FakeLM
from support.recenter import in_inspect
from support.servers import serving
from support.shown import embedded, faults

from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.earlier import Earlier
from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.logs import earlier
from personafeedback_tasks.logs.errors import RunError
from personafeedback_tasks.recenter import data
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.extract import extracted, is_there
from personafeedback_tasks.recenter.filter import folder as filter_folder
from personafeedback_tasks.recenter.funnel import STEPS, TASKS, StageRun, chains, make_funnel
from personafeedback_tasks.recenter.judgments import is_among, read_judgments
from personafeedback_tasks.recenter.respond import replied
from personafeedback_tasks.recenter.rows import Conversation, Relevance
from personafeedback_tasks.recenter.select import selected
from personafeedback_tasks.stats.clusters import Clusters
from personafeedback_tasks.stats.estimates import share

PAGE = DOCS / "chain.md"
EXTRACT, SELECT, RESPOND = map(find, TASKS)
CONVERSATIONS = {row.id: row for row in load(Conversation, "sample")}
SAMPLE = Path(data.__file__).with_name("sample")


# --- a model, and people who judge it ---------------------------------------------------------------------------------


def said(prompt: str) -> str:
    """Extracts every message of the user, selects every second attribute, and names every attribute that it is told."""
    if '"attribute"' in prompt:
        texts = re.findall(r"^user: (.*)$", prompt, re.M)
        return json.dumps([{"attribute": text[:60], "reason": "", "quote": text.replace(" ", "  ")} for text in texts])
    if "Reply with the numbers" in prompt:
        return ", ".join(re.findall(r"^(\d+)\. ", prompt, re.M)[::2])
    asked = re.search("<prompt>\n(.*)\n</prompt>", prompt, re.S)[1]
    return "\n".join(re.findall(r"^- (.*)$", prompt, re.M)) or f"Sure. {asked}"


class InLmEval(FakeLM):
    """The model that `--model hf` names."""

    tokenizer_name = ""

    @classmethod
    def create_from_arg_obj(cls, arguments, additional_config=None):
        return cls()

    def apply_chat_template(self, history, add_generation_prompt=True):
        return history[-1]["content"]

    def generate_until(self, requests, disable_tqdm=False):
        return [said(request.args[0]) for request in requests]


def belongs(row, text: str) -> bool:
    # it notes what users say, and its replies are what it was told or the prompt
    return text in (row.get("conversation") or (row["attribute"], f"Sure. {row['prompt']}"))


PEOPLE = People(belongs, is_personalized=lambda row, text: text == row["attribute"])


def annotate(folder: Path) -> None:
    """Every annotator of a study answers each of their pages, all alike, and sends the files."""
    for page in folder.glob("packs/*/*.html"):
        download(page, PEOPLE, "", Path())


def lines_of(marker: str) -> list[str]:
    return block(PAGE, marker).replace("\\\n", " ").splitlines()


def told(*arguments) -> list[dict]:
    """The funnels that `chain --json` gives."""
    document = json.loads(ran("chain", *arguments, "--json", "-").stdout)
    assert faults(document, "chain") == []
    return document["models"]


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The lines of docs/chain.md as printed, with a server, a local model and people: what they print and write."""
    folder = tmp_path_factory.mktemp("chain")
    with pytest.MonkeyPatch.context() as patched, serving(lambda prompt, model: said(prompt)) as server:
        patched.chdir(folder)
        patched.setenv("OPENAI_API_KEY", "none")
        patched.setenv("OPENAI_BASE_URL", server.url)
        patched.setitem(registry.model_registry._objs, "hf", InLmEval)
        with patch.dict(_model._models, clear=True):
            reports = run_as_printed(lines_of("story: chain"), patched)
        run_as_printed(lines_of("story: lm-eval"), patched)
        pack, *rest = lines_of("story: people")
        run_as_printed([pack], patched)
        annotate(Path("study"))
        votes, chain = (run_as_printed([line], patched) for line in rest)
    inspect, out = folder / "logs", {name: folder / "out" / name.removeprefix("recenter_") for name in TASKS}
    runs = [
        {name: earlier.find(str(place), name) for name, place in places.items()}
        for places in (dict.fromkeys(TASKS, inspect), out)
    ]
    people = folder / "study"
    (funnel,) = told(inspect, "--people", people)
    return SimpleNamespace(
        reports=reports, votes=votes, chain=chain, people=people, funnel=funnel, inspect=inspect, lm_eval=out, runs=runs
    )


def expected(runs: dict[str, Earlier]) -> dict[str, list[tuple[bool, str, str]]]:
    """Step -> (value, user, prompt or nothing) of everything that it counts, from what the people think."""
    found = {step.key: [] for step in STEPS}
    for one in extracted(runs["recenter_extract"]):
        accepted = verdict("", one.transcript, one.attribute) == "accepted"
        found["accepted"].append((accepted, one.user_id, ""))
        found["found"] += [(True, one.user_id, "")] * accepted
    for row in CONVERSATIONS.values():
        found["found"] += [(False, row.user_id, "") for _ in missed("", row.transcript)]
    for one in selected(runs["recenter_select"]):
        for text in one.attributes:
            if matters("", one.prompt, text):
                found["selected"].append((text in one.selected, one.user_id, one.prompt_id))
            if text in one.selected:
                found["irrelevant"].append((not matters("", one.prompt, text), one.user_id, one.prompt_id))
    for one in replied(runs["recenter_respond"]):
        rated = rating("", one.prompt, one.row.attribute)
        found["better"].append((rated > 3, one.user_id, one.prompt_id))
        found["worse"].append((rated < 3, one.user_id, one.prompt_id))
        found["uncomfortable"].append((is_uncomfortable(one.row.attribute), one.user_id, one.prompt_id))
        found["over_personalized"].append((False, one.user_id, one.prompt_id))
    return found


pytestmark = pytest.mark.slow


def test_every_step_goes_on_from_the_log_of_the_one_before_alike_in_both_harnesses(story):
    here, there = story.runs
    made = [sorted(extracted(runs["recenter_extract"]), key=lambda row: row.id) for runs in (here, there)]
    assert made[0] == made[1]
    for name, row in CONVERSATIONS.items():
        texts = [text[:60].strip() for text in re.findall(r"^user: (.*)$", row.transcript, re.M)]
        assert [one.attribute for one in extracted(here["recenter_extract"]) if one.conversation_id == name] == texts
    chose = {one.id: one for one in selected(here["recenter_select"])}
    assert chose == {one.id: one for one in selected(there["recenter_select"])}
    assert len(chose) == 24
    for one in chose.values():
        assert set(one.attributes) == {each.attribute for each in made[0] if each.user_id == one.user_id}
        assert one.selected == one.attributes[::2]
    replies = {one.id: one for one in replied(here["recenter_respond"])}
    assert replies == {one.id: one for one in replied(there["recenter_respond"])}
    for name, one in replies.items():
        assert one.attributes == chose[name].selected
        assert (one.personalized, one.generic) == (one.row.attribute, f"Sure. {one.prompt}")


def test_reports_and_pages_show_what_the_models_wrote(story, tmp_path):
    """Of every stage, without data at hand: the log has it. Reports have what is measured without a judge."""
    for words in ("quote is there", "none selected", "of the generic one", "DEMONSTRATION"):
        assert words in " ".join(story.reports.split())
    done = personafeedback("report", "--full", story.lm_eval["recenter_respond"])
    assert "were not compared with its options: its cases are made of an earlier run" in " ".join(done.output.split())
    for name, logs in (("inspect", [story.inspect]), ("lm-eval", list(story.lm_eval.values()))):
        ran("rank", *logs, "--out", tmp_path / name)
        shown = embedded((tmp_path / name / "ranking.html").read_text("utf-8"))
        assert len(shown["kinds"]) == 3
        texts = {(shown["kinds"][case["kind"]]["question"], case["id"]): dict(case["texts"]) for case in shown["cases"]}
        for place, own in CONVERSATIONS.items():
            assert texts["First message", place]["Conversation"] == own.transcript
            noted = [f"- {text[:60].strip()}" for text in re.findall(r"^user: (.*)$", own.transcript, re.M)]
            assert texts["First message", place]["Noted"] == "\n".join(noted)
        for one in replied(story.runs[0]["recenter_respond"]):
            found = [case for case in shown["cases"] if case["id"].split()[0] == one.id]
            chose, wrote = sorted((dict(case["texts"]) for case in found), key=len)
            assert chose["Selected"] == wrote["About the user"] == "\n".join(f"- {of}" for of in one.attributes)
            assert (wrote["Personalized reply"], wrote["Generic reply"]) == (one.personalized, one.generic)


def test_every_share_of_the_funnel_follows_from_what_people_said(story):
    assert "!" not in story.votes  # nobody is accused, no vote is lacking
    model = story.funnel
    for name, items in expected(story.runs[0]).items():
        values, users, prompts = ([*column] for column in zip(*items, strict=True))
        step = model["steps"][name]
        assert step["value"] == pytest.approx(sum(values) / len(values), abs=1e-12), name
        assert (step["n"], step["users"]) == (len(values), 6)
        if name != "over_personalized":  # a share that could not tell a mistake would be no test
            assert step["low"] < step["value"] < step["high"], name
        clusters = Clusters.of(users, prompts)
        assert step["stderr"] == pytest.approx(share([*map(float, values)], clusters).stderr, nan_ok=True), name
    assert f"{100 * model['steps']['better']['value']:.1f}" in story.chain
    assert "DEMONSTRATION on the bundled sample: not evidence about any model." in model["notes"]
    assert "Only 6 users: 95 % intervals are rough." in " ".join(model["notes"])
    both = told(story.inspect, *story.lm_eval.values(), "--people", story.people)
    assert [each["steps"] for each in both] == [model["steps"]] * 2


def test_the_lines_of_docs_recenter_give_the_same_shares_from_more_annotators(story, tmp_path, monkeypatch):
    """Six people, three of whom judge each thing alike. RECENTER_DATA names what they said."""
    shutil.copytree(story.inspect, tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    pack, votes, export = block(DOCS / "recenter.md", "story: judge").splitlines()
    run_as_printed([pack], monkeypatch)
    annotate(Path("study"))
    said = run_as_printed([votes], monkeypatch)
    assert "!" not in said
    assert re.search(r"^votes to an item: [\d,]+ items have 3$", said, re.M)
    monkeypatch.setenv("RECENTER_DATA", export.partition("=")[2].replace("$PWD", str(tmp_path)))
    (found,) = told("logs")
    assert found["steps"] == story.funnel["steps"]


# --- where it breaks --------------------------------------------------------------------------------------------------


def part(people: Path, folder: Path, *files: str) -> Path:
    """Some files of what people said."""
    folder.mkdir()
    for name in files:
        shutil.copy(people / f"{name}.jsonl", folder)
    return folder


def test_a_step_without_labels_is_left_out_with_a_sentence(story, tmp_path):
    whole, some = story.funnel["steps"], part(story.people, tmp_path / "some", "relevance")
    (model,) = told(story.inspect, "--people", some)
    assert model["steps"] == {name: whole[name] for name in ("selected", "irrelevant")}
    notes, count = " ".join(model["notes"]), len(extracted(story.runs[0]["recenter_extract"]))
    assert f"People judged none of the {count} extracted attributes (no row of extraction.jsonl has the same" in notes
    assert "Nobody was asked what is missing" in notes
    (alone,) = told(story.lm_eval["recenter_select"], "--people", some)
    assert alone["steps"] == model["steps"]
    assert "No run of recenter_extract: nothing is said of what is extracted." in alone["notes"]
    (nothing,) = told(story.lm_eval["recenter_respond"], "--people", some)
    assert nothing["steps"] == {}


def test_rows_of_the_same_texts_that_differ_are_left_out(story, tmp_path):
    path = part(story.people, tmp_path / "people", "extraction", "missing") / "extraction.jsonl"
    row = json.loads(path.read_text("utf-8").splitlines()[0])
    vote = "rejected" if row["votes"][0] == "accepted" else "accepted"
    other = {**row, "id": "other", "attribute": f" {row['attribute'].upper()}", "votes": [vote]}
    path.write_text(path.read_text("utf-8") + json.dumps(other) + "\n", "utf-8")
    (model,) = told(story.inspect, "--people", path.parent)
    assert model["steps"]["accepted"]["n"] == story.funnel["steps"]["accepted"]["n"] - 1
    assert "1 judgments are left out: rows with the same texts have different ones." in model["notes"]


def test_what_cannot_be_read_selects_and_extracts_nothing_and_is_counted(story):
    runs, people = story.runs[0], read_judgments(str(story.people))
    unread = {
        name: replace(run, cases=tuple(replace(case, answers=("refusal",)) for case in run.cases))
        for name, run in runs.items()
    }
    found = make_funnel("m", {"recenter_select": unread["recenter_select"]}, people)
    assert found.steps["selected"].value == 0  # there is something to select, and nothing was
    assert "irrelevant" not in found.steps  # of nothing there is no share
    assert "24 of 24 selections could not be read: they select nothing." in found.notes
    found = make_funnel("m", {"recenter_extract": unread["recenter_extract"]}, people)
    assert "24 of 24 lists of attributes could not be read: nothing is extracted there." in found.notes
    assert found.steps["found"].value == 0
    assert found.steps["found"].n == len(expected(runs)["found"])


def test_replies_with_a_filter_are_a_row_of_their_own(story, tmp_path, monkeypatch):
    """They lack what the filter drops, and come from the same selection."""

    def drops(row):
        return len(row.attribute) % 2 == 0

    made = SimpleNamespace(drops=drops, signature="relevance-filter 1")
    monkeypatch.setattr(filter_folder, "read", lambda path: made)
    options = {"data": "sample", "selected": str(story.inspect)}
    plain = RESPOND.load(RESPOND.options(**options), {})
    filtered = RESPOND.load(RESPOND.options(relevance_filter="DIR", **options), {})
    kept = {row.id: tuple(one for one in row.attributes if len(one) % 2) for row in plain}
    assert {row.id: row.attributes for row in filtered} == {name: some for name, some in kept.items() if some}
    dropped = sum(len(row.attributes) for row in plain) - sum(map(len, kept.values()))
    assert dropped > 10
    assert RESPOND.signs(filtered, None)["filtered_by"] == f"relevance-filter 1, {dropped} dropped"
    replies = lambda case, call: f"{call} {case}"  # noqa: E731
    _, log = in_inspect(RESPOND, replies, tmp_path, method="respond", relevance_filter="DIR", **options)
    joined = [word for name in ("openai/gpt-4o", "recenter-replies/model") for word in ("--name", f"{name}=one")]
    one, other = told(story.inspect, log, *joined, "--people", story.people)
    assert (one["model"], other["model"]) == ("one", "one, filtered")
    assert other["notes"] != one["notes"]  # other replies
    made.drops, same = lambda row: False, {reply.id: reply for reply in replied(story.runs[0][RESPOND.name])}
    replies = lambda case, call: getattr(same[case], call)  # noqa: E731
    _, log = in_inspect(RESPOND, replies, tmp_path / "all", method="respond", relevance_filter="DIR", **options)
    one, other = told(story.inspect, log, *joined, "--people", story.people)  # it drops nothing: the same replies
    assert (other["model"], other["steps"]) == ("one, filtered", one["steps"])
    with pytest.raises(OptionError, match="Pass selected=RUN as well"):
        RESPOND.load(RESPOND.options(data="sample", relevance_filter="DIR"), {})


def test_a_run_that_stopped_early_is_partial_in_its_funnel(tmp_path):
    (log,) = inspect_eval(
        "personafeedback_tasks/recenter_select", task_args={"data": "sample"}, model="recenter_select/always_all",
        display="none", log_dir=str(tmp_path), limit=3,
    )  # fmt: skip
    (model,) = told(log.location, "--people", SAMPLE)
    assert "PARTIAL: user_prompts 3 of 12. A partial mean does not estimate the cell's mean." in model["notes"]


def test_a_folder_without_judgments_and_runs_of_other_tasks_are_named(story, tmp_path):
    (tmp_path / "empty").mkdir()
    done = personafeedback("chain", story.inspect, "--people", tmp_path / "empty")
    assert done.exit_code != 0
    assert "found none of extraction.jsonl, relevance.jsonl, response.jsonl, missing.jsonl" in done.output
    _, other = in_inspect(find("recenter_extraction"), lambda case, call: "ACCEPT", tmp_path)
    done = personafeedback("chain", other, "--people", story.people)
    assert done.exit_code != 0
    assert "Found no run of recenter_extract, recenter_select, recenter_respond, expected at least one." in done.output


# --- which runs make one chain ----------------------------------------------------------------------------------------


def run(task, digest, came_from="people", filtered_by="none", model="m"):
    of = Earlier(f"openai/{model}", "data", False, digest, f"{digest}.eval", ())
    return StageRun(model, task, of, f"openai/{model} {came_from}", filtered_by)


def linked(*runs):
    return {name: {task: one.earlier.digest for task, one in own.items()} for name, own in chains(runs).items()}


E, S, R = TASKS
PLAIN = run(E, "e"), run(S, "s", "e"), run(R, "r", "s")
WHOLE = {E: "e", S: "s", R: "r"}


def test_runs_of_a_model_are_one_chain_and_those_with_a_filter_one_more():
    assert linked(*PLAIN) == {"m": WHOLE}
    assert linked(run(R, "r"), run(E, "e"), run(E, "e2", model="n")) == {"m": {E: "e", R: "r"}, "n": {E: "e2"}}
    for digest, dropped in (("r2", 2), ("r", 0)):  # a filter that drops nothing: both have the same replies
        filtered = run(R, digest, "s", f"relevance-filter 1, {dropped} dropped")
        for runs in ((*PLAIN, filtered), (filtered, *PLAIN)):
            assert linked(*runs) == {"m": WHOLE, "m, filtered": {**WHOLE, R: digest}}
            assert [own[R].filtered_by for own in chains(runs).values()] == ["none", filtered.filtered_by]


@pytest.mark.parametrize("other", [("e", "s"), ("e2", "s2"), ("e", "s2")])
def test_the_same_recipe_in_two_folders_is_two_chains(other):
    """Each with the runs that its replies went on from, whether the model said the same again or not."""
    extract, select = other
    again = run(E, extract), run(S, select, extract), run(R, "r2", select, "relevance-filter 1, 2 dropped")
    both = {"m": WHOLE, "m, filtered": {E: extract, S: select, R: "r2"}}
    assert linked(*PLAIN, *again) == linked(*again, *PLAIN) == both
    with pytest.raises(OptionError, match=r"found a second run of recenter_respond by m \(the first: r"):
        chains([*PLAIN, *again[:2], run(R, "r2", select)])


# --- runs that go on from another -------------------------------------------------------------------------------------


def test_without_a_run_people_say_what_is_told(tmp_path):
    shown = {row.id: row for row in SELECT.load(SELECT.options(data="sample"), {})}
    labeled, ticked = Counter(), defaultdict(set)
    for row in load(Relevance, "sample"):
        labeled[row.user_id, row.prompt] += 1
        ticked[row.user_id, row.prompt] |= {row.attribute} if row.judgment else set()
    assert {(row.user_id, row.question) for row in shown.values()} == labeled.keys()

    def replies(name, call):
        row = shown[name]
        own = ticked[row.user_id, row.question]
        return ", ".join(str(at) for at, text in enumerate(row.attributes, start=1) if text in own) or "NONE"

    table, log = in_inspect(SELECT, replies, tmp_path, method="select")
    shares = [len(ticked[key]) / rows for key, rows in labeled.items()]
    assert table["selected"] == pytest.approx(sum(shares) / len(shares))
    assert table["none"] == pytest.approx(shares.count(0) / len(shares))
    for one in selected(earlier.find(str(log), "recenter_select")):
        assert set(one.selected) == ticked[one.user_id, one.prompt]
    rows = RESPOND.load(RESPOND.options(data="sample"), {})
    found = {(row.user_id, row.question): set(row.attributes) for row in rows}
    assert found == {key: own for key, own in ticked.items() if own}
    for row in rows:
        prompts = {call: RESPOND.prompt(row, None, call) for call in ("personalized", "generic")}
        assert all(text in prompts["personalized"] and text not in prompts["generic"] for text in row.attributes)


def test_a_number_that_no_attribute_has_is_no_selection(tmp_path):
    table, log = in_inspect(SELECT, lambda name, call: "1, 99", tmp_path, method="select")
    assert table["listed"] == 0
    assert all(one.selected is None for one in selected(earlier.find(str(log), "recenter_select")))
    with pytest.raises(DataError, match="12 pairs of a user and a prompt, none with an attribute"):
        RESPOND.load(RESPOND.options(data="sample", selected=str(log)), {})


def test_runs_that_nothing_can_go_on_from_are_refused(story, tmp_path):
    for path in SAMPLE.glob("*.jsonl"):
        rows = path.read_text("utf-8").splitlines(keepends=True)
        (tmp_path / path.name).write_text("".join(rows[1:] if path.stem == "conversations" else rows), "utf-8")
    with pytest.raises(DataError, match="found a run on other conversations"):
        SELECT.load(SELECT.options(data=str(tmp_path), attributes=str(story.inspect)), {})
    with pytest.raises(RunError, match=r"found no run of recenter_extract, expected one"):
        earlier.find(str(story.lm_eval["recenter_respond"]), "recenter_extract")


def test_a_chain_refuses_before_its_first_call_what_a_later_step_would_refuse(tmp_path):
    shutil.copy(SAMPLE / Conversation.file, tmp_path)
    for options, error, says in (
        ({"attributs": "logs"}, OptionError, "attributs='logs' is not an option"),
        ({"attributes": "A", "selected": "B"}, OptionError, "attributes='A' has no effect beside selected='B'"),
        ({"method": "extract"}, OptionError, "method must be one of select"),
        ({"attributes": 7}, OptionError, "attributes must be a file or a folder, got 7"),
        ({"relevance_filter": str(tmp_path)}, DataError, "expected the folder of a trained filter"),
        ({"data": str(tmp_path)}, DataError, r"found no prompts\.jsonl, expected"),
    ):
        with pytest.raises(error, match=says):
            recenter_chain(**{"data": "sample", **options})


@pytest.mark.parametrize("stage", [SELECT, RESPOND], ids=lambda stage: stage.name)
def test_what_is_made_of_a_run_on_the_sample_is_a_demonstration_whatever_folder_is_named(stage, story, tmp_path):
    shutil.copy(SAMPLE / "prompts.jsonl", tmp_path)
    option, _ = stage.before
    for folder in ("sample", str(tmp_path)):
        assert stage.load(stage.options(data=folder, **{option: str(story.inspect)}), {}).demonstration


@pytest.mark.release
def test_killed_in_any_step_and_resumed_only_unfinished_samples_are_asked_again(tmp_path):
    """24 conversations, 24 selections, 48 replies; killed among the replies, whose sample has two."""
    words = [
        "inspect_ai", "eval", "personafeedback_tasks/recenter_chain", "--model", "openai/gpt-4o", "-M",
        "responses_api=false", "--log-dir", str(tmp_path / "logs"), "--display", "plain", "--log-buffer", "1",
        "--max-connections", "2", "--max-samples", "2",
    ]  # fmt: skip
    with serving(lambda prompt, model: said(prompt)) as server:
        command = Command(tmp_path / "run", "sample", server.url, XDG_CACHE_HOME=str(tmp_path / "cache"))
        command.run_and_kill(server, *words, answered=30, held=2)  # whoever asks again has what it asked for before
        (killed,) = (tmp_path / "logs").glob("*select*.eval")
        command.run("inspect_ai", "eval-retry", str(killed), "--log-dir", str(tmp_path / "logs"), "--display", "plain")
        goes_on = [*words, "-T", f"selected={tmp_path / 'logs'}"]
        command.run_and_kill(server, *goes_on, answered=13, held=2)
        (killed,) = (tmp_path / "logs").glob("*respond*.eval")
        command.run("inspect_ai", "eval-retry", str(killed), "--log-dir", str(tmp_path / "logs"), "--display", "plain")
        billed = [prompt for (prompt, _), _ in server.billed]
    assert 0 <= len(billed) - (24 + 24 + 2 * 24) <= 2  # two samples were under way, and each may have had one reply
    assert len(replied(earlier.find(str(tmp_path / "logs"), "recenter_respond"))) == 24


# --- what it begins with, and its measures ----------------------------------------------------------------------------


def test_a_prompt_has_the_id_that_prompts_jsonl_gives_it(tmp_path):
    rated = {"user_id": "a", "attribute": "Likes tea", "label": True}
    rows = [json.dumps({**rated, "id": text, "prompt": text}) for text in ("Hi", "Bye")]
    (tmp_path / "relevance.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "prompts.jsonl").write_text('{"id": "q1", "prompt": "Hi"}', "utf-8")
    pairs = {row.question: row for row in SELECT.load(SELECT.options(data=str(tmp_path)), {})}
    assert pairs["Hi"].prompt_id == "q1" != pairs["Bye"].prompt_id


def test_prompts_of_users_without_attributes_are_counted_and_a_pair_that_is_named_twice_is_refused(story, tmp_path):
    user, options = "demo-u1", SELECT.options(data=str(tmp_path), attributes=str(story.inspect))
    row = {"id": "q1", "prompt": "Hi", "users": ["nobody", user]}
    (tmp_path / "prompts.jsonl").write_text(json.dumps(row), "utf-8")
    found = SELECT.load(options, {})
    assert ([pair.id for pair in found], SELECT.signs(found, options)["without_attributes"]) == ([f"{user}-q1"], 1)
    (tmp_path / "prompts.jsonl").write_text(json.dumps({**row, "users": [user, user]}), "utf-8")
    with pytest.raises(DataError, match=rf"found the pair '{user}-q1' of a user and a prompt 2 times"):
        SELECT.load(options, {})


def test_a_quote_is_there_up_to_white_space():
    texts = ["My knee\nis acting  up again.", "Hardwax oil."]
    assert is_there("knee is acting up", texts)
    assert is_there(" Hardwax\toil. ", texts)
    for other in ("knees", "again. Hardwax", "  "):
        assert not is_there(other, texts)


def test_attributes_in_almost_the_same_words_are_one():
    assert is_among("prefers short, direct answers", ["Has a son", "Prefers short answers"])
    assert not is_among("Lives in Lisbon", ["Lives in Lyon"])


def test_an_unreadable_list_is_no_empty_one():
    (method,) = EXTRACT.methods.values()
    (cases,) = EXTRACT.logged_cases(method, EXTRACT.logged(method, load(Conversation, "sample")[0]))
    for reply, listed, none in (("[]", 1, 1), ("Well,", 0, math.nan)):
        (one,) = method.judge(cases, [Reply(reply)])
        assert (one.values["listed"], one.items) == (listed, ())
        assert one.values["none"] == pytest.approx(none, nan_ok=True)
