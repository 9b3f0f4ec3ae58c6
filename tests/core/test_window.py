"""The arithmetic of windows: bytes, tokens, and what a server's counts say."""

from __future__ import annotations

import pytest

from personafeedback_tasks.core.window import PromptCheck, Window, check, counted, most_tokens

REMEDY = "Pass max_length={smallest}."


def words(text):
    return len(text.split())


@pytest.mark.parametrize(("longest", "cut"), [(5, 0), (6, 1)])
def test_tokens_are_counted_where_bytes_may_not_fit_and_nowhere_else(longest, cut):
    counts = []

    def tokens(text):
        counts.append(text)
        return words(text)

    long = " ".join(["wörterbuch"] * longest)
    found = check("t", ["a", long, "b c"], Window(12, 5 + 30, "s", REMEDY), tokens)
    assert found == PromptCheck(3, 0, 12)
    assert counts == [long]
    found = check("t", ["a", long, "b c"], Window(12, 5, "the default", REMEDY), tokens)
    assert (found.asked, found.cut, found.window) == (3, cut, 12)
    said = "t: 1 of 3 prompts do not fit into the window of 12 tokens (the default), which leaves 5 for a prompt; the longest has 6. Pass max_length=13."
    assert found.refusal == (said if cut else "")


@pytest.mark.parametrize("text", ["", "abc", "你好。", "\ufdfa" * 9, "a\ud800", "\u0958" * 40, "🙂" * 20, "<s>" * 30])
def test_no_tokenizer_makes_more_tokens_of_a_text_than_it_has_bytes(text, tokenizers):
    for tokens in tokenizers:
        assert tokens(text.replace("\ud800", "?")) <= most_tokens(text)


@pytest.fixture(scope="module")
def tokenizers():
    """Byte-level BPE with NFC, and pieces with byte fallback, a dummy prefix and NFKC: nothing but single bytes is known."""
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    level = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    level.normalizer = normalizers.NFC()
    level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    pieces = {"<unk>": 0, "▁": 1, **{f"<0x{byte:02X}>": byte + 2 for byte in range(256)}}
    fallback = Tokenizer(models.BPE(vocab=pieces, merges=[], byte_fallback=True, unk_token="<unk>"))
    fallback.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return [lambda text, each=each: len(each.encode(text).ids) for each in (level, fallback)]


PROMPTS = [(length, length // 4) for length in range(1000, 3000, 50)]


@pytest.mark.parametrize(
    ("calls", "cut", "window"),
    [
        ([], None, None),
        (PROMPTS, 0, None),
        ([(length, min(tokens, 500)) for length, tokens in PROMPTS], 20, 500),
        ([(length, None) for length, _ in PROMPTS], None, None),
        ([(1000, 250)] * 40, None, None),
        ([(1000, 250), (1010, 250), (1020, 250)], 0, None),
        ([(1000, 250), (2000, 250)], 2, 250),
        ([(1000, 240), (2000, 250), (1990, 250)], 0, None),
    ],
)
def test_counts_that_stop_growing_are_prompts_that_were_cut(calls, cut, window):
    assert counted(calls) == PromptCheck(len(calls), cut, window)
