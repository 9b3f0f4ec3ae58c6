"""README and the pages in docs/: the first session, the example, the lists of names, the figures and the links."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
import yaml
from support.documents import CARD, CONTRIBUTING, DOCS, README, block, section, table, tables, text
from support.environments import CHECKOUT, Venv
from support.inspect_runs import command

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.personafeedback.audit import AUDIT_VERSION
from personafeedback_tasks.personafeedback.baselines import BASELINES
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import SETTINGS
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import HUB_REVISION, PAPER_COUNTS

OPTIONS = DOCS / "options.md"


def names(cell: str) -> set[str]:
    """What a cell shows as code."""
    return set(re.findall(r"`(.*?)`", cell))


# --- the first session ------------------------------------------------------------------------------------------------


def prints_the_table(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    shown = block(README, "output 1").splitlines()
    assert len(shown) == 9
    missing = [line for line in shown if line not in printed]
    assert not missing, "\n".join(printed)


@pytest.mark.slow
def test_command_1_prints_the_table_that_the_readme_shows(tmp_path, monkeypatch):
    """Its second line, in this process."""
    install, run = block(README, "command 1").splitlines()
    assert install == "pip install '.[inspect]'"
    data, inspect, verb, *arguments = shlex.split(run)
    assert (data, inspect, verb) == ("PERSONAFEEDBACK_DATA=sample", "inspect", "eval")
    monkeypatch.chdir(tmp_path)
    prints_the_table(command(*arguments, live=True, PERSONAFEEDBACK_DATA="sample", COLUMNS="140"))


@pytest.mark.release
def test_command_1_works_as_printed(tmp_path):
    """In a fresh clone and a fresh environment."""
    venv = Venv.create(tmp_path / "venv")
    cloned = subprocess.run(["git", "clone", "-q", str(CHECKOUT), str(venv.home / "clone")], check=False)
    if cloned.returncode:
        pytest.skip("needs the checkout's history")
    # to compile all that pip installs takes longer than to install it
    prints_the_table(venv.run(f"set -e; cd clone\n{block(README, 'command 1')}", COLUMNS="140", PIP_COMPILE="0"))


def test_command_2_is_what_ci_runs():
    """Run here it would run itself. `.ci/run` takes it out of this file and runs it as printed."""
    taken = re.search(r"^command=.*$", text(CHECKOUT / ".ci" / "run"), re.M)[0]
    done = subprocess.run(
        ["bash", "-c", f'{taken}; echo "$command"'], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == block(README, "command 2").strip() != ""


def test_the_example_is_a_case_of_the_sample():
    """Word for word: the question, both responses, and each sentence that is quoted from the persona."""
    told = section(README, "One case")
    shown = " ".join(line.removeprefix(">").strip() for line in told.splitlines())
    parts = dict(re.findall(r"\*\*(Her question|Chosen|Rejected):\*\* (.*?) {2,}", f"{shown}  "))
    (case,) = [case for case in load_cases("sample") if case.question == parts["Her question"]]
    assert (case.chosen, case.rejected) == (parts["Chosen"], parts["Rejected"])

    persona = case.persona
    assert f"is {persona.profile['Name']}, {persona.profile['Demographics']['Age']}," in shown
    (quoted,) = re.findall(r'persona says: "(.*?)"', shown)
    assert quoted in persona.values


# --- lists of names ---------------------------------------------------------------------------------------------------


def test_the_counts_of_the_tables_are_those_of_the_paper():
    readme = f"{text(README)}{text(OPTIONS)}"

    def cases(*words: str) -> str:
        return f"{sum(n for cell, n in PAPER_COUNTS.items() if {*words} <= set(cell.split('_'))):,}"

    levels = ("easy", "medium", "hard")
    shown = [
        f"has {cases()} human-labeled cases",
        f"all six cells, {cases()} |",
        f"{cases('specific')} and {cases('general')} |",
        f"General Hard has {cases('general', 'hard')} cases, so this makes {2 * 3 * PAPER_COUNTS['general_hard']:,} calls",
    ]
    for category in ((), ("specific",), ("general",)):
        shown.append("{}, {} and {} |".format(*(cases(*category, level) for level in levels)))
    assert [words for words in shown if words not in readme] == []
    assert f"`{HUB_REVISION[:7]}`" in text(DOCS / "data.md")


def test_the_table_of_methods_says_where_and_how_each_one_runs():
    rows = table(OPTIONS, "| method |")
    for (name, method), (shown, _, lm_eval, inspect) in zip(PERSONAFEEDBACK.methods.items(), rows, strict=True):
        task = "_".join(filter(None, ("NAME", method.suffix)))
        argument = "`NAME`" if name == "generate" else f"`-T method={name}"
        assert shown == f"`{name}`"
        assert (lm_eval == f"`{task}`") is ("lm-eval" in method.harnesses)
        assert inspect.startswith(argument) is ("inspect" in method.harnesses)


def test_the_tables_have_every_setting_and_every_option_of_the_tasks():
    assert set().union(*(names(row[0]) for row in table(OPTIONS, "| setting | the model sees"))) == set(SETTINGS)
    rows = table(OPTIONS, "| option |")
    assert {name.partition("=")[0] for _, _, inspect in rows for name in names(inspect)} == set(
        PERSONAFEEDBACK.options.table()
    )
    for _, lm_eval, inspect in rows:
        assert set(re.findall(r'`"(\w+)": ', lm_eval)) <= {name.partition("=")[0] for name in names(inspect)}


def test_the_table_of_metrics_has_every_metric():
    shown = set()
    for page in ("metrics", "recenter", "chain", "swap", "writing"):
        shown |= set().union(*(names(row[0]) for rows in tables(DOCS / f"{page}.md", "| metric |") for row in rows))
    defaults = "".join(map(text, (CHECKOUT / "task_configs").glob("*/_default*_yaml")))
    metrics = {metric.name for method in PERSONAFEEDBACK.methods.values() for metric in method.metrics}
    metrics |= set(re.findall(r"- metric: (\w+)", defaults))
    assert {name.removesuffix("_stderr") for name in metrics} <= shown


def test_contributing_names_every_room():
    rooms = {path.parent.name for path in (CHECKOUT / "personafeedback_tasks").glob("*/__init__.py")}
    assert {f"{room}/" for room in rooms} == set().union(*(names(row[0]) for row in table(CONTRIBUTING, "| room |")))


# --- figures ----------------------------------------------------------------------------------------------------------


def of_the_card() -> dict[str, tuple[str, str, str, str]]:
    """Cell, and `all` -> (cases, users, acc, interval) of the judge `longest`, as its card has them."""
    results = yaml.safe_load(text(CARD).split("---\n")[1])["model-index"][0]["results"]
    found = {}
    for result in results:
        (metric,) = [metric for metric in result["metrics"] if metric["name"] == "acc (both orders), %"]
        low, high = metric["args"]["interval_95"]
        name = result["dataset"]["config"].removeprefix("general").strip("_") or "all"
        counts = (f"{metric['args']['cases']:,}", f"{metric['args']['users']:,}")
        found[name] = (*counts, f"{metric['value']:.1f}", f"{low:.1f}–{high:.1f}")
    return found


def test_the_table_of_the_longer_response_is_that_of_its_card():
    card = of_the_card()
    rows = [[cell.strip("*") for cell in row] for row in table(DOCS / "reports.md", "| general, % |")]
    assert {name: (cases, users, acc, interval) for name, cases, users, acc, interval, _, _ in rows} == card
    overlap = " / ".join(row[5] for row in rows[:3])
    assert f"| `overlap` | {overlap} |" in text(DOCS / "reports.md")  # which another test measures


def test_the_card_is_of_this_audit_and_task():
    signature = text(CARD).partition("\nSignature: `")[2].split(" | ")
    assert signature[0].endswith(f" (task {TASK_VERSION})")
    assert f"audit {AUDIT_VERSION}" in signature, "write it again: see the last line of benchmarks/README.md"


def test_the_ranking_shown_is_that_of_the_same_run():
    """On General Hard."""
    *_, acc, interval = of_the_card()["hard"]
    row, sentence = [line for line in block(README, "story: excerpt").splitlines() if "personafeedback/longest" in line]
    assert row.split()[1:5] == ["personafeedback/longest", acc, interval, "+0.0"]  # it reads no persona
    assert sentence.endswith(": no sign that it uses this user's persona.")


def test_the_real_models_shown_are_those_of_their_page():
    rows = table(CHECKOUT / "benchmarks" / "models.md", "| model | data |")
    measured = [row for row in rows if row[1:3] == ["hard", "mc"]]
    assert table(README, "| model | `acc_sym` |") == [[row[0], row[5], row[9]] for row in measured]
    assert {row[3] for row in measured} == {"60"}


def test_the_length_baseline_is_that_of_the_data(real_data):
    shares = []
    for difficulty in ("easy", "medium", "hard"):
        right = [BASELINES["longest"](case) for case in load_cases(real_data, "general", difficulty)]
        shares.append(int(100 * sum(right) / len(right) + 0.5))
    assert f"{min(shares)} to {max(shares)} % of each cell" in " ".join(text(README).split())
    assert f"right in {min(shares)} to {max(shares)} % of each General cell |" in text(DOCS / "validity.md")


# --- pages: `tox -e site` follows every link --------------------------------------------------------------------------


def test_every_page_can_be_reached_from_the_readme():
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= set(re.findall(r"\]\((.*?)\)", text(README)))


def test_the_readme_is_short():
    assert len(text(README).split()) <= 900
