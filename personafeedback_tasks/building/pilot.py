"""A pilot: the texts of a few persons, and the page with everything that somebody reads before more is spent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from ..common import web
from ..pairwise import baselines
from ..pairwise.orders import TWO
from .basis import Bases
from .folder import Folder
from .rows import STRATEGIES, Answer, Basis, Pair, Person, Question, Refused, kept
from .spending import HEADER, SPENT, spent_rows, yield_rows
from .texts.answers import target
from .texts.languages import words
from .texts.pairs import KINDS, in_order
from .texts.runner import MEANINGS

Table = dict[str, Any]
"""Its title, header and rows, and a note."""


def page(folder: Folder, users: Sequence[str]) -> str:
    """The page as HTML, with these users, also those who were dropped."""
    persons = folder.by_id(Person)
    refused = [
        {"step": one.step, "id": one.id, "reason": one.reason, "meaning": MEANINGS.get(one.step, {}).get(one.reason, ""), "text": one.text}
        for one in folder.read(Refused)
    ]  # fmt: skip
    tables = (
        _spent(folder),
        _table("What passed the checks", HEADER, yield_rows(folder)),
        *_lengths(folder, users),
    )
    document = {
        "people": _people(folder, [persons[user] for user in users]),
        "refused": refused,
        "tables": [table for table in tables if table["rows"]],
        "strategies": [name for name in STRATEGIES if any(answer.strategy == name for answer in folder.read(Answer))],
    }
    return web.page(
        Path(__file__).with_name("pilot_page") / "pilot", document,
        title=f"Pilot of {folder.settings.name}", language=folder.settings.language,
    )  # fmt: skip


def _people(folder: Folder, people: Sequence[Person]) -> list[dict[str, Any]]:
    bases = folder.by_id(Basis)
    of_user, of_question = defaultdict[str, list[Any]](list), defaultdict[str, list[Any]](list)
    users, told = {one.user_id for one in people}, Bases(folder)
    asked = [question for question in folder.read(Question) if question.user_id in users]
    about = {question.id: told.shown(question).values for question in asked}
    for answer in folder.read(Answer):
        if answer.question_id in about:
            count, share = baselines.shared_terms(answer.text, about[answer.question_id])
            of_question[answer.question_id].append({
                "model": answer.model, "strategy": answer.strategy, "way": answer.way, "text": answer.text, "words": words(answer.text),
                "shared": count, "share": round(100 * share),
            })  # fmt: skip
    for question in asked:
        basis = bases.get(question.id)
        of_user[question.user_id].append({
            "id": question.id, "question": question.question, "category": question.category, "scenario": question.scenario,
            "keep": question.keep, "reason": question.reason, "target": target(folder.settings, question.id),
            "memory": basis.memory if basis else (), "features": basis.features if basis else (), "answers": of_question[question.id],
        })  # fmt: skip
    return [
        {
            "id": one.user_id, "name": one.name, "split": one.split, "keep": one.keep, "reason": one.reason,
            "profile": folder.persona(one.user_id).text, "questions": of_user[one.user_id],
        }
        for one in people
    ]  # fmt: skip


def _spent(folder: Folder) -> Table:
    people, written = kept(folder.read(Person)), folder.settings.personas
    note = f"With these calls, {len(people):,} persons have {len(folder.read(Answer)):,} answers; build.yaml wants {written:,} personas to be written."
    return _table("Spent so far", SPENT, spent_rows(folder.root)[0], note)


def _lengths(folder: Folder, users: Iterable[str]) -> list[Table]:
    users, texts, bases = {*users}, folder.by_id(Answer), Bases(folder)
    about = {one.id: bases.shown(one).values for one in folder.read(Question) if one.user_id in users}
    shown = [answer for answer in texts.values() if answer.question_id in about]
    by_strategy = []
    for name in STRATEGIES:
        if of_name := [answer for answer in shown if answer.strategy == name]:
            lengths = [words(answer.text) for answer in of_name]
            targets = [target(folder.settings, answer.question_id) for answer in of_name]
            terms = mean(baselines.shared_terms(answer.text, about[answer.question_id])[0] for answer in of_name)
            of_target = f"{100 * sum(lengths) / sum(targets):.0f}"
            by_strategy.append([name, f"{len(of_name):,}", f"{mean(lengths):.0f}", of_target, f"{terms:.1f}"])
    right: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for pair in folder.read(Pair):
        found = in_order(pair, texts)
        if found and (kind := found[0]) and pair.question_id in about:
            _, better, worse = found
            both = better.text, worse.text
            right[kind].append((baselines.longest(both, TWO), baselines.overlap(both, TWO, about[pair.question_id])))
    by_kind = [
        [kind, f"{len(right[kind]):,}", *(f"{100 * mean(acc):.0f}" for acc in zip(*right[kind], strict=True))]
        for kind in KINDS
        if right[kind]
    ]
    return [
        _table("Answers: length and overlap", ["told", "answers", "mean words", "% of target", "terms of the persona"], by_strategy),
        _table(
            "Pairs: how often a shortcut picks the better informed answer", ["kind", "pairs", "longest, %", "overlap, %"], by_kind,
            "Chance is 50. `build release` warns where one of these is right in more than 60 % of the Hard cases. Of two writers, the first in the alphabet "
            "counts as the better informed.",
        ),
    ]  # fmt: skip


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> Table:
    return {"title": title, "header": list(header), "rows": [list(row) for row in rows], "note": note}
