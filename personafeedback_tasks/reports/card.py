"""A report -> the model card: `model-index` metadata and a Markdown section.

Nothing is uploaded. huggingface_hub reads and writes the metadata, without their comments. All other text is unchanged, byte for byte.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult
from huggingface_hub.repocard_data import eval_results_to_model_index

from ..analysis.groups import Group
from ..analysis.report import Report
from ..common import foreign
from ..common.files import locked, write
from ..common.statistics import Estimate
from ..engine.cases import CaseSet
from ..engine.report import CardSpec
from ..runs.run import Run
from ..runs.signature_line import HUB_COMMIT, model_of, signature_line
from .card_file import CardError, Index, metadata_of, newline_of, parts, read, sections_of, with_metadata, with_section
from .card_models import has_only_ours, of_others, signature_in, with_results
from .card_refusals import refuse_unpublishable
from .card_text import dropped, section, signature_of, unreadable, variant


def update_card(report: Report, cases: CaseSet[Any] | None, card: Path, replace: bool = False) -> list[str]:
    """Write the numbers of a report into a model card. Repeating it changes nothing.

    A run has one section and its own `model-index` entries per way of asking (setting, method, prompt, language, hidden
    fields); those of other ways and of other benchmarks stay.

    Args:
        cases: the data of the run; None is refused.
        card: the card, on the Hub or not; created if there is none.
        replace: whether to remove sections and a `model-index` of another model.

    Returns:
        What to tell the user, one line each.

    Raises:
        CardError: this run should not be published, the card is of another model, or it cannot be changed without a loss. Nothing is
            written then.
        FileError: the card cannot be written. It is unchanged.
    """
    spec = refuse_unpublishable(report, cases)
    assert cases is not None  # refused above
    with locked(card):
        old = read(card)
        new, removed, is_alone = _with_our_parts(card, old or "", report, cases, spec, replace)
        if new != old:
            write(card, new)
    before = [part.text for part in sections_of(old or "") if part.key == variant(report.run)]
    gone = dropped(report, before[0]) if before else ""
    done = "created." if old is None else "updated; everything else unchanged, but for comments in the metadata."
    return [
        f"{card}: {'nothing to change.' if new == old else done}",
        *(f"Removed of {foreign.terminal(name)}: {what}." for name, what in removed.items()),
        *([gone] if gone else []),
        *(_download_first(card) if is_alone else _upload(card)),
    ]


def _upload(card: Path) -> list[str]:
    return [
        "Nothing was uploaded. To open a pull request on the Hub:",
        "    " + shlex.join(["hf", "upload", "OWNER/MODEL", str(card), "README.md", "--create-pr"]),
    ]


def _download_first(card: Path) -> list[str]:
    folder = card.parent if card.name == "README.md" else card.parent / f"{card.stem}-hub"
    again = "" if folder / "README.md" == card else f" with {shlex.join(['--model-card', str(folder / 'README.md')])}"
    return [
        "Do not upload this file: it would replace the text, license and tags of the model's card on the Hub. Download that card:",
        "    " + shlex.join(["hf", "download", "OWNER/MODEL", "README.md", "--local-dir", str(folder)]),
        f"Then run this command again{again}.",
    ]


def results(report: Report, spec: CardSpec) -> list[EvalResult]:
    """One result per group and measure for `model-index`.

    Values are in percent, as on the Hub's leaderboards. `verified` is left to the Hub, and so is the source, whose
    address only the author of the card can know.
    """
    run = report.run
    remarks = f" ({', '.join(run.remarks)})" if run.remarks else ""

    def result(group: Group, kind: str, name: str, unit: str, found: Estimate, more: Mapping[str, Any]) -> EvalResult:
        ends = {"interval_95": [_rounded(found.low), _rounded(found.high)], "stderr": _rounded(found.stderr)}
        args = {
            **_asked(run),
            "calls": run.method.per_case,
            **({} if math.isnan(found.low) else ends),  # one user, or no spread
            "cases": found.n,
            "users": found.users,
            **more,
            "signature": foreign.yaml(signature_of(report)),
        }
        return EvalResult(
            task_type="multiple-choice",
            task_name="Multiple Choice",
            dataset_type=_dataset(run, spec),
            dataset_name=foreign.yaml(run.title),
            dataset_config=group.name,
            dataset_split="test",
            dataset_revision=_commit(run, spec),
            metric_type=kind,
            metric_name=foreign.yaml(f"{name} ({run.method.per_case}), {unit}{remarks}"),
            metric_value=_rounded(found.value),
            metric_args=args,
        )

    made = []
    for group in report.groups:
        replies = {
            "refusals": group.reasons.get("refusal", 0),
            "unreadable": sum(unreadable(group).values()),
            **{f"baseline_{baseline}": _rounded(group.baselines[baseline].value) for baseline in spec.baselines},
        }
        scores = {name: group.measures[name] for name in sorted(spec.measures, key=lambda name: name != run.primary)}
        made += [
            result(group, "accuracy", name, "%", score, replies)
            for name, score in scores.items()
            if not math.isnan(score.value)
        ]
        for name, difference in report.differences(group.name).items():
            control = report.controls[report.named_controls[name]]
            more = {"control": foreign.yaml(signature_line(control, public=True))}
            made.append(result(group, name.replace(" ", "_"), name, "points", difference, more))
    return made


def _asked(run: Run) -> dict[str, Any]:
    """The options that tell the ways of asking apart: the setting and the method, and what is not the default."""
    options = run.benchmark.options
    names = dict.fromkeys((*(name for name in options.always() if name != "prompt"), *options.changed(run.signature)))
    return {name: _safe(run.signature[name]) for name in names}


def _safe(value: Any) -> Any:
    """A value that YAML of any version reads as it is."""
    return (
        list(map(_safe, value)) if isinstance(value, list) else foreign.yaml(value) if isinstance(value, str) else value
    )


def _rounded(value: float) -> float:
    return round(100 * value, 2)


def _dataset(run: Run, spec: CardSpec) -> str:
    """The id on the Hub of the benchmark's data; of a set its own, or its name if it did not come from there."""
    if run.named_set is None:
        return spec.dataset
    source = str(run.signature["source"])
    return source.partition("@")[0] if HUB_COMMIT.fullmatch(source) else foreign.yaml(run.named_set.name)


def _commit(run: Run, spec: CardSpec) -> str | None:
    """The data's commit, if they came from the Hub dataset itself."""
    source = str(run.signature["source"])
    hub = HUB_COMMIT.fullmatch(source)
    return hub["commit"] if hub and source.startswith(f"{_dataset(run, spec)}@") else None


def _with_our_parts(
    path: Path, content: str, report: Report, cases: CaseSet[Any], spec: CardSpec, replace: bool
) -> tuple[str, dict[str, str], bool]:
    """The card with our metadata and our section; what was removed, by the names of other models; whether there is nothing of others."""
    run = report.run
    mark = content[:1] if content.startswith("\ufeff") else ""  # a byte order mark: readers drop it, the file keeps it
    content = content.removeprefix(mark)
    metadata, sections = metadata_of(path, content), sections_of(content)
    others = of_others(metadata, sections, run)
    if others and not replace:
        raise CardError(
            f"{path}: found {'; '.join(f'{what} of {name}' for name, what in others.items())}, expected only those of {model_of(run)}, the "
            "model of this run. Pass that model's card as --model-card, or --replace to remove what was found. If both names are of one "
            "model, give the card the run's name first."
        )

    options = run.benchmark.options.signed_names()

    def is_earlier(result: Mapping[str, Any], metric: Mapping[str, Any]) -> bool:
        return (
            bool(signature_in(metric))
            and result["dataset"]["type"] == _dataset(run, spec)
            and {name: value for name, value in metric["args"].items() if name in options} == _asked(run)
        )

    def change(metadata: dict[str, Any], index: Index) -> dict[str, Any]:
        return with_results(metadata, index, run, is_earlier)

    index = eval_results_to_model_index(foreign.yaml(model_of(run)), results(report, spec))
    changed = with_metadata(path, content, metadata, index, change)
    body = parts(content)[2]
    front = changed.removesuffix(body)
    text, heading = body, f"# {foreign.markdown(model_of(run))}"
    for part in sections:
        text = text.replace(part.whole, "")
        if part.model in others and part.key != variant(run):  # one with this key is replaced below
            body = body.replace(part.whole, "")
    is_alone = (
        text.strip() in ("", heading.strip()) and not metadata.keys() - {"model-index"} and has_only_ours(metadata)
    )
    newline = newline_of(content)
    body = body or f"{newline}{heading}{newline}"
    return (
        mark + front + with_section(path, body, section(report, cases, spec), variant(run), newline),
        others,
        is_alone,
    )
