"""The fixed texts of the prompts: three wordings of the same question, each in both languages.

The two criteria are those of the paper's annotation guidelines (arXiv 2506.12915, Appendix D), in our words.

- `v1`, the default, spells them out.
- `v2` asks the bare question.
- `v3` spells them out in other words and another order, and speaks of the person instead of the user.

How far a model's score moves between them is its prompt sensitivity (`personafeedback report` prints the range).
A text here never changes without a new version: old scores would seem to be of the new prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Wording:
    """The fixed texts of one wording in one language. The reply is read by module `answers`.

    Attributes:
        with_persona: instructions where a whole persona follows.
        with_notes: instructions where single notes about the user follow (`rag`).
        without_persona: instructions where nothing is told about the user.
        ask: the last words, for a reply that is a letter.
        ask_cot: the last words, for a reply that reasons first (method `cot`).
    """

    with_persona: str
    with_notes: str
    without_persona: str
    ask: str
    ask_cot: str


_CRITERIA_V1_EN = (
    "Judge by two criteria together:\n"
    "1. Helpfulness: the response answers the question well.\n"
    "2. Personalization: the response fits who this user is and what this user cares about. Facts about the "
    "user that are forced in where the question does not call for them count against it.\n\n"
    "The order of the responses says nothing about their quality."
)
_CRITERIA_V1_ZH = (
    "请综合以下两条标准：\n"
    "1. 有用性：回答很好地解决了问题。\n"
    "2. 个性化：回答符合这位用户的特点和偏好。问题并不需要时生硬地塞入用户信息，应视为缺点。\n\n"
    "两个回答的先后顺序与质量无关。"
)
_V1 = {
    "en": Wording(
        with_persona=(
            "Below are the persona of a user, a question that this user asked an assistant, and two responses to it, "
            f"A and B. Decide which response suits this user better.\n\n{_CRITERIA_V1_EN}"
        ),
        with_notes=(
            "Below are notes about a user, a question that this user asked an assistant, and two responses to it, "
            f"A and B. Decide which response suits this user better.\n\n{_CRITERIA_V1_EN}"
        ),
        without_persona=(
            "Below are a question that a user asked an assistant, and two responses to it, A and B. Decide which "
            "response suits this user better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers the question well.\n"
            "2. Personalization: the response fits the user who asked. Nothing is known about this user beyond the "
            "question itself.\n\n"
            "The order of the responses says nothing about their quality."
        ),
        ask="Which response suits this user better? Reply with the letter alone: A or B.\nAnswer:",
        ask_cot=(
            "Which response suits this user better? Reason about it first, step by step. Then end with one last line "
            'that reads "Answer: A" or "Answer: B".'
        ),
    ),
    "zh": Wording(
        with_persona=(
            "下面是一位用户的画像、这位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            f"请判断哪个回答更适合这位用户。\n\n{_CRITERIA_V1_ZH}"
        ),
        with_notes=(
            "下面是关于一位用户的一些记录、这位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            f"请判断哪个回答更适合这位用户。\n\n{_CRITERIA_V1_ZH}"
        ),
        without_persona=(
            "下面是一位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            "请判断哪个回答更适合这位用户。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答很好地解决了问题。\n"
            "2. 个性化：回答适合提问的用户。除问题本身外，没有关于这位用户的任何信息。\n\n"
            "两个回答的先后顺序与质量无关。"
        ),
        ask="哪个回答更适合这位用户？只回复一个字母：A 或 B。\n答案：",
        ask_cot="哪个回答更适合这位用户？请先一步一步分析，最后单独用一行给出结论，写成“答案：A”或“答案：B”。",
    ),
}

_V2 = {
    "en": Wording(
        with_persona="Below are a user's persona, the user's question, and two responses to it, A and B.",
        with_notes="Below are notes about a user, the user's question, and two responses to it, A and B.",
        without_persona="Below are a user's question and two responses to it, A and B.",
        ask="Which response would this user prefer? Reply with the letter alone: A or B.\nAnswer:",
        ask_cot=(
            "Which response would this user prefer? Think it through before you decide. Write your decision on the last "
            'line, as "Answer: A" or "Answer: B".'
        ),
    ),
    "zh": Wording(
        with_persona="下面是一位用户的画像、这位用户的问题，以及对该问题的两个回答 A 和 B。",
        with_notes="下面是关于一位用户的一些记录、这位用户的问题，以及对该问题的两个回答 A 和 B。",
        without_persona="下面是一位用户的问题，以及对该问题的两个回答 A 和 B。",
        ask="这位用户会更喜欢哪个回答？只回复一个字母：A 或 B。\n答案：",
        ask_cot="这位用户会更喜欢哪个回答？请先仔细思考，再在最后一行写出结论：“答案：A”或“答案：B”。",
    ),
}

_CRITERIA_V3_EN = (
    "A good response is written for this very person: it takes up what is known to matter to them and leaves out what has "
    "nothing to do with the question. It must also be correct, complete and of use. Weigh both. It does not matter which "
    "response comes first."
)
_CRITERIA_V3_ZH = (
    "好的回答应当是专门写给这个人的：它照顾到对这个人重要的事情，不提与问题无关的个人信息；同时它必须正确、完整、有用。"
    "请权衡这两个方面。哪个回答排在前面并不重要。"
)
_V3 = {
    "en": Wording(
        with_persona=(
            "You compare two drafts of an assistant's reply to a person. You are given a profile of the person, what they "
            f"asked, and the drafts, response A and response B.\n\n{_CRITERIA_V3_EN}"
        ),
        with_notes=(
            "You compare two drafts of an assistant's reply to a person. You are given some facts about the person, what "
            f"they asked, and the drafts, response A and response B.\n\n{_CRITERIA_V3_EN}"
        ),
        without_persona=(
            "You compare two drafts of an assistant's reply to a person. You are given what they asked, and the drafts, "
            "response A and response B. Nothing else is known about the person.\n\n"
            "A good response is written for whoever asks this. It must also be correct, complete and of use. Weigh both. It "
            "does not matter which response comes first."
        ),
        ask="Which draft should the assistant send to this person? Give one letter, A or B, and nothing else.\nAnswer:",
        ask_cot=(
            "Which draft should the assistant send to this person? Set out your reasons, then close with a line of its own: "
            '"Answer: A" or "Answer: B".'
        ),
    ),
    "zh": Wording(
        with_persona=(
            "你要比较助手写给某个人的两份回复草稿。下面给出这个人的画像、提出的问题，以及两份草稿：回答 A 和回答 B。\n\n"
            f"{_CRITERIA_V3_ZH}"
        ),
        with_notes=(
            "你要比较助手写给某个人的两份回复草稿。下面给出关于这个人的一些情况、提出的问题，以及两份草稿：回答 A 和回答 B。\n\n"
            f"{_CRITERIA_V3_ZH}"
        ),
        without_persona=(
            "你要比较助手写给某个人的两份回复草稿。下面给出提出的问题，以及两份草稿：回答 A 和回答 B。"
            "除此之外，对这个人一无所知。\n\n"
            "好的回答应当适合提出这个问题的人；同时它必须正确、完整、有用。请权衡这两个方面。哪个回答排在前面并不重要。"
        ),
        ask="助手应该把哪份草稿发给这个人？只给出一个字母 A 或 B，不要写别的。\n答案：",
        ask_cot="助手应该把哪份草稿发给这个人？请说明理由，最后另起一行写出：“答案：A”或“答案：B”。",
    ),
}

WORDINGS = {"v1": _V1, "v2": _V2, "v3": _V3}
"""Prompt version -> language -> its texts."""
