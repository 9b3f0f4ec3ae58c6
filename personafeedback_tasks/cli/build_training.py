"""The command that makes pairs to train a reward model on: build training."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from ..common.errors import DataError, OptionError, require
from ..common.files import write
from .build_folder import folder_argument, opened
from .output import say

NONE = "none"

SHOWN = 20
"""Pairs that are too long of which each has a line."""

BATCHES = {False: 32, True: 64}
"""Whether HelpSteer2 is mixed in -> pairs to a step. The paper has 64 for both sources, and 32 for its smaller run on one."""


@click.command()
@folder_argument
@click.option(
    "--benchmark",
    metavar="DATA",
    help="What no text may be of: PersonaFeedback, as a folder or a Hub id. Default: PERSONAFEEDBACK_DATA, else the Hub. `none` compares "
    "with this build's own release alone.",
)
@click.option(
    "--mix",
    metavar="helpsteer2[=DATA]",
    help="Add pairs of HelpSteer2, as the paper does: from the Hub, or a file or folder.",
)
@click.option(
    "--tokenizer",
    metavar="MODEL",
    help="Of the model to be trained: put the persona where its chat template takes it, and count the pairs that are too long.",
)
@click.option("--max-length", type=click.IntRange(min=1), default=4096, show_default=True, help="Tokens; the paper's.")
def training(folder: Path, benchmark: str | None, mix: str | None, tokenizer: str | None, max_length: int) -> None:
    """Make pairs to train a reward model on, of the persons of the split train.

    In each pair both responses are by one model: the one that was told the whole persona, before the one that was told none of it, or
    a masked one. Writes DIR/training/train.jsonl in the conversational format of TRL, with the persona where method=reward puts it: in a
    system turn; before the question where the chat template of --tokenizer has no system turn, as Gemma's.

    Refused: a training person with the persona of a test person or of a user of the benchmark, and any pair with a text that a model will be
    tested on, near copies included; pairs of HelpSteer2 as well. All of them are then listed in DIR/training-copies.jsonl.

    \b
        personafeedback build training DIR
        personafeedback build training DIR --mix helpsteer2 --tokenizer Qwen/Qwen2.5-7B-Instruct
    """
    from ..building.imported.sources import read_rows
    from ..building.training import contamination, helpsteer
    from ..building.training import pairs as pairs
    from ..personafeedback.cases import load_present

    build = opened(folder)
    count = _counter(tokenizer) if tokenizer is not None else None
    found, shared = pairs.rows(build)
    for reason, many in shared.items():
        say(f"left out: {many:,} pairs {reason}")
    if mix is not None:
        name, _, source = mix.partition("=")
        if name != helpsteer.KIND:
            raise OptionError(f"--mix must be {helpsteer.KIND} or {helpsteer.KIND}=DATA, got {mix!r}.")
        more, left_out = helpsteer.rows(read_rows(source or helpsteer.HUB_ID, "train"))
        found += more
        why = ", ".join(f"{many:,} {reason}" for reason, many in left_out.items())
        say(f"{len(more):,} pairs of HelpSteer2" + (f"; prompts left out: {why}" if why else ""))
    own = build.root / "release"
    known = [str(own)] if own.is_dir() else []
    if benchmark != NONE:
        known.append(benchmark or "")
    tested, compared = list(pairs.of_test_persons(build)), []
    for place in known:
        try:
            cases = load_present(place or None, counts="any")
        except DataError as error:
            raise DataError(
                f"{error} Without it nobody can say that no pair is one of the benchmark: pass --benchmark FOLDER, or `--benchmark {NONE}` to "
                "do without."
            ) from error
        contamination.refuse_people(build, cases)
        tested += contamination.of_benchmark(cases)
        compared.append(
            f"no pair is one of the {len(cases):,} cases of {cases.source} or has a text like one of theirs, and no training person is one "
            "of its users"
        )
    contamination.refuse(build, contamination.copies(found, tested))
    for line in compared:
        say(line)
    if count is not None:
        found, system_turn = pairs.as_template_takes(found, count)
        say(
            f"the persona is {'in a system turn' if system_turn else f'before the question: the chat template of {tokenizer} has no system turn'}"
        )
    out = build.root / "training" / "train.jsonl"
    write(out, [json.dumps(one, ensure_ascii=False) + "\n" for one in found])
    say(
        f"wrote {out}: {len(found):,} pairs ({', '.join(f'{kind} {count:,}' for kind, count in pairs.counts(found).items())})"
    )
    if count is None:
        say(
            "! The persona is in a system turn, which some chat templates, such as Gemma's, refuse or leave out, and TRL drops pairs beyond its "
            "max_length: pass --tokenizer MODEL, the model to be trained, to have the persona where it is read and these pairs counted."
        )
    elif over := pairs.too_long(found, count, max_length):
        say(f"! {len(over):,} pairs are longer than {max_length:,} tokens, and TRL drops them:")
        for number, name, tokens in over[:SHOWN]:
            say(f"    line {number}: {tokens:,} tokens, {name}")
        if len(over) > SHOWN:
            say(f"    and {len(over) - SHOWN:,} more, the longest of {max(tokens for _, _, tokens in over):,} tokens")
    else:
        say(f"no pair is longer than {max_length:,} tokens")
    batch = BATCHES[mix is not None]
    say(f"Train on a GPU, with the paper's learning rate, one epoch and batches of {batch} (Appendix E):")
    for line in (
        f"trl reward --model_name_or_path {shlex.quote(tokenizer or 'MODEL')} --dataset_name {shlex.quote(str(out.parent))} --output_dir reward-model \\",
        f"  --max_length {max_length} --learning_rate 1e-5 --num_train_epochs 1 --per_device_train_batch_size 4 \\",
        f"  --gradient_accumulation_steps {batch // 4} --eval_strategy no --report_to none",
    ):
        say(f"    {line}")
    score = "inspect eval personafeedback_tasks/personafeedback -T method=reward --model personafeedback-reward/ABSOLUTE_PATH"
    say(f"Then score it: {score}")


def _counter(model: str) -> Any:
    """The tokenizer of a model.

    Raises:
        OptionError: there is none, or it has no chat template.
    """
    require("transformers", extra="reward")
    from transformers import AutoTokenizer

    try:
        found = AutoTokenizer.from_pretrained(model)
    except Exception as error:  # of transformers and the Hub, dozens of unrelated classes
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OptionError(
            f"--tokenizer {model}: found no tokenizer ({said}). Pass a folder or a Hub id of a model."
        ) from error
    if found.chat_template is None:
        raise OptionError(
            f"--tokenizer {model}: this tokenizer has no chat template, which TRL needs. Use that of an instruct model."
        )
    return found
