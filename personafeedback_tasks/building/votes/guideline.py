"""The guideline of the annotators, in both languages: four rules with the substance of the paper's Appendix D in our words, and two of ours."""

from __future__ import annotations

from collections.abc import Mapping

from ...annotation.items import Guideline

GUIDELINES: Mapping[str, Guideline] = {
    "en": Guideline(
        language="en",
        title="Which response suits this user better?",
        headings={"persona": "You are this person", "question": "Your question"},
        option="Response",
        rules=(
            "Read the persona first. Put yourself in this person's place: the question is yours, and both responses are written to you.",
            'Take the response that you, as this person, would rather have. Take one even where it is close; "Cannot judge" is for texts that are broken or that you do not understand.',
            "Helpful: it answers precisely this question. It is neither generic nor a strained collage of facts about you.",
            "Personal: it attends to several things about you, and works in those that fit the question.",
            "Weigh both together. A long response is not better for its length, nor one that repeats more of your persona.",
            "The sides are drawn at random. Do not look anything up, and do not talk about single cases with other annotators.",
        ),
    ),
    "zh": Guideline(
        language="zh",
        title="哪个回答更适合这位用户？",
        headings={"persona": "你是这个人", "question": "你的问题"},
        option="回答",
        rules=(
            "请先阅读人物画像，并代入这个人：问题是你提出的，两个回答都是写给你的。",
            "请选出作为这个人的你更想要的回答。即使难分高下也请选择一个；“无法判断”仅用于文本损坏或看不懂的情况。",
            "有用性：回答准确切中所提的问题，既不泛泛而谈，也不生硬拼凑关于你的信息。",
            "个性化：回答顾及你的多个方面，并恰当融入其中与问题相关的部分。",
            "请综合两者判断。回答并不因为更长或重复更多画像内容而更好。",
            "左右位置是随机的。请不要查阅资料，也不要与其他标注者讨论个别题目。",
        ),
    ),
}
"""Language -> what annotators are told. Other languages get the English one, to be translated in the packs."""
