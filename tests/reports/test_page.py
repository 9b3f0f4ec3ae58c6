"""The page of `rank --out` and `report --out`: read as a file, and used in a real browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.commands import ran
from support.logs import inspect_log, lm_eval_log
from support.shown import embedded, rank_runs

from personafeedback_tasks.analysis.void import is_void
from personafeedback_tasks.logs.read import read_run, read_runs
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import page

JUDGES = ("gold", "readable", "mixed", "anti_gold")
SAMPLE = load_cases("sample")


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Run:
    """A run on some of the sample, whose answers or name are replaced."""
    return read_run(inspect_log(tmp_path_factory.mktemp("one"), "readable", "personafeedback_general_hard", "sample"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Logs of both harnesses: four judges, and one with log-likelihoods."""
    root = tmp_path_factory.mktemp("runs")
    for judge in JUDGES:
        inspect_log(root / "inspect", judge, "personafeedback", "sample")
    lm_eval_log(root / "lm", "always_first", "personafeedback_mc", "sample")
    return root


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out")
    ran("rank", folder, "--data", "sample", "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["ranking.csv", "ranking.html", "ranking.json", "ranking.md"]
    return out / "ranking.html"


@pytest.fixture(scope="module")
def ranked(folder) -> list[Run]:
    """The runs of the page, in its order: void ones last, by name."""
    runs = read_runs([folder])
    sound = [run for run in runs if not is_void(run)]
    sound.sort(key=lambda run: -sum(case.value(run.primary) for case in run.cases.values()))
    return sound + sorted(filter(is_void, runs), key=lambda run: run.label)


@pytest.fixture(scope="module")
def listed(written) -> list[dict]:
    """The entries of the runs in `ranking.json`, in the order of the page."""
    (ranking,) = json.loads(written.with_name("ranking.json").read_text("utf-8"))["rankings"]
    return ranking["runs"]


def answers(data: dict) -> list[list[dict | None]]:
    """Run -> its answer to each case."""
    return [[None if place is None else data["answers"][place] for place in run["answers"]] for run in data["runs"]]


def many(template: Run, size: int) -> Run:
    """A run with more cases than the list shows at once."""
    one = next(iter(template.cases.values()))
    ids = [f"general_hard:{number}" for number in range(1, size + 1)]
    results = [one.changed(case_id=case_id, user_id=f"u{number % 7}") for number, case_id in enumerate(ids)]
    return replace(template, cells={"general_hard": size}, results=results)


# --- the file --------------------------------------------------------------------------------------------------------


def test_every_text_of_every_case_is_in_the_page_which_names_no_address(template, tmp_path):
    log = template.logs[0]
    ran("rank", log, "--data", "sample", "--out", tmp_path)
    html = (tmp_path / "ranking.html").read_text(encoding="utf-8")
    data = embedded(html)
    there = {case.id: case for case in SAMPLE if case.id in template.cases}
    assert [one["id"] for one in data["cases"]] == [f"general_hard:{number}" for number in range(1, 9)]
    for one in data["cases"]:
        case = there[one["id"]]
        assert (one["question"], one["responses"]) == (case.question, [case.chosen, case.rejected])
        assert data["people"][one["about"]] == case.persona.text
    assert len(data["people"]) == len({case.user_id for case in there.values()})
    assert not re.search(r"https?:|url\(|@import", html)
    attributes = [attribute for _, attributes in Tags(html).found for attribute in attributes]
    assert not [value for name, value in attributes if name in ("src", "srcset", "action", "xlink:href")]
    assert all(value.startswith("#") for name, value in attributes if name == "href")


@pytest.mark.slow
def test_report_writes_the_page_of_rank(folder, written, tmp_path):
    ran("report", "--full", folder, "--data", "sample", "--out", tmp_path)
    assert (tmp_path / "report.html").read_bytes() == written.read_bytes()


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, attrs))


def test_without_data_the_page_says_why_and_has_all_but_the_texts(template):
    html = page.render([rank_runs(template, no_data="The data are gone.")], [])
    assert "The data are gone. So there are no baselines" in html
    assert "This page has no texts of these cases" in html
    data = embedded(html)
    assert [one["id"] for one in data["cases"]] == sorted(template.cases)
    assert not any(one.keys() & {"question", "responses", "about"} for one in data["cases"])
    assert [one["score"] for one in answers(data)[0]] == [
        template.cases[i].value("acc") for i in sorted(template.cases)
    ]


# --- in the browser --------------------------------------------------------------------------------------------------


def test_each_filter_shows_the_cases_that_it_names(browser, written, ranked):
    browser.open(written, "#cases")
    ids = [case.id for case in sorted(SAMPLE, key=lambda case: (list(SAMPLE.cells).index(case.cell), case.id))]
    assert browser.listed() == ids
    assert len(ranked) == 5
    scores = [{case_id: run.cases[case_id].value(run.primary) for case_id in ids} for run in ranked]

    def expect(wanted, **controls):
        browser.set(**controls)
        expected = [case_id for case_id in ids if wanted(case_id)]
        assert browser.listed() == expected, controls
        assert browser.texts("#found")[0].endswith(f"{len(expected)} case{'' if len(expected) == 1 else 's'}")

    def unreadable(run, case_id) -> bool:
        return any(answer not in ("A", "B") for answer in ranked[run].cases[case_id].answers)

    results = {
        "missed": lambda run, case_id: scores[run][case_id] < 1,
        "wrong": lambda run, case_id: scores[run][case_id] == 0,
        "mixed": lambda run, case_id: 0 < scores[run][case_id] < 1,
        "right": lambda run, case_id: scores[run][case_id] == 1,
        "unreadable": unreadable,
    }
    for run, (name, holds) in enumerate(results.items()):  # as many as there are runs
        expect(lambda i, run=run, holds=holds: holds(run, i), run=str(run + 1), result=name)
        expect(lambda i, holds=holds: any(holds(run, i) for run in range(len(ranked))), result=name)
    expect(lambda i: max(of[i] for of in scores) > 0.5 > min(of[i] for of in scores), disagree=True)
    hard = {case.id for case in SAMPLE.cells["general_hard"]}
    expect(hard.__contains__, cell="general_hard")
    expect({case.id for case in SAMPLE if case.user_id == SAMPLE[0].user_id}.__contains__, user=SAMPLE[0].user_id)
    expect(lambda i: True, flag="-")  # the sample has no findings
    expect(lambda i: i in hard and scores[1][i] < 1, cell="general_hard", run="2", result="missed")
    browser.click("button[type=reset]")
    browser.wait("return document.querySelectorAll('#list li').length === arguments[0]", len(ids))


def test_search_finds_every_text_and_marks_it(browser, written):
    browser.open(written, "#cases")
    case = SAMPLE[0]
    pieces = [text.split("\n")[0][:25].strip().upper() for text in (*case.responses, case.question, case.persona.text)]
    for wanted in (*pieces, "Radio", "怎么", "general_hard:3", "nora_s01", "no such text"):
        browser.set(search=wanted)
        expected = set()
        for one in SAMPLE:
            texts = (one.id, one.user_id, one.question, *one.responses, one.persona.text)
            if any(wanted.lower() in text.lower() for text in texts):
                expected.add(one.id)
        assert set(browser.listed()) == expected
    browser.set(search="RADIO")
    browser.click("#list a")
    browser.wait("return document.querySelectorAll('#case mark').length > 0")
    assert {text.lower() for text in browser.texts("#case mark")} == {"radio"}


def test_a_link_opens_its_case_with_texts_and_picks(browser, written, ranked):
    for case in SAMPLE[:3]:
        browser.open(written, f"#case={case.id.replace(':', '%3A')}")
        assert browser.texts(".case-head bdi")[0] == case.id
    browser.click(".go [aria-pressed]")  # plain text
    spoken = "return [...document.querySelectorAll('.response .text, #case .question')].map((one) => one.lang)"
    for case in SAMPLE[::3]:
        browser.go(case.id)
        assert browser.texts("#case .text") == [case.question, *case.responses, case.persona.text]
        assert set(browser(spoken)) == {case.language.replace("en", "")}, "fonts and screen readers need it"
        longer = {1: ["longer", ""], 0: ["", ""], -1: ["", "longer"]}
        order = (len(case.chosen) > len(case.rejected)) - (len(case.chosen) < len(case.rejected))
        headers = browser.texts(".response header")
        assert [text.split(maxsplit=1)[0][:6] for text in headers] == ["chosen", "reject"]
        assert [header.endswith("longer") for header in headers] == [bool(text) for text in longer[order]]
        rows = browser(
            "return [...document.querySelectorAll('.picks tbody tr')].map((row) => [...row.querySelectorAll('.pick')].map((one) => one.textContent))"
        )
        for row, run in zip(rows, ranked, strict=True):
            answers, gold = run.cases[case.id].answers, run.cases[case.id].targets
            assert row == [
                f"{answer}, {'chosen' if answer == target else 'rejected'}" if answer in ("A", "B") else f"unreadable: {answer.replace('_', ' ')}"
                for answer, target in zip(answers, gold, strict=True)
            ]  # fmt: skip
    for wrong, shown in (("#case=nobody", "nobody"), ("#case=%E0%A4%A", "\ufffd%A")):
        browser.open(written, wrong)
        assert browser.texts("#case") == [f"This page has no case {shown}."]


def test_a_long_list_has_pages_and_a_link_turns_to_its_own(browser, template, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(page.render([rank_runs(many(template, 120))], []), encoding="utf-8")
    browser.open(path, "#cases")
    assert len(browser.texts("#list li")) == 50
    assert browser.listed() == [f"general_hard:{number}" for number in range(1, 121)]
    assert browser.texts("#found") == ["101–120 of 120 cases"]
    browser.open(path, "#case=general_hard%3A77")
    assert browser.texts("#found") == ["51–100 of 120 cases"]
    assert browser.texts("#list [aria-current] .id bdi")[0] == "general_hard:77"


def test_a_click_on_a_heading_sorts_the_table(browser, written):
    """Numbers from the highest, names from A, and the other way round at a second click; what is undefined comes last."""
    browser.open(written)
    browser.click(".more-columns")
    names = browser.texts(".sortable .model bdi")
    for number, heading in enumerate(browser.texts(".sortable th"), start=1):
        cells = f"return [...document.querySelectorAll('.sortable tbody td:nth-child({number})')].map((one) => one.dataset.sort)"
        for click in range(2):
            browser.click(f".sortable th:nth-child({number}) button")
            descending = browser("return document.querySelector('[aria-sort]').ariaSort") == "descending"
            if heading == "model":
                assert browser.texts(".sortable .model bdi") == sorted(names, key=str.casefold, reverse=descending)
            elif heading != "score":
                values = [text for text in browser(cells) if text]
                assert browser(cells) == [*values, *[""] * (len(names) - len(values))]
                assert values == sorted(values, key=float, reverse=descending), heading
                assert descending == (click == 0), heading
        assert sorted(browser.texts(".sortable .model bdi")) == sorted(names)


def test_the_table_forest_and_matrix_have_every_run(browser, written, ranked, listed):
    browser.open(written)
    names = [run["shown"] for run in listed]
    assert [run["model"] for run in listed] == [run.model for run in ranked]
    assert browser.texts(".sortable .model bdi") == names
    assert browser.texts(".forest .bar .name bdi") == browser.texts(".signatures dt bdi") == names
    assert browser.texts(".signatures dd") == [run["signature"] for run in listed]
    sound = sum(not is_void(run) for run in ranked)
    assert sound < len(ranked)
    points = browser(
        "return [...document.querySelectorAll('.forest .point')].map((one) => one.getBoundingClientRect().x)"
    )[:sound]
    assert points == sorted(points, reverse=True)
    assert [text.split() for text in browser.texts(".forest .bar[data-run] .value")] == [
        text.split()
        for text in browser.texts(".sortable tbody td:nth-child(4)")  # the third says which score
    ]
    assert browser.texts(".matrix .name bdi") == names[: sound - 1]
    pairs = range(sound - 1)
    rows = [browser.texts(f".matrix tbody tr:nth-child({number + 1}) td") for number in pairs]
    assert [[text != "" for text in row] for row in rows] == [[column >= row for column in pairs] for row in pairs]


VISIBLE = (
    "return [...document.querySelectorAll('{}')].filter((one) => one.checkVisibility()).map((one) => one.textContent)"
)


def test_a_ranking_is_a_sentence_and_a_short_table_that_is_searched(browser, written, listed):
    browser.open(written)
    names = [run["shown"] for run in listed]
    (void,) = (run["shown"] for run in listed if run["model"] == "scripted/mixed")  # most of its replies cannot be read
    (lead,) = browser.texts(".lead")
    assert lead.startswith(f"{names[0]} has the highest accuracy, ")
    assert void in lead.partition(" The numbers of ")[2]
    headings, shown = browser.texts(".sortable th"), VISIBLE.format(".sortable thead th")
    short = ["place", "model", "score", "accuracy (%)", "right minus wrong (points)", "persona gain (points)", "ties"]
    assert browser(shown) == short
    assert set(browser.texts(".meanings dt")) == {*headings} - {"model"}
    assert all(browser.texts(".meanings dd"))
    for columns in (headings, short):
        browser.click(".more-columns")
        assert browser(shown) == columns
    assert set(browser.texts(".sortable td:nth-child(5)")) == {"not asked"}
    search = "const one = document.querySelector('.model-search'); one.value = arguments[0]; one.dispatchEvent(new Event('input'))"
    for wanted in ("GOLD", "no such model"):
        browser(search, wanted)
        found = [name for name in names if wanted.lower() in name.lower()]
        for part in (".sortable .model bdi", ".forest .name bdi"):
            assert browser(VISIBLE.format(part)) == found
        assert browser("return document.querySelector('p.none').checkVisibility()") == (not found)


# --- keys, narrow screens, dark mode ---------------------------------------------------------------------------------


def test_keys_move_and_search(browser, written):
    from selenium.webdriver.common.keys import Keys

    browser.open(written, "#cases")
    ids = browser.listed()
    current = "return document.querySelector('#list [aria-current] .id bdi')?.textContent === arguments[0]"
    for key, place in (("j", 0), ("j", 1), ("k", 0), (Keys.ARROW_DOWN, 1), (Keys.ARROW_UP, 0), ("k", 0)):
        browser.press(key)
        browser.wait(current, ids[place])
        assert browser.texts(".case-head bdi")[0] == ids[place]
    browser.press("/", "j")
    assert browser("return [document.activeElement.id, document.activeElement.value]") == ["search", "j"]
    browser.press(Keys.ESCAPE)
    assert browser("return document.activeElement === document.body")


def test_tab_reaches_every_control_and_shows_where_it_is(browser, written):
    from selenium.webdriver.common.keys import Keys

    for fragment in ("", "#case=general_hard%3A3"):
        browser.open(written, fragment)
        count = browser(
            """
            window.controls = [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")]
              .filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0);
            return controls.length;
            """
        )
        reached = set()
        for _ in range(count + 2):  # it may begin anywhere, and leaves the page once
            browser.press(Keys.TAB)
            place, style = browser(
                "const on = document.activeElement; const style = getComputedStyle(on);"
                "return [controls.indexOf(on), `${style.outlineStyle} ${style.outlineWidth}`]"
            )
            reached.add(place)
            assert place < 0 or style == "solid 2px", browser("return document.activeElement.outerHTML")
        missed = [browser("return controls[arguments[0]].outerHTML", place) for place in set(range(count)) - reached]
        assert missed == []
