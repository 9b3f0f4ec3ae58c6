"""PersonaFeedback (arXiv 2506.12915): which of two responses suits this user better? Start reading here.

`cases.py` loads the cases from the release that `release.py` finds, and `prompts.py` makes the two prompts of a case,
one per order. Methods and scores are those of every choice (`pairwise/methods.py`, `pairwise/scoring.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import TASK_VERSION
from ..core.cases import digest_of
from ..core.method import RewardMethod
from ..core.system import NEUTRAL
from ..pairwise.benchmark import PairwiseBenchmark
from ..pairwise.report import PADDING
from ..stats.significance import Comparison
from . import conversations, memory, prompts, rag_filter
from .cases import PersonaCase, PersonaCases, load_cases
from .cells import CATEGORIES, CELLS, DIFFICULTIES, category_of, columns, difficulty_of
from .manifest import BENCHMARK
from .prompts import OF_ANOTHER, Template
from .report import REPORT

SELECTIONS: dict[str, dict[str, str]] = {
    "": {},
    **{category: {"category": category} for category in CATEGORIES},
    **{difficulty: {"difficulty": difficulty} for difficulty in DIFFICULTIES},
    **{cell: {"category": category_of(cell), "difficulty": difficulty_of(cell)} for cell in CELLS},
}
"""End of a task's name -> the cases that it asks."""

_CORRELATION, _ACCURACY = 0.035, 0.75

COMPARISONS = (
    *(Comparison(f"paired, {100 * share:.0f} % differ", share, _CORRELATION) for share in (0.1, 0.25, 0.4)),
    Comparison("unpaired", _ACCURACY * (1 - _ACCURACY), _CORRELATION, paired=False),
)
"""What a plan assumes, from the baselines on the General half, which are judges without a model.

Paired: in which share of the cases one of the two runs is right and the other wrong: the variance of the difference. It
is 0.10 for `overlap` and `overlap_share`, which are alike, and 0.25 and 0.37 for `longest` and each of them; an `acc`
of 0.5 (different answers in the two orders) makes it smaller. Unpaired: an accuracy of 75 %, as of two of them. Two
cases of a user correlate by 0.01 to 0.03, accuracies as well as differences.
"""


class PersonaFeedback(PairwiseBenchmark):
    """Which of two responses suits this user better?"""

    name = "personafeedback"
    title = BENCHMARK
    version = TASK_VERSION
    options: type[Template] = Template
    cells = CELLS
    selections = SELECTIONS
    report = REPORT
    first_call = rag_filter.CALL
    signed = ("memory", "others", "padding")
    comparisons = COMPARISONS
    columns = staticmethod(columns)
    after = staticmethod(rag_filter.after)
    conversation = staticmethod(conversations.conversation)

    def load(self, options: Template, selection: Mapping[str, str]) -> PersonaCases:
        return load_cases(options.data, selection.get("category"), selection.get("difficulty"), options.counts)

    def prompt(self, case: PersonaCase, options: Template, call: str) -> str:
        return rag_filter.prompt(case, options) if call == rag_filter.CALL else prompts.build(case, options, call)

    def check(self, options: Template, cases: PersonaCases) -> None:
        if options.method == "reward":
            conversations.check(options)
        options.check(cases)

    def fingerprint(self, options: Template) -> str:
        # rewards depend on conversations alone, and the other methods on prompts
        rewards = options.method == "reward"
        alike = [name for name, method in self.methods.items() if isinstance(method, RewardMethod) is rewards]
        return self.fingerprint_of("conversations" if rewards else options.prompt, prompts.stand_ins(options, alike))

    def sizes(self, cases: Any, options: Any) -> dict[str, int]:
        return dict(cases.release.counts)

    def signs(self, cases: PersonaCases, options: Template) -> dict[str, Any]:
        """Digests of what the setting reads beside the cases, of all users; None for the rest."""
        setting, release = options.setting, cases.release
        return {
            "memory": memory.digest(release.root) if setting == "rag" else None,
            "others": release.given(setting).digest if setting in OF_ANOTHER else None,
            "padding": digest_of([*NEUTRAL.items()]) if setting == PADDING else None,
        }


PERSONAFEEDBACK = PersonaFeedback()
