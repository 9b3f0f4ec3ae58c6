"""The model arguments of a run that find the model again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..common.foreign import without_password

NEEDED = (
    *("base_url", "tokenizer", "tokenizer_path", "tokenizer_backend", "tokenized_requests", "model_path", "backend"),
    "trust_remote_code",
)
"""The model arguments of either harness that find the model and hold no secret."""

ADDRESS = "URL"
"""What a command has in place of a server's address."""

_PUBLIC = re.compile(
    r"https://(?:api\.(?:openai|anthropic|deepseek|groq|mistral|together|fireworks|x)\.(?:com|ai|xyz)|openrouter\.ai|"
    r"generativelanguage\.googleapis\.com|dashscope(?:-intl)?\.aliyuncs\.com)(?:/[\w./-]*)?"
)


def needed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The model arguments of NEEDED that are given, the address as `address` has it."""
    found = {name: arguments[name] for name in NEEDED if name in arguments}
    # To lm-eval, no tokenizer is another value than none named.
    found = {name: value for name, value in found.items() if value is not None or name == "tokenizer_backend"}
    return found | ({"base_url": address(without_password(str(found["base_url"])))} if "base_url" in found else {})


def address(url: str) -> str:
    """A server's address that may be published: that of a public service, else ADDRESS; nobody can tell which others are private."""
    return url if _PUBLIC.fullmatch(url) else ADDRESS
