"""All of recenter in one run of Inspect, as in lm-eval.

inspect eval personafeedback_tasks/recenter --model openai/gpt-4o
"""

from typing import Literal

from inspect_ai import TaskSource, task_source
from personafeedback_tasks.inspect_tasks.recenter_extraction import recenter_extraction
from personafeedback_tasks.inspect_tasks.recenter_relevance import recenter_relevance
from personafeedback_tasks.inspect_tasks.recenter_response import recenter_response


@task_source
def recenter(
    data: str | None = None,
    counts: Literal["any"] = "any",
) -> TaskSource:
    """recenter_extraction, recenter_relevance and recenter_response.

    Args:
        data: a folder with any of extraction.jsonl, relevance.jsonl, response.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
    """
    return TaskSource.from_tasks(
        [
            recenter_extraction(data=data, counts=counts),
            recenter_relevance(data=data, counts=counts),
            recenter_response(data=data, counts=counts),
        ]
    )
