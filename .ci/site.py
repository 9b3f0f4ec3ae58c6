"""Hooks of the site: pages that lie outside of docs/, the page on the outputs, which is made of their schema, and the reference of the Python door."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

from personafeedback_tasks import api

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "index.md": "README.md",
    **{name: name for name in ("CONTRIBUTING.md", "CHANGELOG.md")},
    **{f"benchmarks/{path.name}": f"benchmarks/{path.name}" for path in sorted((ROOT / "benchmarks").glob("*.md"))},
}
"""Page of the site -> the file of the checkout that it is."""

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    for page, source in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    files.append(File.generated(config, "outputs.md", content=outputs()))
    files.append(File.generated(config, "site.css", content=".md-typeset td code { word-break: normal; }\n"))
    return files


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Links as the site has them. One to a file that is no page, such as a module, becomes its text."""
    name = page.file.src_uri
    here = PurePosixPath(ELSEWHERE.get(name, f"docs/{name}")).parent

    def led(link: re.Match[str]) -> str:
        picture, words, target, anchor = link[1], link[2], link[3], link[4] or ""
        if not target or "://" in target:
            return link[0]
        path = (ROOT / here / target).resolve().relative_to(ROOT).as_posix()
        pages = {source: page for page, source in ELSEWHERE.items()}
        to = pages.get(path) or path.removeprefix("docs/")
        if to == path and path not in pages:
            return words
        up = "../" * name.count("/")
        return f"{picture}[{words}]({up}{to}{anchor})"

    if name == "python.md":
        markdown += "\n## Reference\n\n::: personafeedback_tasks.api\n"
    return LINK.sub(led, markdown)


# --- the page on the outputs ------------------------------------------------------------------------------------------


def outputs() -> str:
    """Every key of every JSON and CSV output, from the schema of the package."""
    parts = [
        "# Outputs for programs\n\nEvery output has `schema`, the version of keys and units: it rises when one of them changes its meaning or goes. Keys and "
        "columns are always there; what is undefined is null in JSON and empty in CSV. Shares and their differences are from 0 to 1. In keys, `[]` is "
        "each item of a list and `*` each name in an object."
    ]
    for name, entry in api.schema()["$defs"].items():
        rows = "\n".join(f"| `{key}` | {about} |" for key, about in _rows(entry, "") if not key.endswith((".*", "[]")))
        parts.append(f"## {name}\n\n{entry['description']}\n\n| key | meaning |\n|---|---|\n{rows}\n")
    return "\n\n".join(parts)


def _rows(entry: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """(key, what it has) of everything below an entry."""
    named = [
        *entry.get("properties", {}).items(),
        *((f"/{name}/", one) for name, one in entry.get("patternProperties", {}).items()),
    ]
    for name, below in named:
        if name != "schema":
            yield from _row(below, f"{path}.{name}".lstrip("."))
    if isinstance(entry.get("additionalProperties"), dict):
        yield from _row(entry["additionalProperties"], f"{path}.*")
    if isinstance(entry.get("items"), dict):
        yield from _row(entry["items"], f"{path}[]")


def _row(entry: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    about = entry.get("description", "")
    values = ", ".join(f"`{value}`" for value in entry.get("enum", []))
    if values and not all(f"`{value}`" in about for value in entry["enum"]):
        about = f"{values}: {about}" if about else values
    yield key, about + "".join(f" ([{name}](#{name.lower()}))" for name in _tables(entry))
    yield from _rows(entry, key)


def _tables(entry: Mapping[str, Any]) -> list[str]:
    """The tables that describe an entry, or the items of a list or object."""
    if "$ref" in entry:
        return [entry["$ref"].rpartition("/")[2]]
    below = [
        *entry.get("anyOf", []),
        *(entry[key] for key in ("items", "additionalProperties") if isinstance(entry.get(key), dict)),
    ]
    return [name for one in below for name in _tables(one)]
