"""`build training`: the pairs to train on, compared with all test data, in the format that TRL reads."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...annotation.items import Item
from ...annotation.rows import Vote
from ...common.errors import DataError, OptionError, require
from ...common.files import write
from ...common.records import json_lines
from ...personafeedback.cases import load_present
from ..folder import Folder
from ..rows import TEST, TRAIN, Person
from ..steps import Say
from . import contamination
from .pairs import as_template_takes, of_test_persons, own_pairs, rated_pairs, too_long

NONE = "none"
"""In place of a benchmark to compare with."""

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
        judged: (item, vote) of each person who rated replies, see `pairs.rated_pairs`; the build may then have no persons.
        benchmark: what no text may be of: a folder or a Hub id; the default data if None; NONE for this build's own release alone.
        tokenizer: of the model to be trained; None if it is not known.
        max_length: tokens beyond which TRL drops a pair.

    Raises:
        DataError: see `pairs.own_pairs` and `contamination`; or the benchmark is not there.
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
    """Raise DataError if a pair has a text, or a person, that a model will be tested on."""
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
    """Print the command with the figures of Appendix E."""
    model, data = shlex.quote(tokenizer), shlex.quote(str(out.parent))
    say(f"Train on a GPU, with the paper's learning rate, one epoch and batches of {BATCH} (Appendix E):")
    say(f"    trl reward --model_name_or_path {model} --dataset_name {data} --output_dir reward-model \\")
    say(f"      --max_length {max_length} --learning_rate 1e-5 --num_train_epochs 1 --per_device_train_batch_size 4 \\")
    say(f"      --gradient_accumulation_steps {BATCH // 4} --eval_strategy no --report_to none")
    score = "inspect eval personafeedback_tasks/personafeedback -T method=reward --model personafeedback-reward/ABSOLUTE_PATH"
    say(f"Then score it: {score}")


def _tokenizer(model: str) -> Any:
    """The tokenizer of a model. Raises OptionError: there is none, or it has no chat template."""
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
