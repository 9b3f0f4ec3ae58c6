"""Written replies and what they stand against -> a data folder in the release's layout, whose `chosen` is the reply."""

# Every task, method, harness and judge then compares them as they compare any two responses, in both orders; acc is the
# win rate of the writer. Against the release's responses, a reply meets that of each case with its question; against
# another writer's, it meets the other reply once, in the first cell with the question.
#
# Two sides with the same text are a tie, and an empty reply has lost to a text: neither is asked.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..common.errors import DataError
from ..common.files import Content
from ..common.outputs import json_lines
from ..common.records import cut, short
from ..core.duels import Duel, NotAsked
from ..core.method import Reply
from ..parsing.markup import shown_text
from ..personafeedback import memory
from ..personafeedback.cases import PERSONAS, PersonaCase
from ..personafeedback.cells import CELLS, category_of, difficulty_of
from ..personafeedback.manifest import CHOSEN, FILE, LONGEST_NAME, REJECTED, Manifest
from .cases import Questions, UserQuestion

SIDES = (CHOSEN, REJECTED)
"""The release's responses that a reply can stand against."""


@dataclass(frozen=True)
class DuelPair:
    """A reply and what it stands against."""

    case: PersonaCase  # of the release, which names the cell
    reply: str  # as a user would read it; empty where there is none
    other: str  # the same of the other side

    @property
    def why_not(self) -> str:
        """Why no judge needs to be asked: a key of `duels.WON`; empty otherwise."""
        if self.reply == self.other.strip():
            return "tie"
        return "empty" if not self.reply else "other_empty" if not self.other.strip() else ""


@dataclass(frozen=True)
class Writer:
    """A model's replies."""

    model: str
    name: str  # the model, and how it was asked where that is not the default
    replies: Mapping[str, Reply]  # by question id
    where: Path  # the file that they are from, for errors

    def to(self, question: UserQuestion) -> Reply:
        """The writer's reply to a question; DataError if there is none."""
        if question.id not in self.replies:
            raise DataError(
                f"{self.where}: found no reply to {short(question.id)}, expected one to every question of a duel. "
                "Resume the run, or write for the same cells."
            )
        return self.replies[question.id]


def pairs(questions: Questions, writer: Writer, against: str | Writer) -> list[DuelPair]:
    """What is compared, in the order of the release's files. Questions that the writer was not asked are left out.

    Args:
        against: `chosen` or `rejected` of the release, or the replies of another writer.
    """
    compared = []
    for question in questions:
        if question.id not in writer.replies:
            continue
        text = shown_text(writer.replies[question.id].text) or ""
        in_order = sorted(question.pairs, key=_place)
        if isinstance(against, Writer):
            compared.append(DuelPair(in_order[0], text, shown_text(against.to(question).text) or ""))
        else:
            compared += [DuelPair(case, text, case.responses[SIDES.index(against)]) for case in in_order]
    return sorted(compared, key=lambda pair: _place(pair.case))


def files(
    compared: Sequence[DuelPair],
    writer: str,
    against: str,
    models: tuple[str, ...] = (),
    root: Path = Path(),
    demonstration: bool = False,
) -> dict[str, Content]:
    """Path in the folder -> content, of the cells and the manifest."""
    asked: dict[str, list[DuelPair]] = {}
    not_asked = []
    for pair in compared:
        case = pair.case
        if pair.why_not:
            not_asked.append(NotAsked(case=case.id, cell=case.cell, user_id=case.user_id, why=pair.why_not))
        else:
            asked.setdefault(case.cell, []).append(pair)
    if not asked:
        raise DataError(
            f"There is nothing to ask: of {len(compared):,} pairs, every one is a tie or has an empty side. Look at "
            "the replies in the log."
        )
    sides = (writer,) if against in SIDES else (writer, against)
    manifest = Manifest(
        name=_name(writer, against),
        counts={cell: len(asked[cell]) for cell in CELLS if cell in asked},
        labels=(
            f"Nobody labeled these pairs: the reply of {writer} stands as chosen, so that acc is its win rate over the "
            "pairs that are asked; ties and empty replies are not."
        ),
        generator=" and ".join(sides),
        duel=Duel(
            writer=writer,
            against=against,
            models=models or sides,
            pairs=len(compared),
            not_asked=tuple(not_asked),
            demonstration=demonstration,
        ),
    )
    contents: dict[str, Content] = {FILE: manifest.content(root)}
    for cell, pairs in asked.items():
        path = f"data/{category_of(cell)}/{difficulty_of(cell)}.jsonl"
        contents[path] = json_lines(
            {
                "user_id": pair.case.user_id, "question": pair.case.question, "chosen": pair.reply, "reject": pair.other,
                "source": pair.case.id,
            }
            for pair in pairs
        )  # fmt: skip
    return contents


def _name(writer: str, against: str) -> str:
    # Where it is too long, both sides are cut, so that both are still named.
    room = LONGEST_NAME - len("duel of  against ")
    writer = cut(writer, max(room // 2, room - len(against)))
    return f"duel of {writer} against {cut(against, room - len(writer))}"


def people(root: Path) -> dict[str, bytes]:
    """Path -> content of all personas and memories of a release, so that `other_persona` gives each user the same."""
    paths = (path for folder in (PERSONAS, memory.FOLDER) for path in sorted((root / folder).glob("*.json*")))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def _place(case: PersonaCase) -> tuple[int, int]:
    return CELLS.index(case.cell), case.line
