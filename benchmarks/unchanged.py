"""Store what users get, then compare it after a change that should move nothing.

    python benchmarks/unchanged.py store BEFORE [--only PART ...] [--again]
    python benchmarks/unchanged.py store AFTER [...]
    python benchmarks/unchanged.py compare BEFORE AFTER [--only PART ...] [--named REGEX ...]

`store` runs the package that this Python imports, so that two environments with two versions can be compared: scripted models through
both harnesses, and the `personafeedback` commands on their logs (see unchanged_parts.py and what it imports). Stored of a run: its table and each case's
values, the digests of its prompts, all else in its log that depends on no clock; of a command: text, Markdown, CSV, JSON, and a page's
data. Time stamps, random identifiers, versions of packages and paths are left out. Parts that are stored are left as they are, unless
--again. Needs PERSONAFEEDBACK_DATA, and the extras of the tests.

A part that fails is not stored: its traceback is printed and the exit status is 2. `compare` prints every difference; those of a kind,
which differ in numbers or digests only, once with their count. It exits with 1 if there is one; with --numbers, it prints the numbers
that a file no longer has, for a change of layout or sentences. `--named` leaves out what matches, on both sides: changes that have a name.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

VOLATILE = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d[:-]\d\d(\.\d+)?([+-]\d\d[:-]?\d\d|Z)?", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"(personafeedback[-_]tasks|lm[-_]eval|inspect[-_]ai)([ =:\"]+)\d+\.\d+[\w.+]*", r"\1\2VERSION"),
    (r"TIME_([^/\n]+?)_[A-Za-z0-9]{22}\.eval", r"TIME_\1.eval"),
    (r'"\s*(def|@\w+) (?:[^"\\]|\\.)*"', '"CODE"'),  # lm-eval logs the source of functions
    (r"[^\s\"]*/(task_configs|inspect_tasks)/", r"PACKAGE/\1/"),
    (r"(?m)^\w+ \[[#-]+\] \d+ of \d+, .*\n", ""),  # a line a minute, of what takes longer
)
SHOWN = 300
"""Characters of a line that differs."""

LINES = 12
"""Of a place where more or fewer lines are."""


def plain(text: str, work: Path) -> str:
    """A text without what differs from one run to the next."""
    for path, name in ((str(work), "WORK"), (os.environ.get("PERSONAFEEDBACK_DATA") or "/no/data", "DATA")):
        text = text.replace(path, name)
    return masked(text)


def masked(text: str) -> str:
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def store(root: Path, part: str) -> None:
    """Run a part in an empty folder; its files are in place only once it has ended well."""
    from unchanged_parts import PARTS

    made = root / f"{part}.unfinished"
    shutil.rmtree(made, ignore_errors=True)
    start, count = time.process_time(), 0
    with tempfile.TemporaryDirectory() as name:
        work = Path(name).resolve()
        os.chdir(work)
        try:
            for file, text in PARTS[part]():
                path = made / file
                if path.exists():
                    raise RuntimeError(f"{part} stores {file} twice")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(plain(text, work), encoding="utf-8")
                count += 1
        finally:
            os.chdir(root)
    shutil.rmtree(root / part, ignore_errors=True)
    made.rename(root / part)
    print(f"{part}: {count} files, {time.process_time() - start:.0f} s of CPU", flush=True)


def numbers(before: Path, after: Path, part: str, named: list[str]) -> int:
    """How many files of a part lost a number that they had, wherever in the file it was."""
    lacking = 0
    for path in sorted(path for path in (before / part).rglob("*") if path.is_file()):
        file = path.relative_to(before)
        was, now = (
            Counter(re.findall(r"\d+(?:\.\d+)?", "\n".join(_lines(root / file, named)))) for root in (before, after)
        )
        if lost := was - now:
            lacking += 1
            print(f"{file}\n  - {' '.join(lost.elements())[:SHOWN]}\n  + {' '.join((now - was).elements())[:SHOWN]}")
    print(f"{part}: {lacking} files lack a number", flush=True)
    return lacking


def compare(before: Path, after: Path, part: str, named: list[str]) -> int:
    """How many files of a part differ; prints each kind of difference once, the most frequent first, with how often and where it is."""
    if not (before / part).is_dir() or not (after / part).is_dir():
        print(f"{part}: not in both stores")
        return 1
    files = {
        str(path.relative_to(root)) for root in (before, after) for path in (root / part).rglob("*") if path.is_file()
    }
    kinds: dict[str, list[tuple[str, Difference]]] = {}
    for file in sorted(files):
        for one in differences(_lines(before / file, named), _lines(after / file, named)):
            kinds.setdefault(one.kind, []).append((file, one))
    for found in sorted(kinds.values(), key=len, reverse=True):
        file, one = found[0]
        places = len({file for file, _ in found})
        often = f", {len(found)} times in {places} files" if len(found) > 1 else ""
        print(f"{file}, line {one.line}{often}:\n{one.shown()}")
    differ = len({file for found in kinds.values() for file, _ in found})
    print(f"{part}: {differ} of {len(files)} files differ, in {len(kinds)} ways", flush=True)
    return differ


@dataclass(frozen=True)
class Difference:
    """A place where a file differs.

    Attributes:
        line: where it begins, before.
    """

    line: int
    was: Sequence[str]
    now: Sequence[str]

    @property
    def kind(self) -> str:
        """The same where only numbers and digests differ."""
        sides = ("\n".join(lines) for lines in (self.was, self.now))
        return "\n->\n".join(re.sub(r"\b[0-9a-f]{8,}\b|\d+(\.\d+)?", "N", side) for side in sides)

    def shown(self) -> str:
        """Its lines; of long ones, from shortly before where the two sides begin to differ."""
        pairs = zip("\n".join(self.was), "\n".join(self.now), strict=False)
        equal = next((place for place, (left, right) in enumerate(pairs) if left != right), 0)
        first = equal - SHOWN // 3 if equal > SHOWN // 2 else 0
        before = "..." if first else ""
        return "\n".join(
            f"  {sign} {before}{line[first:][:SHOWN]}"
            for sign, lines in (("-", self.was), ("+", self.now))
            for line in [*lines[:LINES], *([f"and {len(lines) - LINES} more lines"] if len(lines) > LINES else [])]
        )


def differences(old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    """All of two files, line by line where as many lines took the place of others."""
    if old == new:
        return
    for _, begin, end, begins, ends in (
        one for one in SequenceMatcher(None, old, new).get_opcodes() if one[0] != "equal"
    ):
        was, now = old[begin:end], new[begins:ends]
        if len(was) != len(now):
            yield Difference(begin + 1, was, now)
            continue
        for place, (left, right) in enumerate(zip(was, now, strict=True), begin + 1):
            yield Difference(place, [left], [right])


def _lines(path: Path, named: list[str]) -> list[str]:
    """What is compared of a file. Inspect logs cases as they end, and what lists them in the order of the log has no order."""
    if not path.is_file():
        return ["no such file"]
    text = masked(path.read_text(encoding="utf-8"))
    if path.suffix == ".html":
        text = re.sub(r'"about": \d+', '"about": PLACE', text)
    for pattern in named:
        text = re.sub(pattern, "NAMED", text)
    if path.suffix not in (".html", ".jsonl"):
        return text.split("\n")
    return sorted(line.rstrip(",") for line in text.split("\n"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    doing = parser.add_subparsers(dest="what", required=True)
    storing, comparing = doing.add_parser("store"), doing.add_parser("compare")
    storing.add_argument("folder", type=Path)
    storing.add_argument("--again", action="store_true", help="also the parts that are stored")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--numbers", action="store_true", help="only whether each number is still in its file")
    comparing.add_argument("--named", nargs="+", default=[], metavar="REGEX")
    for one in (storing, comparing):
        one.add_argument("--only", nargs="+", metavar="PART")
    asked = parser.parse_args()
    if asked.what == "compare":
        parts = asked.only or sorted(path.name for path in asked.before.iterdir() if path.is_dir())
        how = numbers if asked.numbers else compare
        return int(sum(how(asked.before, asked.after, part, asked.named) for part in parts) > 0)
    from unchanged_parts import PARTS

    root, failed = asked.folder.resolve(), []
    root.mkdir(parents=True, exist_ok=True)
    for part in asked.only or PARTS:
        if (root / part).is_dir() and not asked.again:
            print(f"{part}: is stored", flush=True)
            continue
        try:
            store(root, part)
        except Exception:
            failed.append(part)
            print(f"{part} FAILED\n{traceback.format_exc()}", flush=True)
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
