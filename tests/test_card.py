"""The model card: what it says, what it refuses, and that it keeps what was there, read back with huggingface_hub's own readers."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

pytest.importorskip("rich")
pytest.importorskip("scipy")

from huggingface_hub import ModelCard, metadata_load
from huggingface_hub.repocard_data import model_index_to_eval_results

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.cli.run_data import RunData
from personafeedback_tasks.cli.runs import report_of
from personafeedback_tasks.engine.answered import CaseAnswers
from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.personafeedback.cases import CELLS, CaseSet, load_cases
from personafeedback_tasks.personafeedback.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION
from personafeedback_tasks.personafeedback.scoring import as_dict, score_answers
from personafeedback_tasks.reports import card as cards
from personafeedback_tasks.reports import card_text
from personafeedback_tasks.reports.card import update_card
from personafeedback_tasks.reports.card_command import command
from personafeedback_tasks.reports.card_file import CardError
from personafeedback_tasks.reports.report import make_report
from personafeedback_tasks.reports.tables import interval, percent
from personafeedback_tasks.runs.read import read_run
from personafeedback_tasks.runs.run import Run, RunError, needed

GOLD = tuple(CHOSEN_LETTER[order] for order in ORDERS)
SAMPLE = load_cases("sample")
CARD = find("personafeedback").report.card


def conditions(line):
    """`few-shot=0, dtype=float32` as a log's reader has it."""
    pairs = [part.partition("=")[::2] for part in re.split(r", (?=[\w -]+=)", line)]
    return {name: json.loads(value) if re.fullmatch(r"\d[\d.]*|true|false", value) else value for name, value in pairs}


def answered(case, answers):
    """The same case with other answers."""
    return replace(case, answers=(answers,), values=(as_dict(score_answers(answers)),))


def run_of(answer=lambda index: GOLD, cells=CELLS, signature=(), acc_sym=None, **kwargs):
    """A whole run, on the texts of the sample, that says it was asked on the release."""
    cases = [case for case in SAMPLE if case.cell in cells]
    found = {}
    for i, c in enumerate(cases):
        values = as_dict(score_answers(answer(i))) | ({} if acc_sym is None else {"acc_sym": acc_sym})
        found[c.id] = CaseAnswers(c.id, c.cell, c.user_id, c.digest, GOLD, (answer(i),), (values,))
    signed = {
        "package": "0.1.0", "benchmark": "personafeedback", "task_version": TASK_VERSION, "setting": "persona", "method": "generate", "prompt": "v1", "fingerprint": "v1-0123456789ab",
        "source": f"{HUB_ID}@{HUB_REVISION}", "counts": "checked", "data": SAMPLE.digest, "demonstration": False, "language": "auto", "hide": [], "k": 5, "rag_filter": False, "memory": None, **dict(signature),
    }  # fmt: skip
    run = {
        "model": "acme/model", "harness": "lm-eval 0.4.13", "date": "2026-11-21T12:00:00+00:00", "signature": signed,
        "conditions": {"chat template": "applied", "few-shot": 0, "max_gen_toks": 1024}, "cells": {cell: 8 for cell in cells if cell in CELLS},
        "cases": found, "logs": (Path("results/acme__model/results_2026.json"),),
    }  # fmt: skip
    return Run(**{**run, **kwargs})


def update(path, run=None, beside=None, cases=SAMPLE):
    report = make_report(run, cases, beside) if run or beside else MOSTLY_RIGHT
    return update_card(report, cases, path)


def mostly_right(index):
    return GOLD if index % 4 else ("A", "A")


MOSTLY_RIGHT = make_report(run_of(mostly_right), SAMPLE)


def refusing(index):
    return GOLD if index % 2 else ("refusal", "refusal")


def ours(results):
    return [result for result in results if isinstance(result.metric_args, dict) and "asked" in result.metric_args]


def load(path):
    """As huggingface_hub reads it."""
    return ModelCard.load(path).data


def lost(old, new):
    """The lines of `old` that do not stand in `new` in their order."""
    rest = iter(new)
    return [line for line in old if line not in rest]  # `in` goes on where the last one was found


OTHERS = """\
---
# keep this comment
license: apache-2.0   # and this one
language: [zh, en]
"quoted": 'it''s'
tags:
    - 四个空格
model-index:   # results of other benchmarks
  - name: Acme  # the model
    results:
      - task: {type: text-generation, name: Text Generation}
        dataset:
          type: cais/mmlu
          name: "MMLU"
        metrics:
          - type: acc
            value: 64.50   # not 64.5
        source: {url: 'https://example.org', name: Somebody}
      # somebody else's number on the same data
      - task:
          type: text-generation
        dataset:
          type: PersonalAILab/PersonaFeedback
          name: PersonaFeedback
          config: general_hard
          split: test
        metrics:
        - {type: accuracy, value: 0.61, name: theirs}
  - name: Acme-Distilled
    results:
      - task:
          type: text-generation
        dataset: {type: gsm8k, name: GSM8K}
        metrics: [{type: acc, value: 50}]
widget:
  - text: |
      a block

base_model: acme/base
---
# Acme

Text with trailing spaces  \t
<!-- a comment of the author -->
"""


# --- model-index -----------------------------------------------------------------------------------------------------


def test_every_group_is_read_back_with_its_value_in_per_cent_and_its_interval(tmp_path):
    path = tmp_path / "README.md"
    report = make_report(run_of(mostly_right), SAMPLE)
    update_card(report, SAMPLE, path)
    data = load(path)
    assert data.model_name == "acme/model"
    found = {result.dataset_config: result for result in data.eval_results}
    assert list(found) == [*CELLS, "specific", "general", "total"]
    for name, result in found.items():
        group = report.by_name[name]
        acc = group.measures["acc"]
        assert (result.task_type, result.dataset_type, result.dataset_name) == (
            "multiple-choice",
            HUB_ID,
            "PersonaFeedback",
        )
        assert (result.dataset_split, result.dataset_revision) == ("test", HUB_REVISION)
        assert (result.metric_type, result.metric_name) == ("accuracy", "acc (both orders), %")
        assert result.metric_value == round(100 * acc.value, 2)
        args = result.metric_args
        assert args["interval_95"] == [round(100 * acc.low, 2), round(100 * acc.high, 2)]
        assert (args["stderr"], args["cases"], args["users"]) == (round(100 * acc.stderr, 2), group.cases, acc.users)
        assert (args["setting"], args["method"], args["calls"]) == ("persona", "generate", "both orders")
        assert args["signature"] == report.signature
        assert (result.verified, result.source_url) == (None, None)
    # 48 cases, of which every fourth is picked in one order only: 36 + 12 / 2 of 48.
    assert found["total"].metric_value == 87.5
    assert model_index_to_eval_results(metadata_load(path)["model-index"]) == (
        "acme/model",
        cards.results(report, CARD),
    )


def test_log_likelihoods_add_acc_sym(tmp_path):
    update(tmp_path / "card.md", run_of(mostly_right, signature={"method": "mc"}, acc_sym=1.0))
    names = [result.metric_name for result in load(tmp_path / "card.md").eval_results]
    assert names == ["acc (both orders), % (mc)", "acc_sym (both orders), % (mc)"] * 9
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "| total | **87.5** | " in text
    assert " | **100.0** | 90.8–100.0 | 48 |" in text  # 0.025 ** (1.25 / 48): 8 users with 6 cases


def test_one_user_has_no_interval_rather_than_a_wrong_one(tmp_path):
    (cell,) = {CELLS[-1]}
    user = next(case.user_id for case in SAMPLE if case.cell == cell)
    run = run_of(cells=[cell])
    rows = {id_: row for id_, row in run.cases.items() if row.user_id == user}
    theirs = replace(SAMPLE, cases=tuple(case for case in SAMPLE if case.id in rows))
    update(tmp_path / "card.md", replace(run, cases=rows, cells={cell: len(rows)}), cases=theirs)
    (result,) = load(tmp_path / "card.md").eval_results
    assert not {"interval_95", "stderr"} & result.metric_args.keys()
    assert ".nan" not in (tmp_path / "card.md").read_text(encoding="utf-8")


def test_only_a_commit_of_the_dataset_itself_is_its_revision(tmp_path):
    for source, revision in (
        (f"{HUB_ID}@{'0' * 40}", "0" * 40),
        (f"someone/copy@{'0' * 40}", None),
        ("/home/someone/data", None),
    ):
        path = tmp_path / f"{revision}{len(source)}.md"
        update(path, run_of(signature={"source": source}))
        assert {result.dataset_revision for result in load(path).eval_results} == {revision}


# --- an existing card keeps all that it had --------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_line_of_an_existing_card_stays_byte_for_byte(newline, mark, tmp_path):
    path = tmp_path / "README.md"
    old = mark + OTHERS.replace("\n", newline)
    path.write_bytes(old.encode())
    update(path)
    new = path.read_bytes().decode()
    assert lost(old.splitlines(keepends=True), new.splitlines(keepends=True)) == []
    assert new.startswith(old[: old.index("  - name: Acme-Distilled")])
    assert (new.count("\r\n") == new.count("\n")) == (newline == "\r\n")
    results = load(path).eval_results
    assert len(ours(results)) == 9
    assert [(r.dataset_name, r.metric_value) for r in results if r not in ours(results)] == [
        ("MMLU", 64.5), ("PersonaFeedback", 0.61), ("GSM8K", 50)
    ]  # fmt: skip
    assert metadata_load(path)["model-index"][0]["name"] == "Acme"
    assert len(metadata_load(path)["model-index"][0]["results"]) == 2 + 9


def test_what_model_card_save_would_have_lost_is_why_the_text_is_edited(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(OTHERS, encoding="utf-8")
    ModelCard.load(path).save(path)
    saved = path.read_text(encoding="utf-8")
    assert "# keep this comment" not in saved
    assert "name: Acme\n" not in saved, "it joined the two models under the name of the last"


@pytest.mark.parametrize("old", [None, "", "---\nlicense: mit\n---", "# Title", "---\n\n---\ntext\n", OTHERS])
def test_doing_it_again_changes_nothing_and_says_so(old, tmp_path):
    path = tmp_path / "README.md"
    if old is not None:
        path.write_text(old, encoding="utf-8")
    said = update(path)
    first = path.read_bytes()
    stamp = path.stat().st_mtime_ns
    again = update(path)
    assert path.read_bytes() == first
    assert path.stat().st_mtime_ns == stamp, "it was written although nothing had changed"
    assert said[0] == f"{path}: " + ("created." if old is None else "updated; everything else unchanged.")
    assert again[0] == f"{path}: nothing to change."
    assert len(ours(load(path).eval_results)) == 9


def test_later_numbers_take_the_place_of_earlier_ones(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(OTHERS + "\nThe end.\n", encoding="utf-8")
    update(path, run_of(mostly_right))
    between = path.read_text(encoding="utf-8") + "\nAdded by hand below.\n"
    path.write_text(between, encoding="utf-8")
    update(path, run_of(cells=CELLS[:2]))
    found = ours(load(path).eval_results)
    assert [(r.dataset_config, r.metric_value) for r in found] == [
        (CELLS[0], 100), (CELLS[1], 100), ("specific", 100)
    ]  # fmt: skip
    text = path.read_text(encoding="utf-8")
    assert text.count("## PersonaFeedback") == 1
    assert text.endswith("end persona -->\n\nAdded by hand below.\n")
    update(path, run_of(mostly_right))
    assert path.read_text(encoding="utf-8") == between


@pytest.mark.slow
def test_each_setting_and_method_has_its_own_numbers_and_its_own_section(tmp_path):
    path = tmp_path / "README.md"
    variants = [
        {"setting": setting, "method": method} for setting in ("persona", "no_persona") for method in ("generate", "mc")
    ]
    variants += [
        {"prompt": "v2", "fingerprint": "v2-0123456789ab", "language": "en", "hide": ["Name", "Preference.Travel"]}
    ]
    for variant in variants * 2:
        update(path, run_of(signature=variant))
    headings = [
        "",
        " (mc)",
        " (no_persona)",
        " (no_persona, mc)",
        " (prompt v2, language en, without Name, without Preference.Travel)",
    ]
    found = ours(load(path).eval_results)
    assert [r.metric_name for r in found[::9]] == [f"acc (both orders), %{heading}" for heading in headings]
    assert len(found) == 9 * 5
    text = path.read_text(encoding="utf-8")
    assert "was shown the user's persona without Name, Preference.Travel, the user's question" in text
    for heading in headings:
        assert text.count(f"\n## PersonaFeedback{heading}\n") == 1


def test_a_card_that_huggingface_hub_saved_in_between_gets_no_number_twice(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(
        "---\nmodel-index:\n- name: Acme\n  results:\n  - task:\n      type: multiple-choice\n    dataset:\n"
        f"      type: {HUB_ID}\n      name: PersonaFeedback\n      config: general_hard\n      split: test\n"
        f"      revision: {HUB_REVISION}\n    metrics:\n    - type: accuracy\n      value: 61\n      name: theirs\n---\n",
        encoding="utf-8",
    )
    update(path, run_of(mostly_right))
    ModelCard.load(path).save(path)  # joins theirs and ours, which are about the same data
    assert [len(result["metrics"]) for result in metadata_load(path)["model-index"][0]["results"]].count(2) == 1
    update(path, run_of())
    results = load(path).eval_results
    assert [r.metric_value for r in results if r not in ours(results)] == [61]
    assert [r.metric_value for r in ours(results)] == [100] * 9
    before = path.read_bytes()
    update(path, run_of())
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("index", "filled"),
    [
        ("model-index:\n- name: Acme\n  results: [] # none yet", "model-index:\n- name: Acme\n  results: # none yet\n  - task:\n"),
        ("model-index:\n- results: []\n  name: Acme", "model-index:\n- results:\n  - task:\n"),
        ("model-index: []", "model-index:\n- name: acme/model\n"),
        ("model-index:", "model-index:\n- name: acme/model\n"),
        ("model-index: null # none yet", "model-index: # none yet\n- name: acme/model\n"),
    ],
)  # fmt: skip
def test_an_empty_list_is_filled_below_the_line_of_its_key(index, filled, tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"---\nlicense: mit # kept\n{index}\nbase_model: acme/base # kept\n---\ntext\n", encoding="utf-8")
    assert not load(path).eval_results
    update(path)
    results = load(path).eval_results
    assert len(results) == len(ours(results)) == 9
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"---\nlicense: mit # kept\n{filled}")
    assert "\nbase_model: acme/base # kept\n---\ntext\n" in text
    assert ("\n  name: Acme\nbase_model" in text) == index.endswith("name: Acme")
    update(path)
    assert path.read_text(encoding="utf-8") == text


RESULT = "task: {type: t}\n    dataset: {type: d, name: D}\n    metrics: [{type: acc, value: 1.0}]\n"


@pytest.mark.parametrize(
    "results",
    [
        # The cards of many speech models: trailing spaces, and lists that are indented unequally.
        "  - task: \n      type: asr\n    dataset:\n      type: cv \n      name: Common Voice pa \n"
        "    metrics:\n       - name: Test WER\n         type: wer\n         value: 58.06\n         \n",
        "  -\n    " + RESULT + "   # the end of the list\n\n# of the next key\n",
        "  - " + RESULT + "    more: |\n      a block\n      # no comment\n\n",
        '  - "task": {type: "\\u4e2d"}\n    dataset: {type: d,\n      name: D}\n    metrics: [{type: acc, value: 1e3, name: a\n     b}]\n',
        "  - &x\n    " + RESULT + "  - *x\n  - " + RESULT,
        "  - " + RESULT.replace(" D}", ' "D\u2028\u0085"}'),
    ],
    ids=["speech", "a dash alone", "a block at the end", "escapes and wrapped lines", "aliases", "other line breaks"],
)
def test_a_list_of_any_style_keeps_every_line_around_ours(results, tmp_path):
    path = tmp_path / "README.md"
    front = f"---\nmodel-index:\n- name: Acme\n  results:\n{results}license: mit\n"
    path.write_text(f"{front}---\ntext\n", encoding="utf-8")
    theirs = load(path).eval_results
    update(path)
    new = path.read_text(encoding="utf-8").split("---\ntext\n")[0]
    begin = new.index("  - task:\n      type: multiple-choice\n")
    assert new[:begin] == front[:begin]
    assert new.endswith(front[begin:])
    found = load(path).eval_results
    assert (found[: len(theirs)], len(ours(found[len(theirs) :]))) == (theirs, 9)


def test_comments_and_results_that_somebody_adds_around_ours_stay(tmp_path):
    path = tmp_path / "README.md"
    update(path)
    text = path.read_text(encoding="utf-8")
    first, last = "  - task:\n      type: multiple-choice\n", "\n---\n"
    above, below = "  # before ours\n", f"\n  # after ours\n  - {RESULT}  # the end"
    between = text.replace(first, above + first, 1).replace(last, below + last, 1)
    path.write_text(between, encoding="utf-8")
    assert update(path)[0] == f"{path}: nothing to change."
    update(path, run_of(cells=CELLS[:1]))
    fewer = path.read_text(encoding="utf-8")
    assert above + first in fewer
    assert below + last in fewer
    assert [r.dataset_name for r in load(path).eval_results] == ["PersonaFeedback", "D"]
    update(path)
    assert path.read_text(encoding="utf-8") == between


def test_the_name_is_the_cards_own_or_the_runs(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("---\nmodel_name: Acme One\n---\n", encoding="utf-8")
    update(path)
    assert metadata_load(path)["model-index"][0]["name"] == "Acme One"
    update(tmp_path / "new.md", run_of(model="hf//home/someone/checkpoints/step-100/"))
    assert (tmp_path / "new.md").read_text(encoding="utf-8").startswith("---\nmodel-index:\n- name: step-100\n")
    assert "\n# step-100\n" in (tmp_path / "new.md").read_text(encoding="utf-8")


def test_a_link_stays_a_link_and_a_mode_a_mode_and_nothing_else_is_left(tmp_path):
    target = tmp_path / "blobs" / "real.md"
    target.parent.mkdir()
    target.write_text("# Title\n", encoding="utf-8")
    target.chmod(0o640)
    link = tmp_path / "README.md"
    link.symlink_to(target)
    update(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert "## PersonaFeedback" in target.read_text(encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["README.md", "blobs"]
    assert os.listdir(target.parent) == ["real.md"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"---\nlicense: [\n---\n", "found metadata that huggingface_hub cannot read .*, expected a valid card between"),
        (b"---\nmodel-index: [{name: x}]\n---\n", "found metadata that huggingface_hub cannot read"),
        (b"---\njust words\n---\n", r"cannot read \(repo card metadata block should be a dict\)"),
        (b"---\n{license: mit}\n---\n", "`model-index` that cannot be edited without changing other metadata"),
        *(
            (f"---\nmodel-index: {index}---\n".encode(), r"expected one key or list item per line .*, without \[...\], {...} or &anchors around")
            for index in (
                "[{name: Acme, results: [{task: {type: t}, dataset: {type: d, name: D}, metrics: []}]}] # a comment\n",
                f"\n- name: Acme\n  results: &theirs\n  - {RESULT}",
                f"\n- &theirs\n  results:\n  - {RESULT}  name: A\n- name: acme/model\n  <<: *theirs\n",
            )
        ),
        (b"\xff\xfe", "found a file that cannot be read .*, expected text in UTF-8"),
        (b"<!-- personafeedback: begin persona -->", "found 1 `<!-- .* 0 `<!-- .*, expected one of each"),
        (b"<!-- personafeedback: end persona --><!-- personafeedback: begin persona -->", "in this order"),
    ],
)  # fmt: skip
def test_a_card_that_cannot_be_changed_without_a_loss_is_left_alone(content, sentence, tmp_path):
    path = tmp_path / "README.md"
    path.write_bytes(content)
    with pytest.raises(CardError, match=sentence):
        update(path)
    assert path.read_bytes() == content
    with pytest.raises(CardError, match="found a file that cannot be read"):
        update(tmp_path)


# --- any card --------------------------------------------------------------------------------------------------------

_words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
_scalars = st.one_of(_words, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=True), st.dates())
_values = st.recursive(
    _scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_words, inner, max_size=3)), max_leaves=5
)  # fmt: skip
_keys = st.sampled_from(["license", "base_model", "widget", "co2", "extra_gated", "pipeline_tag", "inference"])
_results = st.fixed_dictionaries(
    {
        "task": st.fixed_dictionaries({"type": _words}, optional={"name": _words}),
        "dataset": st.fixed_dictionaries(
            {"type": st.sampled_from([HUB_ID, "cais/mmlu"]), "name": _words},
            optional={"config": _words, "args": _values},
        ),
        "metrics": st.lists(
            st.fixed_dictionaries({"type": _words, "value": _scalars}, optional={"args": _values, "name": _words}),
            max_size=3,
        ),
    }
)
_index = st.lists(
    st.fixed_dictionaries({"name": st.text("abc", min_size=1), "results": st.lists(_results, max_size=3)}), max_size=2
)


@st.composite
def fronts(draw):
    """The lines of some front matter: keys in any order, comments and blank lines between them, several styles."""
    data = draw(st.dictionaries(_keys, _values, max_size=4))
    if draw(st.booleans()):
        data["model-index"] = draw(_index)
    lines = []
    for key, value in draw(st.permutations(list(data.items()))):
        lines += draw(st.lists(st.sampled_from(["", "# 注释 a comment", "  # indented"]), max_size=2))
        flow = (
            draw(st.sampled_from([False, None])) if isinstance(value, (list, dict)) else False
        )  # None: innermost parts
        style = {"default_flow_style": flow, "indent": draw(st.sampled_from([2, 4]))}
        text = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=draw(st.booleans()), **style)
        lines += text.split("\n")[:-1]
        if draw(st.booleans()):
            lines += [f"{key}_block: |", "    a block # no comment", "     indented"]
    return lines


@pytest.mark.slow
@given(
    front=st.none() | fronts(),
    body=st.lists(st.sampled_from(["# 标题", "", "text  ", "---", "```", "| a | b |", "\tx"]), max_size=6),
    newline=st.sampled_from(["\n", "\r\n"]),
    ends=st.booleans(),
)
@example(front=["description: |", "  the last block"], body=[], newline="\n", ends=False)
@example(front=[], body=["---"], newline="\n", ends=True)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_card_has_it_keeps_and_twice_is_once(front, body, newline, ends, tmp_path_factory):
    path = tmp_path_factory.mktemp("card") / "README.md"
    block = [] if front is None else ["---", *front, "---"]
    old = newline.join([*block, *body]) + newline * ends
    path.write_bytes(old.encode())
    try:
        before = ModelCard.load(path)
    except (ValueError, TypeError, AttributeError, yaml.YAMLError):
        with pytest.raises(CardError, match="cannot read"):
            update(path)
        assert path.read_bytes() == old.encode()
        return
    update(path)
    new = path.read_bytes().decode()
    after = ModelCard.load(path)
    theirs = [r for r in after.data.eval_results if r not in ours(after.data.eval_results)]
    assert repr(theirs) == repr(before.data.eval_results or [])
    assert len(ours(after.data.eval_results)) == 9
    # Outside model-index nothing changes, not even in how it is written.
    for key, value in before.data.to_dict().items():
        if key != "model-index":
            assert str(after.data.to_dict()[key]).rstrip("\n") == str(value).rstrip("\n"), key
    filled = ("model-index: []", "results: []")  # an empty list gets items below its line
    kept = [line for line in old.splitlines(keepends=True) if line.strip() and not line.rstrip().endswith(filled)]
    own = newline if newline in old else "\n"
    kept[-1:] = [line.rstrip("\r\n") + own for line in kept[-1:]]  # a last line without an end gets one
    assert lost(kept, [line for line in new.splitlines(keepends=True) if line.strip()]) == []
    assert new[new.index("<!--") :].count("<!--") == 2
    assert before.text in after.text
    update(path)
    assert path.read_bytes().decode() == new


# --- the section -----------------------------------------------------------------------------------------------------


def test_the_section_says_what_was_measured_and_every_limit_with_its_figure(tmp_path):
    path = tmp_path / "README.md"
    run = run_of(refusing)
    report = make_report(run, SAMPLE)
    update_card(report, SAMPLE, path)
    text = path.read_text(encoding="utf-8")
    group = report.overall
    for part in (
        "`acme/model` was shown the user's whole persona, the user's question and both responses, in both orders",
        "and its choice was read from its reply",
        "|  | acc | 95 % interval | cases | users | baseline: longest | persona gain |",
        f"| total | **50.0** | {100 * group.measures['acc'].low:.1f}–{100 * group.measures['acc'].high:.1f} | 48 |",
        "| 50.0 | not measured |",
        "Of 96 replies 48 were refusals and 0 otherwise unreadable (none).",
        "to recognize a personalized reply, not to write one",
        "synthetic and mostly Chinese",
        "The labels come from nine annotators in the user's place, not from the users themselves: Easy sets the response that "
        "most of them chose against a generic or unfitting one, Medium and Hard are pairs decided by their majority.",
        f"over all cells of the data (contradictory labels): specific {100 * report.ceiling['specific']:.1f} %, general {100 * report.ceiling['general']:.1f} %, "
        f"total {100 * report.ceiling['total']:.1f} % (from the audit)",
        "Always picking the longer response reaches 50.0 % on these cases",
        "public since 2025; whether the model was trained on them was not checked",
        "Language of the data, in cases: " + ", ".join(
            f"{ {'zh': 'Chinese', 'en': 'English'}[code]} {count}" for code, count in SAMPLE.languages.most_common()
        ),
        "The prompt (v1-0123456789ab) is that of personafeedback-tasks, not the authors'",
        "Persona gain (acc minus that of the same model without the persona): not measured.",
        "\nlm_eval run --include_path \"$(personafeedback task-configs)\" --model TYPE --model_args pretrained=acme/model --tasks personafeedback --apply_chat_template --log_samples",
        f"Signature: `{report.signature}`",
    ):  # fmt: skip
        assert part in text, part


def test_only_the_cases_of_the_run_count_for_its_languages_and_ceilings(tmp_path):
    run = run_of(cells=["general_hard"])
    text = card_text.section(make_report(run, SAMPLE), SAMPLE, CARD)
    found = text[text.index("What these numbers do not show") : text.index("To run it again")]
    asked = CaseSet(tuple(case for case in SAMPLE if case.cell == "general_hard"), SAMPLE.release, "any")
    assert sum(asked.languages.values()) == 8
    for code, count in asked.languages.items():
        assert f"{ {'zh': 'Chinese', 'en': 'English'}[code] } {count}" in found
    assert "over all cells of the data (contradictory labels): general" in found
    assert "specific" not in found


def test_the_persona_gain_stands_with_its_interval_and_its_control(tmp_path):
    control = run_of(lambda index: ("A", "A"), signature={"setting": "no_persona", "source": "/home/someone/data"})
    update(tmp_path / "card.md", run_of(), {"no_persona": control})
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "| persona gain | 95 % interval |" in text
    assert (
        "Persona gain (acc minus that of the same model without the persona): +50.0 points, 95 % interval +50.0 to +50.0."
        in text
    )
    assert "Control no_persona: `personafeedback-tasks 0.1.0" in text
    assert "someone" not in text


def test_a_card_written_again_without_the_control_says_that_the_gain_is_gone(tmp_path):
    card, control = tmp_path / "card.md", run_of(lambda index: ("A", "A"), signature={"setting": "no_persona"})
    said = "The persona gain that the section had is gone: it belongs to both runs. To keep it, pass --no-persona RUN."
    other = run_of(signature={"prompt": "v2"})
    for run, against, gone in (
        (run_of(), None, False), (run_of(), control, False), (run_of(), control, False), (other, None, False),
        (run_of(), None, True), (run_of(), None, False),
    ):  # fmt: skip
        assert (said in update(card, run, {"no_persona": against} if against else {})) == gone
    assert "points, 95 % interval" not in card.read_text(encoding="utf-8")


def test_the_section_splits_what_the_persona_is_worth(tmp_path):
    none = run_of(lambda index: ("B", "A"), signature={"setting": "no_persona", "source": "/home/someone/data"})
    other = run_of(
        lambda index: GOLD if index % 4 else ("A", "A"),
        signature={"setting": "other_persona", "others": "0123456789ab"},
    )
    update(tmp_path / "card.md", run_of(), {"no_persona": none, "other_persona": other})
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "Right minus wrong is persona - other_persona: what knowing this person is worth." in text
    assert "Wrong minus none is other_persona - no_persona: what any persona text at all is worth." in text
    assert "|  | cases | right minus wrong | 95 % interval | wrong minus none | 95 % interval |" in text
    sheet = make_report(run_of(), SAMPLE, {"no_persona": none, "other_persona": other}).sheet
    assert [column.name for column in sheet.columns] == [*CELLS, "specific", "general", "total", "macro"]
    for column in sheet.columns:
        row = [column.name.replace("_", " "), f"{column.cases}"]
        for gap in (column.differences[name] for name in ("persona - other_persona", "other_persona - no_persona")):
            row += [f"**{percent(gap.value, sign=True)}**", interval(gap, sign=True)]
        assert f"| {' | '.join(row)} |" in text
    total = {name: gap.value for name, gap in sheet.columns[-2].differences.items()}
    assert total["persona - other_persona"] == 0.125
    assert total["other_persona - no_persona"] == 0.875
    assert "Persona gain (acc minus that of the same model without the persona): +100.0 points" in text
    assert "Control no_persona: `personafeedback-tasks 0.1.0" in text
    assert "Control other_persona: `personafeedback-tasks 0.1.0" in text
    assert "setting other_persona" in text
    assert "others 0123456789ab" in text
    assert "someone" not in text


def test_without_the_control_the_section_says_no_more_than_right_minus_wrong(tmp_path):
    other = run_of(lambda index: ("A", "A"), signature={"setting": "other_persona"})
    update(tmp_path / "card.md", run_of(), {"other_persona": other})
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "|  | cases | right minus wrong | 95 % interval |\n" in text
    assert "wrong minus none" not in text.lower()
    assert "Persona gain (acc minus that of the same model without the persona): not measured." in text


def test_no_folder_of_this_machine_and_no_markup_of_others_gets_into_a_card(tmp_path):
    marker = "<!-- personafeedback: end persona -->"
    run = run_of(
        model="/home/someone/secret project/model", signature={"source": "/home/someone/data"},
        conditions=conditions(f"chat template=applied, peft=/home/someone/adapters/lora, system instruction=Say ``` `A`\n\n{marker}\n# no heading"),
    )  # fmt: skip
    for _ in range(2):
        update(tmp_path / "README.md", run)
        text = (tmp_path / "README.md").read_text(encoding="utf-8")
        assert "/home" not in text
        assert "data a local copy | sha256" in text
        assert "peft=lora" in text
        assert text.count(marker) == 1
        assert text.endswith(f"{marker}\n")
        assert "\n# no heading" not in text
        assert f"# FOLDER: with the data of the run (sha256 {SAMPLE.digest})\n" in text
        assert "PERSONAFEEDBACK_DATA=FOLDER lm_eval run" in text


REWARD = {"method": "reward", "fingerprint": "conversations-0123456789ab"}

INSPECT = {
    "harness": "inspect-ai 0.3.285",
    "model": "openai/gpt-4o",
    "logs": (Path("logs/a.eval"), Path("logs/b.eval")),
}


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (run_of(), "lm_eval run {OURS} --model TYPE --model_args pretrained=acme/model --tasks personafeedback --apply_chat_template --log_samples --output_path results"),
        (
            run_of(cells=["specific_hard", "general_hard"], signature={"method": "mc", "setting": "no_persona"}, conditions=conditions("chat template=not applied, few-shot=0")),
            "lm_eval run {OURS} --model TYPE --model_args pretrained=acme/model --tasks personafeedback_hard_mc --metadata '{\"setting\": \"no_persona\"}' --log_samples --output_path results",
        ),
        (
            run_of(cells=["general_easy", "general_hard"], conditions=conditions("chat template=applied, few-shot=0, max_gen_toks=16384, temperature=0.0")),
            "lm_eval run {OURS} --model TYPE --model_args pretrained=acme/model --tasks personafeedback_general_easy,personafeedback_general_hard --apply_chat_template --gen_kwargs max_gen_toks=16384 --log_samples --output_path results",
        ),
        (
            run_of(**INSPECT, signature={"method": "cot", "prompt": "v2", "hide": ["Name", "Bias"]}, conditions=conditions("max_tokens=1024")),
            "inspect eval personafeedback_tasks/personafeedback --model openai/gpt-4o --max-tokens 1024 -T prompt=v2 -T hide=Name,Bias -T method=cot",
        ),
        (run_of(**INSPECT, signature={"method": "cot"}, conditions=conditions("max_tokens=4096")), "inspect eval personafeedback_tasks/personafeedback --model openai/gpt-4o -T method=cot"),
        (
            run_of(**INSPECT, signature={"setting": "rag", "k": 3, "rag_filter": True}, conditions=conditions("max_tokens=1024")),
            "inspect eval personafeedback_tasks/personafeedback --model openai/gpt-4o -T setting=rag -T k=3 -T rag_filter=true",
        ),
        (
            run_of(signature={"setting": "rag", "k": 3}, loaded=("local-chat-completions", "model")),
            "lm_eval run {OURS} --model local-chat-completions --model_args model=acme/model --tasks personafeedback --apply_chat_template --metadata '{\"setting\": \"rag\", \"k\": 3}' --log_samples --output_path results",
        ),
        (
            run_of(**{**INSPECT, "model": "personafeedback-reward/acme/model"}, signature=REWARD, conditions=conditions("aspects=helpfulness,correctness, max_connections=8, truncate=true")),
            "inspect eval personafeedback_tasks/personafeedback --model personafeedback-reward/acme/model -T method=reward -M aspects=helpfulness,correctness -M truncate=true",
        ),
        (
            run_of(**{**INSPECT, "model": "personafeedback-reward/acme/model"}, signature=REWARD, conditions=conditions(f"dtype=float32, revision={'c' * 40}, trust_remote_code=true")),
            f"inspect eval personafeedback_tasks/personafeedback --model personafeedback-reward/acme/model -T method=reward -M trust_remote_code=true -M revision={'c' * 40}",
        ),
        *(
            (
                run_of(**{**INSPECT, "model": "personafeedback-reward/acme/model"}, signature=REWARD, conditions={"dtype": "float32", "revision": revision}),
                "inspect eval personafeedback_tasks/personafeedback --model personafeedback-reward/acme/model -T method=reward",
            )
            for revision in ("local", ["c" * 40, "d" * 40])
        ),
        (run_of(**INSPECT, conditions=conditions("max_tokens=1024, temperature=0.0")), "inspect eval personafeedback_tasks/personafeedback --model openai/gpt-4o"),
        (
            run_of(**INSPECT, cells=["general_hard"], signature={"setting": "no_persona", "source": f"someone/copy@{'0' * 40}"}, conditions=conditions("epochs=3, max_tokens=16384")),
            f"inspect eval personafeedback_tasks/personafeedback_general_hard --model openai/gpt-4o --max-tokens 16384 --epochs 3 -T setting=no_persona -T data=someone/copy@{'0' * 40}",
        ),
    ],
)  # fmt: skip
def test_the_command_asks_the_same_again(run, expected):
    assert command(run, CARD) == expected.replace("{OURS}", '--include_path "$(personafeedback task-configs)"')


SERVED = {"loaded": ("local-completions", "model"), "model": "judge"}


@pytest.mark.parametrize(
    ("run", "comment", "words"),
    [
        (run_of(**SERVED, needed=needed({"base_url": "http://me:secret@gpu-17:8000/v1/completions", "api_key": "secret"})), "# URL: the server's full address, such as http://localhost:8000/v1/completions; it may be private and is not published", "model=judge,base_url=URL"),
        (run_of(**SERVED, needed=needed({"base_url": "https://secret@openrouter.ai/api/v1/completions", "tokenized_requests": False})), None, "model=judge,base_url=https://openrouter.ai/api/v1/completions,tokenized_requests=false"),
        (run_of(**SERVED, needed=needed({"base_url": "https://openrouter.ai.secret.example/v1"})), "# URL: ", "base_url=URL"),
        (run_of(**SERVED, needed=needed({"base_url": "https://openrouter.ai/api/v1?key=secret"})), "# URL: ", "base_url=URL"),
        (run_of(**SERVED, needed=needed({"tokenizer": "/home/secret/tokenizer"})), "# The model or its tokenizer is in a local folder: ", "model=judge,tokenizer=tokenizer"),
        (run_of(conditions={"dtype": "bfloat16", "revision": "main"}), None, "pretrained=acme/model,revision=main,dtype=bfloat16"),
        (run_of(conditions={"chat_template_args": {"enable_thinking": False}}), None, '{"pretrained": "acme/model", "chat_template_args": {"enable_thinking": false}}'),
        (run_of(**{**INSPECT, "model": "openai-api/acme/judge"}, needed=needed({"base_url": "http://10.0.0.1/secret"})), "# URL: the server's base address, such as http://localhost:8000/v1; it may be private and is not published", "--model openai-api/acme/judge --model-base-url URL"),
        (run_of(**{**INSPECT, "model": "personafeedback-reward//home/secret/model"}, signature=REWARD), "# The model or its tokenizer is in a local folder: ", "--model personafeedback-reward/model "),
        (run_of(**{**INSPECT, "model": "hf/local"}, needed=needed({"model_path": "/home/secret/model"})), "# The model or its tokenizer is in a local folder: ", "--model hf/local -M model_path=model"),
    ],
)  # fmt: skip
def test_the_command_reaches_the_same_model_and_publishes_no_address_key_or_folder(run, comment, words):
    *comments, line = command(run, CARD).split("\n")
    assert [found.startswith(comment) for found in comments] == [True] * (comment is not None)
    assert words in line
    assert "secret" not in command(run, CARD)


# --- other ways of asking --------------------------------------------------------------------------------------------


def reward_run(**kwargs):
    run = run_of(signature=REWARD, **kwargs)
    rows = {
        id_: replace(row, answers=(), targets=(), values=({"acc": float(index % 4 > 0), "tie": 0.0},))
        for index, (id_, row) in enumerate(run.cases.items())
    }
    return replace(run, cases=rows)


def test_a_reward_model_has_no_orders(tmp_path):
    update(tmp_path / "README.md", reward_run())
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "both responses" in text
    assert "both orders" not in text
    assert "orders:" not in text
    assert "was shown the user's whole persona, the user's question and one response at a time" in text
    assert "Of 48 replies" not in text
    assert "| total | **75.0** |" in text


@pytest.mark.parametrize(
    ("signature", "shown"),
    [
        ({"hide": ["Name"]}, "the user's persona without Name"),
        ({"setting": "no_persona", "hide": ["Name"]}, "nothing about the user (the control)"),
        ({"setting": "rag", "rag_filter": True, "hide": ["Name"]}, "the setting rag without Name"),
    ],
)
def test_the_section_says_what_the_model_was_shown(signature, shown, tmp_path):
    text = card_text.section(make_report(run_of(signature=signature), SAMPLE), SAMPLE, CARD)
    assert f"was shown {shown}, the user's question" in text


def test_runs_that_differ_in_k_alone_stand_beside_each_other(tmp_path):
    for k in (3, 5, 3):
        update(tmp_path / "README.md", run_of(signature={"setting": "rag", "k": k}))
    assert sorted({r.metric_name for r in ours(load(tmp_path / "README.md").eval_results)}) == [
        "acc (both orders), % (rag)", "acc (both orders), % (rag, k=3)",
    ]  # fmt: skip


# --- what to run next ------------------------------------------------------------------------------------------------


def test_it_says_what_to_run_and_that_nothing_was_uploaded(tmp_path):
    path = tmp_path / "my card.md"
    assert update(path)[1:] == [
        "Nothing was uploaded. To open a pull request on the Hub:",
        f"    hf upload OWNER/MODEL '{path}' README.md --create-pr",
    ]


@pytest.mark.slow
def test_the_options_of_hf_upload_exist():
    done = subprocess.run(
        [Path(sys.executable).with_name("hf"), "upload", "--help"],
        env={**os.environ, "COLUMNS": "200", "HF_HUB_OFFLINE": "1"}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "--create-pr" in done.stdout


# --- what should not be published ------------------------------------------------------------------------------------


def unreadable(share):
    """Replies of which that many in a hundred are unreadable, spread over the 8 cases of a cell."""
    return lambda index: ("no_response", "truncated") if index < 8 * share else GOLD


def unfinished(run):
    """Without the last case of General hard."""
    last = max(case_id for case_id, row in run.cases.items() if row.cell == "general_hard")
    return replace(run, cases={case_id: row for case_id, row in run.cases.items() if case_id != last})


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (run_of(signature={"demonstration": True}), "found a run on the bundled sample, expected the benchmark's data."),
        (unfinished(run_of()), r"found a partial run \(general_hard 7 of 8 cases\)"),
        (run_of(signature={"counts": "any"}), r"found data whose number of cases was not checked \(counts=any\), expected the whole release"),
        (
            run_of(unreadable(1 / 8), cells=["general_hard"]),
            r"found 12.5 % unreadable replies in general_hard \(no_response 1, truncated 1; refusals not counted\), expected at most 10.0 %",
        ),
    ],
)  # fmt: skip
def test_a_run_that_nobody_should_publish_is_refused_with_the_reason(run, sentence, tmp_path):
    with pytest.raises(CardError, match=sentence) as refused:
        update(tmp_path / "README.md", run)
    assert str(refused.value).startswith(f"{run.logs[0]}: ")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("value", ["no_persona", "other_persona"])
@pytest.mark.parametrize("control", ["unreadable", "partial"])
def test_a_gain_over_a_control_that_did_not_answer_is_refused(control, value, tmp_path):
    """A control's empty replies count as wrong: the whole score would seem to be the persona's gain."""
    setting = {"setting": value}
    if control == "unreadable":
        other, said = (
            run_of(lambda index: ("no_response", "no_response"), signature=setting),
            f"100.0 % of the replies of the control {value}",
        )
    else:
        other = run_of(signature=setting)
        other, said = replace(other, cases=dict(list(other.cases.items())[:5])), f"PARTIAL control {value}: "
        assert any(said in note for note in make_report(run_of(), SAMPLE, {value: other}).caveats)
    with pytest.raises(CardError, match=r"found a control that is partial or has (100|0)\.0 % unreadable") as refused:
        update(tmp_path / "README.md", run_of(), {value: other})
    assert str(refused.value).endswith(f"or leave --{value.replace('_', '-')} out.")
    assert os.listdir(tmp_path) == []


def test_one_bad_cell_is_not_hidden_by_the_good_ones(tmp_path):
    bad = {case.id for case in SAMPLE if case.cell == "general_hard"}
    run = run_of()
    rows = {id_: answered(row, ("no_response", "A")) if id_ in bad else row for id_, row in run.cases.items()}
    with pytest.raises(CardError, match="found 50.0 % unreadable replies in general_hard"):
        update(tmp_path / "README.md", replace(run, cases=rows))


def test_exactly_ten_per_cent_and_any_number_of_refusals_pass(tmp_path):
    answers = ["no_response"] * 8 + ["A"] * 72  # of 80 replies
    users = [f"u{index}" for index in range(40)]
    report = make_report(run_of(refusing), SAMPLE)
    cards.refuse_unpublishable(report, SAMPLE)
    group = replace(report.overall, replies=len(answers), reasons={"no_response": 8, "refusal": 40}, cases=len(users))
    cards.refuse_unpublishable(replace(report, groups=(group,)), SAMPLE)
    with pytest.raises(CardError, match="expected at most 10.0 %"):
        cards.refuse_unpublishable(replace(report, groups=(replace(group, reasons={"no_response": 9}),)), SAMPLE)


def test_without_the_data_there_are_no_baselines_and_so_no_card(tmp_path):
    report = make_report(run_of(), None, no_cases="There is no folder 'gone'.")
    with pytest.raises(
        CardError, match="found no data for this run, expected the texts.*There is no folder 'gone'.*Pass --data."
    ):
        update_card(report, None, tmp_path / "README.md")
    assert os.listdir(tmp_path) == []


# --- from the logs of both harnesses ---------------------------------------------------------------------------------


def polite(case_id, order):
    """Mostly right; 15 % refusals, 3 % empty replies."""
    number = int(hashlib.sha256(f"{case_id} {order}".encode()).hexdigest(), 16) % 100
    return (
        "I cannot help with that."
        if number < 15
        else ""
        if number < 18
        else "A"
        if number < 30
        else CHOSEN_LETTER[order]
    )


@pytest.fixture(scope="module")
def logs(real_data, tmp_path_factory):
    """The same replies, logged by both harnesses: a whole cell of the release."""
    pytest.importorskip("lm_eval")
    pytest.importorskip("inspect_ai")
    from support import judges
    from support.logs import inspect_log, lm_eval_log

    judges.JUDGES["polite"] = polite
    folder, task = tmp_path_factory.mktemp("logs"), "personafeedback_general_hard"
    return {
        "lm-eval": lm_eval_log(folder / "lm", "polite", task, real_data),
        "no_persona": lm_eval_log(folder / "np", "silent", task, real_data, metadata={"setting": "no_persona"}),
        "inspect": inspect_log(folder / "inspect", "polite", task, real_data),
    }


def test_both_harnesses_give_the_same_card(logs, real_data, tmp_path):
    cases = load_cases(real_data, "general")
    found = {}
    for harness in ("lm-eval", "inspect"):
        path = tmp_path / f"{harness}.md"
        report = make_report(read_run(logs[harness]), cases)
        update_card(report, cases, path)
        (result,) = load(path).eval_results
        args = {name: value for name, value in result.metric_args.items() if name != "signature"}
        found[harness] = (result.dataset_config, result.metric_value, args)
        text = path.read_text(encoding="utf-8")
        assert "Of 2,020 replies 293 were refusals and 54 otherwise unreadable (no_response 54)." in text
        assert "Language of the data, in cases: Chinese 1,010." in text
        assert str(real_data) not in text
    assert found["lm-eval"] == found["inspect"]
    # The answers were written down above: right in both orders, in one or in none.
    right = [sum(polite(c.id, o) == CHOSEN_LETTER[o] for o in ORDERS) / 2 for c in cases if c.cell == "general_hard"]
    longer = [
        (len(c.chosen) > len(c.rejected)) + (len(c.chosen) == len(c.rejected)) / 2
        for c in cases
        if c.cell == "general_hard"
    ]
    name, acc, args = found["inspect"]
    assert (name, args["cases"]) == ("general_hard", 1010)
    assert acc == round(100 * math.fsum(right) / 1010, 2)
    assert args["baseline_longest"] == round(100 * math.fsum(longer) / 1010, 2)


def test_the_papers_row_goes_under_its_line_and_nowhere_else(logs, real_data, tmp_path):
    from support.commands import personafeedback

    with_row, without = tmp_path / "with.md", tmp_path / "without.md"
    for card, option in ((with_row, ("--paper", "GPT-4o-mini")), (without, ())):
        done = personafeedback("card", logs["inspect"], "--data", real_data, "--model-card", card, *option)
        assert done.exit_code == 0, done.output
    new, old = (card.read_text(encoding="utf-8") for card in (with_row, without))
    before, header, after = new.partition("| GPT-4o-mini, Table 3 |")
    assert header
    assert "| general hard | 68.8 |" in after
    assert "Not comparable with the run: we found neither the authors' prompt nor" in before
    assert "GPT-4o" not in old
    assert lost(old.splitlines(), new.splitlines()) == []
    assert load(with_row) == load(without)  # the metadata have our numbers alone


def test_real_runs_that_nobody_should_publish(logs, real_data, tmp_path):
    from support.logs import inspect_log, lm_eval_log

    task = "personafeedback_general_hard"
    for log, sentence in (
        (lm_eval_log(tmp_path / "limit", "gold", task, real_data, limit=8), r"found a partial run \(general_hard 8 of 1,010 cases\)"),
        (inspect_log(tmp_path / "sample", "gold", task, "sample"), "found a run on the bundled sample"),
        (logs["no_persona"], r"found 100.0 % unreadable replies in general_hard \(no_response 2,020; refusals not counted\)"),
    ):  # fmt: skip
        run = read_run(log)
        with pytest.raises(CardError, match=sentence):
            update_card(
                report_of(run, RunData(None)), load_cases(run.signature["source"], "general"), tmp_path / "README.md"
            )
    with pytest.raises(RunError, match="found no samples in it"):
        read_run(lm_eval_log(tmp_path / "bare", "gold", task, real_data, samples=False))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for name in ("lm-eval", "no_persona"):
        (mixed / name).symlink_to(logs[name].parent)
        for file in logs[name].parent.iterdir():
            (mixed / file.name).write_bytes(file.read_bytes())
    with pytest.raises(RunError, match=r"found 2 runs \(.*no_persona.*\), expected one"):
        read_run(mixed)
    assert not (tmp_path / "README.md").exists()
