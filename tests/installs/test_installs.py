"""Installations that are not one plain `pip install`: an editable lm-eval, one in another folder, one harness alone."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest
from support.commands import tree
from support.environments import Venv

pytestmark = [pytest.mark.release, pytest.mark.slow]

LM_EVAL = "lm-eval==0.4.13"
IMPORT = "python -c 'from lm_eval import simple_evaluate'"
RUN = "python -m lm_eval run --model dummy --tasks personafeedback_general_hard --limit 2"
SAMPLE = {"PERSONAFEEDBACK_DATA": "sample"}


def succeed(venv: Venv, command: str, succeeds: bool = True, **environment: str) -> str:
    done = venv.run(command, **environment)
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    return done.stdout + done.stderr


def fail(venv: Venv, command: str) -> str:
    return succeed(venv, command, succeeds=False)


def listing(folder: Path) -> dict[str, object]:
    """All below a folder but bytecode."""
    return {path: content for path, content in tree(folder).items() if "__pycache__" not in path}


def test_an_editable_lm_eval_is_as_it_was_after_ours_came_and_went(wheel, tmp_path):
    """lm-eval as its README says to install it, `pip install -e .`."""
    venv = Venv.create(tmp_path / "venv")
    succeed(venv, f"python -m pip download -q --no-deps --no-binary lm-eval --dest '{tmp_path}' {LM_EVAL}")
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    succeed(venv, f"uv pip install -q -e '{source}'")
    before = listing(source)
    assert len(before) > 10_000
    venv.install(str(wheel))
    succeed(venv, IMPORT)
    assert listing(source) == before

    assert f"files into {source / 'lm_eval' / 'tasks'}." in succeed(venv, "personafeedback register")
    succeed(venv, IMPORT)
    after = listing(source)
    assert {path: after[path] for path in before} == before
    folders = {path.name for path in (venv.site_packages / "personafeedback_tasks/task_configs").glob("[!_]*/")}
    ours = after.keys() - before.keys()
    assert {Path(path).parts[:3] for path in ours} == {("lm_eval", "tasks", name) for name in folders}
    links = sum((source / path).is_symlink() for path in ours)
    assert links == 42 + 18 + 15 + 13 + 6 + 2 + 4 + 2 + 1 + 3 * 2

    assert "personafeedback_general_hard (demonstration)" in succeed(venv, RUN, **SAMPLE)
    import_inspect = "python -c 'import personafeedback_tasks.inspect_harness.tasks'"
    assert "personafeedback-tasks[inspect]" in fail(venv, import_inspect)

    # Uninstalled without undoing, it leaves links that lead nowhere and harm no task; installed again, it removes them.
    succeed(venv, "python -m pip uninstall -q -y personafeedback-tasks")
    names = succeed(venv, "python -m lm_eval ls tasks")
    assert "hellaswag" in names
    assert "personafeedback" not in names
    venv.install(str(wheel))
    assert re.search(r"Removed [1-9]\d* links", succeed(venv, "personafeedback register --undo"))
    assert listing(source) == before
    succeed(venv, IMPORT)


def test_inspect_alone_runs_and_lm_eval_is_named_as_an_extra(wheel, tmp_path):
    venv = Venv.create(tmp_path)
    venv.install(f"{wheel}[inspect]")
    succeed(venv, "python -c 'import importlib.util as u; assert u.find_spec(\"lm_eval\") is None'")
    output = succeed(
        venv,
        "inspect eval personafeedback_tasks/personafeedback_hard -T data=sample --model personafeedback/first "
        "--display plain",
    )
    assert re.search(r"accuracy +0\.500", output)
    import_lm_eval = "python -c 'import personafeedback_tasks.lm_eval_harness.task'"
    for command in ("personafeedback register", "personafeedback register --undo", import_lm_eval):
        output = fail(venv, command)
        assert "pip install 'personafeedback-tasks[lm-eval]'" in output
        assert command == import_lm_eval or "Traceback" not in output
    assert "task_configs" in succeed(venv, "personafeedback register --path")


def test_the_extra_build_makes_a_set(wheel, tmp_path):
    venv = Venv.create(tmp_path)
    venv.install(f"{wheel}[build]")
    rows = "".join(f"cook {n},What now?,soup {n},fish {n}\n" for n in range(20))
    (venv.home / "pairs.csv").write_text(f"persona,question,chosen,rejected\n{rows}", encoding="utf-8")
    asked = "build init ours --from pairs.csv"
    votes = "for f in ours/packs/*.csv; do sed 's/,,$/,B,/; 1s/^.*/item,persona,question,A,B,vote,note/' $f > $(basename $f); done"
    for command in (
        f"personafeedback {asked}", "personafeedback annotate pack ours", "personafeedback annotate pack ours --format csv",
        votes, "personafeedback annotate votes ours annotator-*.csv", "personafeedback build release ours",
        f"rm -r ours && personafeedback {asked} && personafeedback build release ours",
    ):  # fmt: skip
        succeed(venv, command)
    assert (venv.home / "ours" / "release" / "set.json").is_file()
