"""The signature of a log, held against what the harness itself wrote about the same run. One comparer for both harnesses.

A reader gathers the `HarnessRecord`. What was asked is compared with it here, and with what this version makes of the same options;
the prompts themselves are compared where the data are at hand, see asked.py. The values are in checks.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError
from ..common.foreign import without_password
from ..engine.benchmark import Benchmark, find
from ..engine.cases import HUB_COMMIT, remark_of
from ..engine.options import Options
from ..engine.signature import set_of
from .caveat import FORBIDS, Caveat
from .run import RunError, refused, text


@dataclass(frozen=True)
class HarnessRecord:
    """A harness's own record of a run, beside our signature.

    Attributes:
        task: the name of the task, without remarks; None where somebody else's task wraps ours.
        place: where the options are: `task_args`.
        options: those that were passed, by name, as the user wrote them; None where somebody else's task has others.
        fields: (name in the signature, where the harness has it) -> its value there.
        source: where it says the data are, maybe within the folder of the run; None where it does not.
        models: (where the harness has names of models, those there, those that its header names).
    """

    task: str | None
    place: str
    options: Mapping[str, Any] | None
    fields: Mapping[tuple[str, str], Any]
    source: str | None = None
    models: Sequence[tuple[str, Collection[str], Collection[str]]] = ()


def options_of(path: Path, signature: Mapping[str, Any]) -> Options:
    """The options that a signature names; where the data are, it does not name.

    Raises:
        RunError: no run has such options.
    """
    named = {name: value for name, value in signature.items() if name != "data"}  # there, the digest
    (found,) = _read(path, find(signature["benchmark"]), named, "its signature")
    return found


def compared(path: Path, signatures: Sequence[Mapping[str, Any]], record: HarnessRecord) -> tuple[Caveat, ...]:
    """What could not be compared.

    Raises:
        RunError: a signature differs from what the harness wrote, or from what this version writes for its options; or signatures of one
            run differ in something that no setting decides.
    """
    first, benchmark = signatures[0], find(signatures[0]["benchmark"])
    for (name, place), value in record.fields.items():
        if value != first[name]:
            raise _contradiction(path, name, first[name], value, f"as in {place}")
    control = benchmark.report.control
    own = {"task", *benchmark.signed, *([control.option] if control else [])}
    for signature in signatures[1:]:
        unused = benchmark.options.without_effect(first) | benchmark.options.without_effect(signature)
        for name in sorted((first.keys() | signature.keys()) - unused):
            if name not in own and signature.get(name) != first.get(name):
                raise _contradiction(
                    path, name, signature.get(name), first.get(name), "as in that of the first setting"
                )
    passed = None if record.options is None else _read(path, benchmark, record.options, record.place)
    if passed is not None and benchmark.settings(passed) != tuple(map(benchmark.setting, signatures)):
        settings = [benchmark.setting(signature) for signature in signatures]
        raise _contradiction(
            path, control.option if control else "", settings, [*benchmark.settings(passed)], f"as in {record.place}"
        )
    found: dict[Caveat, None] = {}
    for signature, options in zip(signatures, passed or [None] * len(signatures), strict=True):
        found |= dict.fromkeys(_compared(path, signature, benchmark, record, options))
    return tuple(found)


def _compared(
    path: Path, signature: Mapping[str, Any], benchmark: Benchmark, record: HarnessRecord, passed: Options | None
) -> tuple[Caveat, ...]:
    """`compared` of one setting.

    Args:
        passed: the options under that setting; None where somebody else's task has others.
    """
    if passed is not None:
        _refuse_other_options(path, signature, passed, record.place)
    if record.source is not None and not signature["source"].endswith(record.source):
        raise _contradiction(path, "source", signature["source"], record.source, "as in the header of the log")
    if record.task is not None:
        named = benchmark.remarked(record.task, signature, remark_of(signature["demonstration"], set_of(signature)))
        if signature["task"] != named:
            raise _contradiction(
                path, "task", signature["task"], named, "the name of a task with these options and data"
            )
    if signature["demonstration"] != (signature["source"] == _SAMPLE):
        found = signature["demonstration"]
        raise _contradiction(path, "demonstration", found, not found, f"since its source is {signature['source']}")
    for name, applies in benchmark.signed.items():
        if (signature.get(name) is not None) != applies(signature):
            expected = "a value" if applies(signature) else None
            raise _contradiction(path, name, signature.get(name), expected, "as runs with its options have")
    ours = benchmark.fingerprint(options_of(path, signature))
    if signature["fingerprint"] == ours:
        return ()
    if signature["task_version"] == benchmark.version:
        raise _contradiction(
            path, "fingerprint", signature["fingerprint"], ours, "that of the prompts with these options"
        )
    why = (
        f"task version {signature['task_version']} had other prompts (fingerprint {signature['fingerprint']}; the installed version "
        f"{benchmark.version} has {ours})."
    )
    return (prompts_unchecked(path, why),)


def prompts_unchecked(log: Path, why: str) -> Caveat:
    """The caveat on a log whose prompts were not compared with its options."""
    return Caveat("prompts_unchecked", FORBIDS, {"log": log.name, "why": why})


_SAMPLE = "sample"
"""The source of the bundled sample, and what users write for it."""


def _refuse_other_options(path: Path, signature: Mapping[str, Any], passed: Options, place: str) -> None:
    """Raise RunError unless the signature has the options that were passed, and the defaults of all others."""
    for name, value in {**passed.signed(), "counts": passed.counts}.items():
        if signature[name] != value:
            raise _contradiction(path, name, signature[name], value, f"as in {place}")
    given, source = passed.data, signature["source"]
    if given is not None and given.strip() and not _may_be(given.strip(), source):
        raise _contradiction(path, "source", source, given, f"as in {place}")


def _may_be(given: str, source: str) -> bool:
    """Whether the data that a user named may have this source, see `CaseSet.source`: the full path of a folder is not known any more."""
    if _SAMPLE in (given, source):
        return given == source
    hub = HUB_COMMIT.fullmatch(source)
    return hub is None or given.partition("@")[0] == hub["id"]


def refuse_other_model(path: Path, record: HarnessRecord) -> None:
    """Raise RunError if the harness names a model that is not that of the run."""
    for place, names, expected in record.models:
        if others := sorted(set(names) - set(expected)):
            named = without_password(" or ".join(sorted(expected)))
            found = f"the model {without_password(others[0])} in {place}"
            raise refused(path, found, f"{named}, as the log says of the run")


def _read(path: Path, benchmark: Benchmark, options: Mapping[str, Any], place: str) -> tuple[Options, ...]:
    known = {name: options[name] for name in (*benchmark.options.signed_names(), "data", "counts") if name in options}
    try:
        return benchmark.options_of(known)
    except PersonaFeedbackError as error:
        raise RunError(f"{path}: found options in {place} that no run has. {error}") from error


def _contradiction(path: Path, name: str, found: object, expected: object, why: str) -> RunError:
    return refused(path, f"{name} {text(found)} in its signature", f"{text(expected)}, {why}")
