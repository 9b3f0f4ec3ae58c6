"""HTML pages of this package: each is one file that asks the network for nothing and runs only its own script."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import foreign
from .errors import require
from .outputs import jsonable

_SHARED = Path(__file__)


def style(path: Path) -> str:
    """The shared style (colors, texts, rendered Markdown), then the page's own."""
    return _joined(_SHARED.with_suffix(".css"), path)


def script(*paths: Path) -> str:
    """The shared functions `make` and `markdown`, then the page's own scripts."""
    return _joined(_SHARED.with_suffix(".js"), *paths)


def policy(style: str, script: str) -> str:
    """A content security policy that allows this style and this script, and nothing else."""
    sources = f"style-src {_hash(style)}", f"script-src {_hash(script)}"
    return "; ".join(("default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'"))


def page(
    path: Path, document: Mapping[str, Any], *, scripts: Sequence[str] = (), as_it_is: bool = False, **values: Any
) -> str:
    """A page of the template `path.html.j2`, with the style `path.css` and the script `path.js` beside it.

    Args:
        scripts: names of further scripts beside them, which run before that one, in this order.
        as_it_is: no text hides anything; else what texts hide is made visible, see `foreign.page`.
    """
    require("jinja2", extra="report")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return foreign.page(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    own_style = style(path.with_suffix(".css"))
    own_script = script(*(path.with_name(f"{name}.js") for name in (*scripts, path.name)))
    environment = Environment(
        loader=FileSystemLoader(path.parent, encoding="utf-8"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=None if as_it_is else shown,
    )  # fmt: skip
    return environment.get_template(f"{path.name}.html.j2").render(
        **values, style=Markup(own_style), script=Markup(own_script), policy=policy(own_style, own_script),
        data=Markup(script_json(document if as_it_is else jsonable(document, foreign.page))),
    )  # fmt: skip


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
