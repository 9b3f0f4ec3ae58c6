"""The README's first session, its lists of names, and its figures."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from support.environments import Venv

from personafeedback_tasks.personafeedback.prompts import SETTINGS
from personafeedback_tasks.personafeedback.record import METHODS
from personafeedback_tasks.personafeedback.release import HUB_REVISION, PAPER_COUNTS

README = Path(__file__).parent.parent / "README.md"
CONTRIBUTING = README.with_name("CONTRIBUTING.md")
pytestmark = pytest.mark.skipif(not README.is_file(), reason="needs the checkout")


def block(marker: str) -> str:
    """The fenced block after a marker."""
    text = README.read_text(encoding="utf-8").partition(f"<!-- {marker} -->")[2]
    return re.search(r"```\w*\n(.*?)```", text, re.S)[1]


def table(path: Path, header: str) -> list[list[str]]:
    """The cells of each row below a header."""
    rows = path.read_text(encoding="utf-8").partition(f"\n{header}")[2].partition("\n\n")[0].splitlines()[2:]
    assert rows, header
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def names(cell: str) -> set[str]:
    """What a cell shows as code."""
    return set(re.findall(r"`(.*?)`", cell))


@pytest.mark.slow
def test_command_1_prints_the_table_that_the_readme_shows(tmp_path):
    """As printed, in a fresh clone and a fresh environment."""
    venv = Venv.create(tmp_path / "venv")
    cloned = subprocess.run(["git", "clone", "-q", str(README.parent), str(venv.home / "clone")], check=False)
    if cloned.returncode:
        pytest.skip("needs the checkout's history")
    done = venv.run(f"set -e; cd clone\n{block('command 1')}", COLUMNS="140")
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    shown = block("output 1").splitlines()
    assert len(shown) > 10
    missing = [line for line in shown if line not in printed]
    assert not missing, "\n".join(printed)


def test_command_2_is_what_ci_runs():
    """Run here it would run itself. `.ci/run` takes it out of this file and runs it as printed."""
    script = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    taken = re.search(r"^command=.*$", script, re.M)[0]
    done = subprocess.run(
        ["bash", "-c", f'{taken}; echo "$command"'], cwd=README.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == block("command 2").strip() != ""


def test_the_table_of_what_was_tried_is_the_one_that_ci_prints():
    """Its lines; a session of all tests prints the sums."""
    text = README.read_text(encoding="utf-8").partition("<!-- tried -->")[2].partition("\n\n")[0]
    shown = re.findall(r"^\| [\d,]+ \| (.*) \|$", text, re.M)
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert sorted(shown) == sorted(set(re.findall(r'pytest\.mark\.tried\("(.*?)"', tests)))


def test_the_counts_of_the_tables_are_those_of_the_paper():
    text = README.read_text(encoding="utf-8")

    def cases(*words: str) -> str:
        return f"{sum(n for cell, n in PAPER_COUNTS.items() if set(words) <= set(cell)):,}"

    assert f"all six cells, {cases()} |" in text
    assert f"{cases('specific')} and {cases('general')} |" in text
    assert f"{cases('easy')}, {cases('medium')} and {cases('hard')} |" in text
    for category in ("specific", "general"):
        numbers = [cases(category, difficulty) for difficulty in ("easy", "medium", "hard")]
        assert f"{numbers[0]}, {numbers[1]} and {numbers[2]} |" in text
    assert f"`{HUB_REVISION[:7]}`" in text


def test_the_table_of_methods_says_where_and_how_each_one_runs():
    default = next(iter(METHODS))
    expected = {}
    for name, method in METHODS.items():
        calls = {
            "lm-eval": "_".join(filter(None, ("NAME", method.suffix))),
            "inspect": "NAME" if name == default else f"-T method={name}",
        }
        expected[name] = {harness: calls[harness] for harness in method.harnesses}
    shown = {}
    for name, _, lm_eval, inspect in table(README, "| method |"):
        calls = {"lm-eval": lm_eval.strip("`"), "inspect": inspect.strip("`").partition(" --model")[0]}
        shown[name.strip("`")] = {
            harness: call for harness, call in calls.items() if not call.startswith(("use ", "no"))
        }
    assert shown == expected


def test_the_table_of_settings_has_every_setting():
    assert set().union(*(names(row[0]) for row in table(README, "| setting | the model sees"))) == set(SETTINGS)


def test_the_table_of_options_has_every_option_of_the_tasks():
    tree = ast.parse((README.parent / "inspect_tasks" / "personafeedback.py").read_text(encoding="utf-8"))
    options = {arg.arg for node in tree.body if isinstance(node, ast.FunctionDef) for arg in node.args.args}
    rows = table(README, "| option |")
    assert {name.partition("=")[0] for _, _, inspect in rows for name in names(inspect)} == options
    for _, lm_eval, inspect in rows:
        assert set(re.findall(r'`"(\w+)": ', lm_eval)) <= {name.partition("=")[0] for name in names(inspect)}


def test_the_table_of_metrics_has_every_metric():
    shown = set().union(*(names(row[0]) for row in table(README, "| metric |")))
    assert {metric.name for method in METHODS.values() for metric in method.metrics} <= shown
    defaults = "".join(path.read_text("utf-8") for path in (README.parent / "task_configs").glob("*/_default*_yaml"))
    assert set(re.findall(r"- metric: (\w+)", defaults)) <= shown


def test_contributing_names_every_room():
    rooms = {path.parent.name for path in (README.parent / "personafeedback_tasks").glob("*/__init__.py")}
    assert {f"{room}/" for room in rooms} == set().union(*(names(row[0]) for row in table(CONTRIBUTING, "| room |")))


def test_the_length_baseline_of_the_limits_is_that_of_the_data(real_data):
    from personafeedback_tasks.personafeedback.cases import load_cases

    shares = []
    for difficulty in ("easy", "medium", "hard"):
        cases = load_cases(real_data, "general", difficulty)
        longer = sum((len(c.chosen) > len(c.rejected)) + 0.5 * (len(c.chosen) == len(c.rejected)) for c in cases)
        shares.append(int(100 * longer / len(cases) + 0.5))
    assert f"{min(shares)} to {max(shares)} % of the cases of each cell" in README.read_text(encoding="utf-8")
