"""The engine's small parts by hand: evidence, tables of values, rewards, recorded replies, options, and the names of a benchmark."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import replace

import pytest

pytest.importorskip("scipy")
np = pytest.importorskip("numpy")

from support.outcomes import scored_case

from personafeedback_tasks.common.corrected import Corrected
from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.common.human_votes import Powered
from personafeedback_tasks.common.statistics import Estimate, linearized
from personafeedback_tasks.engine import plan, recorded, rewards
from personafeedback_tasks.engine.benchmark import find
from personafeedback_tasks.engine.cases import NamedSet, digest_of, each_and_all, remark_of, shown_source
from personafeedback_tasks.engine.documents import Document, cases_of, document_digest
from personafeedback_tasks.engine.evidence import FirstToken, Reply, Reward, answer_in, likeliest, per_call, why_not
from personafeedback_tasks.engine.outcome import Outcome
from personafeedback_tasks.engine.recorded import Key
from personafeedback_tasks.engine.share import JudgedShare, judged_share, part_of
from personafeedback_tasks.engine.signature import set_of
from personafeedback_tasks.engine.table import table
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK

same = pytest.approx


# --- evidence -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truncated", "filtered", "reason"),
    [(False, False, "no_answer"), (True, False, "truncated"), (False, True, "refusal"), (True, True, "truncated")],
)
def test_why_nothing_can_be_read_is_how_the_reply_ended(truncated, filtered, reason):
    assert why_not(Reply("x", truncated, filtered), "no_answer") == reason
    assert why_not(FirstToken((), truncated, filtered), "no_answer") == reason


def test_only_what_cannot_be_read_has_a_reason():
    seen = []

    def read(text, truncated):
        seen.append((text, truncated))
        return "A" if text == "A" else "invalid_response_format"

    assert answer_in(Reply("A", True, True), read) == "A"
    assert answer_in(Reply("?", None, True), read) == "refusal"
    assert answer_in(Reply("The answer is A", True, True, prompt_cut=True), read) == "prompt_cut"
    assert answer_in(Reply("?"), read) == "invalid_response_format"
    assert seen == [("A", True), ("?", False), ("?", False)]


def test_an_excerpt_is_the_beginning_or_says_that_there_was_only_thinking():
    assert Reply("Hello").excerpt == Reply("Hello", thinking=True).excerpt == "Hello"
    assert Reply("").excerpt == ""
    assert Reply("", thinking=True).excerpt == "(thinking only)"


def test_log_likelihoods_belong_to_calls_of_as_many_labels():
    assert per_call([1, 2, 3, 4, 5, 6], "abc") == [(1, 2, 3), (4, 5, 6)]
    assert per_call([], "abc") == []
    with pytest.raises(ValueError, match="found 4 log-likelihoods, expected 3 per call"):
        per_call([1, 2, 3, 4], "abc")
    assert [likeliest("ab", values) for values in ((-1, -2), (-2, -1), (-1, -1), (math.nan, -1))] == [
        "a", "b", "invalid_response_format", "undefined_likelihoods",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "given", "read"),
    [
        ("generate", Reply("A"), ("A", ())),
        ("generate", Reply("", filtered=True), ("refusal", ())),
        ("mc", (-2.0, -1.0), ("B", (-2.0, -1.0))),
        ("logprobs", FirstToken([("A", -2.0), (" B", -1.0), ("I", -3.0)]), ("B", (-2.0, -1.0))),
        ("logprobs", FirstToken((), truncated=True), ("truncated", (math.nan, math.nan))),
        ("logprobs", FirstToken(()), ("no_response", (math.nan, math.nan))),
    ],
)
def test_a_method_reads_its_kind_of_evidence(method, given, read):
    label, values = PERSONAFEEDBACK.methods[method].reading(given, ("A", "B"))
    assert (label, values) == (read[0], same(read[1], nan_ok=True))


# --- shares -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("voters", [0, 9, 10])
def test_votes_of_ten_users_are_enough_to_count_beside_the_judge(voters):
    """The judge says so of half of the cases, and is right in 90 % of its exam; people say so of all that they judged."""
    pytest.importorskip("ppi_py")
    said = ("YES", "NO")
    cases = [scored_case(f"{n}", "x", f"u{n // 2}", answers=[(said[n % 2],)]) for n in range(24)]
    exam = [scored_case(f"e{n}", "x", f"e{n // 2}", (said[n % 2],), [(said[(n + (n < 4)) % 2],)]) for n in range(40)]
    people = [1.0 if n < 2 * voters else None for n in range(24)]
    found = judged_share(find("recenter_relevance").report.share, cases, exam, people)
    assert (found.people, found.users, found.said.value) == (2 * voters, voters, 0.5)
    if voters < 10:
        assert found.powered is None
        assert found.best == found.corrected.rate
        assert found.best.value == same(0.5)  # as many errors one way as the other
    else:
        assert found.best == found.powered.rate
        assert found.best.value > 0.9


# --- tables -------------------------------------------------------------------------------------------------------------

CASES = [
    scored_case("1", "x", "u", ("A",), [("A",), ("B",)], [{"acc": 1.0}, {"acc": 0.0}]),
    scored_case("2", "x", "v", ("A",), [("A",), ("A",)], [{"acc": 1.0}, {"acc": 1.0}]),
    scored_case("3", "y", "v", ("A",), [("B",), ("B",)], [{"acc": 0.0}, {"acc": 0.0}]),
    scored_case("4", "y", "w", ("A",), [("A",), ("B",)], [{"acc": 1.0}, {"acc": 0.5}]),
]


def test_a_table_averages_the_epochs_then_the_cases_of_each_cell():
    found = table(CASES, each_and_all, {"picked": lambda judged: sum(one.answers == ("A",) for one in judged)})
    assert {name: found[name] for name in ("acc", "acc_x", "acc_y")} == {"acc": 0.5625, "acc_x": 0.75, "acc_y": 0.375}
    assert {name: found[name] for name in ("picked", "picked_x", "picked_y")} == {
        "picked": 4,
        "picked_x": 3,
        "picked_y": 1,
    }
    # Two users in a cell: deviations of .25 each, summed to .125, times 2 / (2 - 1).
    assert found["acc_x_stderr"] == same(math.sqrt(2 * 0.25**2 * 2) / 2)
    # Three users in all, whose deviations are -.0625, .4375 - .5625 and .1875.
    assert found["acc_stderr"] == same(math.sqrt((0.0625**2 + 0.125**2 + 0.1875**2) * 3 / 2) / 4)
    # The jackknife leaves out each user: 3, 2 and 3 picks are left of 4; two thirds of the squares around 8 / 3.
    assert found["picked_stderr"] == same(math.sqrt(2 / 3 * (1 / 9 + 4 / 9 + 1 / 9)))
    assert set(table(CASES, each_and_all, {"picked": len}, only=["picked"])) >= {"picked", "picked_x_stderr"}
    assert "acc" not in table(CASES, each_and_all, only=["invalid"])
    assert set(table(CASES[:2], each_and_all)) == {"acc", "acc_stderr"}  # one cell needs no column
    assert table([], each_and_all, {"picked": len}) == {}


def test_one_epoch_keeps_its_values_as_they_are():
    found = table([scored_case("1", "x", "u", values=[{"acc": 0.25, "p": math.nan}])], each_and_all)
    assert found["acc"] == 0.25
    assert math.isnan(found["p"])
    assert math.isnan(found["acc_stderr"])


def test_columns_are_the_cells_and_all_of_them():
    assert each_and_all(["x", "y"]) == {"x": ["x"], "y": ["y"], "total": ["x", "y"]}
    assert each_and_all(["x"]) == {"total": ["x"]}
    assert each_and_all([]) == {}


# --- cases --------------------------------------------------------------------------------------------------------------


def test_a_digest_has_twelve_digits_of_the_sha256():
    expected = hashlib.sha256(b'["a", 1, ["b"]]').hexdigest()
    assert digest_of(["a", 1, ["b"]]) == expected[:12]
    assert document_digest("d", ["x", "y"]) == digest_of(["d", "x", "y"]) != document_digest("d", ["y", "x"])


def test_what_an_output_says_of_the_data():
    assert [remark_of(True, None), remark_of(False, None)] == ["demonstration", ""]
    assert shown_source("sample") == "sample"
    assert shown_source("/home/ann/kitchen") == "kitchen"
    cases = load_cases("sample")
    assert list(cases.cells) == list(cases.digests)
    assert sum(map(len, cases.cells.values())) == len(cases) == cases.languages.total()
    for cell, some in cases.cells.items():
        assert cases.digests[cell] == digest_of(sorted(case.digest for case in some))
        assert {case.cell for case in some} == {cell}
    document = Document("d", tuple(cases)[:2])
    assert cases_of(document) == tuple(cases)[:2]
    assert cases_of(cases[0]) == (cases[0],)


def test_a_signature_names_its_set_and_no_set_passes_for_the_benchmark():
    counts = {"general_easy": 4}
    assert set_of({}) is set_of({"set": None}) is None
    assert set_of({"set": {"name": "PersonaFeedback of us", "counts": counts}}) == NamedSet(
        "PersonaFeedback of us", counts
    )
    for name in ("PersonaFeedback", "persona feedback", "personafeedback_hard"):
        with pytest.raises(ValueError, match=r"does not pass for the benchmark's own data.*Rename the set"):
            set_of({"set": {"name": name, "counts": counts}})
    for broken in (
        "x",
        {"name": "x"},
        {"name": "", "counts": counts},
        {"name": "x", "counts": {}},
        {"name": "x", "counts": {"a": "4"}},
    ):
        with pytest.raises(ValueError, match="the name and the counts of a set, or null"):
            set_of({"set": broken})


# --- rewards ------------------------------------------------------------------------------------------------------------


def test_rewards_of_a_case_by_hand():
    assert rewards.right_and_tie(2.0, 1.0, 0.0) == (1, 0)
    assert rewards.right_and_tie(1.0, 2.0) == (0, 0)
    assert rewards.right_and_tie(2.0, 2.0, 1.0) == (0, 1)
    for wrong in (math.nan, math.inf, -math.inf):
        with pytest.raises(rewards.RewardError, match="expected finite numbers"):
            rewards.right_and_tie(1.0, wrong)
    pairs = rewards.named_rewards(
        [Reward(2.0, {"a": 1.0}, True), Reward(2.0, {"a": 0.0}, False), Reward(2.0, {"a": 3.0}, False)]
    )
    assert pairs == {"reward": (2, 2, 2), "a": (1, 0, 3)}
    found = rewards.score_rewards("c", pairs, (True, False, False))
    assert found == {"acc": 0, "acc_half": same(1 / 3), "tie": 1, "truncated": same(1 / 3), "acc_a": 0}
    assert rewards.score_rewards("c", {"reward": (2.0, 1.0)}, (False, False))["acc_half"] == 1
    with pytest.raises(rewards.RewardError, match="^c: found"):
        rewards.score_rewards("c", {"reward": (math.nan, 1.0)}, (False, False))


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_a_correlation_is_that_of_numpy_at_any_scale(scale):
    drawn = np.random.default_rng(1)
    one, other = drawn.normal(size=(2, 30))
    other += 0.5 * one
    expected = np.corrcoef(one, other)[0, 1]
    assert rewards.pearson(list(scale * one), list(other)) == same(expected)
    assert rewards.pearson(list(one), list(-scale * other)) == same(-expected)
    assert rewards.pearson([1, 2], [3, 4]) == same(1)
    for equal in ([1.0, 1.0], []):
        assert math.isnan(rewards.pearson(equal, equal))
    found = rewards.between({"a": list(one), "b": list(other), "c": [1.0] * 30})
    assert found["a"]["b"] == found["b"]["a"] == same(expected)
    assert math.isnan(found["a"]["c"])


def test_rewards_correlate_with_being_right_over_all_responses():
    cases = [[{"reward": (3.0, 1.0, 0.0)}, {"reward": (1.0, 1.0, 2.0)}], [{"reward": (0.0, 5.0, 1.0)}] * 2]
    columns = rewards.over_responses(cases)
    assert columns == {"reward": [2, 1, 1, 0, 5, 1]}
    expected = np.corrcoef(columns["reward"], [1, 0, 0, 1, 0, 0])[0, 1]
    assert rewards.correlations(cases) == {"pearson_reward": same(expected)}
    assert rewards.correlations([]) == {}


# --- recorded replies ---------------------------------------------------------------------------------------------------


def file_of(folder, *rows):
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x": 1}, "the key 'x', expected no others than"),
        ({"id": " "}, "id = ' ', expected a non-empty string"),
        ({"id": 7}, "id = 7, expected a non-empty string"),
        ({"call": ""}, "call = '', expected a non-empty string"),
        ({"epoch": 0}, "epoch = 0, expected a whole number from 1"),
        ({"epoch": True}, "epoch = True, expected a whole number from 1"),
        ({"truncated": 1}, "truncated = 1, expected true or false"),
        ({"filtered": "no"}, "filtered = 'no', expected true or false"),
    ],
)
def test_a_record_that_is_none_names_its_line(changes, sentence, tmp_path):
    path = file_of(tmp_path, {"id": "a", "reply": ""}, {"id": "b", "reply": "B", **changes})
    with pytest.raises(DataError, match=re.escape(f"{path}, line 2: found {sentence}")):
        recorded.read(path)


@pytest.mark.parametrize("missing", ["id", "reply"])
def test_a_record_needs_an_id_and_a_reply(missing, tmp_path):
    row = {"id": "b", "reply": "B"}
    del row[missing]
    with pytest.raises(DataError, match=f"line 1: found no '{missing}'"):
        recorded.read(file_of(tmp_path, row))


def test_a_file_knows_what_a_run_needs_and_what_it_does_not(tmp_path):
    rows = [
        {"id": "a", "call": "x", "reply": "1", "truncated": True},
        {"id": "a", "call": "y", "reply": "2"},
        {"id": "b", "call": "x", "reply": "3", "epoch": 2, "filtered": True},
    ]
    path = file_of(tmp_path, *rows)
    found = recorded.read(path)
    assert found.epochs == [1, 2]
    assert list(found.replies.values()) == [Reply("1", True), Reply("2", None), Reply("3", None, True)]
    assert [recorded.line_of(key, reply, True) for key, reply in found.replies.items()] == [
        *path.read_text(encoding="utf-8").splitlines(keepends=True)[:2],
        '{"id": "b", "call": "x", "epoch": 2, "reply": "3", "filtered": true}\n',
    ]
    asked = recorded.keys(["a", "b"], ["x"], [1])
    assert asked == [Key("a", "x"), Key("b", "x")]
    assert found.missing(asked) == [Key("b", "x")]
    assert found.extra(asked) == [Key("a", "y"), Key("b", "x", 2)]
    assert found.compared(asked) == (
        f"{path}: 2 of 3 records belong to no call of this run (first: line 2: a (y)); 1 of 2 calls have no record (first: b (x))"
    )
    assert found.compared(list(found.replies)) == ""
    assert found.get(Key("a", "y")) == Reply("2", None)
    with pytest.raises(DataError, match=re.escape("found no reply to b (x), expected one to every call")):
        found.get(Key("b", "x"))
    assert [str(key) for key in (Key("b", "x", 2), Key("b", "", 2), Key("b", ""))] == [
        "b (x, epoch 2)",
        "b, epoch 2",
        "b",
    ]


def test_a_call_is_named_in_all_records_of_a_case_or_in_none(tmp_path):
    rows = [{"id": "a", "call": "x", "reply": "1"}, {"id": "a", "reply": "2"}]
    for some, sentence in (
        (rows, "found a with `call` (line 1) and without (line 2)"),
        (rows[::-1], "found a with `call` (line 2) and without (line 1)"),
        (rows[:1] * 2, "found a second reply to a (x) (first: line 1)"),
    ):
        with pytest.raises(DataError, match=re.escape(sentence)):
            recorded.read(file_of(tmp_path, *some))
    unnamed = recorded.read(file_of(tmp_path, rows[1]))
    assert unnamed.get(Key("a", "yes_or_no")) == Reply("2", None)  # the only call of its method
    assert unnamed.missing([Key("a", "chosen_first")]) == [Key("a", "chosen_first")]
    assert unnamed.unnamed(Key("a", "chosen_first")) == " (line 1 has no `call`, and a case has several)"
    assert unnamed.unnamed(Key("b", "chosen_first")) == ""


# --- options and names --------------------------------------------------------------------------------------------------


def test_a_misspelt_option_is_told_from_one_of_somebody_else():
    for key, meant in (
        ("seting", "setting"),
        ("Setting", "setting"),
        ("lang", "language"),
        ("rag-filter", "rag_filter"),
    ):
        with pytest.raises(OptionError, match=f"is not an option. Use {meant}"):
            Template.read({key: "x"})
    assert Template.read({"lan": "x", "date": 1, 7: 2, "setting": None}) == Template()
    with pytest.raises(OptionError, match="date=1 is not an option. Use: "):
        Template.strict({"date": 1})
    with pytest.raises(OptionError, match="data must be a folder"):
        Template(data=7)


def test_options_that_were_changed_are_named():
    assert Template.changed(vars(Template())) == {}
    changed = Template(setting="no_persona", language="zh", hide=())
    assert Template.changed(vars(changed)) == {"setting": "no_persona", "language": "zh"}
    assert Template.changed({"language": "zh"}) == {"language": "zh"}
    assert set(Template.signed_names()) == set(vars(changed)) - {"data", "counts", "kept"}
    assert changed.signed()["hide"] == []


def test_a_method_belongs_to_its_harnesses():
    found = PERSONAFEEDBACK
    for name, method in found.methods.items():
        for harness in ("lm-eval", "inspect"):
            if harness in method.harnesses:
                assert found.method(name, harness) is method
            else:
                with pytest.raises(OptionError, match=f"for {name}, or leave method out"):
                    found.method(name, harness)
    with pytest.raises(OptionError, match=r"method must be one of generate.*got 'x'\.$"):
        found.method("x", "inspect")


def test_a_task_names_its_cells_and_its_method():
    assert plan.benchmark_of("personafeedback_tasks/personafeedback_hard") is PERSONAFEEDBACK
    assert plan.benchmark_of("recenter_relevance_select").name == "recenter_relevance"
    with pytest.raises(OptionError, match="task must begin with one of"):
        plan.benchmark_of("personafeedbackx")
    selection, method = plan.asked(PERSONAFEEDBACK, "personafeedback_hard", None)
    assert (selection, method.name) == ("hard", "generate")
    assert plan.asked(PERSONAFEEDBACK, "personafeedback_hard", "cot")[1].name == "cot"
    suffixed = next(one for one in PERSONAFEEDBACK.methods.values() if one.suffix)
    name = f"personafeedback_hard_{suffixed.suffix}"
    assert (
        plan.asked(PERSONAFEEDBACK, name, None)
        == plan.asked(PERSONAFEEDBACK, name, suffixed.name)
        == ("hard", suffixed)
    )
    for arguments, sentence in (
        ((name, "generate"), "got method=generate. Leave one of them out"),
        (("personafeedback_x", None), "task must be one of personafeedback, "),
        (("personafeedback", "x"), "method must be one of generate"),
    ):
        with pytest.raises(OptionError, match=sentence):
            plan.asked(PERSONAFEEDBACK, *arguments)


def test_an_outcome_has_a_value_over_the_epochs_that_define_it():
    case = scored_case("1", "x", "u", values=[{"a": 1.0, "b": math.nan}, {"a": 0.0, "b": 0.5}, {"b": math.nan}])
    assert (case.value("a"), case.value("b")) == (0.5, 0.5)
    assert math.isnan(case.value("c"))
    assert scored_case("1", "x", "u", values=[{"a": 1.0}]).value("a") == 1
    assert Outcome().epoch == 1


def judged(value, moves, is_powered, users=12):
    """A share of 10 cases through a judge; corrected by its exam alone, or with people's votes, too."""
    nothing = Estimate(0.0, 0.0, 0.0, 0.0, 10, 3)
    rate = None if value is None else replace(nothing, value=value)
    powered = Powered(rate, 1.0, moves) if is_powered else None
    return JudgedShare(nothing, Corrected(rate, value or 0.0, 1.0, 1.0, moves=moves), nothing, 5, users, powered)


def test_the_error_of_a_ratio_has_the_exam_that_only_one_of_both_shares_goes_through():
    """People judged enough of the whole, and too little of the part: v = 0.2 / 0.4, moved by (top - v * bottom) / 0.4."""
    part = judged(0.2, {"u1": 0.02, "u2": -0.02, "exam1": 0.1, "exam2": -0.1}, False)
    found = part_of(part, judged(0.4, {"u1": 0.04, "u2": -0.04}, True))
    assert found.value == 0.5
    moves = {"u1": 0.0, "u2": 0.0, "exam1": 0.25, "exam2": -0.25}
    by_hand = linearized(0.5, moves, 10, 11)  # 12 users voted
    assert found.stderr == pytest.approx(by_hand.stderr)
    assert found.stderr > 0.3
    assert (found.low, found.high) == pytest.approx((max(by_hand.low, 0), min(by_hand.high, 1)))


def test_a_ratio_is_there_where_both_shares_are():
    """Of no case, and of fewer than it should be: a ratio of 0 without an interval, and one of 1."""
    moves = {"u1": 0.01, "u2": -0.01}
    whole = judged(0.4, moves, False)
    assert part_of(judged(None, {}, False), whole) is None
    assert part_of(judged(0.2, moves, False), judged(None, {}, False)) is None
    assert part_of(judged(0.2, moves, False), judged(0.0, moves, False)) is None
    assert part_of(judged(0.5, moves, False), whole).value == 1
    none = part_of(None, whole)
    assert none.value == 0
    assert math.isnan(none.low)
    assert math.isnan(none.high)
