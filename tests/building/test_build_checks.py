"""Texts that a model wrote are refused for their form, with the reason; ordinary texts are not."""

from __future__ import annotations

import pytest

from personafeedback_tasks.building.texts import checks
from personafeedback_tasks.common.text import language_of
from personafeedback_tasks.personafeedback.cases import load_cases

DIRT = {
    checks.MARKUP: [
        "所有要求。\n</think>\n\n<degraded_answer>\n下周天气多变。", "<think>The user wants tea.", "Tea.</final_answer>",
        "<Reasoning>Tea.</Reasoning> Tea.", "<response>Tea.", "Tea.</answer>\n", "Tea.<|im_end|>",
        "<|start_header_id|>assistant", "[INST] tea? [/INST] Tea.", "<<SYS>> tea", "Tea.<end_of_turn>",
        "<｜end▁of▁sentence｜>茶。", "<s> Tea.", "Tea.</s>",
    ],
    checks.COLON: [
        "一些具体建议如下：", "Here are three ideas:", "Three ideas: \n", "**以下是建议：**",
    ],
    checks.WRITER: [
        "修改后的回答内容：  \n\n1. 茶。", "以下是改写后的回答。茶。", "Here is the rewritten response: tea.",
        "**Here's the degraded answer**\n\nTea.", "Sure! Here's a personalized answer: tea.",
        "Here are some tailored recommendations for you: tea.", "Based on your persona, tea.",
        "Given your profile, tea.", "Tea. It suits you, based on your personality type.",
        "Since your MBTI is INTJ, tea.", "As an INFP, you will like tea.", "Tea, since you’re an ESTJ.",
        "As an AI language model, I say tea.", "**Assistant:** Tea.", "当然！以下是为您量身定制的建议：茶。", "好的，以下是个性化的回答：茶。",
        "根据您的画像，茶。", "根据你提供的用户资料，茶。", "由于您的MBTI是INTJ，茶。", "作为ESTP，您会喜欢茶。", "作为一个人工智能语言模型，我选茶。", "助手：茶。",
    ],
    checks.REFUSAL: [
        "很抱歉，我无法帮助您。", "抱歉，我不能帮助你。", "这个问题我暂时无法回答。", "我无法满足您的请求。", "I'm sorry, but I can’t assist with that request.",
        "I cannot help.", "I am unable to do that.", "I must decline to answer that.",
        "Unfortunately, that's not something I can help with.",
    ],
    checks.EMPTY: [" "],
}  # fmt: skip

CLEAN = (
    "Line one.<br>Line two.<br/>And a <b>bold</b> word, a <p>paragraph</p>.",
    "Use `<your_name>`, `<your_answer>`, `<api_response>` and `<output>` as placeholders.",
    "vector<string> words; List<Answer> answers; if (a < answer && b > 3) return;",
    "Strike it through: <s>old</s>, then write new.", "let answer = f <| x |> g",
    "Catch the error and read its message. An error is no shame.", "先做用户画像，再根据用户画像调整内容。",
    "If the file could not be parsed, check its encoding first; then try another parser, or open it by hand.",
    "Failed to parse the date? Give strptime the format, and test it with a few real dates.",
    "解析失败通常有三个原因：编码不对、文件不全、格式写错。先检查编码，再检查文件是否完整，最后对照格式说明逐行查看，一般都能找到问题所在。", "None of these teas is too strong.",
    '{"Name": "Bob", "Age": 3, "Preference": "tea"} is a valid JSON object.', "好的！以下是修改后的邮件：\n\n您好，会议改到三点。",
    "Here is the revised letter:\n\nDear Sir, tea at three.", "Remember this ratio: 1:2.",
    "I think: the answer is tea. My reasoning? Response times.",
    "Based on your LinkedIn profile, recruiters see a teacher.",
    "As an AI engineer or an assistant professor, you have other choices.",
    "Here is a personalized card for your mother:\n\nDear mother, tea at three.", "当然可以！根据您的习惯，先喝茶。",
    "我是AI爱好者，也喜欢茶。您可以请助手：张三。", "Think about <think tanks> and [INSTITUTE] prices, e.g. 3 < 4 | 5 > 4.",
    "I cannot recommend Bali enough! Go there.", "I can not wait to tell you about the ferry.",
    "Sorry, I can't come to your party.", "I cannot say which is better for you, but the blue one suits your kitchen.",
    "I can't help but smile: take the train.", "As an AI, I can't taste food, but take the ramen.",
    "Go on foot. I'm sorry, but I can't help with that.", "抱歉，我不能来参加聚会了！", "我不能帮你做决定，但蓝色更适合你的厨房。", "无法出门时，可以在家做瑜伽。",
    "目前，AI还无法完全取代中学教师。",
)  # fmt: skip


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in DIRT.items() for text in texts])
def test_a_text_is_refused_for_what_it_is(reason, text):
    assert checks.fault(text, language_of(text)) == reason


@pytest.mark.parametrize("text", CLEAN)
def test_an_ordinary_text_is_not_refused(text):
    assert checks.fault(text, language_of(text)) == ""


def test_a_refusal_is_short_and_may_say_who_refuses():
    assert not checks.refuses(DIRT[checks.REFUSAL][0] + "去" * checks.SHORT)
    assert checks.refuses("作为一个人工智能助手，我无法回答。")
    assert checks.refuses("As an AI language model, I cannot provide medical advice.")
    assert checks.fault("Half a sen", "en", cut=True) == checks.CUT


def test_no_answer_of_the_release_is_taken_for_a_refusal(real_data):
    texts = {text for case in load_cases(real_data, "general") for text in (case.chosen, case.rejected)}
    assert len(texts) == 5552
    assert [one for one in texts if checks.refuses(one)] == []


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("zh", "你好，世界", ""),
        ("en", "Hello", ""),
        ("de", "Schöne Grüße", ""),
        ("ru", "Привет", ""),
        ("zh", "1 + 1 = 2", ""),
        ("zh", "您可以这样说：“I have known her.” 或者别的。", ""),
        ("en", "你好，世界", checks.LANGUAGE),
        ("zh", "Hello there", checks.LANGUAGE),
    ],
)
def test_a_text_in_another_language_is_refused(language, text, reason):
    assert checks.fault(text, language) == reason


@pytest.mark.parametrize(
    ("text", "language", "reason"),
    [
        ("1. What should I eat?", "en", checks.NUMBERED),
        ("What should I eat\n2) What should I drink", "en", checks.NUMBERED),
        ("一、我周末该去哪里？", "zh", checks.NUMBERED),
        ("What should I eat? And where do I eat it?", "en", checks.SEVERAL),
        ("我该吃什么？去哪里吃？", "zh", checks.SEVERAL),
        ("Sure! What should I eat?", "en", checks.PREAMBLE),
        ("Here's a question that fits:\nWhat should I eat?", "en", checks.PREAMBLE),
        ("**Question:** What should I eat?", "en", checks.PREAMBLE),
        ("好的，我周末该去哪里？", "zh", checks.PREAMBLE),
        ("问题：我周末该去哪里？", "zh", checks.PREAMBLE),
        ("river " * 119 + "stone?", "en", ""),
        ("river " * 120 + "stone?", "en", checks.LONG),
        ("Since your MBTI is INTJ, what should you eat?", "en", checks.WRITER),
        ("What should I eat on a day of 2.5 hours?", "en", ""),
        ('Is "Who are you? Where?" a good film?', "en", ""),
        ("Why on earth??", "en", ""),
        ("2024年去哪里玩好？", "zh", ""),
        ("Sure, but how?", "en", checks.PREAMBLE),
    ],
)
def test_a_question_is_one_and_begins_with_itself(text, language, reason):
    assert checks.fault_of_question(text, language) == reason
