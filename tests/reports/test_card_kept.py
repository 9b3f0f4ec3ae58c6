"""A card that is there: all that others wrote stays, earlier numbers are replaced, and what would be lost is refused."""

from __future__ import annotations

import re

import pytest
import yaml
from huggingface_hub import ModelCard, metadata_load
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from support.cards import ONE_CELL, is_ours, load, mostly_right, ours, update
from support.sample_runs import run_of

from personafeedback_tasks.personafeedback.cases import CELLS
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION
from personafeedback_tasks.reports.card_file import CardError, CardFile, same_model

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


def test_numbers_on_other_data_stay(tmp_path):
    path = tmp_path / "README.md"
    update(path, ONE_CELL)
    path.write_text(path.read_text("utf-8").replace(HUB_ID, "acme/questions"), "utf-8")
    update(path, ONE_CELL)
    assert [one.dataset_type for one in ours(load(path).eval_results)] == ["acme/questions", HUB_ID]


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


# --- another model ---------------------------------------------------------------------------------------------------


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
    path, run = tmp_path / "README.md", run_of(model="Qwen/Qwen2.5-7B-Instruct", cells=["general_hard"])
    name = "Qwen/Qwen2.5-72B-Instruct"
    for front in (f"model-index:\n- name: '{name}'\n  results:\n  - {THEIRS}", f"model_name: '{name}'\n"):
        content = f"---\n{front}---\ntext\n"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(CardError) as refused:
            CardFile(path, run.name)  # before there is a report
        assert f"{refused.value}".startswith(
            f"{path}: found the card of {name}, expected that of {run.name}, the model"
        )
        assert path.read_text(encoding="utf-8") == content
