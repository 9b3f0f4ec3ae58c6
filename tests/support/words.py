"""A tokenizer whose tokens are words and marks: small enough to be made on the spot, and easy to count by hand."""

from __future__ import annotations

import re
from pathlib import Path


def words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]+", text))


def write_tokenizer(folder: Path) -> Path:
    """A folder for --tokenizer, which counts as `words` does."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=made, unk_token="?").save_pretrained(folder)
    return folder
