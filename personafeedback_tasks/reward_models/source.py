"""The source of a reward model: a folder, or a repository on the Hub at one commit. Branches move, commits do not."""

from __future__ import annotations

import re
from pathlib import Path

from ..common.errors import OptionError
from ..common.records import leaves, lenient, read
from ..core.rewards import LOCAL

_COMMIT = re.compile("[0-9a-f]{40}")


def is_commit(revision: object) -> bool:
    """Whether this is a full commit, not a branch, a tag or a part of one."""
    return isinstance(revision, str) and _COMMIT.fullmatch(revision) is not None


def is_local(path: str) -> bool:
    """Whether transformers treats this as a folder; anything else is a name on the Hub."""
    return Path(path).is_dir()


def check(path: str, revision: str | None, trust_remote_code: bool, unpinned: bool) -> None:
    """Refuse a revision of a folder, and code from the Hub that no commit pins.

    Args:
        revision: a commit, branch or tag of the Hub; None for the Hub's default branch.
        unpinned: run it even if it can change between two runs.
    """
    if is_local(path):
        if revision is not None:
            raise OptionError(
                f"revision needs a model on the Hub, got revision={revision!r} with the folder {path}. Leave revision out, or "
                "pass the model's Hub id."
            )
    elif trust_remote_code and not is_commit(revision) and not unpinned:
        raise OptionError(
            f"trust_remote_code=true needs a pinned commit, got revision={revision or 'main'} of {path}, whose code can change "
            "between runs. Pass -M revision=COMMIT, a full commit of 40 hex digits from the history of the model's files on "
            "the Hub, or -M unpinned=true to run its current code."
        )


def commit_of(path: str, revision: str | None) -> str:
    """The commit of a revision; LOCAL for a folder. Raises OSError if the Hub or its config.json cannot be reached."""
    from transformers.utils import cached_file

    if is_local(path):
        return LOCAL
    # The Hub's cache keeps the files of a commit in a folder named after it, whatever branch or tag was requested.
    return Path(str(cached_file(path, "config.json", revision=revision))).parent.name


def foreign_code(path: str, commit: str) -> list[str]:
    """Other repositories whose code transformers would run with this model, sorted; its commit does not pin them.

    `auto_map` names them as `OWNER/NAME--module.Class`; the base model of an adapter may be another one.
    """
    from transformers import PretrainedConfig
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    revision = None if commit == LOCAL else commit
    adapter = Path(path) / "adapter_config.json"
    if commit == LOCAL and adapter.is_file() and not (Path(path) / "config.json").is_file():
        base = str(lenient(read(adapter))["base_model_name_or_path"])
        return foreign_code(base, LOCAL) if is_local(base) else [base]
    config, _ = PretrainedConfig.get_config_dict(path, revision=revision)
    # A tokenizer's `auto_map` has a list of two classes, and one of them may be null.
    classes = leaves([config.get("auto_map"), get_tokenizer_config(path, revision=revision).get("auto_map")])
    named = [name for name in classes if isinstance(name, str)]
    return sorted({name.partition("--")[0] for name in named if "--" in name} - {path})
