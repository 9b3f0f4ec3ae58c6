"""Models do the stages: what known models come to, in both harnesses, and how one step goes on from the log of another."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from inspect_ai.model import get_model
from personafeedback_tasks.inspect_tasks.recenter import recenter_chain
from support.commands import personafeedback
from support.inspect_runs import inspect_eval
from support.killed import Command, serving
from support.recenter import ScriptedAPI, in_inspect, in_lm_eval, same
from support.shown import embedded

from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.window import KEY
from personafeedback_tasks.logs import earlier
from personafeedback_tasks.logs.read import read_runs
from personafeedback_tasks.logs.run import RunError
from personafeedback_tasks.recenter import data
from personafeedback_tasks.recenter.data import conversations, load
from personafeedback_tasks.recenter.extract import extracted
from personafeedback_tasks.recenter.respond import replied
from personafeedback_tasks.recenter.rows import Relevance
from personafeedback_tasks.recenter.select import selected

pytestmark = pytest.mark.slow

EXTRACT, SELECT, RESPOND = map(find, ("recenter_extract", "recenter_select", "recenter_respond"))
CONVERSATIONS = {row.id: row for row in conversations("sample")}
SAMPLE = Path(data.__file__).with_name("sample")
MESSAGES = {
    name: [one.content for one in row.conversation if one.role == "user"] for name, row in CONVERSATIONS.items()
}


def listed(items):
    return json.dumps([dict(zip(("attribute", "reason", "quote"), item, strict=True)) for item in items])


def everything(name, call):
    """Extracts every message of the user, with a true quote whose white space differs."""
    return f"```json\n{listed((text[:60], 'It says so.', text.replace(' ', '  ')) for text in MESSAGES[name])}\n```"


def invents(name, call):
    return listed([(f"Likes {name}", "", "I never said that.")])


def mentions_all(prompt):
    """A writer that names every attribute it is told, and selects every second one."""
    numbered = re.findall(r"^(\d+)\. ", prompt, re.M)
    if "Reply with the numbers" in prompt:
        return ", ".join(numbered[::2])
    return "\n".join(re.findall(r"^- (.*)$", prompt, re.M)) or "Sure."


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """The same model in both harnesses, from conversations to replies: in one run of Inspect, in three of lm-eval."""
    folder = tmp_path_factory.mktemp("chains")
    prompts: dict[tuple[str, str], str] = {}

    class API(ScriptedAPI):
        async def generate(self, input, tools, tool_choice, config):
            about = input[-1].metadata
            prompts[about["case_id"], about["call"]] = input[-1].text
            return await super().generate(input, tools, tool_choice, config)

    def replies(name, call):
        return everything(name, call) if call == "attributes" else mentions_all(prompts[name, call])

    model = get_model("recenter-replies/model", memoize=False, replies=replies)
    model.api.__class__ = API
    logs = inspect_eval(
        recenter_chain(data="sample"), model=model, score_display=False, log_dir=str(folder / "inspect")
    )
    assert [log.status for log in logs] == ["success"] * 3
    there = {
        benchmark_of(log): {name: one.value for name, one in log.results.scores[0].metrics.items()} for log in logs
    }
    here, steps = {}, {}
    here["recenter_extract"], steps["attributes"] = in_lm_eval(
        EXTRACT, replies, folder / "lm-eval" / "1", method="extract"
    )
    here["recenter_select"], steps["selected"] = in_lm_eval(
        SELECT, replies, folder / "lm-eval" / "2", method="select", attributes=str(steps["attributes"])
    )
    here["recenter_respond"], last = in_lm_eval(
        RESPOND, replies, folder / "lm-eval" / "3", method="respond", selected=str(folder / "lm-eval" / "2")
    )
    return SimpleNamespace(inspect=folder / "inspect", lm_eval=folder / "lm-eval", there=there, here=here, last=last)


def benchmark_of(log):
    return log.eval.metadata["personafeedback_tasks"]["benchmark"]


def test_both_harnesses_come_to_the_same_numbers(chains):
    for name, table in chains.here.items():
        shared = {metric for metric in table if metric in chains.there[name] and not metric.endswith("_stderr")}
        assert len(shared) >= 3
        for metric in shared:
            assert same(table[metric], chains.there[name][metric]), (name, metric)


def test_every_step_goes_on_from_the_log_of_the_one_before(chains):
    folders = chains.inspect, chains.lm_eval
    made = [extracted(earlier.find(str(folder), "recenter_extract")) for folder in folders]
    assert sorted(made[0], key=lambda one: one.id) == sorted(made[1], key=lambda one: one.id)
    texts = {name: [one.attribute for one in made[0] if one.conversation_id == name] for name in CONVERSATIONS}
    assert texts == {name: [text[:60].strip() for text in said] for name, said in MESSAGES.items()}
    assert chains.there["recenter_extract"]["quoted"] == 1
    assert all(one.conversation == CONVERSATIONS[one.conversation_id].conversation for one in made[0])

    chose = [{one.id: one for one in selected(earlier.find(str(folder), "recenter_select"))} for folder in folders]
    assert chose[0] == chose[1]
    assert len(chose[0]) == 24
    for one in chose[0].values():
        own = {each.attribute for each in made[0] if each.user_id == one.user_id}
        assert set(one.attributes) == own
        assert one.selected == one.attributes[::2]
    assert {one.sensitive for one in chose[0].values()} == {True, False}

    replies = [{one.id: one for one in replied(earlier.find(str(folder), "recenter_respond"))} for folder in folders]
    assert replies[0] == replies[1]
    for name, one in replies[0].items():
        assert one.attributes == chose[0][name].selected
        assert (one.personalized, one.generic) == (one.row.attribute, "Sure.")


def test_pages_show_what_the_models_wrote(chains, tmp_path):
    """Of every stage, without data at hand: the log has it. Runs of one ranking have texts of their own where they differ."""
    for harness in (chains.inspect, chains.lm_eval):
        done = personafeedback("rank", harness, "--out", tmp_path / harness.name)
        assert done.exit_code == 0, done.output
        assert "place: the order by listed or written." in " ".join(done.stdout.split())
        data = embedded((tmp_path / harness.name / "index.html").read_text(encoding="utf-8"))
        assert len(data["kinds"]) == 3
        texts = {(data["kinds"][case["kind"]]["question"], case["id"]): dict(case["texts"]) for case in data["cases"]}
        for place, own in CONVERSATIONS.items():
            of = next(texts[key] for key in texts if key == ("First message", place))
            assert of["Conversation"] == own.transcript
            assert of["Noted"] == "\n".join(f"- {' '.join(text[:60].split())}" for text in MESSAGES[place])
        for one in replied(earlier.find(str(harness), "recenter_respond")):
            found = [case for case in data["cases"] if case["id"].split()[0] == one.id]
            assert {case["question"] for case in found} == {one.prompt}
            chose, wrote = sorted((dict(case["texts"]) for case in found), key=len)
            assert chose["Selected"] == wrote["About the user"] == "\n".join(f"- {of}" for of in one.attributes)
            assert len(chose["About the user"].splitlines()) >= len(one.attributes)
            assert (wrote["Personalized reply"], wrote["Generic reply"]) == (one.personalized, one.generic)


def test_the_planted_shares(chains):
    """Everything is quoted truly, every second attribute is selected, and all of them are named."""
    count = sum(map(len, MESSAGES.values()))
    for tables in (chains.there, chains.here):
        extract, select, respond = (tables[f"recenter_{stage}"] for stage in ("extract", "select", "respond"))
        assert (extract["quoted"], extract["listed"], extract["attributes"]) == (1, 1, count / 24)
        assert select["listed"] == 1
        assert 0.5 <= select["selected"] < 0.75
        assert respond["length"] > respond["length_generic"] == len("Sure.")


def test_a_model_that_invents_quotes(tmp_path):
    for table, _ in (
        in_inspect(EXTRACT, invents, tmp_path, method="extract"),
        in_lm_eval(EXTRACT, invents, tmp_path, method="extract"),
    ):
        assert (table["quoted"], table["attributes"], table["listed"]) == (0, 1, 1)


LABELED = {}
for _row in load(Relevance, "sample"):
    LABELED.setdefault((_row.user_id, _row.prompt), []).append(_row)
RULES = {"none": lambda row: False, "people": lambda row: bool(row.judgment)}


@pytest.mark.parametrize("rule", RULES)
def test_a_model_that_selects_none_or_what_people_ticked(rule, tmp_path):
    chosen = {key: {row.attribute for row in rows if RULES[rule](row)} for key, rows in LABELED.items()}
    shown = {row.id: row for row in SELECT.load(SELECT.options(data="sample"), {})}

    def replies(name, call):
        row = shown[name]
        took = [at for at, text in enumerate(row.attributes, start=1) if text in chosen[row.user_id, row.question]]
        return ", ".join(map(str, took)) or "NONE"

    assert {(row.user_id, row.question) for row in shown.values()} == LABELED.keys()
    shares = [len(chosen[key]) / len(rows) for key, rows in LABELED.items()]
    for table, path in (
        in_inspect(SELECT, replies, tmp_path, method="select"),
        in_lm_eval(SELECT, replies, tmp_path, method="select"),
    ):
        assert same(table["selected"], sum(shares) / len(shares))
        assert table["listed"] == 1
        assert same(table["none"], shares.count(0) / len(shares))
        for one in selected(earlier.find(str(path), "recenter_select")):
            assert set(one.selected) == chosen[one.user_id, one.prompt]


def test_a_number_that_no_attribute_has_is_no_selection(tmp_path):
    table, log = in_inspect(SELECT, lambda name, call: "1, 99", tmp_path, method="select")
    assert table["listed"] == 0
    assert all(one.selected is None for one in selected(earlier.find(str(log), "recenter_select")))
    with pytest.raises(DataError, match="12 pairs of a user and a prompt, none with an attribute"):
        in_inspect(RESPOND, lambda name, call: call, tmp_path, method="respond", selected=str(log))


def test_without_a_run_people_say_what_is_told(tmp_path):
    _, log = in_inspect(RESPOND, lambda name, call: call, tmp_path, method="respond")
    for one in replied(earlier.find(str(log), "recenter_respond")):
        ticked = {row.attribute for row in LABELED[one.user_id, one.prompt] if row.judgment}
        assert set(one.attributes) == ticked
        assert (one.personalized, one.generic) == ("personalized", "generic")


def test_a_run_on_other_conversations_is_refused(chains, tmp_path):
    for path in SAMPLE.glob("*.jsonl"):
        rows = path.read_text("utf-8").splitlines(keepends=True)
        (tmp_path / path.name).write_text("".join(rows[1:] if path.stem == "conversations" else rows), "utf-8")
    with pytest.raises(DataError, match="found a run on other conversations"):
        SELECT.load(SELECT.options(data=str(tmp_path), attributes=str(chains.inspect)), {})


def test_nothing_goes_on_from_a_run_whose_prompts_were_cut(chains, tmp_path):
    folder = shutil.copytree(chains.lm_eval / "1", tmp_path / "cut")
    (results,) = folder.rglob("results_*.json")
    document = json.loads(results.read_bytes())
    (config,) = document["configs"].values()
    config["metadata"][KEY]["cut"] = 1
    results.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RunError, match="found a run that is void"):
        earlier.find(str(folder), EXTRACT.name)


def test_prompts_that_are_made_of_an_earlier_run_are_said_not_to_be_compared(chains):
    said = personafeedback("report", "--full", chains.last)
    assert said.exit_code == 0, said.output
    assert "were not compared with its options: its cases are made of an earlier run" in " ".join(said.output.split())


def test_a_misspelt_option_of_the_chain_is_refused():
    with pytest.raises(OptionError, match="attributs='logs' is not an option"):
        recenter_chain(data="sample", attributs="logs")


def test_a_run_of_another_task_is_named(chains):
    with pytest.raises(RunError, match=r"found no run of recenter_extract \(runs: recenter_respond\), expected one"):
        earlier.find(str(chains.last), "recenter_extract")
    assert {run.benchmark.name for run in read_runs([chains.inspect])} == {EXTRACT.name, SELECT.name, RESPOND.name}


class Anybody(dict):
    """Prompt -> who asks it: the prompt itself."""

    def __missing__(self, prompt):
        return (prompt,)


def said(prompt):
    if '"attribute"' in prompt:
        return listed([(text[:60], "", text) for text in re.findall(r"^user: (.*)$", prompt, re.M)])
    return mentions_all(prompt)


@pytest.mark.release
def test_killed_in_any_step_and_resumed_nothing_is_asked_twice(tmp_path):
    """24 conversations, 24 selections, 48 replies; killed among the replies, whose sample has two."""
    words = [
        "inspect_ai", "eval", "personafeedback_tasks/recenter_chain", "--model", "openai/gpt-4o", "-M", "responses_api=false", "--log-dir",
        str(tmp_path / "logs"), "--display", "plain", "--log-buffer", "1", "--max-connections", "2", "--max-samples", "2",
    ]  # fmt: skip
    with serving(Anybody(), said) as server:
        command = Command(tmp_path / "run", "sample", server.url, XDG_CACHE_HOME=str(tmp_path / "cache"))
        command.run_and_kill(server, *words, answered=30, held=2)  # whoever asks again has what it asked for before
        (killed,) = (tmp_path / "logs").glob("*select*.eval")
        command.run("inspect_ai", "eval-retry", str(killed), "--log-dir", str(tmp_path / "logs"), "--display", "plain")
        goes_on = [*words, "-T", f"selected={tmp_path / 'logs'}"]
        command.run_and_kill(server, *goes_on, answered=13, held=2)
        (killed,) = (tmp_path / "logs").glob("*respond*.eval")
        command.run("inspect_ai", "eval-retry", str(killed), "--log-dir", str(tmp_path / "logs"), "--display", "plain")
        billed = [prompt for (prompt,), _ in server.billed]
    assert len(billed) == 24 + 24 + 2 * 24
    assert len(replied(earlier.find(str(tmp_path / "logs"), "recenter_respond"))) == 24
