"""Why a text that a model wrote is refused: left-over tags, refusals, ends that are cut off, another language; what is no single question.

Checks of the form only. What a text says is for people to judge. Refusals are known in English and Chinese only; the reader of judges' replies
has patterns of its own: a judge who refuses says that it cannot choose.
"""

from __future__ import annotations

import re

from .artifacts import ARTIFACTS
from .languages import is_written_in, words

EMPTY, CUT, WITHHELD, REFUSAL, LANGUAGE = "empty", "cut_off", "withheld", "refusal", "other_language"

MEANINGS = {
    EMPTY: "the model wrote nothing",
    CUT: "the text ends at the limit of its length",
    WITHHELD: "a filter of the provider kept it back",
    REFUSAL: "a short text that begins by saying that it cannot help; known in English and Chinese only",
    LANGUAGE: "it is in another language than the build's",
    **{name: meaning[0].lower() + meaning[1:].rstrip(".") for name, (meaning, _) in ARTIFACTS.items()},
}
"""Reason -> what was found."""


def fault(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a text: a key of MEANINGS; empty if there is none.

    Args:
        language: that it should be in, see `languages.is_written_in`.
        cut: it ended at the limit of its length.
    """
    if not text.strip():
        return EMPTY
    if cut:
        return CUT
    for name, (_, has_artifact) in ARTIFACTS.items():
        if has_artifact(text):
            return name
    if refuses(text):
        return REFUSAL
    return "" if is_written_in(language, text) else LANGUAGE


PREAMBLE, NUMBERED, SEVERAL, LONG = "preamble", "numbered", "several", "too_long"

OF_QUESTIONS = {
    PREAMBLE: "it announces a question",
    NUMBERED: "a numbered question, or a list of them",
    SEVERAL: "several questions in one",
    LONG: "longer than a question should be",
}
"""Reason -> what was found, of questions alone."""

LONGEST = 120
"""Words of a question, see `languages.words`. Those of the release have at most 73; a longer reply is longer than a question should be."""

_PREAMBLE = re.compile(
    r"\A\W*(?:(?:sure(?: thing)?|certainly|of course|okay|ok|great)\s*[,.!:]|(?:here(?:['’]s| is| are)|this is|below is)\b[^?:]{0,60}:"
    r"|(?:the |my |your )?(?:question|user|prompt|q)\s*\d{0,2}\W{0,3}:"
    r"|(?:好的|当然(?:可以)?|没问题)\s*[，。！,!]|(?:以下|下面|这)是[^？?：:]{0,30}[：:]|(?:我的)?(?:问题|提问|用户|问)\s*\d{0,2}\W{0,3}[：:])",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\W*(?:[0-9]{1,2}\s*[.)、．](?!\d)|[（(][0-9]{1,2}[)）]|[①-⑩]|[一二三四五]、)", re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|‘[^’]*’")


def fault_of_question(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a question, as `fault`; also a key of OF_QUESTIONS.

    Args:
        text: with its lines.
    """
    if reason := fault(text, language, cut):
        return reason
    if _PREAMBLE.match(text):
        return PREAMBLE
    if _NUMBERED.search(text):
        return NUMBERED
    if len(re.findall("[?？]+", _QUOTED.sub("", text))) > 1:
        return SEVERAL
    return LONG if words(text) > LONGEST else ""


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
"""How refusals begin: an excuse or none, that somebody cannot, and what: help, or what was asked for. `I cannot recommend Bali enough` and a
drafted `Sorry, I can't come` do not."""


def refuses(text: str) -> bool:
    """Whether a text is a refusal, in English or Chinese."""
    return len(text) <= SHORT and any(pattern.match(text) for pattern in (_ENGLISH, _CHINESE))
