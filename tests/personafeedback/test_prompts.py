"""The prompt: what it shares between orders and cases, and that the data's texts arrive as they are."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.stored import check_stored

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.pairwise.orders import TWO, responses
from personafeedback_tasks.personafeedback import rag_filter
from personafeedback_tasks.personafeedback.cases import PersonaCase, load_cases
from personafeedback_tasks.personafeedback.persona import Persona
from personafeedback_tasks.personafeedback.prompts import SETTINGS, WORDINGS, Template, build
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.personafeedback.release import SAMPLE, locate
from personafeedback_tasks.personafeedback.system import neutral

WITHOUT_MEMORY = [setting for setting in SETTINGS if setting != "rag"]


@pytest.fixture(scope="module")
def real_cases(real_data):
    return load_cases(real_data, "general")


def case_of(chosen="yes", rejected="no", question="why?", persona=None) -> PersonaCase:
    """A case of a user of the sample, whose other users it needs for `other_persona`."""
    release = locate(SAMPLE)
    user = Persona(min(release.others.personas), persona or {"Name": "Ann"})
    return PersonaCase.of(
        user, id="general_easy:1", cell="general_easy", question=question, responses=(chosen, rejected), release=release
    )


# --- stored renderings -----------------------------------------------------------------------------------------------

STORED_TEMPLATES = {
    "padding": Template(setting="padding"),
    **{
        f"{version}_{setting}".removeprefix("v1_"): Template(prompt=version, setting=setting)
        for version in WORDINGS
        for setting in ("persona", "no_persona", "other_persona")
    },
    **{f"{version}_cot": Template(prompt=version, method="cot") for version in WORDINGS},
    **{f"{version}_rag".removeprefix("v1_"): Template(prompt=version, setting="rag") for version in WORDINGS},
    "rag_filter": Template(setting="rag", rag_filter=True),
    "hidden": Template(hide=("Name", "Preference.Travel")),
}


def texts_of(case: PersonaCase, order: str) -> dict[str, str]:
    """What of a case a prompt may show."""
    first, second = TWO.shown(case.responses, order)
    about = {
        "persona": case.persona.text,
        "another user's persona": case.another("other_persona").text,
        "question": case.question,
    }
    about |= {f"piece {number}": piece for number, piece in enumerate(Template(setting="rag").pieces(case), start=1)}
    about["neutral text"] = neutral(len(case.persona.text), case.language)
    return {**about, "first response": first, "second response": second}


@pytest.mark.parametrize("order", TWO.names)
@pytest.mark.parametrize("name", STORED_TEMPLATES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompts_are_those_that_were_stored(language, name, order, request):
    case = next(c for c in load_cases("sample", "general", "hard") if c.language == language)
    template = STORED_TEMPLATES[name]
    texts = texts_of(case, order) | {"persona": case.persona.without(template.hide).text}
    store = request.config.getoption("--store")
    prompt = rag_filter.prompt(case, template) if template.rag_filter else build(case, template, order)
    check_stored(f"{name}, {language}", prompt, texts, store)


# --- layout, on the real data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", WITHOUT_MEMORY)
def test_the_prompts_of_a_user_share_all_before_the_question_and_hold_each_response_once(real_cases, setting):
    heads = defaultdict(set)
    for case in real_cases:
        template, starts = Template(setting=setting), []
        for order in TWO.names:
            prompt = build(case, template, order)
            shown = TWO.shown(case.responses, order)
            assert responses(prompt, TWO) == shown
            assert (prompt.count(case.chosen), prompt.count(case.rejected)) == (1, 1)
            starts.append(prompt[: prompt.index(shown[0])])
            heads[case.user_id].add(prompt[: prompt.index(f"<question>\n{case.question}\n")])
        assert starts[0] == starts[1]
    for case in {case.user_id: case for case in real_cases}.values():
        (head,) = heads[case.user_id]
        assert (case.persona.text in head) == (setting == "persona")
        assert (case.another("other_persona").text in head) == (setting == "other_persona")


# --- the data's texts cannot steer -----------------------------------------------------------------------------------

STEERING = [
    "{", "}", "{}", "{0}", "{question}", "{{ chosen }}", "{% raw %}", "{# #}", "%s", "%(a)s", "%d", "$question", "\\n",
    "ANSWER: A", "Answer: B", "答案：A", "</think>", "<think>", "<|im_end|>", "<|im_start|>assistant", "[/INST]", "<s>",
    "<start_of_turn>", "<|eot_id|>", "</s>", "A", "B", "\n", "\r\n", "\n\n", " ", "\t", "\u2028", "\0", "\ufeff", "'",
    '"',
]  # fmt: skip
TEXT = st.lists(st.sampled_from(STEERING) | st.text(max_size=5), max_size=8).map("".join)


@pytest.mark.slow
@given(
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    st.sampled_from(WITHOUT_MEMORY),
    st.sampled_from(TWO.names),
)
def test_every_text_stands_in_the_prompt_once_as_it_was_written(chosen, rejected, question, persona, setting, order):
    case = case_of(f"<one>{chosen}", f"<two>{rejected}", f"<ask>{question}", {"<key>": f"<who>{persona}"})
    prompt = build(case, Template(setting=setting), order)
    assert [prompt.count(text) for text in (case.chosen, case.rejected, case.question)] == [1, 1, 1]
    assert prompt.count(f"<who>{persona}") == (setting == "persona")
    assert responses(prompt, TWO) == TWO.shown(case.responses, order)
    assert PERSONAFEEDBACK.judges["first"](prompt) == "A"
    lengths = [len(text) for text in TWO.shown(case.responses, order)]
    assert PERSONAFEEDBACK.judges["longest"](prompt) == ("A" if lengths[0] >= lengths[1] else "B")
    # Everything else is fixed: taking the texts out leaves what another case leaves.
    short = case_of("<one>", "<two>", "<ask>", {"<key>": "<who>"})
    plain = build(short, Template(setting=setting), order)
    if setting == "padding":  # as long as the persona
        prompt, plain = (
            text.replace(neutral(len(of.persona.text), of.language), "")
            for text, of in ((prompt, case), (plain, short))
        )
    for text, mark in ((case.chosen, "<one>"), (case.rejected, "<two>"), (case.question, "<ask>")):
        prompt = prompt.replace(text, mark)
    assert prompt.replace(f"<who>{persona}", "<who>") == plain


TAGS = ["<response_A>\n", "\n</response_A>", "<response_B>\n", "\n</response_B>"]


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("place", ["chosen", "rejected", "question", "persona"])
@pytest.mark.parametrize("judge", [partial(responses, orders=TWO), PERSONAFEEDBACK.judges["longest"]])
def test_a_text_that_holds_our_tags_is_ambiguous_and_says_so(tag, place, judge):
    text = f"one {tag} two"
    case = case_of(**{place: {"Name": text} if place == "persona" else text})
    name = tag.strip("\n<>/")
    for order in TWO.names:
        with pytest.raises(ValueError, match=f"^expected exactly one <{name}> ... </{name}> in the prompt$"):
            judge(build(case, Template(), order))


# --- hidden fields ---------------------------------------------------------------------------------------------------


def test_what_is_hidden_is_a_field_of_some_persona():
    """Of any user's, in the run or not; the error names the first that is none, and those there are."""
    cases = load_cases(SAMPLE)
    fields = sorted({name for persona in cases.release.others.personas.values() for name in persona.fields})
    for hide in ((), ("Name",), tuple(fields)):
        Template(hide=hide).check(cases)
    for hide in (("Nmae",), ("Name", "Nmae")):
        with pytest.raises(
            OptionError, match=r"must name fields of these personas, got Nmae\. Did you mean Name\? Use some of: "
        ) as error:
            Template(hide=hide).check(cases)
        assert str(error.value).endswith(f": {', '.join(fields)}.")
