"""A Hub on loopback: repositories of models whose branches can be moved, as far as huggingface_hub and transformers ask."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


class Hub:
    """Serves what was pushed to it. `asked` holds (repository, revision, file) of every file that was asked for."""

    def __init__(self, server: HTTPServer, home: Path) -> None:
        self.home, self.endpoint = home, server.url_for("")
        self.commits: dict[tuple[str, str], dict[str, bytes]] = {}
        self.branches: dict[tuple[str, str], str] = {}
        self.asked: list[tuple[str, str, str]] = []
        server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    def push(self, repository: str, folder: Path, branch: str = "main", **texts: str) -> str:
        """The folder's files, and some texts by file name with `__` for the dot, as the new end of a branch: its commit."""
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        files |= {name.replace("__", "."): text.encode() for name, text in texts.items()}
        whole = b"".join(name.encode() + content for name, content in sorted(files.items()))
        commit = hashlib.sha1(whole).hexdigest()
        self.commits[repository, commit] = files
        self.branches[repository, branch] = commit
        return commit

    def environment(self) -> dict[str, str]:
        """The environment of a process that knows no other Hub, and has an empty cache at first."""
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING")) and "proxy" not in k.lower()
        }
        clean |= {"HF_ENDPOINT": self.endpoint, "HF_HOME": str(self.home), "HF_HUB_ETAG_TIMEOUT": "5"}
        return clean | {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}

    def _answer(self, request: Request) -> Response:
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", request.path)
        if file:
            return self._file(*file.groups())
        about = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?(?:/.*)?", request.path)
        if about is None:
            return _refused("RepoNotFound")
        repository, kind, revision = about.groups()
        commit = self._commit(repository, revision or "main")
        if commit is None:
            return _refused("RevisionNotFound")
        files = self.commits[repository, commit]
        if kind == "tree":
            tree = [{"type": "file", "path": name, "size": len(text), "oid": _id(text)} for name, text in files.items()]
            return Response(json.dumps(tree), content_type="application/json")
        siblings = [{"rfilename": name} for name in files]
        found = {"id": repository, "sha": commit, "siblings": siblings, "private": False, "tags": []}
        return Response(json.dumps(found), content_type="application/json")

    def _file(self, repository: str, revision: str, name: str) -> Response:
        commit = self._commit(repository, revision)
        if commit is None:
            return _refused("RevisionNotFound")
        self.asked.append((repository, revision, name))
        if name not in self.commits[repository, commit]:
            return Response("{}", 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        content = self.commits[repository, commit][name]
        return Response(content, headers={"ETag": f'"{_id(content)}"', "X-Repo-Commit": commit})

    def _commit(self, repository: str, revision: str) -> str | None:
        return revision if (repository, revision) in self.commits else self.branches.get((repository, revision))


def _refused(code: str) -> Response:
    return Response("{}", 404, {"X-Error-Code": code, "X-Error-Message": "not there"})


def _id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
