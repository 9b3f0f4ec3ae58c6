"""The two messages that every run prints about itself, the same in both harnesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from ..common import foreign
from ..parsing.answers import IMPOSSIBLE, PROMPT_CUT
from .asked import AskedTask
from .benchmark import Benchmark
from .method import LikelihoodMethod, Method, TopTokenMethod
from .window import PromptCheck

UNREADABLE = "unreadable"
"""What a score says of the reply to a first call that nobody can read, see `Benchmark.after`."""

UNREADABLE_SHARE = 0.01
"""Share of unreadable replies above which a run warns."""


def opening(
    asked: AskedTask,
    ids: Collection[str],
    *,
    calls: int,
    prompts: PromptCheck,
    chat_template: bool | None = None,
    ranks: str = "",
) -> str:
    """One line at the start of a run.

    Args:
        ids: of the documents that it asks, of those of the task.
        chat_template: None where the harness always sends chat messages.
        ranks: which of several processes this is.
    """
    benchmark, data = asked.benchmark, asked.cases
    documents = [document for name, document in asked.documents.items() if name in ids]
    cases = f"{len(documents):,} of {len(data):,} cases"
    if groups := asked.method.groups:
        cases = f"{sum(len(group.cases) for group in documents):,} of {len(data):,} cases"
        cases = f"{len(documents):,} of {len(asked.documents):,} {groups} ({cases}; --limit counts {groups})"
    if alone := len(documents) - len(benchmark.counted([case.id for case in documents])):
        cases += f" ({alone:,} without the rest of their {benchmark.units and benchmark.units.name} will not count)"
    parts = [f"{asked.name}{ranks}: {cases}", f"{calls:,} model calls", str(prompts)]
    for name in asked.options.always():
        parts.append(f"{name} {', '.join(dict.fromkeys(str(getattr(each, name)) for each in asked.every))}")
    parts.append(f"data {data.revision}")
    parts += dict.fromkeys(remark for each in asked.every for remark in each.details(vars(each)))
    if chat_template is not None:
        parts.append(f"chat template {'applied' if chat_template else 'not applied'}")
    if len({case.user_id for case in documents}) == 1:
        parts.append("ONE USER: the standard error is undefined, whatever the harness prints")
    if data.demonstration:
        parts.append("DEMONSTRATION on the bundled sample: not evidence about any model")
    return foreign.terminal("; ".join(parts))


def unreadable(benchmark: Benchmark, task: str, answers: Iterable[str], method: Method, harness: str) -> str | None:
    """A warning if more than 1 % of the replies are unreadable; None without one.

    Even a single reply warns that is empty, had a prompt that was cut, or is no log-likelihood.
    lm-eval makes an empty reply out of an error body with status 200: a lower score that nobody would notice.
    """
    answers = list(answers)
    reasons = Counter(answer for answer in answers if answer not in benchmark.labels)
    many = reasons.total() > UNREADABLE_SHARE * len(answers)
    telling = [reason for reason in (PROMPT_CUT, *IMPOSSIBLE, "no_response") if reason in reasons]  # even once
    if not many and not telling:
        return None
    common = min(reasons, key=lambda name: (-reasons[name], name))
    reason = telling[0] if telling and (not many or telling[0] != "no_response") else common
    return (
        f"{task}: {reasons.total():,} of {len(answers):,} replies ({reasons.total() / len(answers):.1%}) are "
        f"unreadable and count as wrong; {'most common reason' if many and reason == common else 'among them'}: "
        f"{reason} ({reasons[reason]:,}). {remedy(benchmark, method, reason, harness)}"
    )


def remedy(benchmark: Benchmark, method: Method, reason: str, harness: str) -> str:
    """What to do about replies that are unreadable for this reason: the options to pass.

    Args:
        harness: of the run, as `Run.program` has it. For others than lm-eval and Inspect nobody knows the options.
    """
    if reason == "invalid_response_format" and isinstance(method, LikelihoodMethod):
        return _NO_FIRST_TOKEN if isinstance(method, TopTokenMethod) else _TIED
    by_likelihood = _BY_LIKELIHOOD.get(harness, {})
    advice = [by_likelihood[name] for name in benchmark.methods if name in by_likelihood]
    if harness == "lm-eval":
        advice.insert(0, "a chat model needs --apply_chat_template")
    room = _ROOM.get(harness, "raise the limit of their replies")
    advice.append(f"a thinking model needs a higher limit: {room}")
    said = "; ".join(advice)
    *others, last = benchmark.labels
    # a list of numbers or a text is asked for in other words than the labels that it is read to
    form = f"{', '.join(others)} or {last}" if others and not method.groups else method.help
    return _REMEDIES[reason].format(
        form=form, room=room, advice=f"{said[:1].upper()}{said[1:]}", empty=_EMPTY if harness == "lm-eval" else ""
    )


def unreadable_first(task: str, call: str, outcomes: Sequence[str]) -> str | None:
    """A warning if more than 1 % of the replies to the first call are unreadable, else None."""
    count = outcomes.count(UNREADABLE)
    if count <= UNREADABLE_SHARE * len(outcomes):
        return None
    return (
        f"{task}: {count:,} of {len(outcomes):,} replies to {call} ({count / len(outcomes):.1%}) are unreadable: these "
        f"cases were run as without {call}. Use a model that replies in the form that the prompt asks for, or leave "
        f"{call} out; give thinking models more new tokens: {_ROOM['inspect-ai']}."
    )


def cut(task: str, prompts: PromptCheck) -> str | None:
    """A warning if a server cut prompts, else None."""
    if not prompts.cut:
        return None
    window = f"the server counts no more than {prompts.window:,} tokens" if prompts.window else "see its log"
    return f"{task}: {prompts}, so that the score is void: {window}. {_REMEDIES[PROMPT_CUT]}"


_TIED = (
    "The labels are exactly tied. Half-precision models round: pass softmax_dtype=float32 in --model_args of hf, and "
    "use acc_sym, which does not depend on such ties."
)
_NO_FIRST_TOKEN = (
    "No label is among the most likely first tokens, or several are equally likely: see p_letters in the scores' "
    "metadata. Do not use method=logprobs with a model that does not begin its reply with a label."
)
_BY_LIKELIHOOD = {
    "lm-eval": {"mc": "a base model, or one too small to name a letter, needs the task's _mc variant"},
    "inspect-ai": {"logprobs": "a base model, or one too small to name a letter, needs -T method=logprobs"},
}
"""Harness -> a method of the benchmark -> when to take it."""

_ROOM = {"lm-eval": "--gen_kwargs max_gen_toks=16384", "inspect-ai": "--max-tokens 16384"}

_EMPTY = " (lm-eval turns a broken reply into an empty one)"

_REMEDIES = {
    "truncated": "Give thinking models more new tokens: {room}.",
    PROMPT_CUT: (
        "The prompts do not fit into the model's window, and more new tokens make it worse: start the server with a "
        "longer context (vLLM: --max-model-len; Ollama: num_ctx), or give replies less room."
    ),
    "no_response": (
        "The model or the server{empty} returned nothing. Check the server's log; give thinking models more new "
        "tokens: {room}."
    ),
    "positive_likelihoods": (
        "Values above 0 are no log-likelihoods but, for instance, probabilities, so the score is void: use a server "
        "that gives natural logarithms, the hf backend, or a task that reads replies."
    ),
    "zero_likelihoods": (
        "Values that are all exactly 0 are no log-likelihoods but a server that does not score prompts (llama.cpp's "
        "ignores `echo`), so the score is void: use one that does, such as vLLM's, the hf backend, or a task that "
        "reads replies."
    ),
    "undefined_likelihoods": (
        "A log-likelihood of nan, or of -inf for every label, comes from a numeric overflow, so the score is void: "
        "load the model with dtype=bfloat16 or dtype=float32 in --model_args."
    ),
    "token_ids": (
        "The server names tokens by their numbers (`token_id:32`), so no label can be found and the score is void: "
        "start vLLM without --return-tokens-as-token-ids."
    ),
    "refusal": "The model declines to choose. Report how often beside the score.",
    "invalid_response_format": "The model does not answer with {form}. {advice}.",
}
"""What to do about replies without a label."""


def unanswered(task: str | None, model: str, status: int | None, error: str | None) -> str:
    """Warning of a run whose harness asks again without end: none of its calls was answered so far."""
    last = f"status {status}" if status else error or "an error"
    return (
        f"{task or 'This run'}: {model} has answered no call yet; the last one ended with {last}. Inspect retries "
        "indefinitely: check that the server runs at this address, or stop this and pass --max-retries 2."
    )
