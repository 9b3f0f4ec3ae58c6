"""The guideline of the annotators, in both languages: four rules with the substance of the paper's Appendix D in our words, and two of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class Guideline(TypedDict):
    """The fixed texts of a pack."""

    title: str  # of the page
    rules: tuple[str, ...]  # one sentence or two to each. The first four are the paper's, the others ours
    persona: str  # headings
    question: str
    response: str
    back: str  # buttons
    download: str
    progress: str  # with the fields done and all
    finished: str  # after the last vote
    kept: str  # where the votes are until they are sent
    not_kept: str  # the same if the browser stores nothing


GUIDELINES: Mapping[str, Guideline] = {
    "en": Guideline(
        title="Which response suits this user better?",
        rules=(
            "Read the persona first. Put yourself in this person's place: the question is yours, and both responses are written to you.",
            "Take the response that you, as this person, would rather have. Always take one: A or B.",
            "Helpful: it answers precisely this question. It is neither generic nor a strained collage of facts about you.",
            "Personal: it attends to several things about you, and works in those that fit the question.",
            "Weigh both together. A long response is not better for its length, nor one that repeats more of your persona.",
            "The sides are drawn at random. Do not look anything up, and do not talk about single cases with other annotators.",
        ),
        persona="You are this person",
        question="Your question",
        response="Response",
        back="Back",
        download="Download the votes",
        progress="{done} of {all} answered",
        finished="That was the last one. Download the votes and send the file back.",
        kept="Votes stay in this browser until you send them: you can close the page and go on later.",
        not_kept="This browser stores nothing: download the votes before you close the page.",
    ),
    "zh": Guideline(
        title="哪个回答更适合这位用户？",
        rules=(
            "请先阅读人物画像，并代入这个人：问题是你提出的，两个回答都是写给你的。",
            "请选出作为这个人的你更想要的回答。每题必须在 A 与 B 中选择一个。",
            "有用性：回答准确切中所提的问题，既不泛泛而谈，也不生硬拼凑关于你的信息。",
            "个性化：回答顾及你的多个方面，并恰当融入其中与问题相关的部分。",
            "请综合两者判断。回答并不因为更长或重复更多画像内容而更好。",
            "左右位置是随机的。请不要查阅资料，也不要与其他标注者讨论个别题目。",
        ),
        persona="你是这个人",
        question="你的问题",
        response="回答",
        back="上一题",
        download="下载投票结果",
        progress="已完成 {done} / {all}",
        finished="已经是最后一题。请下载投票结果并将文件发回。",
        kept="投票结果会保存在此浏览器中，可以关闭页面，稍后继续。",
        not_kept="此浏览器无法保存结果：关闭页面之前请先下载。",
    ),
}
"""Language -> what annotators are told. Other languages get the English one, to be translated in the packs."""
