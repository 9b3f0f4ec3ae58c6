"""Adapter to lm-evaluation-harness (0.4.x): one document, all its calls. Named in the YAML files by `class:`."""

# A document has only ids; the texts are in the requests, which `--log_samples` writes in full. The calls of a case are
# contexts of one document, so that `--limit` counts cases, standard errors are per case and a data-parallel run never
# splits them.

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, groupby, product
from typing import Any

import datasets
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from ..common.errors import OptionError, PersonaFeedbackError
from ..core import messages
from ..core.asked import AskedTask
from ..core.benchmark import find
from ..core.method import LabelMethod, Reply, ReplyMethod, per_call, text_in
from ..core.result import Result
from ..core.signature import signed
from ..core.thinking import mark_open_thinking, token_limit
from ..core.window import KEY as PROMPTS
from . import metrics
from .window import check_prompts

logger = logging.getLogger("lm_eval.personafeedback_tasks")  # lm-eval shows the INFO lines of its own loggers only


class BenchmarkTask(ConfigurableTask):
    """Some cells of a benchmark under one method (`generate_until`, or `multiple_choice` for log-likelihoods).

    The YAML's `dataset_kwargs` name the benchmark, the method and the cells; `--metadata` sets the benchmark's options.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        config = {key: value for key, value in config.items() if key != "class"}
        metadata = config.get("metadata") or {}
        selection = dict(config.get("dataset_kwargs") or {})
        self.benchmark = find(str(selection.pop("benchmark", None)))
        self.method = self.benchmark.method(str(selection.pop("method", None)), "lm-eval")
        if str(metadata.get("version")) != self.benchmark.version:
            raise PersonaFeedbackError(
                f"{config.get('task')}: the YAML file {metadata.get('config_source')} has task version "
                f"{metadata.get('version')}, the installed personafeedback-tasks has {self.benchmark.version}. "
                'Pass --include_path "$(personafeedback register --path)". '
                "(A key `version` in --metadata or --model_args would hide the file's own; leave it out.)"
            )
        if metadata.get("method") not in (None, self.method.name):
            raise OptionError(self._other_method(str(config["task"]), metadata["method"]))
        every = self.benchmark.options_of({**metadata, "method": self.method.name}, strict=False)
        if any(self.benchmark.first(vars(options)) for options in every):
            raise OptionError(
                f"{self.benchmark.first_call}=true works in Inspect only: an lm-eval task cannot build a prompt from an earlier "
                "reply. Leave it out, or run the task in Inspect."
            )
        self.asked = AskedTask.load(self.benchmark, str(config["task"]), selection, every)
        names = self.method.asked(self.asked.settings)
        self._calls = dict(zip(names, product(every, self.method.calls), strict=True))
        self._results: dict[str, list[Result]] = {}  # document id -> what follows from its replies
        # lm-eval logs the metadata, and adds all of --model_args to it, some of which are keys.
        logged = ("version", "config_source", *vars(every[0]))
        metadata = {name: value for name, value in metadata.items() if name in logged}
        more = metrics.of_several(self.benchmark, self.method, self.asked.settings)
        config["metric_list"] = [*config["metric_list"], *more]
        gains = self.benchmark.of_several(self.method, self.asked.settings)
        self._with_stderr = [self.benchmark.primary(self.method), *gains]
        # If a task names this function, lm-eval does not look up its metrics, which would end on the Hub.
        super().__init__(config={**config, "metadata": metadata, "process_results": self.process_results})
        self._config.metadata = {**metadata, **signed(self.asked.signatures)}
        self._config.task_alias = self.asked.name
        if self._config.task_alias != config["task"]:
            _warn_of_remark(self._config.task_alias.removeprefix(config["task"]).strip())

    def _other_method(self, task: str, found: object) -> str:
        # A method in --metadata would change the type of the requests.
        methods = self.benchmark.methods.values()
        here = [f"_{method.suffix}" for method in methods if "lm-eval" in method.harnesses and method.suffix]
        elsewhere = [method.name for method in methods if "lm-eval" not in method.harnesses]
        only = f"; {' and '.join(elsewhere)} work in Inspect only" if elsewhere else ""
        return (
            f"{task}: --metadata must not set method, got {found!r}: in lm-eval the task name selects the method. Use "
            f"the names that end with {' or '.join(here)}, or without a suffix for {next(iter(methods)).name}{only}."
        )

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Take the cells from the benchmark's own loader, not `datasets.load_dataset`: strict, interleaved by user."""
        self.dataset = {self.config.test_split: datasets.Dataset.from_list(self.asked.logged())}

    def doc_to_text(self, doc: Mapping[str, Any], doc_to_text: Any = None) -> str:
        options, call = self._calls[doc.get("call", self.method.calls[0])]
        return self.benchmark.prompt(self.asked.documents[doc["id"]], options, call)

    def doc_to_target(self, doc: Mapping[str, Any], doc_to_target: Any = None) -> list[str]:
        """The right label of each call, case after case. lm-eval logs it as text, beside `targets`."""
        return list(doc["targets"])

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> list[str]:
        """One context per call."""
        context = super().fewshot_context
        return [context({**doc, "call": call}, *args, **kwargs) for call in self._calls]

    def construct_requests(self, doc: dict[str, Any], ctx: Sequence[str], **kwargs: Any) -> list[Instance]:
        requests: list[Instance] = []
        for context in ctx:
            built = super().construct_requests(doc, context, **kwargs)
            requests += built if isinstance(built, list) else [built]
        for index, request in enumerate(requests):
            request.idx = index
        return requests

    def build_all_requests(self, *, tokenizer_name: str = "", **kwargs: Any) -> None:
        self._refuse_several_replies()
        # lm-eval's key for --cache_requests includes neither the prompt nor the data: a stale prompt would be used.
        asked = self.doc_iterator(limit=kwargs.get("limit"), samples=kwargs.get("samples"))  # by all ranks
        self._counted = {*self.benchmark.counted([document["id"] for _, document in asked])}
        super().build_all_requests(tokenizer_name=f"{tokenizer_name}-{self._cache_key()}", **kwargs)
        requests = self.method.requests
        prompts = check_prompts(self._config.task, self.instances, requests, kwargs.get("chat_template"))
        if prompts.refusal:
            raise OptionError(prompts.refusal)
        self._config.metadata[PROMPTS] = prompts.as_dict()
        ranks = kwargs.get("world_size", 1)
        if kwargs.get("rank", 0) == 0:
            logger.info(
                messages.opening(
                    self.asked,
                    {request.doc["id"] for request in self.instances},
                    calls=len(self.instances),
                    prompts=prompts,
                    chat_template=bool(kwargs.get("apply_chat_template")),
                    ranks=f" (rank 0 of {ranks})" if ranks > 1 else "",
                )
            )

    def _refuse_several_replies(self) -> None:
        # Which of several replies to a call counts is open, and lm-eval takes any.
        asked = {"repeats": self._config.repeats, **(self._config.generation_kwargs or {})}
        for name in ("repeats", "n", "num_return_sequences"):
            if (found := asked.get(name)) not in (None, 1):
                raise OptionError(f"{name} must be 1, got {found}: each call has one reply. Leave it out.")

    def _cache_key(self) -> str:
        # changes with everything that a request is built from
        parts = [self.benchmark.version, self.asked.cases.digest]
        for options, signed_as in zip(self.asked.every, self.asked.signatures, strict=True):
            parts += map(str, (*vars(options).values(), signed_as.fingerprint, *signed_as.signs.values()))
        return "-".join(parts)

    def apply_filters(self) -> list[Instance] | None:
        filtered = super().apply_filters()
        (name,) = self.instances[0].filtered_resps
        evidence: Any
        if isinstance(self.method, ReplyMethod):
            replies = []
            for request in self.instances:
                # One text replaces whatever the model's class handed over for each call, so that the log has it.
                text = text_in(request.resps[0])
                request.resps, request.filtered_resps[name] = [text], text
                replies.append(Reply(text, None))
            evidence = mark_open_thinking(replies, self.method, token_limit(self._config.generation_kwargs))
        else:  # (log-likelihood, is greedy) of each label
            values = [request.filtered_resps[name][0] for request in self.instances]
            evidence = per_call(values, self.benchmark.labels)
        answers: list[str] = []
        end = 0
        for case_id, requests in groupby(self.instances, lambda request: request.doc["id"]):
            first, *others = requests
            start, results = end, list[Result]()
            for cases in self.benchmark.logged_cases(self.method, first.doc):
                results += self.method.judge(cases, evidence[end : end + len(self.method.calls)])
                end += len(self.method.calls)
            self._results[case_id] = results
            read: Sequence[str] = [*chain.from_iterable(result.answers for result in results)]
            answers += read
            if isinstance(self.method, LabelMethod):  # the log has what each reply was read to
                if self.method.groups:  # the answers are parts of that
                    read, _ = self.method.readings(evidence[start:end])
                for request, answer in zip([first, *others], read, strict=True):
                    request.filtered_resps[name] = answer
        if warning := messages.unreadable(self.benchmark, self._config.task_alias, answers, self.method, "lm-eval"):
            logger.warning(warning)
        return filtered

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """The numbers of a document, one per case if it has several, and what standard errors and corpus metrics need."""
        if "bypass" in self._metric_fn_list:  # --predict_only
            return {"bypass": 999}
        if doc["id"] not in self._counted:
            return {}
        scored = self._results[doc["id"]]
        rows = self.benchmark.tabled(self.method, scored, "lm-eval")
        found: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        for name in rows[0].values:
            of_cases = [row.values[name] for row in rows]
            found[name] = of_cases if self.method.groups else of_cases[0]
            if name in self._with_stderr:
                errors[f"{name}_stderr"] = (doc["user_id"], of_cases)
        found |= errors
        for name in self.benchmark.corpus:
            item = (self.benchmark.name, name, [result.to_json() for result in scored[: len(rows)]])
            found |= {name: item, f"{name}_stderr": item}
        return found


@cache
def _warn_of_remark(remark: str) -> None:
    # Once per process: six cells of a group would repeat it.
    logger.warning("%s: lm-eval's Groups table cannot show this; its rows keep the plain names.", remark)
