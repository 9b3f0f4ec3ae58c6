"""The setting `other_persona`: who gets whose persona, what a model then reads, and what a report makes of it."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("inspect_ai")
pytest.importorskip("lm_eval")
pytest.importorskip("scipy")

from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from lm_eval.api.model import LM
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.commands import personafeedback
from support.documents import DOCS
from support.inspect_runs import evaluate as evaluate_inspect
from support.judges import OTHER
from support.lm_eval_runs import evaluate as evaluate_lm_eval
from support.logs import lm_eval_log
from support.samples import a_part

from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.pairwise.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.pairwise.terms import overlap_terms
from personafeedback_tasks.personafeedback import prompts
from personafeedback_tasks.personafeedback.cases import load_cases, load_present
from personafeedback_tasks.personafeedback.others import Others, assign, assign_similar
from personafeedback_tasks.personafeedback.persona import Persona
from personafeedback_tasks.personafeedback.prompts import Template
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import SAMPLE, locate
from personafeedback_tasks.personafeedback.system import neutral

WRONG = Template(setting="other_persona")


def exchange(*personas: Persona) -> dict[str, str] | None:
    """Who gets whose; None where nobody fits a user."""
    try:
        return assign(personas)
    except DataError:
        return None


def user(name: str, *statements: str) -> Persona:
    return Persona(name, {"Says": list(statements)})


# --- who gets whose --------------------------------------------------------------------------------------------------


def test_each_real_persona_goes_to_one_other_user_of_its_language(real_data):
    others = Others(real_data)
    assert len(others.given) == len(others.personas) == 147
    assert sorted(others.given.values()) == sorted(others.given)
    assert all(user != other for user, other in others.given.items())
    sample = locate(SAMPLE).others
    languages = {name: persona.language for name, persona in sample.personas.items()}
    assert Counter(languages.values()) == {"en": 4, "zh": 4}
    assert {languages[name] == languages[other] for name, other in sample.given.items()} == {True}


@pytest.mark.release
def test_of_all_real_pairs_the_two_ski_coaches_are_near_twins(real_data):
    """Any two personas alone exchange theirs, unless they are near twins."""
    personas = Others(real_data).personas.values()
    apart = [pair for pair in itertools.combinations(personas, 2) if exchange(*pair) is None]
    assert [[persona.user_id for persona in pair] for pair in apart] == [["Alex_k5Ep", "Leo_0mLX"]]
    for persona in apart[0]:
        assert "吉林某滑雪场教练" in persona.text


STATEMENTS = st.lists(st.sampled_from(["tea", "chess", "rain", "go"]), min_size=1, max_size=3)


@given(st.lists(STATEMENTS, min_size=2, max_size=6), st.randoms(use_true_random=False))
@settings(derandomize=True, deadline=None)
def test_each_persona_is_used_once_wherever_that_is_possible(said, shuffled):
    users = [user(f"u{number}", *statements) for number, statements in enumerate(said)]
    fits = {
        (one.user_id, another.user_id)
        for one, another in itertools.permutations(users, 2)
        if exchange(one, another) is not None
    }
    names = [one.user_id for one in users]
    found = exchange(*users)
    assert (found is None) == any(not any((name, other) in fits for other in names) for name in names)
    if found is None:
        return
    assert found.items() <= fits
    assert found.keys() == set(names)
    once = any(set(zip(names, order, strict=True)) <= fits for order in itertools.permutations(names))
    assert (len(set(found.values())) == len(names)) == once
    shuffled.shuffle(users)
    assert assign(users) == found


def test_the_assignment_is_the_same_whatever_is_asked_and_in_whatever_order_the_files_are(real_data, tmp_path):
    copy = tmp_path / "copy"
    for path in sorted(real_data.rglob("*.json*"), reverse=True):
        to = copy / path.relative_to(real_data)
        to.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        to.write_text("".join(reversed(lines) if path.suffix == ".jsonl" else lines), encoding="utf-8")
    parts = [
        load_cases(real_data, "general", "easy"),
        load_cases(real_data, "general", "hard"),
        load_present(copy),
    ]
    assert len({PERSONAFEEDBACK.signs(part, WRONG)["others"] for part in parts}) == 1
    told = [{case.user_id: case.other_persona.user_id for case in part} for part in parts]
    assert told[0].keys() != told[1].keys()
    assert told[0].items() | told[1].items() <= told[2].items()


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
    change(release / "persona" / f"{case.other_persona.user_id}.json", Motto="Onwards")
    cases = load_cases(release, counts="any")
    (again,) = [one for one in cases if one.id == case.id]
    assert again.digest == case.digest
    assert "Onwards" in prompts.build(again, WRONG, ORDERS[0])
    assert PERSONAFEEDBACK.signs(cases, WRONG)["others"] != signed["other_persona"]["others"] is not None
    assert signed["persona"]["others"] is PERSONAFEEDBACK.signs(cases, Template())["others"] is None


@pytest.mark.parametrize(("harness", "what"), [("inspect", "one user"), ("lm-eval", "twins")])
def test_where_nobody_fits_it_is_one_error_before_the_first_call(harness, what, release):
    task, english = "personafeedback_general_hard", sorted((release / "persona").glob("[A-Z]*.json"))
    texts = [path.read_text(encoding="utf-8") for path in english]
    assert len(english) == 4
    for path in english:
        path.write_text(texts[0], encoding="utf-8")
    if what == "one user":
        for path in release.glob("data/*/*.jsonl"):
            rows = [row for row in path.read_text("utf-8").splitlines(keepends=True)
                    if not any(gone.stem in row for gone in english[1:])]  # fmt: skip
            path.write_text("".join(rows), encoding="utf-8")
        for gone in english[1:]:
            gone.unlink()
    options = {"counts": "any", "setting": "other_persona"}
    begin = {
        "inspect": lambda: getattr(tasks, task)(data=str(release), **options),
        "lm-eval": lambda: evaluate_lm_eval("gold", task, release, metadata=options),
    }
    with pytest.raises(DataError) as caught:
        begin[harness]()
    assert str(caught.value) == (
        f"{release / 'persona'}: found nobody whose persona user_id {english[0].stem!r} could get under setting=other_persona, "
        "expected another user of the same language (en) who is no near twin. Use setting=no_persona as the control, or add personas."
    )


# --- what the model reads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["generate", "cot"])
def test_the_prompt_is_that_of_persona_with_the_other_profile(method):
    for case in load_cases(SAMPLE):
        for order in ORDERS:
            right = prompts.build(case, Template(method=method), order)
            wrong = prompts.build(case, Template(method=method, setting="other_persona"), order)
            assert wrong == right.replace(f"\n{case.persona.text}\n", f"\n{case.other_persona.text}\n")
            assert case.persona.text not in wrong


# --- planted judges --------------------------------------------------------------------------------------------------

SETTINGS = ("persona", "other_persona", "no_persona")
SKILLS = {
    "reads": {"persona": 0.85, "other_persona": 0.65, "no_persona": 0.55},
    "ignores": dict.fromkeys(SETTINGS, 0.7),
}
"""Judge -> what is in the prompt -> how often it is right."""
TASK, LIMIT = "personafeedback_general_hard", 150
PROFILES: dict[str, str] = {}
"""Case id -> its user's own profile."""


def says(judge: str, prompt: str, case_id: str, order: str) -> str:
    """The letter of a judge that sees in the prompt whose persona is in it. Chance is a hash of the prompt."""
    told = "no_persona" if "<persona>" not in prompt else "persona" if PROFILES[case_id] in prompt else "other_persona"
    drawn = int(hashlib.sha256(f"{judge} {prompt}".encode()).hexdigest(), 16) / 16**64
    letter = CHOSEN_LETTER[order]
    return letter if drawn < SKILLS[judge][told] else OTHER[letter]


@modelapi(name="planted")
class Planted(ModelAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args):  # noqa: B008
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        letter = says(self.model_name, input[-1].text, about["case_id"], about["call"].rpartition(" ")[2])
        output = ModelOutput.from_content("planted", letter)
        output.usage = ModelUsage()
        return output


class PlantedLM(LM):
    def __init__(self, judge):
        super().__init__()
        self.judge = judge

    def generate_until(self, requests, disable_tqdm=False):
        return [says(self.judge, request.args[0], request.doc["id"], ORDERS[request.idx % 2]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise AssertionError("no task here asks for this")

    loglikelihood_rolling = loglikelihood


@pytest.fixture(scope="module")
def logs(real_data, tmp_path_factory):
    """`logs(harness, judge)`: setting -> log. Each is made once."""
    PROFILES.update({case.id: case.persona.text for case in load_cases(real_data, "general", "hard")})
    folder = tmp_path_factory.mktemp("planted")

    def of(harness, judge, setting):
        to = folder / harness / judge / setting
        if harness == "lm-eval":
            return lm_eval_log(to, PlantedLM(judge), TASK, real_data, metadata={"setting": setting}, limit=LIMIT)
        built = getattr(tasks, TASK)(data=str(real_data), setting=setting)
        return evaluate_inspect(built, f"planted/{judge}", to, limit=LIMIT).location

    return cache(lambda harness, judge: {setting: of(harness, judge, setting) for setting in SETTINGS})


def reported(of, tmp_path):
    """(what `report` prints, its JSON)."""
    done = personafeedback(
        "report", "--full", of["persona"], of["no_persona"], of["other_persona"],
        "--out", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return done.stdout, json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["reports"][0]


@pytest.mark.parametrize(
    ("harness", "judge"),
    [
        ("lm-eval", "reads"),
        ("inspect", "reads"),
        pytest.param("inspect", "ignores", marks=pytest.mark.release),
    ],
)
def test_the_report_finds_what_was_planted(harness, judge, logs, tmp_path):
    printed, stored = reported(logs(harness, judge), tmp_path)
    sheet, skill = stored["settings"], SKILLS[judge]
    assert sheet["named"] == {
        "right minus wrong": "persona - other_persona",
        "wrong minus none": "other_persona - no_persona",
        "persona gain": "persona - no_persona",
    }
    (column,) = sheet["groups"].values()
    assert column["cases"] == LIMIT
    for name, (more, less) in {
        "right minus wrong": ("persona", "other_persona"),
        "wrong minus none": ("other_persona", "no_persona"),
    }.items():
        found = column["differences"][f"{more} - {less}"]
        assert found["low"] <= skill[more] - skill[less] <= found["high"], (name, found)
        assert found["value"] == pytest.approx(column["scores"][more]["value"] - column["scores"][less]["value"])
        assert 0 < found["high"] - found["low"] < 0.25
        assert f"{100 * found['value']:+.1f}" in printed.partition("Differences")[2]
        for text in (printed, (tmp_path / "report.md").read_text(encoding="utf-8")):
            assert f"{name.capitalize()} is {more}" in " ".join(text.replace("\\", "").split())
    if judge == "reads":  # and more than nothing: an interval that holds everything would find it, too
        assert column["differences"]["persona - other_persona"]["low"] > 0
    else:
        assert column["differences"]["persona - other_persona"]["low"] < 0
    assert "setting other_persona" in printed
    assert "others " in printed


@pytest.mark.parametrize("judge", a_part(SKILLS, 2))
def test_both_harnesses_give_the_same_split(judge, logs, tmp_path):
    one, another = (reported(logs(harness, judge), tmp_path / harness)[1] for harness in ("lm-eval", "inspect"))
    assert one["settings"]["groups"] == another["settings"]["groups"]
    assert one["groups"] == another["groups"]


@pytest.mark.slow
def test_a_run_and_its_control_hide_the_same(tmp_path):
    """Else the difference would be that of the hidden fields, too."""
    log = {
        (setting, hide): evaluate_inspect(
            tasks.personafeedback_general_hard(data="sample", setting=setting, hide=hide), "scripted/gold", tmp_path
        ).location
        for setting, hide in [("persona", "Name"), ("other_persona", "Name"), ("other_persona", None)]
    }
    same = personafeedback("report", "--full", log["persona", "Name"], log["other_persona", "Name"])
    assert same.exit_code == 0, same.output
    assert "Right minus wrong is persona - other_persona" in same.stdout
    done = personafeedback("report", "--full", log["persona", "Name"], log["other_persona", None])
    words = " ".join(done.output.split())
    assert "Right minus wrong is persona" not in words
    assert "found hide [], expected ['Name'] as in the run that it controls. Only setting may differ." in words


# --- a similar user ----------------------------------------------------------------------------------------------------

SIMILAR = Template(setting="similar_persona")


def jaccard(one: Persona, another: Persona) -> float:
    mine, its = (frozenset().union(*map(overlap_terms, persona.statements)) for persona in (one, another))
    return len(mine & its) / len(mine | its)


@given(st.lists(STATEMENTS, min_size=2, max_size=5), st.randoms(use_true_random=False))
@settings(derandomize=True, deadline=None)
def test_no_other_exchange_is_more_similar(said, shuffled):
    users = {f"u{number}": user(f"u{number}", *statements) for number, statements in enumerate(said)}
    fits = {pair for pair in itertools.permutations(users, 2) if exchange(*(users[name] for name in pair)) is not None}
    possible = [
        sum(jaccard(users[one], users[another]) for one, another in zip(users, order, strict=True))
        for order in itertools.permutations(users)
        if set(zip(users, order, strict=True)) <= fits
    ]
    in_any_order = [*users.values()]
    shuffled.shuffle(in_any_order)
    if not possible:
        with pytest.raises(DataError, match=r"found no way to give each of the \d users .* setting=similar_persona"):
            assign_similar(in_any_order)
        return
    found = assign_similar(in_any_order)
    assert found.items() <= fits
    assert sorted(found.values()) == sorted(users) == sorted(found)
    assert sum(jaccard(users[one], users[another]) for one, another in found.items()) == pytest.approx(max(possible))
    assert found == assign_similar([*users.values()])


def test_each_real_persona_goes_to_one_similar_user(real_data):
    similar, others = Others(real_data, similar=True), Others(real_data)
    assert sorted(similar.given.values()) == sorted(similar.given) == sorted(others.given)
    assert ("Alex_k5Ep", "Leo_0mLX") not in {*similar.given.items(), *map(tuple, map(reversed, similar.given.items()))}

    def alike(of: Others) -> float:
        return sum(jaccard(of.personas[user], of.of(user)) for user in of.given) / len(of.given)

    said = "have {:.1f} % of their terms in common under `other_persona` and {:.1f} % under `similar_persona`"
    assert said.format(100 * alike(others), 100 * alike(similar)) in " ".join(
        (DOCS / "options.md").read_text("utf-8").split()
    )
    cases = load_cases(real_data, "general", "hard")
    signed = {PERSONAFEEDBACK.signs(cases, template)["others"] for template in (WRONG, SIMILAR, Template())}
    assert len(signed) == 3
    case = next(iter(cases))
    assert prompts.build(case, SIMILAR, ORDERS[0]) == prompts.build(case, Template(), ORDERS[0]).replace(
        f"\n{case.persona.text}\n", f"\n{case.similar_persona.text}\n"
    )


def test_a_report_has_the_difference_to_a_similar_user_where_it_was_asked(tmp_path):
    for case in load_cases(SAMPLE):
        PROFILES.setdefault(case.id, case.persona.text)
    told = "persona,similar_persona,other_persona,padding,no_persona"
    task = tasks.personafeedback_general_hard(data="sample", setting=told)
    inspect = evaluate_inspect(task, "planted/ignores", tmp_path / "inspect").location
    lm_eval = lm_eval_log(
        tmp_path / "lm-eval", PlantedLM("ignores"), "personafeedback_general_hard", SAMPLE, metadata={"setting": told}
    )
    for log in (inspect, lm_eval):
        done = personafeedback("report", "--data", "sample", log)
        assert done.exit_code == 0, done.output
        assert "right minus similar" in done.stdout
        assert "right minus padding" in done.stdout
    alone = tasks.personafeedback_general_hard(data="sample")
    done = personafeedback("report", "--data", "sample", evaluate_inspect(alone, "scripted/gold", tmp_path).location)
    assert "right minus wrong" in done.stdout
    assert "similar" not in done.stdout
    assert "padding" not in done.stdout


@pytest.mark.parametrize("method", ["generate", "reward"])
def test_padding_is_as_long_as_the_persona_and_in_its_language_and_about_nobody(method, real_part):
    template = Template(setting="padding", method=method)
    cases = load_present(real_part)
    PERSONAFEEDBACK.check(template, cases)
    assert PERSONAFEEDBACK.signs(cases, template)["padding"]
    assert PERSONAFEEDBACK.fingerprint(template) == PERSONAFEEDBACK.fingerprint(Template(method=method))
    for case in [*load_cases(SAMPLE), *cases][::20]:
        text = neutral(len(case.persona.text), case.language)
        assert len(text) == len(case.persona.text)
        assert Persona("", {"": text}).language == case.persona.language
        if method == "generate":
            without = prompts.build(case, replace(template, setting="no_persona"), ORDERS[0])
            assert prompts.build(case, template, ORDERS[0]).replace(f"\n\n{text}", "", 1) == without
        else:
            told = PERSONAFEEDBACK.conversation(case, template, "chosen")
            assert told[0]["content"] == text
            assert told[1:] == PERSONAFEEDBACK.conversation(case, replace(template, setting="no_persona"), "chosen")
