"""Does it use this user's persona? The verdict by differences to controls, and what counting terms explains of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean

import pytest
from support.planted_judges import KNOWER, asked, first
from support.sample_runs import SAMPLE, run_of

from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.persona_use import (
    COUNTING,
    NONE,
    SIMILAR,
    WRONG,
    WRONG_OVER_NONE,
    PersonaUse,
    Use,
    excess_over_counting,
)
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.analysis.sentences import uses_known
from personafeedback_tasks.core.report import Examined
from personafeedback_tasks.pairwise.terms import overlap_terms
from personafeedback_tasks.personafeedback.report import examine
from personafeedback_tasks.stats.estimates import Estimate, paired

USES = "it uses this user's persona"
NAN = float("nan")


# --- the verdict ------------------------------------------------------------------------------------------------------


def points(value: float, low: float, high: float, users: int = 30) -> Estimate:
    return Estimate(value / 100, abs(high - low) / 400 + 1e-9, low / 100, high / 100, 100, users)


ABOVE, NOT_SEEN, BELOW = points(4, 1, 7), points(-0.1, -2.6, 2.4), points(-9.8, -12.6, -6.9)
CONSTANT = Estimate(0.5, 0.0, NAN, NAN, 100, 30)


def use_of(*differences: Estimate | None) -> Use:
    """From the differences in the order of their names; None for one that was not asked."""
    names = (WRONG, NONE, WRONG_OVER_NONE, SIMILAR, COUNTING)
    return Use("persona", {name: one for name, one in zip(names, differences, strict=False) if one})


@pytest.mark.parametrize(("similar", "counting"), list(product((ABOVE, NOT_SEEN, BELOW, None), repeat=2)))
@pytest.mark.parametrize(("wrong", "none"), list(product((ABOVE, NOT_SEEN, BELOW, None), repeat=2)))
def test_it_uses_the_persona_only_if_every_difference_that_was_asked_is_above_0(wrong, none, similar, counting):
    use = use_of(wrong, none, None, similar, counting)
    best = wrong is none is ABOVE
    assert (
        (use.verdict is PersonaUse.USES) == (best and {similar, counting} <= {ABOVE, None}) == (uses_known(use) == USES)
    )
    assert (use.verdict is PersonaUse.COUNTING) == (best and counting in (NOT_SEEN, BELOW))
    assert (use.verdict is None) == (wrong is none is None)
    if None in (wrong, none) and ABOVE in (wrong, none):
        assert "not asked" in uses_known(use)


@pytest.mark.parametrize(
    ("fields", "verdict", "said"),
    [
        ((ABOVE, NOT_SEEN, BELOW), PersonaUse.MISLED, "a wrong persona misleads it (-9.8, -12.6 to -6.9)"),
        ((ABOVE, BELOW, BELOW), PersonaUse.MISLED, "any persona harms it"),
        (
            (BELOW, ABOVE, ABOVE),
            PersonaUse.ANY,
            "any persona helps it; it does worse with this user's than with another user's",
        ),
        ((NOT_SEEN, ABOVE, NOT_SEEN), PersonaUse.NO_SIGN, "no sign that it must be this user's"),
        ((ABOVE, BELOW, NOT_SEEN), PersonaUse.NO_SIGN, "it does worse with it than without (-9.8, -12.6 to -6.9)"),
        ((CONSTANT, CONSTANT, NOT_SEEN), PersonaUse.USES, USES),
        ((points(4, NAN, NAN, users=1),), None, "cannot be determined with one user"),
        ((Estimate(0.5, 0.0, NAN, NAN, 20, 3),), None, "the difference is the same for all users"),
        ((), None, "was not asked"),
    ],
)
def test_a_verdict_has_its_name_and_its_words(fields, verdict, said):
    use = use_of(*fields)
    assert use.verdict is verdict
    assert said in uses_known(use)
    assert "{" not in uses_known(use)


def test_a_difference_that_was_not_asked_is_named_beside_the_verdict():
    use = replace(use_of(ABOVE, ABOVE), missing=("right minus similar",))
    assert uses_known(use) == f"{USES} (not asked: right minus similar)"


def test_what_is_said_of_several_models_is_corrected_for_their_number():
    barely = points(4, 1, 7)
    assert use_of(barely, barely).verdict is PersonaUse.USES
    twelve = replace(use_of(barely, barely), models=12)
    assert twelve.verdict is not PersonaUse.USES
    assert uses_known(twelve) == "no sign that it uses this user's persona (corrected for 12 models)"
    sure = points(9, 6, 12)
    assert uses_known(replace(use_of(sure, sure), models=12)) == USES


@pytest.mark.parametrize("name", [WRONG, NONE, SIMILAR, COUNTING])
def test_a_difference_that_unread_replies_of_a_control_can_make_is_no_sign(name):
    use = use_of(ABOVE, ABOVE, None, ABOVE, ABOVE)
    for more, uses in ((-0.3, True), (0.009, True), (0.011, False)):
        found = replace(use, unread={name: more})
        assert (found.sign(name), found.verdict is PersonaUse.USES) == (int(uses), uses)
        assert (uses_known(found) == USES) == uses == ("settings differ by up to 1.1 points" not in uses_known(found))
    assert replace(use_of(CONSTANT), unread={WRONG: 0.6}).sign(WRONG) == 0


# --- what counting terms explains --------------------------------------------------------------------------------------


def test_a_control_on_a_part_of_the_cases_is_no_part_of_the_verdict():
    """Each difference is over the cases of its two runs, whatever a third run was asked; and a verdict is about one set of cases."""
    run, controls = asked(KNOWER)
    whole = make_report(run, SAMPLE, controls)
    similar = run_of(KNOWER[1], signature={"setting": "similar_persona"})
    similar = replace(similar, results=similar.results[:8])
    beside = make_report(run, SAMPLE, {**controls, "similar_persona": similar})
    assert beside.overall.measures["right_minus_wrong"] == whole.overall.measures["right_minus_wrong"]
    assert beside.overall.measures["right_minus_similar"].n == 8
    assert "right minus similar" in beside.verdict  # as not asked
    assert beside.controls.keys() - whole.controls.keys() == {"right minus similar"}
    assert beside.use == whole.use


def test_what_a_model_did_not_see_is_not_counted_for_it():
    run, controls = asked(KNOWER)
    whole = Contender(run, controls, examine(SAMPLE, run.cases))
    assert excess_over_counting(whole) is not None
    hidden = replace(run, signature=run.signature.changed(hide=["Name"]))
    assert excess_over_counting(replace(whole, run=hidden)) is None


def test_what_counting_explains_is_subtracted_also_where_that_makes_the_interval_shorter():
    run, controls = asked(KNOWER)
    gain = {
        name: case.value("acc") - controls["other_persona"].cases[name].value("acc") for name, case in run.cases.items()
    }
    counted = {"overlap": {name: of - 0.25 for name, of in gain.items()}, "overlap_share": dict.fromkeys(gain, -0.5)}
    assert fmean(counted["overlap"].values()) > 0
    found = excess_over_counting(Contender(run, controls, Examined(counted=lambda: counted)))
    assert found.value == pytest.approx(0.25)


def test_the_excess_over_counting_and_the_cases_without_picks_by_place():
    """Against plain arithmetic on the texts and the answers."""
    placed = {index for index in range(48) if index % 5 == 0}
    right, wrong, none = (
        lambda index, judge=judge: first(index) if index in placed else judge(index) for judge in KNOWER
    )
    run, controls = asked((right, wrong, none))
    report = make_report(run, SAMPLE, controls)

    def overlap(case, persona, share):
        shared = []
        for text in case.responses:
            terms = overlap_terms(text)
            shared.append(len(terms & overlap_terms(persona.values)) / (len(terms) if share else 1))
        return 0.5 if shared[0] == shared[1] else float(shared[0] > shared[1])

    gaps = [run.cases[case.id].value("acc") - controls["other_persona"].cases[case.id].value("acc") for case in SAMPLE]
    users = [case.user_id for case in SAMPLE]
    beyond = []
    for by_share in (False, True):  # of the number of shared terms, and of their share of all
        counted = [
            overlap(case, case.persona, by_share) - overlap(case, case.another("other_persona"), by_share)
            for case in SAMPLE
        ]
        assert any(counted)
        if sum(counted) > 0:  # else counting explains nothing of the gap
            beyond.append(paired(list(map(float.__sub__, gaps, counted)), users))
    assert report.overall.measures["excess_over_counting"].value == pytest.approx(
        min(beyond or [paired(gaps, users)], key=lambda one: one.low).value
    )
    for group in report.groups.values():
        excess, gap = (group.measures[name].value for name in ("excess_over_counting", "right_minus_wrong"))
        assert excess <= gap, "a baseline that loses adds nothing"
