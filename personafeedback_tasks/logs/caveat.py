"""Caveats on numbers, as documents have them: code asks for a key, and people read one sentence in every output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

VOID = "void"
"""The numbers are not those of the model. Such a caveat comes first in every output."""

FORBIDS = "forbids"
"""Nothing may be concluded about the model."""

NAMED = "named"
"""Nothing speaks against the numbers; a reader must know what they are made of."""

WEAKENS = "weakens"
"""A conclusion needs care."""


SENTENCES: Mapping[str, str] = {
    # a run
    "prompts_cut": "PROMPTS CUT: {cut:,} prompts did not fit into the model's window. What is cut first is their "
    "beginning, which is the persona: the numbers are void. Run again with a longer window (lm-eval: max_length; "
    "vLLM: --max-model-len; Ollama: num_ctx) or less room for replies.",
    "prompts_not_checked": "Prompts not checked: window unknown.",
    "missing_replies": "MISSING REPLIES: {percent:.1f} % of the replies have no text at all and count as wrong. A "
    "server that returns status 200 with an error or without a choice leaves such replies: then the score describes "
    "the server, not the model. Check its log and run again{again}.",
    "by_place": "It picks the {place} response in {percent:.1f} % of the calls: this measures place, not what the model "
    "knows. In {cases:.1f} % of the cases every order picks the same place. {free}",
    "control_by_place": "The control {value} picks the {place} response in {percent:.1f} % of the calls: differences to "
    "it measure place, not what the {known} is worth. {free}",
    "place_cancels": "It picks the {place} response in {percent:.1f} % of the calls, so acc measures place. Its "
    "score, {score}, comes from log-odds averaged over all orders, in which place cancels.",
    "demonstration": "DEMONSTRATION on the bundled sample: not evidence about any model.",
    "missing_samples": "MISSING SAMPLES: {log} has {found:,} of the {claimed:,} samples that its header counts. "
    "Use the log as the harness wrote it.",
    "joined": "JOINED: one run of {logs}.",
    "partial": "PARTIAL: {cells}. A partial mean does not estimate the cell's mean.",
    "unfinished": "The run is {state}. {advice}",
    "left_out": "LEFT OUT: samples that do not count ({samples}). `inspect eval-retry LOG` reruns invalidated and "
    "failed ones; for those that hit a limit, raise it and run again.",
    "asked_otherwise": "The runs had different conditions: {how}.",
    "cached": "Replies may come from a cache ({cache}). lm-eval's --use_cache file returns replies of any model: use "
    "one file per model.",
    "other_version": "The run has task version {version}: all numbers here were recomputed from its replies with the "
    "installed version {installed}.",
    "prompts_unchecked": "{log}: its prompts were not compared with its options: {why}",
    "prompts_wrapped": "OTHER PROMPTS: {log}: {why} Run again, or report only what the model was asked with our "
    "prompts.",
    "counts_unchecked": "The number of cases in the data was not checked (counts=any).",
    "bounds": "In {count:,} of {replies:,} calls a label is not among the most likely tokens that the server "
    "returned. The pick counts; the log-odds take the highest probability that such a label can have, so p_chosen "
    "and acc_sym are bounds there.",
    # its data
    "no_data": "{why} So there are no baselines and nothing else from the texts, and errors do not allow for "
    "prompts that several users share, as in the swap task: they may be too small. Pass --data.",
    "other_data": "The data that were read for this report (sha256 {read}) are not those of the run (sha256 "
    "{asked}): every case of the run has the same texts in both, but other cells or personas differ. The audit and "
    "the label ceiling describe the data that were read.",
    # its score
    "no_right_answer": "These cases have no labels, so the run has no score.",
    "no_case": "The log contains no answered case. A killed run may have kept them elsewhere: `inspect log "
    "recover` restores them, `inspect eval-retry` resumes the run.",
    "one_user": "Only one user: no standard error and no interval.",
    "few_users": "Only {users} users: 95 % intervals are rough. In simulations with 8 and 10 users they covered the "
    "true value in 94 to 99 % of runs.",
    "errors_per_row": "Each row counts as a user of its own: errors are per row.",
    "equal_users": "All cases have the same score, which says nothing about how far other cases differ, so no "
    "interval is given.",
    "near_end": "This close to 0 or 100 %, an interval misses failures of a few users who are not in the data: if "
    "the model always fails for 2 % of all users, the interval covers the true value in 81 % of runs with 101 "
    "users.",
    "unreadable": "{percent:.1f} % of the replies{where} are unreadable ({reasons}): this measures the setup, not "
    "the model. {remedy}",
    "few_unreadable": "{percent:.1f} % of the replies are unreadable ({reasons}) and count as wrong.",
    "refusals": "{percent:.1f} % of the replies are refusals and count as wrong: the score reflects them as much as "
    "the picks.",
    "shortcut": "The run picks {picks} in {percent:.1f} % of the cases: its accuracy is that of the baseline "
    "{name}, which understands nothing.",
    # its controls
    "control_partial": "PARTIAL control {value}: {cells}.",
    "control_harness": "The control {value} was run by {other}, the run by {harness}, under {how}.",
    "control_prompts_cut": "PROMPTS CUT in the control {value}: {cut:,} did not fit into the model's window. The "
    "difference to it is void.",
    "control_missing_replies": "MISSING REPLIES in the control {value}: {percent:.1f} % have no text at all. The "
    "difference to it is void.",
    "control_unreadable": "{percent:.1f} % of the replies of the control {value}{where} are unreadable "
    "({reasons}): differences to it measure the setup, not the model. {remedy}",
    "few_control_unreadable": "{percent:.1f} % of the replies of the control {value} are unreadable ({reasons}) "
    "and count as wrong, as do {own:.1f} % of the run's.",
    "gain_in_part": "The {gain} covers the {common:,} of {cases:,} cases that the control also answered.",
    # two runs side by side
    "only_in_one": "{count:,} cases are only in the run of {run} and left out: {shown}.",
    "other_titles": "The runs are of {a} and of {b}, with the same texts.",
    "other_options": "The runs also differ in {name}: {a} and {b}. The difference is not due to the model alone.",
    "other_conditions": "The conditions differ: {a}; and {b}.",
    # a judge of duels
    "ties_left_out": "Ties and empty replies are left out: the run has not answered all of its duels.",
}
"""Key -> what people read of a caveat."""

OF_A_MODEL: Mapping[str, str] = {
    "partial": "partial, {cells}",
    "unfinished": "{state}",
    "few_unreadable": "{percent:.0f} % of its replies are unreadable and count as wrong",
    "few_control_unreadable": "{percent:.0f} % of the replies of its control {value} are unreadable",
    "place_cancels": "picks the {place} response in {percent:.0f} % of the calls, which {score} leaves out",
    "shortcut": "picks {picks} in {percent:.0f} % of the cases",
}
"""Caveats that follow a model's name in a list of several, where they make no number void: key -> words."""


class Caveat(Struct, frozen=True):
    """A reason for care with the numbers.

    Attributes:
        key: its name for programs.
        severity: `void`: the numbers are not those of the model; `forbids` conclusions; `named`; `weakens`.
        about: runs that it is about; empty for all.
        sentence: in words.
        short: in a few words that follow a model's name; empty where it is of no single model.
    """

    key: str
    severity: str
    about: tuple[str, ...]
    sentence: str
    short: str


def caveat(key: str, severity: str, **values: object) -> Caveat:
    """A caveat on all runs; `values`: what its sentence needs, by name."""
    sentence, short = (words.get(key, "").format(**values) for words in (SENTENCES, OF_A_MODEL))
    return Caveat(key, severity, (), sentence, short)


def ordered(caveats: Iterable[Caveat]) -> list[Caveat]:
    """Each caveat once, VOID first. A void run scores no case, so other causes of that are left out."""
    found = dict.fromkeys(caveats)
    if any(caveat.severity == VOID for caveat in found):
        found = {caveat: None for caveat in found if caveat.key not in ("no_case", "no_right_answer")}
    return sorted(found, key=lambda caveat: caveat.severity != VOID)


def grouped(of_runs: Sequence[tuple[str, Iterable[Caveat]]]) -> list[Caveat]:
    """The caveats of several runs, each once and `ordered`, with the names of the runs that it is about."""
    found: dict[Caveat, list[str]] = {}
    for name, caveats in of_runs:
        for caveat in dict.fromkeys(caveats):
            found.setdefault(caveat, []).append(name)
    everywhere = len(of_runs)
    return ordered(
        replace(caveat, about=() if len(names) == everywhere else tuple(names)) for caveat, names in found.items()
    )
