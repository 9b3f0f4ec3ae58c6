"""Tiny reward models, built on the spot: real ones with random weights, and some rigged to count characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


def longest_classifier(folder: Path, texts: Iterable[str], limit: int = 32768, sign: int = 1) -> Path:
    """Its reward grows (sign=-1: falls) with the number of characters."""
    return counting_classifier(folder, texts, [lambda count: sign * count], limit)


def counting_classifier(
    folder: Path, texts: Iterable[str], outputs: Sequence[Callable[[int], int]], limit: int = 32768
) -> Path:
    """Its outputs are functions of the number of tokens (see `tokenizer`), exactly and of nothing else."""
    made = tokenizer(texts)
    config = transformers.OPTConfig(
        vocab_size=len(made), max_position_embeddings=limit, hidden_size=len(outputs), word_embed_proj_dim=len(outputs),
        num_hidden_layers=0, num_attention_heads=1, num_labels=len(outputs), _remove_final_layer_norm=True, pad_token_id=0,
        bos_token_id=2, eos_token_id=2,
    )  # fmt: skip
    model = transformers.OPTForSequenceClassification(config)
    positions = model.model.decoder.embed_positions
    with torch.no_grad():
        model.model.decoder.embed_tokens.weight.zero_()
        model.score.weight[:] = torch.eye(len(outputs))
        for index, output in enumerate(outputs):  # read at the last token
            positions.weight[positions.offset :, index] = torch.tensor(
                [float(output(count)) for count in range(1, limit + 1)]
            )
    return _save(folder, model, made)


def _save(folder: Path, model, made) -> Path:
    model.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder
