"""Artifacts: what the model that wrote a text, or the program around it, left in it. Such texts are refused."""

from __future__ import annotations

import re
from collections.abc import Callable

_TAGS = re.compile(
    # Never legitimate in an answer to a user. Other tags are: HTML, and placeholders such as <your_name>.
    r"</?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)>"
    r"|</?(?:degraded|improved|rewritten|revised|modified|original|final|personali[sz]ed|chosen|rejected)_(?:answer|response)>"
    r"|\A\s*<(?:answer|response)>|</(?:answer|response)>\s*\Z",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
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
_TYPE = re.compile(r"[EI][NS][FT][JP](?![A-Za-z])")
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
    if any(_OF_A_TYPE.search(response[: of_type.start()]) for of_type in _TYPE.finditer(response)):
        return True
    lower = response.lower()
    return any(hint in lower for hint in _HINTS) and _SPEAKS_OF_ITSELF.search(response) is not None


def _ends_at_colon(response: str) -> bool:
    return _COLON_BACKWARDS.match(response[::-1]) is not None


def _found(pattern: re.Pattern[str], signs: str = "") -> Callable[[str], bool]:
    """Whether a response matches.

    Args:
        signs: a match has one of these characters, and few responses do; empty if nobody knows.
    """
    return lambda response: (
        (not signs or any(sign in response for sign in signs)) and pattern.search(response) is not None
    )


ARTIFACTS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "artifact_tags": ("A response contains tags or reasoning of the model that wrote it.", _found(_TAGS, "<")),
    "artifact_preamble": ("A response announces that it was rewritten.", _found(_PREAMBLE)),
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
