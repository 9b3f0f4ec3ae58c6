"""The README.md of a release: what the Hub shows of a dataset, in its own format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from huggingface_hub import DatasetCard, DatasetCardData

from ...annotation.rows import Dropped
from ...common import foreign
from ...personafeedback.manifest import UNKNOWN
from ..folder import Folder
from ..rows import OWN, STRATEGIES
from ..yields import HEADER, writers, yield_rows
from .preferences import SHARED
from .release_folder import Made
from .shortcuts import MOST, STOPPING, Shortcuts, shortcut_table
from .voting import CIRCULAR, CODINGS, agreement_table, risk_table

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))

_HOW_MADE = {
    "full": "told the whole persona",
    "masked": "told the persona with most of its fields hidden",
    "question": "told the question alone",
    "improved": "an improved rewrite",
    "degraded": "a degraded rewrite",
    "imported": "brought from elsewhere",
}


def card(made: Made, folder: Folder, shortcuts: Shortcuts, accepted: Sequence[str], control: str) -> str:
    """The card of a release, with the Hub's metadata.

    Args:
        accepted: sentences on what would have stopped the release.
        control: why a control cannot run on the set; empty if all can.
    """
    manifest = made.manifest
    total = sum(manifest.counts.values())
    data = DatasetCardData(
        language=folder.settings.language,
        license="other" if manifest.licence == UNKNOWN else manifest.licence.lower(),
        pretty_name=manifest.name,
        size_categories=next((name for most, name in _SIZES if total < most), "100K<n<1M"),
        task_categories=["text-generation"],
        tags=["personalization", "preference", "personafeedback"],
        configs=[
            {"config_name": cell, "data_files": f"data/{cell.replace('_', '/', 1)}.jsonl"} for cell in manifest.counts
        ],
    )
    body = "\n\n".join(_sections(made, folder, shortcuts, accepted, control))
    return str(DatasetCard(f"---\n{data.to_yaml()}\n---\n\n{body}\n"))


def _sections(made: Made, folder: Folder, shortcuts: Shortcuts, accepted: Sequence[str], control: str) -> list[str]:
    manifest = made.manifest
    strategies = Counter(answer.strategy for answer in made.answers.values())
    sections = [
        f"# {foreign.markdown(manifest.name)}",
        "Of two responses to a user's question, which one suits this user better? Each row has the question, the response that suits better "
        "(`chosen`) and the other (`reject`); `persona/<user_id>.json` is the user. Layout and tiers are those of PersonaFeedback "
        "(arXiv 2506.12915); the texts and the labels are not.",
        _table(["cell", "cases"], [[cell.replace("_", " "), f"{count:,}"] for cell, count in manifest.counts.items()]),
        "## How it was made",
        f"Who wrote the responses: {foreign.markdown(manifest.generator)}.",
        "\n".join(f"- {strategies[name]:,} responses: {_HOW_MADE[name]}" for name in STRATEGIES if strategies[name]),
        *([_memories(made)] if made.memories else []),
        *_history(folder),
        "Each row says under `strategies` and `models` how its two texts were made, under `votes` how many took each, and under `risk` how "
        "probably another nine like these would decide otherwise.",
        "## Labels",
        f"{foreign.markdown(manifest.labels)} Annotators: {manifest.annotators or 'no people'}.",
    ]
    if dropped := folder.read(Dropped):
        named = "; ".join(f"{one.annotator}{f' ({one.reason})' if one.reason else ''}" for one in dropped)
        sections.append(f"Votes of {len(dropped)} annotators do not count: {foreign.markdown(named)}.")
    if made.agreement:
        sections += [
            "### Agreement",
            f"Over all pairs that were voted on, those that were not released (`below`) too, with 95 % intervals. {CIRCULAR} How votes are coded is "
            "part of the number; the first line is the one to quote.",
            _table(*agreement_table(made.agreement, " to ")),
            "\n".join(f"- {name}: {meaning}." for name, meaning in CODINGS.items()),
        ]
    if made.noise:
        sections += [
            "### How sure the labels are",
            f"In percent, with 95 % intervals over users. {SHARED}",
            _table(*risk_table(made.noise, " to ")),
        ]
    sections += [
        "## Shortcuts",
        "Accuracy of judges that understand nothing, in percent, with a standard error by user; chance is 50. A model's score says something "
        "only above these.",
        _table(*shortcut_table(shortcuts, "`")),
    ]
    if accepted:
        sections.append("**Accepted by whoever released this set:** " + " ".join(accepted))
    elif "hard" in next(iter(shortcuts.values())):
        sections.append(
            f"None of {', '.join(f'`{name}`' for name in STOPPING if name in shortcuts)} is above {100 * MOST:.0f} % on Hard, and no pair has both labels."
        )
    else:
        sections.append("The set has no Hard cases, the only ones with a limit on shortcuts. No pair has both labels.")
    sections += [
        "## License",
        "No license was given for this set."
        if manifest.licence == UNKNOWN
        else f"{foreign.markdown(manifest.licence)}.",
        "## Use",
        *([foreign.markdown(control)] if control else []),
        "```bash\npip install 'personafeedback-tasks[all]'\n"
        f"inspect eval personafeedback_tasks/personafeedback -T data=FOLDER --model MODEL\n"
        f"lm_eval run --tasks {','.join(f'personafeedback_{cell}' for cell in manifest.counts)} --metadata data=FOLDER --model ...\n```",
    ]
    return sections


def _memories(made: Made) -> str:
    whose = {name: "their own" if name == OWN else f"chosen by {foreign.markdown(name)}" for name in made.memories}
    counts = ", ".join(f"{count:,} {whose[name]}" for name, count in sorted(made.memories.items()))
    return (
        f"{made.memories.total():,} users have `memory/<user_id>.jsonl`, what they read or wrote ({counts}); `setting=rag` reads it. A row that has "
        "`memory` is about a question that was drawn from these pieces: whoever voted saw them, beside the persona."
    )


def _history(folder: Folder) -> list[str]:
    """Who wrote the texts of the build, and how many of each kind passed its checks."""
    sections = []
    if named := writers(folder):
        sections.append(f"Texts of the build by writer: {foreign.markdown('; '.join(named))}.")
    if rows := yield_rows(folder):
        sections.append(_table(list(HEADER), [list(row) for row in rows]))
    return sections


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
