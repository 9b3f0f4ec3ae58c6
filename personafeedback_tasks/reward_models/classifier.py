"""A sequence classifier of `transformers` as a reward model: conversations -> rewards. No harness.

Batches hold conversations of similar length, padded on the right and masked: the rewards are those of one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.utils import cached_file

from ..common.errors import OptionError, PersonaFeedbackError, choose
from ..core.rewards import LOCAL, Message, Reward, RewardError, has_system_turn, without_system

NO_LIMIT = 1_000_000
"""tokenizer.model_max_length is a huge number where nobody set it."""

DTYPES = ("auto", "bfloat16", "float16", "float32")


@dataclass(frozen=True)
class Encoded:
    """A conversation as the model reads it."""

    ids: list[int]
    persona: str  # `system turn`, `before the question` or `not told`


class RewardModel:
    """One loaded model.

    Args:
        path: a folder or a Hub id.
        batch_size: conversations per forward pass.
        aspects: names of the outputs, where the model has more than one. Its reward is then the model's own `score` if
            its code computes one, else the first aspect.
        dtype: one of DTYPES; `auto` is bfloat16 on a GPU and float32 elsewhere.
        revision: a commit, branch or tag of the Hub.

    Attributes:
        commit: source of tokenizer, model and code; `LOCAL` for a folder.

    Raises:
        RewardError: the model is not a usable sequence classifier.
    """

    def __init__(
        self,
        path: str,
        *,
        batch_size: int = 8,
        aspects: Sequence[str] = (),
        trust_remote_code: bool = False,
        dtype: str = "auto",
        revision: str | None = None,
    ) -> None:
        self.path, self.batch_size = path, batch_size
        choose("dtype", dtype, DTYPES)
        local = Path(path).is_dir()  # transformers takes anything else for a name on the Hub
        if local and revision is not None:
            raise OptionError(
                f"revision needs a model on the Hub, got revision={revision!r} with the folder {path}. Leave revision "
                "out, or pass the model's Hub id."
            )
        if trust_remote_code and not local and not re.fullmatch("[0-9a-f]{40}", revision or ""):
            raise OptionError(
                f"trust_remote_code=true needs a pinned commit, got revision={revision or 'main'} of {path}, whose "
                "code can change between runs. Pass -M revision=COMMIT, a full commit of 40 hex digits from the history "
                "of the model's files on the Hub."
            )
        with _one_error(path, trust_remote_code):
            # The Hub's cache keeps the files of a commit in a folder named after it, whatever branch was requested.
            self.commit = LOCAL if local else Path(str(cached_file(path, "config.json", revision=revision))).parent.name
            self._load(trust_remote_code, dtype)
            self.aspects = self._named(aspects)

    def _load(self, trust_remote_code: bool, dtype: str) -> None:
        path, gpu = self.path, torch.cuda.is_available()
        # Tokenizer, weights and code come from one commit. Code of another repository has none and does not load.
        origin: dict[str, Any] = {"trust_remote_code": trust_remote_code}
        if self.commit != LOCAL:
            origin["revision"] = self.commit
            if trust_remote_code:
                origin["code_revision"] = self.commit
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path, **origin)
        if self.tokenizer.chat_template is None:  # known before the weights, which may be many gigabytes
            raise RewardError(
                f"{path}: found no chat template in its tokenizer, expected one that says how this model "
                "reads a conversation. Add one to a copy of the model."
            )
        self.has_system_turn = has_system_turn(self.tokenizer)
        name = ("bfloat16" if gpu else "float32") if dtype == "auto" else dtype
        self.model, loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            path,
            **origin,
            dtype=getattr(torch, name),
            output_loading_info=True,
            **({"device_map": "auto"} if gpu else {}),
        )
        own_code = getattr(self.model.config, "auto_map", None) or {}
        if "AutoModelForSequenceClassification" in own_code and not trust_remote_code:
            raise RewardError(
                f"{path}: found custom code, which was not run, expected a model that transformers runs without any. "
                f"{_OWN_CODE}"
            )
        if loaded["missing_keys"] or loaded.get("mismatched_keys"):
            missing = sorted(map(str, loaded["missing_keys"])) or sorted(map(str, loaded["mismatched_keys"]))
            raise RewardError(
                f"{path}: found no weights for {missing[0]} ({len(missing)} in all), expected all weights of a "
                f"sequence classifier; its rewards would be random numbers. {_OWN_CODE}"
            )
        self.model.eval()
        self.model.config.use_cache = False  # one pass, nothing to go on from
        # transformers reads the reward at the last token that is not padding, so without a token for that one at a time
        self.pad: int | None = self.model.config.get_text_config().pad_token_id
        self.dtype = str(self.model.dtype).removeprefix("torch.")

    def _named(self, aspects: Sequence[str]) -> tuple[str, ...]:
        _, aspects_of_probe = self._forward([self.encode(_PROBE, "a first example").ids])
        outputs = 1 if aspects_of_probe is None else aspects_of_probe.shape[-1]
        if outputs == 1 and not aspects:
            return ()
        if outputs == 1 or len(set(aspects)) != outputs or len(aspects) != outputs:
            remedy = "Leave aspects out." if outputs == 1 else "Name them in order: -M aspects=helpfulness,..."
            raise RewardError(
                f"{self.path}: found {outputs} output{'s' * (outputs > 1)} and the names "
                f"{', '.join(aspects) or '(none)'}, expected "
                f"{'no name for a single one' if outputs == 1 else 'a name for each'}. {remedy}"
            )
        return tuple(aspects)

    @cached_property
    def max_length(self) -> int | None:
        """The context length of the model in tokens; None if neither model nor tokenizer says."""
        config = self.model.config.get_text_config()
        limits = (getattr(config, "max_position_embeddings", None), self.tokenizer.model_max_length)
        return min((int(limit) for limit in limits if limit and 0 < limit < NO_LIMIT), default=None)

    def encode(self, turns: Sequence[Message], name: str) -> Encoded:
        """A conversation as tokens. Raises RewardError if it exceeds the context length; `name` is for that error."""
        place, shown = "not told", list(turns)
        if turns[0]["role"] == "system":
            place = "system turn" if self.has_system_turn else "before the question"
            shown = shown if self.has_system_turn else without_system(shown)
        text = self.tokenizer.apply_chat_template(shown, tokenize=False)
        # The template has written the special tokens already.
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        if self.max_length is not None and len(ids) > self.max_length:
            raise RewardError(
                f"{name}: found {len(ids):,} tokens, expected at most {self.max_length:,}, the context length of "
                f"{self.path}. Use a model with a longer context."
            )
        return Encoded(ids, place)

    def score(self, encoded: Sequence[Encoded]) -> list[Reward]:
        # The longest first: what does not fit into memory fails at once.
        order = sorted(range(len(encoded)), key=lambda index: -len(encoded[index].ids))
        rewards: dict[int, Reward] = {}
        size = 1 if self.pad is None else self.batch_size
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            scores, aspects = self._forward([encoded[index].ids for index in batch])
            rows = aspects.tolist() if self.aspects else [()] * len(batch)
            for index, score, row in zip(batch, scores.tolist(), rows, strict=True):
                rewards[index] = Reward(score, dict(zip(self.aspects, row, strict=True)))
        return [rewards[index] for index in range(len(encoded))]

    @torch.inference_mode()
    def _forward(self, batch: Sequence[list[int]]) -> tuple[Any, Any]:
        # (one reward per row; one number per row and output, or None for a single output), on the CPU
        width = max(map(len, batch))
        ids = [row + [self.pad or 0] * (width - len(row)) for row in batch]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in batch]
        output = self.model(
            input_ids=torch.tensor(ids, device=self.model.device),
            attention_mask=torch.tensor(mask, device=self.model.device),
        )
        # Models with code of their own (ArmoRM, QRM) return the aspects beside the one reward that they make of them.
        aspects = getattr(output, "rewards", None)
        if aspects is None:
            scores, aspects = output.logits[:, 0], output.logits if output.logits.shape[-1] > 1 else None
        else:
            scores = output.score.reshape(len(batch), -1)[:, 0]
        return scores.float().cpu(), None if aspects is None else aspects.float().cpu()


_PROBE: list[Message] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]

_OWN_CODE = (
    "If it ships its own code, pass -M trust_remote_code=true to run that code (on the Hub with -M revision=COMMIT)."
)


@contextmanager
def _one_error(path: str, trust_remote_code: bool) -> Iterator[None]:
    # a model's own code may raise anything
    try:
        yield
    except PersonaFeedbackError:
        raise
    except Exception as error:
        remedy = (
            "If its code needs a missing package, install it; if it was written for another version of transformers, "
            "install that one."
        )
        said = str(error).strip().partition("\n")[0][:200].rstrip(".") or "no message"
        raise RewardError(
            f"{path}: found {type(error).__name__} while loading it or running a first example ({said}), expected "
            f"a model that AutoModelForSequenceClassification of transformers {transformers.__version__} "
            f"loads and runs. {remedy if trust_remote_code else _OWN_CODE}"
        ) from error
