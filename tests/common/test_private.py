"""E-mail addresses and phone numbers in texts: what is found, what is left alone, and how long it takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personafeedback_tasks.common.private import contact_in

PERSONAL = {
    "an e-mail address": ["ann.lee+x@mail.example.org", "a@163.com", "ANN@EXAMPLE.CO.UK", "李@例子.中国"],
    "a phone number": [
        "+49 171 2345678", "+1 (212) 555-0147", "(212) 555-0147", "212-555-0147", "1-800-555-0199", "212.555.0147", "020 7946 0958",
        "07700 900123", "030/1234567", "call 555-0147", "my phone number is 5550147", "tel: 5551234567",
    ],
}  # fmt: skip
HARMLESS = [
    "2024-01-02 at 10:30", "1999-2004", "12/05/2024", "$1,299.00 or 1299 dollars", "version 1.2.345 and v10.4.2.2000", "python@3.11",
    "lodash@4.17.21", "pkg@1.0.beta", "npm i @types/node", "meet @ noon", "5 @ 2.00", "git@github.com:org/repo.git", "ISBN 978-3-16-148410-0",
    "192.168.100.200:8080", "0010 1101 0110", "pages 100-1000", "call 911 now", "call me at 5 pm", "text 3 friends", "2010 2011 2012",
    "331 002 651", "1 234 567 890", "3.14159265358979", "10,000,000", "UTC+0200", "+10%", "555-1234 items", "a=b@c",
]  # fmt: skip
BEFORE, AFTER = (st.text(st.sampled_from(f" \n.,;)!?'\"“”{more}"), max_size=3) for more in ("(", ""))


@given(st.sampled_from([(kind, text) for kind, texts in PERSONAL.items() for text in texts]), BEFORE, AFTER)
@settings(max_examples=300)
def test_contacts_are_found_wherever_they_are(personal, before, after):
    kind, text = personal
    assert (contact_in(f"Write to {before}{text}{after} please") or ("nothing",))[0] == kind


@given(st.sampled_from(HARMLESS), BEFORE, AFTER)
@settings(max_examples=300)
def test_dates_prices_versions_and_code_are_no_contacts(text, before, after):
    assert contact_in(f"See{before}\n{text}\n{after} please") is None


HUGE = [
    "a" * 10**5,
    "a@" * 10**5,
    "a@b." * 10**4,
    "+1 " * 10**4,
    "0123 " * 10**4,
    "call " * 10**4,
    "1-" * 10**5,
    " \t" * 10**5,
]


@pytest.mark.parametrize("text", HUGE, ids=lambda text: ascii(text[:6]))
def test_a_huge_text_takes_a_time_linear_in_its_length(text):
    """A square of it would take minutes."""
    contact_in(text)
