"""Files with records that others wrote: JSON and JSON Lines, decoded by msgspec; what is broken raises DataError.

Nothing is skipped or repaired. An error names the record, what was found, what was expected and what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from .errors import DataError, did_you_mean

Kind = TypeVar("Kind")

NonEmpty = Annotated[str, msgspec.Meta(pattern=r"\S")]


def one_of(*words: str) -> msgspec.Meta:
    """The type of a text that is one of these, for Annotated."""
    return msgspec.Meta(pattern=f"^({'|'.join(words)})$")


FIX = "Fix this record, or replace the file with an intact copy."
LARGEST = 2**30  # bytes of a file that is read as a whole
DEEPEST = 150  # nested objects and lists; logs have about 10
LONGEST_NUMBER = 400  # digits in a row; the largest double has 309

_LONG_NUMBER = re.compile(rb"\d{%d}" % (LONGEST_NUMBER + 1))
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_DIGITS_AS_0 = bytes.maketrans(b"123456789", b"000000000")


def read(path: Path) -> bytes:
    """A file as a whole, without the mark that some programs put before UTF-8."""
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise DataError(
                f"{path}: found a file of {size:,} bytes, more than {LARGEST:,}. Check that it is the right file, or "
                "split it."
            )
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise DataError(
            f"{path}: could not be read ({error.strerror or error}). Check the path and its permissions."
        ) from error


def load_json(path: Path, expected: str, fix: str = FIX, raw: bytes | None = None) -> Any:
    """The parsed JSON of a file, or of `raw`, its content; DataError says what was expected and what to do."""
    try:
        return loads(read(path) if raw is None else raw)
    except ValueError as error:
        raise DataError(f"{path}: found {error}, expected {expected}. {fix}") from error


def rows(path: Path, any_text: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, row). With `any_text` lone surrogates are no fault: a model wrote the texts."""
    # Lines end at LF alone: U+2028 inside a text is no line break.
    raw = read(path)
    if not raw.strip():
        raise DataError(f"{path}: the file is empty, expected one JSON object per line. Get a complete copy.")
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            row = lenient(line) if any_text else loads(line)
        except ValueError as error:
            raise broken(f"{path}, line {number}", error, "one JSON object") from error
        if not isinstance(row, dict):
            raise broken(f"{path}, line {number}", short(row), "one JSON object")
        yield number, row


def check_json(raw: bytes | str) -> None:
    """Raise ValueError for what no parser survives: some recurse for each bracket, some copy a number to the stack."""
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    every_40th = raw[::40].translate(_DIGITS_AS_0)  # of a number that is too long, ten digits in a row
    brackets = len(raw) - len(raw.replace(b"[", b"").replace(b"{", b""))  # a third of the time of bytes.count
    if brackets <= DEEPEST and b"0" * (LONGEST_NUMBER // 40) not in every_40th:
        return  # nearly every record, in a twentieth of the time
    no_escapes = raw.replace(b"\\\\", b"").replace(b'\\"', b"")  # no quotes are left but those around strings
    bare = b"".join(no_escapes.split(b'"')[::2])  # brackets and digits inside of strings do not count
    if _LONG_NUMBER.search(bare):
        raise ValueError(f"a number of more than {LONGEST_NUMBER} digits")
    in_order = bare.translate(None, _NO_BRACKETS)
    if max(accumulate(1 if bracket in b"[{" else -1 for bracket in in_order), default=0) > DEEPEST:
        raise ValueError("nesting that is too deep")


def loads(text: str | bytes) -> Any:
    """Parsed JSON: ValueError also for an exceeded limit, NaN, half a surrogate pair and a number that is too large."""
    check_json(text)
    try:
        return msgspec.json.decode(text)
    except msgspec.ValidationError as error:  # of a number
        raise ValueError(_PLACE.sub("", str(error))) from error


def lenient(text: str | bytes, kind: Any = Any) -> Any:
    """JSON as Python writes it, with NaN and half a surrogate pair: ValueError if it is broken or exceeds a limit.

    Args:
        kind: the type of the document. Of a `msgspec.Struct` only its own fields are decoded.
    """
    check_json(text)
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeError):  # which has neither NaN nor half a pair
        try:
            return msgspec.convert(json.loads(text), kind)
        except json.JSONDecodeError as error:
            line = error.doc.rstrip().count("\n", 0, error.pos) + 1  # a row has one, whose number in its file it is not
            place = f"line {line}, " if line > 1 else ""
            raise ValueError(f"{error.msg} ({place}column {error.colno})") from error


def decoded(
    where: object, document: Any, kind: type[Kind], fix: str = FIX, lax: Callable[[type, Any], Any] | None = None
) -> Kind:
    """A parsed document as a record of a type, strictly: no key more, none less, no value of another type.

    Args:
        lax: for a document whose values are all text: numbers are read from it, and this reads what is no number.
    """
    try:
        return msgspec.convert(document, kind, strict=lax is None, dec_hook=lax)
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: {_explained(str(error), document, kind)} {fix}") from error


# how msgspec ends its messages: the place, such as `counts[...]` for any key of a mapping
_PLACE = re.compile(r" - at (?:`key` in )?`\$\.?(.*?)`\Z")


def _explained(message: str, document: Any, kind: Any) -> str:
    found = _PLACE.search(message)
    place, said = (found[1], message[: found.start()]) if found else ("", message)
    if missing := re.fullmatch("Object missing required field `(.*)`", said):
        return f"found no {place}{'.' if place else ''}{missing[1]}, expected one."
    if unknown := re.fullmatch("Object contains unknown field `(.*)`", said):
        if place:
            return f"found the key {short(unknown[1])} in {place}, expected none of this name."
        known = kind.__struct_fields__
        return f"found the key {short(unknown[1])}, expected only {', '.join(known)}.{did_you_mean(unknown[1], known)}"
    if not place and not said.startswith("Expected "):  # what the record's own check says
        return f"found {said}."
    expected = said.removeprefix("Expected ").partition(", got ")[0].replace("`", "")
    if words := re.fullmatch(r"str matching regex '\^\((.*)\)\$'", expected):  # see `one_of`
        listed = sorted(words[1].split("|"), key=lambda word: not word)
        expected = f"one of {', '.join(word or 'nothing' for word in listed)}"
    elif expected.startswith("str matching regex"):  # NonEmpty
        expected = "a non-empty string"
    if "[...]" in place:
        return f"found another value as {place}, expected {expected}."
    for name, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):  # `duel.models[0]`
        document = document[int(number)] if number else document[name]
    return f"found {f'{place} = ' if place else ''}{short(document)}, expected {expected}."


def leaves(value: object) -> Iterator[Any]:
    """Every value in parsed JSON that is no object and no list, in order."""
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def broken(where: str, found: object, expected: str) -> DataError:
    return DataError(f"{where}: found {found}, expected {expected}. {FIX}")


def short(value: object) -> str:
    return cut(ascii(value))


def short_list(values: Iterable[object]) -> str:
    return cut(", ".join(map(short, values)), 200)


def cut(text: str, length: int = 60) -> str:
    """A broken file can contain a megabyte where a word should be; a message shows its beginning."""
    return text if len(text) <= length else f"{text[: length - 3]}..."
