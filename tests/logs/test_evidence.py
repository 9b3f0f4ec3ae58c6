"""Evidence: one text or one reason per call, whatever arrives, in both harnesses, their logs and recorded replies."""

from __future__ import annotations

import html
import json
import math
from itertools import product
from pathlib import Path

import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    modelapi,
)
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support import inspect_runs
from support.commands import personafeedback, ran
from support.judges import OTHER, gold, who_asks
from support.lm_eval_runs import CallLM
from support.logs import lm_eval_log
from support.recorded import exported
from support.samples import a_part
from support.servers import as_json, run, serving
from support.shown import sentences

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.core.method import Reply
from personafeedback_tasks.core.recorded import read
from personafeedback_tasks.logs.earlier import logged
from personafeedback_tasks.logs.read import read_run, read_runs
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.personafeedback.record import PERSONAFEEDBACK
from personafeedback_tasks.stats.estimates import mean

pytestmark = pytest.mark.slow
HARD = "personafeedback_general_hard"
CASES = load_cases("sample", "general", "hard")
CALLS = [(case.id, order) for case in CASES for order in TWO.names]
PLACE = {call: place for place, call in enumerate(CALLS)}


class SayingLM(CallLM):
    """Hands over what a function of (place of the call, right letter, prompt) returns; likewise log-likelihoods."""

    def __init__(self, says):
        def of_call(prompt, case_id, call):
            order = call.split()[-1]
            return says(PLACE[case_id, order], gold(case_id, order), prompt)

        super().__init__(of_call, of_call)


SAYS = {}


@modelapi(name="saying")
class SayingAPI(ModelAPI):
    """The same in Inspect: a function's choice, or the choices."""

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        order = about["call"].split()[-1]
        said = SAYS[self.model_name](PLACE[about["case_id"], order], gold(about["case_id"], order), input[-1].text)
        return ModelOutput(model="saying", choices=said if isinstance(said, list) else [said], usage=ModelUsage())


def choice(content, stop="stop", **more):
    return ChatCompletionChoice(message=ChatMessageAssistant(content=content), stop_reason=stop, **more)


def inspect_log(folder: Path, says, **options) -> Path:
    SAYS["judge"] = says
    built = tasks.personafeedback_general_hard(data="sample", **options)
    return Path(inspect_runs.evaluate(built, "saying/judge", folder).location)


def printed(log: Path) -> dict[str, float]:
    """The harness's own table."""
    if log.suffix == ".eval":
        from inspect_ai.log import read_eval_log

        return {name: metric.value for name, metric in read_eval_log(str(log)).results.scores[0].metrics.items()}
    results = json.loads(log.read_text("utf-8"))["results"]
    (table,) = results.values()
    return {name.partition(",")[0]: value for name, value in table.items()}


def reported(found) -> dict[str, float]:
    return {name: mean(found.values(name).values()) for name in ("acc", "invalid")}


def reasons(found) -> dict[str, int]:
    answers = [answer for result in found.results for answer in result.answers]
    return {name: answers.count(name) for name in sorted(set(answers) - {"A", "B"})}


def scored(file: Path, records, *arguments: str) -> dict:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    done = ran("score-replies", HARD, file, "-T", "data=sample", "--json", "-", *arguments)
    (cell,) = json.loads(done.stdout)["reports"][0]["groups"].values()
    return cell


def records(says, **more) -> list[dict]:
    return [
        {"id": case, "call": order, "reply": says(PLACE[case, order], gold(case, order), ""), **more}
        for case, order in CALLS
    ]


# --- one normaliser ---------------------------------------------------------------------------------------------------

THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Answer: {other}"}]}
CONTENTS = {
    "text": "{gold}",
    "parts": [THOUGHT, {"type": "text", "text": "Answer:"}, {"type": "text", "text": "{gold}"}],
    "strings": ["They like fish.", "Answer: {gold}"],
    "nested": [[{"type": "message", "content": [{"type": "output_text", "text": {"value": "{gold}"}}]}]],
    "reasoning": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "{other}"}]}, "{gold}"],
}
"""Kind of content with an answer in it -> the content."""

WITHOUT_ANSWER = {
    "thinking alone": [THOUGHT],
    "null": None,
    "a number": 1,
    "an object": {"answer": "{gold}"},
    "a tool": [{"type": "tool_use", "name": "answer", "input": {"choice": "{gold}"}}],
}


def filled(content, letter: str):
    text = json.dumps(content).replace("{gold}", letter).replace("{other}", OTHER[letter])
    return json.loads(text)


def test_whatever_is_handed_over_is_one_text_or_a_reason(tmp_path):
    kinds = [*CONTENTS.values(), *WITHOUT_ANSWER.values()]

    def says(place, letter, prompt):
        return filled(kinds[place % len(kinds)], letter)

    read = [gold(*call) if place % len(kinds) < len(CONTENTS) else "no_response" for place, call in enumerate(CALLS)]
    log = lm_eval_log(tmp_path, SayingLM(says), HARD, "sample")
    found = read_run(log)
    answers = {result.case_id: result.answers for result in found.results}
    assert [answers[case][TWO.names.index(order)] for case, order in CALLS] == read
    expected = reported(found)
    assert 0 < expected["invalid"] < 1
    assert printed(log) == pytest.approx(printed(log) | expected, nan_ok=True)
    total = scored(tmp_path / "replies.jsonl", records(says))
    assert {name: total["measures"][name]["value"] for name in expected} == expected


def test_a_server_that_sends_parts(tmp_path):
    def in_parts(response, who):
        body = response.get_json()
        message = body["choices"][0]["message"]
        message["content"] = filled(CONTENTS["parts"], message["content"])
        return as_json(body)

    with serving(gold, who_asks(CASES)) as server:
        server.sends = in_parts
        run(
            "lm_eval", "--model", "local-chat-completions", "--apply_chat_template", "--tasks", HARD, "--log_samples",
            "--output_path", tmp_path, "--model_args", f"model=judge,base_url={server.url}/chat/completions",
            data="sample", url=server.url,
        )  # fmt: skip
    assert reported(read_run(tmp_path)) == {"acc": 1, "invalid": 0}


def test_each_call_has_one_reply(tmp_path):
    """More are refused before a call is paid; a server that sends two unasked gave none that counts."""
    asked = []

    def says(place, letter, prompt):
        asked.append(place)
        return letter

    for arguments in ({"n": 2}, {"num_return_sequences": 3}):
        with pytest.raises(OptionError, match="must be 1, got [23]: each call has one reply"):
            lm_eval_log(tmp_path, SayingLM(says), HARD, "sample", gen_kwargs=arguments)
    SAYS["judge"] = lambda place, letter, prompt: choice(says(place, letter, prompt))
    (log,) = inspect_runs.inspect_eval(
        tasks.personafeedback_general_hard(data="sample"), model="saying/judge", log_dir=str(tmp_path), num_choices=2
    )
    assert (log.status, "num_choices must be 1, got 2" in log.error.message) == ("error", True)
    assert not asked
    two = inspect_log(
        tmp_path / "two", lambda place, letter, prompt: [choice(letter), choice(OTHER[letter])][: 1 + place % 2]
    )
    assert printed(two)["invalid"] == 0.5
    assert reasons(read_run(two)) == {"no_response": len(CASES)}
    method = PERSONAFEEDBACK.methods["generate"]
    (cases,) = PERSONAFEEDBACK.logged_cases(method, PERSONAFEEDBACK.logged(method, CASES[0]))
    with pytest.raises(ValueError, match=r"found 1 answers, expected one per order \(chosen_first, rejected_first\)"):
        method.judge(cases, [Reply("A")])


# --- thinking that was cut off ----------------------------------------------------------------------------------------

CUT = "Hmm, they like fish, and A is about fish, though B is warmer. So the answer is {}."
CLOSED = {
    "only closed": "They like fish.\n</think>\n\n{}",
    "opened and closed": "<think>They like fish.</think>\n{}",
    "reasoning": "<reasoning>They like fish.</reasoning>{}",
    "a channel": "<|channel|>analysis<|message|>They like fish.<|end|><|start|>assistant<|channel|>final<|message|>{}",
    "a token that ends it": "They like fish.<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
    "a channel without its tokens": "analysisThey like fish.assistantfinal{}",
}


def half(closed: str, cut: str):
    return lambda place, letter, prompt: (closed if place % 2 else cut).format(letter)


@pytest.mark.parametrize(("method", "tag"), a_part([*product(("generate", "cot"), CLOSED)], 5))
def test_a_reply_that_never_left_its_thinking_is_truncated(tag, method, tmp_path):
    says = half(CLOSED[tag].replace("{}", "Answer: {}"), CUT)
    expected, task = {"acc": 0.5, "invalid": 0.5}, f"{HARD}_cot" if method == "cot" else HARD
    log = lm_eval_log(tmp_path / "lm_eval", SayingLM(says), task, "sample")
    logs = [log]
    for stop in ("max_tokens", "unknown"):

        def other(place, letter, prompt, stop=stop):
            return choice(says(place, letter, prompt), "stop" if place % 2 else stop)

        logs.append(inspect_log(tmp_path / stop, other, method=method))
    for path in logs:
        assert printed(path) == pytest.approx(printed(path) | expected, nan_ok=True), path
        assert reported(read_run(path)) == expected
        assert reasons(read_run(path)) == {"truncated": len(CASES)}
    total = scored(tmp_path / "replies.jsonl", records(says), "-T", f"method={method}")
    assert (total["measures"]["acc"]["value"], total["reasons"]) == (0.5, {"truncated": len(CASES)})
    out = tmp_path / "exported.jsonl"
    exported(log, out)
    again = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert scored(tmp_path / "again.jsonl", again, "-T", f"method={method}") == total


def test_the_table_of_inspect_reads_each_sample_in_view_of_the_others(tmp_path, caplog):
    """A scorer sees one sample; where another one closes its thinking, this one was cut off."""
    closing = [case.question for case in CASES[::2]]

    def says(place, letter, prompt):
        closes = any(question in prompt for question in closing)
        return choice((CLOSED["only closed"] if closes else CUT).format(letter), "stop" if closes else "unknown")

    log, share = inspect_log(tmp_path, says), len(closing) / len(CASES)
    assert (printed(log)["acc"], printed(log)["invalid"]) == (share, 1 - share)
    assert reported(read_run(log)) == {"acc": share, "invalid": 1 - share}
    assert f"most common reason: truncated ({2 * (len(CASES) - len(closing))})" in caplog.text


def test_the_fact_is_one_of_the_model_over_all_settings_and_tasks(tmp_path):
    """All that closes its thinking is under one setting, or in one cell."""
    settings = "persona,no_persona"

    def says(place, letter, prompt):
        return (CUT if "<persona>" in prompt else CLOSED["only closed"]).format(letter)

    log = lm_eval_log(tmp_path / "lm_eval", SayingLM(says), HARD, "sample", metadata={"setting": settings})

    def other(place, letter, prompt):
        return choice(says(place, letter, prompt), "unknown" if "<persona>" in prompt else "stop")

    of_inspect = inspect_log(tmp_path / "inspect", other, setting=settings)
    for path in (log, of_inspect):
        told, untold = read_runs([path])
        assert (reported(told)["invalid"], reported(untold)["invalid"]) == (1, 0)
        assert (printed(path)["acc"], printed(path)["acc_no_persona"]) == (0, 1)
    easy = {case.id for case in load_cases("sample", "general", "easy")}

    def by_cell(prompt, name, call):
        return (CLOSED["only closed"] if name in easy else CUT).format(gold(name, call))

    log = lm_eval_log(tmp_path / "cells", CallLM(by_cell), "personafeedback_general", "sample")
    for paths in ([log], sorted(log.parent.glob("samples_*.jsonl"))):
        (found,) = read_runs(paths)
        assert {case.cell for case in found.cases.values() if case.value("invalid") == 0} == {"general_easy"}
        truncated = [reply.truncated for _, reply in logged(found)]
        assert truncated.count(True) == 2 * (len(found.cases) - len(easy)), "exported as it is reported"


@pytest.mark.parametrize(
    ("reply", "counts"),
    [
        ("{}", True), ("They like fish.\nFinal answer: Response {}", True),
        ("They like fish. So the answer is {}.", False),
        ("They like fish. " * 200 + "\nAnswer: {}", False),  # 3,200 bytes of 1,024 tokens
    ],
)  # fmt: skip
def test_a_model_that_thinks_only_sometimes_is_not_punished(reply, counts, tmp_path):
    says = half(CLOSED["only closed"], reply)
    expected = {"acc": 1 if counts else 0.5, "invalid": 0 if counts else 0.5}
    log = lm_eval_log(tmp_path / "lm_eval", SayingLM(says), HARD, "sample")
    assert reported(read_run(log)) == expected
    assert printed(log)["invalid"] == expected["invalid"]
    total = scored(tmp_path / "replies.jsonl", records(says))
    assert total["measures"]["acc"]["value"] == expected["acc"]
    known = {"acc": 1, "invalid": 0}  # a stop reason says that it was not cut
    assert reported(read_run(inspect_log(tmp_path / "inspect", lambda *more: choice(says(*more))))) == known
    assert scored(tmp_path / "known.jsonl", records(says, truncated=False))["measures"]["acc"]["value"] == 1


def test_a_field_of_its_own_for_reasoning_shows_thinking_too(tmp_path):
    def says(place, letter, prompt):
        thought = [ContentReasoning(reasoning="They like fish."), ContentText(text=letter)]
        return choice(thought) if place % 2 else choice(f"They like fish.\n{letter}", "max_tokens")

    log = inspect_log(tmp_path, says)
    assert printed(log)["invalid"] == 0.5
    assert reasons(read_run(log)) == {"truncated": len(CASES)}
    out = tmp_path / "replies.jsonl"
    exported(log, out)
    assert {reply.truncated for reply in read(out).replies.values()} == {True, False}
    replay = inspect_runs.evaluate(
        tasks.personafeedback_general_hard(data="sample"),
        "personafeedback/replay",
        tmp_path / "again",
        model_args={"replies": str(out)},
    )
    assert printed(Path(replay.location))["invalid"] == 0.5


# --- likelihoods ------------------------------------------------------------------------------------------------------

IMPOSSIBLE = {
    "zero_likelihoods": ((0.0, 0.0), "echo"),
    "undefined_likelihoods": ((math.nan, -1.0), "dtype=float32"),
    "positive_likelihoods": ((0.9, 0.1), "probabilities"),
}


def check_void(log: Path, reason: str, advice: str, told: str, tmp_path: Path) -> None:
    """The run says so in the log, and every output, before anything else."""
    assert f"{reason} (" in told
    assert advice in told
    assert "softmax_dtype" not in told
    assert "thinking models" not in told
    found = read_run(log)
    assert reasons(found) == {reason: len(CALLS)}
    assert all(math.isnan(found.values(name)[case]) for name in ("acc_sym", "p_chosen") for case in found.cases)
    assert math.isnan(printed(log)["acc_sym"])
    done = ran("report", log, "--out", tmp_path / "out")
    (document,) = json.loads((tmp_path / "out" / "report.json").read_bytes())["reports"]
    first, *others = sentences(document)
    void = f"100.0 % of the replies are unreadable ({reason} 100.0 %): this measures the setup, not the model. "
    assert first.startswith(void)
    assert advice in first
    assert not any("says what is right" in sentence or "no answered case" in sentence for sentence in others)
    ranked = personafeedback("rank", log, "--data", "sample")
    files = [(tmp_path / "out" / name).read_text("utf-8") for name in ("report.md", "report.html")]
    for text in (done.output, *files, ranked.output):
        assert void in html.unescape(text)
        assert "50.0 points below" not in text


@pytest.mark.parametrize("reason", a_part(IMPOSSIBLE, 3))
def test_likelihoods_that_are_none_make_a_run_void_in_lm_eval(reason, tmp_path, caplog):
    pair, advice = IMPOSSIBLE[reason]
    with caplog.at_level("WARNING"):
        log = lm_eval_log(tmp_path, SayingLM(lambda place, letter, prompt: pair), f"{HARD}_mc", "sample")
    check_void(log, reason, advice, caplog.text, tmp_path)


def tops(*tokens: tuple[str, float]):
    listed = [TopLogprob(token=token, logprob=value) for token, value in tokens]
    return Logprobs(content=[Logprob(token=listed[0].token, logprob=listed[0].logprob, top_logprobs=listed)])


def test_tokens_without_texts_make_a_run_void_in_inspect(tmp_path, caplog):
    tokens = tops(("token_id:32", -0.1), ("token_id:33", -2.4))
    with caplog.at_level("WARNING"):
        log = inspect_log(tmp_path, lambda place, letter, prompt: choice("A", logprobs=tokens), method="logprobs")
    check_void(log, "token_ids", "--return-tokens-as-token-ids", caplog.text, tmp_path)


def test_likelihoods_that_a_model_may_give_count(tmp_path):
    """A tie, a certain label, and what rounding leaves above 0."""
    kinds = [(-1.0, -1.0), (0.0, -math.inf), (1e-7, -9.0)]
    log = lm_eval_log(tmp_path, SayingLM(lambda place, letter, prompt: kinds[place % 3]), f"{HARD}_mc", "sample")
    found = read_run(log)
    expected = sum(place % 3 == 0 for place in range(len(CALLS)))
    assert reasons(found) == {"invalid_response_format": expected}
    assert not any(math.isnan(value) for value in found.values("acc_sym").values())


@pytest.mark.parametrize(
    ("others", "bound"),
    [((), 0.095), ((("Well", 0.01),), 0.01), ((("Well", 0.05),), 0.045)],
    ids=["one alternative", "the least likely one", "what is left"],
)
def test_a_label_that_is_not_among_the_alternatives_has_a_bound(others, bound, tmp_path):
    def says(place, letter, prompt):
        return choice(letter, logprobs=tops((letter, math.log(0.905)), *((token, math.log(p)) for token, p in others)))

    log = inspect_log(tmp_path, says, method="logprobs")
    found = read_run(log)
    for name, value in {"acc": 1, "acc_sym": 1, "p_chosen": 0.905 / (0.905 + bound), "invalid": 0}.items():
        assert mean(found.values(name).values()) == pytest.approx(value, abs=1e-12), name
        assert printed(log)[name] == pytest.approx(value, abs=1e-12), name
    said = personafeedback("report", "--full", log).output
    assert f"In {len(CALLS)} of {len(CALLS)} calls a label is not among the most likely tokens" in " ".join(
        said.split()
    )
