"""Read a reply that answers with one of two words, or on a scale; and the reader that these and numbers share."""

# What a reply takes back is not read. A line leaves its verdict open if it makes it depend on something (`NO, unless he
# travels`), asks, or shows the form of an answer; then the reply is unreadable.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from .answers import why_not
from .markup import after_thinking, without_markup

LEAD = (
    r"(?:^[\s\[({\"'→]{0,4}|(?<!\.)[.!?][ ](?=[^.!?)])|。|,[ ]?(?=[\"'])|,[ ](?=so\b))(?:(?:so|thus|therefore|hence|overall|finally|in[ ]short|the|this"
    r"|my|final|most|correct|selected|relevant|one-word|I(?:'d|[ ]would)?(?:[ ](?:say|choose|pick|use|go[ ]with"
    r"|(?:give|rate)[ ](?:it|this|B)(?:[ ]an?)?))?)[,:]?[ ]){0,6}"
)
"""Words before a verdict that do not change it."""
_MARKUP = re.compile(r"[*_`]+|^[ ]*[-•+][ ]+|^[ ]*```\w*$", re.M)
_TAKEN_BACK = re.compile(
    r"(?:^|[\n.!?;:()–—-])[ ]?(?:(?:oh|hmm?|no|but|sorry)\W{1,3}){0,2}(?:(?:actually|wait|in[ ]the[ ]end|scratch[ ]that"
    r"|on[ ](?:second[ ]thoughts?|(?:further[ ])?reflection)|i[ ]take[ ](?:that|it)[ ]back)\b|(?:edit|correction|revised[ ]\w+)\b(?=:)|其实|等等)[,:]?", re.I,
)  # fmt: skip
_CONTINUED = re.compile(
    r"(:|\b(?:these|below)\b[^\d\n]{0,40})\n(?!\s*(?:final[ ])?answer[ ]?:)|\n(?=unless\b|except\b|除非)", re.I
)
_OPEN = re.compile(
    r"\b(?:unless|except|provided|assuming|as[ ]long[ ]as|give[ ]or[ ]take|at[ ](?:the[ ]very[ ])?most|at[ ]least[ ](?:\d|while)|es[ ]sei[ ]denn|außer|reply[ ]with|(?:format|examples?|as[ ]in)[ ]?:)"
    r"|(?:^|[,;(–—-][ ]?(?:\w+[ ])?|\b(?:only|but)[ ])(?:if|when|wenn|falls|although|though|while|depending|supposing|or|other[ ]than|save|barring|until|were|in[ ]the[ ]event|in[ ]case)\b|除非|如果|\?\W{0,9}$",
    re.I,
)


def named(labels: str) -> str:
    """The regular expression of what names a verdict at the beginning of a sentence: `Answer:`, `So my verdict is`."""
    return (
        rf"{LEAD}(?:answer|antwort|verdict|decision|conclusion|choice|result|reply|(?:最终)?答案|结论|{labels})[\"')]{{0,2}}"
        r"(?:[ ]?\([^()]{0,60}\))?(?:[ ](?:is|are|of|would[ ]be)\b|是|[ ]?[:=]){1,2}"
    )


def unmarked(text: str) -> str:
    """A text without emphasis, bullets and fences; what was in a tag or a box is named as the answer."""
    return _MARKUP.sub("", text.replace("\\boxed{", "answer: ")).replace("⟦", "answer:")


def reader(
    clean: Callable[[str], str],
    patterns: Sequence[str],
    label: Callable[[re.Match[str]], str],
    explicit: int = 1,
) -> Callable[[str, bool], str]:
    """A function of (reply, whether its token limit cut it off): a label, or the element of `answers.REASONS` why not.

    Args:
        clean: what a reply says after its thinking -> the text that is read.
        patterns: what says a verdict in a line, the strongest first. Only the first that is found decides: all that it
            finds must agree, and so must all that a weaker one finds from there on. The last only contradicts. They
            are compiled at the first reply, which takes long, and match capitals and small letters alike.
        label: what it found -> the label; "" for none.
        explicit: how many of the patterns decide in a reply that was cut off.
    """

    @cache
    def compiled() -> list[re.Pattern[str]]:
        return [re.compile(pattern, re.I) for pattern in patterns]

    def read(reply: str, truncated: bool = False) -> str:
        text = after_thinking(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        ranked, labels = compiled(), set[str]()
        kept = _CONTINUED.sub(r"\1 ", _TAKEN_BACK.split(clean(text))[-1])
        lines = list(dict.fromkeys(map(str.strip, kept.splitlines())))
        for rank, pattern in enumerate(ranked[:explicit] if truncated else ranked[:-1]):
            first = next((at for at, line in enumerate(lines) if pattern.search(line)), None)
            if first is None:
                continue
            for line in lines[first:]:
                said = {label(match) for weaker in ranked[rank:] for match in weaker.finditer(line)}
                labels |= {""} if said and _OPEN.search(line) else said
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
    either = f"(?:{firsts}|{seconds})"
    word = rf"(?:(?P<first>{firsts})|{seconds})"
    ends = r"(?![ ]*,[ ]but\b)(?=[^\w\n?]{0,3}(?:[.,;:!(。\u2013\u2014]|-[ -]|$))"  # of the clause: not "no longer", "yes if"
    both = re.compile(rf"\b{either}\W{{0,4}}(?:(?:or|and|vs)\W{{0,4}}|[/|]\W{{0,3}}){either}\b", re.I)  # in one breath
    names = named("judge?ment|relevance|relevant|response|output|label|classification|note")
    patterns = [
        rf"(?:^[^\w?]*(?={either}[^\w?]*$)|{names}[^\w?]{{0,4}}(?={either}{ends})){word}",
        rf"{LEAD}[^\w.!?;:,]{{0,4}}{word}{ends}",
        rf"(?:[:;,(]|\botherwise)[ ]{word}{ends}",
    ]
    return reader(
        lambda text: both.sub("…", without_markup(text)), patterns, lambda match: first if match["first"] else second
    )


read_yes_no = word_reader(YES, NO, "yes|ja|是的?", "no|nein|否|不是")
read_accept = word_reader(ACCEPT, PROBLEMATIC, "accept(?:ed|able)?|接受", "problematic")


# --- a scale of whole numbers -----------------------------------------------------------------------------------------

# A line that names its rating (`Rating: 4`, `I'd give it a 4`) counts most, then a line that begins with a number of
# the scale and says what it means (`4 - somewhat better`), or nothing else. Of several, all must agree. What is open to
# two readings is unreadable: `4 or 5`, `1 (much better)`, and `4. B is better`, which may be the fourth point of a
# list.


def _rating_patterns() -> list[str]:
    # What says a number from 1 (much worse) to 5.
    meaning = r"\W{1,4}(?:(?:response[ ])?B[ ]is[ ])?(?:(?:much|somewhat|slightly|far)[ ])?"
    number = (
        rf"[\s\[({{\"'#]{{0,4}}(?P<number>(?![1-3]{meaning}better|[3-5]{meaning}worse)[1-5])"
        rf"(?:\.0)?(?:[ ]?(?:/|out[ ]of)[ ]?5|[ ]?分)?"
        r"(?![\w/%]|[.,]\d|(?:[ ]?\([^()]{0,40}\)|\W{1,3}\w{1,9}[ ]worse)?\W{0,6}(?:(?:or|to|and|vs|maybe|but|no|of)\W{1,3}){0,2}\d|[ ]*,[ ]but\b)[\s\])}\"']{0,4}"
    )
    names = named("(?:give[ ]a[ ])?rating|score|grade|overall|number|评分|得分|bewertung")
    return [
        rf"{names}{number}(?:[.,;:!(–—]|-[ ]|$)",
        rf"{LEAD}{number}[.!]*(?:$|[:,–—-][ ](?!yes\b|no[.,;]).*$|\(.*$)",
        rf"[:.,][ ]{number}[.!]*$",
    ]


read_rating = reader(unmarked, _rating_patterns(), lambda match: match["number"])
