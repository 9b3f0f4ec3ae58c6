"""What the columns of a ranking mean: one definition for each, for tooltips and lists of definitions."""

from __future__ import annotations

from ..analysis.measures import SCORE, Measure
from ..engine.report import Control, ReportSpec

PLACE = (
    "the places that the data allow: below every run that is significantly better, above every run that is significantly worse; "
    "in 95 % of rankings the places of all runs are right"
)
TIED = (
    "the runs that this one cannot be told apart from: paired by case, at the 5 % level for all pairs together; their places "
    "need not be neighbors"
)
MACRO = "plain mean over the cells, whatever their numbers of cases"
USED = {
    "calls": "mean number of calls of a case that the model answered; replies from a cache are left out",
    "input_tokens": "mean number of tokens of a case in all of its prompts, where the log counts them or --tokenizer estimates them",
    "output_tokens": "the same in all of its replies, thoughts included",
    "tokens": "mean number of tokens of a case over all of its calls, where the log counts them or --tokenizer estimates them",
}
GIVEN = "the win rate without the judge's errors, as its exam shows them"


def of_measure(measure: Measure, spec: ReportSpec) -> str:
    """What a measure of a ranking is; no sentence, without a period. Empty where the benchmark's record does not say."""
    if measure.key == SCORE:
        return spec.line(spec.primary).meaning
    if measure.kind == "margin":
        baseline = measure.heading.removeprefix("over_")
        picks = f", which picks {spec.shortcuts[baseline]}" if baseline in spec.shortcuts else ""
        return f"the score minus that of the baseline {baseline} on the same cases{picks}"
    if measure.kind == "adjusted":
        return f"the score {measure.heading} of the responses, by logistic regression"
    if measure.kind == "difference" and spec.control is not None:
        return _of_difference(measure.heading, spec.control)
    others = {"macro": MACRO, **USED}
    return GIVEN if measure.kind == "given" else others.get(measure.key) or spec.line(measure.key).meaning


def _of_difference(name: str, control: Control) -> str:
    paired = "paired by case, on the cases that both answered"
    for difference in control.named:
        if difference.name == name:
            more, less = (control.people.get(value, value) for value in (difference.more, difference.less))
            return (
                f"{difference.meaning}: the score of the model told about {more} minus that told about {less}, {paired}"
            )
    return f"the score minus that of the same model {control.without}, {paired}"
