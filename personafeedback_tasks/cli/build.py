"""The commands that make a set of one's own: build STEP DIR."""

from __future__ import annotations

import click

from .build_generate import answers, init, personas, plan, questions, status
from .build_import import import_command
from .build_release import release, tiers
from .build_training import training
from .build_votes import packs, votes


@click.group()
def build() -> None:
    """Build a set for your own users, in your language: personas, questions, answers, votes, tiers, release.

    Each STEP reads what the step before left in DIR and adds its own. Edit DIR by hand in between; run a step again after it was killed.

    \b
        personafeedback build init DIR
        personafeedback build plan DIR
        personafeedback build personas DIR --model MODEL
        personafeedback build questions DIR --model MODEL
        personafeedback build answers DIR --model MODEL --model OTHER
        personafeedback build packs DIR
        personafeedback build votes DIR FILE...
        personafeedback build tiers DIR
        personafeedback build release DIR

    Pairs that exist come in with `build import`; `build training` makes pairs to train a reward model on.
    """


for command in (
    init,
    plan,
    status,
    personas,
    questions,
    answers,
    packs,
    votes,
    tiers,
    release,
    training,
    import_command,
):
    build.add_command(command)
