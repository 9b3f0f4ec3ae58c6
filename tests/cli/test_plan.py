"""`personafeedback plan`: calls, tokens, the cases that show a difference, and that its formula holds."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from scipy import stats
from support import planted_rankings
from support.commands import personafeedback
from support.simulated import draw, intervals_of_differences, owners_of, sums_of

from personafeedback_tasks.choice.orders import ORDERS
from personafeedback_tasks.cli.main import main
from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.common.outputs import SCHEMA
from personafeedback_tasks.common.paired_tests import paired_p
from personafeedback_tasks.common.power import Comparison
from personafeedback_tasks.common.significance import minimum_detectable_difference
from personafeedback_tasks.common.tokens import counted_by, estimated
from personafeedback_tasks.engine.beginnings import repeated
from personafeedback_tasks.engine.plan import asked, make_plan
from personafeedback_tasks.personafeedback import baselines, conversations, prompts
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.record import COMPARISONS, PERSONAFEEDBACK

PAIRED, UNPAIRED = COMPARISONS[:-1], COMPARISONS[-1]


def plan_of(data, task="personafeedback", difference=0.03, count=estimated, **options):
    selection, method = asked(PERSONAFEEDBACK, task, options.pop("method", None))
    told = PERSONAFEEDBACK.options.strict({"data": str(data), "method": method.name, **options})
    cases = PERSONAFEEDBACK.load(told, PERSONAFEEDBACK.selections[selection])
    return make_plan(PERSONAFEEDBACK, selection, cases, [told], difference, count)


# --- how many cases: properties --------------------------------------------------------------------------------------

USERS = st.lists(st.integers(1, 40), min_size=2, max_size=60)
COMPARED = st.builds(
    Comparison, st.just("x"), st.floats(0.01, 0.5), st.floats(0, 0.5), st.booleans()
)  # name, variance, correlation, paired


@given(COMPARED, USERS, st.randoms())
def test_the_smallest_difference_depends_on_nothing_but_the_sizes(compared, sizes, random):
    shuffled = random.sample(sizes, len(sizes))
    assert compared.smallest(shuffled) == pytest.approx(compared.smallest(sizes))
    # More variance or more correlation never helps, nor do unpaired cases; twice the users do.
    for worse in (
        Comparison("", 2 * compared.variance, compared.correlation, compared.paired),
        Comparison("", compared.variance, compared.correlation + 0.1, compared.paired),
    ):
        assert worse.smallest(sizes) >= compared.smallest(sizes)
    paired, unpaired = (Comparison("", compared.variance, compared.correlation, paired) for paired in (True, False))
    assert unpaired.stderr(sizes) == pytest.approx(2**0.5 * paired.stderr(sizes))
    assert compared.smallest(sizes * 2) < compared.smallest(sizes)


@given(COMPARED, USERS, st.floats(0.01, 0.9))
def test_the_first_prefix_that_shows_a_difference_is_taken(compared, sizes, difference):
    users = [f"u{user}" for turn in range(max(sizes)) for user, size in enumerate(sizes) if turn < size]
    shown = [compared.smallest(Counter(users[:n]).values()) <= difference for n in range(1, len(users) + 1)]
    expected = shown.index(True) + 1 if any(shown) else None
    assert compared.needed(([user] for user in users), difference) == expected
    in_pairs = [users[start : start + 2] for start in range(0, len(users), 2)]
    by_two = compared.needed(in_pairs, difference)
    assert by_two is None or shown[min(2 * by_two, len(users)) - 1]


def test_without_correlation_it_is_the_textbook_formula():
    """147 users with one case each: (1.976 + 0.844) * sqrt(0.25 / 147)."""
    t = stats.t.ppf([0.975, 0.8], 146).sum()
    assert Comparison("", 0.25, 0.5).smallest([1] * 147) == pytest.approx(t * (0.25 / 147) ** 0.5)
    # Two users with two cases each, correlated by 0.5: 0.25 / 4 * (1 + 0.5 * (8 / 4 - 1))
    assert Comparison("", 0.25, 0.5).stderr([2, 2]) == pytest.approx((0.25 / 4 * 1.5) ** 0.5)


def test_the_range_is_that_of_the_correlation_and_a_ranking_needs_more():
    for shown in plan_of("sample").shown:
        of, sizes = shown.comparison, Counter(case.user_id for case in load_cases("sample")).values()
        least, most = (replace(of, correlation=by).smallest(sizes) for by in (0.01, 0.1))
        assert (shown.low, shown.high) == (least, most)
        assert shown.half < shown.low < shown.smallest < shown.high
        assert shown.half == pytest.approx(stats.t.ppf(0.975, of._degrees(len(sizes))) * of.stderr(sizes))
        if of.paired:
            t = stats.t.ppf(1 - 0.025 / 45, len(sizes) - 1) + stats.t.ppf(0.8, len(sizes) - 1)
            assert shown.ranked == pytest.approx(t * of.stderr(sizes))
        else:
            assert np.isnan(shown.ranked)


@pytest.mark.release
def test_a_ranking_shows_the_difference_that_the_plan_says():
    """benchmarks/inference.py draws more: 77.8 % of 400."""
    rate = planted_rankings.found_among(np.random.default_rng(15), 10, 150)
    print(f"found in {rate:.1%}")
    assert 0.75 <= rate <= 0.87


def test_one_user_shows_nothing():
    assert np.isnan(UNPAIRED.smallest([1000]))
    assert UNPAIRED.needed([["u"]] * 1000, 0.9) is None
    assert UNPAIRED.needed([], 0.9) is None


# --- how many cases: by simulation, with the users of the release ----------------------------------------------------


def runs_of(compared, sizes, difference, seed):
    """Benchmarks x cases: the values whose mean is the difference, of each run or of both."""
    if not compared.paired:
        accuracy = 0.5 + (0.25 - compared.variance) ** 0.5
        return [
            draw(sizes, [1.0, 0.0], [mean, 1 - mean], compared.correlation, seed + run)
            for run, mean in enumerate((accuracy + difference / 2, accuracy - difference / 2))
        ]
    half = compared.variance / 2
    shares = [half + difference / 2, 1 - 2 * half, half - difference / 2]
    return [draw(sizes, [1.0, 0.0, -1.0], shares, compared.correlation, seed)]


def seen(tables, sizes):
    """In which benchmarks a 95 % interval is not around 0: of paired differences, as in `compare`, or of two accuracies."""
    if len(tables) == 1:
        low, high = intervals_of_differences(tables[0], sizes)
        return (low > 0) | (high < 0)
    count, n = len(sizes), sizes.sum()
    means = [table.mean(axis=1) for table in tables]
    squares = [
        ((sums_of(table, sizes) - np.outer(mean, sizes)) ** 2).sum(axis=1) * count / (count - 1) / n**2
        for table, mean in zip(tables, means, strict=True)
    ]
    return np.abs(means[0] - means[1]) > stats.t.ppf(0.975, 2 * (count - 1)) * np.sqrt(sum(squares))


@pytest.mark.release
@pytest.mark.parametrize(
    ("compared", "difference"),
    [(PAIRED[0], 0.03), (PAIRED[1], 0.05), (PAIRED[2], 0.08), (UNPAIRED, 0.05), (UNPAIRED, 0.1)],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_limit_shows_the_difference_4_times_in_5(real_data, compared, difference):
    """2,000 benchmarks whose users have as many cases as in the run with that --limit."""
    made = plan_of(real_data, "personafeedback_general", difference)
    (shown,) = [one for one in made.shown if one.comparison == compared]
    limit = shown.limits["inspect"]
    sizes = np.array(list(Counter(case.user_id for case in made.cases[: limit.limit]).values()))
    tables = runs_of(compared, sizes, difference, seed=12)
    power = np.mean(seen(tables, sizes))
    half = compared.smallest(sizes, power=0.5)
    assert np.mean(seen(runs_of(compared, sizes, half, seed=13), sizes)) == pytest.approx(0.5, abs=0.035)
    print(f"{compared.name}, {100 * difference:g} points, --limit {limit.limit}: seen in {power:.1%}")
    assert 0.77 <= power <= 0.83
    if compared.paired:
        owners = [f"{owner:03}" for owner in owners_of(sizes)]
        p = np.array([paired_p(row.tolist(), owners, resamples=399) for row in tables[0][:600]])
        print(f"by the test of compare: {np.mean(p <= 0.05):.1%}")
        assert 0.75 <= np.mean(p <= 0.05) <= 0.85
        # What `compare` says after the run is what the plan said before it.
        after = [minimum_detectable_difference(row.tolist(), owners) for row in tables[0][:50]]
        assert np.mean(after) == pytest.approx(difference, rel=0.05)
    assert np.mean(seen(runs_of(compared, sizes, 0, seed=14), sizes)) == pytest.approx(0.05, abs=0.015)


def test_what_is_assumed_is_what_the_baselines_show(real_data):
    cases = list(load_cases(real_data, "general"))
    acc, users = baselines.acc_of(cases), [case.user_id for case in cases]

    def spread(values):
        """(variance, correlation within users)"""
        centered = np.array(values) - np.mean(values)
        of_user: dict[str, list[float]] = {}
        for value, user in zip(centered, users, strict=True):
            of_user.setdefault(user, []).append(value)
        pairs = sum(sum(own) ** 2 - sum(value * value for value in own) for own in of_user.values())
        count = sum(len(own) * (len(own) - 1) for own in of_user.values())
        return centered.var(), pairs / count / centered.var()

    def between(one, other):
        return spread([acc[case.id][one] - acc[case.id][other] for case in cases])

    alike, unlike = between("overlap", "overlap_share"), between("longest", "overlap_share")
    assert (PAIRED[0].variance, PAIRED[1].variance) == pytest.approx(
        (alike[0], between("longest", "overlap")[0]), abs=0.01
    )
    assert PAIRED[2].variance == pytest.approx(unlike[0], abs=0.04)
    accuracies = [spread([acc[case.id][name] for case in cases]) for name in ("longest", "overlap", "overlap_share")]
    assert max(variance for variance, _ in accuracies) == pytest.approx(UNPAIRED.variance, abs=0.005)
    correlations = [correlation for _, correlation in (*accuracies, alike, unlike, between("longest", "overlap"))]
    assert 0.01 < min(correlations) < max(correlations) < UNPAIRED.correlation
    assert len({one.correlation for one in COMPARISONS}) == 1


@pytest.mark.parametrize("task", ["personafeedback_general", "personafeedback_general_hard"])
def test_a_limit_means_in_each_harness_what_the_plan_says(task, real_data):
    """Inspect takes the first cases of the task, lm-eval the first of each cell."""
    inspect_tasks = pytest.importorskip("personafeedback_tasks.inspect_tasks.personafeedback")
    made = plan_of(real_data, task, difference=0.08)
    samples = getattr(inspect_tasks, task)(data=str(real_data)).dataset
    for shown in made.shown:
        limit = shown.limits["inspect"]
        if limit is not None:
            users = Counter(sample.metadata["user_id"] for sample in samples[: limit.limit])
            assert (users.total(), len(users)) == (limit.cases, limit.users)
            assert shown.comparison.smallest(users.values()) <= 0.08
        limit = shown.limits["lm-eval"]
        if limit is not None:
            leaves = [load_cases(real_data, *cell.split("_"))[: limit.limit] for cell in made.cases.cells]
            users = Counter(case.user_id for leaf in leaves for case in leaf)
            assert (users.total(), len(users)) == (limit.cases, limit.users)
            assert shown.comparison.smallest(users.values()) <= 0.08
    assert {harness for shown in made.shown for harness, limit in shown.limits.items() if limit} == {
        "lm-eval",
        "inspect",
    }


# --- calls and tokens ------------------------------------------------------------------------------------------------


def lengths(texts):
    return list(map(len, texts))


@pytest.mark.parametrize("setting", ["persona", "no_persona", "other_persona"])
def test_the_work_is_that_of_all_prompts(setting):
    work = plan_of("sample", count=lengths, setting=setting).work
    template = prompts.Template(setting=setting)
    texts = [prompts.build(case, template, order) for case in load_cases("sample") for order in ORDERS]
    assert (work.calls, work.prompt_tokens, work.longest) == (96, sum(map(len, texts)), max(map(len, texts)))
    assert (work.room, work.reply_tokens) == (1024, 96 * 1024)
    assert work.repeated == repeated(texts) / sum(map(len, texts))


def test_log_likelihoods_ask_for_each_label_and_write_nothing():
    one, both = plan_of("sample", "personafeedback_hard"), plan_of("sample", "personafeedback_hard_mc")
    assert (both.work.calls, both.work.prompt_tokens) == (2 * one.work.calls, 2 * one.work.prompt_tokens)
    assert (both.work.room, both.work.reply_tokens, both.work.longest) == (None, 0, one.work.longest)
    assert both.work.repeated == pytest.approx((1 + one.work.repeated) / 2)
    assert [set(shown.limits) for shown in both.shown] == [{"lm-eval"}] * 4
    assert both.task == "personafeedback_hard_mc (demonstration)"


def test_a_reward_model_reads_two_conversations():
    work = plan_of("sample", method="reward", count=lengths).work
    turns = [
        turn["content"]
        for case in load_cases("sample")
        for side in conversations.SIDES
        for turn in conversations.conversation(case, prompts.Template(method="reward"), side)
    ]
    assert (work.calls, work.prompt_tokens, work.room) == (96, sum(map(len, turns)), None)


@given(st.lists(st.text("ab", max_size=6)))
def test_what_repeats_an_earlier_beginning_is_counted_once(texts):
    beginnings = {text[:end] for text in texts for end in range(1, len(text) + 1)}
    assert repeated(texts) == sum(map(len, texts)) - len(beginnings)


def test_an_estimate_tells_the_scripts_apart():
    assert estimated(["", "abcd" * 10, "个性化评测" * 10, "字，abcd"]) == [0, 10, 35, 2]


@pytest.mark.torch
@pytest.mark.slow
def test_a_named_tokenizer_counts(tiny_model):
    transformers = pytest.importorskip("transformers")
    texts = [prompts.build(case, prompts.Template(), ORDERS[0]) for case in load_cases("sample")] * 30
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    expected = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts[:48]] * 30
    assert counted_by(str(tiny_model))(texts) == expected
    said = personafeedback("plan", "--data", "sample", "--tokenizer", tiny_model, "--json", "-").stdout
    both_orders = [prompts.build(case, prompts.Template(), order) for case in load_cases("sample") for order in ORDERS]
    assert json.loads(said)["prompt_tokens"] == sum(counted_by(str(tiny_model))(both_orders))


@pytest.mark.torch
@pytest.mark.slow
def test_a_tokenizer_that_is_not_there_is_one_sentence(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(
        OptionError, match=r"could not be loaded \(\w+: .*\)\. Name a folder with a model's tokenizer or"
    ):
        counted_by(str(tmp_path))
    done = personafeedback("plan", "--data", "sample", "--tokenizer", tmp_path)
    assert done.exit_code == 1
    assert done.output.startswith("Error: The tokenizer ")


# --- the command -----------------------------------------------------------------------------------------------------


def printed(*arguments: object, **environment: str) -> str:
    done = personafeedback("plan", *arguments, **environment)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_tables_and_the_json_have_the_numbers_of_the_plan(tmp_path):
    file = tmp_path / "new" / "plan.json"
    shown = printed("--data", "sample", "--difference", "30", "--json", file)
    stored = json.loads(file.read_text(encoding="utf-8"))
    made = plan_of("sample", difference=0.3)
    assert stored == json.loads(json.dumps({"schema": SCHEMA, **made.as_dict(), "tokenizer": None}))
    assert f"Data: {made.cases.revision}" in shown
    assert re.search(rf"^calls +{made.work.calls} +2$", shown, re.M)
    assert re.search(rf"^prompt tokens +{made.work.prompt_tokens:,} +[\d,]+ +{made.work.longest:,}$", shown, re.M)
    assert f"{made.work.longest + 1024:,} tokens, the longest prompt and reply" in shown
    for one in made.shown:
        shares = (one.low, one.smallest, one.high, one.half, one.ranked)
        by_size = " +".join("–" if np.isnan(share) else re.escape(f"{100 * share:.1f}") for share in shares)
        assert re.search(rf"^{one.comparison.name} +{by_size}$", shown, re.M)
        numbers = [one.limits[harness] for harness in ("lm-eval", "inspect")]
        cells = [text for of in numbers for text in ([f"{of.limit}", f"{of.cases}", f"{of.users}"] if of else "–––")]
        row = next(line for line in shown.splitlines() if line.startswith(f"{one.comparison.name}  "))
        assert row.removeprefix(one.comparison.name).split() == cells
    assert "ESTIMATE" in shown
    assert printed("--data", "sample", "--json", "-", "--difference", "30") == file.read_text(encoding="utf-8")


def test_the_money_of_the_docs_is_what_is_printed(real_data):
    page = (Path(__file__).parents[2] / "docs" / "plan.md").read_text(encoding="utf-8")
    block = page[page.index("By setting\n") :].partition("```")[0]
    shown = printed(
        "--data", real_data, "--task", "personafeedback_general_hard", "--setting", "persona,other_persona,no_persona", "--price-in", 2.5,
        "--price-out", 10, "--reply-tokens", 5,
    )  # fmt: skip
    assert block in shown


def test_a_task_may_have_the_name_that_inspect_wants():
    names = ["personafeedback_hard", "personafeedback_tasks/personafeedback_hard"]
    one, other = (printed("--data", "sample", "--task", name, "--json", "-") for name in names)
    assert one == other


@pytest.mark.parametrize("method", PERSONAFEEDBACK.methods)
def test_every_table_fits_80_columns(method):
    tables = [block for block in printed("--data", "sample", "--method", method).split("\n\n") if "──" in block]
    assert len(tables) == 4
    assert max(cell_len(line) for table in tables for line in table.splitlines()) <= 80


def test_data_with_some_cells_are_planned_as_the_largest_task_that_they_have(real_data):
    shown = printed(PERSONAFEEDBACK_DATA=str(real_data))
    assert "Task: personafeedback_general, method generate\n" in shown
    assert "no file for some cells of personafeedback)" in shown
    done = personafeedback("plan", "--data", real_data, "--task", "personafeedback")
    assert done.exit_code == 1
    assert "so there are no specific_easy cases" in done.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--task", "personafeedback_x"], "task must be one of personafeedback, personafeedback_specific, "),
        (["--method", "x"], "method must be one of generate, cot, mc, logprobs, reward, got 'x'."),
        (["--task", "personafeedback_mc", "--method", "cot"], "task personafeedback_mc has the method mc, got method=cot."),
        (["--setting", "x"], "setting must be one of persona, no_persona, other_persona, rag, got 'x'."),
        (["--setting", "rag", "--method", "reward"], "Reward models support setting="),
        (["--difference", "0"], "0.0 is not in the range 0<x<=100."),
        (["--data", "./nowhere"], "There is no folder './nowhere'"),
    ],
)  # fmt: skip
def test_what_a_run_would_refuse_is_refused(arguments, sentence):
    done = personafeedback("plan", "--data", "sample", *arguments)
    assert done.exit_code
    assert sentence in " ".join(done.output.split())


@pytest.mark.torch
@pytest.mark.slow
def test_every_command_of_the_help_runs(tiny_model, tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    text = CliRunner().invoke(main, ["plan", "--help"]).stdout
    commands = re.findall(r"^ +personafeedback (plan.*)$", text, re.M)
    assert len(commands) == 9
    monkeypatch.chdir(tmp_path)
    for command in commands:
        words = shlex.split(command.replace("FOLDER", "sample").replace("MODEL", str(tiny_model)))
        assert personafeedback(*words, PERSONAFEEDBACK_DATA="sample").exit_code == 0
    assert json.loads(Path("plan.json").read_text(encoding="utf-8"))["tokenizer"] == str(tiny_model)
