"""What the page shows of runs with controls, of responses in Markdown and of addresses; and how it looks, in one browser."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.logs import inspect_log
from support.releases import write_release

from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.documents import RankDocument
from personafeedback_tasks.analysis.ranking import make_ranking
from personafeedback_tasks.analysis.sentences import sentence
from personafeedback_tasks.logs.caveat import WEAKENS, caveat
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import blocks, page, rank_text

AXE = Path(__file__).parent.parent / "support" / "axe" / "axe.min.js"

MARKDOWN = """# A plan *for* you

Buy **two tomatoes**, some `salt` and
a _lemon_; 2 * 3 * 4 is 24, snake_case stays.

1. Wash
   - the tomatoes
   - the lemon
2. Cut

```
if a < b: **no** markup
```
> quoted, [a link](https://example.org) and <b>HTML</b>"""

RENDERED = (
    '<p class="heading">A plan <em>for</em> you</p>'
    "<p>Buy <strong>two tomatoes</strong>, some <code>salt</code> and<br>"
    "a <em>lemon</em>; 2 * 3 * 4 is 24, snake_case stays.</p>"
    '<ol start="1"><li>Wash<ul><li>the tomatoes</li><li>the lemon</li></ul></li><li>Cut</li></ol>'
    '<pre tabindex="0"><code>if a &lt; b: **no** markup</code></pre>'
    "<p>&gt; quoted, [a link](https://example.org) and &lt;b&gt;HTML&lt;/b&gt;</p>"
)

PEOPLE = ("zelda", "hanna", "ivan", "mei", "noor")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A page of four models, of which one uses the persona, one does not, one was not asked and one is not finished."""
    root = tmp_path_factory.mktemp("looks")
    texts = [MARKDOWN, *(f"Plan number {number}" for number in range(14))]
    rows = {
        "general/hard": [
            {
                "user_id": user,
                "question": f"What should I do in week {number}?",
                "chosen": text,
                "reject": f"No idea, {user}. {'x' * number}",
            }
            for number, text in enumerate(texts)
            for user in PEOPLE
        ]
    }
    people = {
        user: {"Name": user, "Hobby": "saxophones and rare orchids" if user == "zelda" else f"{user} walks"}
        for user in PEOPLE
    }
    write_release(root / "data", rows, people)
    template = read_run(
        inspect_log(root / "logs", "mixed", "personafeedback_general_hard", root / "data", counts="any")
    )
    cases = load_cases(root / "data", "general", "hard", counts="any")
    contenders = []
    for name, skills in MODELS.items():
        runs = {setting: planted(template, name, setting, skill) for setting, skill in zip(SETTINGS, skills)}  # noqa: B905
        contenders.append(Contender(runs.pop("persona"), controls=runs))
    ranking = make_ranking(contenders, template.benchmark.report.examine(cases, template.cases.keys()), cases)
    (root / "ranking.html").write_text(page.render([ranking], []), encoding="utf-8")
    document = RankDocument(rankings=[ranking.entry], balance=[])
    (root / "ranking.md").write_text(blocks.markdown(rank_text.blocks(document, full=True)), encoding="utf-8")
    return root / "ranking.html"


SETTINGS = ("persona", "other_persona", "no_persona")
MODELS = {
    "lab/knower": (1.0, 0.25, 0.5),
    "lab/ignorer": (0.75, 0.75, 0.75),
    "lab/unasked": (0.5,),
    "a-provider/with/a-very-long-path/and-a-long-name-of-a-model-that-does-not-end-70b-instruct": (0.25, 0.25, 0.25),
}


def planted(template: Run, name: str, setting: str, share: float) -> Run:
    """A run that is right in both orders in a share of each user's cases, in the first ones of every four."""
    number: dict[str, int] = {}
    results = []
    for case_id in sorted(template.cases, key=lambda case_id: int(case_id.partition(":")[2])):
        case = template.cases[case_id]
        number[case.user_id] = number.get(case.user_id, PEOPLE.index(case.user_id) - 1) + 1
        right = number[case.user_id] % 4 < 4 * share
        answers = ("A", "B") if right else ("B", "A")
        results.append(case.changed(answers=answers, values={"acc": float(right)}, unread=()))
    return replace(template, model=name, results=results, signature=template.signature.changed(setting=setting))


def test_the_first_screen_says_which_model_uses_the_persona(browser, made):
    browser.open(made)
    (lead,) = browser.texts(".lead")
    assert lead.startswith("lab/knower has the highest accuracy, ")
    asked = "Of 3 models that were asked with another user's persona and without the persona too, "
    assert f"{asked}lab/knower uses this user's persona." in lead
    assert browser.texts(".sortable .note") == [
        "It uses this user's persona (not asked: right minus similar).",
        sentence(caveat("near_end", WEAKENS)),
        "No sign that it uses this user's persona.",
        "No sign that it uses this user's persona.",
    ]
    assert [text.split(" ")[0] for text in browser.texts(".sortable td:nth-child(4)")][1:] == ["+0.0", "not", "+0.0"]
    not_asked = [text for text in browser.texts(".sortable td b") if text == "not asked"]
    assert len(not_asked) == len(re.findall(r"\| not asked (?=\|)", made.with_suffix(".md").read_text("utf-8"))) == 2
    values = [text.split() for text in browser.texts(".forest .bar[data-run] .value")]
    assert [value[0] for value in values] == ["100.0", "76.0", "50.7", "25.3"]
    told = [[word for word in value if re.fullmatch(r"[\d.]+", word)][1:] for value in values]
    assert told == [["25.3", "50.7"], ["76.0", "76.0"], [], ["25.3", "25.3"]]  # the planted shares of the 75 cases
    places = "return [...document.querySelectorAll('.forest .bar[data-run]')].map((bar) => [...bar.querySelectorAll('.point')].map((one) => one.getBoundingClientRect()).map((of) => of.x + of.width / 2))"
    drawn = browser(places)
    for value, numbers, points in zip(values, told, drawn, strict=True):  # on one axis: the more, the further right
        assert len(points) == 1 + len(numbers)
        shown = [float(text) for text in (*numbers, value[0])]
        assert sorted(range(len(points)), key=points.__getitem__) == sorted(
            range(len(shown)), key=shown.__getitem__
        ) or len({*shown}) < len(shown)
    assert [text.strip() for text in browser.texts(".forest .keys span")][:2] == ["another person", "nobody"]
    heads, *edges = browser(
        "return [...document.querySelectorAll('.forest .bar')].map((bar) => [...bar.querySelectorAll('.value > span')].map((one) => [one.getBoundingClientRect().right, one.textContent]))"
    )
    assert [text for _, text in heads] == ["Accuracy", "another person", "nobody"]
    assert all(
        [right for right, _ in row] == [right for right, _ in heads] for row in edges
    )  # each number under its head


def test_a_case_shows_what_a_run_picked_with_other_personas(browser, made):
    browser.open(made, "#case=general_hard%3A1")
    rows = browser(
        "return [...document.querySelectorAll('.picks tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    cases = load_cases(made.parent / "data", "general", "hard", counts="any")
    (user,) = (case.user_id for case in cases if case.id == "general_hard:1")
    other = f"another person ({cases.release.others.given[user]})"
    assert [row[1] for row in rows[:4]] == ["the right person", other, "nobody", "the right person"]
    assert rows[0] == ["1 lab/knower", "the right person", "A, chosen", "B, chosen"]
    assert rows[1][2:] == ["A, chosen", "B, chosen"]
    assert rows[-4][:2] == ["3 lab/unasked", "the right person"]
    browser.set(result="person")
    assert not [row for row in browser.texts("#list .id") if row.startswith("general_hard:1 ")]
    count = len(browser.listed())
    assert 0 < count < 15 * len(PEOPLE)
    browser.set(result="person", run="1")
    assert len(browser.listed()) == count
    for run in "234":
        browser.set(result="person", run=run)
        assert browser.listed() == []
    titles = browser("document.querySelector('.filters').reset(); document.querySelector('.filters').dispatchEvent(new Event('input', { bubbles: true }));"
        "return [...document.querySelector('#list .marks').children].map((one) => one.title)")  # fmt: skip
    assert titles[0] == "1 lab/knower: right in all calls"
    assert len(titles) == 4


def test_filters_are_in_the_address_and_can_be_cleared(browser, made):
    browser.open(made, "#cases")
    browser.set(user="mei", search="week 1", result="missed")
    address = browser("return location.hash")
    assert address == "#cases&search=week%201&result=missed&user=mei"
    listed = browser.listed()
    assert 0 < len(listed) < 15
    browser.open(made, address)
    assert browser.listed() == listed
    assert browser("return ['user', 'search', 'result'].map((id) => document.getElementById(id).value)") == [
        "mei",
        "week 1",
        "missed",
    ]
    browser.click("#list a")
    browser.wait("return document.querySelector('.case-head')")
    assert browser("return location.hash").endswith("&search=week%201&result=missed&user=mei")
    browser.set(search="no such text")
    assert browser.listed() == []
    assert browser("return document.getElementById('none').innerText").startswith("No case matches. ")
    browser.click("#clear")
    browser.wait("return document.getElementById('found').textContent.endsWith(' of 75 cases')")
    assert browser("return document.getElementById('none').checkVisibility()") is False
    assert "search" not in browser("return location.hash")


def test_markdown_is_rendered_or_shown_as_it_is(browser, made):
    browser.open(made, "#case=general_hard%3A1")
    assert browser("return document.querySelector('.response .text').innerHTML") == RENDERED
    browser.click(".go [aria-pressed]")
    assert browser("return document.querySelector('.response .text').textContent") == MARKDOWN


# --- how it looks ----------------------------------------------------------------------------------------------------

CUT = """
const wide = [];
for (const one of document.body.querySelectorAll("*")) {
  if (!one.checkVisibility() || one.closest("svg, .sr, option")) continue;
  const { left, right, width } = one.getBoundingClientRect();
  const holder = one.parentElement.closest(".wide, pre");  // these scroll by themselves
  if (width && !holder && (right > innerWidth + 1 || left < -1)) wide.push(one.outerHTML.slice(0, 90));
  const style = getComputedStyle(one);
  const scrolls = ["auto", "scroll"].includes(style.overflowX) || style.textOverflow === "ellipsis" || one.tagName === "SELECT";
  if (!scrolls && one.clientWidth && one.scrollWidth > one.clientWidth + 1) wide.push("cut: " + one.outerHTML.slice(0, 90));
}
return wide;
"""

SCREENS = {"desktop": (1280, 900), "wide": (1440, 900), "phone": (390, 844)}
VIEWS = {"ranking": "", "cases": "#cases&search=zzz", "case": "#case=general_hard%3A1"}


@pytest.mark.parametrize(("screen", "dark"), [("desktop", False), ("wide", True), ("phone", False)])
def test_nothing_is_cut_off_and_axe_finds_no_serious_fault(screen, dark, browser, made, tmp_path):
    """Screenshots go to PERSONAFEEDBACK_SCREENSHOTS or the test's folder."""
    folder = Path(os.environ.get("PERSONAFEEDBACK_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    for view, fragment in VIEWS.items():
        browser.open(made, fragment, *SCREENS[screen], dark=dark)
        assert browser("return document.documentElement.scrollWidth") == SCREENS[screen][0]
        assert browser(CUT) == [], view
        picture = folder / f"{view}-{screen}{'-dark' if dark else ''}.png"
        assert browser.driver.save_screenshot(str(picture))
        if view == "ranking":
            table = "return [...document.querySelectorAll('.sortable')].every((one) => one.scrollWidth <= one.parentElement.clientWidth)"
            assert browser(table), browser(
                "return [...document.querySelectorAll('.sortable th, .sortable tr:last-child td')].map((one) => [one.textContent, one.clientWidth])"
            )
            browser("for (const fold of document.querySelectorAll('details')) fold.open = true")
        faults = browser.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            f"{AXE.read_text(encoding='utf-8')};"
            "axe.run().then(({ violations }) => done(violations.map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 120))])))"
        )
        assert [fault for fault in faults if fault[0] in ("serious", "critical")] == [], view
