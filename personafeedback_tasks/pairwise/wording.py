"""The fixed texts of a benchmark that knows each user by one text, and the prompts and conversations that they make."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.options import Options, option
from ..core.rewards import Message
from .cases import COUNTS, ChoiceCase
from .orders import Orders
from .prompts import conversation, laid_out
from .report import NO_PERSONA, OTHER_PERSONA, PERSONA


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
        return laid_out(
            self._about(case.told(options.setting), self.told) or self.not_told,
            case.question,
            self.orders.shown(case.responses, order),
            self.ask_cot if options.method == "cot" else self.ask,
            self.orders,
        )

    def conversation(self, case: ChoiceCase, options: ChoiceOptions, side: str) -> list[Message]:
        """What a reward model scores, of one of `Orders.sides`."""
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
