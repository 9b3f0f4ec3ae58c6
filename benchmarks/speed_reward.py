"""Reward models: the package's scorer relative to a plain `transformers` loop, and Inspect's overhead per case.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_reward.py [tiny | 1b]

1,000 real pairs, 2,000 conversations without persona (where lengths differ most), one token per character; a two-layer
Llama with random weights, or one of about a billion parameters, on the GPU in bfloat16 if there is one, else on the
CPU. The plain loop tokenizes once, sorts all conversations by length and runs batches of 8. Ours receives them as
Inspect sends them, a limited number at a time in the order of the data, and scores windows of similar length. The two
alternate, a window at a time, and the CPU runs one thread, because other work on the machine comes and goes. Bound: at
least 0.95 of the plain loop's tokens per second. Inspect's overhead is the wall time of a run over the same cases,
minus its startup and the scoring.
"""

from __future__ import annotations

import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import transformers

from personafeedback_tasks.inspect_harness.reward_api import CONNECTIONS, WINDOW
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.conversations import SIDES, Message, conversation
from personafeedback_tasks.personafeedback.prompts import Template as Options
from personafeedback_tasks.reward_models.classifier import RewardModel, nearest

ROUNDS = int(os.environ.get("ROUNDS", "5"))
PAIRS = int(os.environ.get("PAIRS", "1000"))
BATCH = 8
OPTIONS = Options(setting="no_persona", method="reward")
SIZES: dict[str, dict[str, int]] = {
    "tiny": {"hidden_size": 128, "intermediate_size": 512},
    "1b": {
        "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
}  # fmt: skip

Turns = Sequence[Sequence[Message]]


def ours(model: RewardModel, turns: Turns) -> Iterator[dict[int, float]]:
    """Index -> reward, a window at a time: what the model API does with calls that arrive in this order."""
    coming, waiting = iter(enumerate(turns)), []
    while True:
        for index, each in islice(coming, CONNECTIONS - WINDOW - len(waiting)):
            waiting += [(index, *model.encode([each], [""]))]
        if not waiting:
            return
        chosen = nearest([len(encoded.ids) for _, encoded in waiting], 0, WINDOW)
        window = [waiting[place] for place in chosen]
        waiting = [waiting[place] for place in sorted({*range(len(waiting))} - {*chosen})]
        found = model.score([encoded for _, encoded in window])
        yield {index: reward.reward for (index, _), reward in zip(window, found, strict=True)}


def plain(tokenizer: Any, model: Any, turns: Turns) -> Iterator[dict[int, float]]:
    """The loop that people write by hand, with a pause after as many batches as fill a window."""
    texts = [tokenizer.apply_chat_template(list(each), tokenize=False) for each in turns]
    rows = tokenizer(texts, add_special_tokens=False)["input_ids"]
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    scores: dict[int, float] = {}
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        inputs = tokenizer.pad({"input_ids": [rows[index] for index in batch]}, return_tensors="pt").to(model.device)
        with torch.inference_mode():
            logits = model(**inputs, use_cache=False).logits
        scores |= zip(batch, logits[:, 0].tolist(), strict=True)
        if start % WINDOW == 0:
            yield {}
    yield scores


def take_turns(
    contestants: dict[str, Iterator[dict[int, float]]],
) -> tuple[dict[str, float], dict[str, dict[int, float]]]:
    """(seconds, index -> reward) of each contestant."""
    seconds = dict.fromkeys(contestants, 0.0)
    scores: dict[str, dict[int, float]] = {name: {} for name in contestants}
    running = dict(contestants)
    while running:
        for name, steps in list(running.items()):
            start = time.perf_counter()
            found = next(steps, None)
            seconds[name] += time.perf_counter() - start
            if found is None:
                del running[name]
            else:
                scores[name] |= found
    return seconds, scores


def inspect_seconds(folder: Path, pairs: int, logs: Path) -> float:
    from inspect_ai import eval as inspect_eval
    from personafeedback_tasks.inspect_tasks import personafeedback as tasks

    task = tasks.personafeedback_general(setting="no_persona", method="reward")
    start = time.perf_counter()
    (log,) = inspect_eval(
        task, model=f"personafeedback-reward/{folder}", model_args={"batch_size": BATCH}, limit=pairs,
        log_dir=str(logs), display="none",
    )  # fmt: skip
    if log.status != "success":
        raise SystemExit(log.error)
    return time.perf_counter() - start


def main(size: str = "tiny") -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from support import classifiers

    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    cases = load_cases(category="general")[:PAIRS]
    turns = [conversation(case, OPTIONS, side) for case in cases for side in SIDES]
    with tempfile.TemporaryDirectory() as place:
        texts = [turn["content"] for each in turns for turn in each]
        folder = classifiers.random_classifier(Path(place) / "model", texts, **SIZES[size])
        model = RewardModel(str(folder), batch_size=BATCH)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        other = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=model.model.dtype).eval()
        other.to(model.model.device)
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, one thread"
        print(f"{other.num_parameters():,} parameters, {model.dtype}, {device}")

        lengths = [len(each.ids) for each in model.encode(turns, [""] * len(turns))]
        starters: dict[str, Callable[[], Iterator[dict[int, float]]]] = {
            "ours": lambda: ours(model, turns),
            "plain": lambda: plain(tokenizer, other, turns),
        }
        found = []
        for round_ in range(ROUNDS + 1):
            names = list(starters)[:: -1 if round_ % 2 else 1]
            seconds, scores = take_turns({name: starters[name]() for name in names})
            found += [seconds] * (round_ > 0)  # the first round warms up
        apart = max(abs(scores["ours"][index] - scores["plain"][index]) for index in range(len(turns)))
        for name in starters:
            took = statistics.median(each[name] for each in found)
            print(
                f"{name}: {sum(lengths) / took:,.0f} tokens/s ({sum(lengths):,} tokens in {took:.2f} s, median of {ROUNDS})"
            )
        ratios = [each["plain"] / each["ours"] for each in found]
        print(
            f"ours / plain: {statistics.median(ratios):.3f} of its tokens a second, median of {ROUNDS} rounds "
            f"({min(ratios):.3f} to {max(ratios):.3f}); rewards at most {apart:.1e} apart"
        )
        inspect_seconds(folder, 1, Path(place))  # what is imported once, and the model
        few, many = (inspect_seconds(folder, pairs, Path(place)) for pairs in (1, PAIRS))
        each = (many - few - statistics.median(one["ours"] for one in found)) / PAIRS
        print(f"Inspect: {many:.1f} s for {PAIRS:,} cases, {few:.1f} s for one; overhead {1000 * each:.1f} ms per case")


if __name__ == "__main__":
    main(*sys.argv[1:])
