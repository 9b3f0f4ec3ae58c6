"""The commands that make a set of one's own: build STEP DIR."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.steps import STEPS
from .build_import import import_command
from .build_release import release, tiers
from .build_status import init, plan, status
from .build_texts import answers, personas, questions
from .build_training import training
from .build_votes import packs, votes

_LINES = "\n".join(f"    {step.line(Path('DIR'))}" for step in STEPS)

_HELP = f"""Build a set for your own users, in your language: personas, questions, answers, votes, tiers, release.

Each STEP reads what the step before left in DIR and adds its own. Edit DIR by hand in between; run a step again after it was killed.

\b
    personafeedback build init DIR
    personafeedback build plan DIR
{_LINES}

Pairs that exist come in with `build import`; `build training` makes pairs to train a reward model on.
"""


@click.group(help=_HELP)
def build() -> None: ...


for command in (
    init, plan, status, personas, questions, answers, packs, votes, tiers, release, training, import_command,
):  # fmt: skip
    build.add_command(command)
