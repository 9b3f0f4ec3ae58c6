"""What a model card says about a run, for readers: what was measured, the limits, how to run it again."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..common import foreign
from ..personafeedback.cases import CATEGORIES, CELLS, CaseSet, category_of
from ..personafeedback.prompts import ROOM, changed
from ..personafeedback.release import HUB_ID, HUB_REVISION
from ..reward_models.source import LOCAL
from ..runs.run import Run, text
from .report import Group, Report
from .tables import NOTHING, grid, interval, percent

PACKAGE = "personafeedback-tasks"
HUB_COMMIT = re.compile(r"[\w.-]+/[\w.-]+@(?P<commit>[0-9a-f]{40})")
_SHOWN = {"persona": "the user's whole persona", "no_persona": "nothing about the user (the control)"}
_READ = {
    "generate": "from its reply",
    "cot": "from its reply, after it had reasoned",
    "mc": "from the log-likelihoods of the two letters",
    "logprobs": "from the log-probabilities of the two letters",
    "reward": "from its score of each response",
}
_REPEATED = {
    False: (
        "both responses, in both orders, and its choice was read {}. `acc` is the share of the orders in which it picked the "
        "response that the annotators chose, averaged over cases; an unreadable reply counts as not picked; chance is 50 %."
    ),
    True: (
        "one response at a time, and its choice was read {}. `acc` is the share of the cases in which the response that the "
        "annotators chose has the higher score, a tie counting half; chance is 50 %."
    ),
}
_LANGUAGES = {"zh": "Chinese", "en": "English"}


def options_of(run: Run) -> dict[str, Any]:
    """The options of the question that are not the default; the method apart."""
    return changed(run.asked)


def asked(run: Run) -> str:
    """What tells apart the runs that stand beside each other in a card. It is part of a comment's mark."""
    return foreign.comment(", ".join(run.remarks) or "persona")


def unreadable(group: Group) -> dict[str, int]:
    """Reason -> unreadable replies. A refusal is what a model does, not a fault of the set-up."""
    return {reason: count for reason, count in group.reasons.items() if reason != "refusal"}


def counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in reasons.items()) or "none"


def signature_of(report: Report) -> str:
    return _published(report.signature, report.run)


def _published(signature: str, run: Run) -> str:
    """A signature without the folders of this machine: its digest says which data they held."""
    signature = re.sub(r"(?<==)(?:~|\.{0,2})[/\\][^ ,|]*[/\\]", "", signature)
    parts = [
        "data a local copy" if part.startswith("data ") and not HUB_COMMIT.fullmatch(part[len("data ") :]) else part
        for part in signature.replace(run.model, model_of(run)).split(" | ")
    ]
    return " | ".join(parts)


def model_of(run: Run) -> str:
    """The model's name; the last folder of a path."""
    if run.model.startswith(("/", ".", "~")) or "//" in run.model or "\\" in run.model:
        return re.split(r"[/\\]+", run.model.rstrip("/\\"))[-1]
    return run.model


def section(report: Report, cases: CaseSet) -> str:
    """The Markdown section of a card: what was measured, the numbers, their limits, the command, the signature."""
    run, overall = report.run, report.overall
    setting, method = run.signature["setting"], run.signature["method"]
    heading = f"PersonaFeedback ({', '.join(run.remarks)})" if run.remarks else "PersonaFeedback"
    hidden = ", ".join(run.signature["hide"])
    shown = _SHOWN.get(setting, f"the setting {setting}")
    if hidden and setting != "no_persona":
        shown = f"{shown.replace('whole ', '')} without {hidden}"
    read = _READ.get(method, f"by the method {method}")
    measured = (
        "[PersonaFeedback](https://arxiv.org/abs/2506.12915) asks which of two responses suits a given user better. "
        f"{foreign.code(model_of(run))} was shown {foreign.markdown(shown)}, the user's question and "
        f"{_REPEATED[method == 'reward'].format(foreign.markdown(read))}"
    )
    if any(_defined(group, "acc_sym") for group in report.groups):
        measured += " `acc_sym` decides on the log-odds averaged over both orders."
    reasons = unreadable(overall)
    replies = (
        ""
        if method == "reward"
        else (
            f"Of {overall.replies:,} replies {overall.reasons.get('refusal', 0):,} were refusals and {sum(reasons.values()):,} otherwise "
            f"unreadable ({foreign.markdown(counted(reasons))})."
        )
    )
    control = report.control_signature
    control = f"  \nControl: {foreign.code(_published(control, run))}" if control else ""
    parts = [
        f"## {foreign.markdown(heading)}",
        measured,
        _table(report),
        "Per cent. The 95 % intervals are clustered by user. The baseline, on the same cases, picks the longer response.",
        replies,
        "What these numbers do not say:",
        "\n".join(f"- {limit}" for limit in [*limits(report, cases), *map(foreign.markdown, report.notes)]),
        f"To run it again (the signature has what else shapes a call):\n\n{foreign.fenced(command(run), 'bash')}",
        f"Signature: {foreign.code(signature_of(report))}{control}",
    ]
    return "\n\n".join(part for part in parts if part)


def _table(report: Report) -> str:
    symmetric = [name for name in ("acc_sym",) if any(_defined(group, name) for group in report.groups)]
    gained = any(group.persona_gain for group in report.groups)
    header = ["", "acc", "95 % interval"]
    for name in symmetric:
        header += [name, "95 % interval"]
    header += ["cases", "users", "baseline: longest"]
    header += ["persona gain", "95 % interval"] if gained else ["persona gain"]
    rows = []
    for group in report.groups:
        row = [group.name.replace("_", " ")]
        for name in ("acc", *symmetric):
            row += [f"**{percent(group.measures[name].value)}**", interval(group.measures[name])]
        row += [f"{group.cases:,}", f"{group.measures['acc'].users:,}"]
        row += [percent(group.baselines["longest"].value)]
        gain = group.persona_gain
        row += [percent(gain.value, sign=True) if gain else NOTHING if gained else "not measured"]
        row += [interval(gain, sign=True)] if gained else []
        rows.append(row)
    return grid(header, rows)


def _defined(group: Group, measure: str) -> bool:
    return not math.isnan(group.measures[measure].value)


def limits(report: Report, cases: CaseSet) -> list[str]:
    """What every card says, with the figures of this run."""
    run, overall = report.run, report.overall
    asked = Counter(case.language for case in cases if case.id in (run.rows or {}))
    languages = ", ".join(f"{_LANGUAGES.get(code, code)} {count:,}" for code, count in asked.most_common())
    categories = set(map(category_of, run.cells))
    ceilings = [
        f"{name} {percent(value)} %"
        for name, value in report.ceiling.items()
        if name in categories or (name == "total" and len(categories) > 1)
    ]
    gain = overall.persona_gain
    return [
        "The task is to recognise a personalised reply, not to write one.",
        "The personas are synthetic and mostly Chinese: not a sample of any population.",
        "The labels are the majority of nine annotators, not the choice of the users themselves.",
        f"Contradictory labels limit what a judge that ignores the order can reach over all cells of the data: {', '.join(ceilings)} (from the audit).",
        f"Always picking the longer response reaches {percent(overall.baselines['longest'].value)} % on these cases, picking the one that "
        f"shares more terms with the persona {percent(overall.baselines['overlap'].value)} %.",
        "The data have been public since 2025; whether the model was trained on them was not checked.",
        f"Language of the data, in cases: {languages}.",
        f"The prompt ({foreign.markdown(str(run.signature['prompt']))}) is that of {PACKAGE}, not the authors', which was never released: these numbers "
        "are not interchangeable with the paper's.",
        f"Persona gain (acc minus that of the same model without the persona): {percent(gain.value, sign=True)} points, "
        f"95 % interval {interval(gain, sign=True)}."
        if gain
        else "Persona gain (acc minus that of the same model without the persona): not measured.",
    ]


def command(run: Run) -> str:
    """The command line that asks the same again, without anything private to this machine."""
    method, options = str(run.signature["method"]), options_of(run)
    room = str(ROOM.get(method, ROOM["generate"]))
    in_name = method != "generate" and run.harness.startswith("lm-eval")
    tasks = [f"personafeedback_{name}".removesuffix("_") + f"_{method}" * in_name for name in _names(run.cells)]
    source, before = str(run.signature["source"]), ""
    if not HUB_COMMIT.fullmatch(source):
        before = "PERSONAFEEDBACK_DATA=FOLDER "
    elif source != f"{HUB_ID}@{HUB_REVISION}":
        options["data"] = source
    if run.harness.startswith("lm-eval"):
        words = [
            "lm_eval",
            "run",
            "--model",
            run.loaded[0],
            "--model_args",
            f"{run.loaded[1]}={model_of(run)}",
            "--tasks",
            ",".join(tasks),
        ]
        words += ["--apply_chat_template"] * ("applied" in _condition(run, "chat template"))
        words += _flag(run, "few-shot", "--num_fewshot", "0")
        words += _flag(run, "max_gen_toks", "--gen_kwargs", room, "max_gen_toks=")
        words += ["--metadata", json.dumps(options)] if options else []
        words += ["--log_samples", "--output_path", "results"]
    else:
        words = ["inspect", "eval", *(f"personafeedback_tasks/{task}" for task in tasks), "--model", model_of(run)]
        words += _flag(run, "max_tokens", "--max-tokens", room) + _flag(run, "epochs", "--epochs", "1")
        options |= {"method": method} if method != "generate" else {}
        for name, value in options.items():
            words += ["-T", f"{name}={','.join(value) if name == 'hide' else text(value)}"]
        if method == "reward":
            for name in ("aspects", "truncate", "trust_remote_code", "unpinned", "revision"):
                words += [
                    word for value in _condition(run, name) if value != LOCAL for word in ("-M", f"{name}={value}")
                ]
    return before + " ".join(map(shlex.quote, words))


def _names(cells: Mapping[str, int]) -> list[str]:
    """The part of the task names after `personafeedback_`: one of a group of cells if there is one."""
    for name in ("", *CATEGORIES, "easy", "medium", "hard"):
        if set(cells) == {cell for cell in CELLS if not name or name in cell.split("_")}:
            return [name]
    return [cell for cell in CELLS if cell in cells]


def _condition(run: Run, name: str) -> list[str]:
    return re.findall(rf"(?:^|, ){re.escape(name)}=(\S+?)(?=, |$)", run.conditions)


def _flag(run: Run, name: str, option: str, default: str, prefix: str = "") -> list[str]:
    return [word for value in _condition(run, name)[:1] if value != default for word in (option, prefix + value)]


def next_steps(run: Run, card: Path, entries: Path | None = None) -> list[str]:
    upload = ["hf", "upload", "OWNER/MODEL"]
    steps = [
        "Nothing was uploaded. To open a pull request on the Hub:",
        "    " + shlex.join([*upload, str(card), "README.md", "--create-pr"]),
    ]
    if entries is not None:
        steps += [
            "and then, with the number of that pull request in the place of N:",
            "    " + shlex.join([*upload, str(entries), f".eval_results/{entries.name}", "--revision", "refs/pr/N"]),
            "The Hub shows .eval_results only for data sets that it lists as benchmarks; the card shows the numbers in any case.",
        ]
    steps.append(
        "To convert the log to the Every Eval Ever schema (its converter wants models that are named OWNER/MODEL):"
    )
    return steps + [f"    {line}" for line in conversions(run)]


def conversions(run: Run) -> list[str]:
    """The `uvx` lines that convert the logs of a run, one per log. That converter needs Python 3.12.

    Its samples files of lm-eval are left out: it refuses nan, which a case with an unreadable reply has.
    """
    harness, package = "inspect", "every-eval-ever[inspect]"
    if run.harness.startswith("lm-eval"):
        harness, package = "lm_eval", "every-eval-ever"
    uvx = ["uvx", "--python", "3.12", "--from", package, "every_eval_ever", "convert", harness]
    logs = [log for log in run.logs if log.suffix != ".jsonl"]
    return [shlex.join([*uvx, "--log_path", str(log), "--output_dir", "data"]) for log in logs]
