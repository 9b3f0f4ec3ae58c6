"""The step memory: for persons without one, texts of a team's corpus that they would read, chosen by a model (the paper's section 3.2)."""

from __future__ import annotations

from pathlib import Path

from ...common.records import json_lines
from ...core.cases import digest_of
from .. import screening
from ..folder import Folder
from ..rows import Origin
from ..settings import Settings
from ..steps import MEMORY, Say, command
from . import checks
from .asking import Call, Models, Refusal, Reply, TextRun
from .prompts import NO_NUMBERS, chosen, listed
from .seeds import CORPUS, given

SHOWN = 5
"""Pieces of the corpus that a prompt shows for each one that is wanted."""

MEANINGS = {
    NO_NUMBERS: "the model named none of the pieces that it was shown",
    **{name: checks.MEANINGS[name] for name in (checks.EMPTY, checks.CUT, checks.WITHHELD)},
}
"""Reason -> what was found."""


def memory_slot(settings: Settings, user: str) -> str:
    """Id of the request for a user's whole memory."""
    return f"{user}:memory:{settings.memory}"


def write_memories(folder: Folder, models: Models, say: Say) -> None:
    """Have a model choose from corpus.jsonl for each person who has no memory.

    Raises:
        DataError: a file of the build is broken, there is no corpus, it has personal data, or nobody has a memory.
        OptionError: there is no such model.
        GenerationError: the model wrote nothing.
    """
    with folder.step(MEMORY):
        run = TextRun(folder, MEMORY, models, say)
        corpus, contacts = screening.pieces(
            given(folder.root, CORPUS, 'one {"text": "..."} per line, for people to have read')
        )
        screening.refuse(contacts)
        say(f"Read {len(corpus)} pieces of {CORPUS}")
        files = _choose(run, corpus)
        run.save({}, files)
        people = folder.people()
        have = [person for person in people if folder.has_memory(person.user_id)]
        say(f"Wrote {len(files)} memories; {len(have)} of {len(people)} persons have one")
        bring = f"Bring some: {command('init', folder.root)} --users FILE --history FOLDER"
        run.end(Origin, have, "person with a memory", bring)


def _choose(run: TextRun, corpus: list[dict[str, str]]) -> dict[Path, str]:
    folder, settings, prompt = run.folder, run.settings, run.prompt("memory")
    users = {memory_slot(settings, person.user_id): person.user_id for person in folder.people()}
    shown: dict[str, list[dict[str, str]]] = {}
    files: dict[Path, str] = {}
    run.done |= {slot for slot, user in users.items() if folder.has_memory(user)}

    def told(slot: str) -> str:
        user, time = users[slot], run.time(slot)
        places = settings.generator("corpus", f"{user}:{time}" if time else user).sample(
            range(len(corpus)), min(len(corpus), SHOWN * settings.memory)
        )
        shown[slot] = [corpus[place] for place in places]
        texts = [" ".join(_text(piece).split()) for piece in shown[slot]]
        return prompt.filled(persona=folder.persona(user).text, texts=listed(texts), count=str(settings.memory))

    def accept(slot: str, reply: Reply) -> None:
        pieces = chosen(shown[slot], reply.text)[: settings.memory]
        if reply.cut or not pieces:
            raise Refusal(checks.CUT if reply.cut else NO_NUMBERS if reply.text else checks.EMPTY, reply.text)
        parents = (users[slot], *(f"corpus:{digest_of([_text(piece)])}" for piece in pieces))
        run.take(slot, "memory", prompt.version, *parents)
        files[folder.memory_path(users[slot])] = "".join(json_lines(pieces))

    run.progress.expect(len(users.keys() - run.done))
    run.complete(users, Call(told, accept))
    return files


def _text(piece: dict[str, str]) -> str:
    return piece.get("text") or piece["content"]
