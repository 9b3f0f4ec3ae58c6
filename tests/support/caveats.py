"""Caveats in words, and by key."""

from __future__ import annotations

from personafeedback_tasks.analysis.sentences import sentence


def words(made) -> list[str]:
    """The sentences of a report, a ranking, a comparison or a verdict, in their order."""
    return list(map(sentence, made.caveats))


def sentences(document) -> list[str]:
    """Those in the JSON of one, each after the runs that it is about."""
    return [
        f"{', '.join(one['about'])}: {one['sentence']}" if one["about"] else one["sentence"]
        for one in document["caveats"]
    ]
