"""Rows of the three stages -> what people are asked about them, and their answers -> rows with votes, in a folder:

asked/extraction.jsonl, relevance.jsonl, response.jsonl   the rows of the packs; it only grows
asked/conversations.jsonl                                 conversations in which a model noted nothing
extraction.jsonl, relevance.jsonl, response.jsonl         those with votes: the folder is data of every task
missing.jsonl                                             what people missed in a conversation, see `missing`
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from ..annotation.items import NONE, Item, guidelines
from ..common import private
from ..common.errors import DataError
from ..common.files import Content, write_all
from ..common.folders import SAMPLE
from ..common.records import json_lines, leaves, short
from ..engine.cases import digest_of
from ..engine.earlier import Earlier
from .data import each_if_there, file_name, load
from .extract import EXTRACT
from .histories import CONVERSATIONS, Conversation, parse_conversation
from .made import extracted, replied, selected
from .respond import RESPOND
from .rows import SCALE, STAGES, VERDICTS, Extraction, JudgedRow, Message, Relevance, Response, StageRow, transcript
from .select import SELECT

ASKED = "asked"
MISSED = "missing.jsonl"

FILES: Mapping[type[StageRow], str] = {**{stage: file_name(stage) for stage in STAGES}, Conversation: CONVERSATIONS}
"""What people are asked about -> its file."""

MISSING, NOTHING = "missing", "nothing"
"""Answers to whether a conversation shows more of its user than was noted."""

ATTRIBUTE = dict(zip(VERDICTS, ("Makes sense", "Unsure", "Wrong"), strict=True))
LACKING = {NOTHING: "Nothing is missing", MISSING: "Something is missing: it is in my note"}
RATING = dict(
    zip(
        map(str, SCALE),
        ("A is much better", "A is somewhat better", "No difference", "B is somewhat better", "B is much better"),
        strict=True,
    )
)
MIRRORED = dict(zip(RATING, reversed(RATING), strict=True))
INSTRUCTED = "Please tick this line, too: it shows that the list was read."

GUIDELINES = guidelines(Path(__file__).with_name("guidelines.yaml"))
"""Stage -> what people are told."""

Row = TypeVar("Row", bound=JudgedRow)


AskedRows = Mapping[type[StageRow], Sequence[Any]]
"""Stage -> the rows that people are asked about; Conversation -> conversations in which nothing was noted."""


def items(rows: AskedRows) -> list[Item]:
    """What people are asked: each attribute of a conversation and what is missing there; each profile; each pair of replies."""
    return [
        *_of_conversations(rows),
        *map(_of_profile, _together(rows.get(Relevance, ()), lambda row: (row.user_id, row.prompt))),
        *map(_of_replies, rows.get(Response, ())),
    ]


def _together(rows: Iterable[Row], key: Any) -> list[list[Row]]:
    found: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return list(found.values())


def question_id(row: JudgedRow) -> str:
    """The question that is about a row."""
    name = digest_of((row.user_id, row.prompt)) if isinstance(row, Relevance) else row.id
    return f"{row.stage}:{name}"


def block_of(row: StageRow) -> str:
    """The block of questions that is about a row or a conversation."""
    if isinstance(row, Extraction):
        return _missing_id(row.user_id, row.conversation)
    if isinstance(row, Conversation):
        return _missing_id(row.user_id, row.messages)
    assert isinstance(row, JudgedRow)
    return question_id(row)


def some_of(rows: AskedRows, count: int, place: Callable[[str], float]) -> dict[type[StageRow], list[Any]]:
    """What the first blocks of questions are about, as many of each kind.

    Args:
        place: of a block, in their order.
    """
    blocks: dict[str, set[str]] = defaultdict(set)
    for question in items(rows):
        blocks[question.kind].add(question.block)
    kept = {block for of_kind in blocks.values() for block in sorted(of_kind, key=place)[:count]}
    return {stage: [row for row in own if block_of(row) in kept] for stage, own in rows.items()}


def _noted(rows: AskedRows) -> dict[tuple[str, tuple[Message, ...], str], list[Extraction]]:
    """(user, conversation, source) -> the attributes that were noted there."""
    found = {}
    for own in _together(rows.get(Extraction, ()), lambda row: (row.user_id, row.conversation)):
        found[own[0].user_id, own[0].conversation, own[0].source] = own
    known = {key[:2] for key in found}
    for bare in rows.get(Conversation, ()):
        if (bare.user_id, bare.messages) not in known:
            found[bare.user_id, bare.messages, bare.source] = []
    return found


def _of_conversations(rows: AskedRows) -> Iterator[Item]:
    for (user, conversation, _), own in _noted(rows).items():
        name = _missing_id(user, conversation)
        for row in own:
            texts = {"conversation": row.transcript, "attribute": row.attribute, "reason": row.reason}
            yield Item(
                id=question_id(row), user_id=row.user_id, kind=row.stage, block=name, texts=texts, answers=ATTRIBUTE
            )  # fmt: skip
        noted = "\n".join(f"- {row.attribute}" for row in own) or "Nothing was noted."
        yield Item(
            id=name, user_id=user, kind=Extraction.stage, block=name, answers=LACKING, noted=(MISSING,),
            texts={"conversation": transcript(conversation), "attributes": noted}, asks="Does the conversation show more about the user that is worth remembering?",
        )  # fmt: skip


def _missing_id(user: str, conversation: Sequence[Message]) -> str:
    return f"{MISSING}:{digest_of((user, conversation))}"


def _of_profile(own: Sequence[Relevance]) -> Item:
    name = question_id(own[0])
    answers = {str(number): row.attribute for number, row in enumerate(own, start=1)}
    return Item(
        id=name, user_id=own[0].user_id, kind=Relevance.stage, block=name, texts={"prompt": own[0].prompt}, answers=answers, several=True
    )  # fmt: skip


def _of_replies(row: Response) -> Item:
    name = question_id(row)
    return Item(
        id=name, user_id=row.user_id, kind=row.stage, block=name, texts={"attribute": row.attribute, "prompt": row.prompt}, answers=RATING,
        options={"generic": row.generic, "personalized": row.personalized}, mirrored=MIRRORED,
    )  # fmt: skip


class Attention:
    """Questions to which whoever reads knows the answer: somebody else's attribute, a line that asks to be ticked, a reply to another prompt."""

    def __init__(self, asked: Sequence[Item], seed: int):
        self._asked, self._seed = asked, seed

    def __call__(self, question: Item, given: Sequence[str]) -> Item | None:
        """The question as such a one; None if it takes another user, and there is none."""
        if question.several:
            number = str(len(question.answers) + 1)
            return replace(question, answers={**question.answers, number: INSTRUCTED}, expected=(number,))
        others = [
            other
            for other in self._asked
            if other.kind == question.kind
            and other.user_id != question.user_id
            and other.answers == question.answers
            and _read(other).isdisjoint(_read(question))
        ]
        other = min(others, key=lambda other: digest_of((self._seed, question.id, other.id)), default=None)
        if other is None or question.noted:
            return None
        if question.options:
            options = {"other": other.options["generic"], "generic": question.options["generic"]}
            return replace(question, options=options, expected=("4", "5"))
        return replace(
            question, texts={**other.texts, "conversation": question.texts["conversation"]}, expected=VERDICTS[1:]
        )


def _read(question: Item) -> set[str]:
    """The texts that tell two questions apart: many models give the same reason, or none, for everything."""
    return {text for name, text in question.texts.items() if name != "reason"}


def votes_of(rows: Iterable[JudgedRow], answers: Iterable[tuple[Item, str]]) -> dict[str, list[object]]:
    """Id of a row of one stage -> what each person said of it, in the order of the answers; without rows that nobody judged.

    Args:
        answers: (question, answer) of each person.
    """
    of_question: dict[str, list[tuple[Item, str]]] = defaultdict(list)
    for question, answer in answers:
        of_question[question.id].append((question, answer))
    found: dict[str, list[object]] = {}
    for row in rows:
        if said := [_judgment(row, question, answer) for question, answer in of_question[question_id(row)]]:
            found[row.id] = said
    return found


def _judgment(row: JudgedRow, question: Item, answer: str) -> object:
    """As the row's `votes` have it."""
    if isinstance(row, Relevance):
        ticked = set(answer.split()) - {NONE}
        return any(question.answers[number] == row.attribute for number in ticked)
    return int(answer) if isinstance(row, Response) else answer


def missing(rows: AskedRows, answers: Iterable[tuple[Item, str, str]]) -> list[dict[str, object]]:
    """What people named as missing, a row for each conversation that they were asked about.

    Args:
        answers: (question, answer, note) of each person.

    Returns:
        id, user_id, source; attributes: ids of the rows that people saw; missing: what each person named, a list of texts each.
    """
    named: dict[str, list[list[str]]] = defaultdict(list)
    for question, answer, note in answers:
        named[question.id].append(
            [text.strip() for text in note.split(";") if text.strip()] if answer == MISSING else []
        )
    return [
        {
            "id": name.partition(":")[2],
            "user_id": user,
            "source": source,
            "conversation": [message._asdict() for message in conversation],
            "attributes": [row.id for row in own],
            "missing": named[name],
        }
        for (user, conversation, source), own in _noted(rows).items()
        if (name := _missing_id(user, conversation)) in named
    ]


def rows_in(data: Path | str, stages: Iterable[type[JudgedRow]] = STAGES) -> dict[type[StageRow], list[Any]]:
    """The rows of a folder or of the sample, judged or not, by id; without stages that have no file.

    Raises:
        DataError: a file is broken.
    """
    folder = Path(__file__).with_name(SAMPLE) if data == SAMPLE else Path(data)
    found: dict[type[StageRow], list[Any]] = {}
    for stage in stages:
        if (folder / file_name(stage)).is_file():
            found[stage] = sorted(load(stage, folder), key=lambda row: row.id)
    return found


def made_in(runs: Iterable[tuple[str, Earlier]]) -> tuple[dict[type[StageRow], list[Any]], Counter[str]]:
    """(what runs made, as rows that nobody judged; why something is no row -> how often): attributes, profiles for prompts, pairs of replies,
    and conversations without an attribute among these.

    The ids follow from the texts: what several models make alike is there once.

    Args:
        runs: each with its benchmark, one of MADE.
    """
    found: dict[type[StageRow], dict[str, Any]] = {}
    left_out = Counter[str]()
    for benchmark, run in runs:
        stage, rows = MADE[benchmark]
        for row in rows(run):
            texts = list(leaves(without_votes(row)))
            if not all(map(str.strip, texts)):
                left_out["without both replies"] += 1
            elif any(map(private.first_in, texts)):
                left_out["with personal data"] += 1
            else:
                found.setdefault(stage, {}).setdefault(row.id, row)
        if stage is Extraction:
            noted = {(row.user_id, row.conversation) for row in found.get(Extraction, {}).values()}
            bare = (one for one in _conversations(run) if (one.user_id, one.messages) not in noted)
            found.setdefault(Conversation, {}).update((one.id, one) for one in bare)
    return {stage: list(rows.values()) for stage, rows in found.items()}, left_out


def _conversations(run: Earlier) -> Iterator[Conversation]:
    for case in run.cases:
        messages = tuple(Message(**message) for message in case.facts["conversation"])
        yield Conversation(case.id, case.user_id, messages, case.cell)


def _extracted(run: Earlier) -> Iterator[JudgedRow]:
    for one in extracted(run):
        name = _id(one.conversation_id, one.attribute)
        yield Extraction(name, one.user_id, one.conversation, one.attribute, one.reason, one.source)


def _listed(run: Earlier) -> Iterator[JudgedRow]:
    for one in selected(run):
        for attribute in one.attributes:
            yield Relevance(_id(one.id, attribute), one.user_id, one.prompt, attribute)


def _replied(run: Earlier) -> Iterator[JudgedRow]:
    for one in replied(run):
        yield replace(one.row, id=_id(one.id, one.generic, one.personalized))


def _id(about: str, *texts: str) -> str:
    return f"{about}-{digest_of([' '.join(text.casefold().split()) for text in texts])}"


MADE: Mapping[str, tuple[type[JudgedRow], Callable[[Earlier], Iterator[JudgedRow]]]] = {
    EXTRACT.name: (Extraction, _extracted), SELECT.name: (Relevance, _listed), RESPOND.name: (Response, _replied),
}  # fmt: skip
"""Benchmark whose runs make something -> the stage in which people judge it, and its rows."""


def add(folder: Path, new: AskedRows) -> dict[type[StageRow], list[Any]]:
    """Add rows to those that people are asked about, and give all of them, by id.

    Raises:
        DataError: a row has the id of one with other texts. Nothing is written.
    """
    asked = asked_in(folder)
    for stage, rows in new.items():
        there: dict[str, StageRow] = {row.id: row for row in asked.setdefault(stage, [])}
        for row in rows:
            known = there.setdefault(row.id, row)
            if without_votes(known) != without_votes(row):
                raise DataError(
                    f"{folder / ASKED / FILES[stage]}: found {short(row.id)} with other texts than the new row of that id, expected the same. "
                    "Give the new row another id, or use a new folder."
                )
        asked[stage] = sorted(there.values(), key=lambda row: row.id)
    contents: dict[Path, Content] = {
        folder / ASKED / FILES[stage]: json_lines(
            [{**without_votes(row), **({} if stage is Conversation else {"votes": []})} for row in rows]
        )
        for stage, rows in asked.items()
    }
    write_all(contents)
    return asked


def asked_in(folder: Path) -> dict[type[StageRow], list[Any]]:
    """The rows and conversations that people are asked about; none before the first pack."""
    found = rows_in(folder / ASKED)
    if bare := each_if_there(folder / ASKED / CONVERSATIONS, parse_conversation):
        found[Conversation] = bare
    return found


def without_votes(row: StageRow) -> dict[str, Any]:
    """A row as its file has it, without people's judgment."""
    if isinstance(row, Conversation):
        return {"user_id": row.user_id, "conversation": [of._asdict() for of in row.messages], "source": row.source}
    values = {
        one.name: getattr(row, one.name) for one in fields(row) if one.compare and one.name not in ("label", "votes")
    }
    if isinstance(row, Extraction):
        values["conversation"] = [message._asdict() for message in row.conversation]
    return values


def write_judged(folder: Path, answers: Sequence[tuple[Item, str, str]]) -> dict[str, int]:
    """Write the rows that people judged, and what they missed: name of a file -> its rows.

    Args:
        answers: (question, answer, note) of each person.
    """
    asked = asked_in(folder)
    contents: dict[str, list[dict[str, Any]]] = {}
    for stage in STAGES:
        rows = asked.get(stage, ())
        votes = votes_of(rows, [(question, answer) for question, answer, _ in answers])
        contents[FILES[stage]] = [{**without_votes(row), "votes": votes[row.id]} for row in rows if row.id in votes]
    contents[MISSED] = missing(asked, [one for one in answers if one[0].noted])
    written = {name: rows for name, rows in contents.items() if rows or (folder / name).is_file()}
    write_all({folder / name: json_lines(rows) for name, rows in written.items()})
    return {name: len(rows) for name, rows in written.items()}
