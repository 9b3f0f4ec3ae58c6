"""Settings: their runs in one report, with the macro mean; a new setting or metric changes no other number."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback
from support.inspect_runs import evaluate, metrics
from support.judges import OTHER
from support.models import register

from personafeedback_tasks.core.method import Metric
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import CELLS, load_cases
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import SAMPLE, locate
from personafeedback_tasks.stats.estimates import paired

pytestmark = pytest.mark.slow

same = pytest.approx
PIECE = "Kettles are the subject of this forum thread."
SETTINGS = ("persona", "rag", "no_persona")


def attentive(judge: str, prompt: str, case_id: str, call: str) -> str:
    """Is right more often, the more it is told."""
    told = "persona" if "<persona>" in prompt else "rag" if PIECE in prompt else "no_persona"
    gold = TWO.right[call]
    return gold if knows(case_id, told) else OTHER[gold]


register("attentive", attentive)


def knows(case_id: str, told: str) -> bool:
    """All but every 7th, 3rd and 2nd case of a cell; each cell begins elsewhere."""
    cell, line = case_id.split(":")
    return (int(line) + CELLS.index(cell)) % {"persona": 7, "rag": 3, "no_persona": 2}[told] != 0


def reported(tmp_path, *arguments):
    done = personafeedback("report", "--full", *arguments, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    return done.stdout, json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["reports"][0]


def test_one_report_has_every_setting_and_the_paired_differences(tmp_path):
    """On the sample with two cases less in one cell, so that cells weigh differently, and a memory of every user."""
    release = shutil.copytree(locate(SAMPLE).root, tmp_path / "release")
    path = release / "data" / "general" / "easy.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")
    cases, options = load_cases(release, counts="any"), {"data": str(release), "counts": "any"}
    for case in cases:
        (release / "memory" / f"{case.user_id}.jsonl").write_text(json.dumps({"text": PIECE}), encoding="utf-8")
    runs = [tasks.personafeedback(setting=setting, **options) for setting in ("persona", "no_persona", "rag")]
    printed, stored = reported(
        tmp_path / "out", *(evaluate(task, "attentive/model", tmp_path / "logs").location for task in runs)
    )
    groups = {**stored["groups"], "macro": stored["macro"]}
    assert groups.keys() == {*CELLS, "specific", "general", "total", "macro"}
    for name, group in groups.items():
        within = [of for cell, of in cases.cells.items() if name in ("total", "macro", cell, cell.partition("_")[0])]
        mean = {}
        for setting in SETTINGS:
            right = [[knows(case.id, setting) for case in of] for of in within]
            mean[setting] = np.mean(list(map(np.mean, right)) if name == "macro" else np.concatenate(right))
        value = {key: estimate["value"] for key, estimate in group["measures"].items()}
        assert group["cases"] == sum(map(len, within))
        assert (value["acc"], value["acc_rag"], value["acc_no_persona"]) == same(tuple(mean.values()))
        assert value["persona_gain"] == same(mean["persona"] - mean["no_persona"])
        assert value["persona_minus_rag"] == same(mean["persona"] - mean["rag"])
    more = [float(knows(case.id, "persona")) - knows(case.id, "rag") for case in cases]
    gap, found = paired(more, [case.user_id for case in cases]), groups["total"]["measures"]["persona_minus_rag"]
    assert found == same({name: vars(gap)[name] for name in found})
    assert groups["macro"]["measures"]["acc"]["value"] != same(groups["total"]["measures"]["acc"]["value"], abs=1e-4)
    assert re.search(r"^total .*\nmacro ", printed.partition("Result")[2], re.M)
    assert "setting rag" in printed


def test_a_new_setting_is_one_function_and_changes_no_other_number(tmp_path, monkeypatch):
    def name_alone(case, template, wording):
        return f"{wording.with_persona}\n\n<persona>\n{case.user_id}\n</persona>"

    asked = {"data": "sample", "method": "generate"}
    before = evaluate(
        tasks.personafeedback_general_hard(setting="persona,no_persona", **asked),
        "personafeedback/longest",
        tmp_path / "two",
    )
    monkeypatch.setitem(prompts.SETTINGS, "name_alone", name_alone)
    task = tasks.personafeedback_general_hard(setting="persona,no_persona,name_alone", **asked)
    after = evaluate(task, "personafeedback/longest", tmp_path / "three")
    table = metrics(after)
    assert "acc_name_alone" in table
    assert {name: table[name] for name in metrics(before)} == same(metrics(before), nan_ok=True)
    done = personafeedback("report", "--full", after.location)
    assert done.exit_code == 0, done.output
    assert "name_alone" in done.stdout


def test_a_new_metric_is_its_definition_and_the_report_of_an_older_log_has_it(tmp_path, monkeypatch):
    log = evaluate(tasks.personafeedback_general_hard(data="sample"), "personafeedback/longest", tmp_path / "logs")
    before = reported(tmp_path / "before", log.location)[1]["groups"]["general_hard"]["measures"]
    method = PERSONAFEEDBACK.methods["generate"]

    def score(targets, answers):
        return {**method.score(targets, answers), "never_right": float(0 not in TWO.picks(answers))}

    longer = replace(method, score=score, metrics=(*method.metrics, Metric("never_right")))
    monkeypatch.setitem(PERSONAFEEDBACK.methods, "generate", longer)
    after = reported(tmp_path / "after", log.location)[1]["groups"]["general_hard"]["measures"]
    assert after.pop("never_right")["value"] == 0.5  # the longer response is the chosen one in half of the cases
    assert after == before
