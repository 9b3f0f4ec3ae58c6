"""What users get: the built wheel in fresh environments, far from the checkout."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from support.environments import CHECKOUT

from personafeedback_tasks import __version__

PACKAGE = "personafeedback_tasks"


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    """As Git has them; what is new is there before it is committed."""
    folders = (PACKAGE, "inspect_tasks", "task_configs")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    done = subprocess.run(listed, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("needs the checkout's history")
    files = {name for name in done.stdout.split("\0") if (CHECKOUT / name).is_file()}
    expected = {name if name.startswith(PACKAGE) else f"{PACKAGE}/{name}" for name in files}
    assert len(expected) > 300
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert {name.partition("/")[0] for name in names} == {PACKAGE, f"{PACKAGE}-{__version__}.dist-info"}


def test_a_bare_install_is_light_and_each_half_says_which_extra_it_needs(bare_venv):
    requires = json.loads(
        bare_venv.run(
            "python -c 'import json, importlib.metadata as m; print(json.dumps(m.requires(\"personafeedback-tasks\")))'"
        ).stdout
    )
    bare = {re.match(r"[\w-]+", line)[0] for line in requires if "extra ==" not in line}
    assert bare == {"click", "filelock", "huggingface_hub", "msgspec", "pyyaml"}
    assert "personafeedback-tasks[lm-eval]" in bare_venv.run("personafeedback register").stderr
    done = bare_venv.run("python -c 'import personafeedback_tasks.lm_eval_harness.task'")
    assert "pip install 'personafeedback-tasks[lm-eval]'" in done.stderr
    for module in ("inspect_harness.tasks", "inspect_tasks.personafeedback"):
        done = bare_venv.run(f"python -c 'import personafeedback_tasks.{module}'")
        assert "pip install 'personafeedback-tasks[inspect]'" in done.stderr


def test_a_bare_install_loads_cases_and_builds_prompts(bare_venv):
    done = bare_venv.run(
        'python -c \'from personafeedback_tasks.personafeedback import cases, prompts; c = cases.load_cases("sample"); '
        'print(len(c), len(prompts.build(c[0], prompts.Template(), "chosen_first")) > 1000)\''
    )
    assert done.stdout == "48 True\n", done.stderr


def test_lm_eval_runs_after_register_until_its_undoing(full_venv):
    command = "lm_eval run --model dummy --tasks personafeedback_hard --output_path out --log_samples"
    done = full_venv.run(f"personafeedback register && {command}", PERSONAFEEDBACK_DATA="sample")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "|personafeedback_hard" in done.stdout
    for task in ("personafeedback_specific_hard", "personafeedback_general_hard"):
        assert f"| - {task} (demonstration)" in done.stdout
        (samples,) = (full_venv.home / "out").rglob(f"samples_{task}_*.jsonl")
        assert len(samples.read_text(encoding="utf-8").splitlines()) == 8
    linked = full_venv.site_packages / "lm_eval" / "tasks" / "personafeedback"
    assert linked.is_dir()
    assert full_venv.run("personafeedback register --undo").returncode == 0
    assert not linked.exists()
    configs = Path(full_venv.run("personafeedback register --path").stdout.strip())  # for --include_path
    assert configs.is_relative_to(full_venv.site_packages)
    assert (configs / "personafeedback" / "personafeedback_general_hard_mc.yaml").is_file()


def test_importing_the_core_imports_no_harness(full_venv):
    done = full_venv.run(
        "python -c 'import sys, personafeedback_tasks.pairwise.scoring, personafeedback_tasks.personafeedback.prompts, "
        "personafeedback_tasks.parsing.answers, personafeedback_tasks.personafeedback.cases, personafeedback_tasks.cli.main; "
        'print(sorted({"lm_eval", "inspect_ai", "datasets", "torch"} & set(sys.modules)))\''
    )
    assert done.stdout == "[]\n", done.stderr
