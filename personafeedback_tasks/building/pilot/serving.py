"""The page on this computer alone, so that a click on it can write into the build's tables."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ...common.errors import DataError, PersonaFeedbackError
from ...common.records import loads, short
from ..folder import Folder
from ..rows import Person, Question, parse

LARGEST = 10_000
"""Bytes of a click."""


def screen(folder: Folder, click: Mapping[str, Any]) -> None:
    """Keep or drop a person or a question.

    Args:
        click: the `file`, the `id`, `keep` (`no`, or empty) and the `reason`.

    Raises:
        DataError: it is none, or names no line of a table.
        FileError: another command is at work in the build, or the table cannot be written.
    """
    kinds: Mapping[object, type[Person] | type[Question]] = {Person.file: Person, Question.file: Question}
    kind = kinds.get(click.get("file"))
    if kind is None or {*click} != {"file", "id", "keep", "reason"}:
        raise DataError(f"found {short(dict(click))}, expected the file, id, keep and reason of a line.")
    (key,) = kind.key
    with folder.locked():
        rows = folder.by_id(kind)
        if click["id"] not in rows:
            raise DataError(
                f"{folder.path(kind)}: found no {key} {short(click['id'])}, expected it. Load the page again."
            )
        row = parse(kind, {**vars(rows[click["id"]]), "keep": click["keep"], "reason": click["reason"]}, "the page")
        folder.write(kind, [row if name == click["id"] else other for name, other in rows.items()])


def server(folder: Folder, page: Callable[[], str], port: int = 0) -> tuple[ThreadingHTTPServer, str]:
    """(a server to run, the address of the page). It is found on this computer alone, by who knows the address.

    Args:
        page: the page as the tables are now.
        port: any free one if 0.
    """
    path = f"/{secrets.token_urlsafe(16)}/"  # no page of another site can guess it

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(page, "text/html") if self.path == path else self.send_error(HTTPStatus.NOT_FOUND)

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if self.path != f"{path}keep" or not length.isdecimal() or int(length) > LARGEST:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            body = self.rfile.read(int(length))
            self._answer(lambda: _clicked(folder, body), "text/plain")

        def _answer(self, content: Callable[[], str], kind: str) -> None:
            try:
                status, text = HTTPStatus.OK, content()
            except PersonaFeedbackError as error:
                status, kind, text = HTTPStatus.CONFLICT, "text/plain", str(error)
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            with suppress(ConnectionError):  # the page was closed
                self.wfile.write(text.encode("utf-8"))

        def log_message(self, *_: object) -> None:
            """A terminal has better to say."""

    made = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    return made, f"http://127.0.0.1:{made.server_port}{path}"


def _clicked(folder: Folder, body: bytes) -> str:
    try:
        click = loads(body)
    except ValueError as error:
        raise DataError(f"found {short(body.decode('utf-8', 'replace'))}, expected JSON.") from error
    screen(folder, click if isinstance(click, dict) else {"click": click})
    return ""
