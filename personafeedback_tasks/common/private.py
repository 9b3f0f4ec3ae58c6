"""Personal data in a text: e-mail addresses, phone numbers and account handles.

Patterns, neither complete nor free of false alarms. Dates, years, prices, versions and the "@" of code are left alone.
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

_AT = re.compile(r"(?<![\w@/+\\$-])@(?P<name>[^\W\d_]\w+(?:\.\w+)*)(?![\w/(]|\.\w|\s*:?=)")
_PROFILE = re.compile(
    r"(?i)\b(?:(?:twitter|x|instagram|tiktok|facebook|reddit|linkedin)\.com|threads\.net|t\.me)/(?:in/|u/|user/|@)?[\w.-]{3,}"
    r"|(?<![\w/])/?u/[a-z_][\w-]{2,}"
)

_CODE = re.compile(
    r"```.*?(?:```|\Z) | `[^`\n]*`"
    r"| ^[ \t]*@\w+[ \t]*\n(?=[ \t]*(?:@|(?:def|class|async|public|private|protected|static|abstract|function|export|fun|void)\b))",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
"""Where an "@" is no handle: code that is marked as such, and a decorator alone on the line above what it decorates."""

_WORDS = frozenset((
    "author", "autowired", "bean", "charset", "classmethod", "component", "controller", "dataclass", "deprecated", "entity", "font",
    "import", "inject", "interface", "keyframes", "layer", "media", "nullable", "override", "param", "parametrize", "property",
    "return", "returns", "see", "service", "since", "staticmethod", "supports", "test", "throws", "todo", "version",
))  # fmt: skip
"""What decorators, annotations and tags are called that people write about without marking them as code."""


def first_in(text: str) -> tuple[str, int] | None:
    """What the text holds first, an e-mail address, a phone number or an account handle, and where it begins; or None."""
    if hit := contact_in(text):
        return hit
    handle = _handle(text)
    return ("an account handle", handle.start()) if handle else None


def contact_in(text: str) -> tuple[str, int] | None:
    """The first e-mail address of a text, or else its first phone number, by kind, and where it begins; or None."""
    for kind, pattern in (("an e-mail address", _EMAIL), ("a phone number", _PHONE)):
        if hit := pattern.search(text):
            return kind, hit.start()
    return None


def _handle(text: str) -> re.Match[str] | None:
    if hit := _PROFILE.search(text):
        return hit
    prose = _CODE.sub(lambda code: " " * len(code[0]), text) if "@" in text else ""
    return next(
        (hit for hit in _AT.finditer(prose) if len(hit["name"]) > 2 and hit["name"].lower() not in _WORDS), None
    )
