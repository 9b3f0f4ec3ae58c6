"""Adapter to lm-evaluation-harness (0.4.x): one document, two orders. Named in the YAML files by `class:`.

A document holds ids only; the texts stand in the requests, which `--log_samples` writes in full. The two orders of
a case are two contexts of one document, so that `--limit` counts cases, standard errors are per case and a
data-parallel run never parts a pair.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from functools import cache, cached_property
from typing import Any

import datasets
from lm_eval.api.filter import Filter
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from .. import TASK_VERSION
from ..common import statistics
from ..common.errors import OptionError, PersonaFeedbackError
from ..personafeedback import notices, prompts, scoring
from ..personafeedback.cases import CaseSet, load_cases
from ..personafeedback.options import Options
from ..personafeedback.orders import CHOSEN_LETTER, ORDERS
from ..personafeedback.signature import KEY, memory_digest, signature
from ..replies.answers import read_last_line, read_reply

logger = logging.getLogger("lm_eval.personafeedback")  # lm-eval shows the INFO lines of its own loggers only

mean = statistics.mean
"""Aggregation that leaves nan out; lm-eval's own `mean` would turn one nan into a nan for the whole task."""


def user_stderr(items: Sequence[tuple[str, float]]) -> float:
    """Aggregation: standard error clustered by user, from one (user_id, acc) per case."""
    users, values = zip(*items, strict=True)
    return statistics.clustered_stderr(values, users)


class ReadReply(Filter):
    """Filter: the text of a reply -> its letter, or the reason why there is none (logged as `filtered_resps`)."""

    read = staticmethod(read_reply)

    def apply(self, resps: Any, docs: Any) -> list[str]:
        replies = list(resps)
        answers = {reply: self.read(reply) for reply in set(replies)}  # most replies are the same two letters
        return [answers[reply] for reply in replies]


class ReadLastLine(ReadReply):
    """Filter of the `_cot` tasks: the reasons above the last line are not read."""

    read = staticmethod(read_last_line)


_LENGTHS = ("max_length", "max_model_len")
"""What --model_args call the length of a model's context."""

_LOGGED = ("version", "config_source", *(field.name for field in fields(Options)))
"""The metadata that lm-eval logs: its own and our options. It adds all of --model_args to them, and some of those are keys."""


class PersonaFeedbackTask(ConfigurableTask):
    """One cell of the benchmark under one method (`generate_until`, or `multiple_choice` for the `_mc` tasks).

    The cell stands in the YAML's `dataset_kwargs`; `--metadata` sets the fields of `options.Options`.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        config = {key: value for key, value in config.items() if key != "class"}
        metadata = config.get("metadata") or {}
        if str(metadata.get("version")) != TASK_VERSION:
            raise PersonaFeedbackError(
                f"{config.get('task')}: the YAML file {metadata.get('config_source')} is of task version "
                f"{metadata.get('version')}, the installed personafeedback-tasks of {TASK_VERSION}. "
                'Run `personafeedback register` again, or pass --include_path "$(personafeedback task-configs)". '
                "(A key `version` in --metadata or --model_args would hide the file's own: leave it out.)"
            )
        method = _method(config["task"])
        if metadata.get("method") not in (None, method):
            raise OptionError(
                f"{config['task']}: found method={metadata['method']!r} in --metadata, expected none: in lm-eval the name of the "
                "task says the method. Use the names that end with _cot or _mc, or without a suffix for generate; logprobs "
                "and reward work in Inspect only."
            )
        self.options = Options.read({**metadata, "method": method})
        if self.options.rag_filter:
            raise OptionError(
                "rag_filter=true works in Inspect only: a task of lm-eval cannot let the model reply to a first prompt before it "
                "writes the next. Leave it out, or run the task in Inspect."
            )
        self._lengths = {name: metadata[name] for name in _LENGTHS if isinstance(metadata.get(name), int)}
        metadata = {name: value for name, value in metadata.items() if name in _LOGGED}
        super().__init__(config={**config, "metadata": metadata})
        signed = signature(config["task"], self.cases, self.options)
        self._config.metadata = {**metadata, KEY: signed}
        self._config.task_alias = signed["task"]
        if self._config.task_alias != config["task"]:
            _warn_of_remark(self._config.task_alias.removeprefix(config["task"]).strip())

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Load the cell with our own loader instead of `datasets.load_dataset`: strict, and spread over users."""
        self.cases: CaseSet = load_cases(self.options.data, counts=self.options.counts, **(dataset_kwargs or {}))
        self.options.check(self.cases)
        self._case_of = {case.id: case for case in self.cases}
        rows = [
            {
                "id": c.id,
                "category": c.category,
                "difficulty": c.difficulty,
                "user_id": c.user_id,
                "language": c.language,
                "digest": c.digest,
            }
            for c in self.cases
        ]
        self.dataset = {self.config.test_split: datasets.Dataset.from_list(rows)}

    def doc_to_text(self, doc: Mapping[str, Any], doc_to_text: Any = None) -> str:
        return prompts.build(self._case_of[doc["id"]], self.options, doc.get("order", ORDERS[0]))

    def doc_to_target(self, doc: Mapping[str, Any], doc_to_target: Any = None) -> list[str]:
        """The letter of the chosen response in each order."""
        return [CHOSEN_LETTER[order] for order in ORDERS]

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:
        """One context per order."""
        context = super().fewshot_context
        return [context({**doc, "order": order}, *args, **kwargs) for order in ORDERS]

    def construct_requests(self, doc: dict[str, Any], ctx: Sequence[str], **kwargs: Any) -> list[Instance]:
        requests: list[Instance] = []
        for context in ctx:
            built = super().construct_requests(doc, context, **kwargs)
            requests += built if isinstance(built, list) else [built]
        for index, request in enumerate(requests):
            request.idx = index
        return requests

    def build_all_requests(self, *, tokenizer_name: str = "", **kwargs: Any) -> None:
        self._check_room()
        # lm-eval's key for --cache_requests knows neither the prompt nor the data: a stale prompt would be used.
        super().build_all_requests(tokenizer_name=f"{tokenizer_name}-{self.fingerprint}", **kwargs)
        ranks = kwargs.get("world_size", 1)
        if kwargs.get("rank", 0) == 0:
            asked = dict.fromkeys(request.doc["id"] for request in self.instances)
            logger.info(
                notices.opening(
                    task=f"{self._config.task_alias}{f' (rank 0 of {ranks})' if ranks > 1 else ''}",
                    asked=[self._case_of[case_id] for case_id in asked],
                    calls=len(self.instances),
                    template=self.options,
                    data=self.cases,
                    chat_template=bool(kwargs.get("apply_chat_template")),
                )
            )

    def _check_room(self) -> None:
        """Refuse a context without room for a prompt, where --model_args name its length: nothing else tells a task."""
        room = (self._config.generation_kwargs or {}).get("max_gen_toks", 0)
        for name, length in self._lengths.items():
            if length <= room:
                raise OptionError(
                    f"{self._config.task}: found {name}={length} in --model_args, expected more than the {room} new tokens that "
                    f"a reply may have (max_gen_toks): no prompt would fit. Raise {name} to that and the longest prompt "
                    "together, or lower max_gen_toks with --gen_kwargs."
                )

    @cached_property
    def fingerprint(self) -> str:
        """Changes with everything that a request is built from."""
        memory = str(memory_digest(self.cases, self.options))
        template = (*map(str, astuple(self.options)), self.options.fingerprint())
        return "-".join((TASK_VERSION, *template, self.cases.digest, memory))

    def apply_filters(self) -> list[Instance] | None:
        filtered = super().apply_filters()
        (name,) = self.instances[0].filtered_resps
        results = [request.filtered_resps[name] for request in self.instances]
        answers = _read_pairs(results) if self.options.method == "mc" else results
        if warning := notices.unreadable(self._config.task_alias, answers, self.options.method):
            logger.warning(warning)
        return filtered

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        if "bypass" in self._metric_fn_list:  # --predict_only
            return {"bypass": 999}
        return super().process_results(doc, results)


def _method(task: str) -> str:
    """In lm-eval the method is part of the name, since it changes the type of the requests."""
    suffix = task.rpartition("_")[2]
    return suffix if suffix in ("mc", "cot") else "generate"


def score_replies(doc: Mapping[str, Any], answers: Sequence[str]) -> dict[str, Any]:
    """`process_results` of the generating tasks: one answer per order -> one value per metric."""
    values: dict[str, Any] = scoring.as_dict(scoring.score_answers(answers))
    return {**values, "acc_se_user": (doc["user_id"], values["acc"])}


def score_log_likelihoods(doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """`process_results` of the `_mc` tasks: (log-likelihood, is greedy) of A, B per order -> one value per metric."""
    acc_sym = scoring.score_symmetric(_pairs(results))
    return {**score_replies(doc, _read_pairs(results)), "acc_sym": acc_sym}


def _pairs(results: Sequence[tuple[float, bool]]) -> list[scoring.LogLikelihoods]:
    return scoring.letter_pairs([log_likelihood for log_likelihood, _ in results])


def _read_pairs(results: Sequence[tuple[float, bool]]) -> list[str]:
    return [scoring.read_log_likelihoods(pair) for pair in _pairs(results)]


@cache
def _warn_of_remark(remark: str) -> None:
    """Once per process: six cells of a group would say the same."""
    logger.warning("%s: lm-eval's Groups table cannot show this, its rows keep the plain names.", remark)
