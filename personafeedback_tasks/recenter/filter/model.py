"""Texts -> vectors of a frozen sentence-embedding model; vectors and labels -> a logistic regression with a threshold.

Sentence-BERT (arXiv 1908.10084) on the CPU. The same texts and labels give the same weights on one machine: nothing is
random. Vectors of rows have the shape (rows, 2 * dimensions): the unit vectors of a row's attribute and of its prompt,
side by side. Features: the attribute's vector, its product with the prompt's, the cosine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...common.errors import OptionError, require
from ...common.records import cut, short

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
EXTRA = "filter"

Array = Any
"""A numpy array; labels are bool, users are ids."""

BATCH = 64
"""Texts in one pass of the embedding model."""

FOLDS = 5
"""Of users, at most; fewer where there are fewer users."""

ITERATIONS = 10_000

COSINE = 4.0
"""Factor of the cosine, so that the penalty weighs it like the other features."""


class Embedder:
    """A loaded embedding model: a name on the Hugging Face Hub, which is downloaded once, or a folder.

    Attributes:
        name: a name on the Hub, or the absolute path of a folder.
        longest: tokens that it reads; what is beyond them is cut off.
    """

    def __init__(self, model: str) -> None:
        require("sentence_transformers", extra=EXTRA)
        import torch
        from sentence_transformers import SentenceTransformer

        folder = Path(model).expanduser()
        self.name = str(folder.resolve()) if folder.is_dir() else model
        try:
            self._model = SentenceTransformer(self.name, device="cpu", model_kwargs={"dtype": torch.float32})
        except Exception as error:  # whatever is wrong with somebody's files
            why = cut(str(error).partition("\n")[0].rstrip("."), 200)
            raise OptionError(
                f"The embedding model {short(model)} could not be loaded ({why}). Pass the name of a "
                "sentence-transformers model on the Hugging Face Hub, which needs a network once, or a folder with one."
            ) from error
        self.longest: int | None = self._model.max_seq_length

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the weights, the vocabulary and the length limit."""
        digest = hashlib.sha256(f"{self.longest}".encode())
        for name, weights in sorted(self._model.state_dict().items()):
            digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
            digest.update(weights.contiguous().numpy().tobytes())
        for token, number in sorted(self._model.tokenizer.get_vocab().items()):
            digest.update(f"{token} {number}\n".encode())
        return digest.hexdigest()[:12]

    def embed(self, texts: Sequence[str]) -> Array:
        """Unit vectors, float64 of shape (texts, dimensions), in the order given; of at least one text."""
        import numpy as np

        # each text once, in a fixed order: the texts of a batch are padded alike, which moves last digits
        different = sorted(set(texts))
        vectors = self._model.encode(different, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True)
        place = {text: index for index, text in enumerate(different)}
        return vectors.astype(np.float64)[[place[text] for text in texts]]


@lru_cache(maxsize=2)
def embedder(model: str) -> Embedder:
    """A model, loaded once in a process."""
    return Embedder(model)


@dataclass(frozen=True)
class Model:
    """A logistic regression."""

    weights: Array  # of the features
    bias: float
    threshold: float  # lowest probability of a row that is called relevant

    def probabilities(self, vectors: Array) -> Array:
        """Of being relevant, shape (rows,), in [0, 1]."""
        import numpy as np

        return 1 / (1 + np.exp(-(features_of(vectors) @ self.weights + self.bias)))


def features_of(vectors: Array) -> Array:
    """The features of rows, float64 of shape (rows, 2 * dimensions + 1).

    Each part is scaled to a length of about 1, so that the penalty weighs them alike: the product of two unit
    vectors has a length of about 1 / sqrt(dimensions), and cosines differ by about a quarter.
    """
    import numpy as np

    # some attributes matter for most prompts; others where both texts agree
    attributes, prompts = np.hsplit(vectors, 2)
    product = attributes * prompts
    cosine = product.sum(axis=1, keepdims=True)
    return np.concatenate([attributes, product * attributes.shape[1] ** 0.5, COSINE * cosine], axis=1)


def train(vectors: Array, labels: Array, users: Array) -> Model:
    """scikit-learn's default penalty, and the threshold with the highest mean F1 on folds of held-out users.

    Raises:
        ValueError: scikit-learn's, with a single user or with a fold whose rows have one label only.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from threadpoolctl import threadpool_limits

    pipeline = make_pipeline(FunctionTransformer(features_of), LogisticRegression(max_iter=ITERATIONS))
    tuned = TunedThresholdClassifierCV(pipeline, scoring=make_scorer(f1), cv=folds(users))
    with threadpool_limits(1):  # the same sums on every machine, and no slower on matrices of this size
        tuned.fit(vectors, labels)
    regression = tuned.estimator_[-1]
    return Model(regression.coef_[0], float(regression.intercept_[0]), float(tuned.best_threshold_))


def f1(labels: Array, called: Array) -> float:
    """F1 of boolean labels, in [0, 1]."""
    # scikit-learn's own checks its input at each of a hundred thresholds, which takes most of a training
    either = labels.sum() + called.sum()
    return float(2 * (labels & called).sum() / either) if either else 0.0


def held_out(vectors: Array, labels: Array, users: Array) -> tuple[Array, Array]:
    """(probability, threshold) of each row, by a model that has not seen its user."""
    import numpy as np

    probabilities, thresholds = np.empty(len(labels)), np.empty(len(labels))
    for own, tested in folds(users):
        model = train(vectors[own], labels[own], users[own])
        probabilities[tested], thresholds[tested] = model.probabilities(vectors[tested]), model.threshold
    return probabilities, thresholds


def folds(users: Array) -> list[tuple[Array, Array]]:
    """(numbers of the rows to train on, numbers of those to test) of each fold.

    Rows of one user share attributes: a random split would test a model on what it has been trained on.
    """
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(min(FOLDS, len(set(users)))).split(users, groups=users))
