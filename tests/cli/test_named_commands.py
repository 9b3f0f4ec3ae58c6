"""Every command that an error, a help text or a page names exists, with the options that it names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from support.environments import CHECKOUT

from personafeedback_tasks.cli.main import main

FOLDERS = ("personafeedback_tasks", "inspect_tasks", "task_configs", "docs", "benchmarks")
KINDS = (".py", ".md", ".j2", ".yaml")
COMMAND = re.compile(r"(?<![\w/.-])personafeedback ([a-z][^`\"|#)\n;,]*)")
"""A command up to the end of its code, its line or the sentence."""

OTHERS = {  # options of lm-eval, Inspect, vLLM, the Hub and RewardBench; none of ours has a `_`
    "--dataset", "--epochs", "--epochs-reducer", "--limit", "--local-dir", "--log-dir", "--max-model-len",
    "--max-retries", "--max-samples", "--metadata",
    "--no-log-samples", "--return-tokens-as-token-ids", "--sample-id", "--sample-shuffle", "--scorer", "--tasks", "--top-logprobs",
}  # fmt: skip


def texts() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((CHECKOUT / folder).rglob("*")):
            if path.suffix in KINDS and "unchanged" not in path.name:
                yield str(path.relative_to(CHECKOUT)), path.read_text(encoding="utf-8")
    for name in ("README.md", "CONTRIBUTING.md"):
        yield name, (CHECKOUT / name).read_text(encoding="utf-8")


def fault(text: str) -> str:
    """What is wrong with a command as it is named; empty if nothing is."""
    words = shlex.split(text.replace("'", ""))
    command: click.Command | None = main
    while isinstance(command, click.Group) and words:
        inner = command.get_command(click.Context(command), words[0].rstrip(".:"))
        if inner is None:
            return f"no {words[0]!r}"
        command, words = inner, words[1:]
    assert command is not None
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help", "-h"}
    unknown = [word for word in words if re.match("-[-A-Za-z]", word) and word.partition("=")[0] not in known]
    return f"no option {unknown}" if unknown else ""


def test_every_command_that_is_named_exists():
    named = [(where, found[1]) for where, text in texts() for found in COMMAND.finditer(text)]
    assert len(named) > 150
    assert [(where, text, said) for where, text in named if (said := fault(text))] == []


def commands(command: click.Command = main) -> Iterator[click.Command]:
    """A command, and the commands in it."""
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner)


OPTIONS = [one for command in commands() for one in command.params if isinstance(one, click.Option)]


def test_every_option_that_the_package_names_is_one_of_a_command_or_of_a_harness():
    known = {"--help", *OTHERS, *(name for option in OPTIONS for name in option.opts)}
    named = {
        (where, name)
        for where, text in texts()
        for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)
        if "_" not in name and where.startswith("personafeedback_tasks") and where.endswith(".py")
    }
    assert {(where, name) for where, name in named if name not in known} == set()


def test_there_are_no_more_than_a_reader_can_keep_in_mind():
    assert sum(not isinstance(command, click.Group) for command in commands()) <= 24
    assert len(OPTIONS) <= 80


def test_outputs_have_the_same_options_everywhere():
    """--json FILE, - for stdout; --csv FILE; --out DIR, a folder. --full prints what the files have."""
    kinds = {"--json": ("FILE", True), "--csv": ("FILE", True), "--out": ("DIR", False)}
    found = [(option, name) for option in OPTIONS for name in option.opts if name in kinds]
    assert len(found) > 10
    for option, name in found:
        assert isinstance(option.type, click.Path)
        assert (option.metavar, option.type.dir_okay is False) == kinds[name], (name, option.help)
        assert option.type.allow_dash == (name != "--out")


@pytest.mark.parametrize("text", ["paper", "build plan DIR", "export --format rewardbench", "rank logs --markdown"])
def test_what_went_would_be_found(text):
    assert fault(text)
