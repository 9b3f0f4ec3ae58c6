"""The step personas: profiles that a model writes from seeds and drawn traits, and those that a team brings."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...annotation.study import Say
from ...common import private
from ...common.errors import DataError
from ...common.records import loads
from ...common.row_files import Changes
from ...common.similar import Seen
from ...core.cases import digest_of
from ...personafeedback.others import assign
from ...personafeedback.persona import Persona
from ..build import Build
from ..rows import TEST, TRAIN, Origin, Person, refuse_user
from ..settings import Settings
from ..steps import PERSONAS
from . import checks
from .asking import Ask, Models, Refusal, TextRun, Writing
from .prompts import GIVEN, bulleted, bundled
from .sources import SEEDS, Country, countries, seeds

NEAR = 0.6
"""Likeness from which two profiles are near duplicates: they share whole sentences."""

NO_JSON, SIMILAR = "no JSON object", "near duplicate"

STRUCTURE: Mapping[str, Any] = loads(Path(__file__).with_name("structure.json").read_bytes())
"""Structure that a model is asked for (the paper's Appendix A). A team's own personas may have any keys."""

Profile = dict[str, Any]


class PersonasRun(TextRun):
    """A run of the step personas."""

    step = PERSONAS
    needs = (Person, "person to keep", "Name a --model, or add persona/<user_id>.json.")

    def __init__(self, build: Build, models: Models, say: Say):
        super().__init__(build, models, say)
        self._listed = build.by_id(Person)
        self._present = sorted(path.stem for path in (build.root / "persona").glob("*.json"))
        self.done = {*self._present, *self._listed}

    def wanted(self) -> list[str]:
        return names(self.settings)

    def write(self) -> Changes:
        """Take a team's personas and write missing ones. Raises DataError also for personal data or without seeds."""
        build = self.build
        profiles = {user: dict(build.persona(user).profile) for user in self._present}
        own = [user for user in profiles if user not in self._listed and user not in self.origins]
        _screen(build, own)
        for user in own:
            try:
                refuse_user(user)
            except ValueError as error:
                raise DataError(f"{build.persona_path(user)}: found {error}. Rename it.") from error
            self.bring(user)
        written = self._write_missing(profiles) if self.model and self.settings.personas else {}
        new = {user: profile for user, profile in (profiles | written).items() if user not in self._listed}
        old = [*self._listed.values()]
        people = [*old, *new_people(self.settings, old, new)]
        files: Changes = {build.persona_path(user): json_of(profile) for user, profile in written.items()}
        # Origins first: a persona that is there when the run is killed must not be taken for a team's own.
        return {Origin: self.origins.values(), **files, **self.changes({Person: people})}

    def report(self) -> None:
        build, known = self.build, self.build.by_id(Person)
        for user in build.with_memory():
            if user not in known:
                self.say(f"{build.memory_path(user)} is not read: people.csv has no {user!r}. Rename it.")
        try:  # before questions are paid for: persons may be too much alike for a control
            assign([build.persona(person.user_id) for person in build.people(TEST)])
        except DataError as error:
            self.say(f"! The control setting=other_persona will not run on this set: {error}")
        super().report()

    def _write_missing(self, profiles: Mapping[str, Profile]) -> dict[str, Profile]:
        root, settings, prompt, given = self.build.root, self.settings, self.prompt("persona"), seeds(self.build.root)
        if any(json.dumps(seed) in bundled(GIVEN, settings.language)[SEEDS] for seed in given):
            self.say(
                f"! {root / SEEDS} still has examples that `build init` wrote. Replace them with profiles of your "
                "users."
            )
        starts = {user: _seed(settings, given, number) for number, user in enumerate(self.wanted())}
        known, traits = countries(root), dict[str, dict[str, str]]()
        for user in starts:  # of all, so that those of a later run are the same
            traits[user] = draw_traits(settings.generator("traits", user), known, _names_of(traits))
        seen = Seen(NEAR, ((user, Persona(user, profile).values) for user, profile in profiles.items()))
        written = dict[str, Profile]()

        def write(user: str) -> Writing:
            if self.time(user):  # in place of one that was refused
                traits[user] = draw_traits(settings.generator("traits", self.draw(user)), known, _names_of(traits))
            lines = bulleted(f"{trait}: {value}" for trait, value in traits[user].items())
            seed = json.dumps(starts[user], ensure_ascii=False, indent=1)
            reply = yield Ask(prompt, {"seed": seed, "traits": lines, "structure": json.dumps(STRUCTURE, indent=1)})
            if not reply.text or reply.cut:
                raise Refusal(checks.CUT if reply.cut else checks.EMPTY, reply.text)
            profile = _profile(reply.text)
            values = Persona(user, profile).values
            if not checks.is_written_in(settings.language, values):
                raise Refusal(checks.LANGUAGE, reply.text)
            if seen.like(values):
                raise Refusal(SIMILAR, reply.text)
            seen.add(user, values)
            self.take(user, prompt.version, f"seed:{digest_of([json.dumps(starts[user], sort_keys=True)])}")
            written[user] = profile

        self.complete(starts, write)
        return written


def _names_of(traits: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {of_user["name"] for of_user in traits.values() if "name" in of_user}


def _profile(text: str) -> Profile:
    profile: Profile = {}
    with suppress(ValueError):  # text around the object, such as a code fence, is ignored
        profile = loads(text[text.index("{") : text.rfind("}") + 1])
    if not profile:
        raise Refusal(NO_JSON, text)
    for part in sorted(Persona("", STRUCTURE).fields - Persona("", profile).fields):
        raise Refusal(f"no {part}", text)
    return profile


def names(settings: Settings) -> list[str]:
    """The ids of the personas that models write."""
    return [f"u{digest_of(['persona', number])[:8]}" for number in range(settings.personas)]


def _seed(settings: Settings, given: list[Profile], number: int) -> Profile:
    # All seeds in turn, in a drawn order.
    order = list(range(len(given)))
    settings.generator("seeds", str(number // len(given))).shuffle(order)
    return given[order[number % len(given)]]


# --- what is drawn for a persona; where it contradicts the seed, the prompt says that the seed is right ---

_AGES = (18, 80)
_FIELDS = ("science or engineering", "business", "education", "health care", "the arts", "services", "a trade")
"""Of work, so that no profession piles up: those of the paper's section 3.1, and a trade, which is ours."""
_TYPES = ("EI", "SN", "TF", "JP")


def draw_traits(drawn: random.Random, choices: Sequence[Country], taken: Iterable[str]) -> dict[str, str]:
    """Trait -> value of a new persona; a name, gender and country only if there are `choices`. Names that are `taken`
    by others are not drawn again unless nearly all are."""
    traits = {
        "age": str(drawn.randint(*_AGES)),
        "field of work": drawn.choice(_FIELDS),
        "personality (MBTI)": "".join(map(drawn.choice, _TYPES)),
    }
    for _ in range(100 if choices else 0):
        (country,) = drawn.choices(choices, [choice.share for choice in choices])
        gender = drawn.choice(("female", "male"))
        given, family = drawn.choice(getattr(country, gender)), drawn.choice(country.family)
        name = f"{family}{given}" if checks.IDEOGRAPH.match(family) else f"{given} {family}"
        traits |= {"name": name, "gender": gender, "country": country.country}
        if name not in taken:
            break
    return traits


# --- people.csv ---


def new_people(settings: Settings, people: Iterable[Person], new: Mapping[str, Profile]) -> list[Person]:
    """Lines of people.csv for new personas, split so that the share of test persons holds at every length."""
    splits, found = [person.split for person in people], list[Person]()
    for user in sorted(new, key=lambda user: digest_of([settings.seed, "split", user])):
        split = TEST if splits.count(TEST) < settings.test * (len(splits) + 1) else TRAIN
        splits.append(split)
        name = new[user].get("Name")
        found.append(Person(user_id=user, name=" ".join(name.split()) if isinstance(name, str) else "", split=split))
    return sorted(found, key=lambda person: person.user_id)


def json_of(profile: Mapping[str, Any]) -> str:
    """Text of persona/<user_id>.json."""
    return json.dumps(profile, ensure_ascii=False, indent=1) + "\n"


def _screen(build: Build, own: Iterable[str]) -> None:
    # Before anything is asked: prompts and the release would have these data.
    found = list[str]()
    for user in own:
        found += _contacts(build.persona(user).profile, str(build.persona_path(user)))
    for user in build.with_memory():
        for piece in build.memory(user):
            found += _contacts(piece.row, piece.where)
    if found:
        raise DataError(
            f"found personal data in {len(found):,} texts, expected none: {'; '.join(found[:5])}. Remove these. "
            "Patterns find no names and miss other things, so read your files, too."
        )


def _contacts(value: Any, where: str, key: str = "") -> Iterator[str]:
    # in parsed JSON, the first of each text: `persona/u1.json: an e-mail address in Contact at ...`
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _contacts(inner, where, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _contacts(inner, where, key)
    elif isinstance(value, str) and (hit := private.contact_in(value)):
        yield f"{where}: {hit[0]} in {key} at character {hit[1] + 1}"
