"""Tiny reward models, built on the spot: real ones with random weights, and one rigged to count characters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

SYSTEM = "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] + '</s>' }}{% endfor %}"
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + SYSTEM
DROPS_SYSTEM = SYSTEM.replace("messages %}", "messages if m['role'] != 'system' %}")
ROLES = ("<system>", "<user>", "<assistant>")


def tokenizer(texts: Iterable[str], template: str | None = SYSTEM, pad: bool = True):
    """One token per character."""
    special = ["<pad>", "<unk>", "</s>", *ROLES]
    vocabulary = {token: index for index, token in enumerate([*special, *sorted(set("".join(texts)))])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.add_special_tokens([AddedToken(token, special=True) for token in special])
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="</s>", unk_token="<unk>", pad_token="<pad>" if pad else None
    )
    fast.chat_template = template
    return fast


def random_classifier(folder: Path, texts: Iterable[str], outputs: int = 1, pad: bool = True, **kwargs) -> Path:
    """A Llama with a classification head, of two small layers unless the configuration (kwargs) says more."""
    made = tokenizer(texts, pad=pad, **{k: kwargs.pop(k) for k in ("template",) if k in kwargs})
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=len(made), num_labels=outputs, bos_token_id=None, eos_token_id=2, pad_token_id=0 if pad else None,
        **{
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "max_position_embeddings": 16384, **kwargs,
        },
    )  # fmt: skip
    model = transformers.LlamaForSequenceClassification(config)
    torch.nn.init.normal_(model.score.weight)
    return _save(folder, model, made)


def longest_classifier(folder: Path, texts: Iterable[str], limit: int = 32768, sign: float = 1.0) -> Path:
    """Its reward grows (sign=-1: falls) with the number of characters: the last token's position, and nothing else."""
    made = tokenizer(texts)
    config = transformers.GPT2Config(
        vocab_size=len(made), n_positions=limit, n_embd=4, n_layer=0, n_head=1, num_labels=1, pad_token_id=0,
        bos_token_id=2, eos_token_id=2,
    )  # fmt: skip
    model = transformers.GPT2ForSequenceClassification(config)
    with torch.no_grad():
        model.transformer.wte.weight.zero_()
        model.transformer.wpe.weight.zero_()
        # The layer norm sees (position, limit, 0, 0): its first component grows with the position.
        model.transformer.wpe.weight[:, 0] = torch.arange(limit)
        model.transformer.wpe.weight[:, 1] = limit
        model.score.weight[:] = torch.tensor([[sign, 0, 0, 0]])
    return _save(folder, model, made)


def _save(folder: Path, model, made) -> Path:
    model.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder
