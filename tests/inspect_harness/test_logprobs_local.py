"""Method `logprobs` on Inspect's own `hf/` provider: what is logged is what torch computes from the logits."""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")  # hf/ needs it

from inspect_ai import eval as inspect_eval
from personafeedback_tasks.inspect_tasks import personafeedback as tasks

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases

LETTER_OF = {"A": "A", "a": "A", "B": "B", "b": "B"}


@pytest.fixture
def torn_model(tiny_model, tmp_path):
    """The tiny model, torn between the letters: whatever it reads, two of these four tokens are the likeliest."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_model)
    torch.manual_seed(1)
    direction = torch.randn(model.config.hidden_size)
    with torch.no_grad():
        for token, factor in (("A", 1.0), ("b", 0.9), ("B", -1.0), ("a", -0.9)):
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(token)] = factor * direction
    model.save_pretrained(tmp_path / "torn")
    tokenizer.save_pretrained(tmp_path / "torn")
    return tmp_path / "torn"


def by_hand(folder, cases):
    """Case id -> (probability of A, of B) per order, from the logits after the prompt."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    letters = [LETTER_OF.get(tokenizer.decode([i]).strip()) for i in range(len(tokenizer))]
    found = {}
    for case in cases:
        for order in TWO.names:
            message = {"role": "user", "content": prompts.build(case, prompts.Template(), order)}
            text = tokenizer.apply_chat_template([message], add_generation_prompt=True, tokenize=False)
            with torch.inference_mode():
                logits = model(**tokenizer(text, return_tensors="pt")).logits[0, -1]
            shares = torch.softmax(logits.double(), dim=-1).tolist()
            sums = [math.fsum(p for p, name in zip(shares, letters, strict=True) if name == letter) for letter in "AB"]
            found.setdefault(case.id, []).append(tuple(sums))
    return found


def test_hf(torn_model, tmp_path):
    (log,) = inspect_eval(
        tasks.personafeedback_general_hard(data="sample", method="logprobs"), model="hf/torn",
        model_args={"model_path": str(torn_model), "device": "cpu", "do_sample": False},
        log_dir=str(tmp_path / "logs"), display="none", score_display=False, max_connections=4,
    )  # fmt: skip
    assert log.status == "success", log.error
    cases = load_cases("sample", "general", "hard")
    expected = by_hand(torn_model, cases)
    values = {}
    for case in cases:
        (a, b), (other_a, other_b) = expected[case.id]
        values[case.id] = (a / (a + b) + other_b / (other_a + other_b)) / 2
    for sample in log.samples:
        score = sample.scores["personafeedback_logprobs"]
        (a, b), (other_a, other_b) = expected[sample.id]
        # 20 of the 2,000 tokens are listed: a third spelling of a letter may be missing, and is improbable.
        assert list(score.metadata["p_letters"].values()) == pytest.approx([a + b, other_a + other_b], abs=1e-3)
        assert score.answer == f"{'AB'[b > a]}, {'AB'[other_b > other_a]}"
        assert score.value["p_chosen"] == pytest.approx(values[sample.id], abs=1e-4)
        assert score.value["acc_sym"] == float(a * other_b > b * other_a)
    assert len(set(values.values())) == len(cases), "the model tells the cases apart"
    report = make_report(read_run(log.location), cases)
    mean = sum(values.values()) / len(values)
    assert report.overall.measures["p_chosen"].value == pytest.approx(mean, abs=1e-4)
