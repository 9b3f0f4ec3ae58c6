"""PersonaFeedback (arXiv 2506.12915): which of two responses suits this user better? Start reading here.

Each case is asked twice, with the responses in either order. `cases.py` loads the cases from the release that
`release.py` finds; `prompts.py` makes the two prompts from the texts in `wordings/`. How a reply is read and scored is
the same for every choice between responses: `pairwise/scoring.py`.
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
from . import memory, prompts, rag_filter
from .baselines import COMPARISONS
from .cases import PersonaCases, load_cases
from .cells import CELLS, SELECTIONS, columns
from .manifest import BENCHMARK
from .prompts import OF_ANOTHER, Template
from .report import REPORT


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
    prompt = staticmethod(prompts.build)
    conversation = staticmethod(prompts.conversation)

    def load(self, options: Template, selection: Mapping[str, str]) -> PersonaCases:
        return load_cases(options.data, counts=options.counts, **selection)

    def check(self, options: Template, cases: PersonaCases) -> None:
        options.check(cases)

    def sizes(self, cases: Any, options: Any) -> dict[str, int]:
        return dict(cases.release.counts)

    def fingerprint(self, options: Template) -> str:
        # rewards depend on conversations alone, and the other methods on prompts
        rewards = options.method == "reward"
        alike = [name for name, method in self.methods.items() if isinstance(method, RewardMethod) is rewards]
        return self.fingerprint_of("conversations" if rewards else options.prompt, prompts.stand_ins(options, alike))

    def signs(self, cases: PersonaCases, options: Template) -> dict[str, Any]:
        """Digests of what the setting reads beside the cases, of all users; None for the rest."""
        setting, release = options.setting, cases.release
        return {
            "memory": memory.digest(release.root) if setting == "rag" else None,
            "others": release.given(setting).digest if setting in OF_ANOTHER else None,
            "padding": digest_of([*NEUTRAL.items()]) if setting == PADDING else None,
        }


PERSONAFEEDBACK = PersonaFeedback()
