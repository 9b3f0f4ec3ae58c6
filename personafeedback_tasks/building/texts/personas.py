"""The step personas: profiles that a model writes from seeds, and those that a team brings, into people.csv."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...common.errors import DataError
from ...common.records import cut, leaves
from ...common.similar import Seen
from ...core.cases import digest_of
from ...personafeedback.others import assign
from ...personafeedback.persona import Persona, load_profile
from .. import screening
from ..folder import Folder
from ..rows import OWN, TEST, TRAIN, Origin, Person, kept
from ..settings import FILE, Settings
from ..steps import PERSONAS, Say, command
from . import checks, structure
from .asking import Call, Models, Refusal, Reply, TextRun
from .languages import is_written_in
from .lives import countries, draw_home, draw_life, stated
from .seeds import FILE as SEEDS
from .seeds import NAMES, are_examples, seeds

NEAR = 0.6
"""Likeness from which two profiles are near duplicates: they share whole sentences."""

SHOWN = 40
"""Earlier personas, at most, of which a prompt shows the name, the job and how they begin, so that the next one is another person."""

SHORTEST_OPENING, LONGEST_OPENING = 12, 60
"""Characters of how a persona begins: the first text that is no name, no job and no letter."""

WAVE = 5
"""Personas that are written at once, at least; later a fifth of those that are there."""

SIMILAR = "near_duplicate"

MEANINGS: Mapping[str, str] = {
    "no_json": "no JSON object",
    "no PART": "a part of the structure is missing: no Preference.Travel",
    SIMILAR: "whole sentences are those of another persona",
    **{name: checks.MEANINGS[name] for name in (checks.EMPTY, checks.CUT, checks.WITHHELD, checks.LANGUAGE)},
}
"""Reason -> what was found."""

Profile = dict[str, Any]


def write_personas(folder: Folder, models: Models, say: Say) -> None:
    """Take the personas that a team put there and have a model write the missing ones.

    Raises:
        DataError: a file of the build is broken, there are no seeds, or no person is left.
        OptionError: there is no such model.
        GenerationError: the model wrote nothing.
    """
    with folder.step(PERSONAS):
        run, people, profiles = TextRun(folder, PERSONAS, models, say), folder.read(Person), _profiles(folder.root)
        known = {person.user_id for person in people}
        own = [user for user in profiles if user not in known and user not in run.origins]
        for user in own:
            run.bring(user, "persona")
        say(f"Read {len(profiles)} personas in persona/, {len(people)} lines in people.csv")
        written: dict[str, Profile] = {}

        def keep(come: Mapping[str, Profile]) -> None:
            written.update(come)
            listed = {person.user_id for person in people}
            new = {user: profile for user, profile in (profiles | written).items() if user not in listed}
            people.extend(new_people(run.settings, people, new))
            run.save({Person: people}, {folder.persona_path(user): json_of(profile) for user, profile in come.items()})

        if run.model:
            _write(run, profiles, known, keep)
        keep({})
        splits = Counter(person.split for person in kept(people))
        say(
            f"Wrote {len(written)} personas, {len(own)} of your own; people.csv has {len(people)} lines: {splits[TEST]} test, "
            f"{splits[TRAIN]} train"
        )
        say_of_memories(folder, say)
        _say_of_control(folder, say)
        run.end(Person, kept(people), "person to keep", "Name a --model, or add persona/<user_id>.json.")


def _write(
    run: TextRun, profiles: Mapping[str, Profile], known: set[str], keep: Callable[[Mapping[str, Profile]], None]
) -> None:
    # `keep` gets each group of new personas.
    root, settings = run.folder.root, run.settings
    seed = other_seed(settings, run.origins.values())
    if seed is not None:  # the ids are drawn, too: all would be written again, beside those that are there
        raise DataError(
            f"{root / FILE}: found seed = {settings.seed}, expected {seed}, with which personas of this build were written. "
            "Put it back, or start another build."
        )
    run.done |= {*profiles, *known}
    if not settings.personas:  # all are a team's own
        return
    prompt, given = run.prompt("persona"), seeds(root)
    run.say(f"Read {len(given)} seeds")
    _say_of_seeds(run, given)
    starts = {user: _seed(settings, given, number) for number, user in enumerate(names(settings))}
    traits = _traits(run, starts)
    seen = Seen(NEAR, ((user, _values(profile)) for user, profile in profiles.items()))
    present, before = dict(profiles), dict[str, Profile]()
    order = [*(user for user in profiles if user not in starts), *starts]

    def told(user: str) -> str:
        repeated = {text.like for text in run.refused if (text.step, text.id) == (run.step.name, user)}
        shown = before | {like: present[like] for like in repeated if like in present}
        return prompt.filled(
            seed=json.dumps(starts[user], ensure_ascii=False, indent=1), traits=traits[user],
            others=_others(settings, user, shown), structure=structure.as_shown(),
        )  # fmt: skip

    def accept(user: str, reply: Reply) -> None:
        profile, reason = structure.profile(reply.text)
        if profile is None:
            raise Refusal(checks.EMPTY if not reply.text else checks.CUT if reply.cut else reason, reply.text)
        if not is_written_in(settings.language, _values(profile)):
            raise Refusal(checks.LANGUAGE, reply.text)
        if like := seen.like(_values(profile)):
            raise Refusal(SIMILAR, reply.text, like)
        seen.add(user, _values(profile))
        parent = f"seed:{digest_of([json.dumps(starts[user], sort_keys=True)])}"
        run.take(user, "persona", prompt.version, parent)
        present[user] = profile

    run.progress.expect(len(starts.keys() - run.done))
    groups = list(waves(list(starts)))
    # Groups that lack somebody come last, so that the others are told of the same personas as in an earlier run, and not paid again.
    for number in sorted(range(len(groups)), key=lambda number: not run.done.isdisjoint(groups[number])):
        earlier = order[: len(order) - sum(map(len, groups[number:]))]
        before = {user: present[user] for user in earlier if user in present}
        had = set(present)
        some = run.complete(groups[number], Call(told, accept))
        if come := {user: profile for user, profile in present.items() if user not in had}:
            keep(come)
        if not some:  # the model is down, or writes nothing that can be taken
            break


def waves(users: Sequence[str]) -> Iterator[Sequence[str]]:
    """Users in groups written at the same time, each told of those before its group, so that concurrency does not change prompts."""
    start = 0
    while start < len(users):
        size = max(WAVE, start // WAVE)
        yield users[start : start + size]
        start += size


def _say_of_seeds(run: TextRun, given: Sequence[Profile]) -> None:
    path, wanted = run.folder.root / SEEDS, run.settings.personas
    if count := are_examples(given):
        run.say(
            f"! {path} still has {count} examples that `build init` wrote. Replace them with short profiles of your users."
        )
    if wanted > len(given):
        most = -(-wanted // len(given))
        run.say(
            f"Up to {most} personas are of one seed. What a seed states holds for each of them: state little, or add seeds."
        )
    if not (run.folder.root / NAMES).is_file():
        run.say(
            f"There is no {run.folder.root / NAMES}: no names and countries are drawn. Restore it: {command('init', run.folder.root)}"
        )


def _traits(run: TextRun, starts: Mapping[str, Profile]) -> dict[str, str]:
    choices, lines, taken = countries(run.folder.root), {}, set[str]()
    for user, seed in starts.items():
        home = draw_home(run.settings, user, seed, choices, taken)
        taken.add(next(iter(home.values())))
        traits = draw_life(run.settings, user, seed) | home
        lines[user] = "\n".join(f"- {trait}: {value}" for trait, value in traits.items())
    return lines


def _others(settings: Settings, user: str, before: Mapping[str, Profile]) -> str:
    places = sorted(settings.generator("others", user).sample(range(len(before)), min(SHOWN, len(before))))
    profiles = list(before.values())
    return "\n".join(_glimpse(profiles[place]) for place in places) or "- (nobody yet)"


def _glimpse(profile: Profile) -> str:
    job = _short(str(stated(profile).get("work", "")))
    texts = (value for value in leaves(profile) if isinstance(value, str))
    opening = next((_short(text) for text in texts if len(text) >= SHORTEST_OPENING and _short(text) != job), "")
    return f"- {'; '.join(filter(None, [_name(profile), job, opening]))}"


def _short(text: str) -> str:
    return cut(" ".join(text.split()), LONGEST_OPENING)


def other_seed(settings: Settings, origins: Iterable[Origin]) -> int | None:
    """The seed of the written personas if build.yaml has another one now; else None."""
    seeds = [origin.seed for origin in origins if origin.kind == "persona" and origin.model != OWN]
    return None if not seeds or settings.seed in seeds else seeds[0]


def names(settings: Settings) -> list[str]:
    """The ids of the personas that models write."""
    return [f"u{digest_of([settings.seed, 'persona', number])[:8]}" for number in range(settings.personas)]


def _seed(settings: Settings, given: list[Profile], number: int) -> Profile:
    # All seeds in turn, in a drawn order.
    order = list(range(len(given)))
    settings.generator("seeds", str(number // len(given))).shuffle(order)
    return given[order[number % len(given)]]


def new_people(settings: Settings, people: Iterable[Person], new: Mapping[str, Profile]) -> list[Person]:
    """Lines of people.csv for new personas, split so that the share of test persons holds at every length."""
    splits, split_of = [person.split for person in people], {}
    for user in sorted(new, key=lambda user: digest_of([settings.seed, "split", user])):
        split_of[user] = next_split(settings, splits)
        splits.append(split_of[user])
    return [Person(user_id=user, name=_name(new[user]), split=split_of[user]) for user in sorted(new)]


def _name(profile: Profile) -> str:
    name = profile.get("Name")
    return " ".join(name.split()) if isinstance(name, str) else ""


def next_split(settings: Settings, splits: Sequence[str]) -> str:
    """The split of one more person, after these splits in people.csv."""
    return TEST if splits.count(TEST) < settings.test * (len(splits) + 1) else TRAIN


def _profiles(root: Path) -> dict[str, Profile]:
    paths = sorted((root / "persona").glob("*.json"))
    for path in paths:
        if path.stem != path.stem.strip():
            raise DataError(
                f"{path}: found the user id {path.stem!r}, expected one without spaces around it: tables lose them. Rename the file."
            )
    return {path.stem: load_profile(path) for path in paths}


def _say_of_control(folder: Folder, say: Say) -> None:
    # Warn before questions are paid for that persons are too much alike for a control.
    people = folder.people(TEST) if folder.read(Person) else []
    try:
        assign([folder.persona(person.user_id) for person in people])
    except DataError as error:
        say(f"! The control setting=other_persona will not run on this set: {error}")


def say_of_memories(folder: Folder, say: Say) -> None:
    """Warn of memory files that no prompt shows, and of personal data, which the release would have."""
    contacts: list[str] = []
    known = {person.user_id for person in folder.read(Person)}
    for path in sorted((folder.root / "memory").glob("*.jsonl")):
        if path.stem not in known:
            say(f"{path} is not read: people.csv has no {path.stem!r}. Rename it.")
        else:
            contacts += screening.pieces(path)[1]
    if contacts:
        say(f"! Personal data that prompts and the release would have: {screening.named(contacts)}. Remove them.")


def json_of(profile: Mapping[str, Any]) -> str:
    """Text of persona/<user_id>.json."""
    return json.dumps(profile, ensure_ascii=False, indent=1) + "\n"


def _values(profile: Profile) -> str:
    return Persona("", profile).values
