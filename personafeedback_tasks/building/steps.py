"""The steps of a build, in order: files that each reads and writes, and its command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from ..annotation.rows import Dropped, PackItem, Vote
from ..common.row_files import FileRow
from .rows import Answer, Pair, Person, Question

Kinds = tuple[type[FileRow], ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a build."""

    name: str
    call: str  # its command without `personafeedback`; `{}` is the folder
    reads: Kinds = ()  # rows required before models are asked
    writes: Kinds = ()  # rows that it makes; the last kind shows that it was done
    text: str = ""  # kind of the texts that models write, as in provenance.jsonl; empty if they write none
    arguments: str = ""  # other arguments of its command

    def command(self, root: Path) -> str:
        """Its shell command on a build, without arguments."""
        return f"personafeedback {self.call.format(shlex.quote(str(root)))}"

    def line(self, root: Path) -> str:
        """Its whole shell command."""
        return " ".join(filter(None, (self.command(root), self.arguments)))


ONE, SEVERAL = "--model MODEL", "--model MODEL --model OTHER"

INIT = Step(name="init", call="build init {}")
PERSONAS = Step(name="personas", call="build texts {} personas", text="persona", writes=(Person,), arguments=ONE)
QUESTIONS = Step(
    name="questions", call="build texts {} questions", text="question", reads=(Person,), writes=(Question,),
    arguments=ONE,
)  # fmt: skip
ANSWERS = Step(
    name="answers", call="build texts {} answers", text="answer", reads=(Person, Question), writes=(Answer, Pair),
    arguments=SEVERAL,
)  # fmt: skip
PACKS = Step(name="packs", call="annotate pack {}", writes=(PackItem,))
VOTES = Step(name="votes", call="annotate votes {}", writes=(Dropped, Vote), arguments="FILE...")
RELEASE = Step(name="release", call="build release {}")
TRAINING = Step(name="training", call="build training {}")
TRAINED = "training/train.jsonl"
"""The file that the step TRAINING writes, relative to the build's folder."""
PILOT = Step(name="pilot", call="build pilot {}", arguments=SEVERAL)
"""All steps that ask models, for a few persons: what comes before any of them."""

TEXTS = (PERSONAS, QUESTIONS, ANSWERS)
STEPS = (*TEXTS, PACKS, VOTES, RELEASE)
"""From nothing to a data set. TRAINING follows ANSWERS where no person is for testing."""


def made_by(kind: type[FileRow]) -> Step:
    """The step that writes these rows."""
    return next(step for step in STEPS if kind in step.writes)
