"""The commands that need only the data: audit, baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from ..common import foreign
from ..common.errors import DataError
from ..common.statistics import Estimate, percent
from ..personafeedback import audit, baselines
from ..personafeedback.cases import COUNTS, PersonaCases, load_cases, load_present
from ..personafeedback.cells import CATEGORIES, DIFFICULTIES
from .output import json_option, needs_tables, say, show_table, write_json

F = TypeVar("F", bound=Callable[..., Any])


def _data_options(command: F) -> F:
    """The options of every command that reads the release."""
    for option in (
        json_option,
        click.option("--difficulty", type=click.Choice(DIFFICULTIES), help="Only this difficulty."),
        click.option(
            "--category", type=click.Choice(CATEGORIES), help="Only this category; all of its cells must be present."
        ),
        click.option(
            "--counts",
            type=click.Choice(COUNTS),
            default=COUNTS[0],
            show_default=True,
            help="checked requires the number of cases per cell of the paper, or of a set's set.json; any accepts what is present.",
        ),
        click.option(
            "--data",
            help="A folder with data/ and persona/, `sample`, or a Hub dataset id. "
            "Default: PERSONAFEEDBACK_DATA, else the pinned Hub release.",
        ),
    ):
        command = option(command)
    return command


@click.command("audit")
@_data_options
def audit_command(json_file: str | None, **options: str | None) -> None:
    """Find what could mislead in the data.

    Compares counts with the paper's Table 2, or with a set's set.json; counts questions, and scenarios where rows have them; finds response pairs
    that occur in several rows, with the same label or opposite ones, and the label ceiling that follows; finds pairs that
    look rewritten, responses that alone say the user's name, and artifacts of the model that wrote the responses;
    measures shortcuts. Tables are in percent; --json has shares, and the case ids of every finding.

    \b
        personafeedback audit --data FOLDER
        personafeedback audit --category general --json audit.json
    """
    needs_tables(json_file)
    cases, missing = _load(**options)
    found = audit.audit(cases)
    document = found.as_dict()
    if _write_json(json_file, document, missing):
        _say_data(cases, missing)
        _show_audit(found, document["cells"])


@click.command("baselines")
@_data_options
def baselines_command(json_file: str | None, **options: str | None) -> None:
    """Measure shortcuts: accuracy per cell, without a model.

    \b
        longest        the longer response
        overlap        the response that shares more terms with the persona
        overlap_share  the response with the larger share of such terms
        name           the response that says the user's name

    `overlap, other persona` is the same with the persona of another user, as under setting=other_persona: what is left of
    it needs no right person. Tables are in percent, --json has shares. Chance is 50 %; a tie counts one half. Standard errors are
    clustered by user.

    \b
        personafeedback baselines --data FOLDER
        personafeedback baselines --difficulty hard --json -
    """
    needs_tables(json_file)
    cases, missing = _load(**options)
    found = baselines.baselines(cases)
    other, why_not = _other_persona(cases)
    if _write_json(json_file, baselines.as_dict(cases, found, other), missing):
        _say_data(cases, missing)
        _show_baselines(found, other)
        if why_not:
            say(f"No baseline with another persona: {why_not}")


def _other_persona(
    cases: PersonaCases,
) -> tuple[tuple[baselines.Estimates, baselines.Estimates] | None, str]:
    """The baselines with another user's persona, or why there are none."""
    try:
        return baselines.with_other_persona(cases), ""
    except DataError as error:
        return None, foreign.without_folders(str(error), cases.source)


def _load(
    data: str | None, category: str | None, difficulty: str | None, counts: str | None
) -> tuple[PersonaCases, list[str]]:
    """The selected cases and, if no category was given, the names of the cells without a file."""
    counts = counts or COUNTS[0]
    if category is not None:
        return load_cases(data, category, difficulty, counts), []
    cases = load_present(data, difficulty, counts)
    return cases, [cell for cell in baselines.absent(cases) if difficulty is None or cell.endswith(difficulty)]


def _write_json(path: str | None, document: dict[str, Any], missing: Iterable[str]) -> bool:
    """Write the document if a file is given. True if stdout is still free for tables."""
    is_free = write_json(path, document)
    if missing and not is_free:
        say(_without(missing), err=True)
    return is_free


def _say_data(cases: PersonaCases, missing: Iterable[str]) -> None:
    say(f"Data: {cases.revision}")
    if missing:
        say(_without(missing))
    say()


def _without(missing: Iterable[str]) -> str:
    return f"No file for {', '.join(missing)}: only the other cells are included."


def _show_audit(found: audit.Audit, described: dict[str, Any]) -> None:
    show_table(
        "Cells; the last four columns are medians of characters",
        ["cell", "cases", found.cases.release.counts_from, "users", "en", "zh", "persona", "question", "chosen", "rejected"],
        [
            (
                cell, of["cases"], of["expected"], of["users"], *(of["languages"].get(code, 0) for code in ("en", "zh")),
                *(f"{of['median_characters'][text]:g}" for text in ("persona", "question", "chosen", "rejected")),
            )
            for cell, of in described.items()
        ],
    )  # fmt: skip
    show_table(
        "Questions",
        ["", "users", "questions per user", "users x questions", "distinct questions"],
        [
            (category, of["users"], _range(*of["questions_per_user"].values()), of["combinations"], of["questions"])
            for category, of in found.questions.items()
        ],
    )
    sizes = sorted({size for of in found.options.values() for size in of["combinations"]}, key=int)
    show_table(
        f"Users x questions by responses in Easy and Hard cases{'' if found.cases.named_set else ' (annotators saw 3)'}",
        ["", *sizes],
        [(category, *(of["combinations"][size] for size in sizes)) for category, of in found.options.items()],
    )
    show_table(
        "Scenarios, in cases",
        ["cell", *found.scenarios],
        [
            *((cell, *(cells.get(cell, 0) for cells in found.scenarios.values())) for cell in described),
            ("total", *(sum(cells.values()) for cells in found.scenarios.values())),
        ]
        if found.scenarios
        else [],
    )
    show_table(
        "Findings, in cases; a star marks flagged ones, where the case itself is faulty",
        ["finding", *(cell.replace("_", " ") for cell in described), "total"],
        [
            (
                _starred(name),
                *("–" if cell in of.not_searched else of.cells.get(cell, 0) for cell in described),
                "–" if of.not_searched else len(of.ids),
            )
            for name, of in found.findings.items()
        ],
    )
    for name, of in found.findings.items():
        say(f"{_starred(name)}: {of.meaning}")
        if of.not_searched:
            say(f"  Not searched in {', '.join(of.not_searched)}: needs the category's Easy and Hard cases.")
    say()
    show_table(
        "Response pairs that occur in several rows",
        ["rows", "same label", "opposite labels"],
        [(where, *counts.values()) for where, counts in audit.pairs_across_cells(found.repeats).items()],
    )
    show_table(
        "Label ceiling: an order-blind judge has at most this accuracy, in percent",
        ["cases", "accuracy"],
        [(name, percent(value)) for name, value in found.ceilings.items()],
    )
    show_table(
        "Shortcuts where they decide: accuracy ± standard error, in percent (cases)",
        ["cell", *found.shortcuts],
        [
            (group, *(f"{_accuracy(by_group[group])} ({by_group[group].n})" for by_group in found.shortcuts.values()))
            for group in baselines.groups(found.cases)
        ],
    )


def _show_baselines(found: baselines.Estimates, other: tuple[baselines.Estimates, baselines.Estimates] | None) -> None:
    groups = list(next(iter(found.values())))
    show_table(
        "Accuracy ± standard error, in percent",
        ["cell", *found, "chance"],
        [
            (group, *(_accuracy(by_group[group]) for by_group in found.values()), percent(baselines.CHANCE))
            for group in groups
        ],
    )
    if other:
        wrong, difference = other
        header = [text for name in wrong for text in (f"{name}, other persona", "right minus wrong")]
        show_table(
            "With another user's persona, in percent; differences in points",
            ["cell", *header],
            [
                (
                    group,
                    *(
                        text
                        for name, by_group in wrong.items()
                        for text in (_accuracy(by_group[group]), _signed(difference[name][group]))
                    ),
                )
                for group in groups
            ],
        )


def _range(fewest: int, most: int) -> str:
    return f"{most}" if fewest == most else f"{fewest}–{most}"


def _starred(name: str) -> str:
    return f"{name}*" if name in audit.FLAGGED else name


def _signed(of: Estimate) -> str:
    return percent(of.value, sign=True, stderr=of.stderr)


def _accuracy(of: Estimate) -> str:
    return percent(of.value, stderr=of.stderr)
