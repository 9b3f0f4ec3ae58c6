"""What a reply says in plain text: thinking, markup, quotations and later turns of the conversation are taken out.

Every step is linear: a pattern repeats one class of characters, or what ends with a character that it cannot contain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..common.text import nfkc
from .vocabulary import GONE, classes

READ = 50_000
"""Characters read at the beginning and at the end of a reply; a longer reply has gone astray."""

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]")
_WIDE = {wide: nfkc(wide) for wide in "，：；！？（）"}  # the common ones: a text without them normalizes fast
_SUBSCRIPT = re.compile("[\u2080-\u209c]")  # NFKC would make letters of them

# --- 1. the turn after its thinking -----------------------------------------------------------------------------------
_THINKS = re.compile("think|thought|reason|scratch|reflect|analysis|plan|cot", re.I)
_MODEL_THINKS = re.compile("think|thought|reason", re.I)
"""In the name of a tag by which a model keeps its thinking apart; `<plan>` or `<analysis>` are a way to write."""
_ANSWERS = re.compile(
    "(?:(?:final|my|the|better|best|preferred|chosen|selected)[_.-]?)?(?:answer|choice|verdict|judge?ment|decision|result|output"
    "|response|reply|option|letter|winner|conclusion|preference|final|better|best|preferred|chosen|selected)"
)
_INLINE = re.compile("strong|em|i|code|u|span|su[bp]|mark|font|center|small|big|[uo]l|h[1-6]|tt|pre|q")
_BLOCK = re.compile("p|br|div|li")
_TURN_NAMES = re.compile("end_of_turn|eos")
_TAG = re.compile(r"<(/?)\s?([^\W\d][\w:.-]{0,30})([^<>\n]{0,80})>")


def _thinking_token(token: re.Match[str]) -> str:
    # `<|end_of_thought|>` and `<|/think|>` close what `<|begin_of_thought|>` and `<|think|>` open.
    return "</think>" if token[1] or re.search("end|stop", token[2], re.I) else "<think>"


# How models mark their thinking where it is no tag, also in replies without their special tokens. Each pattern is tried
# on replies that contain, in any case, one of the texts before it.
_AS_TAGS: list[tuple[tuple[str, ...], re.Pattern[str], Any]] = [(signs, re.compile(pattern, re.I), new) for signs, pattern, new in [
    (("<|channel", "<unused94>", "analysis"),
     r"<\|channel\|?> ?(?:analysis|commentary|thought)|<unused94>thought|\Aanalysis(?=[^\W\d_])", "<think>"),
    (("channel|>", "<unused95>", "assistantfinal", "[begin final", "...done"),
     r"<\|channel\|> ?final(?:<\|message\|>)?|<channel\|>|<unused95>|assistantfinal|\[BEGIN FINAL RESPONSE\]|\.{3}done thinking\.", "</think>"),
    (("◁",), r"◁(/?)(\w{1,20})▷", r"<\1\2>"), (("think",), r"(?:\[|&lt;)(/?)(think\w{0,4})(?:\]|&gt;)", r"<\1\2>"),
    (("<|",), r"<\|(/?)(\w{0,15}(?:think|thought)\w{0,9})\|>", _thinking_token),
]]  # fmt: skip
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|end|eot_id|eot|endoftext|end_of_text|im_start|start|return)\|>|<end_of_turn>|</s>|<eos>|\[/?INST\]", re.I
)
BEGINNING = re.compile(r"(?:<\|[^<>|]*\|>|[^\w<])*")  # a turn may begin with markers of its own
_TOKEN = re.compile(r"<\|[\w▁]{1,30}\|>")
NEXT_TURN = re.compile(
    r"\n(?:#+ ?)?(?:user|human|system|assistant|question|persona|instruction|用户|问题|人类|助手)(?: ?:|$)", re.I | re.M
)

# --- 2. its words ----------------------------------------------------------------------------------------------------
_LABEL = r"(?:[^\W\d]{1,12}[ :]{1,2}){0,2}[^\W\dABab]{0,4}[ABab](?:选项|项|回答)?"
_LABEL_ONLY = re.compile(rf"[\s(\[{{<【*'\"`.:]*{_LABEL}[\s)\]}}>】*'\"`.,:!。]*")
_PAIR = re.compile(
    r"""(["'])([\w -]{1,40})\1\s*:\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\Z)|'([^'\\\n]*)'|([^\s,{}\[\]"']{1,40}))""", re.S
)
_IN_KEYS, _ANSWER_KEYS = set("dcgGNMnmfs1U"), set("dcgGNMs")  # classes of words in the key of an object that answers
_FENCE = re.compile(r"```(?:[^\n`]*\n)?([^`]*)(?:```|\Z)")
_STRUCK = re.compile(r"~~([^~]*)~~")


def _number(found: re.Match[str]) -> str:
    # Any number is 0, one that belongs to a word ("A4") apart; a full stop after it stays.
    if found[0][0].isalpha() or found[0][-1].isalpha():
        return found[0]
    return "0" + found[0][len(found[0].rstrip(".,/:")) :]


_MARKUP: list[tuple[Sequence[str], re.Pattern[str], Any]] = [(signs, re.compile(pattern, re.I | re.M), new) for signs, pattern, new in [
    ("<", r"<!--[^<>]*>", " "),
    ("\\", r"\\(?:text|math)[a-z]{0,6} ?\{([^{}\n]{0,80})\}", r"\1"),
    ("\\", r"\\(?:boxed|fbox) ?(?:\{([^{}\n]{0,80})\}|([ab])\b)", r" ⟦ \1\2. "),
    ("[", r"\[\[([^\[\]\n]{1,30})\]\]", r" ⟦ \1. "),
    ("[", r"^[^\w\n]{0,4}\[[x✓✔]\] ", "✓ "), ("[", r"^[^\w\n]{0,4}\[ \] ", "✗ "),
    ("*_-=", r"\*+|_+|==+|^ ?[-= ]{3,}$", " "), (("doubt", "Doubt", "DOUBT"), r"\b(?:(?:no|little)|(?:without|beyond)(?: an?y?)?) doubt\b", " "),
    (">👉", r"[-=]+>|👉", "→"), ("|/,", r"(?<=[ABab])(?: [|/]|,) (?=[^\W\d][\w ]{0,24}:)", "\n"),
    ("\n", r"^([# ]*(?:final |my |the )?(?:answer|verdict|choice|decision|winner|最终答案|答案|结论)) ?:?\n(?= ?(?:[^\W\d]+ )?[ab]\b)", r"\1: "),
    ("23", r"^(\(?[2-9][.)] (?:[^\W\d]+ )?[ab])$", rf"\1: {GONE}"),  # an item of a list
    ("0123456789", r"[A-Za-z]?\d[\d.,/:]*%?[A-Za-z]?", _number),
]]  # fmt: skip
_QUOTED = [(sign, re.compile(pattern)) for sign, pattern in [
    ("“", r"“([^“”]*)(?:”|\Z)"), ("「", r"「([^「」]*)(?:」|\Z)"), ("『", r"『([^『』]*)(?:』|\Z)"), ("«", r"«([^«»]*)(?:»|\Z)"),
    ("`", r"`([^`]*)(?:`|\Z)"), ('"', r'(?<!\d)"([^"]*)(?:"|\Z)'), ("'", r"(?<!\w)'([^'\n]*(?:(?<=\w)'\w[^'\n]*)*)'(?!\w)"),
]]  # fmt: skip
_LINE_ENDS = re.compile(r"[.。]?$", re.M)
_HEADING = re.compile(
    r"\n(?:#+ ?(?:[^\W\d]+ ?)?[ab][:.]?(?=\n)|(?:#+ ?)?(?:[^\W\d]+ ?)?[ab] ?:(?=\n)|[^\W\d]+ ?[ab](?=\n(?:[-•*]|0[.)])))", re.I
)
_BLOCKQUOTE = re.compile(r"^>(?!>? ?[AB]\b).*$", re.M)
_BULLET = re.compile(r"\n(?:[>#\s|]|[-•*·+]\s|\(?0[.)]\s)+")
_BRACKETED = re.compile(r"[(\[{<【]{1,3} ?([ABab])\.? ?[)\]}>】]{1,3}")


@lru_cache(maxsize=32)  # most replies of most runs are one of a few; long ones are not kept for long
def closes_thinking(reply: str) -> bool:
    """Whether a reply has thinking that comes to its end, opened by the reply or by the template of its prompt."""
    return any(tag[1] and _MODEL_THINKS.search(tag[2]) for tag in _TAG.finditer(_tagged(reply)))


def shown_text(reply: str) -> str | None:
    """What a user would read: the reply without its thinking and outer spaces; None if it never stops thinking."""
    text = _with_tags(reply)
    shown, at, thinks = "", 0, False
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not _MODEL_THINKS.search(name):
            continue
        before = shown + text[at : tag.start()]
        if "reason" in name and not thinks and before.strip() and (not tag[1] or f"<{name}" in before.lower()):
            continue  # it belongs to a text: `I cannot come because of <reason>`, or an example of <reasoning>...</reasoning>
        if tag[1]:
            if not thinks:
                shown = ""  # the template of the prompt opened it
            thinks, at = False, tag.end()
        elif not thinks:
            shown, at, thinks = before, tag.start(), True
    return None if thinks else (shown + text[at:]).strip()


def after_thinking(reply: str) -> str | None:
    """What a reply says after its thinking, the elements of its markup resolved; None if it never stops thinking."""
    text = _tagged(reply)
    if "<" in text:
        unwrapped = _unwrapped(text)
        if unwrapped is None:
            return None
        text = tidy(unwrapped)
        begun = BEGINNING.match(text)
        end = _TURN_ENDS.search(text, begun.end() if begun else 0)
        text = _TOKEN.sub(" ", text[: end.start()] if end else text)
    text = tidy(text)
    return text if len(text) <= 2 * READ else f"{text[:READ]}\n{GONE}\n{text[-READ:]}"


def _tagged(reply: str) -> str:
    # A reply in the common form of its characters, with tags around its thinking.
    text = reply
    if not reply.isascii():
        for wide, mark in _WIDE.items():
            text = text.replace(wide, mark)
        text = nfkc(_SUBSCRIPT.sub(GONE, _INVISIBLE.sub("", text)))
        text = text.replace("\u034f", "").replace("’", "'").replace("‘", "'")
    return _with_tags(text)


def _with_tags(text: str) -> str:
    lower = text.lower()
    for signs, pattern, new in _AS_TAGS:
        if any(sign in lower for sign in signs):
            text = pattern.sub(new, text)
    return text


def _unwrapped(text: str) -> str | None:
    # Resolve the elements of a text; None if one that thinks is still open at its end.
    kept: list[str] = []
    opened: list[tuple[str, int]] = []  # name of an element, where it starts in `kept`
    first: dict[str, int] = {}
    at = 0
    for tag in _TAG.finditer(text):
        closes, name = tag[1], tag[2].lower()
        role = _role(name)
        if role == "turn" or (name == "s" and closes and "s" not in first):
            continue
        kept.append(text[at : tag.start()])
        at = tag.end()
        if role in ("inline", "block"):
            kept.append("\n" if role == "block" else "")
        elif not closes:
            first.setdefault(name, len(kept))
            opened.append((name, len(kept)))
            kept.append("⟦ " if role == "answer" else "" if name == "s" else f" {tag[2]}{tag[3]} ")
        elif name in first:
            start = first[name]
            while opened and opened[-1][1] >= start:
                first.pop(opened.pop()[0], None)
            kept[start:] = [_element(name, "".join(kept[start + 1 :]))]
        elif role == "thinking":
            kept, opened, first = [], [], {}
    return None if any(_role(name) == "thinking" for name in first) else "".join(kept) + text[at:]


@lru_cache(1024)
def _role(name: str) -> str:
    # What an element of this name is for; "" for one whose content says it.
    roles = {"inline": _INLINE, "block": _BLOCK, "turn": _TURN_NAMES, "answer": _ANSWERS}
    known = next((role for role, names in roles.items() if names.fullmatch(name)), "")
    return known or ("thinking" if _THINKS.search(name) else "")


def _element(name: str, inside: str) -> str:
    # What an element says: an answer, the letter that it emphasizes, or nothing, since thinking may have any name.
    if _role(name) == "answer":
        return f"\n⟦ {inside.strip()}.\n"
    if name in ("s", "del", "strike"):
        return _struck(inside)
    says = "⟦" in inside or (":" not in inside and _LABEL_ONLY.fullmatch(inside))
    return inside if name in ("a", "b") or (says and _role(name) != "thinking") else ""


def _struck(inside: str) -> str:
    return "" if _LABEL_ONLY.fullmatch(inside) else f" {GONE} "


def tidy(text: str) -> str:
    """Single spaces and no empty line."""
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def without_markup(text: str) -> str:
    """Take markup, quotations and headings out of a turn; `⟦` marks what was in a box, a tag or an object."""
    if ":" in text:
        text = _PAIR.sub(_pair, text)
    if "```" in text:
        text = _FENCE.sub(_fenced, text)
    if "~~" in text:
        text = _STRUCK.sub(lambda struck: _struck(struck[1]), text)
    for signs, pattern, new in _MARKUP:
        if any(sign in text for sign in signs):
            text = pattern.sub(new, text)
    text = tidy(text)
    for sign, pattern in _QUOTED:
        if sign in text:
            text = pattern.sub(_quoted, text)
    text = _HEADING.sub(f"\n{GONE}", f"\n{text}")[1:]
    if ">" in text and not all(line.startswith(">") for line in text.splitlines()):
        text = _BLOCKQUOTE.sub(GONE, text)
    text = _BULLET.sub("\n", f"\n{text}")[1:]
    return _BRACKETED.sub(lambda found: f" {found[1].upper()} ", text)


def _fenced(fence: re.Match[str]) -> str:
    # What is in a fence, if it is all of the text, or an answer.
    says = fence[0] == fence.string or "⟦" in fence[1] or _LABEL_ONLY.fullmatch(fence[1])
    return f"\n{fence[1]}\n" if says else f" {GONE} "


def _pair(pair: re.Match[str]) -> str:
    # A key of an object and its value: the answer, if the key names one and the value is there to see.
    if pair[2] in ("A", "B") and pair[5] in ("true", "false"):
        return f" {pair[2]} {'✓' if pair[5] == 'true' else '✗'} "
    key = set(classes(pair[2].replace("_", " ")))
    value = next((value for value in pair.groups()[2:] if value is not None), "")
    answers = key <= _IN_KEYS and key & _ANSWER_KEYS and (len(value) <= 12 or _LABEL_ONLY.fullmatch(value))
    return f"\n⟦ {value}\n" if answers and "\\" not in value else f" {GONE} "


def _quoted(quote: re.Match[str]) -> str:
    # A quoted label ("B", alone or in a sentence) is the judge's word, and so is a line that is all in quotation marks.
    inside = quote[1]
    opens = quote.start() == 0 or quote.string[quote.start() - 1] == "\n"
    line = opens and _LINE_ENDS.match(quote.string, quote.end())
    if "\n" not in inside and (line or (":" not in inside and _LABEL_ONLY.fullmatch(inside))):
        return f" {inside} "
    if not inside.strip():
        return " "
    return f" {GONE}. " if inside.rstrip().endswith((".", "!", "?", "。")) else f" {GONE} "
