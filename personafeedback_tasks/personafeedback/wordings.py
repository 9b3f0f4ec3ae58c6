"""The fixed texts of the prompts: four wordings of the same question, each in both languages.

- `v1`, the default, says what the annotators were told (arXiv 2506.12915, Appendix D), in our words: judge in the user's
  place, by helpfulness (precise to this question, neither generic nor a strained collage of facts) and by personalization
  (attentive to several parts of the profile, with those that fit worked in). That the order of the responses means
  nothing is ours.
- `v2` asks the bare question.
- `v3` judges from the outside, by shorter criteria of our own: answers well, fits the user, nothing forced in.
- `v4` is the instruction on the annotators' screen (Figure 5), without the criteria: choose the more personalized response.
  The screen shows three options and says "the most".

The annotators always had the profile: what `v1` says for `rag` and `no_persona` is the same about what is known there.

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
        with_memory: instructions where pieces of content that interests the user follow (`rag`).
        without_persona: instructions where nothing is told about the user.
        ask: the last words, for a reply that is a letter.
        ask_cot: the last words, for a reply that reasons first (method `cot`).
    """

    with_persona: str
    with_memory: str
    without_persona: str
    ask: str
    ask_cot: str


_ORDER_EN = "The order of the responses says nothing about their quality."
_ORDER_ZH = "两个回答的先后顺序与质量无关。"

_V1 = {
    "en": Wording(
        with_persona=(
            "Below are the persona of a user, a question that this user asked an assistant, and two responses to it, "
            "A and B. Put yourself in this user's place and choose the response that suits you better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers precisely the question that was asked. It is neither generic nor a "
            "strained collage of facts from the persona.\n"
            "2. Personalization: the response attends to several parts of the persona and works in those that fit.\n\n"
            f"{_ORDER_EN}"
        ),
        with_memory=(
            "Below are some pieces of content that interest a user (such as posts, reviews or forum threads), a question "
            "that this user asked an assistant, and two responses to it, A and B. Infer from the content who this user "
            "is, put yourself in their place and choose the response that suits you better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers precisely the question that was asked. It is neither generic nor a "
            "strained collage of things from the content.\n"
            "2. Personalization: the response attends to several of the interests that the content shows and works in "
            "those that fit.\n\n"
            f"{_ORDER_EN}"
        ),
        without_persona=(
            "Below are a question that a user asked an assistant, and two responses to it, A and B. Nothing is known "
            "about this user beyond the question itself. Put yourself in this user's place and choose the response that "
            "suits you better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers precisely the question that was asked. It is neither generic nor a "
            "strained collage of facts about a user.\n"
            "2. Personalization: the response attends to what the question shows about this user and works in what "
            "fits.\n\n"
            f"{_ORDER_EN}"
        ),
        ask="As this user, which response suits you better? Reply with the letter alone: A or B.\nAnswer:",
        ask_cot=(
            "As this user, which response suits you better? Reason about it first, step by step. Then end with one last "
            'line that reads "Answer: A" or "Answer: B".'
        ),
    ),
    "zh": Wording(
        with_persona=(
            "下面是一位用户的画像、这位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            "请代入这位用户的身份，选出更适合你的回答。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答准确切中所提的问题，既不泛泛而谈，也不生硬拼凑画像信息。\n"
            "2. 个性化：回答顾及画像中的多方面信息，并恰当融入其中与问题相关的部分。\n\n"
            f"{_ORDER_ZH}"
        ),
        with_memory=(
            "下面是一位用户感兴趣的一些内容（如帖子、评价、论坛讨论）、这位用户向助手提出的一个问题，"
            "以及对该问题的两个回答 A 和 B。请根据这些内容推断这位用户是怎样的人，代入其身份，选出更适合你的回答。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答准确切中所提的问题，既不泛泛而谈，也不生硬拼凑这些内容。\n"
            "2. 个性化：回答顾及这些内容反映出的多方面兴趣，并恰当融入其中与问题相关的部分。\n\n"
            f"{_ORDER_ZH}"
        ),
        without_persona=(
            "下面是一位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            "除问题本身外，没有关于这位用户的任何信息。请代入这位用户的身份，选出更适合你的回答。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答准确切中所提的问题，既不泛泛而谈，也不生硬拼凑用户信息。\n"
            "2. 个性化：回答顾及问题本身透露出的用户情况，并恰当地加以结合。\n\n"
            f"{_ORDER_ZH}"
        ),
        ask="作为这位用户，你认为哪个回答更适合你？只回复一个字母：A 或 B。\n答案：",
        ask_cot=(
            "作为这位用户，你认为哪个回答更适合你？请先一步一步分析，最后单独用一行给出结论，写成“答案：A”或“答案：B”。"
        ),
    ),
}

_V2 = {
    "en": Wording(
        with_persona="Below are a user's persona, the user's question, and two responses to it, A and B.",
        with_memory=(
            "Below are some pieces of content that interest a user, the user's question, and two responses to it, A and B."
        ),
        without_persona="Below are a user's question and two responses to it, A and B.",
        ask="Which response would this user prefer? Reply with the letter alone: A or B.\nAnswer:",
        ask_cot=(
            "Which response would this user prefer? Think it through before you decide. Write your decision on the last "
            'line, as "Answer: A" or "Answer: B".'
        ),
    ),
    "zh": Wording(
        with_persona="下面是一位用户的画像、这位用户的问题，以及对该问题的两个回答 A 和 B。",
        with_memory="下面是一位用户感兴趣的一些内容、这位用户的问题，以及对该问题的两个回答 A 和 B。",
        without_persona="下面是一位用户的问题，以及对该问题的两个回答 A 和 B。",
        ask="这位用户会更喜欢哪个回答？只回复一个字母：A 或 B。\n答案：",
        ask_cot="这位用户会更喜欢哪个回答？请先仔细思考，再在最后一行写出结论：“答案：A”或“答案：B”。",
    ),
}

_CRITERIA_V3_EN = (
    "Judge by two criteria together:\n"
    "1. Helpfulness: the response answers the question well.\n"
    "2. Personalization: the response fits who this user is and what this user cares about. Facts about the "
    "user that are forced in where the question does not call for them count against it.\n\n"
    f"{_ORDER_EN}"
)
_CRITERIA_V3_ZH = (
    "请综合以下两条标准：\n"
    "1. 有用性：回答很好地解决了问题。\n"
    "2. 个性化：回答符合这位用户的特点和偏好。问题并不需要时生硬地塞入用户信息，应视为缺点。\n\n"
    f"{_ORDER_ZH}"
)
_V3 = {
    "en": Wording(
        with_persona=(
            "Below are the persona of a user, a question that this user asked an assistant, and two responses to it, "
            f"A and B. Decide which response suits this user better.\n\n{_CRITERIA_V3_EN}"
        ),
        with_memory=(
            "Below are some pieces of content that interest a user (such as posts, reviews or forum threads), a question "
            "that this user asked an assistant, and two responses to it, A and B. Decide which response suits this user "
            f"better.\n\n{_CRITERIA_V3_EN}"
        ),
        without_persona=(
            "Below are a question that a user asked an assistant, and two responses to it, A and B. Decide which "
            "response suits this user better.\n\n"
            "Judge by two criteria together:\n"
            "1. Helpfulness: the response answers the question well.\n"
            "2. Personalization: the response fits the user who asked. Nothing is known about this user beyond the "
            "question itself.\n\n"
            f"{_ORDER_EN}"
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
            f"请判断哪个回答更适合这位用户。\n\n{_CRITERIA_V3_ZH}"
        ),
        with_memory=(
            "下面是一位用户感兴趣的一些内容（如帖子、评价、论坛讨论）、这位用户向助手提出的一个问题，"
            "以及对该问题的两个回答 A 和 B。"
            f"请判断哪个回答更适合这位用户。\n\n{_CRITERIA_V3_ZH}"
        ),
        without_persona=(
            "下面是一位用户向助手提出的一个问题，以及对该问题的两个回答 A 和 B。"
            "请判断哪个回答更适合这位用户。\n\n"
            "请综合以下两条标准：\n"
            "1. 有用性：回答很好地解决了问题。\n"
            "2. 个性化：回答适合提问的用户。除问题本身外，没有关于这位用户的任何信息。\n\n"
            f"{_ORDER_ZH}"
        ),
        ask="哪个回答更适合这位用户？只回复一个字母：A 或 B。\n答案：",
        ask_cot="哪个回答更适合这位用户？请先一步一步分析，最后单独用一行给出结论，写成“答案：A”或“答案：B”。",
    ),
}

_V4 = {
    "en": Wording(
        with_persona=(
            "Below are a user's persona, the user's question, and two responses to it, A and B. Choose the response that is "
            "more personalized to this user."
        ),
        with_memory=(
            "Below are some pieces of content that interest a user, the user's question, and two responses to it, A and B. "
            "Choose the response that is more personalized to this user."
        ),
        without_persona=(
            "Below are a user's question and two responses to it, A and B. Choose the response that is more personalized to "
            "this user."
        ),
        ask="Which response is more personalized? Reply with the letter alone: A or B.\nAnswer:",
        ask_cot=(
            "Which response is more personalized? Reason about it first, step by step. Then end with one last line that "
            'reads "Answer: A" or "Answer: B".'
        ),
    ),
    "zh": Wording(
        with_persona="下面是一位用户的画像、这位用户的问题，以及对该问题的两个回答 A 和 B。请选择对这位用户来说更个性化的回答。",
        with_memory=(
            "下面是一位用户感兴趣的一些内容、这位用户的问题，以及对该问题的两个回答 A 和 B。请选择对这位用户来说更个性化的回答。"
        ),
        without_persona="下面是一位用户的问题，以及对该问题的两个回答 A 和 B。请选择对这位用户来说更个性化的回答。",
        ask="哪个回答对这位用户来说更个性化？只回复一个字母：A 或 B。\n答案：",
        ask_cot="哪个回答对这位用户来说更个性化？请先一步一步分析，最后单独用一行给出结论，写成“答案：A”或“答案：B”。",
    ),
}

WORDINGS = {"v1": _V1, "v2": _V2, "v3": _V3, "v4": _V4}
"""Prompt version -> language -> its texts."""
