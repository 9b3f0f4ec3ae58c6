"""A report -> the model card: `model-index`, a section, and `.eval_results`. Nothing is uploaded."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResult
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.repocard_data import eval_results_to_model_index
from huggingface_hub.utils import yaml_dump

from ..analysis.documents import Group, ReportedRun
from ..analysis.sentences import sentence
from ..common import foreign
from ..common.errors import PersonaFeedbackError
from ..common.files import write
from ..core.cases import HUB_COMMIT, CaseSet
from ..core.report import CardSpec
from ..logs.caveat import FORBIDS, VOID
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import Estimate
from .card_text import section, variant
from .table import interval

EVAL_RESULTS = ".eval_results"

# keys of caveats on facts that a card needs and a report does not
_UNCHECKED = ("counts_unchecked", "no_data", "prompts_unchecked")


class CardError(PersonaFeedbackError):
    """A run that should not be published, or a card that it cannot go into."""


def update_card(
    run: Run,
    controls: Mapping[str, Run],
    report: ReportedRun,
    cases: CaseSet[Any] | None,
    path: Path,
    costs: Mapping[str, Estimate],
) -> str:
    """Write the numbers of a report into a model card, and return what to tell the user. Repeating it changes nothing.

    Each way of asking has one section and its own `model-index` entries. All other text and metadata stay, but for
    comments among the metadata.

    Args:
        controls: value of the control's option -> the run under it, as in the report.
        cases: the data of the run; None is refused.
        path: the card; created if there is none.
        costs: what knowing the user costs, as `balance.costs_beside` has it.

    Raises:
        CardError: this run should not be published, or the card is of another model or cannot be read.
    """
    spec = refuse_unpublishable(run, report)
    assert cases is not None  # a report without them has the caveat `no_data`
    signed = {value: signature_line(control, public=True) for value, control in controls.items()}
    made = results(run, report, spec, signed)
    old = _read(path)
    new = _updated(path, old, run, spec, made, section(run, report, cases, spec, signed, costs))
    if new != old:
        write(path, new)
    return (
        f"{path}: {'nothing to change' if new == old else 'updated'}. Nothing was uploaded. An upload replaces the "
        "model's card on the Hub: begin with that card (hf download OWNER/MODEL README.md --local-dir .)."
    )


def refuse_unpublishable(run: Run, report: ReportedRun) -> CardSpec:
    """The card's texts for the run's benchmark. Raises CardError, with the reasons, for a run unfit for a card."""
    log, spec = run.logs[0], run.benchmark.report.card
    if spec is None:
        raise CardError(f"{log}: found a run of {run.benchmark.title}, which has no model card. Use `report`.")
    reasons = [one for one in report.caveats if one.severity in (VOID, FORBIDS) or one.key in _UNCHECKED]
    if reasons:
        raise CardError(
            f"{log}: found a run that should not be in a model card, expected a whole run on the benchmark's own data. "
            f"{' '.join(map(sentence, reasons))} Finish the run, repeat it without these problems, or use `report`."
        )
    return spec


def results(run: Run, report: ReportedRun, spec: CardSpec, signed: Mapping[str, str]) -> list[EvalResult]:
    """One result per group and measure for `model-index`, in percent; the source is left to the card's author.

    Args:
        signed: value of the control's option -> signature of the run under it.
    """
    signature = foreign.line(signature_line(run, report.audit, public=True))
    remarks = f" ({', '.join(run.remarks)})" if run.remarks else ""
    dataset, commit = data_set_of(run, spec)

    def result(group: Group, key: str, found: Estimate) -> EvalResult:
        is_score = key in scores
        args: dict[str, Any] = {"asked": variant(run), "method": run.method.name, "calls": run.method.per_case}
        if not math.isnan(found.low):
            args |= {"interval_95": [_rounded(found.low), _rounded(found.high)], "stderr": _rounded(found.stderr)}
        args |= {"cases": found.n, "users": found.users}
        if is_score:
            refusals = group.reasons.get("refusal", 0)
            args |= {"refusals": refusals, "unreadable": sum(group.reasons.values()) - refusals}
            args |= {f"baseline_{name}": _rounded(group.measures[name].value) for name in spec.baselines}
        else:
            args["control"] = foreign.line(signed[controls[key]])
        name, unit = (key, "%") if is_score else (key.replace("_", " "), "points")
        return EvalResult(
            task_type="multiple-choice",
            task_name="Multiple Choice",
            dataset_type=dataset,
            dataset_name=foreign.line(run.title),
            dataset_config=group.name,
            dataset_split="test",
            dataset_revision=commit,
            metric_type="accuracy" if is_score else key,
            metric_name=foreign.line(f"{name} ({run.method.per_case}), {unit}{remarks}"),
            metric_value=_rounded(found.value),
            metric_args={**args, "signature": signature},
        )

    controls = {name.replace(" ", "_"): value for name, value in report.controls.items()}
    scores = dict.fromkeys((run.primary, "acc"))
    found = [(group, key, group.measures.get(key)) for group in report.groups.values() for key in (*scores, *controls)]
    return [result(group, key, one) for group, key, one in found if one is not None and not math.isnan(one.value)]


def _rounded(value: float) -> float:
    return round(100 * value, 2)


def data_set_of(run: Run, spec: CardSpec) -> tuple[str, str | None]:
    """(id on the Hub of the data, their commit where they were read there); for a set elsewhere its name."""
    named, hub = run.named_set, HUB_COMMIT.fullmatch(str(run.signature.source))
    own = hub["id"] if hub else None
    dataset = spec.dataset if named is None else own or foreign.line(named.name)
    return dataset, hub["commit"] if hub and own == dataset else None


# --- the file ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: found a file that cannot be read ({error}), expected text in UTF-8.") from error


class _Loader(yaml.SafeLoader):
    """Refuses a key that a mapping has twice: PyYAML would keep the last value only."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            # compared as they are read, `yes` and `true` are one key; `<<` and `=` are only read within their mapping
            read = key.value if key.tag.endswith((":merge", ":value")) else self.construct_object(key)
            if read in seen:
                line = key.start_mark.line + 1
                raise yaml.YAMLError(f"line {line} has the key {key.value!r} again, keep one of them")
            seen.add(read)
        return node


def _updated(path: Path, old: str, run: Run, spec: CardSpec, made: Sequence[EvalResult], text: str) -> str:
    newline = "\r\n" if "\r\n" in old else "\n"
    content = old.replace("\r\n", "\n")
    block = REGEX_YAML_BLOCK.search(content)
    body = content[block.end() :] if block else content or f"# {foreign.markdown(run.name)}\n"
    try:
        above = content.count("\n", 0, block.start(2)) if block else 0  # so that an error names the line of the file
        metadata = yaml.load("\n" * above + f"{block[2]}\n", _Loader) if block else {}
        front = yaml_dump(_with_results(path, metadata or {}, run, spec, made), sort_keys=False)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, yaml.YAMLError) as error:
        raise CardError(
            f"{path}: found metadata that cannot be read ({' '.join(str(error).split())}), expected those of a valid "
            "card between the two lines ---. Fix them, then run this again."
        ) from error
    return f"---\n{front}---\n{_with_section(path, body, variant(run), text)}".replace("\n", newline)


def _with_results(
    path: Path, metadata: Mapping[str, Any], run: Run, spec: CardSpec, made: Sequence[EvalResult]
) -> dict[str, Any]:
    own = foreign.line(run.name)
    models = metadata.get("model-index") or [{"name": metadata.get("model_name", own), "results": []}]
    names = [str(model["name"]) for model in models]
    places = [place for place, name in enumerate(names) if same_model(own, name)]
    if not places:
        raise CardError(
            f"{path}: found the card of {' and '.join(names)}, expected that of {own}, the model of this run. "
            "Pass that model's card as --model-card. If both names are of one model, give the run the card's "
            "name with --name."
        )
    model = models[places[0]]
    kept = []
    for result in model["results"]:
        # ModelCard.save joins the results on the same data: others' are kept
        metrics = [metric for metric in result["metrics"] if not _is_earlier(result, metric, run, spec)]
        if metrics or not result["metrics"]:
            kept.append({**result, "metrics": metrics})
    (new,) = eval_results_to_model_index(own, list(made))
    model["results"] = [*kept, *new["results"]]
    return {**metadata, "model-index": models}


def _is_earlier(result: Mapping[str, Any], metric: Mapping[str, Any], run: Run, spec: CardSpec) -> bool:
    args = metric.get("args")
    if not isinstance(args, Mapping) or not str(args.get("signature")).startswith("personafeedback-tasks "):
        return False
    return args.get("asked") == variant(run) and result["dataset"]["type"] == data_set_of(run, spec)[0]


def same_model(one: str, other: str) -> bool:
    """Whether two names are of one model: the same owner and model behind any provider, or one without an owner."""
    parts, theirs = (re.sub(r"[\s_]", "-", name.casefold()).split("/") for name in (one, other))
    shared = min(len(parts), len(theirs), 2)
    return parts[-shared:] == theirs[-shared:]


def _with_section(path: Path, body: str, key: str, text: str) -> str:
    # the markers are lines of their own: no text of others in a card is one
    begin, end = (f"<!-- personafeedback: {side} {key} -->" for side in ("begin", "end"))
    section = f"{begin}\n\n{text}\n\n{end}"
    lines = body.split("\n")
    starts, ends = lines.count(begin), lines.count(end)
    if starts == ends == 0:
        return f"{body.rstrip()}\n\n{section}\n"
    if starts == ends == 1 and lines.index(begin) < lines.index(end):
        return "\n".join([*lines[: lines.index(begin)], section, *lines[lines.index(end) + 1 :]])
    raise CardError(
        f"{path}: found {starts} `{begin}` and {ends} `{end}`, expected one of each, in this order: the text "
        "between them is replaced. Restore them, or delete them all for a new section at the end."
    )


def write_eval_results(run: Run, report: ReportedRun, spec: CardSpec, folder: Path) -> Path:
    """Write the run's score in each group, in percent, to `.eval_results/BENCHMARK.yaml`, in place of an earlier one.

    A data set's leaderboard on the Hub shows it once its owners register a benchmark.

    The error and the conditions are in `notes`, the only field for them.

    Args:
        folder: of the model's repository.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    dataset, commit = data_set_of(run, spec)
    entries = []
    for group in report.groups.values():
        score = group.measures[run.primary]
        measured = f"{run.primary}, 95 % {interval(score)} by {score.users:,} users, {score.n:,} cases"
        asked = ", ".join([run.method.name, *run.remarks])
        entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=run.task if group.name == "total" else f"{run.task}_{group.name}",
                value=round(100 * score.value, 2),
                dataset_revision=commit,
                date=run.date,
                notes=f"{measured}; {asked}; {report.short_signature}",
            )
        )
    path = folder / EVAL_RESULTS / f"{run.benchmark.name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True))
    return path
