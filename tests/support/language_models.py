"""A tiny language model, built on the spot."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases


def random_model(folder: Path) -> None:
    """A two-layer Llama with random weights and a byte-level BPE tokenizer trained on our prompts."""
    texts = [prompts.build(case, prompts.Template(), order) for case in load_cases("sample") for order in TWO.names]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<|user|>", "<|assistant|>", "<|endoftext|>"]  # lm-eval sends the last as a stop string
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=2000, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    fast.chat_template = (
        "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '</s>' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(fast), hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=8192, bos_token_id=0, eos_token_id=1, pad_token_id=1,
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
