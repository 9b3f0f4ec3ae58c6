"""Benchmarks that choose between responses; those that know each user by one text need only data and wording."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..common import foreign
from ..core.benchmark import Benchmark
from ..core.cases import each_and_all
from ..core.method import Method
from ..core.options import Options, option
from ..core.report import CardFacts, CardSpec, Examined
from ..core.result import Result
from ..core.rewards import Message
from ..stats.significance import Comparison
from . import baselines
from .cases import COUNTS, ChoiceCase, ChoiceCases
from .orders import TWO, Orders, conversation
from .report import NO_PERSONA, OTHER_PERSONA, PERSONA, control, report_spec, shown_of
from .scoring import DEBIASED, methods

DEBIASED_SCORE = (
    f"Its score is `{DEBIASED}`, which decides on the log-odds averaged over all orders and so without position bias."
)
"""Of a card, about methods that know log-odds."""

COMPARISONS = tuple(Comparison(f"paired, {100 * share:.0f} % differ", share, 0.0) for share in (0.1, 0.25, 0.4))
"""What a plan assumes: in so many cases one of two runs is right and one wrong; cases of a user do not correlate."""


class PairwiseBenchmark(Benchmark):
    """A question, a user, and responses of which one is right, asked in every order of the responses."""

    orders: Orders = TWO

    def __init__(self) -> None:
        self.labels = self.orders.letters
        self.methods = methods(self.orders)
        self.judges = baselines.judges(self.orders)

    def targets(self, case: Any) -> list[str]:
        return list(self.orders.letters)

    def logged_cases(self, method: Method, logged: Mapping[str, Any], epoch: int = 1) -> list[list[Result]]:
        # the right letters follow from the orders, whatever a log says: others would turn a score around
        if list(logged["targets"]) != (right := self.targets(logged)):
            raise ValueError(f"found the right answers {', '.join(logged['targets'])}, expected {', '.join(right)}")
        return super().logged_cases(method, logged, epoch)


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions(Options):
    """The options of such a benchmark."""

    setting: str = option(
        PERSONA, "what the model is told: about the user, nothing, or about another user",
        values=lambda: (PERSONA, NO_PERSONA, OTHER_PERSONA), said=lambda setting: [setting], always=True,
    )  # fmt: skip
    method: str = option("generate", "how the model's choice is read", always=True)
    data: str | None = option(None, "a folder, or `sample`; the benchmark's environment variable if not given")
    counts: str = option(
        COUNTS[0],
        "`any` accepts what is present instead of the number of cases that the data must have",
        values=lambda: COUNTS,
    )


@dataclass(frozen=True, kw_only=True)
class ChoiceWording:
    """The fixed texts. None ever changes without a new version: old scores would seem to be of the new prompt."""

    version: str
    orders: Orders
    tag: str  # around what is known about the user: `preference`
    told: str  # instructions where that follows
    not_told: str  # instructions where nothing is told about the user
    ask: str  # the last words, for a reply that is a letter
    ask_cot: str  # the last words, for a reply that reasons first (method `cot`)
    told_reward: str  # for a reward model, before what is known about the user

    def prompt(self, case: ChoiceCase, options: ChoiceOptions, order: str) -> str:
        """The prompt of a case in one order."""
        return self.orders.laid_out(
            self._about(case.told(options.setting), self.told) or self.not_told,
            case.question,
            case.responses,
            order,
            self.ask_cot if options.method == "cot" else self.ask,
        )

    def conversation(self, case: ChoiceCase, options: ChoiceOptions, side: str) -> list[Message]:
        """The conversation that a reward model scores: the question and the response on this side."""
        about = self._about(case.told(options.setting), self.told_reward)
        return conversation(about, case.question, case.responses[self.orders.sides.index(side)])

    def shown(self, options: ChoiceOptions) -> list[tuple[ChoiceCase, ChoiceOptions]]:
        """Stand-ins for a case under every setting, for fingerprints: that of rewards is of conversations alone."""
        sides = self.orders.sides
        case = ChoiceCase(id="", cell="", user_id="", known="P", question="Q", responses=sides, other_known="O")
        methods = ("reward",) if options.method == "reward" else ("generate", "cot")
        settings = (PERSONA, NO_PERSONA, OTHER_PERSONA)
        return [(case, replace(options, setting=setting, method=method)) for setting in settings for method in methods]

    def _about(self, told: str, before: str) -> str:
        return f"{before}\n\n<{self.tag}>\n{told}\n</{self.tag}>" if told else ""


class ChoiceBenchmark(PairwiseBenchmark):
    """One that knows each user by one text: all else follows from its data, its wording and a few sentences."""

    wording: ChoiceWording  # fixed texts of the prompts, and how many responses there are
    counts: Mapping[str, int]  # cell -> number of its cases, in the order of tables
    sample_counts: Mapping[str, int]  # the same of the sample
    environment: str  # the variable that names the data
    dataset: str  # where the data are from, for cards
    known: str  # what a control leaves out: `preference`
    read: Callable[..., ChoiceCases]  # (data, counts, further arguments of a selection) -> the cases
    asks: str  # for cards: `asks which ...`, in safe Markdown
    caveats: Sequence[str]  # what its numbers do not show, in safe Markdown; cards fold the later ones away
    options = ChoiceOptions
    comparisons = COMPARISONS

    def __init__(self) -> None:
        self.orders = self.wording.orders
        self.cells = tuple(self.counts)
        super().__init__()
        self.report = report_spec(
            self.orders,
            baselines=("longest", "overlap", "overlap_share"),
            examine=lambda cases, asked: examine(cases, asked, self.orders),
            shown=shown_of(self.wording.tag.capitalize()),
            control=control(self.known),
            drawn={"longest": "Longest", "overlap": "Overlap"},
            card=CardSpec(
                dataset=self.dataset,
                baselines={"longest": "the longest response"},
                measured=self._measured,
                caveats=self._caveats,
            ),
            load=self.read,
            environment=self.environment,
            asks=(
                f"Each case is a question and {len(self.labels)} responses, of which one respects {self.known} of this "
                "user. All orders are asked, and the model picks it."
            ),
        )

    def load(self, options: Any, selection: Mapping[str, str]) -> ChoiceCases:
        return self.read(options.data, options.counts, **selection)

    def columns(self, cells: Collection[str]) -> dict[str, list[str]]:
        return each_and_all([cell for cell in self.counts if cell in cells])

    def prompt(self, case: ChoiceCase, options: Any, call: str) -> str:
        return self.wording.prompt(case, options, call)

    def conversation(self, case: ChoiceCase, options: Any, side: str) -> list[Message]:
        return self.wording.conversation(case, options, side)

    def fingerprint(self, options: Any) -> str:
        version = "conversations" if options.method == "reward" else self.wording.version
        return self.fingerprint_of(version, self.wording.shown(options))

    def sizes(self, cases: Any, options: Any) -> dict[str, int]:
        return dict(self.sample_counts if cases.demonstration else self.counts)

    def _measured(self, model: str, options: Mapping[str, Any], primary: str, cases: Any) -> str:
        orders = self.orders
        about = {
            PERSONA: f"{self.known} of the user",
            NO_PERSONA: "nothing about the user (the control)",
            OTHER_PERSONA: f"{self.known} of another user instead (a control)",
        }[options["setting"]]
        if options["method"] == "reward":
            how = (
                f"scored {orders.all_sides}, each on its own. `acc` is the share of the cases in which the right one "
                "alone has the highest score"
            )
        else:
            how = (
                f"saw the responses in {orders.all_names}. `acc` is the share of the orders in which it picked the "
                "right one, averaged over cases; an unreadable reply counts as not picked"
            )
        text = f"{self.asks} {model} was told {about} and {how}; chance is {100 * orders.chance:g} %."
        return f"{text} {DEBIASED_SCORE}" if primary == DEBIASED else text

    def _caveats(self, facts: CardFacts) -> tuple[list[str], list[str]]:
        first, *others = self.caveats
        shortcuts = (
            f"Always picking the longest response reaches {facts.baselines['longest']} % on these cases, picking the "
            f"one that shares more terms with what is known about the user {facts.baselines['overlap']} %."
        )
        prompt = (
            f"The prompt ({foreign.markdown(facts.prompt)}) is that of personafeedback-tasks, not the authors': these "
            "numbers are not interchangeable with theirs."
        )
        return [first, shortcuts], [*others, prompt]


def examine(cases: ChoiceCases, asked: Collection[str], orders: Orders) -> Examined:
    """The shortcuts on the cases of a run, and the cases whose right response is the longest."""
    longest: dict[str, float] = {}
    overlap: dict[str, float] = {}
    overlap_share: dict[str, float] = {}
    right_longest = set()
    for case in cases:
        if case.id in asked:
            longest[case.id] = baselines.longest(case.responses, orders)
            overlap[case.id] = baselines.overlap(case.responses, orders, case.known)
            overlap_share[case.id] = baselines.overlap_share(case.responses, orders, case.known)
            if len(case.responses[0]) == max(map(len, case.responses)):
                right_longest.add(case.id)
    return Examined(
        baselines={"longest": longest, "overlap": overlap, "overlap_share": overlap_share},
        subsets={
            "right_longest": ("right is longest", frozenset(right_longest)),
            "right_not_longest": ("right is not longest", frozenset(longest.keys() - right_longest)),
        },
    )
