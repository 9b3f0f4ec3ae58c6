"""Read a reply that chooses one of several letters: the letter, or a named reason why there is none."""

# Of two letters a rejected one declares the other, and their reader knows much more English and Chinese (`answers`).
# With more, a line that says nothing but a letter, or one that names its answer (`Answer: C`), counts most: of several,
# all must agree. Without one, a sentence that begins by choosing a letter (`I would pick C.`) or calls one the best
# counts, and no later one may name another. What is open to two readings is unreadable. All letters are read alike, and
# a small one only where an answer is named or alone.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from . import answers
from .answers import LETTERS, ends_list, last_lines, why_not
from .markup import NEXT_TURN, after_thinking
from .verdicts import expression, reader, unmarked

Reader = Callable[[str, bool], str]
"""(reply, whether its token limit cut it off) -> a letter, or an element of `answers.REASONS`."""

_TEX = re.compile(r"\$+|\\text[a-z]{0,3}[ ]?\{([^{}\n]{0,40})\}")


def readers(letters: tuple[str, ...]) -> tuple[Reader, Reader]:
    """(the reader of replies, the reader of replies that reason first and end with one line) for these letters."""
    if letters == LETTERS:
        return answers.read_reply, answers.read_last_line
    of_text = _reader(letters, ("letter_named", "letter_chosen", "letter_leads", "letter_follows"))
    # "D: too expensive" may be the last line of a list
    of_line = _reader(letters, ("letter_named", "letter_chosen", "letter_follows"))

    def read(reply: str, truncated: bool = False) -> str:
        letter = of_text(reply, truncated)
        if not truncated or expression("letter_in_place", said=letter).search(after_thinking(reply) or ""):
            return letter
        return letter if letter == "no_response" else "truncated"  # "so the answer is C" may be a thought on the way

    def read_last_line(reply: str, truncated: bool = False) -> str:
        text = None if truncated else after_thinking(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        above, last = last_lines(text)
        return why_not(last) if ends_list(above, last, letters) else of_line(last, False)

    return read, read_last_line


def _reader(letters: tuple[str, ...], names: Sequence[str]) -> Reader:
    either = f"[{letters[0]}-{letters[-1]}]"
    together = re.compile(rf"\b{either}\W{{0,4}}(?:(?:or|and|vs|to)\b\W{{0,4}}|[/|,&]\W{{0,3}}){either}\b")

    def clean(text: str) -> str:
        turn = NEXT_TURN.search(text)
        return together.sub("…", unmarked(_TEX.sub(r"\1", text[: turn.start()] if turn else text)))

    def label(match: re.Match[str]) -> str:
        return next(letter for letter in match.groupdict().values() if letter).upper()

    return reader(clean, names, label, any=either)
