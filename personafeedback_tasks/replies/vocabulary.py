"""The words by which a judge decides: every word of a reply -> one character, its class.

The rule of `answers` speaks of classes alone. A word that is in no class is `x`, and a clause that holds one declares a letter
only where the word cannot limit it: a word that is missing here costs a reading more often than it makes a wrong one.
"""

from __future__ import annotations

import re
from functools import lru_cache

VOCABULARY = {
    # names a response, before its letter
    "N": "response letter option reply candidate assistant draft model output text version message réponse antwort"
    " respuesta risposta resposta opción opção opzione ответ вариант",
    # the same where it may also come after the letter
    "M": "回答 回应 回复 选项 答复 草稿 方案 版本 项 份 답변 응답",
    # the response shown first
    "1": "first former"
    " 一 第一 第一个 第一份 第一个回答 前一个 前者",
    # the response shown second
    "2": "second latter"
    " 二 第二 第二个 第二份 第二个回答 后一个 后者",
    # what the letter is: the answer
    "d": "answer ans choice verdict decision judgment judgement selection winner result conclusion recommendation"
    " choix wahl elección escolha scelta выбор решение jawaban odpowiedź cevap الإجابة उत्तर คำตอบ"
    " 答案 结论 判断 判定 决定 结果 答 字母 获胜者 胜者 优胜者 赢家 答え 正解 정답 답 판정 결론 결과",
    # chooses
    "c": "choose chooses choosing pick picks picking prefer prefers preferring select selects selecting favor"
    " favors favour favours recommend recommends recommending go going goes vote preference opt lean leaning"
    " send leaves decide keep take takes bookmark follow use trust 选択 choisis préfère wähle wählen bevorzuge elijo prefiero prefiro scelgo escolho выбираю entscheide entscheiden nehme nehmen"
    " предпочитаю"
    " 投 选 选择 选定 挑选 推荐 偏向 倾向 倾向于 更倾向于 更倾向 首选 选用 更喜欢 更偏好 更青睐 更偏爱 선택"
    " 선호",
    # calls it better
    "g": "better best preferable preferred superior stronger wins win winning prevails chosen selected ideal"
    " closer edge ahead accepted kept top meilleur meilleure mieux besser beste bessere mejor migliore meglio melhor лучше лучший"
    " 更好 最好 更优 更佳 最佳 较好 较优 较佳 胜出 获胜 胜 赢 赢了 略胜一筹 更胜一筹 胜一筹 更强 占优 完胜"
    " 更棒 更到位 更得当 正合适 良い 良く いい よい 优れ 好ましい 좋 낫 나은 나으 낫습니다",
    # calls it good, which counts only if nothing else is said
    "G": "right correct"
    " 好 正确 对的",
    # fits the user: better only with a word of `m`
    "f": "fits fitting suits suit suited suitable matches matching matched aligns aligned align appropriate"
    " tailored relevant resonates resonate serves serve meets reflects addresses appeals appeal caters"
    " attuned served like answers respects speaks convient adapté adaptée passt passend geeignet entspricht adapta adecuada adecuado adatta"
    " adatto adequada подходит"
    " 懂 了解 照顾 照顾到 适合 合适 符合 贴合 契合 切合 贴近 满足 匹配 恰当 适宜 贴切 适切 适配 ふさわしい 适"
    " 合っ 합 적합 맞",
    # the same as a noun or a bare verb
    "E": "fit match",
    # makes a comparative
    "m": "more most closely plus mehr más più"
    " 更 更加 更为 更能 比较 最 最为 较 较为 方が より 더 가장",
    # makes one downwards
    "l": "less least moins weniger menos meno",
    # calls it worse, or rejects it
    "w": "worse worst wrong incorrect weaker inferior loses loser lose reject rejects rejected eliminate"
    " eliminated rule ruled unsuitable avoid dispreferred disliked drop dropped discard discarded backup fallback runner-up хуже pire schlechter peor peggio pior"
    " 更差 较差 最差 不合适 错 错误 淘汰 排除 错了 逊色",
    # than: what follows is the other one
    "t": "than over instead unlike compared que als di che чем"
    " 比 而不是 而非 相比 相较于 相比于 보다",
    # outdoes: the first of two is better
    "o": "beats edges outperforms surpasses exceeds outshines > >> ≻ ≫"
    " 优于 胜过 强于 好于 好过 超过",
    # is outdone: the second of two is better
    "u": "< << ≺ ≪"
    " 不如 不及 逊于 劣于 差于 不敌 比不上",
    # puts them in order
    "7": "ranking rank order"
    " 排名 排序",
    # anything but A
    "K": "anything everything anyone",
    # denies
    "!": "not never no nor neither nobody don't doesn't isn't wouldn't won't cannot can't hardly didn't aren't"
    " shouldn't couldn't refuse mistake nicht pas não"
    " 不 没 没有 并非 不是 不会 别 未 非 拒绝 避免 而不 안 않",
    # makes its sentence hypothetical, general or a question
    "h": "if unless imagine whether suppose assuming generally usually normally typically depending depends when whoever doubt"
    " been wenn falls если e.g."
    " 如果 假如 若 要是 要不是 除非 是否 假设 一般来说 通常 取决于 要看 看情况 视情况 谁说 难道 凭什么 所谓"
    " 假装 吗",
    # makes its clause a guess
    "H": "may might could perhaps maybe possibly"
    " 可能是 也许 或许",
    # speaks of somebody else
    "k": "some others many people users everyone generic average typical someone somebody friend friends colleague"
    " colleagues coworker boss wife husband mother father mom dad sister brother son daughter child children"
    " kids family parents partner beginner beginners you expert experts professional system critic critics reviewer reviewers stranger tourist"
    " 一般用户 普通 大多数 多数 有人 很多人 别人 朋友 其他 他人 常人 一般人 一般 妻子 丈夫 妈妈 爸爸 母亲"
    " 父亲 老板 同事 孩子 家人 年轻人 初学者 大家 的用户 的人 专家 评委 系统 新手",
    # contrasts
    "v": "but however yet nonetheless nevertheless mais aber pero ma mas"
    " 但 但是 不过 然而 可是 而 하지만",
    # concedes, or speaks of what was thought before
    "y": "although though despite even initially originally wanted hoped planned intended tempted used bien obwohl aunque sebbene embora"
    " 虽然 尽管 虽 即使 固然 表面上 先 原本 起初 最初 本来 一开始 曾经 以前 下次 差点 原以为 原来 打算 乍一看 与其 乍看",
    # the same where it opens a sentence
    "Y": "while whereas",
    # concludes
    "s": "so thus therefore hence overall ultimately finally final conclude consequently accordingly summary short"
    " → ➡ ⇒ ⟹ donc daher итак quindi portanto"
    " 所以 因此 因而 综上 综上所述 综合 综合来看 综合考虑 总之 总的来说 总体来说 总体而言 总体 整体 整体而言"
    " 总评 总评价 最终 最后 故 由此 可见 由此可见 于是 即 したがって よって 따라서 최종 종합적으로 결론적으로",
    # corrects, where it opens a clause
    "z": "wait oops scratch correction corrected edit reconsider reconsidering rethinking re-reading rereading"
    " reflection thought thoughts typo misread changed switching actually hmm hm sorry er um rather"
    " revised apologies hold hang strike update updated edited mean meant sondern sino"
    " 等等 等一下 等下 更正 纠正 修正 不对 说错 重新 重新考虑 重新审视 再想想 仔细想想 写错 写错了 看错"
    " 看错了 看反了 笔误 打错 打错了 算了 其实 实际上 事实上 抱歉 对不起 而是 改 改选 改为 哦 嗯 才是",
    # gives a reason
    "r": "because since given due considering based weil parce porque perché porqué потому"
    " 因为 由于 鉴于 理由 考虑到 根据 基于",
    # as
    "e": "as 如果我是 假如我是 若我是 换作是",
    # a tie, or no decision
    "q": "mind tie tied draw equal equally toss-up tossup none either undecided"
    " 平局 平手 说不好 拿不准 难说 不分上下 不相上下 一样好 难分 同样好 旗鼓相当 都可以 都行 都好 各有 均可",
    # both
    "=": "both"
    " 两者 二者 两个 都 两份",
    # one aspect
    "P": "terms aspect aspects criterion dimension respect regarding"
    " 方面 而言 来说 角度 层面 维度 来看",
    # a preposition
    "p": "in on upon at by from with without about into of zu pour pela für para per для"
    " 在 对 对于 从 与 跟 なら",
    # for
    "4": "for",
    # the user, and what a response should fit
    "U": "user user's persona persona's person person's individual individual's profile him her his their them"
    " they they're he she he's she's he'd she'd they'd needs preferences personality interests tastes lifestyle values"
    " background situation request case question questions utilisateur utilisatrice nutzer nutzerin usuario usuaria usuário"
    " utente пользователю пользователя él lui elle ihn ihm ella ele ela"
    " 用户 画像 人设 角色 人物 他 她 需求 需要 要求 偏好 性格 特点 兴趣 爱好 喜好 背景 情况 个性 习惯 这位 该"
    " 此人 使用者 趣味 自己 自分 生活 ユーザー 사용자",
    # is
    "i": "is are be were would gets get seems appears looks feels being est ist es è é será"
    " 为 係 是 应是 就是 应为 は が 은 는 이 가",
    # stands for a response
    "J": "it which one",
    # to
    "j": "to",
    # and
    "&": "and also /"
    " 、 和 并 且 并且 及 以及",
    # or
    "|": "or and/or versus vs vs."
    " 或 或者 还是",
    # joins a label and a noun
    "D": "的 地 の",
    # marks an object
    "%": "를 을 を",
    # an article, or a small label
    "α": "a an",
    # a small label
    "β": "b",
    # says nothing about the choice
    "n": "the my your our its this these that i i'd i'll i'm i've it's that's here's we say think believe feel"
    " guess find will shall should must can do does has own using clearly definitely certainly strongly"
    " slightly much far significantly probably likely simply just still comes clear obviously sure ok okay yes well"
    " course off please here two am personally honestly opinion imo works work out making makes make let"
    " towards toward up hands down easily narrowly barely marginally mostly eindeutig subjectively had mile all way confident confidence high medium low very quite really"
    " end analysis reason reasoning explanation rationale justification evaluation note absolutely exactly"
    " especially specifically truly me slight strong judge forced have mine hesitation particular"
    " specific back la le der die das el il o ich mich mir würde je meine mon mi meu мой я cette este diese se"
    " 我 我会 会 将 应 应该 建议 认为 觉得 感觉 想 还 要 可 可以 能 明显 显然 相对 相比之下 更多 一票 一些"
    " 一点 些 了 吧 啊 呢 哈 当然 肯定 确定 就 则 那 那么 那就 之 一个 一份 一项 一种 一位 这个 这 解释 分析 说明 评估 现在 请 于"
    " 对我来说 对我而言 就我而言 在我看来 从我的角度 从我的角度来看 站在我的角度"
    " 也 很 远 略 稍 稍微 明确 无疑 毫无疑问 毫不犹豫 毫不犹豫地 评判 个人 我们 本人 以上 得出 给出 个 再 仍 勉强 本题 大概率 硬要 真要"
    " その この 私 必须 非要 一定要 に び です ます ています ている して します だ と 思い 입니다 쪽 것 합니다"
    " 하겠습니다 저는 평가 답변이",
}  # fmt: skip
"""Class -> its words, in lower case. A word is in one class; all that a wording of `wordings` calls a response is in N or M."""

GONE = "¤"
"""Stands in a plain text where something was that is not the judge's own word; a word that is in no class."""

_CLASS = {word: kind for kind, words in VOCABULARY.items() for word in words.split()}
_CLASS |= {"A": "A", "B": "B", "0": "0", "?": "?", ",": ",", ":": ":", "=": ":", "\n": "\n", "(": "(", ")": "(", "⟦": "Q", GONE: "x"}
_CLASS |= dict.fromkeys("✓✔✅☑√", "T") | dict.fromkeys("✗✘❌✖❎×☐", "F") | dict.fromkeys("—–-", "_") | dict.fromkeys(".!;。", ".")
_SIMPLIFIED = str.maketrans(
    "選擇適這應與為對較優勝贏結論總體綜終實際後個錯誤斷決獲確貼滿匹雖儘順從無兩隻覺認還說來項複復會",
    "选择适这应与为对较优胜赢结论总体综终实际后个错误断决获确贴满匹虽尽顺从无两只觉认还说来项复复会",
)
_TRADITIONAL = re.compile(f"[{''.join(map(chr, _SIMPLIFIED))}]")
_LATIN = "A-Za-z\u00aa-\u024f\u0300-\u1fff\u20d0-\u20ff"  # and what else is written with spaces between words
_UNSPACED: dict[str, list[str]] = {}  # first character -> what may follow it, the longest first
for _word in sorted(_CLASS, key=len, reverse=True):
    if re.match(rf"[^\W\d_{_LATIN}]", _word):
        _UNSPACED.setdefault(_word[0], []).append(_word[1:])
_FIRSTS = list(_UNSPACED)
_GROUPS = [_FIRSTS[at : at + 32] for at in range(0, len(_FIRSTS), 32)]  # alternatives are tried in turn: few at a time
_BY_FIRST = {first: f"{first}(?:{'|'.join(rest)})" for first, rest in _UNSPACED.items()}
_UNSPACED_WORDS = "|".join(
    f"(?=[{''.join(firsts)}])(?:{'|'.join(_BY_FIRST[first] for first in firsts)})" for firsts in _GROUPS
)
_MARKS = "".join(re.escape(word) for word in _CLASS if len(word) == 1 and not word.isalnum() and word != "\n")
_TOKEN = re.compile(
    rf"vs\.|e\.g\.|and/or|[AB][+-](?![\w ])|[{_LATIN}]+(?:['-][{_LATIN}]+(?:['-][{_LATIN}]+)*|)"
    rf"|(?=[{''.join(_FIRSTS)}])(?:{_UNSPACED_WORDS})|>>|<<|\w|[\n{_MARKS}]"
)


def classes(text: str) -> str:
    """One character per word or mark of a text. A letter that is an article is `x`, one after an unknown word `O`."""
    if not text.isascii() and _TRADITIONAL.search(text):
        text = text.translate(_SIMPLIFIED)
    tokens = _TOKEN.findall(text)
    line = "".join(map(_class, tokens))
    kinds = list(line)
    line += "\n\n"
    for found in _TO_CHECK.finditer(line):
        at = found.start()
        if line[at] == "4":
            kinds[at + 1] = "U" if tokens[at + 1][:1].isupper() else "x"  # "for Lin": the user's name
        elif line[at] == "x":
            kinds[at] = "U" if re.match("[A-Z].*[^s]$", tokens[at]) else "x"  # "Lin would choose"
        elif line[at - 1 : at] == "x" and tokens[at - 1] != GONE and line[at + 1] not in "&|":
            kinds[at] = "O"  # "plan B", "then B"
        elif _is_article(tokens, line, at):
            kinds[at] = "x"
    return "".join(kinds)


@lru_cache(2**16)
def _class(word: str) -> str:
    return _CLASS.get(word) or _CLASS.get(word.lower(), "x")


_TO_CHECK = re.compile("4(?=x)|x(?=i?n?c)|(?<![NdQp])[AB]")


def _is_article(tokens: list[str], line: str, at: int) -> bool:
    """Whether this letter stands as an article does ("A better choice"), and is no label. Holds for B as for A."""
    return tokens[at + 1 : at + 2] < ["\u2000"] and _BEFORE_NOUN.match(line, at + 1) is not None


_BEFORE_NOUN = re.compile("[xdUNcEkq12mM]|[gw][xdNEU12gM]")
