"""`build training`: pairs to train a reward model on (arXiv 2506.12915, section 3.5 and Appendix E), as TRL reads them, without test data.

The answer that knew more about the user is chosen, over one by the same model, so that no model's style is the label.
"""

# Better are the whole persona over none, and over the masked one. Pairs with labels of their own (imported, or voted on) count as labeled,
# and only so. The persona is placed as in the prompt of method=reward.

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from ...annotation.items import Item
from ...annotation.rows import Vote
from ...common.errors import DataError, OptionError, require
from ...common.files import write
from ...common.records import json_lines
from ...core.conversation import has_system_turn, without_system
from ...personafeedback.cases import PersonaCase, load_present
from ...personafeedback.conversations import conversation
from ...personafeedback.persona import Persona
from ...personafeedback.prompts import Template
from ..folder import Folder
from ..rows import FULL, MASKED, QUESTION, TEST, TRAIN, Answer, Pair, Person, Tiered
from ..steps import ANSWERS, Say
from ..votes import refuse_edited_labels
from . import contamination
from .contamination import SIDES, TrainingPair, plain, refuse_test_personas

KINDS: Mapping[str, tuple[str, str]] = {"full over question": (FULL, QUESTION), "full over masked": (FULL, MASKED)}
"""Kind of pair -> the strategy of the better answer, and of the other."""

LABELED = "labeled"
"""The kind of a pair whose label is in tiers.jsonl."""

RATED = "rated"
"""The kind of a pair that people rated on a scale."""

NO_DIFFERENCE, OF_TESTED = "that people rate as equal", "of a test person of this build"
"""Reasons to leave out a rated pair."""

SHARED = "whose question a test person asks, too"
"""Reason to leave out a pair `full over question`: the answer to the question alone would be in training and in test data."""


def own_pairs(folder: Folder) -> tuple[list[TrainingPair], Counter[str]]:
    """(pairs of the training persons in the order of questions.csv, reason -> number of pairs left out).

    Raises:
        DataError: there are none, a training person has the persona of a test person, or a labeled text was edited since.
    """
    people = folder.people(TRAIN)
    if not people:
        raise DataError(
            f"{folder.path(Person)}: found no person of the split train, expected some. Set `test` in build.yaml below 1 "
            "before the personas are written, or change the column split for persons whose pairs nobody has voted on."
        )
    refuse_test_personas(folder)
    answers, trained = folder.by_id(Answer), {person.user_id for person in people}
    of_question: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers.values():
        of_question[answer.question_id].append(answer)
    labels, labeled = folder.read(Tiered), defaultdict[str, list[Tiered]](list)
    refuse_edited_labels(folder, [label for label in labels if label.user_id in trained])
    for label in labels:
        labeled[label.question_id].append(label)
    made: list[TrainingPair] = []
    left_out: Counter[str] = Counter()
    asked = {plain(question.question) for question in folder.questions(TEST)}
    for question in folder.questions(TRAIN):
        for better, worse, kind in _pairs(of_question[question.id], labeled[question.id], answers):
            if kind in KINDS and worse.strategy == QUESTION and plain(question.question) in asked:
                left_out[SHARED] += 1
                continue
            case = PersonaCase(
                f"{better.id} over {worse.id}", "", "", folder.persona(question.user_id), question.question, better.text, worse.text
            )  # fmt: skip
            made.append(_training_pair(case, kind))
    if not made:
        raise DataError(
            f"{folder.path(Answer)}: found no pair of a training person, expected answers of the strategies full, question and masked. Run first: "
            f"{ANSWERS.command(folder.root)}"
        )
    return made, left_out


def rated_pairs(
    judged: Iterable[tuple[Item, Vote]], tested: Collection[str]
) -> tuple[list[TrainingPair], Counter[str]]:
    """(pairs of two replies that people rated against each other, reason -> number of pairs left out).

    The mean rating decides which reply is chosen. An item's last text is the prompt; those before it describe the user.

    Args:
        judged: (item, vote) of each person; items without a scale between two options are passed over.
        tested: users to leave out.
    """
    ratings: dict[str, list[int]] = defaultdict(list)
    items: dict[str, Item] = {}
    for item, vote in judged:
        if len(item.options) == 2 and vote.chosen in item.answers:
            items[item.id] = item
            ratings[item.id].append([*item.answers].index(vote.chosen))
    made, left_out = [], Counter[str]()
    for name, item in items.items():
        lead = 2 * mean(ratings[name]) - (len(item.answers) - 1)  # above 0: the second reply is better
        if not lead or item.user_id in tested:
            left_out[NO_DIFFERENCE if not lead else OF_TESTED] += 1
            continue
        rejected, chosen = (*item.options.values(),)[:: 1 if lead > 0 else -1]
        *known, prompt = item.texts
        persona = Persona(item.user_id, {name: item.texts[name] for name in known})
        made.append(_training_pair(PersonaCase(name, "", "", persona, item.texts[prompt], chosen, rejected), RATED))
    return made, left_out


def _pairs(
    of_question: Sequence[Answer], labeled: Iterable[Tiered], answers: Mapping[str, Answer]
) -> Iterator[tuple[Answer, Answer, str]]:
    # (the better answer, the other, the kind of pair) to one question
    by = {(answer.model, answer.strategy): answer for answer in of_question}
    labels = {frozenset((label.chosen, label.rejected)): label for label in labeled}
    for model in dict.fromkeys(answer.model for answer in of_question):
        for kind, (more, less) in KINDS.items():
            if (model, more) in by and (model, less) in by:
                better, worse = by[model, more], by[model, less]
                if frozenset((better.id, worse.id)) not in labels:
                    yield better, worse, kind
    for label in labels.values():
        yield answers[label.chosen], answers[label.rejected], LABELED


def of_test_persons(folder: Folder, trained: Collection[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The pairs of this build's test persons, for `contamination.copies`."""
    text = {answer.id: answer.text for answer in folder.read(Answer)}
    for pair in folder.read(Pair):
        if pair.user_id not in trained and pair.first in text and pair.second in text:
            yield f"{pair.id} of this build's test persons", (text[pair.first], text[pair.second])


def _training_pair(case: PersonaCase, kind: str) -> TrainingPair:
    # As TRL reads it: the turns before the response once, and each response as one turn.
    chosen, rejected = (conversation(case, Template(), side) for side in SIDES)
    return {
        "prompt": chosen[:-1],
        "chosen": chosen[-1:],
        "rejected": rejected[-1:],
        "id": case.id,
        "kind": kind,
        "user_id": case.user_id,
    }


def as_template_takes(pairs: Sequence[TrainingPair], tokenizer: Any) -> tuple[list[TrainingPair], bool]:
    """(the pairs with the persona where scoring puts it for this tokenizer's chat template, whether that is a system turn)."""
    if has_system_turn(tokenizer):
        return list(pairs), True
    return [{**pair, "prompt": without_system(pair["prompt"])} for pair in pairs], False


def too_long(pairs: Sequence[TrainingPair], tokenizer: Any, most: int) -> list[tuple[int, str, int]]:
    """(line, id, tokens) of pairs with a conversation longer than `most` tokens: TRL leaves these out."""
    over = []
    for line, pair in enumerate(pairs, start=1):
        tokens = max(
            len(
                tokenizer.apply_chat_template(pair["prompt"] + pair[side], tokenize=True, return_dict=True)["input_ids"]
            )
            for side in SIDES
        )
        if tokens > most:
            over.append((line, pair["id"], tokens))
    return over


NONE = "none"
"""Value of --benchmark for no comparison with a benchmark."""

SHOWN = 20
"""Pairs that are too long of which each has a line."""

BATCH = 32
"""Pairs to a step: of one source, as the paper has it (Appendix E)."""


def make_training(
    folder: Folder,
    judged: Sequence[tuple[Item, Vote]],
    benchmark: str | None,
    tokenizer: str | None,
    max_length: int,
    say: Say,
) -> None:
    """Write training/train.jsonl.

    Args:
        judged: (item, vote) of each person who rated replies; with some, the build needs no persons.
        benchmark: test data to exclude: a folder or a Hub id; the default data if None; NONE for this build's own release alone.
        tokenizer: of the model to be trained; None if unknown.
        max_length: tokens beyond which TRL drops a pair.

    Raises:
        DataError: there are no pairs, one has test data, or the benchmark is missing.
        OptionError: there is no such tokenizer.
    """
    template = None if tokenizer is None else _tokenizer(tokenizer)
    people = folder.read(Person)
    pairs, left_out = own_pairs(folder) if people or not judged else ([], Counter[str]())
    rated, not_rated = rated_pairs(judged, {person.user_id for person in people if person.split == TEST})
    pairs, left_out = [*pairs, *rated], left_out + not_rated
    for reason, count in left_out.items():
        say(f"left out: {count:,} pairs {reason}")
    _refuse_test_data(folder, pairs, folder.people(TRAIN) if people else [], benchmark, say)
    if template is not None:
        pairs, system_turn = as_template_takes(pairs, template)
        no_turn = f"before the question: the chat template of {tokenizer} has no system turn"
        say(f"the persona is {'in a system turn' if system_turn else no_turn}")
    out = folder.root / "training" / "train.jsonl"
    write(out, json_lines(pairs))
    kinds = Counter(pair["kind"] for pair in pairs)
    say(f"wrote {out}: {len(pairs):,} pairs ({', '.join(f'{kind} {count:,}' for kind, count in kinds.items())})")
    if template is None:
        say(
            "! The persona is in a system turn, which some chat templates, such as Gemma's, refuse or leave out, and TRL drops pairs beyond its "
            "max_length: pass --tokenizer MODEL, the model to be trained, to have the persona where it is read and these pairs counted."
        )
    else:
        _say_too_long(too_long(pairs, template, max_length), max_length, say)
    _say_how_to_train(out, tokenizer or "MODEL", max_length, say)


def _refuse_test_data(
    folder: Folder, pairs: list[contamination.TrainingPair], trained: Sequence[Person], benchmark: str | None, say: Say
) -> None:
    release = folder.root / "release"
    sources = [str(release)] if release.is_dir() else []
    if benchmark != NONE:
        sources.append(benchmark or "")
    tested, compared = list(of_test_persons(folder, {person.user_id for person in trained})), []
    for source in sources:
        try:
            cases = load_present(source or None, counts="any")
        except DataError as error:
            raise DataError(
                f"{error} Without the benchmark, copies of its pairs cannot be found: pass --benchmark FOLDER, or `--benchmark {NONE}` to "
                "do without."
            ) from error
        contamination.refuse_people(folder, trained, cases)
        tested += contamination.of_benchmark(cases)
        compared.append(
            f"no pair is one of the {len(cases):,} cases of {cases.source} or has a text like one of theirs, and no training person is one "
            "of its users"
        )
    contamination.refuse(folder, contamination.copies(pairs, tested))
    for line in compared:
        say(line)


def _say_too_long(over: list[tuple[int, str, int]], most: int, say: Say) -> None:
    if not over:
        say(f"no pair is longer than {most:,} tokens")
        return
    say(f"! {len(over):,} pairs are longer than {most:,} tokens, and TRL drops them:")
    for number, name, tokens in over[:SHOWN]:
        say(f"    line {number}: {tokens:,} tokens, {name}")
    if len(over) > SHOWN:
        say(f"    and {len(over) - SHOWN:,} more, the longest of {max(tokens for _, _, tokens in over):,} tokens")


def _say_how_to_train(out: Path, tokenizer: str, max_length: int, say: Say) -> None:
    # The figures are those of Appendix E.
    model, data = shlex.quote(tokenizer), shlex.quote(str(out.parent))
    say(f"Train on a GPU, with the paper's learning rate, one epoch and batches of {BATCH} (Appendix E):")
    say(f"    trl reward --model_name_or_path {model} --dataset_name {data} --output_dir reward-model \\")
    say(f"      --max_length {max_length} --learning_rate 1e-5 --num_train_epochs 1 --per_device_train_batch_size 4 \\")
    say(f"      --gradient_accumulation_steps {BATCH // 4} --eval_strategy no --report_to none")
    score = "inspect eval personafeedback_tasks/personafeedback -T method=reward --model personafeedback-reward/ABSOLUTE_PATH"
    say(f"Then score it: {score}")


def _tokenizer(model: str) -> Any:
    require("transformers", extra="reward")
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
    except Exception as error:  # of transformers and the Hub, dozens of unrelated classes
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OptionError(
            f"--tokenizer {model}: found no tokenizer ({why}). Pass a folder or a Hub id of a model."
        ) from error
    if tokenizer.chat_template is None:
        raise OptionError(
            f"--tokenizer {model}: this tokenizer has no chat template, which TRL needs. Use that of an instruct model."
        )
    return tokenizer
