"""The setting `other_persona`: who gets whose persona, what a model then reads, and what a report makes of it."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
from itertools import product
from statistics import fmean

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.documents import DOCS
from support.lm_eval_runs import evaluate as evaluate_lm_eval

from personafeedback_tasks.common.errors import DataError, OptionError
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.pairwise.terms import overlap_terms
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.others import assign
from personafeedback_tasks.personafeedback.persona import Persona
from personafeedback_tasks.personafeedback.prompts import Template, conversation
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import SAMPLE, locate
from personafeedback_tasks.personafeedback.system import neutral

WRONG = Template(setting="other_persona")


def exchange(*personas: Persona, similar: bool = False) -> dict[str, str] | None:
    """Who gets whose; None where nobody fits a user."""
    try:
        return assign(personas, similar)
    except DataError as error:
        if similar != ("found no way to give each of the" in str(error)):
            raise
        return None


STATEMENTS = st.lists(st.sampled_from(["tea", "chess", "rain", "go"]), min_size=1, max_size=3)
LONG = [["chess", "ski", "jam", "kites", "opera", "moss"], ["rain", "salsa", "maps", "yeast", "radio", "felt"]]


def jaccard(one: Persona, another: Persona) -> float:
    mine, its = (frozenset().union(*map(overlap_terms, persona.statements)) for persona in (one, another))
    return len(mine & its) / len(mine | its)


@given(st.lists(STATEMENTS, min_size=2, max_size=5), st.randoms(use_true_random=False))
@example(
    [*LONG, ["chess", "tea"], ["rain", "tea"]], random.Random(1)
)  # the most terms in common are those of long ones
def test_each_persona_is_used_once_wherever_that_is_possible_and_no_exchange_is_more_similar(said, shuffled):
    users = [Persona(f"u{number}", {"Says": statements}) for number, statements in enumerate(said)]
    of_id = {one.user_id: one for one in users}
    fits = {(one, other) for one, other in itertools.permutations(of_id, 2) if exchange(of_id[one], of_id[other])}
    orders = [zip(of_id, order, strict=True) for order in itertools.permutations(of_id)]
    possible = [pairs for pairs in map(list, orders) if {*pairs} <= fits]
    found, similar = exchange(*users), exchange(*users, similar=True)
    assert (found is None) == any(not any((name, other) in fits for other in of_id) for name in of_id)
    assert (similar is None) == (not possible)
    if found is not None:
        assert found.items() <= fits
        assert found.keys() == of_id.keys()
        assert (len(set(found.values())) == len(users)) == bool(possible)
    if similar is not None:
        sums = [
            sum(jaccard(of_id[one], of_id[other]) for one, other in pairs) for pairs in (similar.items(), *possible)
        ]
        assert [*similar.items()] in [sorted(pairs) for pairs in possible]
        assert sums[0] == pytest.approx(max(sums))
    shuffled.shuffle(users)
    assert (exchange(*users), exchange(*users, similar=True)) == (found, similar)


def test_each_real_persona_goes_to_one_user_whoever_is_asked(real_data):
    easy, hard = (load_cases(real_data, "general", name) for name in ("easy", "hard"))
    assert PERSONAFEEDBACK.signs(easy, WRONG) == PERSONAFEEDBACK.signs(hard, WRONG)
    for setting, in_common in (("other_persona", 4.7), ("similar_persona", 8.6)):  # % of the terms, see docs/options.md
        one = easy.release.given(setting)
        assert len(one.given) == 147
        assert sorted(one.given.values()) == sorted(one.given)
        pairs = [(one.personas[user].terms, one.of(user).terms) for user in one.given]
        assert round(100 * fmean([len(own & other) / len(own | other) for own, other in pairs]), 1) == in_common
        for user, other in one.given.items():
            assert user != other
            assert one.personas[user].language == one.personas[other].language
            assert {user, other} != {"Alex_k5Ep", "Leo_0mLX"}  # near twins
        page = " ".join((DOCS / "options.md").read_text("utf-8").split())
        assert f"{in_common} % {'of their terms in common ' if in_common < 5 else ''}under `{setting}`" in page


@pytest.fixture
def release(tmp_path):
    return shutil.copytree(locate(SAMPLE).root, tmp_path / "release")


def change(path, **values) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **values}), encoding="utf-8")


def test_the_signature_changes_with_any_users_persona_and_the_cases_digests_do_not(release):
    """The other persona may belong to a user whom no case of the run is about."""
    case = next(iter(load_cases(release, "general", "hard", counts="any")))
    signed = {setting: PERSONAFEEDBACK.signs(load_cases(release, counts="any"), Template(setting=setting))
              for setting in ("persona", "other_persona")}  # fmt: skip
    change(release / "persona" / f"{case.another('other_persona').user_id}.json", Motto="Onwards")
    cases = load_cases(release, counts="any")
    (again,) = [one for one in cases if one.id == case.id]
    assert again.digest == case.digest
    assert "Onwards" in prompts.build(again, WRONG, TWO.names[0])
    assert PERSONAFEEDBACK.signs(cases, WRONG)["others"] != signed["other_persona"]["others"] is not None
    assert signed["persona"]["others"] is PERSONAFEEDBACK.signs(cases, Template())["others"] is None


def test_where_nobody_fits_it_is_one_error_before_the_first_call_of_either_harness(release):
    task, english = "personafeedback_general_hard", sorted((release / "persona").glob("[A-Z]*.json"))
    assert len(english) == 4
    for path in english[1:]:
        shutil.copy(english[0], path)
    options = {"counts": "any", "setting": "other_persona"}
    sentence = re.escape(
        f"{release / 'persona'}: found no persona to show in place of that of user_id {english[0].stem!r} under "
        "setting=other_persona, expected one of another user of the same language (en) who is no near twin. Use setting=no_persona as the control, or add personas."
    )
    with pytest.raises(DataError, match=sentence):
        getattr(tasks, task)(data=str(release), **options)
    with pytest.raises(DataError, match=sentence):
        evaluate_lm_eval("gold", task, release, metadata=options)
    for setting in ("other_persona", "similar_persona"):
        with pytest.raises(DataError, match="near twin"):
            PERSONAFEEDBACK.check(Template(setting=setting), load_cases(release, counts="any"))


@pytest.mark.parametrize("setting", ["other_persona", "similar_persona"])
@pytest.mark.parametrize("hide", [(), ("Name",)])
def test_prompts_and_conversations_are_those_of_persona_with_the_other_profile(setting, hide):
    for case in load_cases(SAMPLE):
        own, other = (persona.without(hide).text for persona in (case.persona, case.another(setting)))
        for method, order in product(("generate", "cot"), TWO.names):
            right = prompts.build(case, Template(method=method, hide=hide), order)
            wrong = prompts.build(case, Template(method=method, hide=hide, setting=setting), order)
            assert wrong == right.replace(f"\n{own}\n", f"\n{other}\n") != right
        told, *rest = conversation(case, Template(hide=hide), "chosen")
        wrong, *others = conversation(case, Template(hide=hide, setting=setting), "chosen")
        assert wrong == {"role": "system", "content": told["content"].replace(own, other)} != told
        assert others == rest


@pytest.mark.parametrize(
    ("options", "message"),
    [({"prompt": "v2"}, "prompt does not apply"), ({"setting": "rag"}, "support setting=persona, .* got 'rag'")],
)
def test_what_has_no_meaning_for_a_reward_model_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        PERSONAFEEDBACK.check(Template(method="reward", **options), load_cases(SAMPLE))


@pytest.mark.parametrize("method", ["generate", "reward"])
def test_padding_is_as_long_as_the_persona_and_in_its_language_and_about_nobody(method, real_part):
    template, nobody = (Template(setting=setting, method=method) for setting in ("padding", "no_persona"))
    cases = load_present(real_part)
    PERSONAFEEDBACK.check(template, cases)
    assert PERSONAFEEDBACK.signs(cases, template)["padding"]
    assert PERSONAFEEDBACK.fingerprint(template) == PERSONAFEEDBACK.fingerprint(Template(method=method))
    for case in [*load_cases(SAMPLE), *cases][::20]:
        text = neutral(len(case.persona.text), case.language)
        assert len(text) == len(case.persona.text)
        assert Persona("", {"": text}).language == case.persona.language
        if method == "generate":
            with_text, without = (prompts.build(case, options, TWO.names[0]) for options in (template, nobody))
            assert with_text.replace(f"\n\n{text}", "", 1) == without
        else:
            told, *rest = conversation(case, template, "chosen")
            assert (told["content"], rest) == (text, conversation(case, nobody, "chosen"))
