"""What users get of a report or a ranking."""

from __future__ import annotations

import json
import re
from typing import Any

from personafeedback_tasks.analysis import ranking
from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.documents import ReportDocument, ReportedRun
from personafeedback_tasks.common.outputs import output_text
from personafeedback_tasks.reports import blocks, report_text


def markdown(made: ReportedRun) -> str:
    return blocks.markdown(report_text.full(made))


def terminal(made: ReportedRun) -> list[Any]:
    """Lines and tables of rich."""
    return blocks.terminal(report_text.full(made))


def as_json(made: ReportedRun) -> dict[str, Any]:
    """The document as it is read back; it has no NaN."""
    (found,) = json.loads(output_text(ReportDocument(reports=[made], prompt_sensitivity=[])))["reports"]
    return dict(found)


def rank_runs(*runs, **options):
    """The ranking of some runs without controls; for the options see `ranking.make_ranking`."""
    return ranking.make_ranking([Contender(run) for run in runs], **options)


def embedded(html: str) -> dict[str, Any]:
    """The data in a page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
