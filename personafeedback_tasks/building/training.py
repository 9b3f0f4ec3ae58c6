"""`build training`: pairs for a reward model, as TRL reads them, without test data (arXiv 2506.12915, Appendix E)."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import mean
from typing import Any

from ..annotation.items import Item
from ..annotation.rows import Vote
from ..annotation.study import Say
from ..common.errors import DataError
from ..common.outputs import json_lines
from ..common.similar import Seen
from ..personafeedback.cases import PersonaCase, load_present
from ..personafeedback.persona import Persona
from ..personafeedback.prompts import Template, conversation
from .build import Build
from .rows import FULL, QUESTION, TEST, TRAIN, Answer, Pair, Person
from .steps import ANSWERS, TRAINED

WRITTEN, LABELED, RATED = "full over question", "labeled", "rated"
"""Kinds of pairs: the answer of a model that was told the persona over the one of the same model that was not, so
that no model's style is the label; a label that came with an imported pair; and a rating by people.
"""

COPY = 0.6
"""Likeness from which a response is a copy. No two of 5,552 General responses to different users reach 0.2."""

SHORT = 60
"""Characters below which a response is no copy: two people may get one short answer. 7 of those 5,552 are shorter."""

NONE = "none"
"""Value of --benchmark for no comparison with a benchmark."""


def make_training(build: Build, judged: Sequence[tuple[Item, Vote]], benchmark: str | None, say: Say) -> None:
    """Write training/train.jsonl. Raises DataError if there is no pair, or no such benchmark.

    Args:
        judged: (item, vote) of each person who rated replies; with some, the build needs no persons.
        benchmark: test data to exclude: a folder or a Hub id; the default data if None; NONE for the build's own.
    """
    tested_users = {person.user_id for person in build.read(Person) if person.split == TEST}
    made = [*_own_pairs(build), *_rated_pairs(judged, tested_users)]
    tested = Seen(COPY)
    for number, text in enumerate(dict.fromkeys(_test_responses(build, tested_users, benchmark))):
        if len(text) >= SHORT:
            tested.add(str(number), text)
    pairs = [(kind, case) for kind, case in made if not any(map(tested.like, case.responses))]
    if copied := len(made) - len(pairs):
        say(f"! left out: {copied:,} pairs with a response of test data, or with a near copy of one")
    if not pairs:
        raise DataError(
            f"{build.root}: found no pair to train on, expected training persons with answers or labels, or ratings "
            "that differ. Set `test` in build.toml below 1 before the personas are written (`build init --test` "
            f"for pairs of your own), and run: {ANSWERS.command(build.root)}"
        )
    out = build.root / TRAINED
    build.commit({out: json_lines([_as_trl_reads(kind, case) for kind, case in pairs])})
    kinds = Counter(kind for kind, _ in pairs)
    say(f"wrote {out}: {len(pairs):,} pairs ({', '.join(f'{kind} {count:,}' for kind, count in kinds.items())})")
    data = shlex.quote(str(out.parent))
    say(f"Next: trl reward --dataset_name {data}, with the options of docs/training.md")


def _own_pairs(build: Build) -> Iterator[tuple[str, PersonaCase]]:
    # Of the training persons, in the order of questions.csv. A label replaces what the same pair was built to be.
    answers, pairs = build.by_id(Answer), defaultdict[str, list[tuple[str, str, str]]](list)
    labeled = [pair for pair in build.read(Pair) if pair.label]
    for pair in labeled:
        pairs[pair.question_id].append((LABELED, pair.label, pair.other(pair.label)))
    known = {frozenset((pair.first, pair.second)) for pair in labeled}
    without = {(one.question_id, one.model): one.id for one in answers.values() if one.strategy == QUESTION}
    for answer in answers.values():
        worse = without.get((answer.question_id, answer.model))
        if answer.strategy == FULL and worse and frozenset((answer.id, worse)) not in known:
            pairs[answer.question_id].append((WRITTEN, answer.id, worse))
    for question in build.questions(TRAIN):
        for kind, chosen, rejected in pairs[question.id]:
            texts = answers[chosen].text, answers[rejected].text
            yield kind, _case(f"{chosen} over {rejected}", build.persona(question.user_id), question.question, *texts)


def _rated_pairs(judged: Iterable[tuple[Item, Vote]], tested_users: set[str]) -> Iterator[tuple[str, PersonaCase]]:
    # Two replies that people rated against each other on a scale: the mean decides. An item's last text is the
    # prompt; those before it describe the user.
    ratings: dict[str, list[int]] = defaultdict(list)
    items = {item.id: item for item, _ in judged}
    for item, vote in judged:
        if item.options and vote.chosen in item.answers and item.user_id not in tested_users:
            ratings[item.id].append([*item.answers].index(vote.chosen))
    for name, of_item in ratings.items():
        item, (first, second) = items[name], items[name].options.values()
        above = mean(of_item) - (len(item.answers) - 1) / 2  # the middle of the scale
        if above:
            *known, prompt = item.texts
            persona = Persona(item.user_id, {text: item.texts[text] for text in known})
            responses = (second, first) if above > 0 else (first, second)
            yield RATED, _case(name, persona, item.texts[prompt], *responses)


def _case(name: str, persona: Persona, question: str, *responses: str) -> PersonaCase:
    return PersonaCase.of(persona, id=name, cell="", question=question, responses=responses)


def _test_responses(build: Build, tested_users: set[str], benchmark: str | None) -> Iterator[str]:
    texts = {answer.id: answer.text for answer in build.read(Answer)}
    for pair in build.read(Pair):
        if pair.user_id in tested_users:
            yield from (texts[name] for name in (pair.first, pair.second) if name in texts)
    if benchmark == NONE:
        return
    try:
        cases = load_present(benchmark, counts="any")
    except DataError as error:
        raise DataError(
            f"{error} Without the benchmark, copies of its pairs cannot be found: pass --benchmark FOLDER, or "
            f"`--benchmark {NONE}` to do without."
        ) from error
    for case in cases:
        yield from case.responses


def _as_trl_reads(kind: str, case: PersonaCase) -> dict[str, Any]:
    # The turns before the response once, with the persona where method=reward has it, and each response as one turn.
    chosen, rejected = (conversation(case, Template(), side) for side in ("chosen", "rejected"))
    return {
        "prompt": chosen[:-1],
        "chosen": chosen[-1:],
        "rejected": rejected[-1:],
        "id": case.id,
        "kind": kind,
        "user_id": case.user_id,
    }
