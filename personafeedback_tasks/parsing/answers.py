"""Read a judge's reply to a closed set: "A", "B", or a named reason why it is neither."""

# The rule, in the order in which a careful reader applies it:
#
# 1. Thinking, markup, quotations and later turns of the conversation are not read (`markup`).
# 2. A clause declares a letter if it contains nothing but the label (`B`, `So B`), names it as the answer (`Answer: B`,
#    `my choice is B`, a box, a tag, an object), chooses it (`I prefer B`), or calls it better for this user (`B fits
#    the user better`). Of two responses, one that is rejected declares the other (`A is worse`, `not A`); `B over A` is
#    about B (`declarations`).
# 3. A clause declares nothing if it supposes, asks, concedes, speaks of other people or of one aspect, or contains a
#    word that could limit it ("A is better at jokes"). Embedded in another clause it declares only after one of a few
#    verbs: "I think the answer is A", but not "I was told" or "I hope the answer is A". A tie declares that there is no
#    letter.
# 4. The last declaration is the answer. Those before it must agree, unless the last one concludes ("overall", 因此) or
#    corrects ("wait", 其实), or is more explicit: an answer that is named or has its own line outranks one that is said
#    in passing.
# 5. A correction without a new answer, or a letter left hanging at the end, makes a reply unreadable. So does
#    everything that two careful readers could read in two ways.

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from .declarations import Declaration, declarations
from .markup import NEXT_TURN, after_thinking, shown_text, without_markup
from .vocabulary import classes

LETTERS = ("A", "B")
PROMPT_CUT = "prompt_cut"
"""The reason of a reply to a prompt that the model did not see whole, whatever it says."""

IMPOSSIBLE = ("positive_likelihoods", "zero_likelihoods", "undefined_likelihoods", "token_ids")
"""Why values cannot be log-likelihoods: one is above 0, all are 0, one is nan or all are -inf, or tokens are ids."""

REASONS = ("no_response", "truncated", PROMPT_CUT, "refusal", "invalid_response_format", *IMPOSSIBLE)

_REFUSALS = re.compile(
    r"\bi(?: am|'m)? (?:really |simply )?(?:can't|cannot|can not|won't|will not|unable to|not able to|not comfortable|must decline"
    r"|have to decline|decline to|refuse to)\b|\b(?:sorry|i apologi[sz]e),? but\b"
    r"|\b(?:don't|do not) have (?:any |personal )?(?:preferences|opinions|feelings)\b|没有(?:个人|主观)(?:偏好|观点)"
    "|(?:抱歉|对不起|很遗憾),? ?(?:但我|但|我)?(?:无法|不能|没法|不便|没有办法)"
    r"|(?:我|(?<!\w))(?:暂时|目前)?(?:无法|不能|没法|不便|拒绝)(?:为您|为你|对此|在此)?"
    "(?:选择|判断|协助|提供|回答|做出|作出|比较|评判|满足|确定|完成)", re.I,
)  # fmt: skip

# Lines that name a letter as the answer, or box it, or are nothing but a letter, in classes of words.
_ANSWER_LINES = re.compile(r"^(?:[^\nQ]*Q[nN]*|[^\nxi.,?!ABαβ]*i?:[nN]*|(?=\(?[ABαβ][(.]*$)\(?)([ABαβ])", re.M)

_SHORT = 100
"""Characters of a reply that is likely to come again."""


def read_reply(reply: str, truncated: bool = False) -> str:
    """Return the letter that a reply chooses, or the element of `REASONS` that says why it chooses none.

    Args:
        truncated: cut off by its token limit. Then a letter counts only on its own line, in a box, or in a line that
            names the answer.
    """
    return (_read_short if len(reply) <= _SHORT else _read)(reply, truncated)


def _read(reply: str, truncated: bool) -> str:
    text = after_thinking(reply)
    if not text:
        return "truncated" if text is None else "no_response"
    turn = NEXT_TURN.search(text)
    first = ""
    if turn:
        first = _agreed(clause for clause in declarations(without_markup(text[: turn.start()])) if clause.rank > 1)
    explicit = truncated or first in LETTERS  # what later turns say in passing is not about this one
    words = without_markup(text)
    letter = _agreed(clause for clause in declarations(words) if clause.rank > 1 or not explicit)
    if truncated and not any("AB"[found[1] in "Bβ"] == letter for found in _ANSWER_LINES.finditer(classes(words))):
        letter = ""  # "so the answer is B" may be a thought on the way
    return letter or ("truncated" if truncated else why_not(words))


_read_short = lru_cache(maxsize=1024)(_read)  # most replies of most runs are a letter


def read_last_line(reply: str, truncated: bool = False) -> str:
    """The letter of a reply that reasons first: only its last line is read."""
    # The lines above may declare a winner per criterion or change its mind. All that the last line declares must agree;
    # the last line of a truncated reply is no last line.
    text = None if truncated else after_thinking(reply)
    if not text:
        return "truncated" if text is None else "no_response"
    above, last = last_lines(text)
    words = without_markup(last)
    explicit = [clause for clause in declarations(words) if clause.rank > 0]
    letters = {clause.letter for clause in explicit}
    if len(letters) != 1 or "" in letters or ends_list(above, last, LETTERS):
        return why_not(words)
    ends = any(clause.rank > 1 for clause in explicit) or declarations(re.split("[.!?。](?=.)", words)[-1])
    return letters.pop() if ends else why_not(words)


def last_lines(text: str) -> tuple[str, str]:
    """The last two lines of a text that have a word."""
    *_, above, last = ["", "", *(line for line in text.split("\n") if re.search(r"[^\W_]", line))]
    return above, last


# A letter of which only marks or numbers follow, as in an item of a list.
_LETTER = r"(?<![A-Za-z0-9])([%s])(?![A-Za-z0-9'’])(?=[*_`\"' ]*(?:[^\w *_`\"']|\d|第|$))"
_WORD = re.compile(r"\w+")
_NAMES_ANSWER = re.compile("[dsQ]")


def ends_list(above: str, last: str, letters: Sequence[str]) -> bool:
    """Whether the last line is a list's: `B: too long` below `A: warm` or `Answer: A`, `Fit: B` below `Tone: A`."""
    # Whatever a list of scores or places means, its last item is no verdict. "Answer: B" below "Tone: A" is one.
    first, second = _item(above, letters), _item(last, letters)
    if first is None or second is None or first[1] == second[1]:
        return False
    named_above, named = (_NAMES_ANSWER.search(classes(without_markup(item[0]))) for item in (first, second))
    return bool(named_above) or not named


def _item(line: str, letters: Sequence[str]) -> tuple[str, str] | None:
    # (what a line says before its letter, the letter) after at most four words; None without one. A letter that stands
    # alone goes before one at the end of a word, as in Chinese: there the last counts.
    letter = re.compile(_LETTER % "".join(letters))
    words = list(islice(_WORD.finditer(line), 5))
    for word in words:
        if found := letter.match(line, word.start()):
            return line[: found.start()], found[1]
    for word in reversed(words[:4]):
        end = None
        for found in letter.finditer(line, word.start() + 1):
            if found.start() >= word.end():
                break
            end = found
        if end:
            return line[: end.start()], end[1]
    return None


def why_not(text: str) -> str:
    """The reason that a text without an answer is given."""
    return "refusal" if _REFUSALS.search(text) else "invalid_response_format"


def _agreed(clauses: Iterable[Declaration]) -> str:
    # The letter that declarations come to, in their order; "" if to none, or to several.
    clauses = list(clauses)
    top = max((clause.rank for clause in clauses), default=0)
    ranks: dict[str, int] = {}  # letter -> its highest rank since the last one that settles
    for letter, rank, settles in clauses:
        if letter or settles or rank == top:
            others = {other: held for other, held in ranks.items() if other != letter and held >= rank}
            ranks = {letter: max(rank, ranks.get(letter, 0)), **({} if settles else others)}
    return next(iter(ranks)) if len(ranks) == 1 else ""


WRITTEN = "written"
"""The one label of a text for a user to read: it is whole, and does what it was asked for."""

_LONGEST_REFUSAL = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""


def read_written(reply: str, truncated: bool = False) -> str:
    """`written`, or the element of `REASONS` that says why a reply is not."""
    text = shown_text(reply)
    if text is None or truncated:
        return "truncated"
    if not text:
        return "no_response"
    return "refusal" if len(text) <= _LONGEST_REFUSAL and why_not(text) == "refusal" else WRITTEN


THINKING_ONLY = "(thinking only)"
"""In place of a reply that says nothing outside of its thinking, which nobody is shown."""


def without_thinking(reply: str) -> str:
    """The text of a reply, or that it is thinking only."""
    return shown_text(reply) or (THINKING_ONLY if reply.strip() else "")


def excerpt(reply: str, length: int = 160) -> str:
    """The beginning and the end of what a reply shows, on one line of at most `length` characters."""
    line = " ".join(without_thinking(reply).split())
    if len(line) <= length:
        return line
    start, end = length // 2 - 2, length - length // 2 - 1
    return f"{line[:start]} … {line[-end:]}"
