"""A judge in people's place: what it says of rows that nobody judged, corrected by its exam on rows that people judged."""

from __future__ import annotations

import json
import random

import pytest
from support.commands import personafeedback
from support.recenter import in_inspect, in_lm_eval, same
from support.tables import in_markdown

from personafeedback_tasks.common.corrected import LONGER, SHORTER, Votes, corrected_share
from personafeedback_tasks.common.statistics import share
from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.recenter.response import FIRST

USERS, EACH = 30, 4
RELEVANCE, EXTRACTION, RESPONSE = map(find, ("recenter_relevance", "recenter_extraction", "recenter_response"))


def is_so(row):
    """The planted truth, by row id: `<kind><user>-<number>`."""
    return random.Random(f"truth {row}").random() < 0.3


def judge_says(row):
    """Right in 85 % of what is so, and in 75 % of what is not."""
    return is_so(row) == (random.Random(f"judge {row}").random() < (0.85 if is_so(row) else 0.75))


def names(kind):
    return [f"{kind}{user}-{number}" for user in range(USERS) for number in range(EACH)]


def row(stage, name, judged):
    """A row, as its file has it."""
    user = name.split("-")[0]
    about = {"id": name, "user_id": user}
    so = is_so(name)
    if stage == "extraction":
        verdict = "rejected" if so else "accepted"
        said = [{"role": "user", "content": f"About {name}."}]
        return {
            **about, "conversation": said, "attribute": f"Likes {name}", "reason": "So it says.",
            "source": "human" if int(name.split("-")[1]) % 2 else "synthetic", "votes": [verdict] * 3 if judged else [],
        }  # fmt: skip
    about |= {"prompt": f"What about {name}?", "attribute": f"Likes {name}"}
    if stage == "relevance":
        return {**about, "votes": [so, so, not so] if judged else []}
    return {
        **about,
        "generic": f"Well, {name}.",
        "personalized": f"You like {name}.",
        "votes": [5, 4] if so and judged else [2, 3] if judged else [],
    }


SAID = {
    "relevance": lambda name, call: "YES" if judge_says(name) else "NO",
    "extraction": lambda name, call: "PROBLEMATIC" if judge_says(name) else "ACCEPT",
    "response": lambda name, call: {True: "4", False: "2"}[judge_says(name) is not (call == FIRST)],
}
CONSTANT = {"relevance": "always_yes", "extraction": "always_accept", "response": "always_3"}
NAMES = {"relevance": "relevant", "extraction": "problematic", "response": "better than generic"}


def write(folder, stage, rows):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stage}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return folder


def rates():
    """(share that the judge says of the unjudged rows, its sensitivity, its false alarms in the exam), by hand."""
    exam = names("e")
    so, not_so = [name for name in exam if is_so(name)], [name for name in exam if not is_so(name)]
    said = [judge_says(name) for name in names("n")]
    return sum(said) / len(said), sum(map(judge_says, so)) / len(so), sum(map(judge_says, not_so)) / len(not_so)


@pytest.mark.slow
@pytest.mark.parametrize("stage", NAMES)
def test_a_judge_in_peoples_place(stage, tmp_path):
    """On rows that nobody judged, beside its exam: one run of each, and all that is said of them."""
    folder = tmp_path
    write(folder / "new", stage, [row(stage, name, False) for name in names("n")])
    write(folder / "exam", stage, [row(stage, name, True) for name in names("e")])
    record = find(f"recenter_{stage}")
    there, log = in_inspect(record, SAID[stage], folder / "logs", data=str(folder / "new"), rows="unjudged")
    in_inspect(record, SAID[stage], folder / "exam-logs", data=str(folder / "exam"))
    the_run_has_no_accuracy_and_can_be_reported(stage, folder, there, log)
    the_share_is_that_of_rogan_and_gladen(stage, folder)
    with_peoples_votes_it_is_prediction_powered(stage, folder)
    what_is_no_exam_is_refused(stage, folder)


def shares(stage, folder, *more):
    """(row -> the share in percent, row -> its interval, all that is printed)"""
    done = personafeedback("annotate", "shares", folder / "logs", "--exam", folder / "exam-logs", "--markdown", *more)
    assert done.exit_code == 0, done.output
    columns, name = in_markdown(done.stdout)["Shares"], NAMES[stage]
    ends = {
        row: [float(end) / 100 for end in text.split("–")] for row, text in columns[f"{name} 95 % interval"].items()
    }
    return {row: float(text) for row, text in columns[name].items()}, ends, done.stdout


PLANTED = sum(map(is_so, names("n"))) / (USERS * EACH)


def the_share_is_that_of_rogan_and_gladen(stage, folder):
    """And the planted one is in its interval."""
    printed, ends, text = shares(stage, folder)
    said, sensitivity, alarms = rates()
    assert printed["as the judge says"] == pytest.approx(100 * said, abs=0.051)
    assert (
        f"says so in {100 * sensitivity:.1f} % of the cases of which it is so, and in {100 * alarms:.1f} % of the others"
        in text
    )
    if stage != "extraction":  # there the exam is weighted to the cells of the run, which are alike here
        assert printed["corrected by the exam"] == pytest.approx(
            100 * (said - alarms) / (sensitivity - alarms), abs=0.051
        )
    low, high = ends["corrected by the exam"]
    assert low < PLANTED < high
    assert "with people's votes" not in printed


def with_peoples_votes_it_is_prediction_powered(stage, folder):
    pytest.importorskip("ppi_py")
    drawn = random.Random(1).sample(names("n"), 60)
    human = write(folder / "human", stage, [row(stage, name, True) for name in drawn])
    _, ends, text = shares(stage, folder, "--human", human)
    low, high = ends["with people's votes"]
    assert low < PLANTED < high
    assert "With people's votes on 60 cases: prediction-powered" in text
    few = write(folder / "few", stage, [row(stage, name, True) for name in drawn[:5]])
    printed, _, text = shares(stage, folder, "--human", few)
    assert "with people's votes" not in printed
    assert "at least 10 users are needed" in text
    others = write(folder / "others", stage, [row(stage, name, True) for name in names("e")])
    done = personafeedback("annotate", "shares", folder / "logs", "--exam", folder / "exam-logs", "--human", others)
    assert done.exit_code == 1
    assert "Pass votes on rows of this run" in done.output


def what_is_no_exam_is_refused(stage, folder):
    for run, of, why in (
        ("logs", "logs", "expected cases that people judged"),
        ("exam-logs", "logs", "expected one with rows=unjudged"),
    ):
        done = personafeedback("annotate", "shares", folder / run, "--exam", folder / of)
        assert done.exit_code == 1
        assert why in done.output
    done = personafeedback("annotate", "shares", folder / "logs")
    assert done.exit_code == 2
    assert "--exam" in done.output
    other = "relevance" if stage != "relevance" else "response"
    in_inspect(find(f"recenter_{other}"), SAID[other], folder / "other-logs", data="sample")
    done = personafeedback("annotate", "shares", folder / "logs", "--exam", folder / "other-logs")
    assert "found the exam of another judge" in done.output


def the_run_has_no_accuracy_and_can_be_reported(stage, folder, there, log):
    here, _ = in_lm_eval(find(f"recenter_{stage}"), SAID[stage], folder, data=str(folder / "new"), rows="unjudged")
    said, *_ = rates()
    share = {"response": 1 - said}.get(stage, said)
    name = {"response": "no_better"}.get(stage, "selection_rate")
    for table in (there, here):
        assert same(table["acc"], float("nan"))
        assert same(table[name], share)
        assert table["invalid"] == 0
        for people in ("human_rate", "f1", "kappa", "spearman", "no_better_people", "pairwise"):
            assert people not in table or same(table[people], float("nan"))
    done = personafeedback("report", log, "--full")
    assert done.exit_code == 0, done.output
    assert "Nobody judged these rows" in done.output
    assert "Nobody says what is right in these cases, so the run has no score." in done.output
    users = {
        json.loads(line)["user_id"] for line in (folder / "new" / f"{stage}.jsonl").read_text("utf-8").splitlines()
    }
    assert f" cases, {len(users):,} users" in personafeedback("report", log).output
    second, _ = in_inspect(
        find(f"recenter_{stage}"),
        f"recenter_{stage}/{CONSTANT[stage]}",
        folder / "logs2",
        data=str(folder / "new"),
        rows="unjudged",
    )
    assert same(second["acc"], float("nan"))
    done = personafeedback("rank", folder / "logs", folder / "logs2")
    assert done.exit_code == 0, done.output
    assert "Ranking 2 is separate from ranking 1: nobody says what is right in its cases." in done.output


@pytest.mark.slow
def test_users_who_share_prompts_have_the_error_of_the_prompts_too(tmp_path):
    """The judge says yes to one of four prompts, of most users: users are alike, prompts are not. Without the rows nobody knows the prompts, and that is said."""

    def written(kind, judged):
        rows = [row("relevance", name, judged) | {"prompt": f"Which, {name[-1]}?"} for name in names(kind)]
        return str(write(tmp_path / kind, "relevance", rows))

    def yes(name):
        return name[-1] == "0" and name[:2] != "n2"

    in_inspect(
        RELEVANCE,
        lambda name, call: "YES" if yes(name) else "NO",
        tmp_path / "logs",
        data=written("n", False),
        rows="unjudged",
    )
    in_inspect(RELEVANCE, SAID["relevance"], tmp_path / "exam-logs", data=written("e", True))
    of = [(float(yes(name)), name.split("-")[0], name[-1]) for name in names("n")]
    values, users, prompts = zip(*of, strict=True)
    alone, both = share(values, users), share(values, users, also=prompts)
    assert both.high - both.low > 3 * (alone.high - alone.low)
    _, ends, text = shares("relevance", tmp_path)
    assert ends["as the judge says"] == pytest.approx([both.low, both.high], abs=0.0006)
    assert "over users alone" not in text
    (tmp_path / "n").rename(tmp_path / "gone")
    _, ends, text = shares("relevance", tmp_path)
    assert ends["as the judge says"] == pytest.approx([alone.low, alone.high], abs=0.0006)
    assert "So the errors are over users alone; where users share prompts, they are too small. Pass --data." in text


def exam(found, alarms, so=50, others=50):
    """An exam of a judge that finds so many of what is so, and of the others."""
    right = [1.0] * found + [0.0] * (so - found) + [0.0] * alarms + [1.0] * (others - alarms)
    return Votes(
        right, [1 - one for one in right], [LONGER] * so + [SHORTER] * others, [f"u{n % 25}" for n in range(so + others)], ["c"] * (so + others)
    )  # fmt: skip


def said(share, of=100):
    votes = [1.0] * round(share * of) + [0.0] * (of - round(share * of))
    return Votes(votes, [1 - one for one in votes], [LONGER] * of, [f"v{n % 25}" for n in range(of)], ["c"] * of)


def test_the_correction_by_hand():
    """(0.5 - 0.1) / (0.9 - 0.1) = 0.5; a judge that is much surer of the one than of the other is corrected all the same."""
    assert corrected_share(said(0.5), exam(45, 5)).rate.value == pytest.approx(0.5)
    assert corrected_share(said(0.7), exam(50, 20)).rate.value == pytest.approx((0.7 - 0.4) / 0.6)
    assert corrected_share(said(0.3), exam(20, 2)).rate.value == pytest.approx((0.3 - 0.04) / 0.36)


@pytest.mark.parametrize(
    ("found", "alarms", "so", "others", "why"),
    [
        (25, 25, 50, 50, "only 0.0 points more often"),
        (40, 34, 50, 50, "only 12.0 points more often"),
        (0, 10, 0, 50, "no case of which it is so"),
        (40, 0, 50, 0, "no case of which it is not so"),
    ],
)
def test_without_an_exam_that_tells_both_apart_there_is_no_corrected_share(found, alarms, so, others, why):
    made = corrected_share(said(0.5), exam(found, alarms, so, others))
    assert made.rate is None
    assert why in made.why_not
