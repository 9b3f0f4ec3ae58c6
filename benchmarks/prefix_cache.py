"""Share of the prompt tokens that a server's prefix cache can serve.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/prefix_cache.py

This models vLLM's automatic prefix caching: it splits prompts into blocks of 16 tokens, a block is a hit if it and all
blocks before it are in the cache, and it evicts the least recently used blocks. One request at a time; the General
half, both orders; a byte-level BPE of 16,000 tokens trained on these prompts. Needs `tokenizers`.

A run of three settings asks a case under each before it goes on; three runs ask all cases under one before they ask
under the next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from personafeedback_tasks.pairwise.cases import in_proportion
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import DIFFICULTIES, PersonaCase, in_turns, load_cases

BLOCK = 16
SETTINGS = ("persona", "other_persona", "no_persona")
CACHES = {"64 k": 64_000, "256 k": 256_000, "unlimited": None}  # tokens


def question_first(case: PersonaCase, order: str) -> str:
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


def alternating() -> list[PersonaCase]:
    """The cases in the order in which users take turns of one case: the best spread, the worst for a small cache."""
    cells = [load_cases(category="general", difficulty=difficulty) for difficulty in DIFFICULTIES]
    return in_proportion([in_turns(cell, growth=1) for cell in cells])


def main() -> None:
    layouts = {"ours": lambda c, o: prompts.build(c, prompts.Template(), o), "question first": question_first}
    cases = {"ours": list(load_cases(category="general")), "alternating users": alternating()}
    tokenizer = train([layouts["ours"](case, order) for case in cases["ours"] for order in TWO.names])
    print(f"| layout | request order | {' | '.join(CACHES)} |\n|---|---|{'---|' * len(CACHES)}")
    for name, build in layouts.items():
        orders = {
            order: [tokenizer.encode(build(case, shown)).ids for case in asked for shown in TWO.names]
            for order, asked in cases.items()
        }
        # lm-eval's local models ask the longest request first.
        orders["longest first"] = sorted(orders["ours"], key=len, reverse=True)
        for order, requests in orders.items():
            shares = (f"{served(requests, capacity):.1%}" for capacity in CACHES.values())
            print(f"| {name} | {order} | {' | '.join(shares)} |")
    of_settings = {
        (case.id, setting): [
            tokenizer.encode(prompts.build(case, prompts.Template(setting=setting), order)).ids for order in TWO.names
        ]
        for case in cases["ours"]
        for setting in SETTINGS
    }
    in_order = {
        "three settings, case after case": [(case.id, setting) for case in cases["ours"] for setting in SETTINGS],
        "three settings, one after the other": [(case.id, setting) for setting in SETTINGS for case in cases["ours"]],
    }
    for order, keys in in_order.items():
        requests = [tokens for key in keys for tokens in of_settings[key]]
        print(f"| ours | {order} | {' | '.join(f'{served(requests, capacity):.1%}' for capacity in CACHES.values())} |")


if __name__ == "__main__":
    main()
