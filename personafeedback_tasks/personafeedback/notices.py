"""The two sentences that every run says about itself, in the same words in both harnesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..common import foreign
from ..replies.answers import LETTERS
from . import prompts
from .cases import Case, CaseSet
from .conversations import SIDES, conversation
from .orders import ORDERS
from .rag.filter import UNREADABLE

UNREADABLE_SHARE = 0.01
"""Share of unreadable replies above which a run warns."""


def opening(
    *,
    task: str,
    asked: Sequence[Case],
    calls: int,
    template: prompts.Template,
    data: CaseSet,
    chat_template: bool | None = None,
) -> str:
    """One line at the start of a run.

    Args:
        task: its name as rows show it.
        asked: the cases that this run asks; `--limit` may leave some of `data` out.
        calls: how many calls of the model they need.
        template: what is asked, apart from the cases.
        data: all cases of the task.
        chat_template: whether lm-eval applies one; None where the harness always sends chat messages.
    """
    characters = sum(len(text) for case in asked for text in _asked(case, template))
    languages = Counter(case.language for case in asked)
    parts = [
        f"{task}: {len(asked):,} of {len(data):,} cases",
        f"{calls:,} model calls",
        f"{characters:,} prompt characters",
        f"setting {template.setting}",
        f"method {template.method}",
        f"prompt {template.prompt}",
        f"data {data.revision}",
        f"languages {', '.join(f'{name} {count}' for name, count in sorted(languages.items()))}",
    ]
    parts += [remark for remark in template.remarks() if remark.startswith(("language", "without", "k="))]
    if template.rag_filter:
        parts.append("rag_filter: one more call for each case, its characters not counted")
    if chat_template is not None:
        parts.append(f"chat template {'applied' if chat_template else 'not applied'}")
    if len({case.user_id for case in asked}) == 1:
        parts.append("ONE USER: no standard error can be known, whatever the harness prints")
    if data.release.is_sample:
        parts.append("DEMONSTRATION on the bundled sample: no evidence about a model")
    return foreign.terminal("; ".join(parts))


def _asked(case: Case, template: prompts.Template) -> list[str]:
    """All that the model reads about a case."""
    if template.method == "reward":
        return [turn["content"] for side in SIDES for turn in conversation(case, template, side)]
    return [prompts.build(case, template, order) for order in ORDERS]


def unreadable(task: str, answers: Iterable[str], method: str = "generate") -> str | None:
    """A warning if more than 1 % of the replies are unreadable, or if any is empty, else None.

    lm-eval makes an empty reply out of an error body with status 200: a lower score that nobody would notice.
    """
    answers = list(answers)
    reasons = Counter(answer for answer in answers if answer not in LETTERS)
    many = reasons.total() > UNREADABLE_SHARE * len(answers)
    if not many and "no_response" not in reasons:
        return None
    reason = min(reasons, key=lambda name: (-reasons[name], name)) if many else "no_response"
    remedy = _TIED if method == "mc" else _REMEDIES[reason]
    if method == "logprobs" and reason == "invalid_response_format":
        remedy = _NO_LETTER
    return (
        f"{task}: {reasons.total():,} of {len(answers):,} replies ({reasons.total() / len(answers):.1%}) are unreadable "
        f"and count as not picked; {'commonest reason' if many else 'among them'}: {reason} ({reasons[reason]:,}). {remedy}"
    )


def unfiltered(task: str, outcomes: Sequence[str]) -> str | None:
    """A warning if more than 1 % of the replies to the filter of `rag_filter` are unreadable, else None.

    Args:
        outcomes: what `rag_filter.said` says of each.
    """
    count = outcomes.count(UNREADABLE)
    if count <= UNREADABLE_SHARE * len(outcomes):
        return None
    return (
        f"{task}: {count:,} of {len(outcomes):,} replies to rag_filter ({count / len(outcomes):.1%}) are unreadable: these "
        "cases were asked with all pieces, as without the filter. Use a model that replies with the numbers alone, or leave "
        "rag_filter out; give thinking models room: --max-tokens 16384."
    )


_TIED = (
    "The two letters are exactly equally likely there. Half-precision models round: pass softmax_dtype=float32 in "
    "--model_args of hf, and read acc_sym, which does not depend on such ties."
)

_NO_LETTER = (
    "Neither letter is among the most likely first tokens, or both are equally likely: see p_letters in the scores' metadata. "
    "Leave method=logprobs out for a model that does not answer with a letter at once."
)

_REMEDIES = {
    "truncated": (
        "Give thinking models room: --gen_kwargs max_gen_toks=16384 (lm-eval), --max-tokens 16384 (Inspect)."
    ),
    "no_response": (
        "The model, or the server (lm-eval turns a broken reply into an empty one), said nothing. Look at the server's "
        "log; give thinking models room: --gen_kwargs max_gen_toks=16384 (lm-eval), --max-tokens 16384 (Inspect)."
    ),
    "refusal": "The model declines to choose; that is behaviour, report it beside the score.",
    "invalid_response_format": (
        "The model does not answer with a letter. In lm-eval, pass --apply_chat_template for a chat model and use the "
        "task's _mc variant for a base model; give thinking models room: --gen_kwargs max_gen_toks=16384."
    ),
}
