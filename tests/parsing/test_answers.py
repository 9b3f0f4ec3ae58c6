"""What a judge's reply is read as: row by row, on all labelled replies at hand, and with the letters exchanged."""

from __future__ import annotations

import json
import os
import re
from itertools import product
from pathlib import Path

import pytest

from personafeedback_tasks.parsing import vocabulary
from personafeedback_tasks.parsing.answers import IMPOSSIBLE, LETTERS, REASONS, excerpt, read_last_line, read_reply
from personafeedback_tasks.personafeedback.prompts import WORDINGS

NONE, CUT, PROMPT_CUT, REFUSED, INVALID, *_ = REASONS

ROWS: dict[str, list[tuple[str, str]]] = {
    "nothing was said": [
        ("", NONE), (" \n\t", NONE), ("\u200b\ufeff", NONE), ("\u3000", NONE), ("<think>A</think>", NONE),
        ("<think>A</think>\n \n", NONE), ("B</think>", NONE),
    ],
    "the label alone, however it is dressed": [
        ("A", "A"), ("B", "B"), ("a", "A"), ("b", "B"), (" B \n", "B"), ("B.", "B"), ("b.", "B"), ("B!", "B"),
        ("B。", "B"), ("(A)", "A"), ("(b)", "B"), ("[B]", "B"), ("<A>", "A"), ("{B}", "B"), ("B)", "B"), ("A:", "A"),
        ("【B】", "B"), ("Ａ", "A"), ("（Ｂ）", "B"), ("ｂ", "B"), ("Ⓑ", "B"), ("A\u200b", "A"), ("\u202aB\u202c", "B"),
        ("B\ufe0f", "B"), ("**A**", "A"), ("***B***", "B"), ("__B__", "B"), ("_A_", "A"), ("`B`", "B"), ("# B", "B"),
        ("- A", "A"), ("* B", "B"), ('"B"', "B"), ("'A'", "A"), ("\u201cA\u201d", "A"), ("「B」", "B"), ('B"', "B"),
        ("<b>B</b>", "B"), ("<strong>A</strong>", "A"), ("```\nB\n```", "B"), ("```text\nA\n```", "A"),
        ("```\nB```", "B"), ("B</s>", "B"), ("B<|im_end|>", "B"), ("\\text{B}", "B"), ("\\(B\\)", "B"), ("$A$", "A"),
        ("Response B", "B"), ("response_A", "A"), ("<response_A>", "A"), ("Option (B)", "B"), ("option (b)", "B"),
        ("option b.", "B"), ("Final answer B", "B"), ("回答A", "A"), ("选项 B", "B"), ("B选项", "B"),
        ("the first response", "A"), ("The second one.", "B"), ("Former", "A"), ("the latter", "B"), ("第一个", "A"),
        ("第二个回答", "B"), ("前者", "A"), ("后者。", "B"),
    ],
    "the label on a line of its own": [
        ("B\n\nResponse B speaks of jazz.", "B"), ("Response B speaks of jazz.\n\nB", "B"),
        ("**Answer:**\n\nB\n\n**Reason:** jazz", "B"), ("**Response B**\n\nIt speaks of jazz.", "B"),
        ("B\nB\nB", "B"), ("B\nUser: thanks", "B"), ("A\nB", INVALID), ("- A\n- B", INVALID),
        ("B\n\nQuestion: x\nAnswer: A", INVALID),
    ],
    "a heading is no answer": [
        ("### Response A\nIt is warm.", INVALID), ("**Response A:**\nIt is warm.", INVALID),
        ("A:\nIt is warm.", INVALID), ("It is late.\nB:", INVALID), ("**Response A**\n- warm\n- uses jazz", INVALID),
        ("**Response A**\n1. warm", INVALID),
        ("**Response A**\nWarm.\n\n**Response B**\nCold.\n\n**Answer: B**", "B"),
        ("**Response A:**\n- warm\n\n**Response B:**\n- cold\n\nB", "B"),
        ("Response A\nWarm.\nResponse B\nCold.", INVALID), ("回答A\n热情。\n回答B\n冷淡。\n答案：B", "B"),
    ],
    "declared": [
        ("Answer: B", "B"), ("answer: b", "B"), ("Answer: (b)", "B"), ("ANSWER:A", "A"), ("Answer - B", "B"),
        ("Answer = B", "B"), ("Answer -> B", "B"), ("**Answer:** B", "B"), ("## Answer: **B**", "B"),
        ("Final Answer: B.", "B"), ("The answer is A.", "A"), ("My final verdict is: B", "B"),
        ("So the answer is B", "B"), ("I think the answer is B", "B"), ("Based on the persona, my choice is A.", "A"),
        ("The choice is clear: B", "B"), ("Answer (A or B): B", "B"), ('Answer: "A"', "A"), ("Answer: 'B'", "B"),
        ("Answer: `B`", "B"), ("Answer: B\ue000", "B"), ("Answer: Response B", "B"),
        ("Answer: B because A is dry", "B"), ("Answer: B\nReason: it asks if they cook", "B"),
        ("Answer: B (A is dry)", "B"), ("Answer: the second", "B"), ("Answer: first", "A"),
        ("Tone: A\nContent: B\nOverall: B", "B"), ("Both are good.\n\nAnswer: B", "B"),
        ("A is fine.\nI like A.\nVerdict: B", "B"), ("答案：A", "A"), ("答案是：B。", "B"), ("最终答案：回答B", "B"),
        ("我的选择是B", "B"), ("选择：B", "B"), ("**答案：Ｂ**", "B"), ("答案：「B」", "B"), ("判断为A", "A"),
    ],
    "explicit forms": [
        ("\\boxed{B}", "B"), ("\\boxed{a}", "A"), ("$\\boxed{\\text{Response B}}$", "B"),
        ("So \\boxed{B} it is", "B"), ("[[B]]", "B"), ("My verdict [[a]] stands", "A"), ("<answer>B</answer>", "B"),
        ("<answer>b</answer> as it fits", "B"), ("<final_answer> A </final_answer>", "A"),
        ("I say <verdict>B</verdict> here", "B"), ('{"choice": "A"}', "A"), ('{"choice": "b"}', "B"),
        ('{"reasoning": "A is dry", "better_response": "Response B"}', "B"), ('{"选择": "B"}', "B"),
        ('```json\n{"choice": "A"}\n```', "A"),
        ('Here it is:\n```json\n{\n  "reason": "they wrote \\"Answer: A\\"",\n  "answer": "B"\n}\n```', "B"),
        ("{'choice': 'A'}", "A"), ("{choice: B}", "B"), ("\\boxed{A or B}", INVALID),
        ("<answer>neither</answer>", INVALID), ("[[C]]", INVALID), ('{"choice": "A", "choice": "B"}', INVALID),
        ('{"choice": "tie"}', INVALID), ('{"choice": null, "other": "A is better"}', INVALID),
        ('{"A": 7, "B": 8}', INVALID), ('{"choice": "\\u0041"}', INVALID), ('{"choice": "A"}\nAnswer: B', INVALID),
        ('{"choice": ["A"]}', INVALID), ('{"reason": "one\ntwo", "choice": "B"}', "B"), ("\\boxed{a + b}", INVALID),
        ('{"choice": "B", "reply": "For tone, my choice is A"}', "B"),
    ],
    "declared as none, or as two, or in part": [
        ("你可以回复A，B。\n\nA:\n", INVALID), ("You can reply A, B.", INVALID), ("Please respond with A, B.", INVALID), ("I choose A, B.", INVALID),
        ("Please respond with A, B.\n\nAnswer: B", "B"), ("Not A, B.", "B"), ("Rather than A, B.", "B"), ("比起A，B。", "B"),
        ("Answer: A or B", INVALID), ("Answer: A/B", INVALID), ("Answer: A and B", INVALID),
        ("Answer: neither", INVALID), ("Verdict: tie", INVALID), ("Verdict: a tie\n\nB", INVALID),
        ("答案：A或B", INVALID), ("答案：都不合适", INVALID), ("Answer: A for style, B for content", INVALID),
        ("Answer: A, or perhaps B", INVALID), ("Answer: A 70%, B 30%", INVALID), ("Choice: A=5, B=7", INVALID),
        ("Style choice: A", INVALID), ("Answer: A\nAnswer: B", INVALID), ("Answer: A if they are young", INVALID),
        ("Answer: A?", INVALID), ("If they are young, the answer is A", INVALID),
        ("I don't think the answer is A", INVALID), ("The answer is not A", INVALID),
        ("The user's answer is A", INVALID), ("用户的答案是A", INVALID), ("答案是A吗？", INVALID),
    ],
    "both, neither, none": [
        ("A B", INVALID), ("AB", INVALID), ("A/B", INVALID), ("A or B", INVALID), ("A and B", INVALID),
        ("A, B", INVALID), ("A、B", INVALID), ("A 或 B", INVALID), ("A&B", INVALID), ("both are good", INVALID),
        ("neither", INVALID), ("It is a tie.", INVALID), ("Tie", INVALID), ("C", INVALID), ("1", INVALID),
        ("...", INVALID), ("**", INVALID), ("hello", INVALID), ("都好", INVALID), ("平局", INVALID), ("一样好", INVALID),
        ("我不确定", INVALID), ("Reply with the letter alone: A or B.", INVALID), ("只回复字母：A 或 B", INVALID),
        ("First, let me think", INVALID),
    ],
    "a letter that is no label": [
        ("А", INVALID), ("В", INVALID), ("Α", INVALID), ("Β", INVALID), ("答案：А", INVALID), ("Á", INVALID),
        ("A\u0301", INVALID), ("A\u0336", INVALID), ("~~A~~", INVALID), ("\U0001f170\ufe0f", INVALID),
        ("A?", INVALID), ("A+", INVALID), ("B-", INVALID), ("Apple", INVALID), ("a good one", INVALID),
        ("I like a", INVALID), ("A good reply speaks of jazz", INVALID), ("A German would know", INVALID),
        ("A's tone is warm", INVALID), ("answer a question", INVALID), ("response a user likes", INVALID),
        ("Plan B is better", INVALID), ("Vitamin A is better for the eyes", INVALID),
        ("I would go with plan B", INVALID), ("The user prefers B movies", INVALID),
        ("Response 1 is better", INVALID), ("\ue000", INVALID), ("\ue001\n", INVALID), ("Answer: \ue001", INVALID),
    ],
    "said, not declared": [
        ("B. Because it speaks of jazz", "B"), ("B, because it is warm", "B"), ("B - it fits", "B"),
        ("B because it fits", "B"), ("B) It fits", "B"), ("B. It is short but warmer than A.", "B"), ("B，因为更贴合", "B"),
        ("B。因为更贴合", "B"), ("I'd say B.", "B"), ("It's B.", "B"), ("Definitely A", "A"), ("Sure! B", "B"),
        ("I would choose the first", "A"), ("I would choose the second.", "B"), ("I prefer the latter", "B"),
        ("I prefer the latter. B is warm.", "B"), ("B is better, but B is long.", "B"),
        ("Between A and B, I prefer the latter", "B"), ("I'd go with B.", "B"), ("I choose B, not A", "B"),
        ("I'll pick A over B", "A"), ("I prefer A to B", "A"), ("Choose B", "B"), ('I choose "B"', "B"),
        ("After some thought, I would definitely choose Response A.", "A"),
        ("The user would likely prefer Response B.", "B"), ("They would prefer A", "A"), ("B is better.", "B"),
        ("Response B is better suited to this user", "B"), ("B is the better choice here", "B"),
        ("Overall, B is clearly better than A.", "B"), ("A is my choice.", "A"), ("B is my first choice", "B"),
        ("A is the winner", "A"), ("For this user, A is better.", "A"),
        ("In conclusion, B is the better response.", "B"), ("The first response is better", "A"),
        ("The latter is better.", "B"), ("B is better because it asks if they cook", "B"),
        ("I choose B, even if A is longer", "B"), ("B is better since it mentions both jazz and hiking", "B"),
        ("B is better, although A is longer", "B"), ("B better fits the user's needs", "B"),
        ("A better suits this persona", "A"), ("Response B fits the user much better.", "B"), ("B wins", "B"),
        ("A better response is B", "B"), ("A better fit is Response B", "B"),
        ("The better response for this user is A.", "A"), ("Preferred response: B", "B"),
        ("The response that best matches the user's persona is B.", "B"),
        ("Both A and B are good, however B is better.", "B"),
        ("While A is better written, B is better for this user.", "B"), ("Both are good, but I prefer B", "B"),
        ("Both responses help. However, B is better.", "B"), ("A is wrong. B is better.", "B"),
        ("I cannot be sure, but B is better", "B"), ("选择回答B", "B"), ("我选B", "B"), ("我会选择回答A。", "A"),
        ("综上，我选择B。", "B"), ("我选第一个", "A"), ("用户会更喜欢B", "B"), ("A更好", "A"), ("回答B更符合用户的需求", "B"), ("B比A更好", "B"),
        ("B胜出", "B"), ("前者更好", "A"), ("第二个回答更好", "B"), ("B更适合这位用户", "B"), ("虽然A更好看，但B更适合用户", "B"),
        ("两者都不错，但B更好", "B"), ("更适合的是A", "A"), ("更好的回答是A", "A"), ("更适合该用户的回答是B。", "B"),
    ],
    "said, and taken back or not meant": [
        ("I would not choose A", INVALID), ("Neither A nor B is better", INVALID), ("A isn't better", INVALID),
        ("B is not better than A", INVALID), ("It is not that the better one is A", INVALID), ("并不是更好的是A", INVALID),
        ("If the user liked opera, A is better", INVALID), ("A is better if they like opera", INVALID),
        ("I think some would say: A is better", INVALID), ("If they like Xiaomi, A is better", INVALID),
        ("It is not that for Xu the better one is A", INVALID), ("如果用户喜欢歌剧，A更好", INVALID), ("A更好，如果用户喜欢歌剧", INVALID),
        ("While the better one is A", INVALID), ("Usually, A is better", INVALID),
        ("In general, A is better", INVALID), ("一般来说，A更好", INVALID), ("In terms of tone, A is better", INVALID),
        ("Stylistically, A is better", INVALID), ("For tone, A is better", INVALID), ("语气方面，A更好", INVALID),
        ("就语气而言，A更好", INVALID), ("Is A better?", INVALID), ("So A is better?", INVALID),
        ("So A is better, is it?", INVALID), ("Answer: A, right?", INVALID), ("Should I pick B?", INVALID),
        ("Which is better, A or B?", INVALID), ("B更好吗？", INVALID), ("选A还是选B", INVALID), ("A好还是B好", INVALID),
        ("Choose A or B", INVALID), ("A is better structured, but B is more personal", INVALID),
        ("The better-written response is A", INVALID), ("A is better for beginners", INVALID), ("A更适合初学者", INVALID),
        ("A is better than nothing", INVALID), ("A is better as a greeting", INVALID),
        ("Choose A to get detail", INVALID), ("I choose A for style and B for content", INVALID),
        ("选择A的理由不足", INVALID), ("I would choose A or possibly B", INVALID),
        ("A is better, but B is more personal", INVALID),
        ("I like both. A is better, but this user needs B.", INVALID), ("A is better. B is better.", INVALID),
        ("A: good on style. B: good on content.", INVALID), ("A. warm. B. cold.", INVALID),
        ("A - warm\nB - short", INVALID), ("A. Warm and long\nB: cold", INVALID),
        ("The persona likes tea and coffee and prefers the latter.", INVALID),
        ("The persona prefers the latter", INVALID), ("B is warm, A is dry. The former is better.", INVALID),
        ("The user prefers the first paragraph", INVALID), ("When I choose A, they laugh", INVALID),
        ("A is better. It is a tie.", INVALID), ("A is better. They are equally good.", INVALID),
        ("A更好。不分上下。", INVALID),
    ],
    "retracted": [
        ("A. Wait, let me see.", INVALID), ("Answer: A. On second thought, they like opera.", INVALID),
        ("A\nLet me reconsider", INVALID), ("答案：A。应该是B", INVALID), ("答案：A\n等等，再看一下", INVALID),
        ("At first A seems good. Actually, B fits.\n\nAnswer: B", "B"), ("Wait, let me look. Answer: B", "B"),
        ("B\n\nThe user can't wait, so B fits", "B"), ("Answer: B. Actually B is short.", "B"),
    ],
    "quoted from data": [
        ('The user wrote "Answer: B" in the text', INVALID), ("The user wrote 'Answer: B'", INVALID),
        ("The user wrote \u201cB is better\u201d.", INVALID), ("用户写道：「答案：A」", INVALID), ("用户写道：『\n答案：A\n』", INVALID),
        ("Il dit : «\nAnswer: B\n»", INVALID), ("They wrote `\nAnswer: B\n`", INVALID),
        ('They wrote: "\nAnswer: B\n"', INVALID), ("They wrote: \u201c\nAnswer: B\n\u201d", INVALID),
        ("They wrote: 「\nAnswer: B\n」", INVALID), ("They wrote: 'Sure. Answer: B.'", INVALID),
        ("> Answer: B\n\nA", "A"), ('They wrote: "First.\n\nAnswer: B"', INVALID),
        ('They wrote: "First.\n\nAnswer: B', INVALID), ('A 12" record says "Answer: B"', INVALID),
        ('They say "Answer: A".\nAnswer: B', "B"), ('The user wrote "B"', INVALID),
        ("They wrote: \u201cAnswer: B", INVALID), ("They wrote \u2018Sure. Answer: B.\u2019", INVALID),
        ('A 12" record.\nIt says "\nAnswer: B"', INVALID),
    ],
    "thinking": [
        ("<think>A, surely.</think>B", "B"), ("<think>\nAnswer: A\n</think>\n\nAnswer: B", "B"),
        ("reasoning about A...</think>B", "B"), ("<THINK>A</THINK>B", "B"), ("＜think＞A＜/think＞B", "B"),
        ("<think>\n<think>\nA</think>B", "B"), ('<think mode="x">A</think>B', "B"), ("<thinking>A</thinking>B", "B"),
        ("<reasoning>A</reasoning>B", "B"), ("<thought>A</thought>B", "B"), ("[THINK]A[/THINK]B", "B"),
        ("◁think▷A◁/think▷B", "B"),
        ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B", "B"),
        ("<think>", CUT), ("<think>B", CUT), ("<think>Answer: B\n\nB", CUT), ("B<think>", CUT),
        ("<think>A</think>B<think>A", CUT), ("<thinking>B", CUT), ("<reasoning>B", CUT), ("<thought>B", CUT),
        ("[THINK]B", CUT), ("◁think▷B", CUT), ("<think>x<reasoning>y</reasoning>B", CUT),
        ("<|channel|>analysis<|message|>B", CUT),
    ],
    "refused": [
        ("I cannot choose.", REFUSED), ("I'm sorry, but I can't assist with that.", REFUSED),
        ("I am unable to determine which one.", REFUSED), ("I\u2019m not able to judge this.", REFUSED),
        ("I won't take part in this.", REFUSED), ("I'm sorry, but this is out of scope.", REFUSED),
        ("As an AI, I don't have personal preferences.", REFUSED), ("作为AI，我没有个人偏好。", REFUSED), ("抱歉，我无法判断", REFUSED),
        ("对不起，我不能提供帮助", REFUSED), ("很遗憾，无法给出结论", REFUSED), ("我无法判断哪个更好", REFUSED), ("无法选择", REFUSED),
        ('I can\'t say; they wrote "Answer: B".', REFUSED), ("They can't choose", INVALID),
        ('They wrote "I cannot choose"', INVALID), ("B不能满足用户", INVALID), ("I cannot choose. Answer: B", "B"),
        ("Sorry, I meant this", INVALID),
    ],
    "read otherwise since task version 1.1": [
        ("[[A>B]]", "A"), ('{"choice": "A", "x": ' + "[" * 9999 + "}", "A"), ("Winner: A > B", "A"), ("First", "A"),
        ("!A", "A"), ("Not A", "B"), ("我不会选A", "B"), ("不选A", "B"), ("Choosing A would be wrong", "B"),
        ("我认为A更好，但是B也不错", "A"), ("A is better, but B is more suitable for this user", "B"),
        ("My first choice is B", "B"), ("A is better. Both are fine.", "A"), ("A更好。两者都很好。", "A"), ("A... no, B", "B"),
        ("A, no, B", "B"), ("A\nNo, B", "B"), ("I choose A. No, B.", "B"), ("Answer: A. Actually, B.", "B"),
        ("Answer: A. Actually I'd choose B.", "B"), ("Answer: A. Wait, B is better.", "B"), ("A. No wait, B", "B"),
        ("A. Correction: B", "B"), ("Answer: A\nWait. Answer: B", "B"), ("答案：A。不，B", "B"), ("选A，不对，选B", "B"),
        ("我选A。更正：B", "B"), ("> Answer: B", "B"), ("> B", "B"),
        ("They wrote:\n```\nAnswer: B\n```\nwhich is odd.", "B"), ('They wrote:\n"B"\nwhich is odd.', "B"),
    ],
}

LAST_LINES: dict[str, list[tuple[str, str]]] = {
    "what stands above the last line is not read": [
        ("Helpfulness\nWinner: A\n\nPersonalization\nWinner: B\n\nAnswer: B", "B"),
        ("有用性：两者都好。\n结论：A\n个性化：B更贴合。\n结论：B\n答案：B", "B"),
        ("Overall: A is more detailed, B is more personal.\n\nAnswer: B", "B"),
        ("Answer: A\nWait, the user dislikes lists.\nAnswer: B", "B"), ("It's a tie.\nI cannot choose.\nAnswer: A", "A"),
        ('She is 6\' 2" tall.\nAnswer: B', "B"), ("A says `walk.\nAnswer: B", "B"), ("A说“走路。\n答案：B", "B"),
        ("<think>Answer: A</think>\nResponse A is long.\nAnswer: B", "B"),
    ],
    "the last line, however it is dressed": [
        ("Short is best.\nB", "B"), ("Short is best.\n**B**", "B"), ("Short is best.\n\\boxed{B}", "B"),
        ("Short is best.\n\\[\n\\boxed{B}\n\\]", "B"), ('Short is best.\n"Answer: B"', "B"),
        ("短的更好。\n“答案：B”", "B"), ("短的更好。\n「答案：B」。", "B"), ("Short is best.\n`Answer: B`", "B"),
        ("Short is best.\n> Answer: B", "B"), ("Short is best.\n**“Answer: B”**", "B"),
        ("Short is best.\n**Answer:** B", "B"), ("```\nAnswer: B\n```", "B"), ("<answer>\nB\n</answer>", "B"),
        ("Short is best.\nAnswer: B\n<|im_end|>", "B"), ("Answer: B\n\n---\n", "B"), ("Answer:\n\nB", "B"),
        ("Short is best.\nAnswer: B, since A is long.", "B"), ("Short is best.\nWinner: B.", "B"),
        ("短的更好。\n最终选择为B", "B"),
    ],
    "cut off, or no declaration": [
        ("I doubt that A is the better one for her.", INVALID),
        ("Whoever would choose A has not read the profile.", INVALID),
        ("Beyond any doubt, B suits her better.", "B"),
        ("Response A is better. Now personalization: the user prefers short replies and", INVALID),
        ("Response A is better.\nNow personalization: the user prefers short replies and", INVALID),
        ("回答A更好。\n接下来看个性化，这位用户", INVALID), ("Overall: A is more detailed, B is more", INVALID), ("Overall: B优", INVALID),
        ("Answer: B\nI hope this helps!", INVALID), ("Short is best.\nAnswer: A or B", INVALID),
        ('Short is best.\n"Answer: A" or "Answer: B"', INVALID), ("Short is best.\nAnswer: A. Wait, no", INVALID),
        ("…", INVALID), ("Short is best.\nNot A", INVALID), ("I cannot choose.", REFUSED), ("", NONE), ("<think>A</think>", NONE), ("<think>Answer: A", CUT),
    ],
}  # fmt: skip
ROWS["in the user's place"] = [
    ("B suits me better.", "B"), ("As this user, I prefer B.", "B"), ("As Li Ming, I'd pick response A because it is short.", "A"),
    ("更适合我的是回答B。", "B"), ("作为李明，我选择B。", "B"), ("对我来说，回答B更合适。", "B"), ("从我的角度来看，回答B更好。", "B"),
    ("在我看来，A更适合我。", "A"), ("回答B更适合自己", "B"), ("对我来说，回答A更具体", INVALID), ("从我的角度来看，A不好", INVALID),
    ("回答A让我自己觉得不舒服", INVALID), ("For me, A is longer.", INVALID),
]  # fmt: skip
LAST = [(reply, expected) for rows in LAST_LINES.values() for reply, expected in rows]
ROWS["a later turn"] = [
    ("B\nUser: I prefer A", "B"), ("B is better.\nUser: thanks", "B"), ("A\n\nHuman: Why?", "A"),
    ("Answer: B\nUser: The persona likes tea\nAssistant: A is better", "B"), ("B is better.\nUser: I prefer A", INVALID),
    ("B\nUser: and this one?\nAssistant: A", INVALID), ("A\n用户：谢谢", "A"),
]
ROWS["named again"] = [("Answer: B. B is better. My answer is A.", INVALID), ("B is better. My answer is A.", "A")]
ROWS["plain sentences"] = [
    ("If I had to pick one, it would be A.", "A"), ("Our user is better served by option A.", "A"), ("For me it's A.", "A"),
    ("A narrowly wins.", "A"), ("首选：B", "B"), ("Aの方が具体的で、私の生活に合っています。", "A"), ("Ich würde mich für B entscheiden.", "B"),
    ("Of the two, A.", "A"), ("I like A better.", "A"), ("She's better off with B.", "B"), ("If I had to choose, B wins.", "B"),
    ("Given a choice, I'd take B: it names my job.", "B"), ("Bの方が私に合っています。", "B"), ("Ich nehme A.", "A"), ("回答二更好。", "B"),
    ("如果非要选一个，我选A。", "A"), ("If I were this user, I'd choose A.", "A"), ("Lin would choose A.", "A"), ("A has the edge.", "A"),
    ("## Verdict\n\n**Response A**\n\n- warm\n- short", "A"), ("Verdict:\n```A```", "A"),
]
ROWS["another's choice, or a wish"] = [
    ("An expert would choose A, but as a beginner I find B easier to follow.", INVALID), ("The system would choose A.", INVALID),
    ("An expert would choose A, but I choose B.", "B"), ("专家会选A，但我选B。", "B"), ("评委会选A。", INVALID), ("系统会选B。", INVALID),
    ("老师会选A。", INVALID), ("The rubric favors A.", INVALID), ("Most readers would choose A.", INVALID), ("You would choose A.", INVALID),
    ("I wanted to pick A, but B covers the trip.", INVALID), ("I hoped to pick A.", INVALID), ("I meant to pick A.", INVALID),
    ("I used to prefer A.", INVALID), ("I thought about picking A.", INVALID), ("I was going to choose A.", INVALID),
    ("I planned to choose A, but B is better.", "B"), ("原来打算选A。", INVALID), ("原来打算选A，但B更好。", "B"), ("我本想选A。", INVALID),
    ("It would be a mistake to choose A.", INVALID), ("A更适合爱热闹的用户", INVALID), ("The tone of A is better.", INVALID),
    ("A would be better for an extrovert.", INVALID),
]
ROWS["labels in pairs"] = [
    ("Chosen: B | Discarded: A", "B"), ("Best: B / Second choice: A", "B"), ("Response to avoid: A", "B"), ("Keep: B\nDrop: A", "B"),
    ("Winner: B, Loser: A", "B"), ("Runner-up: A", "B"), ("First choice: B, second choice: A", "B"),
    ('{"answer": "A", "verdict": "rejected"}', INVALID),
]
ROWS["taken back"] = [
    ("A\n\nOn second thought, it is a draw.", INVALID), ("A\n\nWait, it is a tie.", INVALID), ("A\n其实，两者一样好。", INVALID),
]
ROWS["a letter of a name"] = [("维生素A更好", INVALID), ("乙型B更好", INVALID), ("A更周到，B更贴合", INVALID)]
ROWS["compared with the letter before a postposition"] = [
    ("A보다 B가 더 낫습니다.", "B"), ("저는 A보다 B를 선호합니다.", "B"), ("B가 A보다 더 적합합니다.", "B"), ("응답 B보다 응답 A를 선택합니다.", "A"), ("A보다 B", "B"),
    ("AよりBの方が良いです。", "B"), ("BよりもAを選びます。", "A"), ("BはAより良い。", "B"), ("Aではなく、Bです。", "B"), ("Aの方がより良い。", "A"),
    ("A보다 B가 낫지 않습니다.", INVALID), ("AよりBが良いとは言えません。", INVALID), ("A'dan B daha iyi.", INVALID), ("A से B बेहतर है।", INVALID),
]
ROWS["denied in other languages"] = [
    ("Non scelgo A.", INVALID), ("Não escolho B.", INVALID), ("Я не выбираю A.", INVALID), ("Je ne choisis pas A.", INVALID), ("Ich wähle nicht A.", INVALID), ("Nunca elijo A.", INVALID),
    ("Non scelgo né A né B.", INVALID), ("Jamais je choisis A.", INVALID), ("Kaum wähle ich A.", INVALID), ("Saya tidak memilih A.", INVALID),
]
ROWS["told, hoped, or hard to say"] = [
    (f"{frame} the answer is A.", INVALID)
    for frame in (
        "I was told", "They say", "I hope", "Let's hope", "The template says", "He asked me to say", "I'm supposed to say", "I would like to say", "I am expected to say",
        "It is hard to say", "It would be easy to say", "I'm not sure", "I don't think", "I heard", "Rumor has it", "According to the ranking,", "My friend thinks", "He thinks",
    )
] + [
    (f"{frame} the answer is A.", "A")
    for frame in ("I think", "I believe", "I am convinced that", "I'd say", "We conclude that", "I'm sure", "I strongly believe that", "In my view,", "This suggests that")
] + [
    ("It is hard to say A is better.", INVALID), ("It can be argued that A is better.", INVALID), ("It's a lie that A is better.", INVALID), ("A is better, they say.", INVALID),
    ("The answer is A, or so I was told.", INVALID), ("In A's opinion, A is better.", INVALID), ("For another user, A would be better.", INVALID), ("很难说A更好。", INVALID),
    ("我不确定答案是A。", INVALID), ("我不认为答案是A。", INVALID), ("据说A更好。", INVALID), ("我被告知答案是A。", INVALID), ("我确信A更好。", "A"), ("我认为答案是A。", "A"),
    ("Man sagt, die Antwort ist A.", INVALID), ("Espero que la respuesta sea A.", INVALID), ("Je pense que A est meilleur.", "A"),
]  # fmt: skip
ROWS["two denied, two as good, or half and half"] = [
    ("I wouldn't choose A, and I wouldn't choose B either.", INVALID), ("Not A. Not B either.", INVALID), ("不选A，也不选B。", INVALID), ("Don't pick A. Don't pick B.", INVALID),
    ("Answer: A (B is equally good)", INVALID), ("Answer: A, but B is just as good.", INVALID), ("答案：A（B也同样好）", INVALID), ("A with 50% confidence and B with 50%", INVALID), ("50% A, 50% B.", INVALID),
]
ROWS["not as things are"] = [
    (f"I'd choose A {condition} he likes tea.", INVALID)
    for condition in ("in case", "as long as", "provided that", "on condition that", "supposing", "whenever", "once", "on the assumption that", "in the event that", "wherever")
] + [
    ("Were she younger, A would be better.", INVALID), ("Had the user liked poetry, I'd have chosen A.", INVALID), ("I'd choose A were he younger.", INVALID), ("I would have chosen A.", INVALID),
    ("Si le gustara el té, elijo A.", INVALID), ("もし彼がお茶が好きなら、Aの方が良い。", INVALID), ("喜欢喝茶的话，A更好。", INVALID), ("If I had to choose, A.", "A"), ("非要选一个的话，选A。", "A"),
]  # fmt: skip
ROWS["what was thought before"] = [
    ("Answer: B (initially I thought A)", "B"), ("Answer: B (at first I thought A)", "B"), ("Answer: B (I first thought A)", "B"), ("答案：B（一开始我以为是A）", "B"),
    ("Answer: A. On second thought, B.", "B"),
]
CASES = [(reply, expected) for rows in ROWS.values() for reply, expected in rows]


@pytest.mark.parametrize("kind", ROWS)
def test_reads(kind: str) -> None:
    found = [(reply, read_reply(reply)) for reply, _ in ROWS[kind]]
    assert found == ROWS[kind]


def test_reads_the_last_line() -> None:
    assert [(reply, read_last_line(reply)) for reply, _ in LAST] == LAST


def test_closed_set() -> None:
    assert LETTERS == ("A", "B")
    assert ("no_response", "truncated", "prompt_cut", "refusal", "invalid_response_format", *IMPOSSIBLE) == REASONS
    assert {expected for _, expected in CASES} == {*LETTERS, *REASONS} - {PROMPT_CUT, *IMPOSSIBLE}
    assert len(dict(CASES)) == len(CASES), "a row stands twice"


# --- a reply that its token limit cut off ------------------------------------------------------------------------------
@pytest.mark.parametrize(("reply", "expected"), [
    ("B", "B"), ("Answer: B", "B"), ("B\n\nResponse B speaks of jazz, and the user", "B"), ("\\boxed{B}\n\nIt", "B"),
    ('{"answer": "B", "reason": "it speaks', "B"), ("The better response is B. It", CUT), ("B is better. It", CUT),
    ("So the answer is B", CUT), ("I see.\nThe answer is B.\nIt", CUT), ("Hm.\n**Final answer:** B\n\nIt", "B"), ("Hm.\n答案：B\n因为", "B"), ("B because it", CUT),
    ("So \\boxed{B} because", "B"), ("Response B\nIt is", CUT), ("Answer: B. Wait, maybe", CUT),
    ("1. Helpfulness: Response A is better.\n2. Personalization: The user is an introvert who", CUT),
    ("I'd go with B. The user", CUT), ("The user is an introvert who", CUT), ("", NONE), ("<think>B", CUT),
])  # fmt: skip
def test_a_truncated_reply_is_read_only_where_the_answer_is_named(reply: str, expected: str) -> None:
    assert read_reply(reply, truncated=True) == expected


@pytest.mark.parametrize("reply", ["B", "Short is best.\nAnswer: B", "", "Short"])
def test_the_last_line_of_a_truncated_reply_is_never_read(reply: str) -> None:
    assert read_last_line(reply, truncated=True) == CUT


LISTS = [
    "Response A: 8\nResponse B: 3", "A) 8/10\nB) 3/10", "**A:** 8/10\n**B:** 3/10", "### Response A: 8/10\n### Response B: 3/10", "A - 4 stars\nB - 2 stars", "A = 8\nB = 3",
    "A：8分\nB：3分", "| A | 8 |\n| B | 3 |", "[\n{\"model\": \"A\",\n\"rank\": 1},\n{\"model\": \"B\",\n\"rank\": 2}\n]", "Ranking:\n1. A\n2. B", "1) Response A\n2) Response B",
    "排名：\n1. A\n2. B", "First place: A\nSecond place: B", "#1: A\n#2: B", "Best: A\nSecond best: B", "Answer: A\nB: rejected, it guesses.", "答案：A\nB：太长，不考虑。",
    "- Response A: fits\n- Response B: mentions fish", "Errors:\nA: 3\nB: 1", "扣分：\nA：3\nB：1", "A: 3 errors\nB: 1 error", "Tone: A\nFit: B", "Answer: A\nAnswer: B", "Answer: A\nB", "A\nB",
]  # fmt: skip


@pytest.mark.parametrize("reply", LISTS)
def test_the_last_item_of_a_list_is_no_verdict(reply: str) -> None:
    for text in (reply, reply.translate(str.maketrans("AB", "BA"))):
        assert read_last_line(f"She keeps to what she said.\n\n{text}") == INVALID


# --- all labelled replies ------------------------------------------------------------------------------------------------
HERE = Path(__file__).parent
SHARED = os.environ.get("PERSONAFEEDBACK_REPLIES", "")
ELSEWHERE = sorted(Path(SHARED).glob("*.jsonl")) if SHARED else []
OF_LETTERS = [path for path in sorted(HERE.glob("*.jsonl")) if not path.stem.startswith("readers")]
OURS = [path.stem for path in OF_LETTERS]
LISTED = [("written5", "cot"), ("written6", "cot")]
"""Sets that were written to end in lists, which no public log of a judge does: these are unreadable."""
SETS = {path.stem: path for path in [*OF_LETTERS, *ELSEWHERE]}


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _read(row: dict, reply: str | None = None) -> str:
    read = read_last_line if row["method"] == "cot" else read_reply
    return read(row["reply"] if reply is None else reply)


def figures(rows: list[dict]) -> dict[str, int]:
    """How many replies are readable and read, read as the wrong letter, and read though no letter may be read."""
    found = [(row["read"], letter if (letter := _read(row)) in LETTERS else None) for row in rows]
    return {
        "replies": len(rows),
        "readable": sum(label is not None for label, _ in found),
        "read": sum(label == letter for label, letter in found if label),
        "wrong": sum(label != letter for label, letter in found if label and letter),
        "over": sum(letter is not None for label, letter in found if not label),
    }


def _kind(row: dict) -> str:
    """Natural replies in English and Chinese, where most must be read, apart from those in other languages."""
    if row["group"] in ("adversarial", "cot") or row["method"] == "cot":
        return "cot" if row["method"] == "cot" else "adversarial"
    return "natural" if row.get("language", "en")[:2] in ("en", "zh") else "other"


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", ["natural", "other", "cot", "adversarial"])
def test_labelled_replies(name: str, kind: str) -> None:
    """The promise; CONTRIBUTING.md has the figures of the replies that were read before anybody looked at them."""
    rows = [row for row in _rows(SETS[name]) if _kind(row) == kind]
    if not rows:
        pytest.skip(f"{name} has no {kind} replies")
    found = figures(rows)
    print(name, kind, found)
    if kind == "adversarial":
        assert found["wrong"] <= 0.01 * len(rows)
        assert found["over"] <= 0.02 * len(rows)
    elif kind == "other":
        assert (found["wrong"], found["over"]) == (0, 0)
    else:
        assert found["wrong"] == 0
        assert found["over"] <= 0.01 * len(rows) + (kind == "cot")
        if (name, kind) not in LISTED:
            assert found["read"] >= 0.92 * found["readable"]


@pytest.mark.skipif(not ELSEWHERE, reason="PERSONAFEEDBACK_REPLIES names no folder of labelled replies")
def test_labelled_replies_kept_elsewhere_are_never_read_wrong() -> None:
    """The promise on all of them together. An answer above the last line of a cot reply may differ."""
    rows = [row for path in ELSEWHERE for row in _rows(path)]
    found = {kind: figures([row for row in rows if _kind(row) == kind]) for kind in ("natural", "other", "cot", "adversarial")}
    print(found)
    assert {kind: counts["wrong"] for kind, counts in found.items()} == dict.fromkeys(found, 0)
    assert [found[kind]["over"] for kind in ("natural", "adversarial")] == [0, 0]
    assert [found[kind]["over"] for kind in ("other", "cot")] == [0, 0]
    for kind in ("natural", "cot"):
        assert found[kind]["read"] >= 0.95 * found[kind]["readable"], kind


def test_every_log_names_its_source() -> None:
    assert all(row["source"] for row in _rows(HERE / "logs.jsonl"))


# --- neither letter is favoured -------------------------------------------------------------------------------------------
CAPITAL = re.compile(r"(?:(?<![A-Za-z0-9])|(?<=assistantfinal))(?<!\\u00)[ABＡＢ](?![A-Za-z0-9\u0300-\u036f])")
EXCHANGED = dict(zip("ABＡＢ", "BAＢＡ", strict=True))
OTHER = {"A": "B", "B": "A"}


@pytest.mark.parametrize("name", SETS)
def test_a_reply_about_the_other_letter_is_read_as_the_other_letter(name: str) -> None:
    """Left out: replies whose letter is a small one or an ordinal, which stays as it is."""
    for row in _rows(SETS[name]):
        exchanged = CAPITAL.sub(lambda letter: EXCHANGED[letter[0]], row["reply"])
        if exchanged != row["reply"] and not re.search(r": [ab]$|first|second|former|latter", row["reply"]):
            read = _read(row)
            assert _read(row, exchanged) == OTHER.get(read, read), row["reply"]


def test_a_label_in_angle_brackets_is_one_for_either_letter() -> None:
    assert [read_reply(reply) for reply in ("<A>", "<B>", "<b>A</b>", "<b>B</b>", "<B>A</B>", "<A>B</A>")] == [*"ABABAB"]


# --- the vocabulary --------------------------------------------------------------------------------------------------------
def test_a_word_is_in_one_class() -> None:
    words = [word for words in vocabulary.VOCABULARY.values() for word in words]
    assert sorted({word for word in words if words.count(word) > 1}) == []


NOUNS = {"en": ("response", "draft"), "zh": ("回答", "草稿")}
"""What the wordings call what is compared."""


@pytest.mark.parametrize("version", WORDINGS)
@pytest.mark.parametrize("language", NOUNS)
def test_the_nouns_of_every_wording_name_a_response(version: str, language: str) -> None:
    wording = WORDINGS[version][language]
    asked = f"{wording.with_persona} {wording.ask}".lower()
    used = [noun for noun in NOUNS[language] if noun in asked]
    assert used
    for noun, letter in product(used, LETTERS):
        answer = "Answer: " if language == "en" else "答案："
        joint = "" if language == "zh" else " "
        for reply in (f"{noun} {letter}", f"{noun.title()} {letter}", f"{answer}{noun} {letter}", f"{noun}{joint}{letter}"):
            assert read_reply(reply) == letter, reply
            assert read_last_line(f"x\n{reply}") == letter, reply


def test_an_excerpt_is_one_line_with_the_beginning_and_the_end() -> None:
    assert excerpt(" A\n\n or\tB ") == "A or B"
    assert excerpt("x" * 160) == "x" * 160
    long = excerpt("Begin " + "x" * 10_000 + " end")
    assert len(long) == 160
    assert long.startswith("Begin x")
    assert long.endswith("x end")
    assert " … " in long
