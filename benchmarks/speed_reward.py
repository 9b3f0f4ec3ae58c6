"""Reward models: the package's own scorer beside a plain `transformers` loop, and what Inspect adds per case.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/speed_reward.py

1,000 real pairs, 2,000 conversations without persona, a two-layer Llama with random weights and one token per character.
Both score windows of 128 conversations, as Inspect hands them over, in batches of 8 sorted by length, and tokenise the
same texts. They alternate from window to window, since other work on the machine comes and goes; the median of the
windows' ratios counts.
Promised: at least 0.95 of the plain loop's tokens a second. Inspect's overhead is the wall time of the run of the
same cases, less that of its start and of the scoring.
"""

from __future__ import annotations

import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import transformers

from personafeedback_tasks.conversations import SIDES, conversation
from personafeedback_tasks.dataset import load_cases
from personafeedback_tasks.options import Options
from personafeedback_tasks.reward_model import RewardModel

ROUNDS = int(os.environ.get("ROUNDS", "2"))
PAIRS = int(os.environ.get("PAIRS", "1000"))
BATCH = 8
WINDOW = 128
OPTIONS = Options(setting="no_persona", method="reward")


def plain(tokenizer, model, conversations) -> list[float]:
    """What one would write by hand."""
    texts = [tokenizer.apply_chat_template(turns, tokenize=False) for turns in conversations]
    lengths = [len(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
    order = sorted(range(len(texts)), key=lambda index: -lengths[index])
    scores = [0.0] * len(texts)
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            inputs = tokenizer(
                [texts[index] for index in batch], add_special_tokens=False, padding=True, return_tensors="pt"
            )
            logits = model(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], use_cache=False
            ).logits
            for index, score in zip(batch, logits[:, 0].tolist(), strict=True):
                scores[index] = score
    return scores


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


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


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import classifiers

    logging.disable(logging.WARNING)
    cases = load_cases(category="general")[:PAIRS]
    turns = [conversation(case, OPTIONS, side) for case in cases for side in SIDES]
    names = [case.id for case in cases for _ in SIDES]
    with tempfile.TemporaryDirectory() as place:
        folder = classifiers.random_classifier(
            Path(place) / "model", [turn["content"] for each in turns for turn in each]
        )
        ours = RewardModel(str(folder), batch_size=BATCH)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        times: dict[str, list[float]] = {"ours": [], "plain": []}
        for round_ in range(ROUNDS + 1):
            for number, start in enumerate(range(0, len(turns), WINDOW)):
                window, called = turns[start : start + WINDOW], names[start : start + WINDOW]
                contestants: dict[str, Callable[[], object]] = {
                    "ours": partial(lambda rows, of: ours.score(ours.encode(rows, of)), window, called),
                    "plain": partial(plain, tokenizer, model, window),
                }
                for name in list(contestants)[:: -1 if (round_ + number) % 2 else 1]:
                    took = seconds(contestants[name])
                    if round_:  # the first round warms up
                        times[name].append(took)
        tokens = sum(len(each.ids) for each in ours.encode(turns, names))
        wall = {name: sum(found) / ROUNDS for name, found in times.items()}
        for name, found in wall.items():
            print(f"{name}: {tokens / found:,.0f} tokens/s ({tokens:,} tokens, {found:.1f} s, mean of {ROUNDS})")
        ratios = sorted(theirs / mine for mine, theirs in zip(times["ours"], times["plain"], strict=True))
        low, high = (statistics.quantiles(ratios, n=4)[place] for place in (0, 2))
        print(
            f"ours / plain: {statistics.median(ratios):.3f} of its tokens a second, median of {len(ratios)} windows "
            f"(quartiles {low:.3f}, {high:.3f})"
        )
        inspect_seconds(folder, 1, Path(place))  # what is imported once
        few = inspect_seconds(folder, 1, Path(place))
        many = inspect_seconds(folder, PAIRS, Path(place))
        each = (many - few - wall["ours"]) / PAIRS
        print(f"Inspect: {many:.1f} s for {PAIRS:,} cases, {few:.1f} s for one; overhead {1000 * each:.1f} ms per case")


if __name__ == "__main__":
    main()
