"""Reward models from end to end: tiny real ones through Inspect's own command, scores against those of one by one."""

from __future__ import annotations

import json
import math
import re
import shutil
import threading
from functools import partial

import pytest

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import anyio
import anyio.to_thread
from inspect_ai import eval_retry
from inspect_ai import score as inspect_score
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from personafeedback_tasks.inspect_tasks.personafeedback_swap import personafeedback_swap
from support import classifiers
from support.inspect_runs import command, inspect_eval
from support.releases import row_of

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.rewards import RewardError
from personafeedback_tasks.inspect_harness.calls import messages
from personafeedback_tasks.inspect_harness.reward_api import RewardModelAPI
from personafeedback_tasks.inspect_harness.scorers import scores
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template as Options
from personafeedback_tasks.personafeedback.prompts import conversation
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.reports import report_text
from personafeedback_tasks.reward_models.classifier import Reward, RewardModel

ASPECTS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")


def texts(cases):
    return [turn["content"] for case in cases for side in TWO.sides for turn in conversation(case, Options(), side)]


@pytest.fixture(scope="session")
def sample():
    return load_cases("sample", "general", "hard")


@pytest.fixture(scope="session")
def five(sample, tmp_path_factory):
    return classifiers.random_classifier(tmp_path_factory.mktemp("five"), texts(sample), outputs=5)


@pytest.fixture(scope="session")
def kept(sample, tmp_path_factory):
    return classifiers.random_classifier(tmp_path_factory.mktemp("one"), texts(sample))


@pytest.fixture
def one(kept, tmp_path):
    """A folder for each test: Inspect keeps the models that others loaded."""
    return shutil.copytree(kept, tmp_path / "one")


def one_by_one(folder, conversations):
    """What the model says of each conversation alone, as a model card would have it."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        ids = [tokenizer.apply_chat_template(turns, return_tensors="pt", return_dict=True) for turns in conversations]
        return [model(**each).logits[0].tolist() for each in ids]


def evaluate(task, folder, tmp_path, **kwargs):
    model = f"personafeedback-reward/{folder}"
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path), score_display=False, **kwargs)
    return log


def hard(**options):
    """The task that most tests run."""
    return tasks.personafeedback_general_hard(**{"data": "sample", "method": "reward", **options})


def metrics(log):
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


@pytest.mark.parametrize(("pad", "outputs"), [(True, 1), (False, 5)])
def test_batched_rewards_are_those_of_one_by_one(pad, outputs, sample, tmp_path):
    folder = classifiers.random_classifier(tmp_path, texts(sample), outputs, pad)
    turns = [conversation(case, Options(setting="no_persona"), side) for case in sample for side in TWO.sides]
    model = RewardModel(str(folder), batch_size=5, aspects=ASPECTS[:outputs] if outputs > 1 else ())
    encoded = [model.encode(conversation, "x") for conversation in turns]
    found = model.score(encoded)
    expected = one_by_one(folder, turns)
    assert len({len(each.ids) for each in encoded}) > 5
    for reward, logits in zip(found, expected, strict=True):
        assert reward.reward == pytest.approx(logits[0], abs=1e-5)
        if outputs > 1:
            assert list(reward.aspects) == list(ASPECTS)
            assert list(reward.aspects.values()) == pytest.approx(logits, abs=1e-5)
    assert len({round(reward.reward, 4) for reward in found}) > 10, "a constant would pass as well"


def longest(cases):
    return [(len(c.chosen) > len(c.rejected)) + 0.5 * (len(c.chosen) == len(c.rejected)) for c in cases]


def test_a_model_that_counts_characters_has_the_accuracy_of_the_judge_longest(real_part, tmp_path):
    cases = load_cases(real_part, "general", "hard")
    folder = classifiers.longest_classifier(tmp_path / "model", texts(cases))
    done = command(
        "personafeedback_tasks/personafeedback_general_hard", "-T", "method=reward", "-M", "batch_size=16",
        "--model", f"personafeedback-reward/{folder}", "--log-dir", tmp_path / "logs",
        PERSONAFEEDBACK_DATA=str(real_part),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (log,) = (tmp_path / "logs").glob("*.eval")
    found = metrics(read_eval_log(str(log)))
    assert found["acc_half"] == pytest.approx(sum(longest(cases)) / len(cases), abs=1e-12)
    assert found["acc"] == pytest.approx(longest(cases).count(1) / len(cases), abs=1e-12)
    assert found["tie"] == longest(cases).count(0.5) / len(cases)


def test_a_tie_is_wrong_and_is_reported_without_measures_of_position(make_release, tmp_path):
    answers = [("longer", "short"), ("even", "tied"), ("no", "rejected"), ("more than", "less")]
    rows = [row_of(user, user, chosen=chosen, reject=rejected) for user, (chosen, rejected) in enumerate(answers)]
    data = make_release({"general/hard": rows}, {str(user): {"Name": f"N{user}"} for user in range(4)})
    cases = load_cases(data, "general", "hard", "any")
    model = classifiers.longest_classifier(tmp_path / "model", texts(cases))
    log = evaluate(hard(data=str(data), counts="any"), model, tmp_path / "logs")
    values = {sample.id: sample.scores["personafeedback_reward"].value for sample in log.samples}
    in_order = [values[f"general_hard:{line}"] for line in (1, 2, 3, 4)]
    assert [(value["acc"], value["acc_half"]) for value in in_order] == [(1, 1), (0, 0.5), (0, 0), (1, 1)]
    assert metrics(log)["tie"] == 0.25
    run = read_run(log.location)
    made = make_report(run, cases)
    measures = made.overall.measures
    assert (measures["acc"].value, measures["tie"].value, measures["acc_half"].value) == (0.5, 0.25, 0.625)
    assert measures["longest"].value == 0.625
    for name in set(run.benchmark.measures) - {"acc", "acc_half", "tie"}:
        assert math.isnan(measures[name].value), name
    assert "both orders" not in made.signature
    assert "persona system turn" in made.signature
    shown = {column.heading: column.texts for table in report_text.tables(made) for column in table.shown}
    assert (shown["ties, wrong in acc (%)"], shown["acc_half, a tie counts half (%)"]) == (("25.0",), ("62.5",))
    assert (
        not {f"{name} (%)" for name in ("acc_both", "consistency", "bias_first", "first_rate", "invalid")}
        & shown.keys()
    )


def test_five_outputs_have_an_accuracy_and_a_correlation_each(five, sample, tmp_path):
    log = evaluate(hard(setting="no_persona"), five, tmp_path, model_args={"aspects": list(ASPECTS)})
    options = Options(setting="no_persona")
    said = {side: one_by_one(five, [conversation(case, options, side) for case in sample]) for side in TWO.sides}
    found = metrics(log)
    keys = ("acc", "acc_half", "tie", *(f"acc_{name}" for name in ASPECTS))
    table = {f"{key}{of}" for key in keys for of in ("", "_stderr")}
    assert set(found) == table | {"accuracy", "stderr"} | {f"pearson_{name}" for name in ("reward", *ASPECTS)}
    for index, name in enumerate(ASPECTS):
        chosen, rejected = ([row[index] for row in said[side]] for side in TWO.sides)
        right = sum(a > b for a, b in zip(chosen, rejected, strict=True)) / len(sample)
        assert found[f"acc_{name}"] == right
        r = torch.corrcoef(torch.tensor([[*chosen, *rejected], [1.0] * len(sample) + [0.0] * len(sample)]))[0, 1]
        assert found[f"pearson_{name}"] == pytest.approx(float(r), abs=1e-4)
    assert found["acc"] == found["acc_helpfulness"]
    assert read_run(log.location).conditions["aspects"] == ",".join(ASPECTS)  # what a card's command repeats
    for each in log.samples:
        (result,) = each.scores["personafeedback_reward"].metadata["results"]
        assert [choice.message.text for choice in each.output.choices] == list(map(repr, result["rewards"]["reward"]))
    again = inspect_score(log, scores("personafeedback", "reward")(), action="overwrite", display="none")
    assert metrics(again) == pytest.approx(found)


def test_concurrent_cases_share_batches_and_the_model_is_loaded_once(one, tmp_path, monkeypatch):
    windows, loads = [], []
    score, load = RewardModel.score, RewardModel.__init__
    monkeypatch.setattr(RewardModel, "score", lambda self, rows: windows.append(len(rows)) or score(self, rows))
    monkeypatch.setattr(RewardModel, "__init__", lambda self, *a, **k: loads.append(a) or load(self, *a, **k))
    log = evaluate(hard(), one, tmp_path)
    assert log.status == "success", log.error
    assert sum(windows) == 16
    assert len(windows) <= 4
    assert len(loads) == 1


def test_rewards_for_length_are_worth_nothing_in_swap(one, tmp_path, monkeypatch):
    """Whoever the user is, the longer of the two responses gets more."""
    monkeypatch.setattr(RewardModel, "score", lambda self, rows: [Reward(float(len(row.ids)), {}) for row in rows])
    task = personafeedback_swap(data="sample", method="reward")
    run = read_run(evaluate(task, one, tmp_path).location)
    assert sorted(run.values("acc").values()) == [0] * 4 + [1] * 4
    made = make_report(run, None)
    assert (made.overall.measures["changed"].value, made.overall.measures["changed"].n) == (0, 4)
    assert "0 of 4 picks changed with the user" in made.verdict


def test_a_batch_that_fails_scores_no_case_and_names_the_way_out(one, tmp_path, monkeypatch):
    def score(self, rows):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(RewardModel, "score", score)
    for sample in evaluate(hard(), one, tmp_path, fail_on_error=False).samples:
        assert not sample.scores
        assert "failed on a batch (RuntimeError: CUDA out of memory)" in sample.error.message
        assert "pass a smaller -M batch_size" in sample.error.message


def test_a_run_that_is_resumed_after_its_branch_moved_names_both_commits(one, tmp_path, monkeypatch):
    before, after, load, encode, loaded = "a" * 40, "b" * 40, RewardModel.__init__, RewardModel.encode, []

    def from_branch(self, *arguments, **options):
        load(self, *arguments, **options)
        self.commit = before
        loaded.append(self)

    def half(self, turns, name):
        if self.commit == before and int(re.search(r":(\d+)", name)[1]) % 2:
            raise RewardError("out of memory")
        return encode(self, turns, name)

    monkeypatch.setattr(RewardModel, "__init__", from_branch)
    monkeypatch.setattr(RewardModel, "encode", half)
    stopped = evaluate(hard(), one, tmp_path / "logs", continue_on_fail=True)
    assert stopped.status == "error"
    for model in loaded:  # a process of its own would load it again
        model.commit = after
    (resumed,) = eval_retry(stopped, log_dir=str(tmp_path / "resumed"), display="none", score_display=False)
    assert resumed.status == "success"
    assert read_run(resumed.location).same["conditions"] == f"dtype=float32, revision={before} and {after}"


def test_a_call_that_is_cancelled_while_it_scores_a_window_leaves_the_others_their_results(one, sample):
    api, replies, scopes = RewardModelAPI(str(one)), {}, {}
    release = threading.Event()

    async def ask(case):
        with anyio.CancelScope() as scopes[case.id]:
            told = messages(PERSONAFEEDBACK, case, Options(method="reward"), "chosen")
            told[-1].metadata = {"case_id": case.id, "call": "chosen"}
            replies[case.id] = await api.generate(told, [], "none", None)

    async def main():
        # The only thread is busy: what was taken off the queue waits for it.
        anyio.to_thread.current_default_thread_limiter().total_tokens = 1
        async with anyio.create_task_group() as group:
            group.start_soon(partial(anyio.to_thread.run_sync, release.wait, abandon_on_cancel=True))
            await anyio.wait_all_tasks_blocked()
            for case in sample[:4]:
                group.start_soon(ask, case)
            while len(scopes) < 4 or api.waiting:
                await anyio.sleep(0.001)
            scopes[sample[0].id].cancel()
            await anyio.wait_all_tasks_blocked()
            release.set()

    try:
        anyio.run(main)
    finally:
        release.set()
    turns = [conversation(case, Options(), "chosen") for case in sample[1:4]]
    for case, (score,) in zip(sample[1:4], one_by_one(one, turns), strict=True):
        assert float(replies[case.id].completion) == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize(("template", "place", "precision"), [
    (classifiers.SYSTEM, "system turn", "float32"), (classifiers.NO_SYSTEM, "before the question", "bfloat16"),
    (classifiers.DROPS_SYSTEM, "before the question", "float32"),
])  # fmt: skip
def test_the_persona_is_a_system_turn_where_the_template_has_one(template, place, precision, sample, tmp_path):
    """The place is logged, and the precision is a condition of the run."""
    folder = classifiers.random_classifier(tmp_path / "model", texts(sample), template=template)
    model = RewardModel(str(folder))
    encoded = model.encode(conversation(sample[0], Options(), "chosen"), "x")
    text = "".join(model.tokenizer.convert_ids_to_tokens(encoded.ids))
    assert encoded.persona == place
    assert text.startswith("<system>" if place == "system turn" else "<user>")
    assert sample[0].persona.text in text
    log = evaluate(hard(), folder, tmp_path, limit=1, model_args={"dtype": precision})
    assert log.samples[0].scores["personafeedback_reward"].metadata["persona"] == place
    assert read_run(log.location).conditions["dtype"] == precision


def test_a_conversation_over_the_length_is_refused(sample, tmp_path):
    folder = classifiers.random_classifier(tmp_path / "model", texts(sample), max_position_embeddings=300)
    with pytest.raises(RewardError, match="^x: found .* tokens, expected at most 300, the context length of"):
        RewardModel(str(folder)).encode(conversation(sample[0], Options(), "chosen"), "x")


def test_a_wrong_pair_of_model_and_method_is_named(one, tmp_path):
    log = evaluate(hard(method="generate"), one, tmp_path)
    assert "scores conversations, got a prompt to reply to. Pass -T method=reward." in log.error.message
    (log,) = inspect_eval(hard(), model="personafeedback/first", log_dir=str(tmp_path))
    assert "method=reward needs a reward model, got personafeedback/first" in log.error.message


def test_a_model_without_the_weights_of_a_classifier_is_refused_instead_of_scored_at_random(one):
    transformers.LlamaForSequenceClassification.from_pretrained(one).model.save_pretrained(one)
    with pytest.raises(RewardError, match=r"found no weights for score.weight \(1 in all\), expected all"):
        RewardModel(str(one))


def test_code_of_a_model_runs_only_when_it_is_asked_for(five, sample, tmp_path):
    shutil.copytree(five, tmp_path, dirs_exist_ok=True)
    (tmp_path / "own.py").write_text(
        "from types import SimpleNamespace\n"
        "from transformers import LlamaForSequenceClassification\n"
        "class Own(LlamaForSequenceClassification):\n"
        "    def forward(self, **inputs):\n"
        "        logits = super().forward(**inputs).logits\n"
        "        return SimpleNamespace(rewards=logits, score=logits.sum(-1), logits=logits)\n",
        encoding="utf-8",
    )
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    # A type that transformers knows: without its own code it would load, and score something else.
    config |= {"auto_map": {"AutoModelForSequenceClassification": "own.Own"}}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(RewardError, match="pass -M trust_remote_code=true"):
        RewardModel(str(tmp_path), aspects=ASPECTS)
    model = RewardModel(str(tmp_path), aspects=ASPECTS, trust_remote_code=True)
    turns = [conversation(sample[0], Options(setting="no_persona"), side) for side in TWO.sides]
    made = model.score([model.encode(one, "x") for one in turns])
    for found, logits in zip(made, one_by_one(five, turns), strict=True):
        assert found.reward == pytest.approx(sum(logits), abs=1e-5)
        assert list(found.aspects.values()) == pytest.approx(logits, abs=1e-5)


def test_names_must_fit_the_outputs(one, five):
    for names, found in (((), r"\(none\)"), (ASPECTS[:4], "helpfulness, correctness"), (("a",) * 5, "a, a, a, a, a")):
        with pytest.raises(RewardError, match=f"found 5 outputs and the names {found}.*expected a name for each"):
            RewardModel(str(five), aspects=names)
    with pytest.raises(RewardError, match="found 1 output and the names a, expected no name for a single one"):
        RewardModel(str(one), aspects=("a",))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": 4}, "-M batch=4 is not an option of personafeedback-reward. Use: batch_size, aspects, trust"),
        ({"batch_size": 0}, "batch_size must be a positive integer, got 0"),
        ({"aspects": "a,,b"}, "aspects must name each output, got 'a,,b'. Names must not be empty"),
        ({"aspects": ["reward", "b"]}, "Names must not be empty or one of reward, stderr, half, .*specific_easy"),
    ],
)
def test_an_argument_that_is_not_known_is_refused(arguments, message):
    with pytest.raises(OptionError, match=message):
        get_model("personafeedback-reward/nowhere", memoize=False, **arguments)


def test_no_chat_template_and_no_model_are_refused(sample, tmp_path):
    folder = classifiers.random_classifier(tmp_path / "model", texts(sample), template=None)
    (folder / "model.safetensors").unlink()  # the weights are not read first
    with pytest.raises(RewardError, match="found no chat template in its tokenizer, expected one"):
        RewardModel(str(folder))
    with pytest.raises(RewardError, match="found OSError while loading it .* expected a model that AutoModelForSeq"):
        RewardModel(str(tmp_path / "nowhere"))
