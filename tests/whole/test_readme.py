"""README and the pages in docs/: the first session, the example, the lists of names, the figures and the links."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
import yaml
from support.documents import CARD, CONTRIBUTING, DOCS, README, block, needs_checkout, section, table, tables, text
from support.environments import CHECKOUT, Venv
from support.inspect_runs import command

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.personafeedback.audit import AUDIT_VERSION
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import SETTINGS
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import HUB_REVISION, PAPER_COUNTS

pytestmark = needs_checkout

OPTIONS, METRICS, BUILDING = (DOCS / f"{name}.md" for name in ("options", "metrics", "building"))


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

    assert f"has {cases()} human-labeled cases" in readme
    assert f"all six cells, {cases()} |" in readme
    assert f"{cases('specific')} and {cases('general')} |" in readme
    assert f"{cases('easy')}, {cases('medium')} and {cases('hard')} |" in readme
    for category in ("specific", "general"):
        numbers = [cases(category, difficulty) for difficulty in ("easy", "medium", "hard")]
        assert f"{numbers[0]}, {numbers[1]} and {numbers[2]} |" in readme
    assert (
        f"General Hard has {cases('general', 'hard')} cases, so this makes {2 * 3 * PAPER_COUNTS['general_hard']:,} calls"
        in readme
    )
    assert f"`{HUB_REVISION[:7]}`" in text(DOCS / "data.md")


def test_the_table_of_methods_says_where_and_how_each_one_runs():
    default = next(iter(PERSONAFEEDBACK.methods))
    expected = {}
    for name, method in PERSONAFEEDBACK.methods.items():
        calls = {
            "lm-eval": "_".join(filter(None, ("NAME", method.suffix))),
            "inspect": "NAME" if name == default else f"-T method={name}",
        }
        expected[name] = {harness: calls[harness] for harness in method.harnesses}
    shown = {}
    for name, _, lm_eval, inspect in table(OPTIONS, "| method |"):
        calls = {"lm-eval": lm_eval.strip("`"), "inspect": inspect.strip("`").partition(" --model")[0]}
        shown[name.strip("`")] = {
            harness: call for harness, call in calls.items() if not call.startswith(("use ", "no"))
        }
    assert shown == expected


def test_the_table_of_settings_has_every_setting():
    assert set().union(*(names(row[0]) for row in table(OPTIONS, "| setting | the model sees"))) == set(SETTINGS)


def test_the_table_of_options_has_every_option_of_the_tasks():
    options = {*PERSONAFEEDBACK.options.names()}
    rows = table(OPTIONS, "| option |")
    assert {name.partition("=")[0] for _, _, inspect in rows for name in names(inspect)} == options
    for _, lm_eval, inspect in rows:
        assert set(re.findall(r'`"(\w+)": ', lm_eval)) <= {name.partition("=")[0] for name in names(inspect)}


def test_the_table_of_metrics_has_every_metric():
    shown = set().union(
        *(
            names(row[0])
            for page in (METRICS, DOCS / "recenter.md", DOCS / "chain.md", DOCS / "swap.md", DOCS / "writing.md")
            for rows in tables(page, "| metric |")
            for row in rows
        )
    )
    defaults = "".join(map(text, (CHECKOUT / "task_configs").glob("*/_default*_yaml")))
    metrics = {metric.name for method in PERSONAFEEDBACK.methods.values() for metric in method.metrics}
    metrics |= set(re.findall(r"- metric: (\w+)", defaults))
    assert {name.removesuffix("_stderr") for name in metrics} <= shown


# --- what the harnesses do ----------------------------------------------------------------------------------------------


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
    parts = text(CARD).partition("\nSignature: `")[2].split(" | ")
    assert parts[0].endswith(f" (task {TASK_VERSION})")
    assert f"audit {AUDIT_VERSION}" in parts, "write it again: see the last line of benchmarks/README.md"


def test_the_ranking_shown_is_that_of_the_same_run():
    """On General Hard."""
    *_, acc, interval = of_the_card()["hard"]
    row, sentence = [line for line in block(README, "story: excerpt").splitlines() if "personafeedback/longest" in line]
    assert row.split()[1:5] == ["personafeedback/longest", acc, interval, "+0.0"]  # it reads no persona
    assert sentence.endswith(
        "no sign that it uses this user's persona; picks the longer response in 99 % of the cases."
    )


def test_the_real_models_shown_are_those_of_their_page():
    of_all = {
        row[0]: row
        for row in table(CHECKOUT / "benchmarks" / "models.md", "| model | data |")
        if row[1:3] == ["hard", "mc"]
    }
    shown = table(README, "| model | `acc_sym` |")
    assert shown == [[name, of_all[name][5], of_all[name][9]] for name in of_all]
    assert {of_all[name][3] for name in of_all} == {"60"}


def test_the_length_baseline_is_that_of_the_data(real_data):
    shares = []
    for difficulty in ("easy", "medium", "hard"):
        cases = load_cases(real_data, "general", difficulty)
        longer = sum((len(c.chosen) > len(c.rejected)) + 0.5 * (len(c.chosen) == len(c.rejected)) for c in cases)
        shares.append(int(100 * longer / len(cases) + 0.5))
    assert f"{min(shares)} to {max(shares)} % of each cell" in " ".join(text(README).split())
    assert f"right in {min(shares)} to {max(shares)} % of each General cell |" in text(DOCS / "validity.md")


# --- pages: `tox -e site` follows every link --------------------------------------------------------------------------


def test_every_page_can_be_reached_from_the_readme():
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= set(re.findall(r"\]\((.*?)\)", text(README)))


def test_the_readme_is_short():
    assert len(text(README).split()) <= 900
