"""`build status`: what is done, what it took, what was refused, and the command to go on with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ..common.errors import DataError, require
from .folder import BELOW, Folder, command
from .rows import FULL, OWN, SPLITS, TEST, Answer, Origin, Pair, Person, Question, Refused, Shown, Tiered, Vote
from .texts.answers import FIRST, REWRITES, answer_id
from .texts.asking import short_reason
from .texts.pairs import Balance, balance
from .texts.personas import names, other_seed
from .texts.questions import general_slot, slots
from .votes.shown_texts import refuse_edited_labels, refuse_edited_votes


@dataclass
class Status:
    """Where a build is.

    Attributes:
        steps: (step, what is done) in their order.
        balances: the lengths of the pairs.
        refused: (step, reason) -> texts.
        spent: (step, model, texts, input tokens, output tokens).
        unread: logs that cannot be read.
        edited: what is to be done about texts that were edited since people were sent them; empty if none was.
        next: the command to go on with; empty when all is done.
    """

    steps: list[tuple[str, str]] = field(default_factory=list)
    balances: list[Balance] = field(default_factory=list)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    spent: list[tuple[str, str, int, int, int]] = field(default_factory=list)
    unread: int = 0
    edited: str = ""
    next: str = ""


def status(folder: Folder) -> Status:
    """Where a build is.

    Raises:
        DataError: a file of the build is broken, or there is no build.
    """
    found, settings = Status(), folder.settings
    people, questions, answers, pairs = (
        folder.read(Person),
        folder.read(Question),
        folder.read(Answer),
        folder.read(Pair),
    )
    shown, votes, tiers, below = folder.read(Shown), folder.read(Vote), folder.read(Tiered), folder.read(Tiered, BELOW)
    kept = [one for one in people if one.keep != "no"]
    of_split = Counter(one.split for one in kept)
    seed = other_seed(settings, folder.read(Origin))
    changed = "" if seed is None else f"; written with seed {seed}, build.yaml has {settings.seed}: put it back"
    splits = ", ".join(f"{of_split[one]} {one}" for one in SPLITS)
    found.steps.append(("personas", f"{len(kept)} ({splits}){_dropped(people, kept)}{changed}"))
    users = {one.user_id for one in kept}
    asked = [one for one in questions if one.keep != "no" and one.user_id in users]
    of_category = _counts(one.category for one in asked)
    found.steps.append(("questions", f"{len(asked)}{of_category}{_dropped(questions, asked)}"))
    found.steps.append(("answers", f"{len(answers)}{_counts(one.strategy for one in answers)}; {len(pairs)} pairs"))
    found.steps.append(("packs", f"{len({one.annotator for one in shown})} annotators, {len(shown)} items"))
    cast = len({(one.annotator, one.pair_id) for one in votes})
    found.steps.append(
        (
            "votes",
            f"{cast} of {len(pairs) * settings.annotators} ({settings.annotators} to each pair) by {len({one.annotator for one in votes})}",
        )
    )
    found.steps.append(("tiers", f"{len(tiers)} cases{_counts(one.difficulty for one in tiers)}; {len(below)} below"))
    lacking = _lacking(folder, people, questions, answers)
    released = (folder.root / "release" / "set.json").is_file()
    found.steps.append(("release", "release/" if released else "none"))
    found.balances = balance(pairs, answers)
    found.refused.update((one.step, short_reason(one.reason)) for one in folder.read(Refused))
    _spent(folder, found)
    found.steps = [
        (step, f"{done}; {lacking[step]} lacking: run it again" if lacking.get(step) else done)
        for step, done in found.steps
    ]
    old_labels = _refusal(refuse_edited_labels, folder, tiers)
    found.edited = _refusal(refuse_edited_votes, folder) or (old_labels if not votes else "")
    for step, missing, rest in (
        ("personas", not people or lacking["personas"], "--model MODEL"),
        ("questions", not questions or lacking["questions"], "--model MODEL"),
        ("answers", not (pairs if of_split[TEST] else answers) or lacking["answers"], "--model MODEL --model OTHER"),
        ("training", not (of_split[TEST] or pairs), ""),
        ("packs", not (shown or votes or tiers), ""),
        ("votes", not (votes or tiers), "FILE..."),
        ("tiers", not tiers or old_labels, ""),
        ("release", not released, ""),
    ):
        if missing:
            found.next = f"{command(step, folder.root)} {rest}".rstrip()
            break
    return found


def _refusal(check: Callable[..., None], *arguments: object) -> str:
    """The finding of a check; empty if it finds nothing."""
    try:
        check(*arguments)
    except DataError as error:
        return str(error)
    return ""


def _lacking(folder: Folder, people: list[Person], questions: list[Question], answers: list[Answer]) -> dict[str, int]:
    """Step -> texts that a model was to write and that neither came nor were refused: they failed, or the step was killed.

    Only where a model has written something: a team may bring all of it.
    """
    settings, refused = folder.settings, {one.id for one in folder.read(Refused)}
    origins = folder.read(Origin)
    of_models = {one.kind for one in origins if one.model != OWN}
    have = {*refused, *(part for one in origins for part in (one.id, *one.parents)), *(one.id for one in answers)}
    test = {one.user_id for one in people if one.split == TEST}
    expected: dict[str, list[str]] = {"personas": [], "questions": [], "answers": []}
    users = [one.user_id for one in people if one.keep != "no"]
    asked = [one for one in questions if one.keep != "no" and one.user_id in users]
    if "persona" in of_models and other_seed(settings, origins) is None:
        expected["personas"] = names(settings)
    if "question" in of_models:
        general = Counter(one.user_id for one in questions if one.category == "general")
        for user in users:
            expected["questions"] += slots(settings, user)
            expected["questions"] += [general_slot(settings, user)] * (general[user] < settings.general)
    for model in sorted({one.model for one in answers if one.strategy in FIRST}):
        expected["answers"] += [answer_id(one.id, strategy, model) for one in asked for strategy in FIRST]
    known = {one.id for one in asked}
    for one in answers:
        if one.strategy == FULL and one.user_id in test and one.question_id in known:
            expected["answers"] += [answer_id(one.question_id, strategy, one.model, one.id) for strategy in REWRITES]
    return {step: sum(one not in have for one in ids) for step, ids in expected.items()}


def _spent(folder: Folder, found: Status) -> None:
    if not any((folder.root / "logs").glob("*/*.eval")):
        return
    require("inspect_ai", extra="build")
    from ..inspect_harness.spent import spent

    rows, broken = spent(folder.root)
    found.spent = [(one.step, one.model, one.texts, one.input_tokens, one.output_tokens) for one in rows]
    found.unread = len(broken)


def _counts(names: object) -> str:
    """` (3 full, 2 masked)`; empty for none."""
    of = Counter(names)  # type: ignore[call-overload]
    return f" ({', '.join(f'{count} {name}' for name, count in of.items())})" if of else ""


def _dropped(lines: list[Person] | list[Question], kept: list[Person] | list[Question]) -> str:
    return f", {len(lines) - len(kept)} dropped" if len(lines) > len(kept) else ""
