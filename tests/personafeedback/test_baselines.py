"""The baselines, spelled out; `longest` and `first` are those of the Inspect tasks."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from support.documents import DOCS, text
from support.releases import write_release

from personafeedback_tasks.cli.main import main
from personafeedback_tasks.personafeedback.baselines import BASELINES, baselines, with_other_persona
from personafeedback_tasks.personafeedback.cases import PersonaCase, load_cases
from personafeedback_tasks.personafeedback.persona import Persona

ANN = {"Name": "Ann", "Preference": {"Social": "Green TEA, 喜欢爬山"}, "Chess": ["no"]}


def case(chosen: str, rejected: str, profile=ANN) -> PersonaCase:
    return PersonaCase.of(
        Persona("u1", profile), id="general_hard:1", cell="general_hard", question="q?", responses=(chosen, rejected)
    )


@pytest.fixture(scope="module")
def real(real_data):
    return load_cases(real_data, "general")


@pytest.mark.parametrize(("name", "chosen", "rejected", "expected"), [
    ("longest", "four", "six", 1.0), ("longest", "six", "four", 0.0), ("longest", "cup", "tea", 0.5),
    ("longest", "茶茶", "tea", 0.0),  # characters, not bytes
    ("overlap", "green tea", "tea", 1.0),  # 2 terms of the persona against 1
    ("overlap", "tea tea tea", "green", 0.5), ("overlap", "green and black and white", "tea", 0.5),  # 1 against 1
    ("overlap", "爬山", "山爬", 1.0),  # 爬山 stands in it, 山爬 does not
    ("overlap", "Chess, Social", "coffee", 0.5),  # keys are no values
    ("overlap_share", "green and black and white", "tea", 0.0),  # 1 of 4 terms against 1 of 1
    ("overlap_share", "green tea", "tea", 0.5),  # 2 of 2 against 1 of 1
    ("overlap_share", "...", "coffee", 0.5), ("overlap_share", "...", "tea", 0.0),  # no term at all: 0 against 0, 1
    ("name", "Tea.", "Dear Ann, tea.", 0.0), ("name", "Ann: tea.", "Dear Ann, tea.", 0.5),
])  # fmt: skip
def test_a_baseline_scores_a_case(name, chosen, rejected, expected):
    assert BASELINES[name](case(chosen, rejected)) == expected


SAID = [
    ("Lily", "为花卉从业者Lily设计的行程"), ("Zoë", "Zoë, tea"), ("Emily Chen", "Dear Emily,"), ("李明", "适合李明的行程"), ("李明（Ming）", "Ming，您好"),
]  # fmt: skip
UNSAID = [
    ("Lily", "lily of the valley"), ("Zo", "Zoë, tea"), ("Emily Chen", "Dear Ms. Chen,"), ("Dr. Emily Chen", "Dr. No"), ("李明", "适合李华的行程"),
    ("A.*", "B"), ("", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [*SAID, *UNSAID])
def test_a_response_says_a_name(name, text):
    assert BASELINES["name"](case(text, "...", {"Name": name})) == (1.0 if (name, text) in SAID else 0.5)


def test_the_real_figures(real):
    """And those of docs/reports.md."""
    shown = ("general_easy", "general_medium", "general_hard", "general")

    def rounded(found):
        return {name: tuple(round(of[group].value, 3) for group in shown) for name, of in found.items()}

    own, other = baselines(real), with_other_persona(real)[0]
    assert rounded(own) == {
        "longest": (0.765, 0.745, 0.727, 0.748), "overlap": (0.881, 0.830, 0.672, 0.809),
        "overlap_share": (0.861, 0.782, 0.574, 0.758), "name": (0.526, 0.559, 0.515, 0.534),
    }  # fmt: skip
    assert {name: of[:3] for name, of in rounded(other).items()} == {
        "overlap": (0.725, 0.628, 0.604), "overlap_share": (0.518, 0.483, 0.498),
    }  # fmt: skip
    page = text(DOCS / "reports.md")
    for of in (*other.values(), *(own[name] for name in other)):
        assert " / ".join(f"{100 * of[group].value:.1f}" for group in shown[:3]) in page


def test_all_right_of_a_few_cases_has_an_interval_and_each_column_a_name_of_its_own():
    words = CliRunner().invoke(main, ["audit", "--data", "sample"]).stdout
    assert "± " not in words
    accuracy, difference = words.split("Right minus wrong: accuracy minus that with another user's persona")
    assert re.search(r"general easy +50.0 +17.7–82.3 +100.0 +57.2–100.0\n", accuracy)
    assert re.search(r"general easy +\+37.5 +-5.8 to \+89.9", difference)


def test_where_nobody_elses_persona_fits_the_command_says_why(tmp_path):
    rows = [{"user_id": "u", "question": "q?", "chosen": "tea", "rejected": "x"}]
    root = write_release(tmp_path / "release", {"general/easy": rows}, {"u": ANN})
    arguments = ["audit", "--data", str(root)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert (
        "No baseline with another persona: release/persona: found no persona to show in place of that of user_id 'u'"
        in words
    )
    assert "Right minus wrong" not in words
    document = json.loads(CliRunner().invoke(main, [*arguments, "--json", "-"]).stdout)["baselines"]
    assert document["other_persona"] is document["right_minus_wrong"] is None
    assert document["acc"]["overlap"]["general_easy"]["value"] == 1
