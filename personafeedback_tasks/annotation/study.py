"""A folder in which people judge items: packs go out, files come back.

packs/                    what each annotator gets, and shown.jsonl, what they see at each place
study.json                how many people judge, if the folder is no build
votes.jsonl, dropped.csv  what they answered, and whose answers do not count
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from ..common.errors import DataError, OptionError
from ..common.files import Content, write, write_all
from ..common.outputs import json_text
from ..common.records import decoded, load_json, short, short_list
from ..common.row_files import RowFolder
from .assignment import Assignment, names
from .ingest import merged, read_votes
from .items import CANNOT, NONE, Item
from .pack_files import FORMATS, Pack
from .quality import annotators
from .rows import Dropped, PackItem, Vote

FOLDER = "packs"

Say = Callable[[str], None]
"""Prints a line."""


class StudySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a study that is no build's, in study.json; `votes` are on each item."""

    annotators: Annotated[int, Meta(ge=1, le=1_000)] = 3
    votes: Annotated[int, Meta(ge=1, le=1_000)] = 3
    seed: Annotated[int, Meta(ge=0, le=10**12)] = 0


@dataclass(frozen=True)
class StudyFolder(RowFolder):
    """A folder of packs and votes that is no build's."""

    guard = "study.json"

    def set_up(self, annotators: int | None, votes: int | None) -> StudySettings:
        """The settings, changed by these and written. Raises OptionError if the folder has only other files."""
        path = self.root / self.guard
        if not path.is_file() and self.root.is_dir() and any(self.root.iterdir()):
            raise OptionError(
                f"{self.root}: found a folder with other files, expected a new one or one of this command. Pass "
                "another --out."
            )
        before = self.settings
        after = replace(before, annotators=annotators or before.annotators, votes=votes or before.votes)
        if after != before or not path.is_file():
            write(path, json_text(after))
        return after

    @property
    def settings(self) -> StudySettings:
        """Settings in study.json; the defaults without it."""
        path = self.root / self.guard
        return decoded(path, load_json(path, "settings"), StudySettings) if path.is_file() else StudySettings()


@dataclass(frozen=True, kw_only=True)
class Study:
    """People's judgements in a folder; `packs` and `votes` are the commands that write packs and take votes."""

    folder: RowFolder
    asked: Assignment
    annotators: int
    packs: str
    votes: str

    def write_packs(self, form: str, say: Say) -> None:
        """Write each annotator's packs, one for each kind of item, in a format of FORMATS, and report counts. Raises
        DataError, and writes nothing, if a table of an earlier pack has votes in it."""
        folder, asked = self.folder, self.asked
        with folder.locked():
            before, dropped = folder.read(PackItem), folder.by_id(Dropped)
            places = [*before, *asked.added(before, names(self.annotators), dropped.keys())]
            packs = self._packs(places)
            contents: dict[Path, Content] = {}
            for pack in packs:
                files = FORMATS[form].write(pack)
                contents |= {folder.root / FOLDER / pack.folder / name: content for name, content in files.items()}
            self._refuse_to_replace_votes(contents)
            folder.write(PackItem, places)  # before the packs: no vote may come back for an item that nobody knows
            write_all(contents)
        checks = {place.item for place in places if place.attention}
        for pack in packs:
            attention = sum(item.id in checks for item in pack.items)
            say(f"{pack.annotator}: {len(pack.items):,} items, {attention} of them for attention")
        say(f"wrote {len(contents)} files to {folder.root / FOLDER}; {len(places) - len(before):,} items are new")
        has = Counter(place.pair_id for place in places if place.annotator not in dropped)
        lacking = Counter(has[name] for name in asked.by_id if has[name] < asked.votes)
        for votes, count in sorted(lacking.items()):
            able = len({*names(self.annotators)} - dropped.keys())
            say(
                f"! {count:,} items get {votes} votes, not {asked.votes}: there are too few annotators ({able}). "
                "Add some and run this again."
            )
        each = f", from each folder of {folder.root / FOLDER}," if any(item.kind for item in asked.items) else ""
        say(
            f"Send each annotator {FORMATS[form].sent}{each} and nothing else of the folder. When their files come back:"
        )
        say(f"Next: {self.votes} FILE...")

    def _packs(self, places: Iterable[PackItem]) -> list[Pack]:
        shown: dict[tuple[str, str], list[Item]] = defaultdict(list)
        for place in places:
            if item := self.asked.seen(place):
                shown[item.kind, place.annotator].append(item)
        packs = []
        # annotator-10 comes after annotator-9
        for kind, annotator in sorted(shown, key=lambda pack: (pack[0], len(pack[1]), pack[1])):
            name, guideline = f"{annotator}.{kind}" if kind else annotator, self.asked.guidelines[kind]
            packs.append(Pack(annotator=name, items=shown[kind, annotator], guideline=guideline, folder=kind))
        return packs

    def _refuse_to_replace_votes(self, paths: Iterable[Path]) -> None:
        # Annotators send files back; but a table in packs/ may have been filled in where it lies.
        answers = {(vote.annotator, vote.pair_id, vote.texts): vote.shown_as for vote in self.folder.read(Vote)}
        places = {place.item: (place.annotator, place.pair_id, place.texts) for place in self.folder.read(PackItem)}
        for path in paths:
            for sent in read_votes(path) if path.suffix == ".csv" and path.is_file() else ():
                known = answers.get(places.get(sent.item, ("", "", ())), "")
                if {*sent.answer.casefold().replace(",", " ").split()} != {*known.casefold().split()}:
                    raise DataError(
                        f"{sent.where}: found a vote that was not imported and that new packs would overwrite. Run first: "
                        f"{self.votes} {shlex.quote(str(path))}"
                    )

    def counted(self) -> list[tuple[Item, Vote]]:
        """Every vote that counts, with its item: of annotators who were not dropped, on items as they are now."""
        dropped, found = self.folder.by_id(Dropped), list[tuple[Item, Vote]]()
        for vote in self.folder.read(Vote):
            item = self.asked.by_id.get(vote.pair_id)
            if item and vote.annotator not in dropped and vote.chosen != CANNOT and vote.texts == item.digests:
                known = item.answers or item.options
                chosen = {*vote.chosen.split()} - {NONE} if item.several else {vote.chosen}
                if not chosen <= known.keys():
                    raise DataError(
                        f"{self.folder.path(Vote)}: found {short(vote.chosen)} as the vote of {vote.annotator!r} on "
                        f"{vote.pair_id!r}, expected one of {short_list(known)}. Put the file back, or remove the line "
                        "and take the annotator's file in again."
                    )
                found.append((item, vote))
        return found

    @property
    def outdated(self) -> int:
        """Number of votes on texts that were edited since."""
        now = self.asked.by_id
        return sum(vote.pair_id in now and vote.texts != now[vote.pair_id].digests for vote in self.folder.read(Vote))

    def take_votes(self, files: Sequence[Path], drop: Sequence[str], say: Say) -> list[tuple[Item, Vote]]:
        """Take in the files of annotators, and report each annotator's votes: those that count from now on, with their
        items. Raises DataError if a file is broken, there are no votes or packs, or a dropped annotator is unknown.

        Args:
            drop: annotators whose votes no longer count.
        """
        folder = self.folder
        with folder.locked():
            if files:
                if not folder.read(PackItem):
                    raise DataError(f"{folder.path(PackItem)}: found no packs, expected some. Run first: {self.packs}")
                found = merged(folder, self.asked, files)
                folder.write(Vote, found.votes)
                say(f"{found.new:,} new votes; {found.again:,} were there before")
                if found.replaced:
                    say(f"! {found.replaced:,} differ from another vote by the same person: the later one counts")
            votes, places = folder.read(Vote), folder.read(PackItem)
            if not votes and not drop:
                raise DataError(
                    f"{folder.path(Vote)}: found no votes, expected some. Pass the files that annotators sent back."
                )
            known = dict.fromkeys([*(vote.annotator for vote in votes), *(place.annotator for place in places)])
            if unknown := [name for name in drop if name not in known]:
                raise DataError(
                    f"--drop {unknown[0]}: found no vote or pack of {short(unknown[0])}, expected one of "
                    f"{short_list(known) or 'nobody'}."
                )
            dropped = {**folder.by_id(Dropped), **{name: Dropped(annotator=name) for name in drop}}
            if drop:
                folder.write(Dropped, dropped.values())
        counted = self.counted()
        for annotator in annotators(places, votes, counted):
            name = annotator.name
            say(f"{name}: {annotator.line}{' (dropped)' if name in dropped else ''}")
            for doubt in () if name in dropped else annotator.doubts:
                say(f"! {name} {doubt}. To leave these votes out: {self.votes} --drop {shlex.quote(name)}")
        if not votes:
            say("There are no votes yet. The next packs give the items of dropped annotators to others.")
            say(f"Next: {self.packs}")
            return []
        if outdated := self.outdated:
            say(
                f"! {outdated:,} votes are on texts that were edited since: they do not count. To have these items "
                f"judged again: {self.packs}"
            )
        of_item = Counter(vote.pair_id for _, vote in counted)
        per = Counter(of_item[name] for name in self.asked.by_id)
        say(
            "votes to an item: "
            + ", ".join(f"{count:,} items have {of}" for of, count in sorted(per.items(), reverse=True))
        )
        return counted
