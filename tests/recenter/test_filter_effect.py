"""What a filter does to the chain: by hand, and with a trained one on planted people."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
from support import planted_chain as planted
from support.commands import personafeedback
from support.outputs import faults
from support.tables import in_markdown

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from personafeedback_tasks.cli.chain_text import ChainResult, blocks
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.recenter import funnel
from personafeedback_tasks.recenter.effect import effect_of
from personafeedback_tasks.recenter.filter.folder import read, texts
from personafeedback_tasks.recenter.funnel import make_funnel
from personafeedback_tasks.recenter.rows import Relevance
from personafeedback_tasks.recenter.study import Judgments, read_judgments
from personafeedback_tasks.reports.blocks import markdown

PLAN = planted.plan()
RUNS = planted.runs(PLAN)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return planted.write_people(tmp_path_factory.mktemp("people"), PLAN)


def says(finds, held_out=True, users=()):
    """A filter that finds what it is told to."""
    return SimpleNamespace(
        unbiased=lambda row: held_out or row.user_id not in users, drops=lambda row: not finds(*texts(row))
    )


def test_a_filter_that_keeps_what_people_find_relevant_ends_over_selection(people):
    topics = {text: topic for topic, text in planted.PROMPTS}

    def relevant(attribute, prompt):
        named = next(one for one in planted.ALL if one.casefold() == attribute.casefold())
        return planted.relevant(named, topics[prompt])

    effect = effect_of(says(relevant), RUNS["recenter_select"], read_judgments([people]))
    pairs = [
        (user, topic) for user in (f"u{number}" for number in range(planted.USERS)) for topic, _ in planted.PROMPTS
    ]
    selected = [(planted.relevant(one, topic)) for user, topic in pairs for one in planted.shown(PLAN, user, topic)]
    people_find = sum(planted.relevant(one, topic) for user, topic in pairs for one in PLAN.profile(user))
    without, with_it, difference = effect.measures["over_selection"]
    assert without.value == pytest.approx(len(selected) / people_find)
    assert with_it.value == pytest.approx(sum(selected) / people_find)
    assert difference.value == pytest.approx((sum(selected) - len(selected)) / people_find)
    assert difference.high < 0
    assert effect.measures["irrelevant"][1].value == 0
    assert effect.measures["selected"][2].value == 0  # nothing relevant is lost


def test_rows_of_users_that_the_filter_knows_are_left_out_unless_held_out(people):
    """Of u0 and u1 the filter knows other rows: what it says of these would flatter it. The others are new to it."""
    run, said = RUNS["recenter_select"], read_judgments([people])
    everyone = effect_of(says(lambda *texts: True, users=("u0", "u1")), run, said)
    assert (everyone.rows, everyone.left_out) == (768, 0)
    effect = effect_of(says(lambda *texts: True, held_out=False, users=("u0", "u1")), run, said)
    assert (effect.rows, effect.left_out) == (576, 192)
    every = [f"u{number}" for number in range(planted.USERS)]
    effect = effect_of(says(lambda *texts: True, held_out=False, users=every), run, said)
    assert (effect.rows, effect.left_out, effect.measures) == (0, 768, {})
    assert "all 768 judged rows are left out, since it was trained on their users" in effect.note


def test_a_filter_that_drops_everything_leaves_no_share(people):
    nothing = says(lambda *texts: False)
    effect = effect_of(nothing, RUNS["recenter_select"], read_judgments([people]))
    assert math.isnan(effect.measures["irrelevant"][1].value)  # of nothing there is no share
    assert effect.measures["selected"][1].value == 0
    nobody = Judgments({}, 0, {})
    assert effect_of(nothing, RUNS["recenter_select"], nobody) is None
    whole = make_funnel("model", RUNS, read_judgments([people]))
    shown = markdown(blocks([ChainResult(whole, (effect,))], {}))
    assert (
        in_markdown(shown)["What the filters change"]["with minus without, paired"]["model: irrelevant of selected"]
        == "–"
    )


def test_what_is_counted_has_an_order_of_its_own(people, monkeypatch):
    """That of the users: the last digit of an error depends on it, and sets of texts have another one in every process."""
    seen = []
    monkeypatch.setattr(funnel, "share", lambda values, users, also=None: seen.append(users))
    make_funnel("model", RUNS, read_judgments([people]))
    assert len(seen) > 4
    assert all(users == sorted(users) for users in seen)


def planted_rows(people):
    return map(json.loads, (people / "relevance.jsonl").read_text("utf-8").splitlines())


@pytest.mark.torch
@pytest.mark.slow
def test_a_trained_filter_lowers_over_selection_in_the_report(people, minilm, tmp_path):
    """Through the commands, on logs of Inspect. Trained on two of the eight prompts of the same users: only these have held-out answers."""
    pytest.importorskip("inspect_ai")
    from support.recenter import in_inspect

    from personafeedback_tasks.recenter.pairings import PROMPTS as FILE

    data = planted.write_data(tmp_path / "data", PLAN)
    assert (data / FILE).is_file()
    two = {text for _, text in planted.PROMPTS[1:3]}
    some = (row for row in planted_rows(people) if row["prompt"] in two)
    planted.lines(tmp_path / "some" / "relevance.jsonl", some)
    done = personafeedback("recenter", "train", tmp_path / "some", "--out", tmp_path / "filter", "--embeddings", minilm)
    assert done.exit_code == 0, done.output
    record = find("recenter_extract")
    _, first = in_inspect(
        record, planted.script(PLAN, record.name, {}), tmp_path / "1", method="extract", data=str(data)
    )
    record = find("recenter_select")
    cases = {row.id: row for row in record.load(record.options(data=str(data), attributes=str(first)), {}).cases}

    def select(folder):
        script, told = planted.script(PLAN, record.name, cases), {"data": str(data), "attributes": str(first)}
        return in_inspect(record, script, folder, method="select", **told)[1]

    log = select(tmp_path / "2")
    done = personafeedback("chain", log, "--people", people, "--filter", tmp_path / "filter", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out" / "chain.md").read_text("utf-8")
    assert "What the filters change" in text
    assert "192 judged rows, each answered by a model that had not seen its user. 576 more are left out" in text
    document = json.loads((tmp_path / "out" / "chain.json").read_text("utf-8"))
    assert faults(document, "chain") == []
    (effect,) = document["models"][0]["filters"]
    assert (effect["rows"], effect["left_out"]) == (192, 576)
    over = effect["measures"]["over_selection"]
    assert over["difference"]["value"] == pytest.approx(over["with"]["value"] - over["without"]["value"])
    assert over["difference"]["value"] < -0.3
    assert effect["measures"]["irrelevant"]["difference"]["value"] < -0.1
    _the_chain_goes_on_without_what_it_drops(tmp_path, data, log)
    _with_it_and_without_are_two_rows(tmp_path, data, (log, select(tmp_path / "again")), people)
    others = (row for row in planted_rows(people) if row["prompt"] not in two)
    planted.lines(tmp_path / "others" / "relevance.jsonl", others)
    done = personafeedback("chain", log, "--people", tmp_path / "others", "--filter", tmp_path / "filter")
    assert "all 576 judged rows are left out, since it was trained on their users" in " ".join(done.output.split())


def _with_it_and_without_are_two_rows(folder, data, selects, people):
    """The stage before ran for each of them, as in two folders."""
    from support.recenter import in_inspect

    record, logs = find("recenter_respond"), [*selects]
    for number, (log, more) in enumerate(zip(selects, ({}, {"relevance_filter": str(folder / "filter")}), strict=True)):
        told = {"data": str(data), "selected": str(log), **more}
        cases = {row.id: row for row in record.load(record.options(**told), {}).cases}
        script = planted.script(PLAN, record.name, cases)
        logs.append(in_inspect(record, script, folder / f"respond{number}", method="respond", **told)[1])
    done = personafeedback("chain", *logs, "--people", people, "--json", "-")
    assert done.exit_code == 0, done.output
    plain, filtered = json.loads(done.stdout)["models"]
    assert filtered["model"] == f"{plain['model']}, filtered"
    assert "dropped" in filtered["signatures"]["recenter_respond"]
    assert "dropped" not in plain["signatures"]["recenter_respond"]
    assert filtered["steps"]["selected"] == plain["steps"]["selected"]  # the same run
    assert filtered["notes"] != plain["notes"]  # other replies


def _the_chain_goes_on_without_what_it_drops(folder, data, log):
    record, judge = find("recenter_respond"), read(folder / "filter")

    def told(**options):
        cases = record.load(record.options(data=str(data), selected=str(log), **options), {})
        return cases, {row.id: row.attributes for row in cases}

    (plain, every), (filtered, kept) = told(), told(relevance_filter=str(folder / "filter"))
    expected = {
        row.id: tuple(
            one for one in row.attributes if not judge.drops(Relevance(row.id, row.user_id, row.question, one))
        )
        for row in plain
    }
    assert kept == {name: attributes for name, attributes in expected.items() if attributes}
    dropped = sum(map(len, every.values())) - sum(map(len, kept.values()))
    assert dropped > 10
    signed = record.signs(filtered, None)
    assert signed["filtered_by"] == f"{judge.signature}, {dropped} dropped"
    assert signed["without_attributes"] > record.signs(plain, None)["without_attributes"]
    assert record.signs(plain, None)["filtered_by"] == "none"
