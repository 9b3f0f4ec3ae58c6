"""Artifacts: what the model that wrote a response, or the program around it, left in its text."""

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
    "artifact_unparsed": ("A response is a program's error message that it could not parse one.", _is_unparsed),
    "artifact_colon": ("A response ends at a colon: what it announces is missing.", _ends_at_colon),
    "artifact_chat_tokens": ("A response contains chat template tokens.", _found(_CHAT_TOKENS, "<[")),
}
"""Name of the finding -> its meaning, and whether a response has it."""
