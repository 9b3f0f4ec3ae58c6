"""Share of the prompt tokens that a server's prefix cache can serve.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/prefix_cache.py

This models vLLM's automatic prefix caching: it splits prompts into blocks of 16 tokens, a block is a hit if it and all
blocks before it are in the cache, and it evicts the least recently used blocks. One request at a time; the General
half, both orders; a byte-level BPE of 16,000 tokens trained on these prompts. Needs `tokenizers`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import Case, load_cases
from personafeedback_tasks.personafeedback.orders import ORDERS

BLOCK = 16
CACHES = {"64 k": 64_000, "256 k": 256_000, "unlimited": None}  # tokens


def question_first(case: Case, order: str) -> str:
    """Our prompt with question and persona swapped."""
    prompt = prompts.build(case, prompts.Template(), order)
    head, middle = prompt.partition("<persona>")[::2]
    persona, rest = middle.partition("<question>")[::2]
    question, tail = rest.partition("</question>\n\n")[::2]
    return f"{head}<question>{question}</question>\n\n<persona>{persona}{tail}"


def served(requests: Iterable[Sequence[int]], capacity: int | None) -> float:
    """Share of all tokens that the cache serves."""
    cache: OrderedDict[int, None] = OrderedDict()
    found = total = 0
    for tokens in requests:
        total += len(tokens)
        key, hit = 0, True
        for start in range(0, len(tokens) - BLOCK + 1, BLOCK):
            key = hash((key, *tokens[start : start + BLOCK]))
            hit = hit and key in cache
            found += BLOCK * hit
            cache[key] = None
            cache.move_to_end(key)
        while capacity is not None and len(cache) * BLOCK > capacity:
            cache.popitem(last=False)
    return found / total


def train(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=16_000, initial_alphabet=alphabet))
    return tokenizer


def main() -> None:
    cases = load_cases(category="general")
    layouts = {"ours": lambda c, o: prompts.build(c, prompts.Template(), o), "question first": question_first}
    texts = {name: [build(case, order) for case in cases for order in ORDERS] for name, build in layouts.items()}
    tokenizer = train(texts["ours"])
    print(f"| layout | document order | {' | '.join(CACHES)} |\n|---|---|{'---|' * len(CACHES)}")
    for name, rows in texts.items():
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(rows)]
        # lm-eval's local models ask the longest request first.
        orders = {"ours": tokens, "longest first": sorted(tokens, key=len, reverse=True)}
        for order, requests in orders.items():
            shares = (f"{served(requests, capacity):.1%}" for capacity in CACHES.values())
            print(f"| {name} | {order} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
