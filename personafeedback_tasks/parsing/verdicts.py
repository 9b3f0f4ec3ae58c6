"""The reader that ratings, numbers and words share: the verdict of a reply's last word, line by line."""

# What a reply takes back is not read. A line leaves its verdict open if it makes it depend on something (`NO, unless he
# travels`), asks, or shows the form of an answer; then the reply is unreadable.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .answers import why_not
from .plain import spoken

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
    """The regular expression of what names a verdict at the beginning of a sentence: `Answer:`, `So my verdict is`, `"score":`."""
    return (
        rf"{LEAD}(?:answer|antwort|verdict|decision|conclusion|choice|result|reply|(?:最终)?答案|结论|{labels})[\"')]{{0,2}}"
        r"(?:[ ]?\([^()]{0,60}\))?(?:[ ](?:is|are|of|would[ ]be)\b|是|[ ]?[:=]){1,2}"
    )


def unmarked(text: str) -> str:
    """A text without emphasis, bullets and fences; what was in a tag or a box is named as the answer."""
    return _MARKUP.sub("", text.replace("\\boxed{", "answer: ")).replace("⟦", "answer:")


def reader(
    clean: Callable[[str], str],
    patterns: Sequence[re.Pattern[str]],
    label: Callable[[re.Match[str]], str],
    explicit: int = 1,
) -> Callable[[str, bool], str]:
    """A function of (reply, whether its token limit cut it off): a label, or the element of `answers.REASONS` why not.

    Args:
        clean: what was spoken -> the text that is read.
        patterns: what says a verdict in a line, the strongest first. Only the first pattern that is found decides; all that it finds
            must agree, and so must all that a weaker one finds from there on. The last only contradicts.
        label: what it found -> the label; "" for none.
        explicit: how many of the patterns decide in a reply that was cut off.
    """

    def read(reply: str, truncated: bool = False) -> str:
        text = spoken(reply)
        if not text:
            return "truncated" if text is None else "no_response"
        labels: set[str] = set()
        lines = list(
            dict.fromkeys(map(str.strip, _CONTINUED.sub(r"\1 ", _TAKEN_BACK.split(clean(text))[-1]).splitlines()))
        )
        for rank, pattern in enumerate(patterns[:explicit] if truncated else patterns[:-1]):
            first = next((at for at, line in enumerate(lines) if not labels and pattern.search(line)), len(lines))
            for line in lines[first:]:
                said = {label(match) for weaker in patterns[rank:] for match in weaker.finditer(line)}
                labels |= {""} if said and _OPEN.search(line) else said
        settled = labels.pop() if len(labels) == 1 else ""
        return settled or ("truncated" if truncated else why_not(text))

    return read
