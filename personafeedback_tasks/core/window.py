"""Whether the prompts of a run fit into the model's window. Their beginning, the persona, is cut off first."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

KEY = "personafeedback_tasks_prompts"
"""Key of a `PromptCheck` in the metadata of a task, and of what `counted` takes in those of an output of Inspect."""

_ADDED = 16
"""Tokens that a tokenizer may add to a text, such as a beginning of sequence, at most."""

_SHORTEST = 32
"""Tokens. No window is so short: a server that counts fewer does not count."""


class Window(NamedTuple):
    """The window of a model, as its backend uses it."""

    size: int  # tokens, in the unit of the option that sets it
    room: int  # tokens that a prompt may have
    source: str  # what sets it: `max_length in --model_args`
    remedy: str  # for prompts that do not fit, with {smallest} for the smallest size that would do


def made_for(config: Any) -> Window | None:
    """The longest text that a model was made for, by its configuration; None where its positions have no end."""
    config = getattr(config, "text_config", None) or config
    size = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    remedy = "Beyond them, a model's replies are random: use one with at least {smallest:,}."
    return Window(size, size, "the positions that the model was made for", remedy) if size else None


@dataclass(frozen=True)
class PromptCheck:
    """Whether prompts were cut."""

    asked: int = 0  # number of prompts
    cut: int | None = None  # how many do not fit into the window; None where nobody knows
    window: int | None = None  # tokens; None where nobody knows them, or it has no end
    refusal: str = ""  # why the model must not be asked; empty if it may

    def as_dict(self) -> dict[str, int | None]:
        """Ready for the metadata of a task."""
        return {"asked": self.asked, "cut": self.cut, "window": self.window}

    def __add__(self, other: PromptCheck) -> PromptCheck:
        """The check of two parts of a run: cut prompts count even where nobody knows about the others."""
        known = [part.cut for part in (self, other) if part.cut is not None]
        windows = [part.window for part in (self, other) if part.window is not None]
        return PromptCheck(
            self.asked + other.asked, sum(known) if len(known) == 2 or any(known) else None, min(windows, default=None)
        )

    def __str__(self) -> str:
        if self.cut is None:
            return "prompts NOT CHECKED: whether they fit into the model's window is not known"
        if self.cut:
            return f"{self.cut:,} of {self.asked:,} PROMPTS CUT"
        return f"all prompts fit into {self.window:,} tokens" if self.window else "all prompts are read whole"


UNKNOWN = PromptCheck()


def logged(metadata: Mapping[str, Any]) -> PromptCheck:
    """The way back from `as_dict`. Unknown where the metadata have something else, or nothing."""
    found = metadata.get(KEY)
    numbers = {name: value for name, value in found.items() if type(value) is int} if isinstance(found, Mapping) else {}
    return PromptCheck(numbers.get("asked", 0), numbers.get("cut"), numbers.get("window"))


def check(task: str, prompts: Sequence[str], window: Window | None, tokens: Callable[[str], int] | None) -> PromptCheck:
    """Count the prompts that do not fit: by their bytes, and by the backend's tokens where bytes may not fit."""
    if window is None:
        return PromptCheck(len(prompts))
    size, room, source, remedy = window
    doubtful = [prompt for prompt in prompts if most_tokens(prompt) > room]
    if doubtful and tokens is None and room > 0:
        return PromptCheck(len(prompts), None, size)
    counts = [tokens(prompt) if tokens else 1 for prompt in doubtful]
    cut = sum(count > room for count in counts)
    refusal = ""
    if cut:
        longest = f"; the longest has {max(counts):,}" if tokens else ""
        refusal = (
            f"{task}: {cut:,} of {len(prompts):,} prompts do not fit into the window of {size:,} tokens ({source}), "
            f"which leaves {max(room, 0):,} for a prompt{longest}. {remedy.format(smallest=max(counts) + size - room)}"
        )
    return PromptCheck(len(prompts), cut, size, refusal)


def most_tokens(text: str) -> int:
    """The most tokens that a text can have: each has at least one of its bytes. Some tokenizers normalize it first."""
    forms = text, unicodedata.normalize("NFKD", text)
    return max(len(form.encode(errors="surrogatepass")) for form in forms) + _ADDED


def counted(calls: Iterable[Any]) -> PromptCheck:
    """What a server's own counts of tokens say. One that cuts silently counts the same for all longer prompts.

    `calls`: (bytes of the prompt, its tokens; None where the server counted none) of each call.
    """
    numbers = list(calls)
    known = [(length, tokens) for length, tokens in numbers if tokens is not None]
    most = max((tokens for _, tokens in known), default=0)
    lengths, tied = {length for length, _ in known}, [length for length, tokens in known if tokens == most]
    if most < _SHORTEST or len(lengths) < 2:
        return PromptCheck(len(numbers))
    # Two or three prompts of about the same length may well have as many tokens.
    if len({*tied}) >= min(3, len(lengths)) and max(tied) >= 1.05 * min(tied):
        return PromptCheck(len(numbers), len(tied), int(most))
    return PromptCheck(len(numbers), 0 if len(known) == len(numbers) else None)
