"""Reasons to refuse a text that a model wrote: left-over tags, refusals, cut-off ends, another language; or no single question.

Only the form is checked, and refusals only in English and Chinese. Replies of judges are read elsewhere: their refusals differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .languages import is_written_in, words

# --- artifacts: what the model that wrote a text, or the program around it, left in it ---

_TAGS = re.compile(
    # Never legitimate in an answer to a user. Other tags are: HTML, and placeholders such as <your_name>.
    r"</?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)>"
    r"|</?(?:degraded|improved|rewritten|revised|modified|original|final|personali[sz]ed|chosen|rejected)_(?:answer|response)>"
    r"|\A\s*<(?:answer|response)>|</(?:answer|response)>\s*\Z",
    re.IGNORECASE,
)
_REWRITTEN = re.compile(
    # 回答 alone, not 回复: "here is the revised reply" is a normal answer to someone who wants a letter rewritten.
    r"\A\W*(?:(?:以下是)?(?:修改|改写|降级)后的回答"
    r"|(?:(?:here|below) is|here['’]s) (?:the|a) (?:degraded|modified|rewritten|revised) (?:answer|response)\b)",
    re.IGNORECASE,
)
_PROFILE_KEY = re.compile(
    # Name and Age are left out: any JSON example may have them.
    r'"(Demographics|Personality|Preference|Career_Information|Values_and_Interests|Local_Life|Content_Interests)"\s*:'
)
_UNPARSED = re.compile(
    r"\W*(?:error\W+)?(?:(?:i|we)\s+)?(?:"
    r"(?:无法|未能|不能)解析|解析(?:失败|错误|异常)|(?:无法|未能)(?:提取|生成)(?:回答|回复|内容|结果)"
    r"|(?:(?:could|can)\s*(?:not|n['’]t)|unable\s+to|failed\s+to|failure\s+to|was\s+not\s+able\s+to)\s+(?:be\s+)?(?:pars|extract|decod)"
    r"|(?:response|answer|output|json|reply)\s+(?:could\s+not|cannot)\s+be\s+(?:parsed|extracted|decoded)"
    r"|(?:json\s*)?(?:pars(?:e|ing)|decod(?:e|ing))\s*(?:error|failed|failure)\b"
    r"|(?:null|none|nan|n/a|undefined|error)\W*\Z)",
    re.IGNORECASE,
)
_UNPARSED_LENGTH = 60
"""A longer text that begins like this is advice about parsing, not a message instead of an answer."""
_ANNOUNCES = re.compile(
    r"\A\W*(?:(?:sure(?: thing)?|of course|certainly|absolutely)\W+)?"
    r"(?:(?:here (?:is|are)|here['’]s|below (?:is|are)|this is) (?:an? |your |the |my |some )?(?:\w+,? ){0,2}?"
    r"(?:personali[sz]ed|tailored|customi[sz]ed)(?: \w+)? (?:answer|response|reply|advice|recommendation|suggestion)s?\b"
    # Further on, a profile may be one that the user wrote for a website.
    r"|(?:based on|according to|given|considering|looking at) your (?:user )?profile\b|(?:(?:AI )?assistant|chatbot|response)\W*[:：])"
    r"|\A\W*(?:(?:好的|当然(?:可以)?|没问题)\W*)?(?:(?:以下|下面|这)是\w{0,12}?(?:个性化|定制|量身)\w{0,6}?(?:回答|回复|答复|答案|建议|推荐)"
    r"|(?:AI)?(?:助手|助理)\W*[:：])",
    re.IGNORECASE,
)
_SPEAKS_OF_ITSELF = re.compile(
    r"(?:based on|according to|given|considering|for) (?:your|the|this|the user['’]s) (?:persona|user profile|MBTI|personality type)\b"
    r"|(?:as|since|because) your (?:MBTI|personality type)\b|\bas an? (?:AI|artificial intelligence|(?:large )?language) (?:language )?(?:model|assistant|chatbot)\b"
    # 用户画像 alone is a term of marketing.
    r"|(?:根据|基于|结合|鉴于|考虑到|按照)(?:[您你](?:的|提供的)?|该?用户的)(?:人物|用户|个人)?(?:画像|人设|档案|资料|角色设定)|[您你]的?MBTI"
    r"|(?:作为|我是)(?:一[个名款])?(?:人工智能|AI|大?语言模型)(?:语言模型|大模型|模型|助手|助理)?[，,。]",
    re.IGNORECASE,
)
_MBTI = re.compile(r"[EI][NS][FT][JP](?![A-Za-z])")
_OF_A_TYPE = re.compile(
    r"(?:\b(?:[Aa]s|[Yy]ou(?: a|['’])re) an?|\btype is|(?:作为|[您你]是)(?:一[个名位])?(?:典型的)?) ?\Z"
)
_HINTS = [
    "persona",
    "profile",
    "mbti",
    "model",
    "assistant",
    "chatbot",
    "画像",
    "人设",
    "档案",
    "资料",
    "设定",
    "人工智能",
    "ai",
]
"""A text that speaks of itself has one of these, in lower case. Few others do."""
_COLON_BACKWARDS = re.compile(r"[\s*_]*[:：]")
_CHAT_TOKENS = re.compile(
    # <s> and </s> are HTML too: as a pair they strike a text through.
    r"<\|[\w-]{1,40}\|>|<｜[\w▁-]{1,40}｜>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|\A\s*<s>(?!.*</s>)|\A(?!.*<s>).*</s>\s*\Z",
    re.DOTALL,
)


def _quotes_profile(response: str) -> bool:
    return len(set(_PROFILE_KEY.findall(response))) > 1


def _is_unparsed(response: str) -> bool:
    return len(response.strip()) <= _UNPARSED_LENGTH and _UNPARSED.match(response) is not None


def _is_boilerplate(response: str) -> bool:
    if _ANNOUNCES.match(response):
        return True
    if any(_OF_A_TYPE.search(response[: of_type.start()]) for of_type in _MBTI.finditer(response)):
        return True
    lower = response.lower()
    return any(hint in lower for hint in _HINTS) and _SPEAKS_OF_ITSELF.search(response) is not None


def _ends_at_colon(response: str) -> bool:
    return _COLON_BACKWARDS.match(response[::-1]) is not None


def _found(pattern: re.Pattern[str], signs: str = "") -> Callable[[str], bool]:
    # A match has one of the characters `signs`, which few responses have; empty if unknown.
    return lambda response: (
        (not signs or any(sign in response for sign in signs)) and pattern.search(response) is not None
    )


ARTIFACTS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "artifact_tags": ("A response contains tags or reasoning of the model that wrote it.", _found(_TAGS, "<")),
    "artifact_preamble": ("A response announces that it was rewritten.", _found(_REWRITTEN)),
    "artifact_profile": ("A response leaks persona JSON from the generation prompt.", _quotes_profile),
    "artifact_unparsed": ("A response is the error message of a program that failed to parse one.", _is_unparsed),
    "artifact_colon": ("A response ends at a colon: what it announces is missing.", _ends_at_colon),
    "artifact_boilerplate": (
        "A response speaks of its instructions or its writer: a persona, a profile, an MBTI type, an AI model.",
        _is_boilerplate,
    ),
    "artifact_chat_tokens": ("A response contains chat template tokens.", _found(_CHAT_TOKENS, "<[")),
}
"""Name of the finding -> its meaning, and whether a response has it."""

# --- any text, and questions ---

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
        language: ISO 639-1 code that it should be in.
        cut: it was cut off at its maximum length.
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
    """The first reason to refuse a question: a key of MEANINGS or OF_QUESTIONS; empty if there is none. Line breaks matter."""
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
