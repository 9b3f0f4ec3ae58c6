"""Where the chain breaks: every share of a planted chain, in both harnesses, and what is absent."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support import planted_chain as planted
from support.commands import personafeedback
from support.outputs import faults

pytest.importorskip("numpy")
pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")

from personafeedback_tasks.common.statistics import share
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.recenter import funnel
from personafeedback_tasks.recenter.filter import folder as filter_folder
from personafeedback_tasks.recenter.funnel import make_funnel
from personafeedback_tasks.recenter.study import read_judgments

PLAN = planted.plan()
STEPS = (("recenter_extract", ""), ("recenter_select", "attributes"), ("recenter_respond", "selected"))


def made_by(run, data, folder):
    """The logs of the three stages: stage -> path."""
    logs = {}
    before = None
    for name, option in STEPS:
        record = find(name)
        told = {"data": str(data), **({option: str(before)} if option else {})}
        (method,) = record.methods
        cases = {row.id: row for row in record.load(record.options(method=method, **told), {}).cases}
        _, before = run(record, planted.script(PLAN, name, cases), folder / name, method=method, **told)
        logs[name] = before
    return logs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return planted.write_data(tmp_path_factory.mktemp("chain"), PLAN)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return planted.write_people(tmp_path_factory.mktemp("people"), PLAN)


@pytest.fixture(scope="module")
def logs(data, tmp_path_factory):
    from support.recenter import in_inspect

    return made_by(in_inspect, data, tmp_path_factory.mktemp("logs"))


def told(*arguments):
    done = personafeedback("chain", *arguments, "--json", "-")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert faults(document, "chain") == []
    return document


@pytest.fixture(scope="module")
def known(logs, people):
    (model,) = told(*logs.values(), "--people", people)["models"]
    return model


def expected():
    """Step -> (value, user) of everything that it counts, by the plan alone."""
    names = "found accepted selected irrelevant better worse uncomfortable over_personalized"
    found = {name: [] for name in names.split()}
    for name, noted in PLAN.noted.items():
        user = PLAN.owner[name]
        right = [one for one in noted if PLAN.accepted[name, one]]
        found["accepted"] += [(one in right, user) for one in noted]
        found["found"] += [(True, user)] * len(right) + [(False, user)] * len(PLAN.missing[name])
    for user in (f"u{number}" for number in range(planted.USERS)):
        for number, (topic, _) in enumerate(planted.PROMPTS):
            for one in PLAN.profile(user):
                is_there, matters = planted.selects(user, one, topic), planted.relevant(one, topic)
                found["selected"] += [(is_there, user)] if matters else []
                found["irrelevant"] += [(not matters, user)] if is_there else []
            if planted.shown(PLAN, user, topic):
                rating = sum(planted.votes(user, number)) / 2
                marked = {"uncomfortable": (int(user[1:]) + number) % 4 >= 2, "over_personalized": number % 3 >= 2}
                for name, value in {"better": rating > 3, "worse": rating < 3, **marked}.items():
                    found[name].append((value, user))
    return found


def test_every_share_is_the_planted_one(known):
    for name, items in expected().items():
        values = [float(value) for value, _ in items]
        step = known["steps"][name]
        assert 0 < sum(values) < len(values), name  # a share that could not tell a mistake would be no test
        assert step["value"] == pytest.approx(sum(values) / len(values), abs=1e-12), name
        assert (step["n"], step["users"]) == (len(values), 8)
        assert step["low"] < step["value"] < step["high"]
    own = expected()["accepted"]
    assert known["steps"]["accepted"]["stderr"] == pytest.approx(
        share([float(one) for one, _ in own], [of for _, of in own]).stderr
    )


@pytest.mark.slow
def test_both_harnesses_give_the_same_funnel(known, logs, data, people, tmp_path):
    from support.recenter import in_lm_eval

    others = made_by(in_lm_eval, data, tmp_path)
    (there,) = told(*others.values(), "--people", people)["models"]
    assert there["steps"] == known["steps"]
    log = re.compile(r"[\w.-]+\.(eval|json)\b")
    assert [log.sub("LOG", note) for note in there["notes"]] == [log.sub("LOG", note) for note in known["notes"]]
    both = told(*logs.values(), *others.values(), "--people", people)["models"]
    assert [model["steps"] for model in both] == [known["steps"]] * 2
    assert len({model["model"] for model in both}) == 2
    joined = [word for model in both for word in ("--name", f"{model['model']}=one")]
    done = personafeedback("chain", *logs.values(), *others.values(), *joined, "--people", people)
    assert done.exit_code != 0
    assert "found a second run of recenter_respond by one (the first: " in " ".join(done.output.split())


def test_a_step_without_labels_is_left_out_with_a_sentence(logs, tmp_path, data):
    some = planted.write_people(tmp_path / "some", PLAN, ("relevance",))
    (model,) = told(*logs.values(), "--people", some)["models"]
    assert set(model["steps"]) == {"selected", "irrelevant"}
    notes = " ".join(model["notes"])
    assert (
        "People judged none of the 96 extracted attributes (no row of extraction.jsonl has the same texts): this step is absent."
        in notes
    )
    assert "Nobody was asked what is missing" in notes
    assert "People judged 768 of the 768 attributes to select from." in notes
    alone = told(logs["recenter_select"], "--people", some)["models"][0]
    assert alone["steps"] == model["steps"]
    assert "No run of recenter_extract: nothing is said of what is extracted." in alone["notes"]


def test_rows_of_the_same_texts_that_differ_are_left_out(logs, people, tmp_path):
    whole = told(*logs.values(), "--people", people)["models"][0]
    folder = planted.write_people(tmp_path / "people", PLAN)
    path = folder / "extraction.jsonl"
    row = json.loads(path.read_text("utf-8").splitlines()[0])
    other = {**row, "id": "other", "votes": ["accepted" if row["votes"][0] == "rejected" else "rejected"]}
    path.write_text(path.read_text("utf-8") + json.dumps(other) + "\n", "utf-8")
    (model,) = told(*logs.values(), "--people", folder)["models"]
    assert model["steps"]["accepted"]["n"] == whole["steps"]["accepted"]["n"] - 1
    assert "1 judgments are left out: rows with the same texts have different ones." in model["notes"]


def test_an_unreadable_selection_selects_nothing_and_is_counted(people):
    run = planted.runs(PLAN)["recenter_select"]
    cases = tuple(replace(case, answers=("invalid_response_format",)) for case in run.cases)
    found = make_funnel("m", {"recenter_select": replace(run, cases=cases)}, read_judgments(str(people)))
    assert found.steps["selected"].value == 0  # there is something to select, and nothing was
    assert "irrelevant" not in found.steps  # of nothing there is no share
    assert "64 of 64 selections could not be read: they select nothing." in found.notes
    assert not math.isnan(found.steps["selected"].high)


def test_an_unreadable_list_of_attributes_extracts_nothing_and_is_counted(people):
    run = planted.runs(PLAN)["recenter_extract"]
    unread = {case.id for case in run.cases[:3]}
    cases = [replace(case, answers=("refusal",)) if case.id in unread else case for case in run.cases]
    made = make_funnel("m", {"recenter_extract": replace(run, cases=tuple(cases))}, read_judgments(str(people)))
    assert "3 of 32 lists of attributes could not be read: nothing is extracted there." in made.notes
    found = [value for value, _ in expected()["found"]]
    lost = sum(PLAN.accepted[name, one] for name in unread for one in PLAN.noted[name])
    assert (made.steps["found"].n, made.steps["found"].value) == (
        len(found),
        pytest.approx((sum(found) - lost) / len(found)),
    )


def test_what_is_counted_has_an_order_of_its_own(people, monkeypatch):
    """That of the users: the last digit of an error depends on it, and sets of texts have another one in every process."""
    seen = []
    monkeypatch.setattr(funnel, "share", lambda values, users, also=None: seen.append(users))
    make_funnel("model", planted.runs(PLAN), read_judgments(str(people)))
    assert len(seen) > 4
    assert all(users == sorted(users) for users in seen)


@pytest.mark.slow
def test_replies_with_a_filter_are_a_row_of_their_own(logs, data, people, tmp_path, monkeypatch):
    """They lack what the filter drops, and come from the same selection."""
    from support.recenter import in_inspect

    def drops(row):
        return len(row.attribute) % 2 == 0

    monkeypatch.setattr(
        filter_folder, "read", lambda path: SimpleNamespace(drops=drops, signature="relevance-filter 1")
    )
    record, options = find("recenter_respond"), {"data": str(data), "selected": str(logs["recenter_select"])}
    plain = record.load(record.options(**options), {})
    filtered = record.load(record.options(relevance_filter="DIR", **options), {})
    kept = {row.id: tuple(one for one in row.attributes if len(one) % 2) for row in plain}
    assert {row.id: row.attributes for row in filtered} == {name: some for name, some in kept.items() if some}
    dropped = sum(len(row.attributes) for row in plain) - sum(map(len, kept.values()))
    assert dropped > 10
    signs = record.signs(filtered, None)
    assert signs["filtered_by"] == f"relevance-filter 1, {dropped} dropped"
    assert signs["without_attributes"] > record.signs(plain, None)["without_attributes"]
    script = planted.script(PLAN, record.name, {row.id: row for row in filtered})
    _, log = in_inspect(record, script, tmp_path, method="respond", relevance_filter="DIR", **options)
    one, other = told(*logs.values(), log, "--people", people)["models"]
    assert other["model"] == f"{one['model']}, filtered"
    assert other["steps"]["selected"] == one["steps"]["selected"]
    assert other["notes"] != one["notes"]  # other replies


def test_a_folder_without_judgments_and_runs_of_other_tasks_are_named(logs, tmp_path, people):
    (tmp_path / "empty").mkdir()
    done = personafeedback("chain", *logs.values(), "--people", tmp_path / "empty")
    assert done.exit_code != 0
    assert "found none of extraction.jsonl, relevance.jsonl, response.jsonl, missing.jsonl" in done.output
    from support.recenter import in_inspect

    _, other = in_inspect(find("recenter_extraction"), lambda case, call: "ACCEPT", tmp_path)
    done = personafeedback("chain", other, "--people", people)
    assert done.exit_code != 0
    assert "Found no run of recenter_extract, recenter_select, recenter_respond, expected one at least." in done.output


def test_a_funnel_of_which_nothing_was_judged_says_so(logs, tmp_path):
    """The sample's people said nothing of these users."""
    done = personafeedback("chain", *logs.values(), "--people", "sample", "--json", tmp_path / "chain.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "chain.json").read_text("utf-8"))["models"][0]["steps"] == {}
    assert done.output.count("this step is absent") == 3


def test_a_chain_on_the_sample_or_a_part_or_few_users_says_so(tmp_path):
    """As a report of its runs does: also in the JSON."""
    from support.inspect_runs import inspect_eval

    from personafeedback_tasks.inspect_harness.tasks import build_task

    task = build_task("recenter_select", "", {"data": "sample", "method": "select"})
    inspect_eval(
        task, model="recenter_select/always_all", limit=3, log_dir=str(tmp_path), display="none", score_display=False
    )
    (model,) = told(tmp_path, "--people", "sample")["models"]
    assert model["notes"][0] == "DEMONSTRATION on the bundled sample: not evidence about any model."
    assert model["notes"][1].startswith("PARTIAL: everyday 3 of 12.")
    assert "Only 3 users: 95 % intervals are rough." in " ".join(model["notes"])
