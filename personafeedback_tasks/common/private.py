"""E-mail addresses and phone numbers in a text.

Patterns, neither complete nor free of false alarms. Dates, years, prices and versions are left alone.
"""

from __future__ import annotations

import re

_EMAIL = re.compile(
    r"""
    (?<![\w.+%-]) [\w.+%-]+ @ (?!v?\d+\.\d)   # not a version: pkg@1.0.beta
    [\w-]+ (?:\.[\w-]+)* \.[^\W\d_]{2,}
    (?![\w-] | \.\w | :\S*/)                  # not a repository: git@host.org:team/project
    """,
    re.VERBOSE,
)

_PHONE = re.compile(
    r"""
      (?<![\w+]) (?<!\d\.) \+ [1-9] (?:[ .()/-]{0,2}\d){7,14} (?!\w)                        # +49 171 2345678
    | (?<![\w$€£-]) (?<!\d[ .]) (?:1[ .-])?
      (?:\([2-9]\d\d\)\ ? | [2-9]\d\d(?P<gap>[ .-])) [2-9]\d\d (?(gap)(?P=gap)|[ .-]) \d{4} (?![\w-] | [ .,]\d)  # (212) 555-0147
    | (?<![\w:$€£/-]) (?<!\d[ .,]) 0 (?=[\d /-]{1,12}[2-9]) [1-9]\d{1,3}[ /-]\d{3,4}[ -]?\d{3,5} (?![\w-] | [ .,]\d)  # 020 7946 0958
    | (?i:\b(?:phone|telephone|tel|mobile|whatsapp|call|text|dial)(?:\ (?:me|us|number|no))?(?:\ (?:at|on|is))?)
      [.:]?\ ? \(? \d (?:[ .()/-]{0,2}\d){6,14} (?!\w | [.,]\d)                    # call 555-0147
    """,
    re.VERBOSE,
)


def contact_in(text: str) -> tuple[str, int] | None:
    """The first e-mail address of a text, or else its first phone number, by kind, and where it begins; or None."""
    for kind, pattern in (("an e-mail address", _EMAIL), ("a phone number", _PHONE)):
        if hit := pattern.search(text):
            return kind, hit.start()
    return None
