"""The parts of `unchanged.py`: each runs something as users do, in an empty folder, and yields (name of a file, its text)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import unchanged_models as models
from unchanged_chain import chain, filters
from unchanged_data import release, sample_folder, subset
from unchanged_decisions import decisions
from unchanged_runs import (
    SETTINGS,
    Made,
    Options,
    Stored,
    both,
    file,
    files,
    in_inspect,
    in_lm_eval,
    judged,
    logged,
    printed,
    ranked,
    report,
    reports,
)
from unchanged_sets import build, duel, imported, users

HARD = "personafeedback_general_hard"
JUDGES = ("noisy", "longest", "first")


def sample() -> Stored:
    """All cells of the sample: every method, setting and judge."""
    shutil.copytree(sample_folder(), "with-memory")
    models.learn(sample_folder())
    made: Made = {}
    told = {"data": "sample"}
    yield from judged(made, "personafeedback", told, JUDGES, {"generate": SETTINGS})
    yield from judged(
        made, "personafeedback", told, JUDGES[:1], {"cot": SETTINGS, "mc": SETTINGS, "logprobs": SETTINGS}
    )
    yield from judged(
        made, "personafeedback", told, JUDGES[1:], {"cot": SETTINGS[:1], "mc": SETTINGS[:1], "logprobs": SETTINGS[:1]}
    )
    yield from reports(made, "personafeedback", told)
    yield from ranked("logs")


def general() -> Stored:
    """Thirty real cases of each cell of General: every method and setting, `rag` included."""
    subset(Path("part"), 30)
    models.learn(Path("part"))
    made: Made = {}
    told = {"data": "part", "counts": "any"}
    yield from judged(
        made, "personafeedback_general", told, JUDGES[:1],
        {"generate": (*SETTINGS, "rag"), "cot": (*SETTINGS, "rag"), "mc": (*SETTINGS, "rag"), "logprobs": (*SETTINGS, "rag")},
    )  # fmt: skip
    yield from judged(made, "personafeedback_general", told, JUDGES[1:], {"generate": SETTINGS[:1]})
    yield from reports(made, "personafeedback_general", told)
    yield from ranked("logs")
    noisy = made["inspect", "generate", "persona", "noisy"]
    for other in (("lm_eval", "mc", "persona", "noisy"), ("inspect", "generate", "persona", "longest")):
        yield from both(f"compare_{'_'.join(other)}", "compare", noisy, made[other])
    yield from printed("card_refused", "card", noisy, "--model-card", "CARD.md", exits=1)


def options() -> Stored:
    """Wordings, languages, hidden fields, retrieval, epochs, limits and replies that were cut off."""
    subset(Path("part"), 12)
    models.learn(Path("part"))
    told = {"data": "part", "counts": "any"}
    noisy = f"{models.NAME}/noisy"
    asked: dict[str, Options] = {
        "v1": {}, "v2": {"prompt": "v2"}, "v3": {"prompt": "v3"}, "v4": {"prompt": "v4"},
        "hide": {"hide": "Name,Preference.Travel"},
        "hide_other": {"hide": "Name", "setting": "other_persona"}, "rag": {"setting": "rag"},
    }  # fmt: skip
    logs = {}
    for name, more in asked.items():
        for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
            logs[harness, name] = run(f"{harness}/{name}", "personafeedback_general", noisy, told | more)
            yield from logged(f"{name}/{harness}", logs[harness, name])
    for harness in ("inspect", "lm_eval"):
        yield from report(f"{harness}/wordings", *(logs[harness, f"v{number}"] for number in range(1, 5)))
        for name in ("en", "zh", "hide", "hide_other", "rag_3"):
            yield from report(f"{harness}/{name}", logs[harness, name])
    yield from ranked("logs")
    more_logs = {
        "rag_filter": in_inspect(
            "filter", "personafeedback_general", noisy, told | {"setting": "rag", "rag_filter": True}
        ),
        "epochs": in_inspect(
            "epochs", "personafeedback_general", f"{models.NAME}/moody", told, epochs=3, max_samples=1
        ),
        "limit": in_inspect("limit", "personafeedback_general", noisy, told, limit=10),
        "cut_off": in_inspect("cut_off", HARD, noisy, told, model_args={"stop_reason": "max_tokens"}),
        "cells": in_inspect("cells", "personafeedback", noisy, told | {"category": "general", "difficulty": "medium"}),
        "limit_lm_eval": in_lm_eval("limit_lm_eval", "personafeedback_general", noisy, told, limit=4),
    }
    for name, log in more_logs.items():
        yield from logged(name, log)
        yield from report(f"more/{name}", log)


def reward() -> Stored:
    """A reward model with two outputs, in every setting that it has."""
    subset(Path("part"), 30)
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path("part").rglob("*.json*"))]
    models.reward_model(Path("model"), texts)
    made: Made = {}
    for setting in SETTINGS:
        log = in_inspect(
            f"inspect/{setting}", "personafeedback_general", "personafeedback-reward/model",
            {"data": "part", "counts": "any", "setting": setting, "method": "reward"},
            model_args={"aspects": "length,sixties"},
        )  # fmt: skip
        made["inspect", "reward", setting, "length"] = log
        yield from logged(f"{setting}/inspect", log)
    yield from reports(made, "personafeedback_general", {})
    yield from ranked("logs")


def hard_inspect() -> Stored:
    """General Hard as it is, in Inspect: `careful` in every setting, `longest` and `first`; their cards."""
    yield from _hard("inspect", {"generate": SETTINGS})
    made: Made = {}
    for judge in JUDGES[1:]:
        log = in_inspect(
            f"inspect/generate/persona/{judge}", HARD, f"personafeedback/{judge}", {"data": str(release())}
        )
        made["inspect", "generate", "persona", judge] = log
        yield from logged(f"generate/persona/{judge}/inspect", log)
    yield from reports(made, HARD, {})
    longest = made["inspect", "generate", "persona", "longest"]
    yield from printed("card_longest", "card", longest, "--model-card", "longest.md")
    yield from file("longest.md")
    yield from ranked("logs")


def hard_lm_eval() -> Stored:
    """The same of `careful` in lm-eval, and its choice by log-likelihoods."""
    yield from _hard("lm_eval", {"generate": SETTINGS, "mc": SETTINGS[:1]})
    generated, likelier = (
        max(Path("logs/lm_eval", method, "persona").rglob("results_*.json")) for method in ("generate", "mc")
    )
    yield from both("compare", "compare", generated, likelier)
    yield from ranked("logs")


def _hard(harness: str, asked: dict[str, Sequence[str]]) -> Stored:
    models.learn(release())
    told = {"data": str(release())}
    made: Made = {}
    yield from judged(made, HARD, told, ["careful"], asked, [harness])
    yield from reports(made, HARD, told)
    controls = [
        word
        for setting in SETTINGS[1:]
        for word in (f"--{setting.replace('_', '-')}", made[harness, "generate", setting, "careful"])
    ]
    log = made[harness, "generate", "persona", "careful"]
    yield from printed("card", "card", log, *controls, "--model-card", "careful.md")
    yield from file("careful.md")


def prefeval() -> Stored:
    """The sample of PrefEval: every method and setting."""
    made: Made = {}
    told = {"data": "sample"}
    every = {"generate": SETTINGS, "cot": SETTINGS, "mc": SETTINGS[:1]}
    yield from judged(made, "prefeval", told, ["guess"], every)
    yield from reports(made, "prefeval", told)
    yield from ranked("logs")


STAGES = ("recenter_extraction", "recenter_relevance", "recenter_relevance_select", "recenter_response")


def stages() -> Stored:
    """The tasks of the three stages on their sample, constant answers and recorded replies."""
    told = {"data": "sample"}
    for task in STAGES:
        model = f"{models.NAME}/{task}"
        for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
            log = run(f"{harness}/{task}", task, model, told)
            yield from logged(f"{task}/{harness}", log)
            yield from report(f"{harness}/{task}", log, task=task, options=told)
    constants = {
        "recenter_extraction": "always_problematic", "recenter_relevance": "always_yes", "recenter_response": "always_4"
    }  # fmt: skip
    for task, constant in constants.items():
        log = in_inspect(f"inspect/{task}-{constant}", task, f"{task}/{constant}", told)
        yield from logged(f"{task}/{constant}", log)
    for harness in ("inspect", "lm_eval"):
        yield from printed(f"{harness}_folder", "report", f"logs/{harness}", "--out", f"all/{harness}")
        yield from files(f"all/{harness}")
    one, other = (
        max(Path("logs/inspect", name).glob("*.eval"))
        for name in ("recenter_relevance", "recenter_relevance-always_yes")
    )
    yield from both("compare", "compare", one, other)
    yield from ranked("logs")


def commands() -> Stored:
    """The commands that need no run, on the sample and on the General half."""
    general = release()
    for name, words in (("sample", ("--data", "sample")), ("general", ("--data", general))):
        for of in ("audit",):
            yield from printed(f"{of}_{name}", of, *words)
            yield from printed(f"{of}_{name}_json", of, *words, "--json", "-")
    plans: dict[str, tuple[object, ...]] = {
        "sample": ("-T", "data=sample"), "general": ("personafeedback_general", "-T", f"data={general}"),
        "cot": (HARD, "-T", f"data={general}", "-T", "method=cot", "-T", "setting=no_persona"),
        "write": ("personafeedback_write", "-T", "data=sample"),
        "stage": ("recenter_relevance_select", "-T", "data=sample"),
    }  # fmt: skip
    for name, words in plans.items():
        yield from printed(f"plan_{name}", "plan", *words)
        yield from printed(f"plan_{name}_json", "plan", *words, "--json", "-")
    for setting in SETTINGS:
        yield from printed(
            f"export_{setting}", "export", "--setting", setting, "--data", "sample",
            "--out", setting,
        )  # fmt: skip
        yield from file(f"{setting}/rewardbench.jsonl")


PARTS: dict[str, Callable[[], Stored]] = {
    "sample": sample, "general": general, "options": options, "reward": reward, "hard_inspect": hard_inspect, "hard_lm_eval": hard_lm_eval,
    "prefeval": prefeval, "stages": stages, "chain": chain, "filters": filters, "duel": duel, "decisions": decisions, "build": build, "users": users, "imported": imported, "commands": commands,
}  # fmt: skip
