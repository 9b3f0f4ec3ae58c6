"""The audit: what it finds is what was planted, and on the real General half what independent counting found."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from support.releases import write_release

from personafeedback_tasks.cli.main import main
from personafeedback_tasks.common import errors
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.common.outputs import SCHEMA
from personafeedback_tasks.personafeedback import audit as audit_module
from personafeedback_tasks.personafeedback.artifacts import ARTIFACTS
from personafeedback_tasks.personafeedback.audit import AUDIT_VERSION, FLAGGED, MEANINGS, audit
from personafeedback_tasks.personafeedback.baselines import baselines
from personafeedback_tasks.personafeedback.cases import load_cases, load_present, present_cells
from personafeedback_tasks.personafeedback.release import PAPER_COUNTS

PERSONAS = {"u1": {"Name": "Ann", "Personality": {"Judging_or_Perceiving": "J"}}, "u2": {"Name": "李雷"}}
CELLS = ("general/easy", "general/medium", "general/hard")


def row(user: str = "u1", number: int = 0, **changes: str) -> dict[str, str]:
    texts = {"question": f"question {number}?", "chosen": f"chosen {number}.", "reject": f"rejected {number}."}
    return {"user_id": user, **texts, **changes}


CLEAN = {cell: [row("u1", 10 * n), row("u2", 10 * n), row("u1", 10 * n + 1)] for n, cell in enumerate(CELLS)}
"""Three rows in each cell of General. The two users ask the same questions: only a user's own rows are repeats."""


def load(root: Path, **options):
    return load_cases(root, **{"category": "general", "counts": "any", **options})


def ids(found) -> dict[str, tuple[str, ...]]:
    return {name: finding.ids for name, finding in found.findings.items() if finding.ids}


# --- the real General half -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(real_data):
    return audit(load_cases(real_data, "general"))


def test_the_real_repeats(real):
    assert len(real.repeats) == 537
    assert {len(rows) for rows in real.repeats} == {2}
    assert real.as_dict()["pairs_across_cells"] == {
        "general_easy + general_hard": {"same": 190, "opposite": 84},
        "general_medium + general_hard": {"same": 180, "opposite": 83},
    }
    assert real.findings["repeat"].cells == {"general_easy": 190, "general_medium": 180, "general_hard": 370}
    assert real.findings["contradiction"].cells == {"general_easy": 84, "general_medium": 83, "general_hard": 167}


def test_the_real_ceiling_is_one_row_lost_for_each_contradiction(real):
    assert real.ceilings == {"general": (3841 - 167) / 3841}


def test_the_real_responses_that_change_their_role(real):
    # 167 contradictions of two responses each, and 23 responses that meet another opponent.
    assert real.role_changes == 357
    assert len(real.findings["role_change"].ids) == 547


def test_the_real_artifacts(real):
    found = {name: len(real.findings[name].ids) for name in ARTIFACTS}
    assert found == {
        "artifact_tags": 9,
        "artifact_preamble": 1,
        "artifact_profile": 5,
        "artifact_unparsed": 1,
        "artifact_colon": 9,
        "artifact_boilerplate": 1,
        "artifact_chat_tokens": 0,
    }
    colons = {
        text
        for case in real.cases
        for text in (case.chosen, case.rejected)
        if case.id in real.findings["artifact_colon"].ids and text.endswith("：")
    }
    assert len(colons) == 5


def test_the_real_artifact_is_all_that_cruder_searches_find(real):
    crude = {
        "artifact_tags": r"</?\w+>(?!\|)|degraded",
        "artifact_profile": r'"[A-Z]\w+":',
        "artifact_unparsed": r"解析回答|pars(e|ing) (error|failed)|(?i:unable|failed) to pars",
        "artifact_chat_tokens": r"<\||\|>|INST|_of_turn|</?s>",
    }
    for name, pattern in crude.items():
        hits = {c.id for c in real.cases if any(re.search(pattern, text) for text in (c.chosen, c.rejected))}
        assert set(real.findings[name].ids) == hits, name


def test_the_real_cells(real):
    cells = real.as_dict()["cells"]
    for difficulty in ("easy", "medium", "hard"):
        cell = cells[f"general_{difficulty}"]
        assert cell["cases"] == cell["expected"] == PAPER_COUNTS["general", difficulty]
        assert cell["languages"] == {"zh": cell["cases"]}
        assert cell["median_characters"]["chosen"] > cell["median_characters"]["rejected"]
    assert real.as_dict()["users"] == 147


def test_the_user_s_name_is_said_in_one_response_alone_488_times_and_mostly_in_the_chosen_one(real):
    total = real.shortcuts["name"]["general"]
    assert total.n == 488  # 376 + 112
    assert total.value == 376 / 488
    assert real.findings["name_in_one"].cells == {"general_easy": 121, "general_medium": 283, "general_hard": 84}


def test_the_real_questions_are_ten_for_each_user(real):
    assert real.questions == {
        "general": {
            "users": 147,
            "questions_per_user": {"min": 10, "max": 10},
            "combinations": 1470,
            "questions": 722,
        }
    }


def test_the_real_easy_and_hard_cases_of_a_question_have_at_most_three_responses(real):
    assert real.options == {"general": {"combinations": {"2": 210, "3": 1010}, "more": []}}


def test_the_real_rewrite_pairs_have_all_left_over_tags_and_share_no_response_with_easy_or_hard(real):
    found = real.findings["rewrite_pairs"]
    assert found.cells == {"general_medium": 801}
    assert found.not_searched == ()
    assert set(real.findings["artifact_tags"].ids) <= set(found.ids)
    assert not set(found.ids) & {id_ for name in ("repeat", "contradiction") for id_ in real.findings[name].ids}
    # Any response in common would do: no Medium pair has one of two.
    shown = {
        (c.user_id, c.question, text) for c in real.cases if c.difficulty != "medium" for text in (c.chosen, c.rejected)
    }
    easy = {(c.user_id, c.question) for c in real.cases if c.difficulty == "easy"}
    for case in real.cases.cells["general_medium"]:
        known = [(case.user_id, case.question, text) in shown for text in (case.chosen, case.rejected)]
        assert known[0] == known[1], case.id
        assert (case.id in found.ids) == (not any(known) and (case.user_id, case.question) in easy), case.id


def test_the_real_rows_have_no_scenario(real):
    assert real.scenarios == {}


# --- clean and planted -----------------------------------------------------------------------------------------------


def test_a_clean_release_gives_no_finding(make_release):
    found = audit(load(make_release(CLEAN, PERSONAS)))
    assert ids(found) == {}
    assert (found.flagged, found.repeats, found.role_changes) == (frozenset(), (), 0)
    assert set(found.ceilings.values()) == {1.0}
    assert list(found.findings) == list(MEANINGS)  # what was looked for is listed though nothing was found


def test_the_sample_gives_no_finding_but_two_names_in_each_cell():
    found = audit(load_cases("sample"))
    assert ids(found).keys() == {"name_in_one"}
    assert found.findings["name_in_one"].cells == {"_".join(cell): 2 for cell in PAPER_COUNTS}


def swapped(one: dict[str, str]) -> dict[str, str]:
    return {**one, "chosen": one["reject"], "reject": one["chosen"]}


EASY, HARD = CLEAN["general/easy"][0], CLEAN["general/hard"][0]
CHANGE = row(question=EASY["question"], chosen=EASY["reject"], reject="a third response.")


@pytest.mark.parametrize(
    ("planted", "expected"),
    [  # rows added at the end of a cell -> the finding's ids; line 4 is the first row added
        pytest.param({"general/hard": [EASY]}, {"repeat": ("general_easy:1", "general_hard:4")}, id="same"),
        pytest.param({"general/easy": [EASY]}, {"repeat": ("general_easy:1", "general_easy:4")}, id="same cell"),
        pytest.param(
            {"general/medium": [EASY], "general/hard": [EASY]},
            {"repeat": ("general_easy:1", "general_medium:4", "general_hard:4")},
            id="three times",
        ),
        pytest.param(
            {"general/medium": [swapped(HARD)]},
            {name: ("general_medium:4", "general_hard:1") for name in ("contradiction", "role_change")},
            id="opposite",
        ),
        pytest.param(
            {"general/medium": [HARD], "general/easy": [swapped(HARD)]},
            {
                name: ("general_easy:4", "general_medium:4", "general_hard:1")
                for name in ("contradiction", "role_change")
            },
            id="two against one",
        ),
        pytest.param(
            {"general/hard": [CHANGE]}, {"role_change": ("general_easy:1", "general_hard:4")}, id="another opponent"
        ),
        pytest.param({"general/hard": [{**EASY, "user_id": "u2"}]}, {}, id="another user"),
        pytest.param({"general/hard": [{**EASY, "question": "question 0? "}]}, {}, id="another question by a space"),
        pytest.param({"general/hard": [{**EASY, "chosen": "Chosen 0."}]}, {}, id="another response by a letter"),
    ],
)
def test_a_planted_repeat_adds_exactly_its_ids(make_release, planted, expected):
    clean = {cell: [row("u1", 10 * n), row("u1", 10 * n + 1), row("u2", 90 + n)] for n, cell in enumerate(CELLS)}
    cells = {cell: [*rows, *planted.get(cell, [])] for cell, rows in clean.items()}
    found = audit(load(make_release(cells, PERSONAS)))
    assert ids(found) == expected
    assert found.flagged == {id_ for name, wrong in expected.items() if name != "role_change" for id_ in wrong}


DIRT = {
    "artifact_tags": [
        "所有要求。\n</think>\n\n<degraded_answer>\n下周天气多变。",
        "<think>The user wants tea.",
        "Tea.</final_answer>",
        "<Reasoning>Tea.</Reasoning> Tea.",
        "<response>Tea.",
        "Tea.</answer>\n",
    ],
    "artifact_preamble": [
        "修改后的回答内容：  \n\n1. 茶。",
        "以下是改写后的回答。茶。",
        "Here is the rewritten response: tea.",
        "**Here's the degraded answer**\n\nTea.",
    ],
    "artifact_profile": [
        '茶。完整的用户资料： {"Name": "韩梅", "Demographics": {"Age": 3}, "Preference": {"Social": "茶"}}'
    ],
    "artifact_unparsed": [
        "无法解析回答",
        "解析失败。",
        "未能提取回答",
        "Could not parse the response.",
        "couldn't parse response",
        "Unable to parse answer",
        "Failed to parse model output",
        "[ERROR] cannot be parsed",
        "Error: failed to extract the answer",
        "JSON parse error",
        "JSONDecodeError: line 1",
        "Parsing failed",
        "Response could not be parsed.",
        "None",
        "null",
        "N/A",
    ],
    "artifact_colon": ["一些具体建议如下：", "Here are three ideas:", "Three ideas: \n", "**以下是建议：**"],
    "artifact_boilerplate": [
        "Sure! Here's a personalized answer: tea.",
        "Here are some tailored recommendations for you: tea.",
        "Based on your persona, tea.",
        "Given your profile, tea.",
        "Tea. It suits you, based on your personality type.",
        "Since your MBTI is INTJ, tea.",
        "As an INFP, you will like tea.",
        "Tea, since you’re an ESTJ.",
        "As an AI language model, I say tea.",
        "**Assistant:** Tea.",
        "当然！以下是为您量身定制的建议：茶。",
        "好的，以下是个性化的回答：茶。",
        "根据您的画像，茶。",
        "根据你提供的用户资料，茶。",
        "由于您的MBTI是INTJ，茶。",
        "作为ESTP，您会喜欢茶。",
        "作为一个人工智能语言模型，我选茶。",
        "助手：茶。",
    ],
    "artifact_chat_tokens": [
        "Tea.<|im_end|>",
        "<|start_header_id|>assistant",
        "[INST] tea? [/INST] Tea.",
        "<<SYS>> tea",
        "Tea.<end_of_turn>",
        "<｜end▁of▁sentence｜>茶。",
        "<s> Tea.",
        "Tea.</s>",
    ],
}


def test_every_kind_of_artifact_has_its_examples():
    assert set(DIRT) == set(ARTIFACTS)


@pytest.mark.parametrize("side", ["chosen", "reject"])
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in DIRT.items() for text in texts])
def test_planted_artifact_adds_exactly_its_id(make_release, name, text, side):
    cells = {**CLEAN, "general/medium": [*CLEAN["general/medium"], row("u2", 77, **{side: text})]}
    found = audit(load(make_release(cells, PERSONAS)))
    assert ids(found) == {name: ("general_medium:4",)}
    assert found.flagged == {"general_medium:4"}


@pytest.mark.parametrize(
    "text",
    [
        "Line one.<br>Line two.<br/>And a <b>bold</b> word, a <p>paragraph</p>.",
        "Use `<your_name>`, `<your_answer>`, `<api_response>` and `<output>` as placeholders.",
        "vector<string> words; List<Answer> answers; if (a < answer && b > 3) return;",
        "Strike it through: <s>old</s>, then write new.",
        "let answer = f <| x |> g",
        "Catch the error and read its message. An error is no shame.",
        "先做用户画像，再根据用户画像调整内容。",
        "If the file could not be parsed, check its encoding first; then try another parser, or open it by hand.",
        "Failed to parse the date? Give strptime the format, and test it with a few real dates.",
        "解析失败通常有三个原因：编码不对、文件不全、格式写错。先检查编码，再检查文件是否完整，最后对照格式说明逐行查看，一般都能找到问题所在。",
        "None of these teas is too strong.",
        "Error handling matters.",
        '{"Name": "Bob", "Age": 3, "Preference": "tea"} is a valid JSON object.',
        "好的！以下是修改后的邮件：\n\n您好，会议改到三点。",
        "Here is the revised letter:\n\nDear Sir, tea at three.",
        "Remember this ratio: 1:2.",
        "I think: the answer is tea. My reasoning? Response times.",
        "Based on your LinkedIn profile, recruiters see a teacher.",
        "As an AI engineer or an assistant professor, you have other choices.",
        "Here is a personalized card for your mother:\n\nDear mother, tea at three.",
        "当然可以！根据您的习惯，先喝茶。",
        "我是AI爱好者，也喜欢茶。您可以请助手：张三。",
        "Think about <think tanks> and [INSTITUTE] prices, e.g. 3 < 4 | 5 > 4.",
    ],
)
def test_ordinary_texts_are_no_artifacts(make_release, text):
    cells = {**CLEAN, "general/medium": [row("u2", 77, chosen=text), row("u1", 77, reject=text)]}
    assert ids(audit(load(make_release(cells, PERSONAS)))) == {}


# --- how the cases of a question hang together ------------------------------------------------------------------------


def pair(chosen: str, reject: str, user: str = "u1", question: str = "q") -> dict[str, str]:
    return row(user, question=question, chosen=chosen, reject=reject)


BUILT = {
    "general/easy": [pair("a", "b"), pair("a", "c"), pair("a", "b", "u2"), pair("d", "e", question="four")],
    "general/medium": [
        pair("w", "x"),  # neither is an option
        pair("a", "x"),  # one is
        pair("b", "c"),  # both are
        pair("w", "x", "u2"),  # no Hard case, but an Easy one
        pair("w", "x", "u2", "medium only"),
        pair("w", "x", "u2", "no easy"),
    ],
    "general/hard": [pair("c", "b"), pair("f", "g", question="four"), pair("h", "i", "u2", "no easy")],
}


@pytest.mark.parametrize("difficulties", [(), ("easy",), ("easy", "medium", "hard")])
def test_what_was_built_is_found_whatever_the_other_category_has(make_release, difficulties):
    other = {f"specific/{difficulty}": [pair("w", "x"), pair("w", "x", "u2")] for difficulty in difficulties}
    root = make_release({**BUILT, **other}, PERSONAS)
    found = audit(load_present(root, counts="any"))
    assert found.findings["rewrite_pairs"].ids == ("general_medium:1", "general_medium:4")
    assert found.findings["rewrite_pairs"].not_searched == ()
    assert found.options["general"] == {
        "combinations": {"2": 1, "3": 1, "4": 1},
        "more": [{"responses": 4, "ids": ["general_easy:4", "general_hard:2"]}],
    }
    assert found.questions["general"] == {
        "users": 2,  # u1 has 2 questions, u2 has 3, and both have q
        "questions_per_user": {"min": 2, "max": 3},
        "combinations": 5,
        "questions": 4,
    }


@pytest.mark.parametrize("absent", ["general/easy", "general/hard"])
def test_without_easy_or_hard_cases_no_rewrite_pair_is_looked_for(make_release, absent):
    root = str(make_release({cell: rows for cell, rows in BUILT.items() if cell != absent}, PERSONAS))
    document = json.loads(command("--data", root, "--counts", "any", "--json", "-").stdout)
    found = document["findings"]["rewrite_pairs"]
    assert (found["ids"], found["not_searched"], document["options"]) == ([], ["general_medium"], {})
    printed = command("--data", root, "--counts", "any").output
    assert re.search(r"^rewrite_pairs( +(0|–)){2} +–$", printed, re.MULTILINE)
    assert "\n  Not searched in general_medium: needs the category's Easy and Hard cases.\n" in printed


def test_the_tables_count_questions_and_their_responses(make_release):
    printed = command("--data", str(make_release(BUILT, PERSONAS)), "--counts", "any").output
    assert re.search(r"^general +2 +2–3 +5 +4$", printed, re.MULTILINE)
    assert re.search(r"^ +2  3  4\n.*\ngeneral  1  1  1$", printed, re.MULTILINE)
    assert "Not searched" not in printed


def test_one_response_alone_that_says_the_name_is_found_whichever_it_is(make_release):
    cells = {
        **CLEAN,
        "general/hard": [
            pair("Ann, tea.", "Tea."),
            pair("Tea.", "Ann, coffee."),
            pair("Ann, tea.", "Ann, coffee."),
            pair("Ann, tea.", "Tea.", "u2"),
            pair("适合李雷", "Tea.", "u2", "other"),
        ],
    }
    found = audit(load(make_release(cells, PERSONAS)))
    assert found.findings["name_in_one"].ids == ("general_hard:1", "general_hard:2", "general_hard:5")
    assert found.shortcuts["name"]["general_hard"].n == 3
    assert found.shortcuts["name"]["general_hard"].value == 2 / 3


def test_scenarios_are_counted_by_the_categories_of_table_5(make_release):
    values = ["Budget Management", "Finance", "Music", "Astrology", "", ["Music"], 3, None]
    rows = [row("u1", number, scenario=value) for number, value in enumerate(values)]
    root = str(make_release({**CLEAN, "general/hard": [*rows, row("u2", 9)], "general/easy": rows[:1]}, PERSONAS))
    document = json.loads(command("--data", root, "--counts", "any", "--json", "-").stdout)
    assert document["scenarios"] == {
        "Entertainment & Leisure": {"general_hard": 1},
        "Finance": {"general_easy": 1, "general_hard": 2},
        "other scenarios": {"general_hard": 4},
    }
    printed = command("--data", root, "--counts", "any").output
    table = printed.partition("Scenarios, in cases\n")[2].partition("\n\nFindings")[0].splitlines()
    (rule,) = [line for line in table if set(line) == {"─"}]
    headings = " ".join(" ".join(table[: table.index(rule)]).split())
    assert headings.startswith("Entertainment")  # the order of Table 5
    assert table[table.index(rule) + 1 :] == [line.rstrip() for line in table[table.index(rule) + 1 :]]
    rows = [line.split() for line in table[table.index(rule) + 1 :]]
    assert rows == [
        ["general_easy", "0", "1", "0"],
        ["general_medium", *"000"],
        ["general_hard", *"124"],
        ["total", *"134"],
    ]


def test_without_a_scenario_nothing_is_said_of_them(make_release):
    root = str(make_release(CLEAN, PERSONAS))
    assert "Scenarios" not in command("--data", root, "--counts", "any").output
    assert json.loads(command("--data", root, "--counts", "any", "--json", "-").stdout)["scenarios"] == {}


# --- the ceiling -----------------------------------------------------------------------------------------------------


def pair_of(case) -> tuple[str, ...]:
    return (case.user_id, case.question, *sorted((case.chosen, case.rejected)))


def best_judge(cases) -> float:
    """Try every judge that ignores the order: each is a choice of one response for every user, question and pair."""
    seen = sorted({pair_of(c) for c in cases})
    best = 0
    for choices in product((2, 3), repeat=len(seen)):
        picks = {pair: pair[choice] for pair, choice in zip(seen, choices, strict=True)}
        best = max(best, sum(picks[pair_of(c)] == c.chosen for c in cases))
    return best / len(cases)


def releases(responses: Sequence[str]) -> st.SearchStrategy:
    """Releases of two users and one question, with these responses."""
    of_row = st.builds(
        lambda user, texts: {"user_id": user, "question": "q", "chosen": texts[0], "reject": texts[1]},
        st.sampled_from(["u1", "u2"]),
        st.sampled_from([(a, b) for a in responses for b in responses if a != b]),
    )
    return st.fixed_dictionaries(
        {f"{category}/{name}": st.lists(of_row, min_size=1, max_size=4) for category in ("general", "specific")
         for name in ("easy", "medium", "hard")}
    )  # fmt: skip


SMALL = releases("xyz")
WIDE = releases(["v", "w", "x", "y", "Ann", "李雷"])
"""Also rewrite pairs, more than three options, and names."""


def audited(cells, personas=PERSONAS):
    with tempfile.TemporaryDirectory() as folder:
        return audit(load_cases(write_release(Path(folder) / "r", cells, personas), counts="any"))


@given(SMALL)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_ceiling_is_the_accuracy_of_the_best_judge_that_ignores_the_order(cells):
    found = audited(cells)
    assert found.ceiling() == pytest.approx(best_judge(found.cases))
    for category in ("specific", "general"):
        cases = [c for c in found.cases if c.category == category]
        assert found.ceiling(category) == found.ceilings[category] == pytest.approx(best_judge(cases))
    assert found.ceilings["total"] == found.ceiling()


def test_the_ceiling_worked_by_hand(make_release):
    # x beats y twice and loses once: 2 of 3 rows can be right. With the two other rows: 4 of 5.
    pair = row(chosen="x", reject="y")
    cells = {
        "general/easy": [pair, row(number=1)],
        "general/medium": [pair, row(number=2)],
        "general/hard": [swapped(pair)],
    }
    assert audit(load(make_release(cells, PERSONAS))).ceiling("general") == 4 / 5


def test_the_ceiling_of_a_category_that_is_not_there_is_refused(make_release):
    found = audit(load(make_release(CLEAN, PERSONAS)))
    with pytest.raises(OptionError, match=r"^category must be one of general, got 'specific'\.$"):
        found.ceiling("specific")


# --- properties ------------------------------------------------------------------------------------------------------


def by_content(found) -> dict[str, Counter]:
    """Every finding as the cells and rows that it names, whatever their line numbers."""
    rows = {c.id: (c.cell, c.user_id, c.question, c.chosen, c.rejected) for c in found.cases}
    return {name: Counter(rows[id_] for id_ in finding.ids) for name, finding in found.findings.items()}


@pytest.mark.slow
@given(WIDE, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_order_of_the_rows_changes_nothing(cells, random):
    shuffled = {cell: random.sample(rows, len(rows)) for cell, rows in cells.items()}
    one, other = audited(cells), audited(shuffled)
    assert by_content(one) == by_content(other)
    assert one.role_changes == other.role_changes
    assert one.ceilings == other.ceilings
    left, right = one.as_dict(), other.as_dict()
    assert left["cells"] == right["cells"]
    assert left["pairs_across_cells"] == right["pairs_across_cells"]
    assert left["questions"] == right["questions"]
    for category, of in left["options"].items():
        assert of["combinations"] == right["options"][category]["combinations"]


@given(WIDE)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_ids_of_the_users_change_no_finding(cells):
    other_id = {"u1": "z", "u2": "a"}
    renamed = {cell: [{**one, "user_id": other_id[one["user_id"]]} for one in rows] for cell, rows in cells.items()}
    profiles = {other_id[user]: profile for user, profile in PERSONAS.items()}
    one, other = audited(cells).as_dict(), audited(renamed, profiles).as_dict()
    for unchanged in ("findings", "flagged", "repeats", "questions", "options", "ceiling"):
        assert one[unchanged] == other[unchanged]


@given(WIDE)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_exchanging_chosen_and_rejected_everywhere_mirrors_the_baselines_and_changes_no_finding(cells):
    one = audited(cells)
    other = audited({cell: [swapped(line) for line in rows] for cell, rows in cells.items()})
    assert one.findings == other.findings
    assert (one.options, one.questions, one.ceilings) == (other.options, other.questions, other.ceilings)
    mirrored = baselines(other.cases)["name"]
    for group, of in baselines(one.cases)["name"].items():
        assert of.value == pytest.approx(1 - mirrored[group].value)


@given(SMALL)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_ids_stand_in_the_order_of_the_release_and_what_is_left_is_free_of_repeats(cells):
    found = audited(cells)
    order = {"_".join(cell): n for n, cell in enumerate(PAPER_COUNTS)}
    for finding in found.findings.values():
        keys = [(order[id_.partition(":")[0]], int(id_.partition(":")[2])) for id_ in finding.ids]
        assert keys == sorted(set(keys))
        assert sum(finding.cells.values()) == len(finding.ids)
    assert not set(found.findings["repeat"].ids) & set(found.findings["contradiction"].ids)
    assert set(found.findings["contradiction"].ids) <= set(found.findings["role_change"].ids)
    left = [c for c in found.cases if c.id not in found.flagged]
    pairs = [pair_of(c) for c in left]
    assert len(pairs) == len(set(pairs))


def test_flagged_is_what_its_kinds_list(real):
    assert set(FLAGGED) == {"repeat", "contradiction", *ARTIFACTS}
    assert real.flagged == {id_ for name in FLAGGED for id_ in real.findings[name].ids}
    assert len(real.flagged) == 1092


# --- JSON and the command --------------------------------------------------------------------------------------------


def command(*arguments: str):
    return CliRunner().invoke(main, ["audit", *arguments])


def test_the_json_is_the_audit(make_release, tmp_path):
    cells = {**CLEAN, "general/hard": [*CLEAN["general/hard"], EASY, row("u2", 7, reject="以下：")]}
    root, path = make_release(cells, PERSONAS), tmp_path / "audit.json"
    done = command("--data", str(root), "--counts", "any", "--json", str(path))
    assert done.exit_code == 0, done.output
    text = path.read_text("utf-8")
    document = json.loads(text)
    assert list(document) == sorted(document)
    found = audit(load(root))
    assert document == {"schema": SCHEMA, **found.as_dict()}
    assert document["audit_version"] == AUDIT_VERSION
    assert document["data"] == found.cases.revision
    assert document["cells_absent"] == ["specific_easy", "specific_medium", "specific_hard"]
    assert document["repeats"] == [{"ids": ["general_easy:1", "general_hard:4"], "label": "same"}]
    assert document["findings"]["artifact_colon"] == {
        "meaning": MEANINGS["artifact_colon"],
        "flagged": True,
        "cases": 1,
        "cells": {"general_hard": 1},
        "ids": ["general_hard:5"],
        "not_searched": [],
    }
    assert document["flagged"] == ["general_easy:1", "general_hard:4", "general_hard:5"]


def test_json_on_stdout_stands_alone_and_the_missing_cells_go_to_stderr(make_release):
    done = command("--data", str(make_release(CLEAN, PERSONAS)), "--counts", "any", "--json", "-")
    assert json.loads(done.stdout)["users"] == 2
    assert (
        done.stderr == "No file for specific_easy, specific_medium, specific_hard: only the other cells are included.\n"
    )


def test_an_undefined_standard_error_is_null(make_release):
    one_user = {cell: [row("u1", n)] for n, cell in enumerate(CELLS)}
    done = command("--data", str(make_release(one_user, PERSONAS)), "--counts", "any", "--json", "-")
    assert json.loads(done.stdout)["shortcuts"]["longest"]["general"]["stderr"] is None


def test_the_tables_name_every_finding_and_no_line_is_cut(make_release):
    done = command("--data", str(make_release(CLEAN, PERSONAS)), "--counts", "any")
    assert done.exit_code == 0, done.output
    assert "No file for specific_easy, specific_medium, specific_hard" in done.output
    lines = done.output.splitlines()
    for name, meaning in MEANINGS.items():
        starred = f"{name}*" if name in FLAGGED else name
        (line,) = [line for line in lines if line.split()[:1] == [starred]]
        assert line.split()[1:] == ["0"] * 4  # three cells and their total
        assert sum(line.startswith(f"{starred}: {meaning}") for line in lines) == 1
    assert "…" not in done.output
    assert "\x1b" not in done.output
    assert all(line == line.rstrip() for line in done.output.splitlines())


def test_the_cells_that_are_present(make_release):
    cells = {"spedific/mid": [row()], "general/easy": [row()]}
    root = make_release(cells, PERSONAS)
    assert present_cells(root) == (("specific", "medium"), ("general", "easy"))
    assert present_cells("sample") == tuple(PAPER_COUNTS)
    document = json.loads(command("--data", str(root), "--counts", "any", "--json", "-").stdout)
    assert set(document["cells"]) == {"specific_medium", "general_easy"}


def test_one_difficulty_takes_the_cells_of_it_that_are_there(make_release):
    root = str(make_release({**CLEAN, "specific/hard": [row("u2", 5)]}, PERSONAS))
    document = json.loads(command("--data", root, "--counts", "any", "--difficulty", "hard", "--json", "-").stdout)
    assert set(document["cells"]) == {"specific_hard", "general_hard"}


def test_a_category_that_is_asked_for_must_be_there(make_release):
    done = command("--data", str(make_release(CLEAN, PERSONAS)), "--counts", "any", "--category", "specific")
    assert done.exit_code == 1
    assert re.fullmatch(r"Error: .*easy.jsonl: no such file, so there are no specific_easy cases\. .*\n", done.output)


def test_a_folder_without_any_cell_is_refused(tmp_path):
    done = command("--data", str(tmp_path))
    assert done.exit_code == 1
    assert "no such file, so there are no specific_easy cases." in done.output


def test_counts_that_differ_from_table_2_are_refused_until_any_is_passed(make_release):
    done = command("--data", str(make_release(CLEAN, PERSONAS)))
    assert done.exit_code == 1
    assert "found 3 cases of general_easy, expected 1510" in done.output


@pytest.mark.parametrize("command", [["audit", "--data", "sample"], ["baselines", "--data", "sample"], ["paper"]])
def test_without_rich_the_tables_say_what_to_install_and_json_needs_nothing(monkeypatch, command):
    find = errors.importlib.util.find_spec
    monkeypatch.setattr(errors.importlib.util, "find_spec", lambda module: None if module == "rich" else find(module))
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 1
    assert done.output == (
        "Error: rich is not installed. Install it with `pip install 'personafeedback-tasks[report]'`.\n"
    )
    assert CliRunner().invoke(main, [*command, "--json", "-"]).exit_code == 0


def test_the_console_script(real_data, tmp_path):
    script = Path(sysconfig.get_path("scripts")) / "personafeedback"
    done = subprocess.run(
        [script, "audit", "--data", real_data, "--json", tmp_path / "audit.json"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert document["findings"]["contradiction"]["cases"] == 2 * 167
    assert math.isclose(document["ceiling"]["general"], 0.9565, abs_tol=1e-4)
    assert re.search(r"general_medium \+ general_hard +180 +83\n", done.stdout)
    assert re.search(r"in percent\ncases +accuracy\n─+\ngeneral +95\.7\n", done.stdout)
    assert re.search(r"\ngeneral_hard .* 67\.9 ± 5\.5 \(84\)\n", done.stdout)


def test_the_meanings_are_one_sentence_each():
    for name, meaning in audit_module.MEANINGS.items():
        assert re.fullmatch(r"[A-Z][^.]*\.", meaning), name
