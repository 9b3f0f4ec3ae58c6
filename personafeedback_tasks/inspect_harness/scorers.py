"""Replies -> scores, one scorer for each method of a benchmark; and scores -> the numbers in Inspect's table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, cast

from inspect_ai.event import Event, ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatCompletionChoice, ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from ..common.errors import OptionError
from ..core.benchmark import SETTINGS, Benchmark, find
from ..core.method import Evidence, FirstToken, Method, Reply, ReplyMethod, RewardMethod, TopTokenMethod
from ..core.result import Result
from ..core.rewards import Reward, RewardError, correlations
from ..core.table import table
from ..core.thinking import marked_if_open, shows_thinking
from ..parsing.letter_probabilities import first_written, mass
from ..stats.estimates import mean
from .calls import choice
from .reward_api import API

RESULTS = "results"
"""Key in the metadata of a score: the results of its cases, as `Result.to_json` makes them."""

THINKS, IF_THINKS = "thinks", "if_thinks"
"""Keys: a reply of the sample shows thinking; the results that count if one of another sample does, since a scorer sees
one sample at a time."""


def score_name(benchmark: Benchmark, method: Method) -> str:
    """The scorer's name. A method has one of its own: a log that is scored again tells the scorer no method."""
    return benchmark.task("", method.suffix)


@cache
def scores(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method.

    Of rewards, acc is 1 if the right response alone has the highest reward, so 0 on a tie; acc_half is an equal share
    there, 0.5 of two; tie says whether it is one; acc_<aspect> is acc of one output of the model.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]
    more = [pearson()] if isinstance(method, RewardMethod) else []

    @scorer(metrics=[measures(name, method_name), *more], name=score_name(benchmark, method))
    def of_method() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            logged = {**state.metadata, "id": str(state.sample_id), "targets": list(target)}
            settings = logged.get(SETTINGS) or [""]
            under = benchmark.logged_cases(method, logged, state.epoch)
            each, calls = len(method.calls), len(method.calls) * len(under)
            answered, noted = state.output.choices, state.output.metadata or {}
            if len(answered) != calls:  # the sample ended early
                events = transcript().events
                answered = [*replies(state.output, events, method.asked(settings)).values()]
                noted = first_outcome(events, benchmark.first_call)
            if len(answered) < calls:
                why = f"{len(answered)} of {calls} calls were answered: does not count."
                return Score.unscored(reason="unanswered", explanation=why)  # Inspect leaves it out of its metrics
            evidence: Sequence[Any] = evidence_of(method, answered, f"{state.sample_id}", f"{state.model}")
            notes: dict[str, Any] = {}
            # A scorer sees one sample at a time: how it reads if another sample thinks is kept beside.
            marked = [marked_if_open(one, method) for one in evidence]
            if shows_thinking(evidence):
                evidence, notes[THINKS] = marked, True
            results, if_thinks = list[Result](), list[Result]()
            for place, cases in enumerate(under):
                of_setting = slice(place * each, (place + 1) * each)
                results += method.judge(cases, evidence[of_setting])
                if marked != evidence:
                    if_thinks += method.judge(cases, marked[of_setting])
            if if_thinks:
                notes[IF_THINKS] = [result.to_json() for result in if_thinks]
            if benchmark.first_call in noted:
                notes[benchmark.first_call] = noted[benchmark.first_call]
            answers = [*chain.from_iterable(result.answers for result in results)]
            shown, of_model = list[str](answers), dict[str, Any]()
            if isinstance(method, ReplyMethod) and method.groups:  # the answers are parts of what a call was read to
                shown = [*method.readings(evidence)[0]]
            elif isinstance(method, RewardMethod):
                shown, setup = [reply.message.text for reply in answered], answered[0].message.metadata or {}
                of_model = {name: setup[name] for name in ("persona", "dtype", "revision") if name in setup}
            elif isinstance(method, TopTokenMethod):
                masses = [mass(method.likelihoods(given)[1]) for given in evidence]
                of_model = {"p_letters": dict(zip(method.asked(settings), masses, strict=True))}
            rows = benchmark.tabled(method, results, "inspect")
            value = dict(rows[0].values)
            if len(rows) > 1:  # of a group of cases, the table has their mean
                value = {name: mean(row.values[name] for row in rows) for name in value}
            return Score(
                value=value,
                answer=", ".join(shown),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={RESULTS: [result.to_json() for result in results], **of_model, **notes},
            )

        return score

    return of_method


# --- replies -> evidence ----------------------------------------------------------------------------------------------


def replies(output: ModelOutput, events: Iterable[Event], calls: Sequence[str]) -> dict[str, ChatCompletionChoice]:
    """Call -> its reply; of a sample that ended early, the replies that exist.

    Args:
        events: of the sample. They tell where it ended early: then Inspect knows at most the last output.
        calls: in the order in which they were made.
    """
    if len(output.choices) == len(calls):
        return dict(zip(calls, output.choices, strict=True))
    found = {}
    for call, about in made(events):
        if not (call.error or call.pending):  # one that a limit or an error ended has an output, too: an empty one
            found[about.get("call")] = choice(call.output)
    return {call: found[call] for call in calls if call in found}


def first_outcome(events: Iterable[Event], call: str) -> dict[str, str]:
    """How the reply to a first call was read, where a sample has nothing but events: of a killed run."""
    for _, about in made(events):
        if call in about:
            return {call: about[call]}
    return {}


def made(events: Iterable[Event]) -> list[tuple[ModelEvent, dict[str, Any]]]:
    """The calls of a model, each with what its last message says about it."""
    return [
        (event, event.input[-1].metadata or {}) for event in events if isinstance(event, ModelEvent) and event.input
    ]


_PROVIDERS = (
    "openai/, google/, grok/, vllm/, sglang/ or hf/, or of openai-api/, openrouter/, fireworks/, deepseek/, ollama/ or "
    "llama-cpp-python/ where the server returns them"
)
"""They return alternatives to each token in inspect-ai 0.3.285. together/ returns only the generated token."""


def evidence_of(method: Method, replies: Sequence[ChatCompletionChoice], case_id: str, model: str) -> list[Evidence]:
    """Evidence from the model's replies to the calls, as far as there are any.

    Raises:
        OptionError: the method compares log-probabilities and the model returned none.
        RewardError: a reply is no reward.
    """
    if isinstance(method, RewardMethod):
        return [*_rewards(method, replies, case_id)]
    if isinstance(method, TopTokenMethod):
        return [first_token(reply, case_id, model) for reply in replies]
    texts: list[Evidence] = []
    for reply in replies:
        stopped, content = reply.stop_reason, reply.message.content
        texts.append(
            Reply(
                reply.message.text,
                truncated=None if stopped == "unknown" else stopped == "max_tokens",
                filtered=stopped == "content_filter",
                thinking=not isinstance(content, str) and any(part.type == "reasoning" for part in content),
                prompt_cut=stopped == "model_length",
            )
        )
    return texts


def first_token(reply: ChatCompletionChoice, case_id: str, model: str) -> FirstToken:
    """The token where the label of a reply must be. Raises OptionError if the model returned no log-probabilities."""
    stopped = reply.stop_reason
    tokens = reply.logprobs.content if reply.logprobs else []
    if not tokens and stopped in ("content_filter", "model_length"):
        return FirstToken((), filtered=stopped == "content_filter", prompt_cut=stopped == "model_length")
    if reply.logprobs is None or (reply.message.text and not tokens):
        raise _none_returned(case_id, model, "no log-probabilities")
    place = first_written([token.token for token in tokens])
    if place is None:
        return FirstToken((), stopped == "max_tokens")
    token = tokens[place]
    if not token.top_logprobs:
        raise _none_returned(case_id, model, "only the log-probability of the generated token")
    # What was generated need not be among the most likely.
    return FirstToken([(token.token, token.logprob), *((other.token, other.logprob) for other in token.top_logprobs)])


def _none_returned(case_id: str, model: str, found: str) -> OptionError:
    return OptionError(
        f"{case_id}: found {found} in the reply of {model}, expected those of the most likely tokens, which "
        f"method=logprobs compares. Use a model that does not reason before it answers, from {_PROVIDERS}; or leave "
        "method=logprobs out."
    )


def _rewards(method: Method, replies: Sequence[ChatCompletionChoice], case_id: str) -> list[Reward]:
    rewards = []
    for reply in replies:
        about = reply.message.metadata or {}
        if "reward" in about:
            aspects = {name: float(value) for name, value in about["aspects"].items()}
            rewards.append(Reward(float(about["reward"]), aspects))
    if len(rewards) != max(len(replies), len(method.calls)):
        raise RewardError(
            f"sample {case_id}: found the rewards of {len(rewards)} responses, expected both. "
            f"Run the case again with --model {API}/... -T method=reward."
        )
    return rewards


# --- the numbers in Inspect's table -----------------------------------------------------------------------------------


@metric
def measures(benchmark: str, method: str) -> Metric:
    """Every key of the scores: its mean and standard error over all cases, and over each cell and group of cells that
    is less than all.

    They are called `acc`, `acc_stderr`, `acc_CELL`, `acc_CELL_stderr`, ... Means are weighted by cases, nan is left
    out; standard errors are clustered by user. Metrics over the corpus are beside them. The method's primary measure is
    repeated as `accuracy` and `stderr`, the names that other tools know.

    One metric without a reducer computes all: a reducer or a dict of metrics makes Inspect copy every score for each
    key.
    """
    record = find(benchmark)
    of_method = record.methods[method]
    primary = record.primary(of_method)

    # Without this annotation Inspect passes bare scores, stripped of their metadata.
    def compute(scores: list[SampleScore]) -> Value:
        results = in_view([score.score.metadata or {} for score in scores])
        rows = record.tabled(of_method, results, "inspect")
        counted = {*record.counted({row.case_id for row in rows})}
        found = table([row for row in rows if row.case_id in counted], record.columns, record.corpus)
        if primary in found:
            found |= {"accuracy": found[primary], "stderr": found[f"{primary}_stderr"]}
        return cast(Value, found)

    return compute


@metric
def pearson() -> Metric:
    """`pearson_reward` and `pearson_<aspect>`: correlation of the rewards with being the better response."""

    def compute(scores: list[SampleScore]) -> Value:  # annotated for the same reason
        cases: dict[str, list[Any]] = {}
        results = in_view([score.score.metadata or {} for score in scores])
        for result in results:
            if result.setting == results[0].setting:
                cases.setdefault(result.case_id, []).append(result.rewards or {})
        return cast(Value, correlations(cases.values()))

    return compute


def in_view(notes: Sequence[Mapping[str, Any]]) -> list[Result]:
    """The results in the metadata of the scores of a run, read in view of each other."""
    thinks = any(THINKS in note for note in notes)
    found = []
    for note in notes:
        for logged in (thinks and note.get(IF_THINKS)) or note.get(RESULTS, ()):
            found.append(Result.from_json(logged))
    return found
