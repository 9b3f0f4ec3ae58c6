"""The record of `recenter_response`: is the response that uses an attribute of the user better than the one that does not?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..engine.benchmark import Benchmark, always
from ..engine.cases import each_and_all
from ..engine.evidence import LogLikelihoods
from ..engine.method import Method, Metric
from ..engine.options import Options, option
from ..engine.outcome import Answers
from ..engine.report import Line, ReportSpec
from ..replies.rating import read_rating
from . import examined, ratings, reference
from .control import CONTROL, NO_CONTROL, SELECTED, control_option, counts_option, data_option, under_control
from .data import ENVIRONMENT_VARIABLE, Rows, load, with_votes
from .rows import Response

VERSION = "1.1"
SECOND, FIRST = "personalized_second", "personalized_first"
"""The calls: where the personalized response stands."""

PROMPT = """\
An AI assistant knows one thing about a user. The user sends it a prompt, and there are two responses. For this user, how does response B compare with response A?

<about_the_user>
{attribute}
</about_the_user>

<prompt>
{prompt}
</prompt>

<response_a>
{a}
</response_a>

<response_b>
{b}
</response_b>

Reply with one number: 1 if B is much worse, 2 if it is somewhat worse, 3 if there is no difference, 4 if B is somewhat better, 5 if it is much better."""


@dataclass(frozen=True, kw_only=True)
class ResponseOptions(Options):
    """The options of `recenter_response`."""

    method: str = option("generate", "how the model is asked", always=True)
    control: str = control_option()
    data: str | None = data_option()
    counts: str = counts_option()


def build(row: Response, call: str) -> str:
    """The prompt of one call. Texts of the data are inserted as values and never interpreted."""
    a, b = (row.generic, row.personalized) if call == SECOND else (row.personalized, row.generic)
    built, rest = [], PROMPT
    for field, text in (("{attribute}", row.shown), ("{prompt}", row.prompt), ("{a}", a), ("{b}", b)):
        before, rest = rest.split(field)
        built += [before, text]
    return "".join((*built, rest))


def targets(row: Response) -> list[str]:
    """People's mean, as each order should see it."""
    mean = row.mean
    assert mean is not None  # rows without votes are left out
    return [repr(mean), repr(ratings.mirrored(mean))]


def _load(data: str | None, control: str = NO_CONTROL) -> Rows[Response]:
    return under_control(with_votes(load(Response, data)), control)


def _score(targets: Sequence[str], answers: Answers, pairs: Sequence[LogLikelihoods] = ()) -> dict[str, float]:
    return {**ratings.score(targets, answers), SELECTED: float(ratings.better(targets, answers))}


def _always(label: str) -> Callable[[str], str]:
    return lambda prompt: label


def _signs(cases: Rows[Response], options: Any) -> dict[str, Any]:
    return {"without_votes": cases.without_votes}


GENERATE = Method(
    name="generate", help="a number from 1 to 5 in the reply, in both orders", evidence="reply", harnesses=("lm-eval", "inspect"),
    calls=(SECOND, FIRST), per_case="both orders", score=_score,
    metrics=(Metric("acc"), Metric("consistency"), Metric("invalid", higher_is_better=False), Metric(SELECTED, harnesses=())),
    room=1024, read=read_rating,
)  # fmt: skip

RESPONSE = Benchmark(
    name="recenter_response",
    title="Recenter response",
    version=VERSION,
    options=ResponseOptions,
    methods={"generate": GENERATE},
    labels=ratings.LABELS,
    cells=Response.cells,
    selections={"": {}},
    load=lambda options, selection: _load(options.data, options.control),
    columns=each_and_all,
    prompt=lambda case, options, call: build(case, call),
    input=lambda case: case.prompt,
    targets=targets,
    fingerprint=lambda options: f"v1-{hashlib.sha256(PROMPT.encode()).hexdigest()[:12]}",
    corpus={
        "spearman": ratings.spearman,
        "weighted_kappa": ratings.weighted_kappa,
        "no_better": ratings.no_better,
        "no_better_people": ratings.no_better_people,
    },
    undirected=("no_better", "no_better_people"),
    judges={f"always_{label}": _always(label) for label in ratings.LABELS},
    signed={"without_votes": always},
    signs=_signs,
    report=ReportSpec(
        primary="acc",
        score="Accuracy",
        chance=None,
        headline=(
            Line("acc", "agrees whether it is better", strong=True, interval=True),
            Line("spearman", share=False, strong=True),
        ),
        compared=(
            Line("acc", strong=True, interval=True),
            Line("spearman", share=False, strong=True),
            Line("weighted_kappa", "weighted kappa", share=False),
            Line("no_better", "no better than generic"),
        ),
        ranked=("spearman", "weighted_kappa", "consistency", "invalid"),
        examine=examined.response,
        shown=examined.shown_response,
        published=reference.beside(Response.stage),
        details=(
            Line("weighted_kappa", "weighted kappa", share=False, table="Against people's mean"),
            Line("no_better", "no better than generic", table="Against people's mean"),
            Line("no_better_people", "to people", table="Against people's mean"),
            Line("consistency", table="Both orders"),
            Line("invalid", table="Both orders"),
        ),
        control=CONTROL,
        load=lambda data, counts: _load(data),
        under=lambda cases, signature: under_control(cases, signature["control"]),
        environment=ENVIRONMENT_VARIABLE,
    ),
)
