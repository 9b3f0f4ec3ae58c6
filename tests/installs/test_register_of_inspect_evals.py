"""The register of inspect_evals finds each of our tasks by a link to its line."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module

import pytest
from support.environments import CHECKOUT

pytestmark = pytest.mark.slow


@pytest.fixture
def resolver(tmp_path, monkeypatch):
    """Its own, of the released package without what the package needs."""
    install = ["pip", "install", "-q", "--target", tmp_path, "--no-deps", "inspect-evals==0.28.0"]
    if subprocess.run([sys.executable, "-m", "uv", *install], capture_output=True).returncode:
        pytest.skip("no package registry is at hand")
    monkeypatch.syspath_prepend(tmp_path)
    return import_module("register_tooling.task_resolver").resolve_task


def test_every_task_is_found_by_its_line(resolver):
    found = 0
    for path in sorted((CHECKOUT / "inspect_tasks").glob("*.py")):
        source = path.read_text("utf-8")
        for node in ast.parse(source).body:
            decorators = getattr(node, "decorator_list", [])
            if any(isinstance(one, ast.Name) and one.id == "task" for one in decorators):
                found += 1
                assert resolver(source, line_anchor=decorators[0].lineno, file_label=path.name).name == node.name
    assert found >= 30
