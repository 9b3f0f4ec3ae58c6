"""The page of texts and names that strangers write: they arrive as text, and nothing runs but the page's own script."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.attacks import ATTACKS
from support.browser import Page
from support.logs import inspect_log
from support.releases import write_release
from support.shown import rank_runs

from personafeedback_tasks.common import foreign, web
from personafeedback_tasks.common.outputs import jsonable
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import page


@given(st.text(), st.sampled_from(["", "</script>", "<!--", "\u2028", "\u202e", "\x1b[31m", "&lt;", "{{ 7 * 7 }}"]))
def test_what_a_script_reads_is_the_text_made_visible(text, attack):
    written = web.script_json(jsonable({text + attack: text + attack}, foreign.page))
    assert json.loads(written) == {foreign.page(text + attack): foreign.page(text + attack)}
    assert not set("<>&\u2028\u2029") & set(written)
    assert all(line.isprintable() for line in foreign.page(text).split("\n"))


EVIL = (
    "<script>window.evil = 1</script>",
    "</script><script>window.evil = 1</script>",
    "<img src=x onerror='window.evil = 1'>",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    "${window.evil = 1}",
    "javascript:window.evil = 1",
    "א\u202eabc\u2066\u200f",
    "\x1b[31m\x1b]0;title\x07",
    "half\ud800",
    "line\u2028break",
)


MARKS = (
    "**<img src=x onerror='window.evil = 1'>**",
    "`<script>window.evil = 1</script>`",
    "# <svg onload='window.evil = 1'>",
    "- [x](javascript:window.evil=1)",
    "1. ![x](x' onerror='window.evil = 1)",
    "```\n</code></pre><script>window.evil = 1</script>\n```",
    "```\nnever closed <iframe>",
    "**" * 500,
    "*_`" * 500,
    "  " * 300 + "- deep",
    "\n".join("  " * depth + "- item" for depth in range(60)),
    "99999999999. x",
    "|a|b|\n|-|-|\n|1|2|",
)
"""Markdown that hides HTML, ends badly or nests deeply."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    """A page whose texts, models and users are attacks."""
    root = tmp_path_factory.mktemp("hostile")
    attacks = [attack for attack in (*MARKS, *EVIL, *ATTACKS) if attack.strip() and not re.search("[\0\ud800]", attack)]
    half = (len(attacks) + 1) // 2  # two a case
    rows = [
        {"user_id": "u", "question": f"q{a}{b}", "chosen": a, "reject": f"{b}{b}\nsecond line"}
        for a, b in zip(attacks[:half], attacks[-half:], strict=True)
    ]
    write_release(root / "data", {"general/hard": rows}, {"u": {attack: attack for attack in attacks}})
    log = inspect_log(root / "logs", "mixed", "personafeedback_general_hard", root / "data", counts="any")
    run = read_run(log)
    runs = [replace(run, model=attack, shown=attack) for attack in (*EVIL, "m" * 150)]
    cases = load_cases(root / "data", "general", "hard", counts="any")
    (root / "index.html").write_text(
        page.render([rank_runs(*runs, texts=run.benchmark.report.examine(cases, run.cases.keys()), data=cases)], []),
        encoding="utf-8",
    )
    return root


RENDERED = {"BR", "CODE", "EM", "LI", "OL", "P", "PRE", "SPAN", "STRONG", "UL"}
"""All that a response may contain."""

TAGS = """
return [...document.querySelectorAll('.response .text *')].map((one) => {
  const known = { class: ["heading", "term"], start: [one.getAttribute("start")], tabindex: ["0"] };
  return [...one.attributes].every(({ name, value }) => known[name]?.includes(value)) ? one.tagName : one.outerHTML;
});
"""


def test_attacks_arrive_as_text_and_nothing_runs(browser, hostile):
    browser.open(hostile / "index.html", "#case=general_hard%3A1")
    assert set(map(foreign.page, (*EVIL, "m" * 150))) <= set(browser.texts(".forest .name bdi"))
    cases = load_cases(hostile / "data", "general", "hard", counts="any")
    assert {*MARKS} <= {case.chosen for case in cases}
    for case in cases:  # responses as Markdown
        browser.go(case.id)
        assert set(browser(TAGS)) <= RENDERED
        shown = browser("return document.querySelector('.response .text').textContent")
        if case.chosen in MARKS:  # nothing but marks is gone
            assert re.sub(r"[\W_\d]+", "", shown) == re.sub(r"[\W_\d]+", "", case.chosen)
        assert browser("return window.evil") is None
    browser.click(".go [aria-pressed]")  # plain text
    for case in cases:
        browser.go(case.id)
        texts = [case.question, case.chosen, case.rejected, case.persona.text]
        assert browser.texts("#case .text") == list(map(foreign.page, texts))
    assert browser("return window.evil") is None
    assert browser("return document.querySelectorAll('script').length") == 2
    assert (
        browser(
            "return document.querySelectorAll('img, iframe, object, embed, a:not([href^=\"#\"]), [style], [onerror]').length"
        )
        == 0
    )
    assert browser(
        "return [...document.querySelectorAll('bdi, .text')].every((one) => getComputedStyle(one).unicodeBidi !== 'normal')"
    )


def test_the_policy_allows_nothing_but_the_pages_own_script_and_style(driver, hostile):
    """By what it says, and since a browser obeys it."""
    shown = Page(driver).open(hostile / "index.html")
    policy = shown("return document.querySelector('meta[http-equiv=\"Content-Security-Policy\"]').content")
    rules = {name: values for name, *values in map(str.split, filter(str.strip, policy.split(";")))}
    assert rules["default-src"] == ["'none'"]
    assert rules["form-action"] == rules["base-uri"] == ["'none'"]
    for name, values in rules.items():
        assert all(re.fullmatch(r"'none'|'sha256-[\w+/]+=*'", value) for value in values), name
    shown(
        """
        window.blocked = [];
        document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
        const node = document.createElement("script");
        node.textContent = "window.evil = 1";
        document.body.append(node);
        """
    )
    shown.wait("return window.blocked.includes('script-src-elem')")
    assert shown("return window.evil") is None
