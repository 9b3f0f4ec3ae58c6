"""Texts with artifacts of the model that wrote them are refused; ordinary texts are not."""

from __future__ import annotations

import pytest

from personafeedback_tasks.building.texts import checks
from personafeedback_tasks.common.text import language_of

DIRT = {
    checks.MARKUP: [
        "所有要求。\n</think>\n\n<degraded_answer>\n下周天气多变。",
        "<think>The user wants tea.",
        "Tea.</final_answer>",
        "<Reasoning>Tea.</Reasoning> Tea.",
        "<response>Tea.",
        "Tea.</answer>\n",
        "Tea.<|im_end|>",
        "<|start_header_id|>assistant",
        "[INST] tea? [/INST] Tea.",
        "<<SYS>> tea",
        "Tea.<end_of_turn>",
        "<｜end▁of▁sentence｜>茶。",
        "<s> Tea.",
        "Tea.</s>",
    ],
    checks.COLON: [
        "一些具体建议如下：",
        "Here are three ideas:",
        "Three ideas: \n",
        "**以下是建议：**",
    ],
    checks.WRITER: [
        "修改后的回答内容：  \n\n1. 茶。",
        "以下是改写后的回答。茶。",
        "Here is the rewritten response: tea.",
        "**Here's the degraded answer**\n\nTea.",
        "Sure! Here's a personalized answer: tea.",
        "Here are some tailored recommendations for you: tea.",
        "Based on your persona, tea.",
        "Given your profile, tea.",
        "Tea. It suits you, based on your personality type.",
        "Since your MBTI is INTJ, tea.",
        "As an INFP, you will like tea.",
        "Tea, since you’re an ESTJ.",
        "As an AI language model, I say tea.",
        "**Assistant:** Tea.",
        "当然！以下是为您量身定制的建议：茶。",
        "好的，以下是个性化的回答：茶。",
        "根据您的画像，茶。",
        "根据你提供的用户资料，茶。",
        "由于您的MBTI是INTJ，茶。",
        "作为ESTP，您会喜欢茶。",
        "作为一个人工智能语言模型，我选茶。",
        "助手：茶。",
    ],
}


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in DIRT.items() for text in texts])
def test_an_artifact_is_found_as_what_it_is(reason, text):
    assert checks.fault(text, language_of(text)) == reason


@pytest.mark.parametrize(
    "text",
    [
        "Line one.<br>Line two.<br/>And a <b>bold</b> word, a <p>paragraph</p>.",
        "Use `<your_name>`, `<your_answer>`, `<api_response>` and `<output>` as placeholders.",
        "vector<string> words; List<Answer> answers; if (a < answer && b > 3) return;",
        "Strike it through: <s>old</s>, then write new.",
        "let answer = f <| x |> g",
        "Catch the error and read its message. An error is no shame.",
        "先做用户画像，再根据用户画像调整内容。",
        "If the file could not be parsed, check its encoding first; then try another parser, or open it by hand.",
        "Failed to parse the date? Give strptime the format, and test it with a few real dates.",
        "解析失败通常有三个原因：编码不对、文件不全、格式写错。先检查编码，再检查文件是否完整，最后对照格式说明逐行查看，一般都能找到问题所在。",
        "None of these teas is too strong.",
        '{"Name": "Bob", "Age": 3, "Preference": "tea"} is a valid JSON object.',
        "好的！以下是修改后的邮件：\n\n您好，会议改到三点。",
        "Here is the revised letter:\n\nDear Sir, tea at three.",
        "Remember this ratio: 1:2.",
        "I think: the answer is tea. My reasoning? Response times.",
        "Based on your LinkedIn profile, recruiters see a teacher.",
        "As an AI engineer or an assistant professor, you have other choices.",
        "Here is a personalized card for your mother:\n\nDear mother, tea at three.",
        "当然可以！根据您的习惯，先喝茶。",
        "我是AI爱好者，也喜欢茶。您可以请助手：张三。",
        "Think about <think tanks> and [INSTITUTE] prices, e.g. 3 < 4 | 5 > 4.",
    ],
)
def test_ordinary_texts_are_no_artifacts(text):
    assert checks.fault(text, language_of(text)) == ""
