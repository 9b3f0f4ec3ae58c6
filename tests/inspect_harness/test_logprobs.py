"""Method `logprobs`: the letters among the most likely tokens, then Inspect from end to end on servers that return them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.judges import METRICS, who_asks
from werkzeug import Request, Response

from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.parsing.answers import LETTERS, read_reply
from personafeedback_tasks.parsing.letter_probabilities import spelled, spellings, top_reader
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.stats import estimates

log = math.log
NAN = (math.nan, math.nan)


# --- the letters of one place ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "letter"),
    [
        ("A", "A"), (" A", "A"), ("a", "A"), ("(A", "A"), ("A)", "A"), ("A.", "A"), ("▁A", "A"), ("ĠA", "A"), ("ĊA", "A"),
        ("Ａ", "A"), ("ï¼¡", "A"), ("（B", "B"), ("ï¼ĪB", "B"), ("\nB", "B"), ("B：", "B"), ("**B", "B"), ("[B]", "B"),
        ("", None), (" ", None), ("Ġ", None), ("AB", None), ("A or", None), ("A/B", None), ("I", None), ("Both", None),
        ("Ans", None), ("C", None), ("first", None), ("第一", None), ("а", None), ("8", None), ("-A", None),
    ],
)  # fmt: skip
def test_the_spellings(token, letter):
    assert spelled(token) == letter


# Without those that are written byte by byte, whose first byte shows as one of these.
PLAIN = {spelling: letter for spelling, letter in spellings(LETTERS).items() if not set(spelling) & set("ïã")}
TOKENS = st.sampled_from([*PLAIN, " A", "ĠB", "▁b", "Answer", "<think>", "", "AB"])
TOPS = st.lists(st.tuples(TOKENS, st.integers(-6000, 0).map(lambda value: value / 100)), max_size=20)
OTHER = str.maketrans("AaＡａBbＢｂ", "BbＢｂAaＡａ")


def test_each_spelling_is_also_a_reply_that_is_read_as_its_letter():
    assert {spelling: read_reply(spelling) for spelling in PLAIN} == PLAIN


@given(TOPS)
def test_both_letters_are_read_alike(listed):
    a, b = top_reader(("A", "B"))(listed)
    assert top_reader(("A", "B"))([(token.translate(OTHER), value) for token, value in listed]) == pytest.approx(
        (b, a), nan_ok=True
    )


# --- end to end --------------------------------------------------------------------------------------------------


from inspect_ai import score as score_again
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from personafeedback_tasks.inspect_tasks import personafeedback as tasks
from support.inspect_runs import inspect_eval

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.inspect_harness.scorers import scores
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.reports.report_text import tables

PLACES = {
    "sure": [{"A": 0.6, " A": 0.1, "B": 0.2, "b": 0.05, "Well": 0.05}],
    "split": [{"B": 0.4, "A": 0.35, "(A": 0.1}],
    "late": [{"\n": 0.8, "A": 0.2}, {"<0x0A>": 0.9, "B": 0.1}, {"B": 0.9, "A": 0.1}],
    "alone": [{"A": 0.99}],
    "neither": [{"Well": 0.9, "I": 0.05}, {"A": 0.9, "B": 0.1}],
    "tied": [{"A": 0.4, "B": 0.4}],
}
"""Kind of reply -> the tokens at its places, the likeliest first."""

SHARES = {
    "sure": (0.7, 0.25),
    "split": (0.45, 0.4),
    "late": (0.1, 0.9),
    "alone": (0.99, 0),
    "neither": None,
    "tied": (0.4, 0.4),
}
"""Kind of reply -> probability of (A, B)."""

KINDS = tuple(PLACES)


def kind(index: int, order: str) -> str:
    """Each kind of reply meets each other kind."""
    return KINDS[index % 6 if order == TWO.names[0] else (index + index // 6) % 6]


def expected(index: int) -> dict[str, float]:
    """The values of a case, by their definitions."""
    kinds = [kind(index, order) for order in TWO.names]
    shares = [(0.99, 0.01) if name == "alone" else SHARES[name] for name in kinds]  # all that the one token leaves
    picked = [
        s is not None and (s[0] > s[1] if order == TWO.names[0] else s[1] > s[0])
        for s, order in zip(shares, TWO.names, strict=True)
    ]
    invalid = [s is None or s[0] == s[1] for s in shares]
    values = {"acc": sum(picked) / 2, "acc_both": float(all(picked)), "invalid": sum(invalid) / 2}
    if None in shares:
        return {**values, "acc_sym": 0.0, "p_chosen": math.nan}
    (a, b), (other_a, other_b) = shares
    good, bad = a * other_b, b * other_a  # odds of the chosen response: a / b in one order, b / a in the other
    return {
        **values,
        "acc_sym": 0.5 if math.isclose(good, bad) else float(good > bad),
        "p_chosen": (a / (a + b) + other_b / (other_a + other_b)) / 2,
    }  # fmt: skip


CASES = load_cases("sample", "general")
INDEX = {case.id: index for index, case in enumerate(CASES)}


def content(places) -> list[dict]:
    """As OpenAI writes log-probabilities."""
    rows = []
    for tokens in places:
        listed = [{"token": t, "logprob": log(p), "bytes": list(t.encode())} for t, p in tokens.items()]
        rows.append({**listed[0], "top_logprobs": listed})
    return rows


@pytest.fixture
def server(httpserver):
    """OpenAI's chat completions. It knows nothing but the prompt it is sent."""
    asked, seen = who_asks(CASES), []

    def places(request: Request) -> tuple[dict, list]:
        body = request.get_json()
        found = body["messages"][-1]["content"]
        case_id, order = asked[found if isinstance(found, str) else "".join(part["text"] for part in found)]
        seen.append(body)
        return body, PLACES[kind(INDEX[case_id], order)]

    def chat_completions(request: Request) -> Response:
        body, found = places(request)
        text = "".join(next(iter(tokens)) for tokens in found)
        choice = {
            "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop",
            "logprobs": {"content": content(found)} if body.get("logprobs") else None,
        }  # fmt: skip
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        completion = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"]}
        return _json({**completion, "choices": [choice], "usage": usage})

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(chat_completions)
    httpserver.seen = seen
    return httpserver


def _json(value: object) -> Response:
    return Response(json.dumps(value), content_type="application/json")


def command(*arguments, folder, **environment):
    from support.inspect_runs import command as inspect_eval

    task = ("personafeedback_tasks/personafeedback_general", "-T", "method=logprobs", "-T", "data=sample")
    return inspect_eval(*task, *arguments, "--log-dir", folder, **environment)


@pytest.mark.slow
def test_a_server_that_returns_log_probabilities(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    url = server.url_for("/v1").rstrip("/")
    done = command("--model", "openai/gpt-4o", "--model-base-url", url, folder=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = tmp_path.glob("*.eval")
    samples = {sample.id: sample.scores["personafeedback_logprobs"] for sample in read_eval_log(str(path)).samples}
    assert samples.keys() == INDEX.keys()
    for case_id, score in samples.items():
        ours = expected(INDEX[case_id])
        assert {key: score.value[key] for key in ours} == pytest.approx(ours, abs=1e-12, nan_ok=True), case_id
        for order in TWO.names:
            shares = SHARES[kind(INDEX[case_id], order)]
            assert score.metadata["p_letters"][order] == pytest.approx(sum(shares or [0]), abs=1e-12)
    assert len(server.seen) == 2 * len(CASES)
    assert {(body["top_logprobs"], body["max_tokens"], body["temperature"]) for body in server.seen} == {(20, 16, 0)}
    check_tables(path)


def check_tables(path):
    """Inspect's table, that of the log scored again, and the report have every metric of every cell."""
    log, report = read_eval_log(str(path)), make_report(read_run(path), CASES)
    again = score_again(log, scores("personafeedback", "logprobs")(), action="overwrite", display="none")
    names = {
        f"{name}_{cell}{of}"
        for name in (*METRICS, "acc_sym", "p_chosen")
        for cell in CASES.cells
        for of in ("", "_stderr")
    }
    for name in ("acc", "acc_sym", "p_chosen"):
        mean = estimates.mean(expected(index)[name] for index in range(len(CASES)))
        for results in (log.results, again.results):
            table = results.scores[0].metrics
            assert names <= table.keys()
            assert table[name].value == pytest.approx(mean, abs=1e-12)
            assert table[f"{name}_stderr"].value > 0
        assert report.overall.measures[name].value == pytest.approx(mean, abs=1e-12), name
        (column,) = [column for table in tables(report) for column in table.columns if column.heading == f"{name} (%)"]
        assert column.texts[-1] == f"{100 * mean:.1f}"


@modelapi(name="letters")
class Letters(ModelAPI):
    """Returns what it is told to: the log-probabilities of PLACES, or something less."""

    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **arguments):  # noqa: B008
        super().__init__(model_name, base_url, api_key, [], config)
        self.arguments = arguments

    async def generate(self, input, tools, tool_choice, config):
        about = input[-1].metadata
        name = kind(INDEX[about["case_id"]], about["call"]) if self.model_name == "all" else self.model_name
        choice = ChatCompletionChoice(message=ChatMessageAssistant(content="A"), stop_reason="stop")
        if name in PLACES:
            choice.logprobs = Logprobs(content=[Logprob(**row) for row in content(PLACES[name])])
        return ModelOutput(model="letters", choices=[choice.model_copy(update=self.arguments)], usage=ModelUsage())


def evaluate(model, tmp_path, **kwargs):
    task = tasks.personafeedback_general(data="sample", method="logprobs")
    (found,) = inspect_eval(task, model=model, log_dir=str(tmp_path), display="none", score_display=False, **kwargs)
    return found


def letters(name, **arguments):
    return get_model(f"letters/{name}", memoize=False, **arguments)


NONE = "found no log-probabilities in the reply of"
ALONE = "found only the log-probability of the generated token in the reply of"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "arguments", "found"),
    [
        ("none", {"logprobs": Logprobs(content=[])}, f"{NONE} letters/none,"),
        ("none", {"logprobs": Logprobs(content=[Logprob(token="A", logprob=0)])}, f"{ALONE} letters/none,"),
    ],
)  # fmt: skip
def test_a_provider_without_log_probabilities_is_an_error_and_no_score(model, arguments, found, tmp_path):
    done = evaluate(letters(model, **arguments), tmp_path)
    assert done.status == "error"
    assert found in done.error.message
    for part in (
        "general_",
        "expected those of the most likely tokens",
        "openai/",
        "vllm/",
        "hf/",
        "leave method=logprobs out",
    ):
        assert part in done.error.message
    assert not any(sample.scores for sample in done.samples or ())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"stop_reason": "content_filter"}, "refusal"),
        ({"stop_reason": "model_length"}, "prompt_cut"),
        ({"message": ChatMessageAssistant(content=""), "logprobs": Logprobs(content=[])}, "no_response"),
        ({"logprobs": Logprobs(content=[Logprob(token="\n", logprob=0)]), "stop_reason": "max_tokens"}, "truncated"),
        ({"logprobs": Logprobs(content=[Logprob(**row) for row in content(PLACES["neither"])])}, "invalid_response_format"),
    ],
)  # fmt: skip
def test_a_reply_without_a_letter_has_its_reason(arguments, reason, tmp_path):
    done = evaluate(letters("none", **arguments), tmp_path, limit=2)
    assert done.status == "success", done.error
    for sample in done.samples:
        score = sample.scores["personafeedback_logprobs"]
        assert score.reason == reason
        assert (score.value["acc"], score.value["acc_sym"], score.value["invalid"]) == (0, 0, 1)
        assert math.isnan(score.value["p_chosen"])
