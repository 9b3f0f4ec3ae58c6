"""Read a reply that answers with one of two words, or on a scale; and the reader that these and numbers share."""

# What a reply takes back is not read. A line leaves its verdict open if it makes it depend on something (`NO, unless he
# travels`), asks, or shows the form of an answer; then the reply is unreadable.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from .answers import why_not
from .markup import after_thinking, without_markup

_NAME = re.compile(r"@(\w+)(?:\((\w+)\))?")
_MARKUP = re.compile(r"[*_`]+|^[ ]*[-•+][ ]+|^[ ]*```\w*$", re.M)


@cache
def _table() -> dict[str, str]:
    # Name -> expression; in the verbose form, lines may begin anywhere.
    table: dict[str, str] = {}
    name = ""
    for line in Path(__file__).with_name("verdicts.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            table[name] += f"{line}\n"
        elif line and not line.startswith("#"):
            name, table[line] = line, ""
    return table


@cache
def expression(name: str, **given: str) -> re.Pattern[str]:
    """A regular expression from `verdicts.txt`, compiled at first use; `given` defines the names that are not in it."""
    parts = {**_table(), **given}
    text = parts[name]
    while "@" in text:
        text = _NAME.sub(lambda found: parts[found[1]].replace("@argument", f"@{found[2]}"), text)
    return re.compile(text, re.I | re.X)


def unmarked(text: str) -> str:
    """A text without emphasis, bullets and fences; what was in a tag or a box is named as the answer."""
    return _MARKUP.sub("", text.replace("\\boxed{", "answer: ")).replace("⟦", "answer:")


def reader(
    clean: Callable[[str], str],
    names: Sequence[str],
    label: Callable[[re.Match[str]], str],
    explicit: int = 1,
    **given: str,
) -> Callable[[str, bool], str]:
    """A function of (reply, whether its token limit cut it off): a label, or the element of `answers.REASONS` why not.

    Args:
        clean: what a reply says after its thinking -> the text that is read.
        names: of the expressions of what says a verdict in a line, the strongest first. Only the first that is found
            decides: all that it finds must agree, and so must all that a weaker one finds from there on. The last only
            contradicts.
        label: what it found -> the label; "" for none.
        explicit: how many of them decide in a reply that was cut off.
        given: see `expression`.
    """

    def read(reply: str, truncated: bool = False) -> str:
        text = after_thinking(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        patterns, labels = [expression(name, **given) for name in names], set[str]()
        kept = expression("continued").sub(r"\1 ", expression("taken_back").split(clean(text))[-1])
        lines = list(dict.fromkeys(map(str.strip, kept.splitlines())))
        for rank, pattern in enumerate(patterns[:explicit] if truncated else patterns[:-1]):
            first = next((at for at, line in enumerate(lines) if pattern.search(line)), None)
            if first is None:
                continue
            for line in lines[first:]:
                said = {label(match) for weaker in patterns[rank:] for match in weaker.finditer(line)}
                labels |= {""} if said and expression("open").search(line) else said
            break
        settled = labels.pop() if len(labels) == 1 else ""
        return settled or ("truncated" if truncated else why_not(text))

    return read


# --- two words --------------------------------------------------------------------------------------------------------

# A line that says nothing else, or one that names its answer, counts most: of several, all must agree. Without one,
# each sentence that begins with one of the words counts if that ends its clause, and no later clause may say the other.
# What is open to two readings is unreadable.

YES, NO = "YES", "NO"
ACCEPT, PROBLEMATIC = "ACCEPT", "PROBLEMATIC"


def word_reader(first: str, second: str, firsts: str, seconds: str) -> Callable[[str, bool], str]:
    """The reader of replies that say one of two words.

    Args:
        firsts, seconds: the words that say the first and the second, as regular expressions: `yes|ja`.
    """
    return reader(
        lambda text: expression("both", yes=firsts, no=seconds).sub("…", without_markup(text)),
        ("word_named", "word_leads", "word_follows"),
        lambda match: first if match["first"] else second,
        yes=firsts,
        no=seconds,
    )


read_yes_no = word_reader(YES, NO, "yes|ja|是的?", "no|nein|否|不是")
read_accept = word_reader(ACCEPT, PROBLEMATIC, "accept(?:ed|able)?|接受", "problematic")


# --- a scale of whole numbers -----------------------------------------------------------------------------------------

# A line that names its rating (`Rating: 4`, `I'd give it a 4`) counts most, then a line that begins with a number of
# the scale and says what it means (`4 - somewhat better`), or nothing else. Of several, all must agree. What is open to
# two readings is unreadable: `4 or 5`, `1 (much better)`, and `4. B is better`, which may be the fourth point of a
# list.

read_rating = reader(unmarked, ("rating_named", "rating_leads", "rating_follows"), lambda match: match["number"])
