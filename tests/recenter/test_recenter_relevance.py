"""`recenter_relevance`: its prompt, its scores, and known answers through both harnesses, their logs and a report."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")

from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from personafeedback_tasks.inspect_tasks.recenter_relevance import recenter_relevance
from support.inspect_runs import inspect_eval

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.common.jackknife import jackknife_stderr
from personafeedback_tasks.common.statistics import clustered_stderr
from personafeedback_tasks.core.outcome import Outcome
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.parsing.answers import REASONS
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.relevance import RELEVANCE, SCORES
from personafeedback_tasks.recenter.rows import Relevance

ROWS = with_judgment(load(Relevance, "sample"))
CORPUS = RELEVANCE.corpus
PEOPLE = {row.id: SCORES.target(row) for row in ROWS}
OTHER = {"YES": "NO", "NO": "YES"}
BROKEN = {row.id for row in ROWS[::10]}


def answer(model: str, row: str) -> str:
    """What a model without weights replies."""
    return {
        "gold": PEOPLE[row],
        "inverted": OTHER[PEOPLE[row]],
        "always_yes": "YES",
        "broken": "Who knows?" if row in BROKEN else PEOPLE[row],
    }[model]


MODELS = ["gold", "inverted", "always_yes", "broken"]


# --- rows and prompts -------------------------------------------------------------------------------------------------


# --- scores -----------------------------------------------------------------------------------------------------------


def judgment(people: str, model: str) -> Outcome:
    return Outcome(targets=(people,), answers=(model,))


JUDGED = st.lists(
    st.tuples(st.sampled_from(["YES", "NO"]), st.sampled_from(["YES", "NO", *REASONS])).map(lambda pair: judgment(*pair)),
    min_size=1,
    max_size=30,
)  # fmt: skip


def value(name, judged):
    return CORPUS[name](judged)


def same(found, expected):
    return (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@given(JUDGED)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_every_score_is_its_definition(judged):
    """Spelled out row by row. An unreadable reply selects nothing and is never right."""
    pairs = [(outcome.targets[0], outcome.answers[0]) for outcome in judged]
    people, model = [p == "YES" for p, _ in pairs], [s == "YES" for _, s in pairs]
    hits = sum(p and m for p, m in zip(people, model, strict=True))

    def ratio(part, whole):
        return part / whole if whole else math.nan

    assert same(value("precision", judged), ratio(hits, sum(model)))
    assert same(value("recall", judged), ratio(hits, sum(people)))
    assert same(value("f1", judged), ratio(2 * hits, sum(people) + sum(model)))
    assert same(value("selection_rate", judged), sum(model) / len(model))
    assert same(value("human_rate", judged), sum(people) / len(people))
    assert same(value("over_selection", judged), ratio(sum(model), sum(people)))


@pytest.mark.slow
@given(JUDGED)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_scikit_learn_agrees(judged):
    metrics = pytest.importorskip("sklearn.metrics")
    people = [outcome.targets[0] for outcome in judged]
    said = [outcome.answers[0] for outcome in judged]
    model = [answer if answer in OTHER else "unreadable" for answer in said]
    labels = ["YES", "NO", "unreadable"]
    for name, of_theirs in (
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
    ):
        theirs = of_theirs(people, model, labels=["YES"], average="micro", zero_division=math.nan)
        assert same(value(name, judged), theirs), name
    if not math.isnan(value("kappa", judged)):
        assert same(value("kappa", judged), metrics.cohen_kappa_score(people, model, labels=labels))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "precision", "recall", "over_selection"])
def test_a_jackknife_over_users_gives_the_error_of_a_bootstrap_over_users(name):
    """Users differ in how often people, and the model, say YES: 60 users, 40 rows each, 20,000 resamples of whole users."""
    np = pytest.importorskip("numpy")
    random = np.random.default_rng(1)
    judged, users, counts = [], [], []
    for user in range(60):
        rate, noise = random.beta(3, 5), random.uniform(0.05, 0.4)
        people = random.random(40) < rate
        model = people ^ (random.random(40) < noise)
        counts.append([np.sum(people & model), np.sum(people), np.sum(model)])
        users += [f"u{user}"] * 40
        judged += [judgment("YES" if p else "NO", "YES" if m else "NO") for p, m in zip(people, model, strict=True)]
    hits, said, selected = np.array(counts)[random.integers(0, 60, (20_000, 60))].sum(axis=1).T
    resampled = {
        "f1": 2 * hits / (said + selected), "precision": hits / selected, "recall": hits / said,
        "over_selection": selected / said,
    }[name]  # fmt: skip
    assert jackknife_stderr(CORPUS[name], judged, users) == pytest.approx(np.std(resampled), rel=0.03)


# --- both harnesses ---------------------------------------------------------------------------------------------------


def expected(model: str) -> dict[str, float]:
    """acc, the corpus scores and their errors, from the answers alone."""
    said = {row.id: answer(model, row.id) for row in ROWS}
    judged = [judgment(PEOPLE[row.id], said[row.id]) for row in ROWS]
    users = [row.user_id for row in ROWS]
    right = [float(said[row.id] == PEOPLE[row.id]) for row in ROWS]
    found = {"acc": sum(right) / len(right), "acc_stderr": clustered_stderr(right, users)}
    for name, measure in CORPUS.items():
        found |= {name: measure(judged), f"{name}_stderr": jackknife_stderr(measure, judged, users)}
    return found


class Scripted(LM):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def generate_until(self, requests, disable_tqdm=False):
        return [answer(self.model, request.doc["id"]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise AssertionError("no task asks for this")

    loglikelihood_rolling = loglikelihood


def lm_eval(model: str, folder: Path):
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    manager = TaskManager(include_path=str(task_configs()), include_defaults=False, metadata={"data": "sample"})
    results = simple_evaluate(
        Scripted(model), tasks=["recenter_relevance"], task_manager=manager, bootstrap_iters=0, log_samples=True,
        evaluation_tracker=tracker,
    )  # fmt: skip
    rows = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=rows)
    for name, logged in rows.items():
        tracker.save_results_samples(task_name=name, samples=logged)
    found = {key.partition(",")[0]: number for key, number in results["results"]["recenter_relevance"].items()}
    return found, max((folder / "out").rglob("results_*.json"))


@modelapi(name="recenter-scripted")
class Said(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content(self.model_name, answer(self.model_name, input[-1].metadata["case_id"]))


def inspect(model: str, folder: Path):
    """A scripted model, or one of the benchmark's own judges."""
    (log,) = inspect_eval(
        recenter_relevance(data="sample"), model=model, display="none", score_display=False, log_dir=str(folder)
    )
    assert log.status == "success", log.error
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}, Path(log.location)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_both_harnesses_and_their_reports_have_the_known_scores(model, tmp_path):
    known = expected(model)
    one, one_log = lm_eval(model, tmp_path / "lm_eval")
    two, two_log = inspect(f"recenter-scripted/{model}", tmp_path / "inspect")
    for name in ("acc", *CORPUS):
        for found, error in ((one, f"{name}_stderr"), (two, f"{name}_stderr")):
            assert same(found[name], known[name]), name
            assert same(found[error], known[f"{name}_stderr"]), name
    for log in (one_log, two_log):
        run = read_run(log)
        (group,) = make_report(run, ROWS).groups
        assert (group.cases, group.measures["acc"].users) == (len(ROWS), 6)
        for name in ("acc", *CORPUS):
            assert same(group.measures[name].value, known[name]), name
        unread = Counter({"invalid_response_format": len(BROKEN)}) if model == "broken" else Counter()
        assert Counter(group.reasons) == unread


def test_the_known_scores_are_those_that_can_be_told_without_arithmetic():
    gold, inverted, yes, broken = map(expected, MODELS)
    share = sum(said == "YES" for said in PEOPLE.values()) / len(PEOPLE)
    assert [gold[name] for name in ("acc", "precision", "recall", "f1", "kappa", "over_selection")] == [1] * 6
    assert [inverted[name] for name in ("acc", "precision", "recall", "f1")] == [0] * 4
    assert inverted["kappa"] < 0
    assert (yes["acc"], yes["precision"], yes["recall"], yes["kappa"], yes["selection_rate"]) == (share, share, 1, 0, 1)
    assert yes["over_selection"] == pytest.approx(1 / share)
    assert broken["acc"] == 1 - len(BROKEN) / len(ROWS)
    assert broken["precision"] == 1
    assert all(one["human_rate"] == share for one in (gold, inverted, yes, broken))


@pytest.mark.slow
def test_a_constant_answer_is_a_model_of_inspect(tmp_path):
    found, _ = inspect("recenter_relevance/always_yes", tmp_path / "yes")
    known = expected("always_yes")
    assert all(same(found[name], known[name]) for name in ("acc", *CORPUS))
    found, _ = inspect("recenter_relevance/always_no", tmp_path / "no")
    assert (found["recall"], found["selection_rate"]) == (0, 0)
    assert same(found["acc"], 1 - known["human_rate"])
