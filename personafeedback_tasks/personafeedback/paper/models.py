"""The models of the paper (Tables 3, 6 and 8), and the commands that run them here.

Hub ids are those of Table 8 where it has one. Which models are retired is from the providers' lists as of November 2026. How a
reward model loads is from its model card, its code and RewardBench's; we loaded none of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

TASK = "personafeedback"
ROOM_TO_REASON = 16_384
"""New tokens for a model that reasons before it answers."""
ROOM_FOR_PROMPT = 8_192
"""Tokens of the context that vLLM is given beside it: the longest prompts have a few thousand."""

HELPSTEER2 = "helpfulness,correctness,coherence,complexity,verbosity"
ARMORM = (
    "helpsteer-helpfulness,helpsteer-correctness,helpsteer-coherence,helpsteer-complexity,helpsteer-verbosity,"
    "ultrafeedback-overall_score,ultrafeedback-instruction_following,ultrafeedback-truthfulness,ultrafeedback-honesty,"
    "ultrafeedback-helpfulness,beavertails-is_safe,prometheus-score,argilla-overall_quality,argilla-judge_lm,"
    "code-complexity,code-style,code-explanation,code-instruction-following,code-readability"
)
"""The outputs of QRM and ArmoRM in their order, which decides what each number is called."""

API, OPEN, REWARD, PATCHED, EXPORT = "api", "open", "reward", "patched reward", "export"
"""How a model runs: at a provider; from the Hub in either harness; as a plain classifier; as a classifier whose own code needs
an edit first; only in RewardBench."""


@dataclass(frozen=True)
class Model:
    """One model of the paper.

    Attributes:
        name: in Table 3, or else in Table 6.
        group: its block of Table 3; `reward training` for a model of Table 6 alone.
        runs: API, OPEN, REWARD, PATCHED or EXPORT.
        id: on the Hub; of a model at a provider, as Inspect takes it.
        reasons: whether it reasons at length before it answers.
        aspects: names of a reward model's outputs, where it has several.
        note: what to know before running it.
    """

    name: str
    group: str
    runs: str
    id: str
    reasons: bool = False
    aspects: str = ""
    note: str = ""

    def commands(self) -> list[str]:
        """The command lines that run it, one a line. An open model has one for each harness and backend."""
        return _COMMANDS[self.runs](self)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "commands": self.commands()}


def _api(model: Model) -> list[str]:
    return [_inspect(model.id, "--max-tokens", str(ROOM_TO_REASON)) if model.reasons else _inspect(model.id)]


def _open(model: Model) -> list[str]:
    room = ("--max-tokens", str(ROOM_TO_REASON)) if model.reasons else ()
    context = ROOM_FOR_PROMPT + ROOM_TO_REASON * model.reasons
    return [
        _lm_eval(model, "hf", "dtype=bfloat16"),
        _lm_eval(model, "vllm", f"max_model_len={context},enable_prefix_caching=True"),
        _inspect(f"hf/{model.id}", "-M", "do_sample=false", *room),
    ]


def _reward(model: Model) -> list[str]:
    return [_inspect(f"personafeedback-reward/{model.id}", "-T", "method=reward")]


def _patched(model: Model) -> list[str]:
    folder = model.id.partition("/")[2]
    flags = ("-T", "method=reward", "-M", "trust_remote_code=true", "-M", f"aspects={model.aspects}")
    return [
        f"hf download {model.id} --local-dir {folder}",
        f"sed -i.bak /LLAMA_INPUTS_DOCSTRING/d {folder}/modeling_custom.py",
        _inspect(f"personafeedback-reward/{folder}", *flags),
    ]


def _export(model: Model) -> list[str]:
    return [
        "personafeedback export --format rewardbench --out cases.jsonl",
        f"rewardbench --model {model.id} --dataset cases.jsonl --load_json --max_length {ROOM_FOR_PROMPT}",
    ]


_COMMANDS = {API: _api, OPEN: _open, REWARD: _reward, PATCHED: _patched, EXPORT: _export}


def _lm_eval(model: Model, backend: str, arguments: str) -> str:
    room = f" --gen_kwargs max_gen_toks={ROOM_TO_REASON}" if model.reasons else ""
    return (
        f"lm_eval run --model {backend} --model_args pretrained={model.id},{arguments} --tasks {TASK} --apply_chat_template "
        f"--batch_size auto{room} --log_samples --output_path results"
    )


def _inspect(model: str, *flags: str) -> str:
    return " ".join(["inspect eval", f"personafeedback_tasks/{TASK}", "--model", model, *flags, "--log-dir logs"])


_RETIRED = "Retired by its provider."
_EXPERIMENT = "An experimental name of 2025, which its provider may have withdrawn."
_WEIGHTS = (
    "An open model, run at a provider that Hugging Face chooses: the names of DeepSeek's own API have moved on to other weights. The "
    "paper does not say which release it used."
)
_SAMPLES = (
    "Its authors advise sampling at temperature 0.6. These tasks decode greedily, which may make it repeat itself until the "
    "tokens run out."
)
_GATED = "Gated on the Hub: accept its license there and set HF_TOKEN."
_DOCSTRING = (
    "Its own code imports LLAMA_INPUTS_DOCSTRING, which transformers no longer has: the second line deletes the two lines with "
    "it. A newer version of that code may not need this."
)
_OWN_HEAD = (
    "Its head is a class of its own, which RewardBench has and AutoModelForSequenceClassification does not build. RewardBench "
    "0.1.4 pins transformers 4.51.0: give it an environment of its own, with datasets 4 or later."
)

MODELS = (
    Model("o3-mini", "reasoning", API, "openai/o3-mini", True, note=_RETIRED),
    Model("o4-mini", "reasoning", API, "openai/o4-mini", True, note=_RETIRED),
    Model("Gemini-2.5-pro-exp-03-25", "reasoning", API, "google/gemini-2.5-pro-exp-03-25", True, note=_EXPERIMENT),
    Model("Deepseek-R1", "reasoning", API, "hf-inference-providers/deepseek-ai/DeepSeek-R1", True, note=_WEIGHTS),
    Model("o1-preview-2024-09-12", "reasoning", API, "openai/o1-preview-2024-09-12", True, note=_RETIRED),
    Model("Gemini-2.0-flash-thinking-exp", "reasoning", API, "google/gemini-2.0-flash-thinking-exp", True, note=_EXPERIMENT),
    Model("o1-mini", "reasoning", API, "openai/o1-mini", True, note=_RETIRED),
    Model("GPT-4.1", "chat", API, "openai/gpt-4.1"),
    Model("GPT-4.5-preview", "chat", API, "openai/gpt-4.5-preview", note=_RETIRED),
    Model("Deepseek-V3", "chat", API, "hf-inference-providers/deepseek-ai/DeepSeek-V3", note=_WEIGHTS),
    Model("GPT-4o-2024-11-20", "chat", API, "openai/gpt-4o-2024-11-20"),
    Model("Claude-3-5-sonnet-20241022", "chat", API, "anthropic/claude-3-5-sonnet-20241022", note=_RETIRED),
    Model("Claude-3-7-sonnet-20250219", "chat", API, "anthropic/claude-3-7-sonnet-20250219", note=_RETIRED),
    Model("Gemini-2.0-flash", "chat", API, "google/gemini-2.0-flash", note=_RETIRED),
    Model("GPT-4o-mini", "chat", API, "openai/gpt-4o-mini"),
    Model("Claude-3-haiku-20240307", "chat", API, "anthropic/claude-3-haiku-20240307", note=_RETIRED),
    Model("GPT-4-turbo", "chat", API, "openai/gpt-4-turbo", note=_RETIRED),
    Model("QwQ-32B", "open-source", OPEN, "Qwen/QwQ-32B", True, note=_SAMPLES),
    Model("R1-Distill-Qwen-32B", "open-source", OPEN, "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", True, note=_SAMPLES),
    Model("Qwen2.5-32B-Instruct", "open-source", OPEN, "Qwen/Qwen2.5-32B-Instruct"),
    Model("R1-Distill-Qwen-14B", "open-source", OPEN, "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", True, note=_SAMPLES),
    Model("Qwen2.5-14B-Instruct", "open-source", OPEN, "Qwen/Qwen2.5-14B-Instruct"),
    Model("Qwen2.5-7B-Instruct", "open-source", OPEN, "Qwen/Qwen2.5-7B-Instruct"),
    Model("Llama-3-8B-Instruct", "open-source", OPEN, "meta-llama/Meta-Llama-3-8B-Instruct", note=_GATED),
    Model("Qwen2.5-0.5B-Instruct", "reward training", OPEN, "Qwen/Qwen2.5-0.5B-Instruct", note="Before training."),
    Model("Qwen2.5-3B-Instruct", "reward training", OPEN, "Qwen/Qwen2.5-3B-Instruct", note="Before training."),
    Model("Gemma-2b-it", "reward training", OPEN, "google/gemma-2b-it", note=f"Before training. {_GATED}"),
    Model("INF-ORM-Llama3.1-70B", "reward", EXPORT, "infly/INF-ORM-Llama3.1-70B", note=_OWN_HEAD),
    Model("RM-Mistral-7B", "reward", REWARD, "weqweasdas/RM-Mistral-7B"),
    Model("LDL-Reward-Gemma-2-27B-v0.1", "reward", EXPORT, "ShikaiChen/LDL-Reward-Gemma-2-27B-v0.1", note=_OWN_HEAD),
    Model("Llama-3-OffsetBias-RM-8B", "reward", REWARD, "NCSOFT/Llama-3-OffsetBias-RM-8B"),
    Model("Skywork-Reward-Llama-3.1-8B", "reward", REWARD, "Skywork/Skywork-Reward-Llama-3.1-8B"),
    Model("QRM-Llama3.1-8B-v2", "reward", PATCHED, "nicolinho/QRM-Llama3.1-8B-v2", aspects=HELPSTEER2, note=_DOCSTRING),
    Model("ArmoRM-Llama3-8B-v0.1", "reward", PATCHED, "RLHFlow/ArmoRM-Llama3-8B-v0.1", aspects=ARMORM, note=_DOCSTRING),
)  # fmt: skip
"""Every model of Tables 3, 6 and 8, once, in the order of Table 3; those of Table 6 alone follow its open models."""
