"""Read a judge's reply to a closed set: "A", "B", or a named reason why it is neither.

Only the text decides, and nothing is guessed: what two careful readers could read in two ways is
`invalid_response_format`. The reply is first made plain (thinking, markup and quotations go), then every mention of a
response becomes one private character, so that the patterns below speak about labels and never about the letter "A",
which English also uses as an article. Declarations ("Answer: B", a line that holds only the label) are read first;
weaker statements ("B is better") only when nothing was declared. Within a tier all must agree.

Each table is consulted at call time and each of its rows is needed by a row of `tests/test_answers.py`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable

LETTERS = ("A", "B")
REASONS = ("no_response", "truncated", "refusal", "invalid_response_format")

# Private characters, taken out of every reply before any is set: two labels, the same two named only by an ordinal,
# both labels at once ("A or B"), the start of an explicit answer, and a place from which something was taken out.
LABEL, ORDINAL, BOTH, EXPLICIT, GONE = "\ue000\ue001", "\ue002\ue003", "\ue004", "\ue005", "\ue006"
_L, _T = f"[{LABEL}]", f"[{LABEL}{ORDINAL}]"
_LETTER_OF = dict(zip(LABEL + ORDINAL, "ABAB", strict=True))
# What a label pattern captures, if it names A; any other capture names B.
_SIDE = {"a": 0, "first": 0, "former": 0, "一": 0, "第一个": 0, "前者": 0, LABEL[0]: 0}

# --- 1. making the reply plain -----------------------------------------------------------------------------------
_PRIVATE, _VARIATION = re.compile("[\ue000-\ue006]"), re.compile("[\ufe00-\ufe0f]")
_TAG = r"<{}{}\b[^<>]{{0,80}}>"
THINKING = {name: (re.compile(a, re.I), re.compile(b, re.I)) for name, a, b in [
    *((name, _TAG.format("", name), _TAG.format("/", name)) for name in ("think", "thinking", "reasoning", "thought")),
    ("mistral", r"\[THINK\]", r"\[/THINK\]"),
    ("kimi", "◁think▷", "◁/think▷"),
    ("harmony", r"<\|channel\|>analysis", r"<\|channel\|>final<\|message\|>"),
]}

_ANSWER = (r"(?:answer|choice|verdict|decision|preference|judge?ment|selection|pick|vote|winner|conclusion|result"
           r"|letter|response|option|reply|output|overall)")
_ANSWER_ZH = "(?:答案|选择|结论|判断|判定|决定|选项|结果|偏好|回答|回复)"
_KEY = re.compile(rf"(?:(?:final|preferred|selected|chosen|better|best)[ _-]?)?{_ANSWER}"
                  rf"|preferred|selected|chosen|better|{_ANSWER_ZH}", re.I)
_OBJECT = re.compile(r"^\{[^{}]*\}$", re.M)
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.S)
MARKUP = {name: (re.compile(pattern, re.I | re.M), new) for name, pattern, new in [
    ("latex text", r"\\(?:text\w{0,2}|math\w{2}) ?\{([^{}\n]{0,80})\}", r"\1"),
    ("latex maths", r"\\[()\[\]]|\$+", ""),
    ("html", r"</?(?:b|strong|em|i|p|code|br) ?/?>", ""),
    ("end of turn", r"<\|[^<>|\n]{1,30}\|>|</s>", ""),
    ("stars", r"\*+", ""),
    ("underscores", r"(?<![^\W_])_+|_+(?![^\W_])", ""),
]}
EXPLICIT_FORMS = {name: re.compile(pattern, re.I | re.M) for name, pattern in [  # the last group is the answer
    ("boxed", r"\\boxed ?\{([^{}\n]{0,80})\}"),
    ("tag", r"<((?:final[ _-]?)?(?:answer|choice|verdict|judge?ment))>([^<>]{0,80})</\1>"),
    ("double brackets", r"\[\[([^\[\]\n]{1,20})\]\]"),
    ("loose object", rf"^\{{ ?['\"]?{_ANSWER}['\"]? ?[:=] ?['\"]?([^'\"{{}},\n]{{1,20}})['\"]? ?\}}$"),
]}
_NOUN, _NOUN_ZH = "(?i:response|option|choice|answer|reply|candidate|assistant)", "(?:回答|回复|选项|答复|答案)"
# A quoted label on its own ("Answer: "A"") is the label. A later line that holds nothing else may be a quotation.
_QUOTED_LABEL = re.compile(
    rf"(?<![A-Za-z0-9\n])[\"'`“”「『«]{{1,2}}\s?([(\[{{<【 ]{{0,4}}(?:{_NOUN} ?|{_NOUN_ZH})?[ABab][)\]}}>】 .]{{0,4}})"
    rf"[.,。\s]{{0,3}}[\"'`“”」』»]{{1,2}}(?![A-Za-z0-9])")
QUOTES = {name: re.compile(pattern, re.M) for name, pattern in [  # what is opened and never closed goes to the end
    ("curly", r"“[^”]*(?:”|\Z)"), ("corner", r"「[^」]*(?:」|\Z)"),
    ("white corner", r"『[^』]*(?:』|\Z)"), ("guillemets", r"«[^»]*(?:»|\Z)"), ("backticks", r"`[^`]*(?:`|\Z)"),
    ("straight", r'"[^"]*(?:"|\Z)'), ("single", r"(?<!\w)'(?:[^'\n]|'(?=\w))*(?:'|$)"), ("block", r"^>.*$"),
]}
# A line that only names a response above a discussion of it is a heading and not an answer.
HEADINGS = {name: re.compile(pattern, re.M | re.I) for name, pattern in [
    ("hash", rf"^#+ ?{_NOUN} \(?[ab]\)?:?$"),
    ("colon", rf"(?:(?<=\n)|^(?=[^\n]*\n))(?:#+ ?|- )?(?:{_NOUN} |{_NOUN_ZH} ?)?[ab] ?:$"),
    ("list", rf"^(?:{_NOUN} |{_NOUN_ZH} ?)[ab]$(?=\n[-•\d])"),
]}
_NAMED_LINE = re.compile(rf"^[#\- ]*(?:{_NOUN} |{_NOUN_ZH} ?)([ABab])[:.]?$(?=\n)", re.M)

# --- 2. labels ---------------------------------------------------------------------------------------------------
# \b will not do: Chinese characters are word characters, and 回答B更合适 names B.
_LETTER_LIKE = r"[^\W⺀-鿿豈-﫿]|['+\-]"
_LEFT, _RIGHT = rf"(?<!{_LETTER_LIKE.replace('|', ')(?<!')})", rf"(?!{_LETTER_LIKE}|[̀-ͯ⃐-⃿])"
# "A better response is B": a letter before a word is a label only if the article "a" could not stand before that word.
_FITS = r"(?:fits|suits|matches|aligns with|serves|meets|reflects|addresses)"
_NO_ARTICLE = (r"(?! (?!(?i:is|was|because|since|as|for|over|to|than|and|or|nor|vs|versus|would|seems|appears|feels"
               r"|looks|wins|due|given|overall|here|instead|rather|but|it|the|this|which|while|if|unless"
               rf"|(?:(?:better|best) )?{_FITS})\b)[A-Za-zÀ-ÿ])")
_OPEN, _CLOSE = r"[(\[{<【]", r"[)\]}>】]"
_WHO = r"(?:(?:this|the|our|that) (?:\w+ )?(?:user|persona|person|individual|profile)(?:'s)?|him|her|them|me)\b"
LABELS = {name: re.compile(pattern) for name, pattern in [
    ("bracketed", rf"{_OPEN}{{1,2}} ?([AB])\.? ?{_CLOSE}{{1,2}}"),
    ("named", rf"(?<!\w)(?:(?i:the|my|final) ){{0,4}}{_NOUN}[ _-]?"
              rf"(?:([AB{LABEL}]){_RIGHT}|\(([ab])\)|([ab]){_RIGHT}{_NO_ARTICLE})"),
    ("named in Chinese", rf"{_NOUN_ZH} ?([ABab{LABEL}]){_RIGHT}"),
    ("named after", rf"{_LEFT}([ABab]) ?{_NOUN_ZH}"),
    ("letter", rf"{_LEFT}([AB]){_RIGHT}{_NO_ARTICLE}"),
    ("ordinal response", r"(?i:(?<!\w)(?:the )?(first|second|former|latter) (?:response|option|answer|reply)\b)"),
    ("ordinal response in Chinese", r"第([一二])个?(?:回答|回复|选项|答复|答案)"),
]}
ORDINALS = {name: re.compile(pattern, re.I | re.M) for name, pattern in [
    ("first", rf"(?<!\w)the (first|second)(?: one)?\b{_NO_ARTICLE}"),
    ("former", rf"(?<!\w)(?:the )?(former|latter)(?: one)?\b{_NO_ARTICLE}"),
    ("answered", r"(?<=: )(first|second)(?=[.!]?$)"),
    ("Chinese", r"(第[一二]个|前者|后者)(?=$|\W|更|比|明显|较|最|胜)"),
]}
_PAIR = re.compile(rf"{_T} ?(?:,? ?\b(?:and/or|and|or|nor|vs\.?|versus)(?![a-z])|[,/&|=、]"
                   rf"|,?(?:和|或者?|与|还是|以及)) ?{_T}", re.I)

# --- 3. what is said of a label ----------------------------------------------------------------------------------
_CLAUSE = r"(?:(?<![^\n.,;:!?(#。—–-])|(?<=[.,;:!?#—–-] ))"
_LEAD = (rf"{_CLAUSE}(?:(?:so|thus|therefore|hence|then|but|however|and|overall|ultimately|personally"
         r"|i (?:think|believe|feel|find|conclude)|i(?:'d| would) say)(?: that)? )*")
# "Answer: A for style" answers for style alone, "A:" and "A=7" open an enumeration, "A or perhaps B" is open.
_FULL = (rf"(?! ?(?:[:?%/=\d]|-*>|→)| ?[,(]? ?or\b)"
         rf"(?! (?:for (?!{_WHO})|to (?!{_T})|in\b|on\b|if\b|unless\b|when\b|only\b"
         r"|(?:is|was|would be|seems) (?:not|less|(?:the )?(?:wrong|worse|worst|weaker))\b))")
_FULL_ZH = "(?![的吗]|还是|或|和|与|在|就)"
_NONE = rf"{BOTH}|(?:a )?tie\b|both\b|neither\b|none\b|平局|都"
DECLARED = {name: re.compile(pattern, re.I | re.M) for name, pattern in [
    ("line", rf"^[ .,:()\[\]{{}}<>【】\"'#|=-]*({_T}|[ab])[ .,;:!()\[\]{{}}<>【】\"'|。、]*$"),
    ("explicit", rf"{EXPLICIT}[ (\"']*({_T}|{_NONE}){_FULL}"),
    ("English", rf"{_LEAD}(?:my |the |your )?(?:final |overall |correct |best |right ){{0,4}}{_ANSWER}"
                r"(?: \([^()\n]{1,20}\))?"
                r"(?: (?:is|would be|will be)(?: clear)?:?| ?(?::|=|-*>|=>|→|-)) ?"
                rf"({_T}{_FULL}|{_NONE}|\(?[ab]\)?(?=[.!]?$))"),
    ("Chinese", rf"(?<!\w)(?:我的?|最终|最后|正确|综上|因此|所以|的|,)*{_ANSWER_ZH}(?:应该?|就)?[是为:]+ ?"
                rf"(?:选择?)?({_T}{_FULL_ZH}|{_NONE})"),
]}
_CHOOSE = r"(?:choose|pick|prefer|select|favou?r|recommend|go with|vote for|opt for)"
_BETTER = r"(?:better|best|preferred|preferable|superior|stronger|more (?:suitable|appropriate|fitting|preferable))"
_THING = r"(?:response|one|choice|option|answer|reply|fit|match|pick)"
_END = (rf"(?= ?(?:$|[.,;!)—–-])| (?:than (?:{_T}|the other)|because|since|as it|due|given|overall|here"
        rf"|of the two|and|but)(?!\w)| (?:for|to|with) {_WHO})")
_LEAD_ZH = r"(?<!\w)(?:我们?|用户|该|这位|会|将|更|应该?|建议|最终|综上|因此|所以|但|而|认为|觉得|相比之下|总体来说|可能)*"
_BETTER_ZH = "(?:[更较最](?:为|加)?(?:好|优|佳|适合|合适|符合|贴合|契合|切合|恰当|胜一筹))"
_WHO_ZH = "(?:(?:该|这位|这个|此|当前|本)?(?:用户|人物|角色|人设|画像|他|她)|其)"
STATED = {name: re.compile(pattern, re.I | re.M) for name, pattern in [
    ("opening", rf"\A({_T})(?:[.)!。] ?| ?[—–-]+ ?|,? ?(?=(?:because|since|as|due|given)\b|因为|由于))(?=\w)(?!\w\.)"),
    ("short", rf"^(?:i(?:'d| would)? (?:say|think|guess|believe)|it(?:'s| is)|definitely|clearly|sure|ok|okay)"
              rf"[,:!.]? ({_T})[.! ]*$"),
    ("chosen", rf"{_LEAD}(?:i(?:'d|'ll| would| will| must)?(?: (?:definitely|strongly|therefore|still|have to))* )?"
               rf"{_CHOOSE} ({_T}){_FULL}"),
    ("the user prefers", rf"{_LEAD}(?:(?:the|this) (?:user|persona|person|individual)|they|he|she)(?: would| will)?"
                         r"(?: (?:likely|probably|definitely|most))*"
                         rf" (?:prefers?|favou?rs?|chooses?|picks?) ({_L}){_FULL}"),
    ("is better", rf"{_LEAD}({_T}) (?:is|seems|appears|feels|looks|would be)(?: to be)?"
                  r"(?: (?:clearly|much|definitely|slightly|far|significantly|overall|the|a))*"
                  rf" (?:{_BETTER}(?: {_THING}| suited| aligned)?"
                  rf"|(?:my|the)(?: first| final)? (?:answer|choice|pick|winner)){_END}"),
    ("better fits", rf"{_LEAD}({_T}) (?:better|best) {_FITS} {_WHO}"),
    ("fits better", rf"{_LEAD}({_T}) {_FITS} {_WHO}[^.,;\n]{{0,60}}? (?:better|best){_END}"),
    ("wins", rf"{_LEAD}({_T}) wins{_END}"),
    ("better is", rf"\b{_BETTER}(?: {_THING})?(?: (?:for|to) {_WHO})?(?: (?:is|would be)| ?:):? ?({_T}){_FULL}"),
    ("what fits is", rf"\b(?:better|best) {_FITS} {_WHO}[^.,;\n]{{0,60}}? is:? ({_T}){_FULL}"),
    ("Chinese chooses", rf"{_LEAD_ZH}(?:选择?|推荐|倾向于?|偏好|喜欢)(?:的是)? ?:?({_T}){_FULL_ZH}"),
    ("Chinese better", rf"{_LEAD_ZH}({_T}) ?(?:明显|显然|整体|总体|相对|要|则|比{_T})*(?:{_BETTER_ZH}|胜出)"
                       rf"(?=$|\W|一?些|的|{_WHO_ZH})"),
    ("Chinese better is", rf"{_BETTER_ZH}(?:{_WHO_ZH}(?:的?(?:需求|偏好|情况|背景))?)?的?"
                          rf"(?:回答|回复|选项|一个|答案|选择)?(?:应该?)?[是为:]+ ?({_T}){_FULL_ZH}"),
]}

# --- 4. what takes it back ---------------------------------------------------------------------------------------
# (where, pattern): in the same clause before the match, in the sentence before it, or in the sentence after it.
DOUBTS = {name: (where, re.compile(pattern, re.I | re.S)) for name, where, pattern in [
    ("denied", "clause", r"\b(?:not|never|neither|nor|no|hardly)\b|n't\b|[不没]|并非"),
    ("conceded", "clause", r"\b(?:while|although|though|despite)\b|虽然|尽管|即使"),
    ("conditional", "sentence", r"\b(?:if|unless|whether|suppose|assuming|may|might|could"
     r"|(?:some|others|most)(?: \w+)? (?:say|think|argue|would|prefer))\b"),
    ("conditional in Chinese", "sentence", "如果|假如|若|要是|除非|是否|有人"),
    ("usual", "sentence", r"\b(?:generally|normally|usually|typically|in general)\b|一般|通常"),
    ("one aspect", "sentence", r"\A\W*(?!(?:finally|ultimately|personally|clearly|consequently|accordingly|honestly"
     rf"|for {_WHO}|in (?:conclusion|summary|short|this case|my opinion|the end)|from the|with (?:this|the))\b)"
     r"(?:\w+ly|for|in|on|at|from|with|when|as for|regarding)\b[^,]*,"),
    ("one aspect in Chinese", "sentence", "方面|就.*而言"),
    ("condition follows", "after", r"\A[^.]*?(?<!even )\b(?:if|unless|depending|only when)\b|\A[^。]*?(?:如果|除非)"),
    ("question", "after", r"\A[^.!?\n。]*(?:\?|吗)"),
]}
_REASON = re.compile(r"\n|\b(?:because|since)\b", re.I)  # what is said for the choice casts no doubt on it
_CONTRAST = re.compile(r"(?:\b(?:but|however|yet)\b|但|然而|不过|可是)([^.\n。]*)", re.I)
_SUBJECT = re.compile(rf"(?<!than )(?<!unlike )(?<!比){_T}")
TIES = {name: re.compile(pattern, re.I | re.M | re.S) for name, pattern in [
    ("neither", r"\b(?:neither|either (?:one|works|is fine))\b"),
    ("tie", r"\b(?:a tie|tied|toss-?up)\b"),
    ("equal", r"\b(?:equal|equally|(?:are|about) the same|no (?:clear |real )?(?:winner|preference|difference))\b"),
    ("both", rf"\bboth (?:of|the|responses|options|answers|replies|are|fit|work|{BOTH})"
             r"(?![^.\n]{0,120}[,.;]? ?(?:but|however)\b)"),
    ("Chinese", "[一同]样(?:好|适合|合适|优秀)|不分上下|不相上下|平局|都不(?!错)|各有|难分"),
    ("Chinese both", rf"(?:两者|二者|两个|{BOTH})[^,。\n]{{0,8}}都(?![^。\n]{{0,60}}[,。;] ?(?:但|不过|然而))"),
    ("enumeration", rf"\A({_T}) ?[.)—–-].*?[\n.,;!?。] ?(?!\1){_T} ?[.):—–-]"),
]}
# Group 1, where there is one, must differ from a label that came before; without one the cue alone is enough.
RETRACTIONS = {name: re.compile(pattern, re.I | re.M) for name, pattern in [
    ("wait", rf"{_CLAUSE}(?:(?:no )?wait|hold on|oops|scratch that|correction)\b ?(?:[,.!:—–-]|$)"),
    ("reconsider", r"\bon second thoughts?\b|\blet me (?:reconsider|rethink|think again)\b|\bchanged my mind\b"),
    ("no", rf"\b(?:no[,.:—–-]|actually|sorry|i mean|or rather)[ ,:.—–-]*"
           rf"(?:i(?:'d| would)? {_CHOOSE} |it(?:'s| is) )?({_T})"),
    ("Chinese", r"(?<!\w)(?:不对|等等|等一下|更正|说错了|重新考虑)(?:[,.:!。 ]|$)"),
    ("Chinese no", rf"(?<!\w)(?:不,|不是,|应该是|改选|改为)[ ,]*(?:应该)?(?:是|选择?)?({_T})"),
]}
REFUSALS = {name: re.compile(pattern, re.I) for name, pattern in [
    ("cannot", r"\bi(?: am|'m)? (?:really |simply )?(?:can't|cannot|can not|won't|will not|unable to|not able to"
               r"|not comfortable|must decline|have to decline|decline to|refuse to)\b"),
    ("sorry", r"\b(?:sorry|i apologi[sz]e),? but\b"),
    ("no opinions", r"\b(?:don't|do not) have (?:any |personal )*(?:preferences|opinions|feelings)\b"
                    "|没有(?:个人|主观)(?:偏好|观点)"),
    ("sorry in Chinese", "(?:抱歉|对不起|很遗憾),? ?(?:但|我)*(?:无法|不能|没法|不便|没有办法)"),
    ("cannot in Chinese", "(?:我|(?<![\\w\ue000-\ue006]))(?:暂时|目前)?(?:无法|不能|没法|不便|拒绝)(?:为您|为你|对此|在此)?"
                          "(?:选择|判断|协助|提供|回答|做出|作出|比较|评判|满足|确定|完成)"),
]}

# --- 5. the last line of a reply that reasons first ------------------------------------------------------------------
_CLOSING_TAG = re.compile(r"</[\w -]{1,20}>|<\|[^<>|\n]{1,30}\|>")
WRAPPED = {name: re.compile(pattern) for name, pattern in [  # the whole line; the reader takes quotations out
    ("block", r"\A(?:> ?)+(.*)\Z"), ("stars", r"\A\*+([^*]*)\*+\Z"), ("backticks", r"\A`+([^`]*)`+\Z"),
    ("straight", r'\A"([^"]*)"[.。]?\Z'), ("curly", r"\A“([^“”]*)”[.。]?\Z"), ("corner", r"\A「([^「」]*)」[.。]?\Z"),
]}
_ASKED_FOR = re.compile("answer|答案", re.I)


def read_reply(reply: str) -> str:
    """Return the letter that `reply` chooses, or the element of `REASONS` that says why it chooses none."""
    text = _spoken(reply)
    if not text:
        return "truncated" if text is None else "no_response"
    text = _labelled(_plain(text))

    found = _found(DECLARED, text)
    if not found and not any(tie.search(text) for tie in TIES.values()):
        found = [(at, "" if _contrasted(text, at, letter) else letter) for at, letter in _found(STATED, text)]
    return _agreed(text, found)


def read_last_line(reply: str) -> str:
    """The same for a reply that was asked to reason first and then to end with one line: only that line is read.

    What stands above may declare a winner per criterion, change its mind or leave a quotation open. A reply that was cut
    off ends with a remark in passing: the line must declare its answer, and with another word than the one that was asked
    for ("Overall: A is more detailed") it must say nothing after it.
    """
    text = _spoken(reply)
    if not text:
        return "truncated" if text is None else "no_response"
    *_, last = ["", *(line for line in text.splitlines() if re.search(r"[^\W_]", _CLOSING_TAG.sub("", line)))]
    for pattern in WRAPPED.values():
        last = pattern.sub(r"\1", last)
    text = _labelled(_plain(last))
    return _agreed(text, [(at, letter) for at, letter in _found(DECLARED, text) if _closes(text, at)])


def _spoken(reply: str) -> str | None:
    """What a reply says after its thinking; None if it never gets that far."""
    text = _tidy(unicodedata.normalize("NFKC", _visible(reply)).translate({0x2018: "'", 0x2019: "'"}))
    start = 0
    for opening, closing in THINKING.values():
        closed = max((m.end() for m in closing.finditer(text)), default=0)
        if opening.search(text, closed):
            return None
        start = max(start, closed)
    return text[start:].strip()


def _agreed(text: str, found: list[tuple[int, str]]) -> str:
    """The letter on which all that was found agrees, or why there is none."""
    if not found:
        return "refusal" if any(row.search(text) for row in REFUSALS.values()) else "invalid_response_format"
    letters = {letter for _, letter in found}
    taken_back = max(at for at, _ in found) < _last_retraction(text)
    return "invalid_response_format" if len(letters) > 1 or taken_back or "" in letters else letters.pop()


def _visible(text: str) -> str:
    """Drop what is not seen: zero-width and direction marks could split a word or join two."""
    text = _VARIATION.sub("", _PRIVATE.sub("\ufffd", text))  # no reply may bring the private characters itself
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def _tidy(text: str) -> str:
    """Single spaces and no empty line: no pattern has to step over a run of blanks, so none is slow on one."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _plain(text: str) -> str:
    """Take markup, quotations and headings out; mark what stands in a box, a tag or an object as explicit."""
    text = _OBJECT.sub(_object_answer, text)
    # A fence around the whole reply is a wrapper; a fence inside it holds a quotation.
    text = _FENCE.sub(lambda m: (m[1] if m[0] == text or m[1].startswith(EXPLICIT) else GONE) + "\n", text)
    for pattern, new in MARKUP.values():
        text = pattern.sub(new, text)
    for pattern in EXPLICIT_FORMS.values():
        text = pattern.sub(lambda m: _explicit(m[m.re.groups]), text)
    text = _QUOTED_LABEL.sub(r"\1", _tidy(text))
    if text.count('"') % 2:  # which of them opens and which closes cannot be told
        text = text[: text.index('"')]
    for pattern in QUOTES.values():
        text = pattern.sub(GONE, text)
    for pattern in HEADINGS.values():
        text = pattern.sub(GONE, text)
    if {m[1].upper() for m in _NAMED_LINE.finditer(text)} == set(LETTERS):
        text = _NAMED_LINE.sub(GONE, text)
    return text


def _object_answer(found: re.Match[str]) -> str:
    """Replace a flat JSON object by its answers, all of them: a key given twice must not win by coming last."""
    try:
        pairs = json.loads(found[0], object_pairs_hook=list, strict=False)
    except (ValueError, RecursionError):
        return found[0]
    # The value must be there to see: "\u0041" is no letter for a reader of the reply.
    answers = [v for k, v in pairs if _KEY.fullmatch(k) and isinstance(v, str) and v and v in found[0]]
    return "\n".join(map(_explicit, answers)) or GONE


def _explicit(answer: str) -> str:
    """Set an answer apart from what follows it; "b" alone in a box is no article or word."""
    answer = answer.strip()
    return EXPLICIT + (answer.upper() if len(answer) == 1 else answer) + GONE


def _labelled(text: str) -> str:
    """Put one private character for each mention of a response, and one for "A or B"."""
    for pattern in LABELS.values():
        text = pattern.sub(lambda m: LABEL[_SIDE.get(m[m.lastindex or 0].lower(), 1)], text)
    # "B is warm, A is dry; the former ..." is about B: ordinals count only if no letters, or A and then B, came before.
    first = min((m.start() for row in ORDINALS.values() for m in row.finditer(text)), default=0)
    if "".join(c for c in text[:first] if c in LABEL) in ("", LABEL):
        for pattern in ORDINALS.values():
            text = pattern.sub(lambda m: ORDINAL[_SIDE.get(m[1].lower(), 1)], text)
    return _PAIR.sub(BOTH, text)


def _found(table: dict[str, re.Pattern[str]], text: str) -> list[tuple[int, str]]:
    """Every (position, letter) that a row of `table` finds beyond doubt; "" where it finds no single letter."""
    return [
        (m.start(1), _LETTER_OF.get(m[1]) or {"a": "A", "b": "B"}.get(m[1].strip("()").lower(), ""))
        for row in table.values()
        for m in row.finditer(text)
        if not _doubted(text, m)
    ]


def _doubted(text: str, found: re.Match[str]) -> bool:
    head, tail = text[max(0, found.start() - 300) : found.start()], text[found.end() : found.end() + 300]
    sentence = head[max(map(head.rfind, ".!?;\n。")) + 1 :]
    clause = sentence[max(map(sentence.rfind, ",(")) + 1 :]
    parts = {"clause": clause, "sentence": sentence, "after": _REASON.split(tail)[0]}
    return any(parts[where] and pattern.search(parts[where]) for where, pattern in DOUBTS.values())


def _contrasted(text: str, at: int, letter: str) -> bool:
    """Whether "but ..." goes on to speak of the other response: "Many like A, but this user needs B"."""
    said = (c for m in _CONTRAST.finditer(text[at : at + 300]) for c in _SUBJECT.findall(m[1]))
    return any(_LETTER_OF[c] != letter for c in said)


def _closes(text: str, at: int) -> bool:
    """Whether the answer at this place is given with the word that was asked for, or says nothing after it."""
    return bool(_ASKED_FOR.search(text[:at])) or not re.search(r"\w", text[at + 1 :])


def _last_retraction(text: str) -> int:
    """Where the last "no, B" or "wait" ends; an answer has to come after it."""
    first: dict[str, int] = {}
    for at, c in enumerate(text):
        if c in _LETTER_OF:
            first.setdefault(_LETTER_OF[c], at)
    ends = [0]
    for row in RETRACTIONS.values():
        for m in row.finditer(text):
            other = LETTERS[_LETTER_OF[m[1]] == "A"] if row.groups else ""
            if not other or first.get(other, len(text)) < m.start():
                ends.append(m.end())
    return max(ends)


def joined(answers: Iterable[str]) -> str:
    """The answers of one case as one line of a log."""
    return ", ".join(answers)


def parted(line: str | None) -> tuple[str, ...]:
    """The answers that were joined into one line; none if anything else stands in it."""
    found = tuple((line or "").split(", "))
    return found if set(found) <= {*LETTERS, *REASONS} else ()
