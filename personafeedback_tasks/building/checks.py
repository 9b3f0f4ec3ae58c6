"""Why a text that a model wrote is refused: left-over tags, refusals, ends that are cut off, another language.

Checks of the form only. What a text says is for people to judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

from ..common.errors import DataError
from ..personafeedback.artifacts import ARTIFACTS
from .rows import Refused

EMPTY, CUT, REFUSAL, LANGUAGE = "empty", "cut_off", "refusal", "other_language"

MEANINGS = {
    EMPTY: "the model wrote nothing",
    CUT: "the text ends at the limit of its length",
    REFUSAL: "a short text that begins by saying that it cannot help; known in English and Chinese only",
    LANGUAGE: "most letters are of another script than the build's language has",
    **{name: meaning[0].lower() + meaning[1:].rstrip(".") for name, (meaning, _) in ARTIFACTS.items()},
}
"""Reason -> what was found."""

SHORT = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""

_SCRIPTS = {
    **dict.fromkeys(("zh",), ("CJK",)),
    **dict.fromkeys(("ja",), ("CJK", "HIRAGANA", "KATAKANA")),
    **dict.fromkeys(("ko",), ("HANGUL", "CJK")),
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "ky", "tg"), ("CYRILLIC",)),
    **dict.fromkeys(("sr", "kk", "mn", "uz", "az"), ("CYRILLIC", "LATIN")),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug", "sd"), ("ARABIC",)),
    **dict.fromkeys(("he", "yi"), ("HEBREW",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("DEVANAGARI",)),
    **{
        "el": ("GREEK",), "th": ("THAI",), "bn": ("BENGALI",), "as": ("BENGALI",), "ta": ("TAMIL",), "te": ("TELUGU",),
        "ml": ("MALAYALAM",), "kn": ("KANNADA",), "gu": ("GUJARATI",), "pa": ("GURMUKHI", "ARABIC"), "or": ("ORIYA",),
        "si": ("SINHALA",), "my": ("MYANMAR",), "km": ("KHMER",), "lo": ("LAO",), "bo": ("TIBETAN",), "ka": ("GEORGIAN",),
        "hy": ("ARMENIAN",), "am": ("ETHIOPIC",), "ti": ("ETHIOPIC",), "dv": ("THAANA",),
    },
}  # fmt: skip
"""Language -> the scripts that it is written in, as Unicode names letters; Latin for the others."""

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


_WORDS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
"""Scripts of which a character says about as much as a word."""

WORD = 5
"""Letters of a word."""


def fault(text: str, language: str, cut: bool = False) -> str:
    """The first reason to refuse a text: a key of MEANINGS; empty if there is none.

    Args:
        language: that it should be in. Only the script is looked at: German passes for English.
        cut: it ended at the limit of its length.
    """
    if not text.strip():
        return EMPTY
    if cut:
        return CUT
    for name, (_, found) in ARTIFACTS.items():
        if found(text):
            return name
    if refuses(text):
        return REFUSAL
    return "" if is_written_in(language, text) else LANGUAGE


def short_reason(reason: str) -> str:
    """A reason as counts have it: without the text that this one repeats."""
    return re.split(" (?:of|to) ", reason, maxsplit=1)[0]


def settled(refused: Iterable[Refused], step: str) -> set[str]:
    """The ids of a step's refused texts that are not asked for again.

    Those that were cut off are: with a higher limit a model may finish them, and with the same one the cache answers.
    """
    return {one.id for one in refused if one.step == step and one.reason != CUT}


def before(refused: Iterable[Refused], step: str, replies: Collection[str]) -> list[Refused]:
    """The refused texts without those that a step has got another reply to."""
    return [one for one in refused if one.step != step or one.id not in replies]


def nothing_left(path: Path, what: str, refused: Iterable[Refused], step: str, otherwise: str) -> DataError:
    """The error of a step that leaves nothing to the next one.

    Args:
        path: of the file that lacks it.
        otherwise: what to do where no text was refused.
    """
    reasons = Counter(short_reason(one.reason) for one in refused if one.step == step)
    raised = "Raise --max-tokens for those that were cut off. " if reasons[CUT] else ""
    edited = "Edit the prompts and remove the texts from refused.jsonl. " if set(reasons) - {CUT} else ""
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    found = f"no {what} (refused: {counts})" if reasons else f"no {what}"
    do = f"{raised}{edited}Then run the step again." if reasons else otherwise
    return DataError(f"{path}: found {found}, expected at least one. {do}")


def refuses(text: str) -> bool:
    """Whether a text is a refusal, in English or Chinese."""
    return len(text) <= SHORT and any(one.match(text) for one in (_ENGLISH, _CHINESE))


def is_written_in(language: str, text: str) -> bool:
    """Whether at least half of a text is in the language's script; a text without letters is in any language.

    A Chinese answer may quote English: its characters weigh as much as words.
    """
    scripts: Counter[str] = Counter()
    for char in text:
        if char.isalpha():
            script = _script(char)
            scripts[script] += WORD if script in _WORDS else 1
    return 2 * sum(scripts[one] for one in _SCRIPTS.get(language, ("LATIN",))) >= sum(scripts.values())


@lru_cache(maxsize=8192)
def _script(char: str) -> str:
    """The first word of a letter's name: LATIN, CYRILLIC, CJK; of full-width letters it is the second one."""
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "unnamed")
    return name.split(" ", 1)[0].split("-", 1)[0]
