"""The page that annotators get, in a browser: what is on the screen, what is kept, and what comes back."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import ran

from personafeedback_tasks.annotation.assignment import INSTRUCTED
from personafeedback_tasks.annotation.ingest import read_votes
from personafeedback_tasks.annotation.items import CANNOT, Item
from personafeedback_tasks.annotation.pack_files import Pack, as_html
from personafeedback_tasks.building.votes import GUIDELINES
from personafeedback_tasks.recenter.data import load
from personafeedback_tasks.recenter.rows import Extraction, Relevance, Response

pytestmark = pytest.mark.slow

AXE = Path(__file__).parent.parent / "support" / "axe" / "axe.min.js"

PERSONA = (
    "Name: Zelda\nDemographics:\n  Career_Information: nurse\nPreference:\n  Local_Life:\n    Food_Drinks: noodles; no_meat\n  - rare orchids\n"
    + "".join(
        f"Interest_{number}: something that takes a whole line to say, and then some more of it\n"
        for number in range(30)
    )
)
RESPONSE = (
    "# A plan\n\nBuy **two tomatoes** and `salt`:\n\n1. Wash\n2. Cut\n\n"
    + "A sentence of the answer that is neither long nor short. " * 60
)
HOSTILE = "**<img src=x onerror='window.evil = 1'>** </script><script>window.evil = 1</script> & مرحبا 你好"


def pair(number: int, response: str = RESPONSE) -> Item:
    texts = {"persona": PERSONA, "question": f"What should I cook on day {number}?"}
    return Item(id=f"i{number}", texts=texts, options={"a": f"{response} {number}", "b": f"No idea. {number}"})


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page of some items, in a browser that has kept nothing, or what it had before."""

    def open_page(items, again=False, **screen):
        pack = Pack(annotator="annotator-1", items=items, guideline=GUIDELINES["en"])
        path = tmp_path / "annotator-1.html"
        path.write_text(as_html(pack)["annotator-1.html"], "utf-8")
        if again:
            wait_until_stored(browser, tmp_path, browser("return JSON.stringify(localStorage)"))
        else:
            forget(browser, tmp_path)
        return browser.open(path, **screen)

    return open_page


def forget(browser, folder):
    """Clear what the browser keeps for pages that are files."""
    (folder / "empty.html").write_text("", "utf-8")
    browser.driver.get((folder / "empty.html").as_uri())
    browser("localStorage.clear()")
    wait_until_stored(browser, folder, "{}")


def wait_until_stored(browser, folder, kept):
    """Until another page finds what this one stored: under load the browser hands it on a moment later."""
    (folder / "empty.html").write_text("", "utf-8")

    def stored():
        browser.driver.get("about:blank")
        browser.driver.get((folder / "empty.html").as_uri())
        return json.loads(browser("return JSON.stringify(localStorage)")) == json.loads(kept)

    browser.until(stored)


def sent(page, tmp_path, form=lambda path: list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))):
    """What the page downloads."""
    page.download("#download", tmp_path / "annotator-1.votes.csv")
    return form(tmp_path / "annotator-1.votes.csv")


PRESSED = "return [...document.querySelectorAll('[aria-pressed=true]')].map((one) => one.id)"
BOX = "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]"


def test_question_responses_persona_and_buttons_are_on_one_screen(opened):
    page = opened([pair(1), pair(2)], width=1280, height=900, dark=True)
    assert len(page.texts("#guideline li")) == 6
    for is_open in (True, False):
        assert page("return document.getElementById('guideline').open") == is_open
        boxes = {
            name: page(BOX, name)
            for name in ("#question", "#a", "#option-B", "#vote-A", "#vote-B", "#side-heading", "#next", "#cannot")
        }
        assert all(0 <= left < right <= 1280 and 0 <= top < 900 for left, top, right, _ in boxes.values())
        assert all(boxes[name][3] <= 900 for name in boxes if name != "#a")
        assert boxes["#side-heading"][2] <= boxes["#question"][0]  # the persona at the side
        assert boxes["#a"][2] <= boxes["#option-B"][0]
        assert page("return document.documentElement.scrollHeight <= innerHeight")
        assert page("return document.querySelector('.options .pane').clientHeight") >= 250
        assert serious(page) == []
        page.click("#vote-A")
    assert page.errors() == []
    page = opened([pair(1), pair(2)], again=True)
    assert not page("return document.getElementById('guideline').open")


def test_labels_are_readable_markdown_is_rendered_and_no_text_acts(opened):
    page = opened([pair(1, response=f"{RESPONSE}\n\n{HOSTILE}")])
    names = ["Name", "Demographics", "Career Information", "Preference", "Local Life"]
    assert page.texts("#side-text b")[:5] == [f"{name}: " for name in names]
    assert "Food Drinks: noodles; no_meat" in page.texts("#side-text p")  # values are as they were written
    assert page.texts("#side-text .depth1")[-1] == "• rare orchids"
    assert page.texts("#a strong")[:1] == ["two tomatoes"]
    assert page.texts("#a li") == ["Wash", "Cut"]
    assert HOSTILE.replace("**", "") in "".join(page.texts("#a"))
    assert page("return window.evil") is None
    assert page.errors() == []
    assert [url for url in page.requests() if not url.startswith(("file:", "about:", "data:"))] == []


def test_votes_reasons_notes_and_times_come_back_and_are_read(opened, tmp_path):
    items = [pair(number) for number in range(4)]
    page = opened(items)
    page.click("#vote-A")
    page.press("b")
    page.click("#next")  # without an answer
    page.click("#cannot summary")
    page.click("[data-reason=other]")
    assert page.texts("#why") == ["Please write the reason into the note first."]
    page.press('=1+1, "they" said')
    page.click("[data-reason=other]")
    assert page.texts("#progress") == ["3 of 4 answered"]
    assert page.texts("#question") == ["What should I cook on day 2?"]  # the one that was left open
    lines = sent(page, tmp_path)
    assert [(line["item"], line["vote"], line["note"].strip()) for line in lines] == [
        ("i0", "A", ""), ("i1", "B", ""), ("i3", CANNOT, 'other: =1+1, "they" said'),
    ]  # fmt: skip
    assert lines[0]["at"] < lines[1]["at"] < lines[2]["at"]
    votes = sent(page, tmp_path, read_votes)
    assert [(vote.item, vote.answer, vote.at) for vote in votes] == [
        (line["item"], line["vote"], line["at"]) for line in lines
    ]
    page = opened(items, again=True)  # closed, and opened again
    assert page.texts("#progress") == ["3 of 4 answered"]
    page.click("#list summary")
    page.wait("return document.querySelector('#entries button')")  # `toggle` comes after the click
    assert [button for button in page("return [...document.querySelectorAll('#entries button')].map((one) => one.getAttribute('aria-label'))")] == [
        "1, answered", "2, answered", "3, open", "4, answered",
    ]  # fmt: skip
    page.click("#entries button")
    assert page("return document.getElementById('vote-A').getAttribute('aria-pressed')") == "true"
    page.click("#vote-B")  # another mind
    page.click("#back")
    page.click("#back") if page.texts("#question") != ["What should I cook on day 0?"] else None
    assert page("return document.getElementById('vote-B').getAttribute('aria-pressed')") == "true"
    page.click("#next")
    page.click("#next")
    page.click("#vote-A")
    assert "Download the votes and send the file back" in page.texts("#finished")[0]
    assert [line["vote"] for line in sent(page, tmp_path)] == ["B", "B", "A", CANNOT]


def test_faults_of_each_response_are_marked_beside_the_choice(opened, tmp_path):
    items = [replace(pair(number), faults=True) for number in range(2)]
    page = opened(items)
    assert len(page.texts("#guideline li")) == 7
    page.click("#fault-A-uncomfortable")
    page.click("#fault-B-over-personalized")
    page.click("#fault-A-uncomfortable")  # another mind
    assert serious(page) == []
    page.click("#vote-A")
    page.click("#vote-B")
    assert [vote.faults for vote in sent(page, tmp_path, read_votes)] == ["B over-personalized", ""]
    page = opened(items, again=True)
    page.click("#back")
    assert page(PRESSED) == ["fault-B-over-personalized", "vote-A"]
    page = opened([pair(3)])
    assert page.texts("#faults button") == []
    page.click("#vote-A")
    assert [vote.faults for vote in sent(page, tmp_path, read_votes)] == [None]


def test_on_a_phone_the_buttons_stay_at_the_bottom(opened):
    page = opened([pair(1), pair(2)], width=390, height=800)
    for scrolled in (0, 600):
        page("scrollTo(0, arguments[0])", scrolled)
        for button in ("#vote-A", "#vote-B", "#next"):
            left, top, right, bottom = page(BOX, button)
            assert 0 <= left < right <= 390
            assert 500 < top < bottom <= 800
    assert page("return document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    page.click("#list summary")
    page.wait("return document.querySelector('#entries button')")
    page.click("#cannot summary")
    assert serious(page) == []
    page.click("#vote-A")
    assert page("return scrollY") == 0
    assert serious(page) == []


def serious(page):
    """The serious faults of accessibility that axe finds."""
    page(AXE.read_text("utf-8"))
    return page.driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((found) => done(found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => [one.id, one.nodes.map((node) => node.html)])))"
    )


# --- the stages of a personalized reply -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "study"
    ran("annotate", "pack", "sample", "--out", folder, "--annotators", 1)
    return folder


@pytest.mark.parametrize(("stage", "dark"), [("extraction", False), ("relevance", True), ("response", True)])
def test_pages_of_the_stages_have_no_serious_fault_and_fit_on_a_phone(browser, study, tmp_path, stage, dark):
    forget(browser, tmp_path)
    page = browser.open(study / "packs" / stage / f"annotator-1.{stage}.html", width=390, height=800, dark=dark)
    assert serious(page) == []
    assert page("return document.documentElement.scrollWidth") <= 390
    page.click("#ticks button" if stage == "relevance" else "#answers button")
    assert serious(page) == []
    assert page.errors() == []


WRITE = "document.activeElement.value = arguments[0]; document.activeElement.dispatchEvent(new Event('input', {bubbles: true}))"
CLICK = "document.querySelector(arguments[0]).click()"
"""As a person types and clicks, of whom the browser has to see every letter and every move."""


def test_what_is_clicked_on_the_pages_of_the_stages_becomes_rows(browser, study, tmp_path):
    """Makes sense for every attribute, something missing, every second line ticked, and always the longer reply."""
    ticked: dict[tuple[str, str], bool] = {}
    for stage in ("extraction", "relevance", "response"):
        forget(browser, tmp_path)
        page = browser.open(study / "packs" / stage / f"annotator-1.{stage}.html")
        items = page("return JSON.parse(document.getElementById('data').textContent).items.length")
        for number in range(items):
            if stage == "relevance":
                assert page.texts("#options .pane") == []
                page.click("#ticks button")
                page.click("#vote-none")  # ticks nothing else
                assert page(PRESSED) == ["vote-none"]
                lines = page.texts("#ticks button")
                prompt = page.texts("#side-text")[0]
                chosen = [INSTRUCTED in line or place % 2 == 0 for place, line in enumerate(lines)]
                if INSTRUCTED not in lines:
                    ticked |= {(prompt, line): tick for line, tick in zip(lines, chosen, strict=True)}
                for place in [place for place, tick in enumerate(chosen) if tick]:
                    page(f"document.querySelectorAll('#ticks button')[{place}].click()")
                page.click("#next") if number < items - 1 else None
            elif stage == "response":
                page(
                    "document.getElementById(document.getElementById('a').textContent.length > document.getElementById('b').textContent.length ? 'vote-1' : 'vote-5').click()"
                )
            elif page.texts("#attributes"):
                page(CLICK, "#vote-missing")
                assert page.texts("#name") == ["Please write it into the note first."]
                page(WRITE, "Has a son; Likes wood")
                page(CLICK, "#vote-missing")
            else:
                page(CLICK, "#vote-accepted")
        page.download("#download", tmp_path / f"annotator-1.{stage}.votes.csv")
    ran("annotate", "votes", study, *sorted(tmp_path.glob("*.votes.csv")))
    assert {vote for row in load(Extraction, study) for vote in row.votes} == {"accepted"}
    assert {(row.prompt, row.attribute): row.votes for row in load(Relevance, study)} == {
        key: (tick,) for key, tick in ticked.items()
    }
    for row in load(Response, study):
        assert row.votes == (5 if len(row.personalized) > len(row.generic) else 1,)
    missing = [json.loads(line)["missing"] for line in (study / "missing.jsonl").read_text("utf-8").splitlines()]
    assert missing == [[["Has a son", "Likes wood"]]] * len(missing)
    assert missing
