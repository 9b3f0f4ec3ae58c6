"""`build personas`: profiles that a model writes from seeds, and those that a team brings, into people.csv."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...common.errors import DataError
from ...common.files import locked
from ...engine.cases import digest_of
from ...personafeedback import persona_file
from ...personafeedback.persona import Persona
from ..folder import Folder, command
from ..rows import OWN, TEST, TRAIN, Origin, Person, Refused
from ..settings import FILE, Settings
from . import checks, prompts, traits
from .asking import Models, Report, nothing_left, settled, short_reason, still_refused
from .drawn import generator
from .languages import is_written_in
from .seeds import seeds
from .similar import Seen

STEP = "personas"
NEAR = 0.6
"""Likeness from which two profiles are near duplicates: they share whole sentences."""

SIMILAR = "near_duplicate"

MEANINGS: Mapping[str, str] = {
    "no_json": "no JSON object",
    "no PART": "a part of the structure is missing: no Preference.Travel",
    SIMILAR: "whole sentences are those of another persona",
    **{name: checks.MEANINGS[name] for name in (checks.EMPTY, checks.CUT, checks.LANGUAGE)},
}
"""Reason -> what was found."""


@dataclass(frozen=True)
class _Written:
    """A persona that passed."""

    profile: dict[str, Any]
    origin: Origin


def write_personas(folder: Folder, models: Models | None) -> Report:
    """Take the personas that a team put there and, with a model, write those that are missing.

    Raises:
        DataError: a file of the build is broken, or there are no seeds.
        OptionError: there is no such model.
    """
    with locked(folder.root):
        report, settings = Report(), folder.settings
        people, refused = folder.read(Person), folder.read(Refused)
        origins = {one.id: one for one in folder.read(Origin)}
        known = {one.user_id for one in people}
        profiles = _profiles(folder.root)
        own = [one for one in profiles if one not in known and one not in origins]
        origins |= {one: Origin(id=one, kind="persona", model=OWN) for one in own}
        report.read.append(f"{len(profiles)} personas in persona/, {len(people)} lines in people.csv")
        written: dict[str, _Written] = {}
        if models is not None:
            seed = other_seed(settings, origins.values())
            if seed is not None:  # the ids are drawn, too: all would be written again, beside those that are there
                raise DataError(
                    f"{folder.root / FILE}: found seed = {settings.seed}, expected {seed}, with which personas of this build were written. "
                    "Put it back, or start another build."
                )
            done = {*profiles, *known, *settled(refused, STEP)}
            written, turned = _write(folder, models, done, profiles, report)
            origins |= {name: one.origin for name, one in written.items()}
            refused = [*still_refused(refused, STEP, {*written, *(one.id for one in turned)}), *turned]
            report.refused.update(short_reason(one.reason) for one in turned)
        everybody = profiles | {name: one.profile for name, one in written.items()}
        people += _entered(settings, people, {name: one for name, one in everybody.items() if name not in known})
        files = {_path(folder.root, name): _json(one.profile) for name, one in written.items()}
        # In this order: what is killed in between is never taken for a persona of the team's own.
        folder.write(Origin, origins.values())
        folder.write_together({Refused: refused, Person: people}, files)
        report.wrote.append(
            f"{len(written)} personas, {len(own)} of your own; people.csv has {len(people)} lines: {_split(people)}"
        )
        report.notes += memories_of_nobody(folder.root, people)
        if all(one.keep == "no" for one in people):
            report.error = report.error or nothing_left(
                folder.path(Person), "person to keep", refused, STEP, "Name a --model, or add persona/<user_id>.json."
            )
        report.next = f"{command('questions', folder.root)} --model MODEL"
        return report


def _write(
    folder: Folder, models: Models, done: set[str], profiles: Mapping[str, Any], report: Report
) -> tuple[dict[str, _Written], list[Refused]]:
    settings, prompt, given = folder.settings, prompts.load(folder.root, "persona"), seeds(folder.root)
    report.read.append(f"{len(given)} seeds")
    asked, parents = {}, {}
    for number, name in enumerate(names(settings)):
        if name not in done:
            seed = _seed(settings, given, number)
            parents[name] = (f"seed:{digest_of([json.dumps(seed, sort_keys=True)])}",)
            asked[name] = prompt.filled(
                seed=json.dumps(seed, ensure_ascii=False, indent=1), traits=traits.traits(settings, name),
                structure=traits.structure(), language=settings.language,
            )  # fmt: skip
    (model,) = models.names
    replies = models.write(model, asked, folder.root, STEP, report).replies
    found, turned = dict[str, _Written](), list[Refused]()
    seen = Seen(NEAR, ((name, _values(profile)) for name, profile in profiles.items()))
    for name in (one for one in asked if one in replies):
        reply = replies[name]
        profile, reason = traits.profile(reply.text)
        if profile is None:
            reason = checks.EMPTY if not reply.text else checks.CUT if reply.cut else reason
        elif not is_written_in(settings.language, _values(profile)):
            reason = checks.LANGUAGE
        elif other := seen.like(_values(profile)):
            reason = f"{SIMILAR} of {other}"
        if profile is None or reason:
            turned.append(Refused(id=name, step=STEP, reason=reason, text=reply.text))
            continue
        seen.add(name, _values(profile))
        origin = Origin(
            id=name, kind="persona", model=model, prompt=prompt.version, seed=settings.seed, parents=parents[name]
        )
        found[name] = _Written(profile, origin)
    return found, turned


def other_seed(settings: Settings, origins: Iterable[Origin]) -> int | None:
    """The seed that models wrote personas with, if build.yaml has another one now; else None."""
    seeds = [one.seed for one in origins if one.kind == "persona" and one.model != OWN]
    return None if not seeds or settings.seed in seeds else seeds[0]


def names(settings: Settings) -> list[str]:
    """The ids of the personas that models write."""
    return [f"u{digest_of([settings.seed, 'persona', number])[:8]}" for number in range(settings.personas)]


def _seed(settings: Settings, given: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """The seed of a persona: all of them in turn, in a drawn order."""
    order = list(range(len(given)))
    generator(settings, "seeds", str(number // len(given))).shuffle(order)
    return given[order[number % len(given)]]


def _entered(settings: Settings, people: Iterable[Person], new: Mapping[str, Mapping[str, Any]]) -> list[Person]:
    """Lines of people.csv for new personas, split so that the share of test persons is kept to at every length."""
    splits = [one.split for one in people]
    order = sorted(new, key=lambda name: digest_of([settings.seed, "split", name]))
    found = {}
    for name in order:
        split = next_split(settings, splits)
        splits.append(split)
        called = new[name].get("Name")
        shown = " ".join(called.split()) if isinstance(called, str) else ""
        found[name] = Person(user_id=name, name=shown, split=split)
    return [found[name] for name in sorted(found)]


def next_split(settings: Settings, splits: Sequence[str]) -> str:
    """The split of one more person, given those of all lines of people.csv."""
    return TEST if splits.count(TEST) < settings.test * (len(splits) + 1) else TRAIN


def _profiles(root: Path) -> dict[str, dict[str, Any]]:
    """User id -> profile of every file in persona/. Raises DataError, see `persona_file.load`."""
    paths = sorted((root / "persona").glob("*.json"))
    for path in paths:
        if path.stem != path.stem.strip():
            raise DataError(
                f"{path}: found the user id {path.stem!r}, expected one without spaces around it: tables lose them. Rename the file."
            )
    return {path.stem: persona_file.load(path) for path in paths}


def memories_of_nobody(root: Path, people: Iterable[Person]) -> list[str]:
    """A line about each memory file that no prompt will ever show."""
    known = {one.user_id for one in people}
    paths = sorted((root / "memory").glob("*.jsonl"))
    return [
        f"{path} is not read: people.csv has no {path.stem!r}. Rename it." for path in paths if path.stem not in known
    ]


def _path(root: Path, name: str) -> Path:
    return root / "persona" / f"{name}.json"


def _json(profile: Mapping[str, Any]) -> str:
    return json.dumps(profile, ensure_ascii=False, indent=1) + "\n"


def _values(profile: Mapping[str, Any]) -> str:
    return Persona("", profile).values


def _split(people: Iterable[Person]) -> str:
    splits = [one.split for one in people if one.keep != "no"]
    return f"{splits.count(TEST)} test, {splits.count(TRAIN)} train"
