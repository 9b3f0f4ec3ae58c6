"""The record of a benchmark that knows each user by one text: all of it follows from its data, its wording and a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..common import foreign
from ..common.significance import Comparison
from ..core.benchmark import Benchmark
from ..core.cases import each_and_all
from ..core.report import CardFacts, CardSpec, Examined
from . import baselines
from .cases import ChoiceCases
from .explanations import explanations
from .methods import DEBIASED, methods
from .orders import Orders
from .report import NO_PERSONA, OTHER_PERSONA, PERSONA, control, report_of, shown_of
from .wording import ChoiceOptions, ChoiceWording

DEBIASED_SCORE = (
    f"Its score is `{DEBIASED}`, which decides on the log-odds averaged over all orders and so without position bias."
)
"""Of a card, about methods that know log-odds."""

COMPARISONS = tuple(Comparison(f"paired, {100 * share:.0f} % differ", share, 0.0) for share in (0.1, 0.25, 0.4))
"""What a plan assumes: in so many cases one of two runs is right and the other wrong, and cases of a user do not correlate."""


def choice_benchmark(
    *,
    name: str,
    title: str,
    version: str,
    wording: ChoiceWording,
    counts: Mapping[str, int],
    sample_counts: Mapping[str, int],
    load: Callable[[str | None, str], ChoiceCases],
    environment: str,
    dataset: str,
    revision: str,
    known: str,
    asks: str,
    caveats: Sequence[str],
) -> Benchmark:
    """The record.

    Args:
        name: of the task; title: as people write it.
        version: rises whenever a score can move.
        wording: the fixed texts of the prompts, and how many responses there are.
        counts: cell -> number of its cases, in the order of tables; sample_counts: the same of the sample.
        load: (folder, `sample` or None; `checked` or `any`) -> cases. Raises DataError.
        dataset, revision: where the data are from, for cards: an id and a commit.
        known: what a control leaves out: `preference`.
        asks: what the benchmark asks, for cards: `asks which ...`, in safe Markdown.
        caveats: what its numbers do not show, for cards, in sentences of safe Markdown; cards fold the later ones away.
    """
    orders = wording.orders
    record = Benchmark(
        name=name,
        title=title,
        version=version,
        options=ChoiceOptions,
        methods=methods(orders, wording.conversation),
        labels=orders.letters,
        cells=tuple(counts),
        selections={"": {}},
        load=lambda options, selection: load(options.data, options.counts),
        columns=lambda cells: each_and_all([cell for cell in counts if cell in cells]),
        prompt=wording.prompt,
        input=lambda case: case.question,
        targets=lambda case: list(orders.letters),
        fingerprint=lambda options: record.fingerprint_of(
            "conversations" if options.method == "reward" else wording.version, wording.shown(options)
        ),
        sizes=lambda signature: dict(sample_counts if signature["demonstration"] else counts),
        judges=baselines.judges(orders),
        explanations=explanations(orders, lambda cases: {}),
        comparisons=COMPARISONS,
        report=report_of(
            orders,
            baselines=("longest", "overlap", "overlap_share"),
            examine=lambda cases, asked: examine(cases, asked, orders),
            shown=shown_of(wording.tag.capitalize()),
            control=control(known),
            drawn={"longest": ("Longest", "-"), "overlap": ("Overlap", ":")},
            card=CardSpec(
                dataset=dataset,
                revision=revision,
                measures=("acc", "acc_sym"),
                baselines={"longest": "the longest response"},
                measured=lambda model, options, measures, cases: (
                    f"{asks} {measured(model, options, measures, orders, known)}"
                ),
                caveats=lambda facts: ([*caveats[:1], baselines_of(facts)], [*caveats[1:], prompt_of(facts)]),
            ),
            load=load,
            environment=environment,
            asks=f"Each case is a question and {len(orders.letters)} responses, of which one respects {known} of this user. All orders are asked, and the model picks it.",
        ),
    )
    return record


def examine(cases: ChoiceCases, asked: Collection[str], orders: Orders) -> Examined:
    """The shortcuts on the cases of a run, and the cases whose right response is the longest."""
    asked_cases = [case for case in cases if case.id in asked]
    longest = frozenset(case.id for case in asked_cases if len(case.responses[0]) == max(map(len, case.responses)))
    return Examined(
        baselines={
            case.id: {
                "longest": baselines.longest(case.responses, orders),
                "overlap": baselines.overlap(case.responses, orders, case.known),
                "overlap_share": baselines.overlap_share(case.responses, orders, case.known),
            }
            for case in asked_cases
        },
        subsets={
            "right_longest": ("right is longest", longest),
            "right_not_longest": ("right is not longest", frozenset(case.id for case in asked_cases) - longest),
        },
    )


def measured(model: str, options: Mapping[str, Any], measures: Sequence[str], orders: Orders, known: str) -> str:
    """What a run measured, in Markdown."""
    about = {
        PERSONA: f"{known} of the user",
        NO_PERSONA: "nothing about the user (the control)",
        OTHER_PERSONA: f"{known} of another user instead (a control)",
    }[options["setting"]]
    if options["method"] == "reward":
        how = f"scored {orders.all_sides}, each on its own. `acc` is the share of the cases in which the right one alone has the highest score"
    else:
        how = (
            f"saw the responses in {orders.all_names}. `acc` is the share of the orders in which it picked the right one, averaged over "
            "cases; an unreadable reply counts as not picked"
        )
    text = f"{model} was told {about} and {how}; chance is {100 * orders.chance:g} %."
    return f"{text} {DEBIASED_SCORE}" if DEBIASED in measures else text


def baselines_of(facts: CardFacts) -> str:
    """What the shortcuts reach on the cases of a run."""
    return (
        f"Always picking the longest response reaches {facts.baselines['longest']} % on these cases, picking the one that shares more "
        f"terms with what is known about the user {facts.baselines['overlap']} %."
    )


def prompt_of(facts: CardFacts) -> str:
    """Whose prompt it is."""
    return (
        f"The prompt ({foreign.markdown(facts.prompt)}) is that of personafeedback-tasks, not the authors': these numbers are not interchangeable "
        "with theirs."
    )
