"""Runs on the texts of the sample that say they were asked on the release, so that cards and reports take them as evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.core.signature import Signature
from personafeedback_tasks.logs.run import Run
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.pairwise.scoring import score_answers
from personafeedback_tasks.personafeedback.cases import CELLS, load_cases
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION

GOLD = tuple(TWO.right[order] for order in TWO.names)
SAMPLE = load_cases("sample")


def signature_of(**values: Any) -> Signature:
    """The signature of a run on the release with the default options, but for some values."""
    signature = Signature(
        package="0.1.0", benchmark="personafeedback", task_version=TASK_VERSION, task="personafeedback", options=Template().signed(), signs={},
        fingerprint="v1-0123456789ab", source=f"{HUB_ID}@{HUB_REVISION}", counts="checked", demonstration=False, set=None, data="0" * 12,
        cells={},
    )  # fmt: skip
    return signature.changed(**values)


def run_of(answer=lambda index: GOLD, cells=CELLS, signature=(), acc_sym=None, **kwargs):
    """A whole run, on the texts of the sample, that says it was asked on the release."""
    cases = [case for case in SAMPLE if case.cell in cells]
    results = []
    for i, c in enumerate(cases):
        values = score_answers(TWO.letters, answer(i)) | ({} if acc_sym is None else {"acc_sym": acc_sym})
        results += results_of(c.id, c.cell, c.user_id, GOLD, [answer(i)], [values], digest=c.digest)
    signed = signature_of(**{"data": SAMPLE.digest, **dict(signature)})
    run = {
        "model": "acme/model", "harness": "lm-eval 0.4.13", "date": "2026-11-21T12:00:00+00:00", "signature": signed,
        "conditions": {"chat template": "applied", "few-shot": 0, "max_gen_toks": 1024}, "cells": {cell: 8 for cell in cells if cell in CELLS},
        "results": results, "logs": (Path("results/acme__model/results_2026.json"),),
    }  # fmt: skip
    return Run(**{**run, **kwargs})


def results_of(
    case_id: str,
    cell: str,
    user_id: str,
    targets: Sequence[str] = (),
    answers: Sequence[tuple[str, ...]] = (),
    values: Sequence[Mapping[str, float]] = (),
    rewards: Sequence[Any] = (),
    digest: str = "d",
) -> list[Result]:
    """The results of a case, from the answers, values and rewards of each epoch."""
    epochs = enumerate(zip_longest(answers, values, rewards), start=1)
    return [
        Result(case_id, cell, user_id, digest, "", epoch, targets, said or (), scores or {}, pairs)
        for epoch, (said, scores, pairs) in epochs
    ]
