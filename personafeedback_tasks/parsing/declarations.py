"""What a plain text declares: the letters that its clauses name as the answer, choose, call better, or reject.

Patterns speak of classes of words (`vocabulary`), one character each: `Response B is better` is `big`. They run in
linear time: each repeats one set of characters, and is bounded or ends at a character outside that set.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .vocabulary import classes

_L = "[ABab]"  # a label; a small one has its noun ("Response B")


@cache  # compiled at the first reply
def _phrases() -> list[tuple[str, re.Pattern[str], str]]:
    # Where words mean more than one by one, in the order in which they are looked for: (class without which the pattern
    # cannot match, pattern, what it becomes).
    found = []
    for row in Path(__file__).with_name("phrases.txt").read_text(encoding="utf-8").splitlines():
        if row and not row.startswith("#"):
            needs, pattern, new = ("" if cell == "-" else cell for cell in row.split())
            found.append((needs, re.compile(pattern.replace("L", _L)), new))
    return found


# What may follow a declaration: nothing that an unknown word could limit, unless it is about the user.
_TAIL = r"(?:[np4j0sJeDdNM&]*|[np4j0sJeDdNM&xfgEiG]*U[^ABab!qk]*)$"
# (rank, pattern): 2 names the answer, 1 says it, 0 says it only if nothing else does.
_DECLARES = [(rank, re.compile(pattern + _TAIL)) for rank, pattern in [
    (2, rf"Q[ndNi]{{0,3}}{_L}"),
    (2, rf"(?:^|[^xPkUDSfE])[ngGsmzD]{{0,5}}[dcsNg]{{1,3}}(?:[npUd4j]{{0,6}}|[npxUd4]{{0,8}}U[npxU4]{{0,4}})[:i][:isndz4]{{0,4}}{_L}"),
    (2, rf"{_L}n{{0,2}}i[ins1U]{{0,4}}[dc]N?"), (1, rf"{_L}n?i[n1f]{{0,3}}J(?:4|[nUi]{{0,4}}[cfg])?"),
    (1, rf"(?<!x[pD]){_L}[nispj4D]{{0,6}}(?:[nx]&)?gc?"), (1, rf"^[^xS]*c[np4jJU]{{0,3}}{_L}(?!D)"), (1, rf"(?:{_L}%m?|p{_L})c"), (1, rf"gn{{0,2}}[dN4]?{_L}"),
    (1, rf"g[gdNEfnJ]{{0,4}}(?:[npU4DMj]{{0,8}}|[npxUDfE4j]{{0,12}}U[npxUDfEMN4j]{{0,12}})[i:]{{1,2}}n{{0,4}}{_L}"),
    (0, rf"{_L}[ni]{{0,3}}G"),
]]  # fmt: skip
_NAMES_OR_PRAISES = re.compile("[QdcsNgGJ]")  # one of these is in all that declares
_REJECTS = [re.compile(pattern + _TAIL) for pattern in [
    rf"w[dNMDJ]?n{{0,3}}[:i]{{0,2}}n{{0,3}}{_L}", rf"{_L}[nisp]{{0,4}}w",
]]  # fmt: skip
_BARE = re.compile(rf"[nsi0vzJ|j]*(?:[p4][nJ]{{0,3}}[Un]|zj)?[nJ]{{0,3}}{_L}(?:Ji)?[n0p4U]*")
_OUTDOES = re.compile(rf"({_L})[nisp4]{{0,4}}([ou])[np4]{{0,3}}({_L})")
_TWICE_OR_DENIED = re.compile("[ou].*[ou]|!")
_ASIDE = re.compile(rf"t[njp4rDi]{{0,3}}{_L}|(?<={_L})j{_L}|tn?k?[NdJ]?|![ncdi]{{0,3}}{_L}(?=$|[np4U0])")  # than B; not B
_DENIES = re.compile(rf"&?n?![ncdij]{{0,3}}({_L})[np4Uq]*")  # not A: of two, it is the other
_REASONED = re.compile(rf"^([^r]*{_L}[^r]*?),?r.*")  # what is said for the choice
_ONLY = re.compile(r"[,._(:&\n]*([ABαβ])[,._(:&\n]*")
_SENTENCE = re.compile(r"[^.?\n]*[.?\n]?")
_WORDS = re.compile(r"[^.?\n]+")
_MATTERS = re.compile(r"[7qzQK]|^\|$|^[αβ]|[:(][αβ]|d[:in]{0,3}=|[AB12]|[NdM][:(]?[αβ]")
_SPEAKS = re.compile(rf"{_L}n?i[n1f]{{0,3}}J|[gGcdwouqQKzN%=]|!n?$|{_L}(?:Ji)?[n0p4U]*(?:[,_(:svrz&|]|$)")
_B_FIRST, _NO_ORDINALS = re.compile("[^ABab12]*[Bb][^12Aa]*[Aa][^12]*[12]"), str.maketrans("12", "xx")
_RUNS, _REPEATED = re.compile(r"\.+(?=\n)|([,._(:&|])\1+"), [".\n", *(2 * mark for mark in ",._(:&|")]
_LABELS = re.compile(_L).findall
# The letter that was not declared, at the end of a clause or preferred in part: "..., but B is more personal".
_OTHER_AT_END = {
    letter: re.compile(rf"(?<![p4j]){other}[n0]?$|{other}p0n?$|^\|n?{other}|^v[^ABab]*{other}.*m")
    for letter, other in (("A", "[Bb]"), ("B", "[Aa]"))
}
_EMBEDS = re.compile("[xfES]")  # before a declaration: it may be what is hoped, said or denied
# "A is warm, better suited to her"; "A names the dog, making it the better choice".
_SUBJECT, _VERDICT_ALONE = re.compile(rf"({_L})[^ABab!kHwqo]*,"), re.compile("n*J?n*(g[^ABab]*)$")
# "They say, ...", "For another user, ...", "In A's opinion, ..."
_LIMITS = re.compile(rf"[^ABabS]*S[^ABab]*$|[p4][^ABabk]*k[^ABab]*$|p{_L}D")
# "A, but B is equally good".
_AS_GOOD = re.compile(rf"{_L}[in]{{0,3}}q")
_UNDOUBTED = re.compile("[!tkr]")
_CLAUSES = re.compile(rf"([,_(]|(?=[vyYszr])|(?=&{_L}))")
_HEADING = re.compile(rf"({_L})(:.*[^:]|_[^ABab]*|$)")
_NO = re.compile("n?!n?")  # "No, B"
_BUT_NOT = re.compile("v[nJU]{0,3}(?:!n?|4n*k.*)")  # "..., but it does not", "..., but only for beginners"
# Of the text before a colon: the words that settle; one aspect; what asks although a word of it is unknown.
_SETTLING, _OF_ASPECT, _ASKS_ANYWAY = re.compile("[svz]"), re.compile("x[dcN]|[Pk]"), re.compile("[dcgi].*U|^[^x]*[gi]")
_LABEL_HEAD, _ASKED = re.compile(f"[n0]*{_L}"), re.compile("[dcg]")
_ASKS, _ANSWERS = re.compile("[dcNgsz]"), re.compile(f"[nid]{{0,3}}(?:{_L}|q|=)")
_ABOUT_USER = re.compile("[sU]")
_ADVERBIAL, _VERDICT = re.compile("x$|[p4].*x"), re.compile("[ABabgcUsd]")
_PASSED_OVER = re.compile("[hHk]")
_TIE, _NEITHER, _NAMED_TIE = re.compile("[^x]*q[^x]*x?$"), re.compile("[dcQ][:in]*=|Qw"), re.compile("[nsz]*[dcQ]")


class Declaration(NamedTuple):
    """What one clause declares: a letter, or "" for none."""

    letter: str
    rank: int  # how explicit it is, 0 to 2
    settles: bool  # it concludes or corrects, so that other letters before it do not count


def declarations(text: str) -> list[Declaration]:
    """Everything that a plain text declares, in its order."""
    line = classes(text)
    if only := _ONLY.fullmatch(line):
        return [Declaration("AB"[only[1] in "Bβ"], 2, False)]
    reading = _Reading()
    for sentence in _SENTENCE.findall(_phrased(line)):
        reading.sentence(sentence)
    return reading.result()


def _phrased(line: str) -> str:
    # The sentences that matter, with phrases in place of their words.
    line = _WORDS.sub(lambda words: words[0] if _MATTERS.search(words[0]) else "", line)
    if any(marks in line for marks in _REPEATED):
        line = _RUNS.sub(r"\1", line)
    if line.endswith("."):
        line = line[:-1] + "\n"  # a full stop at the end ends a line, where the end alone may have cut one off
    if _B_FIRST.match(line):
        line = line.translate(_NO_ORDINALS)  # "B is warm, A is dry; the former ..." is about B
    for needs, pattern, new in _phrases():
        if needs in line:
            line = pattern.sub(new, line)
    return line


class _Reading:
    def __init__(self) -> None:
        self.declared: list[Declaration] = []
        self.corrected = False  # a correction was announced and its new answer is still to come
        self.starts_line = True
        # Letters that head a line: alone, with their declaration's place, or before a colon and what is said of them.
        self.alone: dict[str, list[int]] = {letter: [] for letter in "AB"}
        self.described: dict[str, list[int]] = {}

    def sentence(self, sentence: str) -> None:
        # Read one sentence with its end: a full stop, a question mark, a new line, or nothing if the text was cut off.
        body = sentence.rstrip(".?\n")
        end = sentence[len(body) :]
        starts_line, self.starts_line = self.starts_line, end == "\n"
        if "r" in body:
            body = _REASONED.sub(r"\1", body)
        if end == "?" or "h" in body or not _SPEAKS.search(body):
            return
        heading = _HEADING.match(body)
        if heading and body == heading[1]:
            if starts_line or end or body in "AB":
                if not self.corrected:
                    self.alone[body.upper()].append(len(self.declared))
                self.declare(body.upper(), 2 if starts_line and end != "." else 1, settles=False)
            return
        if heading:
            self.describe(heading[1].upper(), heading[2])
        rest = _after_head(body.replace("_", ":", 1) if heading and starts_line else body)
        parts = [part for part in _CLAUSES.split(rest) if part]
        self.clauses(parts, own_line=starts_line, ended=end in (".", "\n"))
        if not rest and self.doubts(body):
            self.declared.append(Declaration("", 1 if end else 2, False))

    def describe(self, letter: str, what: str) -> None:
        # A letter before a colon heads what is said of it; as a text's first words it may be the answer: "B: warm".
        places = self.described.setdefault(letter, [])
        if not (self.declared or len(self.described) > 1 or _LABELS(what)):
            places.append(len(self.declared))
            self.declared.append(Declaration(letter, 1, False))

    def clauses(self, parts: list[str], own_line: bool, ended: bool) -> None:
        # Read the clauses of a sentence, with the marks between them.
        settles = limited = False
        before = len(self.declared)
        for at, part in enumerate(parts):
            if part in ",_(":
                continue
            mark, labels = part[0], _LABELS(part)
            self.corrected = self.corrected or mark == "z" or ("!" in part and _NO.fullmatch(part) is not None)
            settles = settles or mark in "svz"
            as_good = _AS_GOOD.search(part)
            if mark == "r" or (not as_good and (mark == "y" or (mark == "Y" and at == 0))):
                continue
            if "S" in part and not labels and self.declared[before:]:
                self.declared.append(Declaration("", self.declared[-1].rank, False))  # "B is better, they say"
            limited = limited or _limits(part)
            if limited and not settles:
                continue
            declared = None
            alone = _VERDICT_ALONE.match(part) if "g" in part else None
            if alone and (subject := _SUBJECT.fullmatch("".join(parts[at - 2 : at]))):
                declared = _declared(subject[1] + alone[1], closed=False)
            if labels:
                follower, after = [*parts[at + 1 : at + 3], ".", "."][:2]
                # "B, while A is long", "B, I think"
                last = at + 3 >= len(parts) and (after[0] in "yY" or not after.strip("np4U"))
                closed = follower in "._(" or follower[0] in "rzvs" or (follower == "," and (after[0] in "rz!v." or last))
                hangs = follower == "." and not ended and labels[0] in "ab"
                if hangs and (mark == "v" or not settles) and not (at == 0 and own_line):
                    closed = False
                declared = _declared(part, closed)
                letters = {label.upper() for label in labels}
                if self.corrected and self.declared and letters == {self.declared[-1].letter}:
                    self.corrected = False  # "actually, B is ..." after B takes nothing back
            elif "q" in part or "=" in part or "Qw" in part:
                declared = _declared(part, closed=False)
            if as_good and not declared:
                declared = "", max((one.rank for one in self.declared), default=1)  # "A, but B is equally good"
            if declared:
                self.declare(*declared, settles)
            elif _BUT_NOT.fullmatch(part) or (part[-1] == "O" and self.declared[before:]) or self.doubts(part):
                follows = self.declared[before:] or (part[0] == "|" and self.declared)
                self.declared.append(Declaration("", self.declared[-1].rank if follows else 1, False))

    def declare(self, letter: str, rank: int, settles: bool) -> None:
        self.declared.append(Declaration(letter, rank, settles or self.corrected))
        self.corrected = False

    def doubts(self, part: str) -> bool:
        # Whether a clause that declares nothing ends with the other letter than the last one, or prefers it in part.
        other = _OTHER_AT_END.get(self.declared[-1].letter) if self.declared else None
        return bool(other and other.search(part) and not _UNDOUBTED.search(part))

    def result(self) -> list[Declaration]:
        # All declarations but headings; a correction that no answer followed declares that there is none.
        if self.corrected and self.declared:
            self.declared.append(Declaration("", 2, True))
        headings: set[int] = set()
        for letter, other in ("AB", "BA"):
            if self.alone[other] or (other in self.described and letter not in self.described):
                headings.update(self.alone[letter])
            if self.alone[other] or other in self.described:
                headings.update(self.described.get(letter, ()))
        return [declaration for at, declaration in enumerate(self.declared) if at not in headings]


def _after_head(body: str) -> str:
    # What a sentence says after its colon, with `Q` before it if the head asks for the answer; "" if of one aspect.
    head, colon, rest = body.rpartition(":")
    if "Q" in body:
        before, _, named = body.rpartition("Q")
        return "" if "!" in body else "".join(_SETTLING.findall(before)) + "Q" + named
    if not colon:
        return body
    marks = "".join(_SETTLING.findall(head)) + ("z" if _NO.fullmatch(head) else "")
    if _LABEL_HEAD.fullmatch(head):  # "A: warm" describes
        return rest if _LABELS(rest) else ""
    if _LABELS(head) and ":" not in head:
        return body if _LABELS(rest) or rest[:1] in "4pPh!0" else head
    if _OF_ASPECT.search(head) or ("x" in head and not _ASKS_ANYWAY.search(head)):
        return ""
    if "!" in head and _ASKED.search(head):
        return ""
    if "w" in head:
        return f"{marks}w:{rest}"
    return f"{marks}Q{rest}" if _ASKS.search(head) and _ANSWERS.match(rest) else marks + rest


def _limits(part: str) -> bool:
    # Whether a clause limits what follows: "In terms of tone, ...", "Stylistically, ...", "They say, ...".
    if _LIMITS.match(part):
        return True
    if "P" in part:
        return _ABOUT_USER.search(part) is None
    return _ADVERBIAL.match(part) is not None and _VERDICT.search(part) is None


def _declared(part: str, closed: bool) -> tuple[str, int] | None:
    # The letter ("" for none) that one clause declares, and its rank. `closed`: nothing follows that a bare label could
    # be the subject of.
    if _PASSED_OVER.search(part):
        return None
    if ("o" in part or "u" in part) and (outdone := _OUTDOES.search(part)):
        first, verb, second = outdone.groups()
        return None if _TWICE_OR_DENIED.search(part) else ((first if verb == "o" else second).upper(), 1)
    if "!" in part and (denied := _DENIES.fullmatch(part)):
        return "AB"[denied[1] in "Aa"], 0
    part = _ASIDE.sub("", part)
    letters = {letter.upper() for letter in _LABELS(part)}
    if "!" in part or len(letters) > 1:
        return None
    if not letters:
        if _TIE.match(part) or _NEITHER.search(part):
            return "", 2 if _NAMED_TIE.match(part) else 1
        return None
    letter = letters.pop()
    if "w" in part:
        return ("AB"[letter == "A"], 1) if any(pattern.search(part) for pattern in _REJECTS) else None
    if _NAMES_OR_PRAISES.search(part):
        for rank, pattern in _DECLARES:
            if (found := pattern.search(part)) and not _EMBEDS.search(part[: found.start()]):
                return letter, rank
    return (letter, 1) if closed and _BARE.fullmatch(part) else None
