"""Reasons to refuse a text that a model wrote: markup, refusals, cut-off ends, another language; or no single question.

Only the form is checked; refusals only in English and Chinese. Refusals of judges differ: they are read elsewhere.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ...common.text import IDEOGRAPHS

IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_LETTER = re.compile(rf"(?![{IDEOGRAPHS}])[^\W\d_]")
_WORD = re.compile(rf"[{IDEOGRAPHS}\u3040-\u30ff]|(?:(?![{IDEOGRAPHS}\u3040-\u30ff])[^\W\d_]|['’\u0300-\u036f])+")

LETTERS = 5
"""Letters that say as much as a Chinese character."""


def words(text: str) -> int:
    """Number of words; a Chinese or Japanese character counts as one."""
    return len(_WORD.findall(text))


def is_written_in(language: str, text: str) -> bool:
    """Whether a text is in English or Chinese, as far as its script tells; True for every other language.

    A Chinese answer may quote English, and the other way round: the larger part counts.
    """
    chinese, others = LETTERS * len(IDEOGRAPH.findall(text)), len(_LETTER.findall(text))
    return {"zh": chinese >= others, "en": others >= chinese}.get(language, True)


# --- any text ---

EMPTY, CUT, WITHHELD, REFUSAL, LANGUAGE = "empty", "cut off", "withheld by the provider", "refusal", "another language"
MARKUP, COLON, WRITER = "markup of its writer", "ends at a colon", "speaks of its instructions or its writer"


@cache
def _faults() -> dict[str, re.Pattern[str]]:
    # Reason -> what gives it away.
    found = {}
    for part in Path(__file__).with_name("faults.txt").read_text(encoding="utf-8").split("\n= ")[1:]:
        reason, *lines = part.splitlines()
        patterns = [line for line in lines if line and not line.startswith("#")]
        found[reason] = re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)
    return found


def fault(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a text that should be in a language (ISO 639-1); empty if there is none. `cut` means
    that it was cut off at its maximum length."""
    if not text.strip():
        return EMPTY
    if cut:
        return CUT
    for reason, pattern in _faults().items():
        if pattern.search(text):
            return reason
    if refuses(text):
        return REFUSAL
    return "" if is_written_in(language, text) else LANGUAGE


SHORT = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""

_ENGLISH = re.compile(
    r"\A[\W_]*(?:(?:unfortunately|regrettably)\W+|as an? (?:ai|artificial|large language|language)\b[^.,]{0,40}\W+"
    r"|(?:(?:i am|i['’]m|we are|we['’]re) (?:\w+ )?sorry|sorry|(?:my )?apologies|i apologi[sz]e)\W+(?:but\W+)?)*"
    r"(?:(?:i|we)(?: am|['’]m| are|['’]re)? (?:\w+ly )?(?:can['’]?t|can ?not|couldn['’]t|could not|won['’]t|will not|(?:un|not )able to"
    r"|not (?:allowed|permitted|comfortable)(?: to)?|(?:must|have to|need to) (?:\w+ly )?decline(?: to)?|decline to|refuse to)"
    r"|(?:that|this)(?:['’]s| is) not something (?:that )?(?:i|we)(?: am|['’]m)? (?:can|(?:un|not )?able to))\W+"
    r"(?:assist\b|comply|fulfil|help(?:ing)?(?: (?:you|with)\b|\W*(?:\Z|[.!?,;]))"
    r"|(?:(?:provid|answer|respond(?:ing)? to|discuss|generat|creat|writ|complet|process|shar|giv|offer|produc|support)(?:e|ing)?"
    r"|engage in|(?:continue|proceed) with|do) (?:you (?:with )?)?(?:that|this|such|your|medical|legal|financial|professional)\b)",
    re.IGNORECASE,
)  # fmt: skip
_CHINESE = re.compile(
    r"\A[\W_]*(?:我?(?:非常|十分|真的|实在|深感|感到|很)*(?:抱歉|对不起|遗憾|不好意思)\W*(?:但是?|不过)?\W*|我?(?:作为|是)一[个名款]\w{0,20}\W+)*"
    r"(?:(?:对于?)?(?:这个|这类|该|此类?|您的|你的)(?:问题|请求|要求|话题|内容)\W*)?"
    r"我?(?:目前|暂时|现在|恐怕|还)*(?:无法|不能|没法|没办法|没有办法|不便|拒绝)(?:[为给对向就在](?:您|你|此|这))?(?:提供)?(?:任何)?"
    r"(?:帮(?!.{0,5}(?:决定|选择|拿主意))|协助|支持[您你]|(?:满足|回答|解答|回应|答复|处理|完成|执行|提供|讨论)(?:[您你这该此]|相关|\W*(?:\Z|[。！!.,，])))"
)  # fmt: skip
"""How refusals begin: an excuse or none, that somebody cannot, and what: help, or what was asked for. Not
`I cannot recommend Bali enough`, nor a drafted `Sorry, I can't come`."""


def refuses(text: str) -> bool:
    """Whether a text is a refusal, in English or Chinese."""
    return len(text) <= SHORT and any(pattern.match(text) for pattern in (_ENGLISH, _CHINESE))


# --- questions ---

PREAMBLE, NUMBERED, SEVERAL, LONG = "preamble", "numbered", "several questions", "too long"

LONGEST = 120
"""Words of a question. Those of the release have at most 73; a longer reply is longer than a question should be."""

_PREAMBLE = re.compile(
    r"\A\W*(?:(?:sure(?: thing)?|certainly|of course|okay|ok|great)\s*[,.!:]|(?:here(?:['’]s| is| are)|this is|below is)\b[^?:]{0,60}:"
    r"|(?:the |my |your )?(?:question|user|prompt|q)\s*\d{0,2}\W{0,3}:"
    r"|(?:好的|当然(?:可以)?|没问题)\s*[，。！,!]|(?:以下|下面|这)是[^？?：:]{0,30}[：:]|(?:我的)?(?:问题|提问|用户|问)\s*\d{0,2}\W{0,3}[：:])",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\W*(?:[0-9]{1,2}\s*[.)、．](?!\d)|[（(][0-9]{1,2}[)）]|[①-⑩]|[一二三四五]、)", re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|‘[^’]*’")


def fault_of_question(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a question; empty if there is none. Line breaks matter."""
    if reason := fault(text, language, cut):
        return reason
    if _PREAMBLE.match(text):
        return PREAMBLE
    if _NUMBERED.search(text):
        return NUMBERED
    if len(re.findall("[?？]+", _QUOTED.sub("", text))) > 1:
        return SEVERAL
    return LONG if words(text) > LONGEST else ""
