"""`build release`: votes -> labels -> the data set in the layout of PersonaFeedback, with set.json and a card."""

from __future__ import annotations

import os
import shlex
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ..annotation.items import CANNOT, fault_counts
from ..annotation.rows import Vote
from ..annotation.study import Say, Study
from ..common import foreign
from ..common.errors import DataError, require
from ..common.files import explained, write_all
from ..common.outputs import json_lines
from ..common.records import cut
from ..personafeedback.baselines import BASELINES
from ..personafeedback.cases import PersonaCases, load_present
from ..personafeedback.cells import CELLS
from ..personafeedback.manifest import LONGEST_NAME, LONGEST_TEXT, UNKNOWN, Agreement, LabelNoise, Manifest
from ..stats.estimates import Estimate, percent, share
from . import tiers
from .build import Build
from .rows import OWN, TEST, Answer, Basis, Pair, Person, Question
from .steps import PACKS
from .texts.personas import json_of
from .tiers import HARD, KAPPA, RISK, Labeled, label_pairs, mean_risks
from .votes import study_of

RELEASE, BELOW = "release", "below.jsonl"
"""Names in the build's folder: of the release, and of the pairs that make no case."""

OWN_FILES = ("data", "persona", "memory", "README.md", "set.json")
"""Names that this package writes into a release, in order. Without the last, the loader refuses the folder."""

SHORTCUTS = ("longest", "overlap", "name")
"""Baselines that are measured on the Hard cases."""

MOST = 0.6
"""Accuracy of a shortcut on Hard above which a warning says that the set may measure the shortcut."""


@dataclass(frozen=True)
class ReleaseFiles:
    """A release in memory."""

    manifest: Manifest
    labels: Sequence[Labeled]  # of all pairs
    files: Mapping[str, str]  # path in the folder -> content, without the card


def make(build: Build, study: Study) -> ReleaseFiles:
    """The release of a build as its files and votes give it now. Raises DataError if pairs without labels have no
    votes, if no pair becomes a case, or for a missing persona. `study` is that of all questions."""
    pairs, cast = build.need(Pair), build.read(Vote)
    if not any(pair.label for pair in pairs):
        build.need(Vote)
    votes = [vote for _, vote in study.counted()]
    if cast and not votes:
        raise DataError(
            f"{build.path(Vote)}: found {len(cast):,} votes of which none counts, expected some: not of a dropped "
            f"annotator, not `{CANNOT}`, and on the texts as they are now. Have the pairs voted on: "
            f"{PACKS.line(build.root)}"
        )
    labels = label_pairs(build, votes)
    tested = {question.id: question for question in build.questions(TEST)}
    cases = [label for label in labels if label.tier and label.pair.question_id in tested]
    if not cases:
        why = "none is kept for testing"
        fix = f"Look at split and keep in {build.path(Person)}, and at keep in {build.path(Question)}."
        if left_out := tiers.reasons(labels):
            why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
            fix = f"A pair needs {tiers.LEAST_VOTES} votes or more; the paper has nine."
        raise DataError(f"{build.path(Pair)}: no pair became a case ({why}). {fix}")
    answers, bases, of_pair = build.by_id(Answer), build.by_id(Basis), defaultdict[str, list[Vote]](list)
    for vote in votes:
        of_pair[vote.pair_id].append(vote)
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for label in cases:
        question = tested[label.pair.question_id]
        row = _row(label, question, answers, bases.get(question.id), of_pair[label.pair.id])
        rows[f"{question.category}_{label.tier}"].append(row)
    contents = {f"data/{cell.replace('_', '/')}.jsonl": "".join(json_lines(of_cell)) for cell, of_cell in rows.items()}
    users = (*(label.pair.user_id for label in cases), *(person.user_id for person in build.people(TEST)))
    for user in dict.fromkeys(users):
        contents[f"persona/{user}.json"] = json_of(build.persona(user).profile)
        if pieces := build.memory(user):
            contents[f"memory/{user}.jsonl"] = "".join(json_lines(piece.row for piece in pieces))
    agreement = tiers.kappa(pairs, votes)
    risks = {tier: round(risk, 4) for tier, risk in mean_risks(cases).items()}
    annotators = len({vote.annotator for label in cases for vote in of_pair[label.pair.id]})
    manifest = Manifest(
        name=cut(build.settings.name, LONGEST_NAME),
        counts={cell: len(rows[cell]) for cell in CELLS if cell in rows},
        license=build.settings.license,
        labels=cut(_origin_of_labels(cases, annotators), LONGEST_TEXT),
        generator=cut(_writers(cases, answers), LONGEST_TEXT),
        annotators=annotators or None,
        agreement=Agreement(measure=KAPPA, **_rounded(agreement)) if agreement else None,
        noise=LabelNoise(measure=RISK, by_tier=risks) if risks else None,
    )
    contents["set.json"] = manifest.content(build.root / RELEASE)
    return ReleaseFiles(manifest, labels, contents)


def is_there(build: Build) -> bool:
    """Whether the build was released."""
    return (build.root / RELEASE / OWN_FILES[-1]).is_file()


def is_current(build: Build, study: Study) -> bool:
    """Whether the release is what the build's files give now."""
    try:
        made = make(build, study)
    except DataError:
        return False
    paths = {build.root / RELEASE / name: content for name, content in made.files.items()}
    return all(path.is_file() and path.read_bytes() == content.encode() for path, content in paths.items())


def release(build: Build, say: Say) -> None:
    """Write the data set, once the strict loader has read it, and say how the votes and the shortcuts came out."""
    out = build.root / RELEASE
    with build.locked():
        study = study_of(build, build.read(Question))
        made, place = make(build, study), build.root / ".release-next"
        with explained(out):
            shutil.rmtree(place, ignore_errors=True)  # of a run that was killed
            write_all({place / name: content for name, content in made.files.items()})
            accuracy = _shortcuts(load_present(place))
            write_all({place / "README.md": _card(made, build, accuracy)})
            _put_in_place(place, out)
            shutil.rmtree(place)
        below = []
        for label in made.labels:
            about = {"pair": label.pair.id, "user_id": label.pair.user_id, "question_id": label.pair.question_id}
            if not label.tier:
                below.append({**about, "votes": label.votes, "reason": label.reason})
        build.commit({build.root / BELOW: json_lines(below)})
    counts = made.manifest.counts
    for reason, count in tiers.reasons(made.labels).items():
        say(f"{count:,} pairs are in {BELOW}, {reason}: {tiers.REASONS[reason]}")
    if dropped := len(made.labels) - len(below) - sum(counts.values()):
        say(f"{dropped:,} pairs are left out: their question or person has keep = no, or the person is for training")
    if study.outdated:
        say(
            f"! {study.outdated:,} votes are on texts that were edited since: they do not count. To have these pairs "
            f"judged again: {PACKS.line(build.root)}"
        )
    if made.manifest.agreement:
        say(f"{KAPPA}: {_with_interval(made.manifest.agreement)}")
    for tier, risk in _risks(made.manifest).items():
        say(f"{tier}: {risk} % {RISK}")
    for line in _lines_on(accuracy):
        say(line)
    cells = ", ".join(f"{cell} {count:,}" for cell, count in counts.items())
    say(f"wrote {out}: {sum(counts.values()):,} cases ({cells})")
    say(f"The set is called {made.manifest.name}. Evaluate a model on it:")
    data = shlex.quote(f"data={out}")
    say(f"    inspect eval personafeedback_tasks/personafeedback -T {data} --model MODEL")
    tasks = ",".join(f"personafeedback_{cell}" for cell in counts)
    say(f"    lm_eval run --tasks {tasks} --metadata {data} --log_samples --output_path DIR ...")


def _put_in_place(place: Path, out: Path) -> None:
    # Files that somebody added, such as a LICENSE, stay. Killed in between, it has no set.json, and is made again.
    out.mkdir(exist_ok=True)
    (out / OWN_FILES[-1]).unlink(missing_ok=True)
    for name in OWN_FILES:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        if (place / name).exists():
            os.replace(place / name, out / name)


def _row(
    label: Labeled, question: Question, answers: Mapping[str, Answer], basis: Basis | None, votes: Sequence[Vote]
) -> dict[str, Any]:
    # A row as in the original release, and the origins of its texts and its label.
    sides = {"chosen": label.chosen, "reject": label.rejected}
    row: dict[str, Any] = {"user_id": question.user_id, "question": question.question}
    row |= {side: answers[name].text for side, name in sides.items()}
    row |= {"scenario": question.scenario} if question.scenario else {}
    row |= {"memory": list(basis.memory)} if basis and basis.memory else {}
    row |= {"pair": label.pair.id, "votes": list(label.votes)}
    row |= {"risk": float(f"{label.risk:.4g}")} if any(label.votes) else {}
    if faults := fault_counts(votes, sides):
        row["faults"] = faults
    row["strategies"] = {side: answers[name].strategy for side, name in sides.items()}
    row["models"] = {side: answers[name].model for side, name in sides.items()}
    return row


def _writers(cases: Iterable[Labeled], answers: Mapping[str, Answer]) -> str:
    # the models, by the number of their texts, and whether a team brought some
    models = Counter(answers[name].model for label in cases for name in (label.chosen, label.rejected))
    own = models.pop(OWN, 0)
    writers = ", ".join(name for name, _ in sorted(models.items(), key=lambda model: (-model[1], model[0])))
    brought = ", and texts that were brought" if writers else "Texts that were brought"
    return f"{writers}{brought if own else ''}"


def _origin_of_labels(cases: Sequence[Labeled], annotators: int) -> str:
    if not annotators:
        return "Nobody voted here: the label of each pair is that of the imported pairs."
    counts = {sum(label.votes) for label in cases}
    each = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    rules = {
        "easy": "Easy: built as an answer to the whole persona against one to the question alone, and confirmed",
        "medium": f"Medium: more than {tiers.MOST_PEOPLE} of all such people agree, as estimated from the votes",
        "hard": "Hard: fewer agree, but chance alone would reach such a majority in at most 5 % of pairs",
    }
    present = {label.tier for label in cases}
    said = "; ".join(rule for tier, rule in rules.items() if tier in present)
    return f"The majority of {each} people's votes on each pair. {said}."


def _rounded(estimate: Estimate) -> dict[str, float]:
    # Rounding must not take an interval beyond 1.
    interval = {"low": max(-1.0, round(estimate.low, 4)), "high": min(1.0, round(estimate.high, 4))}
    return {"value": round(estimate.value, 4), **({} if isnan(estimate.low) else interval)}


def _with_interval(agreement: Agreement) -> str:
    interval = "" if agreement.low is None else f" (95 % interval {agreement.low:.2f} to {agreement.high:.2f})"
    return f"{agreement.value:.2f}{interval}"


def _risks(manifest: Manifest) -> dict[str, str]:
    # Tier -> percent.
    by_tier = manifest.noise.by_tier if manifest.noise else {}
    return {tier: f"{100 * risk:.1f}" for tier, risk in by_tier.items()}


def _shortcuts(cases: PersonaCases) -> dict[str, Estimate]:
    # Accuracy of each shortcut on the Hard cases.
    hard = [case for case in cases if case.difficulty == HARD]
    users = [case.user_id for case in hard]
    return {name: share([BASELINES[name](case) for case in hard], users) for name in SHORTCUTS} if hard else {}


def _lines_on(accuracy: Mapping[str, Estimate]) -> Iterable[str]:
    for name, estimate in accuracy.items():
        share_right = percent(estimate.value, stderr=estimate.stderr)
        line = f"shortcut {name}: right in {share_right} % of {estimate.n:,} Hard cases; chance is 50"
        if estimate.value > MOST and not estimate.low <= MOST:  # of one user there is no interval
            line = f"! {line}. A model could score as high without understanding the persona"
        yield line


def _card(made: ReleaseFiles, build: Build, accuracy: Mapping[str, Estimate]) -> str:
    require("jinja2", extra="report")
    from huggingface_hub import DatasetCard, DatasetCardData  # half as long to import as all else that --help needs

    manifest = made.manifest
    data = DatasetCardData(
        language=build.settings.language,
        license="other" if manifest.license == UNKNOWN else manifest.license.lower(),
        pretty_name=manifest.name,
        task_categories=["text-generation"],
        tags=["personalization", "preference", "personafeedback"],
        configs=[
            {"config_name": cell, "data_files": f"data/{cell.replace('_', '/', 1)}.jsonl"} for cell in manifest.counts
        ],
    )
    card: DatasetCard = DatasetCard.from_template(
        data, template_path=str(Path(__file__).with_name("data_card.md.j2")),
        name=foreign.markdown(manifest.name), cells=manifest.counts, generator=foreign.markdown(manifest.generator),
        labels=foreign.markdown(manifest.labels), annotators=manifest.annotators or "no people", kappa=KAPPA,
        agreement=_with_interval(manifest.agreement) if manifest.agreement else "", risk=RISK, risks=_risks(manifest),
        shortcuts=list(_lines_on(accuracy)), faults=build.settings.faults,
        terms="No license was given." if manifest.license == UNKNOWN else foreign.markdown(manifest.license),
        tasks=",".join(f"personafeedback_{cell}" for cell in manifest.counts),
    )  # fmt: skip
    return f"{card}\n"
