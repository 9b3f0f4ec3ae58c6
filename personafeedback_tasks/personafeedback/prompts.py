"""Case -> what a model reads: a prompt per order, from the texts in `wordings/`, or a conversation per response.

We found no prompt of the authors for choosing; the wordings are ours. A text never changes without a new version: old
scores would seem to be of the new prompt. With the whole persona, all prompts of a user share the part before the
question: a prefix cache serves it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ..common.errors import OptionError, did_you_mean, require
from ..core.options import option
from ..core.rewards import Message
from ..pairwise import orders as pairwise
from ..pairwise.benchmark import ChoiceOptions
from ..pairwise.orders import TWO
from ..pairwise.report import PADDING, SIMILAR_PERSONA
from . import rag_filter
from .cases import PersonaCase, PersonaCases, PersonaQuestion
from .memory import retrieve
from .persona import Persona
from .system import neutral

# --- the fixed texts --------------------------------------------------------------------------------------------------

# v1 (default): what annotators were told (arXiv 2506.12915, Appendix D), in our words; the line on order is ours
# v2: the bare question; v3: shorter criteria of our own, from the outside
# v4: the instruction on the annotators' screen (Figure 5), without the criteria; which had three options


@dataclass(frozen=True)
class Wording:
    """The fixed texts of one wording in one language."""

    with_persona: str  # instructions where a whole persona follows
    with_memory: str  # where pieces of content that interests the user follow (`rag`)
    without_persona: str  # where nothing is told about the user
    ask: str  # the last words, for a reply that is a letter
    ask_cot: str = ""  # for a reply that reasons first (method `cot`)


def wordings(folder: Path) -> dict[str, dict[str, Wording]]:
    """Prompt version -> language -> its texts, from files such as `v1_en.md`."""
    found: dict[str, dict[str, Wording]] = {}
    for path in sorted(folder.glob("*.md")):
        version, language = path.stem.split("_")
        _, *parts = re.split(r"^# (\w+)\n", path.read_text(encoding="utf-8"), flags=re.M)
        texts = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
        found.setdefault(version, {})[language] = Wording(**texts)
    return found


WORDINGS = wordings(Path(__file__).with_name("wordings"))
"""Prompt version -> language -> its texts."""

# --- the options ------------------------------------------------------------------------------------------------------
PIECES = 5
"""How many pieces of a memory `rag` shows, at most. The paper names no number."""


def _retrieves(options: Mapping[str, Any]) -> bool:
    return options["setting"] == "rag"


def _shows_persona(options: Mapping[str, Any]) -> bool:
    return options["rag_filter"] if _retrieves(options) else options["setting"] not in ("no_persona", PADDING)


def _names(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise OptionError(f"hide must name persona fields, as in hide=Name,Preference.Travel, got {value!r}.")
    return tuple(sorted({part.strip() for part in parts}))


@dataclass(frozen=True, kw_only=True)
class Template(ChoiceOptions):
    """The options of PersonaFeedback: the prompt, apart from the case, and the data."""

    setting: str = option(
        "persona", "what the model is told about the user", values=lambda: tuple(SETTINGS),
        said=lambda setting: [setting], always=True,
    )  # fmt: skip
    data: str | None = option(None, "a folder, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given")
    rag_filter: bool = option(
        False, "whether the model first drops irrelevant pieces of `rag` (Inspect)",
        said=lambda on: ["rag_filter"] if on else [], relevant=_retrieves,
    )  # fmt: skip
    prompt: str = option(
        "v1", "which wording of the question", values=lambda: tuple(WORDINGS),
        said=lambda version: [f"prompt {version}"], always=True,
    )  # fmt: skip
    hide: tuple[str, ...] = option(
        (), "persona fields that are left out, such as Name,Preference.Travel",
        said=lambda names: [f"without {name}" for name in names], parse=_names, relevant=_shows_persona,
    )  # fmt: skip

    wordings: ClassVar[Mapping[str, Mapping[str, Wording]]] = WORDINGS
    """Prompt version -> language -> the fixed texts."""

    kept: tuple[str, ...] | None = None
    """The pieces that the filter left of those that `rag` shows; None before it. No option."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.rag_filter, bool):
            raise OptionError(f"rag_filter must be true or false, got {self.rag_filter!r}.")
        if self.rag_filter and (self.setting != "rag" or self.method not in ("generate", "cot", "logprobs", "write")):
            raise OptionError(
                "rag_filter=true needs setting=rag and, in Inspect, method=generate, cot or logprobs, got "
                f"setting={self.setting} and method={self.method}. Use one of these, or leave rag_filter out."
            )
        if self.hide and not _shows_persona(vars(self)):
            raise OptionError(
                f"hide={','.join(self.hide)} has no effect with setting={self.setting}, which shows no persona. "
                "Leave hide out, or use setting=persona."
            )

    def pieces(self, case: PersonaQuestion) -> tuple[str, ...]:
        """Pieces of the user's memory that `rag` shows, the most relevant first."""
        return retrieve(case.question, case.persona.memory, PIECES) if self.kept is None else self.kept

    def check(self, cases: PersonaCases) -> None:
        """Find out before the first call whether every prompt can be built.

        Raises:
            OptionError: no persona has a hidden field; an option does not apply to reward models.
            DataError: a memory is missing or broken (rag); no persona fits a user (other_persona, similar_persona).
            ModuleNotFoundError: a package that rag or similar_persona needs is not installed.
        """
        if self.method == "reward" and self.setting == "rag":
            supported = ", ".join(setting for setting in SETTINGS if setting != "rag")
            raise OptionError(f"Reward models support setting={supported}, got 'rag'. Use another method with it.")
        if self.method == "reward" and self.prompt != "v1":
            raise OptionError(f"prompt does not apply to reward models, got {self.prompt!r}. Leave prompt out.")
        if self.setting == "rag":
            require("bm25s", extra="retrieval")
            for case in cases:
                _ = case.persona.memory  # reads the file
        if self.setting in OF_ANOTHER:
            for case in cases:
                case.another(self.setting)
        # Of all users, in the run or not: the cells of one run have different users and must agree on it.
        personas = cases.release.others.personas if self.hide else {}
        known = {name for persona in personas.values() for name in persona.fields}
        for name in self.hide:
            if name not in known:
                raise OptionError(
                    f"hide must name fields of these personas, got {name}.{did_you_mean(name, known)} Use some of: "
                    f"{', '.join(sorted(known))}."
                )


OF_ANOTHER = ("other_persona", SIMILAR_PERSONA)
"""Settings that show another user's persona."""


def persona(case: PersonaQuestion, template: Template, wording: Wording) -> str:
    """The paper's Persona Profile setting: the model reads the profile, without hidden parts.

    It is the user's; our second controls show another user's: a response may still say the right user's name.
    """
    whose = case.another(template.setting) if template.setting in OF_ANOTHER else case.persona
    profile = (whose.without(template.hide) if template.hide else whose).text
    return f"{wording.with_persona}\n\n<persona>\n{profile}\n</persona>"


def no_persona(case: PersonaQuestion, template: Template, wording: Wording) -> str:
    """The paper's No Persona setting, its baseline: the model reads the question and the responses alone."""
    return wording.without_persona


def padding(case: PersonaQuestion, template: Template, wording: Wording) -> str:
    """No Persona with a text about nobody, as long as the profile: our control for the effect of any long prompt."""
    return f"{wording.without_persona}\n\n{neutral(len(case.persona.text), case.persona.language)}"


def rag(case: PersonaQuestion, template: Template, wording: Wording) -> str:
    """The paper's RAG setting: the model reads the pieces of the user's memory that fit the question.

    The paper retrieves by the question (Appendix F) and does not say how, or how many: BM25 and PIECES are ours.
    """
    pieces = template.pieces(case)
    if not pieces:  # the filter dropped them all: nothing is known about the user
        return wording.without_persona
    lines = "\n".join(f"- {piece}" for piece in pieces)
    return f"{wording.with_memory}\n\n<memory>\n{lines}\n</memory>"


SETTINGS: dict[str, Callable[[PersonaQuestion, Template, Wording], str]] = {
    "persona": persona,
    "no_persona": no_persona,
    "other_persona": persona,
    SIMILAR_PERSONA: persona,
    PADDING: padding,
    "rag": rag,
}
"""What the model is told about the user: the prompt's text before the question."""


def build(case: PersonaCase, options: Template, call: str) -> str:
    """The prompt of one case in one order, or of the call before."""
    if call == rag_filter.CALL:
        return rag_filter.prompt(case, options)
    wording = options.wordings[options.prompt][case.language]
    return TWO.laid_out(
        SETTINGS[options.setting](case, options, wording),
        case.question,
        case.responses,
        call,
        wording.ask_cot if options.method == "cot" else wording.ask,
    )


# --- conversations for reward models ----------------------------------------------------------------------------------

_TOLD_REWARD = {
    "en": "This is the user you are talking to. A good reply suits who this user is and what this user cares about.",
    "zh": "这是正在与你对话的用户。好的回答应当符合这位用户的特点和偏好。",
}
"""Language -> the fixed text before the persona. A reward model is told nothing else."""


def conversation(case: PersonaCase, options: Template, side: str) -> list[Message]:
    """The conversation that a reward model scores: the question and the response on this side."""
    wording = Wording(_TOLD_REWARD[case.language], with_memory="", without_persona="", ask="")
    told = SETTINGS[options.setting](case, options, wording).removeprefix("\n\n")
    return pairwise.conversation(told, case.question, case.responses[TWO.sides.index(side)])


# --- stand-ins for cases, for fingerprints ----------------------------------------------------------------------------


class _StandIn(PersonaCase):
    def another(self, setting: str) -> Persona:
        return Persona("", {"Name": "Bo"})


STAND_INS = tuple(
    _StandIn.of(Persona("", profile), id="", cell="", question="Q", responses=("C", "R"))
    for profile in (
        {"Name": "Ada", "Age": 36, "Likes": ["tea", {"in": "May"}], "Home": {"City": "Ely", "Pets": []}},
        {"姓名": "小安", "喜好": ["茶"]},
    )
)
"""One of each language: their contents tell the fixed texts and the layout apart."""

AnyTemplate = TypeVar("AnyTemplate", bound=Template)


def stand_ins(options: AnyTemplate, methods: Sequence[str]) -> Iterator[tuple[PersonaCase, AnyTemplate]]:
    """Each stand-in under every setting and method, with hidden fields, and before and after the filter.

    A similar persona is laid out like another one, and the text of PADDING has its own digest: both are left out.
    """
    plain, hidden = replace(options, rag_filter=False, hide=(), kept=("tea", "snow")), ("Home.City", "Likes", "喜好")
    for case in STAND_INS:
        for method in methods:
            yield from (
                (case, replace(plain, setting=setting, method=method))
                for setting in SETTINGS
                if setting not in (SIMILAR_PERSONA, PADDING)
            )
            yield case, replace(plain, setting="persona", method=method, hide=hidden)
            yield case, replace(plain, setting="rag", method=method, kept=())
        if methods[0] != "reward":
            yield case, replace(plain, setting="rag", method=methods[0], rag_filter=True, hide=hidden)
