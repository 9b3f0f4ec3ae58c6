"""Model cards of runs on the sample."""

from __future__ import annotations

from dataclasses import replace

from huggingface_hub import ModelCard

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.reports.card import update_card
from personafeedback_tasks.reports.card_file import CardFile
from support.sample_runs import GOLD, SAMPLE, run_of


def mostly_right(index):
    return GOLD if index % 4 else ("A", "A")


MOSTLY_RUN = run_of(mostly_right)
MOSTLY_RIGHT = make_report(MOSTLY_RUN, SAMPLE)
ONE_CELL = run_of(mostly_right, cells=["general_hard"])
"""One result instead of nine, where a test is about the rest of the card."""
REPORTS = {id(MOSTLY_RUN): MOSTLY_RIGHT, id(ONE_CELL): make_report(ONE_CELL, SAMPLE)}
"""Of runs that many tests take."""


def update(path, run=MOSTLY_RUN, beside=None, costs=None):
    report = REPORTS.get(id(run)) or make_report(run, SAMPLE, beside)
    return update_card(run, report, SAMPLE, CardFile(path, run.name), costs or {})


def is_ours(args):
    return isinstance(args, dict) and "signature" in args


def ours(results):
    return [result for result in results if is_ours(result.metric_args)]


def load(path):
    """As huggingface_hub reads it."""
    return ModelCard(path.read_bytes().decode("utf-8-sig")).data


def with_ceiling(run, controls, **ceiling):
    """The report of a run whose labels allow no more than this."""
    texts = run.benchmark.report.examine(SAMPLE, run.cases)
    return make_report(run, SAMPLE, controls, texts=replace(texts, ceiling=ceiling))
