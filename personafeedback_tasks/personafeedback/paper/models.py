"""The models of the paper (Tables 3, 6, 7 and 8), and the commands that run them here.

Hub ids are those of Table 8 where it has one. How a reward model loads is from its model card, its code and RewardBench's; we loaded
none of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .tables import same_model, table

TASK = "personafeedback"
RETIRED_AS_OF = "November 2026"
"""When we looked at the providers' lists."""
SETTINGS = "persona,rag,no_persona"
"""The columns of Table 7, in one run."""
ROOM_TO_REASON = 16_384
"""New tokens for a model that reasons before it answers."""
ROOM_FOR_PROMPT = 8_192
"""Tokens of the context that vLLM is given beside it: the longest prompts have a few thousand."""

HELPSTEER2 = "helpfulness,correctness,coherence,complexity,verbosity"
TEMPERATURE, TOP_P = "0.6", "0.95"
"""As the cards of QwQ and of the distilled R1 advise."""
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


TRAINED = "reward training"
"""The group of a model of Table 6 alone."""


@dataclass(frozen=True)
class Model:
    """One model of the paper.

    Attributes:
        name: in Table 3, or else in Table 6.
        group: its block of Table 3, or TRAINED.
        runs: API, OPEN, REWARD, PATCHED or EXPORT.
        id: on the Hub; of a model at a provider, as Inspect takes it.
        reasons: whether it reasons at length before it answers.
        samples: whether its authors advise sampling, see TEMPERATURE and TOP_P.
        aspects: names of a reward model's outputs, where it has several.
        note: what to know before running it.
    """

    name: str
    group: str
    runs: str
    id: str
    reasons: bool = False
    samples: bool = False
    aspects: str = ""
    note: str = ""

    @property
    def in_table_7(self) -> bool:
        """Whether the paper asked it under other settings, too."""
        return any(same_model(row.name, self.name) for row in table("7").rows)

    def commands(self, settings: str = "") -> list[str]:
        """The command lines that run it, one a line. An open model has one for each harness and backend.

        Args:
            settings: as `setting` has them; of a reward model none.
        """
        return _COMMANDS[self.runs](self, settings)

    @property
    def trainings(self) -> dict[str, list[str]]:
        """Row of Table 6 -> the command lines that train this model and score it; empty for a model that the paper did not train."""
        if self.group != TRAINED:
            return {}
        return {training.name: training.commands(self) for training in TRAININGS}

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "commands": self.commands(),
            "commands_table_7": self.commands(SETTINGS) if self.in_table_7 else [],
            "trainings": self.trainings,
        }


def _api(model: Model, settings: str) -> list[str]:
    return [_inspect(model.id, *_task(settings), *_decoding(model))]


def _open(model: Model, settings: str) -> list[str]:
    context = ROOM_FOR_PROMPT + ROOM_TO_REASON * model.reasons
    greedy = () if model.samples else ("-M", "do_sample=false")
    return [
        _lm_eval(model, "hf", "dtype=bfloat16", settings),
        _lm_eval(model, "vllm", f"max_model_len={context},enable_prefix_caching=True", settings),
        _inspect(f"hf/{model.id}", *_task(settings), *greedy, *_decoding(model)),
    ]


def _task(settings: str) -> tuple[str, ...]:
    return ("-T", f"setting={settings}") if settings else ()


def _decoding(model: Model) -> tuple[str, ...]:
    """Inspect's options."""
    room = ("--max-tokens", str(ROOM_TO_REASON)) if model.reasons else ()
    return (*room, *(("--temperature", TEMPERATURE, "--top-p", TOP_P) if model.samples else ()))


def _reward(model: Model, _settings: str) -> list[str]:
    return [_inspect(f"personafeedback-reward/{model.id}", "-T", "method=reward")]


def _patched(model: Model, _settings: str) -> list[str]:
    folder = model.id.partition("/")[2]
    flags = ("-T", "method=reward", "-M", "trust_remote_code=true", "-M", f"aspects={model.aspects}")
    return [
        f"hf download {model.id} --local-dir {folder}",
        f"sed -i.bak /LLAMA_INPUTS_DOCSTRING/d {folder}/modeling_custom.py",
        _inspect(f"personafeedback-reward/{folder}", *flags),
    ]


def _export(model: Model, _settings: str) -> list[str]:
    return [
        "personafeedback export --format rewardbench --out cases.jsonl",
        f"rewardbench --model {model.id} --dataset cases.jsonl --load_json --max_length {ROOM_FOR_PROMPT}",
    ]


_COMMANDS = {API: _api, OPEN: _open, REWARD: _reward, PATCHED: _patched, EXPORT: _export}


def _lm_eval(model: Model, backend: str, arguments: str, settings: str) -> str:
    decoding = [f"max_gen_toks={ROOM_TO_REASON}"] if model.reasons else []
    decoding += [f"do_sample=True,temperature={TEMPERATURE},top_p={TOP_P}"] if model.samples else []
    options = f" --gen_kwargs {','.join(decoding)}" if decoding else ""
    if settings:
        options += f""" --metadata '{{"setting": "{settings}"}}'"""
    return (
        f"lm_eval run --model {backend} --model_args pretrained={model.id},{arguments} --tasks {TASK} --apply_chat_template "
        f"--batch_size auto{options} --log_samples --output_path results"
    )


def _inspect(model: str, *flags: str) -> str:
    return " ".join(["inspect eval", f"personafeedback_tasks/{TASK}", "--model", model, *flags, "--log-dir logs"])


@dataclass(frozen=True)
class Training:
    """One trained reward model of Table 6 (Appendix E).

    Attributes:
        name: of the row, in the paper's words.
        pairs: what makes its pairs, as an option of `build training`.
        batch: pairs to a step.
    """

    name: str
    pairs: str
    batch: int

    def commands(self, model: Model) -> list[str]:
        """The command lines that make its pairs, train it and score it; `ours` is a build folder with training persons.

        Args:
            model: what is trained.
        """
        folder = f"{model.name}-{self.pairs.split()[-1]}"
        return [
            f"personafeedback build training ours {self.pairs} --tokenizer {model.id}",
            " ".join(trl_lines(model.id, "ours/training", folder, ROOM_TO_TRAIN, self.batch)),
            _inspect(f'"personafeedback-reward/$PWD/{folder}"', "-T", "method=reward"),
        ]


ROOM_TO_TRAIN = 4_096
"""Tokens of a pair to train on."""

ALONE, MIXED = 32, 64
"""Pairs to a step: with HelpSteer2 alone, and with both sources."""

TRAININGS = (
    Training("HelpSteer2 Trained", "--only helpsteer2", ALONE),
    Training("HelpSteer2 Personalized Trained", "--mixture paper", MIXED),
)


def trl_lines(model: str, data: str, out: str, max_length: int, batch: int) -> list[str]:
    """The command that trains a reward model with the figures of Appendix E, in three parts.

    Args:
        model: a folder or a Hub id.
        data: the folder with train.jsonl.
        out: the folder of the trained model.
        max_length: tokens beyond which TRL drops a pair.
        batch: pairs to a step.
    """
    return [
        f"trl reward --model_name_or_path {model} --dataset_name {data} --output_dir {out}",
        f"--max_length {max_length} --learning_rate 1e-5 --num_train_epochs 1 --per_device_train_batch_size 4",
        f"--gradient_accumulation_steps {batch // 4} --eval_strategy no --report_to none",
    ]


_RETIRED = f"Retired by its provider, as of {RETIRED_AS_OF}."
_EXPERIMENT = f"An experimental name of 2025, which its provider may have withdrawn by {RETIRED_AS_OF}."
_WEIGHTS = (
    "An open model, run at a provider that Hugging Face chooses: the names of DeepSeek's own API have moved on to other weights. The "
    "paper does not say which release it used."
)
_SAMPLES = (
    f"Its authors advise sampling at temperature {TEMPERATURE} and top-p {TOP_P}, as below: greedy decoding, which these tasks use otherwise, may "
    "make it repeat itself until the tokens run out."
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
    Model("QwQ-32B", "open-source", OPEN, "Qwen/QwQ-32B", True, True, note=_SAMPLES),
    Model("R1-Distill-Qwen-32B", "open-source", OPEN, "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", True, True, note=_SAMPLES),
    Model("Qwen2.5-32B-Instruct", "open-source", OPEN, "Qwen/Qwen2.5-32B-Instruct"),
    Model("R1-Distill-Qwen-14B", "open-source", OPEN, "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", True, True, note=_SAMPLES),
    Model("Qwen2.5-14B-Instruct", "open-source", OPEN, "Qwen/Qwen2.5-14B-Instruct"),
    Model("Qwen2.5-7B-Instruct", "open-source", OPEN, "Qwen/Qwen2.5-7B-Instruct"),
    Model("Llama-3-8B-Instruct", "open-source", OPEN, "meta-llama/Meta-Llama-3-8B-Instruct", note=_GATED),
    Model("Qwen2.5-0.5B-Instruct", TRAINED, OPEN, "Qwen/Qwen2.5-0.5B-Instruct", note="Before training."),
    Model("Qwen2.5-3B-Instruct", TRAINED, OPEN, "Qwen/Qwen2.5-3B-Instruct", note="Before training."),
    Model("Gemma-2b-it", TRAINED, OPEN, "google/gemma-2b-it", note=f"Before training. {_GATED}"),
    Model("INF-ORM-Llama3.1-70B", "reward", EXPORT, "infly/INF-ORM-Llama3.1-70B", note=_OWN_HEAD),
    Model("RM-Mistral-7B", "reward", REWARD, "weqweasdas/RM-Mistral-7B"),
    Model("LDL-Reward-Gemma-2-27B-v0.1", "reward", EXPORT, "ShikaiChen/LDL-Reward-Gemma-2-27B-v0.1", note=_OWN_HEAD),
    Model("Llama-3-OffsetBias-RM-8B", "reward", REWARD, "NCSOFT/Llama-3-OffsetBias-RM-8B"),
    Model("Skywork-Reward-Llama-3.1-8B", "reward", REWARD, "Skywork/Skywork-Reward-Llama-3.1-8B"),
    Model("QRM-Llama3.1-8B-v2", "reward", PATCHED, "nicolinho/QRM-Llama3.1-8B-v2", aspects=HELPSTEER2, note=_DOCSTRING),
    Model("ArmoRM-Llama3-8B-v0.1", "reward", PATCHED, "RLHFlow/ArmoRM-Llama3-8B-v0.1", aspects=ARMORM, note=_DOCSTRING),
)  # fmt: skip
"""Every model of Tables 3, 6 and 8, once, in the order of Table 3; those of Table 6 alone follow its open models."""
