"""What docs/benchmarks.md and docs/prefeval.md say is what the package has."""

from __future__ import annotations

import pytest
from personafeedback_tasks.task_configs import generate
from support.environments import CHECKOUT

from personafeedback_tasks.prefeval.data import COMMIT, REPOSITORY

PAGE = (CHECKOUT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def test_the_command_writes_the_yaml_files_of_one_benchmark(tmp_path):
    assert "python -m personafeedback_tasks.task_configs.generate prefeval FOLDER" in PAGE
    generate.main(["prefeval", str(tmp_path / "new")])
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written == {path.name: path.read_bytes() for path in (CHECKOUT / "task_configs" / "prefeval").iterdir()}
    with pytest.raises(SystemExit, match="Pass nothing, or the name of a benchmark and a folder"):
        generate.main(["prefeval"])


def test_the_page_on_prefeval_names_the_pinned_commit():
    page = (CHECKOUT / "docs" / "prefeval.md").read_text(encoding="utf-8")
    assert f"git clone https://github.com/{REPOSITORY} && git -C PrefEval checkout {COMMIT}" in page
    assert "41.7 %" in page
