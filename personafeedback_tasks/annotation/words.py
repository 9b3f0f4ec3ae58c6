"""The page's own words, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class PageWords(TypedDict):
    """Of buttons and lines; `{...}` is filled in."""

    guideline: str
    agree: str  # to the consent text
    back: str
    next: str
    items: str  # the list of all items
    session: str
    answered: str  # of an item in the list
    open: str
    pause: str
    paused: str
    resume: str
    rest: str  # after a session
    note: str
    cannot: str
    reasons: Mapping[str, str]  # why somebody cannot judge: key -> in words
    why: str  # asks for a note on another reason
    name: str  # asks for a note on an answer that needs one
    none: str  # ticks nothing
    download: str
    progress: str
    finished: str
    kept: str  # where the votes are until they are sent
    not_kept: str  # the same if the browser stores nothing


WORDS: Mapping[str, PageWords] = {
    "en": PageWords(
        guideline="Guideline",
        agree="I agree",
        back="Back",
        next="Next",
        items="All items",
        session="Session {session} of {sessions}",
        answered="answered",
        open="open",
        pause="Pause",
        paused="Paused. The clock has stopped, and your votes are kept.",
        resume="Go on",
        rest="That was session {session} of {sessions}. Take a break; the page can be closed and opened again.",
        note="Note",
        cannot="Cannot judge",
        reasons={
            "broken": "A text is broken or cut off",
            "unclear": "I do not understand it",
            "unacceptable": "No answer is acceptable",
            "other": "Another reason, see my note",
        },
        why="Please write the reason into the note first.",
        name="Please write it into the note first.",
        none="None of these",
        download="Download the votes",
        progress="{done} of {all} answered",
        finished="That was the last one. Download the votes and send the file back.",
        kept="Votes stay in this browser until you send them: you can close the page and go on later.",
        not_kept="This browser stores nothing: download the votes before you close the page.",
    ),
    "zh": PageWords(
        guideline="标注指南",
        agree="我同意",
        back="上一题",
        next="下一题",
        items="全部题目",
        session="第 {session} / {sessions} 场",
        answered="已答",
        open="未答",
        pause="暂停",
        paused="已暂停。计时已停止，投票结果已保存。",
        resume="继续",
        rest="第 {session} / {sessions} 场已结束。请休息一下；可以关闭页面，稍后再打开。",
        note="备注",
        cannot="无法判断",
        reasons={
            "broken": "文本损坏或不完整",
            "unclear": "看不懂",
            "unacceptable": "没有可接受的答案",
            "other": "其他原因，见备注",
        },
        why="请先在备注中写明原因。",
        name="请先在备注中写明。",
        none="以上都不是",
        download="下载投票结果",
        progress="已完成 {done} / {all}",
        finished="已经是最后一题。请下载投票结果并将文件发回。",
        kept="投票结果会保存在此浏览器中，可以关闭页面，稍后继续。",
        not_kept="此浏览器无法保存结果：关闭页面之前请先下载。",
    ),
}
"""Language -> the words. Others get the English ones."""
