"""What users get of a report, a ranking, a comparison or a verdict."""

from __future__ import annotations

import json
import re
from typing import Any

from jsonschema import Draft202012Validator

from personafeedback_tasks import api
from personafeedback_tasks.analysis import ranking
from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.documents import ReportDocument, ReportedRun
from personafeedback_tasks.analysis.sentences import sentence
from personafeedback_tasks.common.outputs import json_text
from personafeedback_tasks.reports import blocks, report_text


def markdown(made: ReportedRun) -> str:
    return blocks.markdown(report_text.blocks(ReportDocument(reports=[made]), full=True))


def terminal(made: ReportedRun) -> list[Any]:
    """Lines and tables of rich."""
    return blocks.terminal(report_text.blocks(ReportDocument(reports=[made]), full=True))


def as_json(made: ReportedRun) -> dict[str, Any]:
    """The document as it is read back; it has no NaN."""
    (found,) = json.loads(json_text(ReportDocument(reports=[made])))["reports"]
    return dict(found)


def rank_runs(*runs, **options):
    """The ranking of some runs without controls; for the options see `ranking.make_ranking`."""
    return ranking.make_ranking([Contender(run) for run in runs], **options)


def embedded(html: str) -> dict[str, Any]:
    """The data in a page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])


def words(made) -> list[str]:
    """The sentences of a report, a ranking, a comparison or a verdict, in their order."""
    return list(map(sentence, made.caveats))


def sentences(document) -> list[str]:
    """Those in the JSON of one, each after the runs that it is about."""
    return [
        f"{', '.join(one['about'])}: {one['sentence']}" if one["about"] else one["sentence"]
        for one in document["caveats"]
    ]


def faults(document: Any, name: str) -> list[str]:
    """Where a document differs from that of a command; empty if it does not."""
    kind = api.outputs()[name].__name__
    validator = Draft202012Validator({**api.schema(), "$ref": f"#/$defs/{kind}"})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]
