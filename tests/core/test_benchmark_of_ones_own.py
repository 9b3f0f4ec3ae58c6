"""A second benchmark costs one record and one YAML file: a toy one goes through both harnesses, their logs and a report."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import task
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from personafeedback_tasks.task_configs import generate
from support.environments import CHECKOUT
from support.inspect_runs import inspect_eval
from support.lm_eval_runs import FakeLM
from support.shown import as_json

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.cli import main
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.core import benchmark as benchmarks
from personafeedback_tasks.core.benchmark import Benchmark
from personafeedback_tasks.core.cases import CaseSet, digest_of
from personafeedback_tasks.core.method import LabelMethod, LikelihoodMethod, Metric
from personafeedback_tasks.core.options import Options, option
from personafeedback_tasks.core.report import Line, ReportSpec
from personafeedback_tasks.core.result import Result
from personafeedback_tasks.inspect_harness.tasks import build_task
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.stats.estimates import clustered_stderr, jackknife_stderr, mean

# --- the record --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    id: str
    user_id: str
    text: str
    label: str
    cell: str = "all"
    language: str = "en"

    @property
    def digest(self):
        return digest_of([self.id, self.user_id, self.text, self.label])


@dataclass(frozen=True)
class Questions(CaseSet):
    cases: tuple[Question, ...]
    counts: str = "any"
    cell_order = ("all",)
    source = "toy"

    @property
    def digest(self):
        return digest_of([case.digest for case in self.cases])


@dataclass(frozen=True, kw_only=True)
class ToyOptions(Options):
    method: str = option("generate", "how the reply is read", always=True)
    loud: bool = option(False, "whether the question is shouted", said=lambda _: ["loud"])
    data: str | None = option(None, "where the data are")
    counts: str = option("any", "what is checked")


CASES = Questions(
    (
        Question("1", "ann", "Is tea hot?", "YES"),
        Question("2", "bob", "Is ice hot?", "NO"),
        Question("3", "cleo", "Is fire hot?", "YES"),
    )
)


def read(reply, truncated):
    return reply.strip() if reply.strip() in ("YES", "NO") else "truncated" if truncated else "invalid_response_format"


def f1(judged):
    """Of YES; an unreadable reply is no YES."""
    pairs = [(target, answer) for one in judged for target, answer in zip(one.targets, one.answers, strict=True)]
    hits = sum(target == answer == "YES" for target, answer in pairs)
    return 2 * hits / sum((target == "YES") + (answer == "YES") for target, answer in pairs) if hits else 0.0


def score(targets, answers, log_likelihoods=()):
    return {"acc": mean(float(target == answer) for target, answer in zip(targets, answers, strict=True))}


METHOD = LabelMethod(
    name="generate", help="the word", calls=("ask",), per_case="one call", score=score, metrics=(Metric("acc"),), max_tokens=16,
    read=read,
)  # fmt: skip


class Toy(Benchmark):
    name = "toy"
    title = "Toy"
    version = "1"
    options = ToyOptions
    methods = {
        "generate": METHOD,
        "mc": LikelihoodMethod(
            name="mc",
            help="likelihoods",
            calls=("ask",),
            labels=("YES", "NO"),
            score=score,
            metrics=METHOD.metrics,
            suffix="mc",
        ),
    }
    labels = ("YES", "NO")
    cells = ("all",)
    corpus = {"f1": f1}
    report = ReportSpec(
        primary="acc",
        score="Accuracy",
        chance=None,
        headline=(Line("acc", strong=True, interval=True), Line("f1", "F1 of YES", interval=True)),
        load=lambda data, counts: CASES,
    )

    def load(self, options, selection):
        return CASES

    def prompt(self, case, options, call):
        return f"{case.text.upper() if options.loud else case.text}\nAnswer YES or NO."

    def input(self, case):
        return case.text

    def targets(self, case):
        return [case.label]

    def fingerprint(self, options):
        return "toy-1"


TOY = Toy()

REPLIES = {"1": "YES", "2": "YES", "3": "It is hot."}
ANSWERS = {"1": "YES", "2": "YES", "3": "invalid_response_format"}
JUDGED = [Result(targets=(case.label,), answers=(ANSWERS[case.id],)) for case in CASES]
ACC, F1 = 1 / 3, 2 / 4  # one hit; two are YES and two were called YES
F1_STDERR = jackknife_stderr(f1, JUDGED, ["ann", "bob", "cleo"])


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(benchmarks, "_REGISTERED", {})
    benchmarks.register(TOY)
    return TOY


# --- lm-eval -----------------------------------------------------------------------------------------------------------


class Scripted(FakeLM):
    def generate_until(self, requests, disable_tqdm=False):
        return [REPLIES[request.doc["id"]] for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        return [
            (-1.0 if request.args[1].strip() == REPLIES[request.doc["id"]] else -2.0, False) for request in requests
        ]


@pytest.fixture
def yaml_folder(tmp_path):
    """The one file of each method and what they share, as the generator writes them."""
    folder = tmp_path / "yaml"
    folder.mkdir()
    for name, text in generate.yaml_files(TOY).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def lm_eval(folder, out, task="toy", **kwargs):
    tracker = EvaluationTracker(output_path=str(out))
    manager = TaskManager(include_path=str(folder), include_defaults=False, metadata=kwargs.pop("metadata", {}))
    results = simple_evaluate(
        Scripted(), tasks=[task], task_manager=manager, bootstrap_iters=0, log_samples=True, evaluation_tracker=tracker, **kwargs
    )  # fmt: skip
    rows = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=rows)
    for name, logged in rows.items():
        tracker.save_results_samples(task_name=name, samples=logged)
    return results["results"][task], max(out.rglob("results_*.json"))


# --- Inspect -----------------------------------------------------------------------------------------------------------


@modelapi(name="toy-scripted")
class Said(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content("toy-scripted", REPLIES[input[-1].metadata["case_id"]])


PICKS = "toy-picks"


@modelapi(name=PICKS)
class Picks(ModelAPI):
    def __init__(self, model_name, pick, **kwargs):
        super().__init__(model_name)
        self.pick = pick

    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content(PICKS, self.pick(input[-1].text))


@task
def toy_task(**options):
    return build_task("toy", "", options)


def inspect(folder, built=None, **kwargs):
    (log,) = inspect_eval(
        built or toy_task(),
        model="toy-scripted/x",
        display="none",
        score_display=False,
        log_dir=str(folder),
        **kwargs,
    )
    assert log.status == "success", log.error
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}, Path(log.location)


@pytest.mark.slow
def test_an_option_is_declared_once_and_known_everywhere(yaml_folder, tmp_path):
    _, log = inspect(tmp_path / "inspect", toy_task(loud=True))
    _, results = lm_eval(yaml_folder, tmp_path / "out", metadata={"loud": True})
    for run in (read_run(log), read_run(results)):
        assert run.remarks == ["loud"]
        assert " | method generate | prompt toy-1 | loud | one call | " in make_report(run, CASES).signature
    with pytest.raises(Exception, match=r"lod=True .* Did you mean loud\? .*\bloud, method"):
        toy_task(lod=True)


# --- both logs, one report -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_both_harnesses_print_the_same_scores_and_both_logs_make_the_same_report(yaml_folder, tmp_path):
    of_lm_eval, one = lm_eval(yaml_folder, tmp_path / "out")
    of_inspect, two = inspect(tmp_path / "inspect")
    stderr = clustered_stderr([1, 0, 0], ["ann", "bob", "cleo"])
    expected = {"acc": ACC, "acc_stderr": stderr, "f1": F1, "f1_stderr": F1_STDERR}
    for name, value in expected.items():
        assert of_inspect[name] == of_lm_eval[f"{name},none"] == pytest.approx(value, abs=1e-12)
    first, second = (make_report(read_run(log), CASES) for log in (one, two))
    (group,) = first.groups.values()
    assert (group.cases, group.measures["acc"].users) == (3, 3)
    assert group.measures["f1"].value == pytest.approx(F1, abs=1e-12)
    assert group.measures["f1"].stderr == pytest.approx(F1_STDERR, abs=1e-12)
    assert group.reasons == {"invalid_response_format": 1}
    assert as_json(first)["groups"] == as_json(second)["groups"]
    out = tmp_path / "report"
    done = CliRunner().invoke(main, ["report", "--full", str(two), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert re.search(r"\bF1\b(.*\n){0,3}.*\bYES\b", done.output)
    assert "| F1 of YES (%) | 95 % interval |" in (out / "report.md").read_text(encoding="utf-8")
    document = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert document["reports"][0]["groups"]["total"]["measures"]["f1"]["value"] == pytest.approx(F1, abs=1e-12)


@pytest.mark.parametrize("found", [2, 4])
def test_another_number_of_cases_is_refused_before_the_first_call(yaml_folder, tmp_path, monkeypatch, found):
    """By the core, whatever a benchmark's own loader checks: no harness asks a run that no report takes."""
    cases = replace(CASES, cases=(*CASES, Question("4", "dan", "Is snow hot?", "NO"))[:found], counts="checked")
    some = replace(cases, counts="any")
    asked = []
    monkeypatch.setattr(Scripted, "generate_until", lambda *args, **kwargs: asked.append(1))

    class Counted(Toy):
        def __init__(self, found):
            self.found = found

        def load(self, options, selection):
            return self.found

        def sizes(self, cases, options):
            return {"all": 3}

    benchmarks.register(Counted(cases))
    refused = f"toy: found {found} cases of all, expected 3. Get a complete copy, or pass counts=any"
    with pytest.raises(DataError, match=refused):
        toy_task()
    with pytest.raises(DataError, match=refused):
        lm_eval(yaml_folder, tmp_path / "out")
    assert refused in CliRunner().invoke(main, ["plan", "toy"]).output
    assert asked == []
    benchmarks.register(Counted(some))
    assert len(toy_task().dataset) == found


# --- the page ----------------------------------------------------------------------------------------------------------

PETS = [
    {"id": f"{cell}:{n}", "cell": cell, "user": f"u{n}", "pet": pet, "question": "What now?", "right": f"Ask {pet}.", "wrong": "No."}
    for n, (cell, pet) in enumerate([("cats", "Mia"), ("cats", "Kit"), ("dogs", "Rex"), ("dogs", "Bo")])
]  # fmt: skip


@pytest.mark.slow
def test_the_page_has_a_pairwise_benchmark_of_45_lines_that_runs(tmp_path, monkeypatch):
    page = (CHECKOUT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 45
    (tmp_path / "pets.py").write_text(code, encoding="utf-8")
    data = tmp_path / "pets.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in PETS), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    task_of = importlib.import_module("pets").pets
    folder = tmp_path / "yaml"
    folder.mkdir()
    for name, text in generate.yaml_files(benchmarks.find("pets")).items():
        (folder / name).write_text(text, encoding="utf-8")
    pick = benchmarks.find("pets").judges["longest"]  # in all four rows the right one
    monkeypatch.setattr(Scripted, "generate_until", lambda self, asked, **_: [pick(one.args[0]) for one in asked])
    found, results = lm_eval(folder, tmp_path / "out", "pets", metadata={"data": str(data)})
    assert found["acc,none"] == 1
    built = task_of(data=str(data), setting="persona,other_persona")
    (log,) = inspect_eval(built, model=get_model(f"{PICKS}/longest", pick=pick), log_dir=str(tmp_path / "inspect"))
    printed = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert (printed["acc"], printed["acc_cats"], printed["right_minus_wrong"]) == (1, 1, 0)
    told = CliRunner().invoke(main, ["report", str(results), "--data", str(data)])
    assert told.exit_code == 0, told.output
    assert "total: 4 cases, 4 users" in told.output
