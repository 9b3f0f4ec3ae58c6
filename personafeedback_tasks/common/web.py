"""What the HTML files of this package share: each is one file that asks the network for nothing and runs only its own script."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SHARED = Path(__file__)


def style(path: Path) -> str:
    """The shared style (colors, texts, rendered Markdown), then the page's own."""
    return _joined(_SHARED.with_suffix(".css"), path)


def script(path: Path) -> str:
    """The shared functions `make` and `markdown`, then the page's own script."""
    return _joined(_SHARED.with_suffix(".js"), path)


def policy(style: str, script: str) -> str:
    """A content security policy that allows this style and this script, and nothing else."""
    sources = f"style-src {_hash(style)}", f"script-src {_hash(script)}"
    return "; ".join(("default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'"))


def script_json(document: Mapping[str, Any]) -> str:
    """JSON that no HTML parser takes for a tag."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")  # at once for all of them is ten times slower
    return text


def _joined(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8").strip("\n") for path in paths) + "\n"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
