"""Question and pieces of text -> the pieces that are most relevant to the question, by BM25."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import add
from typing import Any

from ..common.errors import require
from ..common.text import nfkc

_IDEOGRAPH = r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f"
_RUN = re.compile(rf"[{_IDEOGRAPH}]+|[^\W_{_IDEOGRAPH}]+")


def check_installed() -> None:
    """Say which extra to install, before the first call.

    Raises:
        ModuleNotFoundError: bm25s is not installed.
    """
    require("bm25s", extra="retrieval")


def terms(text: str) -> list[str]:
    """The lower-cased words and numbers of a text, and the pairs of neighbouring Chinese characters.

    The tokenizer of bm25s makes one token of a Chinese line, which then matches nothing. A character that stands alone
    is a term itself, and full-width letters and figures are those of ASCII.
    """
    found: list[str] = []
    for run in _RUN.findall(nfkc(text).lower()):
        if len(run) == 1 or not re.match(f"[{_IDEOGRAPH}]", run):
            found.append(run)
        else:
            found += map(add, run, run[1:])
    return found


def retrieve(question: str, pieces: Sequence[str], k: int) -> tuple[str, ...]:
    """The k different pieces that are most relevant to a question, best first; all of them if there are fewer.

    Pieces that are equally relevant keep their order, also those that share no term with the question.
    """
    different, index = _index(tuple(pieces))
    known = Counter(term for term in terms(question) if index is not None and term in index.vocab_dict)
    if not known:
        return different[:k]
    # A term counts as often as the question has it, but is looked up once: bm25s would add each repetition to each piece.
    often: dict[int, list[str]] = {}
    for term, count in known.items():
        often.setdefault(count, []).append(term)
    found = sum(count * index.get_scores(same) for count, same in often.items())
    # Rounded: what differs between versions of numpy must not decide an order.
    scores = [round(float(score), 6) for score in found]
    best = sorted(range(len(different)), key=lambda place: -scores[place])
    return tuple(different[place] for place in best[:k])


@lru_cache(maxsize=1024)  # one a user: the cases of a task come with users in turn
def _index(pieces: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """The pieces, each once, and their index; None if no piece has a term, which bm25s cannot index."""
    check_installed()
    import bm25s

    different = tuple(dict.fromkeys(pieces))
    tokens = [terms(piece) for piece in different]
    if not any(tokens):
        return different, None
    index = bm25s.BM25(dtype="float64")
    index.index(tokens, show_progress=False)
    return different, index


def statements(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """A persona as single statements, in the order of the profile: `Leisure_Travel: Walks a long path.`

    Every value that is no object and no list gives a statement, a text of several sentences one for each. In front stands
    the name of the nearest key. Only white space at the ends of sentences is left out.
    """
    return tuple(f"{key}: {sentence}" for key, text in _leaves(profile, "") for sentence in _sentences(text))


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key)
    else:
        yield key, value if isinstance(value, str) else json.dumps(value)


_TITLES = r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\bProf\.)"
_END = re.compile(
    "(?<=[。！？；])(?![。！？；”’」』）》])"
    "|(?<=[。！？；][”’」』）》])"
    rf"|(?<=[!?;])(?=\s|[{_IDEOGRAPH}])"
    # After a figure or a single letter a full stop ends a number of a list or an abbreviation as often as a sentence.
    rf"|(?<=\.)(?<!\d\.)(?<!\b[A-Za-z]\.){_TITLES}(?=\s+[^\sa-z]|[{_IDEOGRAPH}])"
)


def _sentences(text: str) -> list[str]:
    """The sentences of a text. What has no letter and no figure, such as a lone quotation mark, ends the one before."""
    found: list[str] = []
    for part in (part.strip() for line in text.splitlines() for part in _END.split(line)):
        if found and part and not re.search(r"\w", part):
            found[-1] += part
        elif part:
            found.append(part)
    return found
