"""What a reward model does around its forward pass, with a stand-in for the pass: length, batches, padding. No model is built."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from personafeedback_tasks.engine.rewards import RewardError


@pytest.fixture(scope="module")
def classifier():
    """The module, imported by the one worker that runs these tests: it imports torch."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from personafeedback_tasks.reward_models import classifier

    return classifier


BEGIN = 1


@pytest.fixture
def model(classifier):
    """A model that reads ten tokens."""
    made = object.__new__(classifier.RewardModel)
    made.path, made.truncate, made.batch_size, made.aspects = "acme/reward", False, 3, ()
    config = SimpleNamespace(max_position_embeddings=10, pad_token_id=None)
    made.tokenizer = SimpleNamespace(all_special_ids=[BEGIN], model_max_length=10**30)
    made.model = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: config))
    made._own_pad = None
    return made


@pytest.mark.parametrize(
    ("embeddings", "tokenizer", "limit"),
    [(10, 10**30, 10), (10, 8, 8), (None, 8, 8), (None, 10**30, None), (0, 10**6, None), (0, 10**6 - 1, 10**6 - 1)],
)
def test_the_context_length_is_the_smaller_one_that_somebody_set(model, embeddings, tokenizer, limit):
    model.model.config.get_text_config().max_position_embeddings = embeddings
    model.tokenizer.model_max_length = tokenizer
    assert model.max_length == limit


def test_a_conversation_that_is_too_long_is_refused(model):
    whole = list(range(20, 30))
    found = model._fit(whole, "not told", "c")
    assert (found.ids, found.truncated) == (whole, False)
    with pytest.raises(RewardError, match="c: found 11 tokens, expected at most 10, the context length of acme/reward"):
        model._fit([*whole, 30], "not told", "c")


@pytest.mark.parametrize("length", [11, 12, 25])
def test_the_beginning_is_cut_but_for_the_token_that_marks_it(model, length):
    model.truncate = True
    plain = list(range(20, 20 + length))
    found = model._fit(plain, "not told", "c")
    assert (found.ids, found.truncated) == (plain[-10:], True)
    marked = [BEGIN, *plain[1:]]
    found = model._fit(marked, "system turn", "c")
    assert (found.ids, found.truncated, found.persona) == ([BEGIN, *plain[-9:]], True, "system turn")


def test_rewards_come_back_in_order_from_batches_of_the_longest_first(model, classifier):
    import torch

    batches = []

    def forward(batch):
        batches.append([len(ids) for ids in batch])
        return torch.tensor([float(len(ids)) for ids in batch]), torch.tensor([[len(ids), -1.0] for ids in batch])

    model._forward = forward
    lengths = [3, 9, 1, 4, 7]
    encoded = [classifier.Encoded(list(range(length)), "") for length in lengths]
    assert [one.reward for one in model.score(encoded)] == lengths
    assert batches == [[9, 7, 4], [3, 1]]
    assert {tuple(one.aspects) for one in model.score(encoded)} == {()}
    model.aspects = ("a", "b")
    assert [one.aspects for one in model.score(encoded)] == [{"a": length, "b": -1} for length in lengths]


def test_padding_ends_no_text(model):
    config = model.model.config.get_text_config()
    for batch, pad in (([[5]], 0), ([[0]], 1), ([[3, 0], [2, 1]], 2), ([[1], [0], [3]], 2), ([[0], [0]], 1)):
        assert model._pad(batch) == config.pad_token_id == pad
    model._own_pad = 7
    assert model._pad([[7]]) == 7


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_a_window_has_the_first_and_what_is_nearest_to_its_length(classifier, size):
    lengths = [50, 10, 40, 30, 20]
    for first in range(5):
        window = classifier.nearest(lengths, first, size)
        assert first in window
        assert len(window) == len(set(window)) == min(size, 5)
        ranks = sorted(sorted(lengths).index(lengths[index]) for index in window)
        assert ranks == list(range(ranks[0], ranks[0] + len(ranks)))  # neighbors in length
    assert classifier.nearest(lengths, 3, 3) == [4, 3, 2]
