"""The model card: what it says, what it refuses, and that it keeps what was there, read back with huggingface_hub's own readers."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import replace

import pytest
import yaml

pytest.importorskip("rich")
pytest.importorskip("scipy")

from huggingface_hub import ModelCard, metadata_load
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.repocard_data import model_index_to_eval_results
from support.commands import personafeedback
from support.judges import readable
from support.sample_runs import GOLD, SAMPLE, run_of

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.core.rewards import TOTAL
from personafeedback_tasks.core.window import PromptCheck
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import read_reply
from personafeedback_tasks.personafeedback.cases import CELLS
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION
from personafeedback_tasks.reports import card as cards
from personafeedback_tasks.reports import card_text
from personafeedback_tasks.reports.card import (
    CardError,
    refuse_unpublishable,
    same_model,
    update_card,
    write_eval_results,
)
from personafeedback_tasks.stats.estimates import share

REPORT = find("personafeedback").report
CARD = REPORT.card


def conditions(line):
    """`few-shot=0, dtype=float32` as a log's reader has it."""
    pairs = [part.partition("=")[::2] for part in re.split(r", (?=[\w -]+=)", line)]
    return {name: json.loads(value) if re.fullmatch(r"\d[\d.]*|true|false", value) else value for name, value in pairs}


def update(path, run=None, beside=None, cases=SAMPLE):
    report = REPORTS.get(id(run)) or make_report(run, cases, beside)
    return update_card(run or MOSTLY_RUN, beside or {}, report, cases, path, {})


def half_right(index: int) -> tuple[str, str]:
    """The control that knows nothing, and does not answer by place."""
    return GOLD if index % 2 else GOLD[::-1]


def mostly_right(index):
    return GOLD if index % 4 else ("A", "A")


MOSTLY_RUN = run_of(mostly_right)
MOSTLY_RIGHT = make_report(MOSTLY_RUN, SAMPLE)
ONE_CELL = run_of(mostly_right, cells=["general_hard"])
"""One result instead of nine, where a test is about the rest of the card."""
REPORTS = {id(None): MOSTLY_RIGHT, id(ONE_CELL): make_report(ONE_CELL, SAMPLE)}
"""Of runs that many tests take."""


def refusing(index):
    return GOLD if index % 2 else ("refusal", "refusal")


def is_ours(args):
    return isinstance(args, dict) and "signature" in args


def ours(results):
    return [result for result in results if is_ours(result.metric_args)]


def load(path):
    """As huggingface_hub reads it."""
    return ModelCard(path.read_bytes().decode("utf-8-sig")).data


OTHERS = """\
---
# keep this comment
license: apache-2.0   # and this one
language: [zh, en]
"quoted": 'it''s'
tags:
    - 四个空格
model-index:   # results of other benchmarks
  - name: Model  # the model
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
  - name: Model-Distilled
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
    run, report = MOSTLY_RUN, MOSTLY_RIGHT
    update_card(run, {}, report, SAMPLE, path, {})
    data = load(path)
    assert data.model_name == "acme/model"
    found = {result.dataset_config: result for result in data.eval_results}
    assert list(found) == [*CELLS, "specific", "general", "total"]
    for name, result in found.items():
        group = report.groups[name]
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
        assert (args["asked"], args["method"], args["calls"]) == ("persona", "generate", "both orders")
        assert args["signature"] == report.signature
        assert (result.verified, result.source_url) == (None, None)
    # 48 cases, of which every fourth is picked in one order only: 36 + 12 / 2 of 48.
    assert found["total"].metric_value == 87.5
    assert model_index_to_eval_results(metadata_load(path)["model-index"]) == (
        "acme/model",
        cards.results(run, report, CARD, {}),
    )


def test_the_first_paragraph_says_what_knowing_the_user_costs(tmp_path):
    path = tmp_path / "README.md"
    update_card(MOSTLY_RUN, {}, MOSTLY_RIGHT, SAMPLE, path, {})
    without = path.read_text("utf-8")
    cost = share([1, 0, 0, 0] * 5, [str(number // 2) for number in range(20)])
    update_card(MOSTLY_RUN, {}, MOSTLY_RIGHT, SAMPLE, path, {"yields": cost, "cost on gsm8k": cost})
    (paragraph,) = [line for line in path.read_text("utf-8").splitlines() if "right answers" in line]
    assert "it turns 25.0 % (95 % interval" in paragraph
    assert "; cost on gsm8k of a user's profile in context: +25.0 points (95 % interval +" in paragraph
    assert paragraph.startswith(next(line for line in without.splitlines() if line and line in paragraph))


def test_the_hubs_file_of_results_has_every_group_with_its_error_in_the_notes(tmp_path):
    report = MOSTLY_RIGHT
    path = write_eval_results(MOSTLY_RUN, report, PERSONAFEEDBACK.report.card, tmp_path)
    assert path == tmp_path / ".eval_results" / "personafeedback.yaml"
    entries = yaml.safe_load(path.read_text("utf-8"))
    assert [one["dataset"]["task_id"] for one in entries] == ["personafeedback" if group.name == "total" else f"personafeedback_{group.name}" for group in report.groups.values()]  # fmt: skip
    for one, group in zip(entries, report.groups.values(), strict=True):
        acc = group.measures["acc"]
        assert (one["dataset"]["id"], one["dataset"]["revision"]) == (HUB_ID, HUB_REVISION)
        assert one["value"] == round(100 * acc.value, 2)
        assert f"by {acc.users} users, {acc.n} cases" in one["notes"]


def test_right_minus_wrong_and_the_gain_are_metrics_of_their_own(tmp_path):
    path, run = tmp_path / "card.md", run_of(lambda index: GOLD if index % 5 else ("A", "A"))
    none = run_of(half_right, signature={"setting": "no_persona"})
    other = run_of(lambda index: GOLD if index % 7 else ("A", "A"), signature={"setting": "other_persona"})
    update(path, run, {"no_persona": none, "other_persona": other})
    report = make_report(run, SAMPLE, {"no_persona": none, "other_persona": other})
    found = {(result.dataset_config, result.metric_type): result for result in load(path).eval_results}
    assert len(found) == 9 * 3
    for group in report.groups.values():
        for kind, control in (("right_minus_wrong", other), ("persona_gain", none)):
            difference = group.measures[kind]
            result = found[group.name, kind]
            assert result.metric_name == f"{kind.replace('_', ' ')} (both orders), points"
            assert result.metric_value == round(100 * difference.value, 2)
            assert result.metric_args["interval_95"] == [
                round(100 * difference.low, 2),
                round(100 * difference.high, 2),
            ]
            assert f"setting {control.signature.options['setting']}" in result.metric_args["control"]
            assert (result.metric_args["asked"], result.metric_args["cases"]) == ("persona", group.cases)
    assert update(path, run, {"no_persona": none, "other_persona": other}).startswith(f"{path}: nothing to change.")
    update(path, run)  # without the controls they are gone, and nothing is there twice
    assert [result.metric_type for result in load(path).eval_results] == ["accuracy"] * 9


@pytest.mark.parametrize("cells", [CELLS, CELLS[-1:]])
def test_a_card_is_short_outside_of_what_it_folds_away(cells, tmp_path):
    """With every cell, both controls, refusals and a ceiling: the longest there is."""
    controls = {
        setting: run_of(signature={"setting": setting}, cells=cells) for setting in ("no_persona", "other_persona")
    }
    run = run_of(lambda index: ("refusal", "A") if index % 9 == 0 else GOLD, cells=cells)
    report = with_ceiling(run, controls, specific=0.9996, general=0.957, total=0.98)
    text = card_text.section(run, report, SAMPLE, CARD, dict.fromkeys(controls, "signed"), {})
    outside, _, folded = text.partition("<details>")
    assert len(outside.split()) <= 350, len(outside.split())
    assert outside.count("| :-- |") == 1
    assert "(contradictory labels): general 95.7" in outside
    assert "setting=persona," in folded


# --- an existing card keeps all that it had --------------------------------------------------------------------------


def without_ours(content):
    """The metadata without our results, and the text without our section."""
    block = REGEX_YAML_BLOCK.search(content)
    metadata = yaml.safe_load(f"{block[2]}\n") or {} if block else {}
    for model in metadata.get("model-index") or []:
        for result in model["results"]:
            result["metrics"] = [one for one in result["metrics"] if not is_ours(one.get("args"))]
        model["results"] = [result for result in model["results"] if result["metrics"]]
    body = content[block.end() :] if block else content
    return metadata, re.sub(r"<!-- personafeedback: begin.*end persona -->", "", body, flags=re.DOTALL).rstrip()


THEIRS = "task: {type: t}\n    dataset: {type: d, name: D}\n    metrics: [{type: acc, value: 1.0}]\n"


def index_of(results):
    return f"model-index:\n- name: model\n  results:\n{results}"


FRONTS = [
    "model_name: Model\nlicense: mit\ntags:\n- trl\n- trl\n",  # ModelCardData drops the name and one of the tags
    "tags: one\n",  # makes a list of it
    "date: 2024-01-01\nat: 2024-01-01 10:00:00\nlr: 1e-5\nvalue: 64.50\nexp: 1.0e+3\ninference: False\n",
    "widget:\n- text: |\n    a block\n    # no comment\n- text: >-\n    folded\n    twice\n",
    "nested:\n  nothing: null\n  list: [null, ~, []]\n  map: {}\n",
    "a: &a {'1': x, 1: y}\nb: {deep: &b {<<: *a, 1: z}}\nc: {<<: *b, '1': w, =: v}\n",  # no key is there twice
    index_of("  - " + THEIRS + "    verified: true\n    more: |\n      a block\n"),
    index_of("  - " + THEIRS + "    source: {url: 'https://a.example', name: A}\n  - " + THEIRS + "    source: {url: 'https://b.example', name: B}\n"),
    index_of("  - " + THEIRS + "- name: another\n  results:\n  - " + THEIRS),
    "model-index:\n- name: model\n  results: [] # none yet\n",
]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "old", ["# Title", "a\n---\nb\n---\nc\n", OTHERS, *(f"---\n{front}---\ntext\n" for front in FRONTS)]
)
def test_all_metadata_and_text_of_others_stay_and_doing_it_again_changes_nothing(old, newline, tmp_path):
    path = tmp_path / "README.md"
    path.write_bytes(old.replace("\n", newline).encode())
    said = update(path, ONE_CELL)
    first = path.read_bytes()
    assert said.startswith(f"{path}: updated. Nothing was uploaded.")
    assert (first.count(b"\r\n") == first.count(b"\n")) == (newline == "\r\n" and "\n" in old)
    (metadata, body), (kept, kept_body) = map(without_ours, (old, first.decode().replace("\r\n", "\n")))
    if not metadata.get("model-index"):
        (model,) = kept.pop("model-index")
        assert model == {"name": metadata.get("model_name", "acme/model"), "results": []}
    assert (kept, kept_body) == (metadata, body)
    assert len(ours(load(path).eval_results)) == 1
    stamp = path.stat().st_mtime_ns
    assert update(path, ONE_CELL).startswith(f"{path}: nothing to change.")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (first, stamp)


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
def test_a_card_that_huggingface_hub_saved_in_between_gets_no_number_twice(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(
        "---\nmodel-index:\n- name: model\n  results:\n  - task:\n      type: multiple-choice\n    dataset:\n"
        f"      type: {HUB_ID}\n      name: PersonaFeedback\n      config: general_hard\n      split: test\n"
        f"      revision: {HUB_REVISION}\n    metrics:\n    - type: accuracy\n      value: 61\n      name: theirs\n---\n",
        encoding="utf-8",
    )
    update(path)
    ModelCard.load(path).save(path)  # joins theirs and ours, which are about the same data
    assert 2 in [len(result["metrics"]) for result in metadata_load(path)["model-index"][0]["results"]]
    update(path, run_of())
    results = load(path).eval_results
    assert [r.metric_value for r in results if r not in ours(results)] == [61]
    assert [r.metric_value for r in ours(results)] == [100] * 9


def test_each_setting_and_method_has_its_own_numbers_and_its_own_section(tmp_path):
    path = tmp_path / "README.md"
    variants = {
        "": {"setting": "persona"},
        " (no_persona, mc)": {"setting": "no_persona", "method": "mc"},
        " (prompt v2, without Name)": {"prompt": "v2", "fingerprint": "v2-0123456789ab", "hide": ["Name"]},
    }
    for variant in [*variants.values()] * 2:
        update(path, run_of(signature=variant, cells=["general_hard"], acc_sym=1.0))
    accs = [one.metric_name for one in ours(load(path).eval_results) if one.metric_name.startswith("acc ")]
    assert accs == [f"acc (both orders), %{heading}" for heading in variants]
    text = path.read_text(encoding="utf-8")
    assert all(text.count(f"\n## PersonaFeedback{heading}\n") == 1 for heading in variants)


def test_the_name_is_the_cards_own_or_the_runs(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("---\nmodel_name: Acme Model\n---\n", encoding="utf-8")
    update(path, run_of(model="acme-model"))
    assert metadata_load(path)["model-index"][0]["name"] == "Acme Model"
    update(tmp_path / "new.md", run_of(model="hf//home/someone/checkpoints/step-100/"))
    text = (tmp_path / "new.md").read_text(encoding="utf-8")
    assert text.startswith("---\nmodel-index:\n- name: step-100\n")
    assert "\n# step-100\n" in text


BEGIN, END = (f"<!-- personafeedback: {side} persona -->" for side in ("begin", "end"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("\xff\xfe".encode("latin-1"), "found a file that cannot be read .*, expected text in UTF-8"),
        (BEGIN.encode(), "found 1 `<!-- .* 0 `<!-- .*, expected one of each"),
        (f"{END}\n{BEGIN}".encode(), "in this order"),
        (b"---\nlicense: [\n---\n", "found metadata that cannot be read"),
        (b"---\njust words\n---\n", "found metadata that cannot be read"),
        (b"---\na: !!python/object:os.system x\n---\n", "found metadata that cannot be read"),
        (b"---\nlicense: mit\nlicense: gpl\n---\n", "line 3 has the key 'license' again, keep one"),
        (b"---\na: [{on: 1, 'b': 2, yes: 3}]\n---\n", "line 2 has the key 'yes' again"),
    ],
)
def test_a_card_that_cannot_be_changed_without_a_loss_is_left_alone(content, sentence, tmp_path):
    path = tmp_path / "README.md"
    path.write_bytes(content)
    with pytest.raises(CardError, match=sentence):
        update(path, ONE_CELL)
    assert path.read_bytes() == content


# --- the section -----------------------------------------------------------------------------------------------------


def test_the_section_has_every_number_with_its_interval_and_names_what_was_not_measured(tmp_path):
    path = tmp_path / "README.md"
    run = run_of(refusing)
    report = make_report(run, SAMPLE)
    refuse_unpublishable(run, report)  # refusals are an answer of the model
    update_card(run, {}, report, SAMPLE, path, {})
    text = path.read_text(encoding="utf-8")
    acc = report.overall.measures["acc"]
    for part in (
        f"| total | 48 | **50.0** | {100 * acc.low:.1f}–{100 * acc.high:.1f} |",
        "48 of 96, 50.0 % (refusal 48).",
        "Not measured: right minus wrong, persona gain.",
        "`method=generate, setting=persona, chat template=applied",
        f"Signature: `{report.signature}`",
    ):
        assert part in text, part
    assert "Label ceiling" not in text  # the sample's labels do not contradict each other


def with_ceiling(run, controls, **ceiling):
    texts = REPORT.examine(SAMPLE, run.cases)
    return make_report(run, SAMPLE, controls, texts=replace(texts, ceiling=ceiling))


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
        assert text.splitlines().count(marker) == 1
        assert text.endswith(f"{marker}\n")
        assert "\n# no heading" not in text


REWARD = {"method": "reward", "fingerprint": "conversations-0123456789ab"}

# --- other ways of asking --------------------------------------------------------------------------------------------


def reward_run(**kwargs):
    run = run_of(signature=REWARD, **kwargs)
    results = []
    for index, result in enumerate(run.results):
        values, rewards = {"acc": float(index % 4 > 0), "tie": 0.0}, {TOTAL: (float(index % 4), 0.5)}
        results.append(replace(result, answers=(), targets=(), values=values, rewards=rewards))
    return replace(run, results=results)


def test_a_reward_model_has_no_orders(tmp_path):
    update(tmp_path / "README.md", reward_run())
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "one response at a time" in text
    assert "orders" not in text
    assert "| total | 48 | **75.0** |" in text


# --- another model ---------------------------------------------------------------------------------------------------


def run_named(model, harness="inspect-ai 0.3.285", **kwargs):
    return run_of(model=model, harness=harness, **kwargs)


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("openai-api/local/Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct", True),
        ("vllm/Qwen/Qwen2.5-7B-Instruct", "hf/qwen/qwen2.5-7b-instruct", True),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct", True),
        ("alice/Llama-3-8B", "meta-llama/Llama-3-8B", False),
        ("hf/alice/Llama-3-8B", "hf/meta-llama/Llama-3-8B", False),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B", False),
        ("acme/model-b", "model", False),
        ("", "acme/model", False),
    ],
)
def test_names_are_of_one_model_if_they_end_in_the_same_owner_and_model(name, other, same):
    assert same_model(name, other) == same_model(other, name) == same


def test_a_card_of_another_model_is_an_error_that_names_both(tmp_path):
    path, run = tmp_path / "README.md", run_named("Qwen/Qwen2.5-7B-Instruct", cells=["general_hard"])
    name = "Qwen/Qwen2.5-72B-Instruct"
    for front in (f"model-index:\n- name: '{name}'\n  results:\n  - {THEIRS}", f"model_name: '{name}'\n"):
        content = f"---\n{front}---\ntext\n"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(CardError, match=f"found the card of {name}, expected that of Qwen/Qwen2.5-7B-Instruct,"):
            update(path, run)
        assert path.read_text(encoding="utf-8") == content


# --- what should not be published ------------------------------------------------------------------------------------


def unreadable(share):
    """Replies of which that many in a hundred are unreadable, spread over the 8 cases of a cell."""
    return lambda index: ("no_response", "truncated") if index < 8 * share else GOLD


def unfinished(run):
    """Without the last case of General hard."""
    last = max(case_id for case_id, row in run.cases.items() if row.cell == "general_hard")
    return run.part(run.cases.keys() - {last})


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (run_of(signature={"demonstration": True}), "DEMONSTRATION on the bundled sample"),
        (unfinished(run_of()), r"PARTIAL: general_hard 7 of 8\."),
        (run_of(prompts=PromptCheck(16, 3, 2048)), "PROMPTS CUT: 3 prompts did not fit"),
        (run_of(lambda index: ("prompt_cut", "A") if index == 1 else GOLD), "PROMPTS CUT: 1 prompts did not fit"),
        (run_of(signature={"counts": "any"}), r"The number of cases in the data was not checked \(counts=any\)"),
        (
            run_of(unreadable(1 / 8), cells=["general_hard"]),
            r" 12.5 % of the replies are unreadable \(no_response 6.2 %, truncated 6.2 %\)",
        ),
    ],
)  # fmt: skip
def test_a_run_that_nobody_should_publish_is_refused_with_the_reason(run, sentence, tmp_path):
    with pytest.raises(CardError, match=sentence) as refused:
        update(tmp_path / "README.md", run)
    assert str(refused.value).startswith(f"{run.logs[0]}: found a run that should not be in a model card, expected ")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("control", "value"), [("unreadable", "no_persona"), ("partial", "other_persona")])
def test_a_gain_over_a_control_that_did_not_answer_is_refused(control, value, tmp_path):
    """A control's empty replies count as wrong: the whole score would seem to be the persona's gain."""
    setting = {"setting": value}
    other = run_of(lambda index: ("no_response",) * 2 if control == "unreadable" else GOLD, signature=setting)
    if control == "partial":
        other = replace(other, results=other.results[:5])
    with pytest.raises(CardError, match=f"control {value}"):
        update(tmp_path / "README.md", run_of(), {value: other})
    assert os.listdir(tmp_path) == []


def test_without_the_data_there_are_no_baselines_and_so_no_card(tmp_path):
    run = run_of()
    report = make_report(run, None, no_data="There is no folder 'gone'.")
    with pytest.raises(CardError, match="There is no folder 'gone'. So there are no baselines .*Pass --data."):
        update_card(run, {}, report, None, tmp_path / "README.md", {})
    assert os.listdir(tmp_path) == []


# --- from a log --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_card_has_the_numbers_of_a_log_under_the_name_that_the_user_gives(harness, part_log, real_part, tmp_path):
    log = part_log(harness, "readable", "personafeedback_general_hard")
    run, path = read_run(log), tmp_path / "README.md"
    done = personafeedback("card", log, "--data", real_part, "--model-card", path, "--name", f"{run.model}=lab/mid-a")
    assert done.exit_code == 0, done.output
    data, text = load(path), path.read_text(encoding="utf-8")
    (result,) = data.eval_results
    read = [
        sum(read_reply(readable(case_id, order)) == TWO.right[order] for order in TWO.names) / 2
        for case_id in run.cases
    ]
    assert (result.dataset_config, result.metric_args["cases"]) == ("general_hard", 40)
    assert result.metric_value == round(100 * math.fsum(read) / len(read), 2)
    assert data.model_name == "lab/mid-a"
    assert "# lab/mid-a" in text
    assert "Language of the data, in cases: Chinese 40." in text
    assert str(real_part) not in text
    assert run.model not in text
