"""The commands that make a set of your own: build STEP DIR."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import click

from ..building.build import Build
from ..building.imported import import_pairs
from ..building.pilot import write_pilot
from ..building.status import next_line, show_status, show_texts
from ..building.steps import PACKS, RELEASE, TEXTS, VOTES
from ..building.texts.asking import Models
from ..building.texts.runner import write_texts
from ..building.texts.sources import start
from .annotate import judged_in
from .options import FOLDER, Decorator, given_options
from .output import progress, say

_DIR = Path("DIR")

_HELP = f"""Build a set for your own users, in your language.

Each command reads what the previous one left in DIR and adds its own files. You may edit DIR by hand in between. If a
command is killed, run it again.

\b
    personafeedback build init DIR
    personafeedback build texts DIR --model MODEL --model OTHER
    {PACKS.line(_DIR)}
    {VOTES.line(_DIR)}
    {RELEASE.line(_DIR)}

`build status` shows what is done, what was refused, what the calls took, and the next command. `build pilot` makes
all texts of a few persons and a page to read them on; `build training` makes pairs to train a reward model on.
"""


@click.group(help=_HELP)
def build() -> None: ...


build_argument = click.argument("folder", metavar="DIR", type=FOLDER, callback=lambda _, __, path: Build.open(path))
"""The folder of a build that was started."""


def model_options(without: str) -> Decorator:
    """The options of a command that asks models; `without` says what it does without one."""
    options = [
        click.option(
            "--model", "names", metavar="MODEL", multiple=True,
            help=f"Model that writes, as Inspect names it: openai/gpt-4o. Repeat for several. {without}",
        ),
        click.option(
            "-M", "arguments", multiple=True, metavar="NAME=VALUE",
            callback=lambda _, __, given: given_options(given, "-M"),
            help="Argument of all models, as in Inspect: -M base_url=URL. May be repeated.",
        ),
        click.option(
            "--batch", is_flag=True,
            help="Use the provider's batch API: most providers answer within a day, at half the price.",
        ),
        click.option("--max-tokens", type=click.IntRange(1), help="Token limit per text. Default: the provider's."),
    ]  # fmt: skip
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


@build.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--language", metavar="CODE",
    help="Language of the set, such as zh or de. Prompts come in English and Chinese.  [default: en]",
)  # fmt: skip
@click.option(
    "--from", "source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Labeled pairs, to release at once or to have people vote on again: a .csv or .jsonl file with persona, "
    "question, chosen and rejected, and optionally user_id and category (general or specific).",
)  # fmt: skip
@click.option(
    "--test", metavar="SHARE", help="Share of the users for testing, such as 1/2; 0 to train only.  [default: 1]"
)
def init(folder: Path, language: str | None, source: Path | None, test: str | None) -> None:
    """Start a build: settings, prompts and example seeds to edit.

    \b
    build.toml     what you decide about the set, each setting with its meaning
    prompts/*.md   what models are told; {{persona}} and the like are filled in
    seeds.jsonl    short profiles that personas are written from: replace them
    names.csv      countries and names that are drawn for personas
    scenarios.csv  situations that questions are asked in, how often, and for whom
    examples.jsonl questions of which each prompt for a question shows one

    What is already there stays as it is. You may also bring, before or after:

    \b
    persona/<user_id>.json   your own personas, as in the release
    memory/<user_id>.jsonl   what a user read or wrote: {"text": "..."} or {"role": "user", "content": "..."} per line
    questions.csv            your own questions: user_id, category, question
    pool.jsonl               questions that people asked: one {"question": "..."} per line

    Where persona/ has files, a new build writes no other personas. E-mail addresses and phone numbers in persona/ and
    memory/ are refused before anything is asked. Patterns find no names and miss other things: read your files, too.

    With --from, a build has these pairs alone, all of them hard, and settings. A persona is an object or a text; rows
    with the same one are of the same user, unless they have a user_id.

    \b
        personafeedback build init DIR --language zh
        personafeedback build init DIR --from pairs.csv
    """
    started = Build(folder)
    if source is not None:
        import_pairs(started, source, say, language, test)
        return
    written, present = start(started, language, test)
    for path in written:
        say(f"Wrote {path}")
    for path in present:
        say(f"Already there, unchanged: {path}")
    say(next_line(started))


@build.command()
@build_argument
def status(folder: Build) -> None:
    """Print what is done, what was refused, what the calls took, and the next command.

    Tokens are those that the providers counted, from logs/. Calls of runs that were killed are not counted.
    """
    show_status(folder, say)


@build.command()
@build_argument
@click.argument("step", metavar="[STEP]", required=False, type=click.Choice([step.name for step in TEXTS]))
@model_options("Without one, only your own files are used.")
def texts(folder: Build, step: str | None, names: tuple[str, ...], **options: Any) -> None:
    """Have models write what is missing: the texts of one STEP, or of all of them, one after another.

    \b
    personas   profiles from seeds.jsonl, and your own of persona/, into people.csv
    questions  specific ones for a drawn scenario, general ones from pool.jsonl, and your own lines
    answers    to each question, and the pairs of them that people compare

    \b
        personafeedback build texts DIR --model openai/gpt-4o --model openai/gpt-4o-mini
        personafeedback build texts DIR questions --model openai/gpt-4o

    Pass all models at once: the first writes personas and questions, and all of them answer. Pairs of answers are
    chosen so that the better informed answer is the longer one as often as the shorter one.

    You may also run one STEP at a time and screen people.csv and questions.csv (and pool.csv) in between: keep = no
    drops a line, and you may note a reason.

    Run it again, with the same options, after it was killed or after a text failed: only what is missing is asked.
    A refused text is requested again with another seed, at most three times, and kept in refused.jsonl with the
    reason; delete its lines there to request it anew.
    """
    with progress() as show:
        models = Models(tuple(dict.fromkeys(names)), **options, show=show)
        write_texts(folder, models, say, step or "")
    show_texts(folder, say)


@build.command()
@build_argument
@click.option("--people", type=click.IntRange(1), default=5, show_default=True, help="Number of persons.")
@model_options("Without one, the page shows the existing texts.")
def pilot(folder: Build, people: int, names: tuple[str, ...], **options: Any) -> None:
    """Write all texts of a few persons, and a page to read before you pay for the others.

    DIR/pilot.html has the personas, their questions, the answers side by side, and the texts that were refused and
    why. The texts are part of the build: what comes later goes on from them, and nothing is asked twice. The first
    model writes personas and questions; all of them answer.

    To drop a person or a question, write keep = no into its line of people.csv or questions.csv. Run the command
    again, and others take the place of the dropped persons.

    \b
        personafeedback build pilot DIR --people 5 --model openai/gpt-4o --model openai/gpt-4o-mini
    """
    with progress() as show:
        write_pilot(folder, people, Models(tuple(dict.fromkeys(names)), **options, show=show), say)
    show_texts(folder, say)


@build.command()
@build_argument
def release(folder: Build) -> None:
    """Turn votes into labels and tiers, and make the data set: DIR/release, in the layout of PersonaFeedback, with a
    set.json and a data card.

    \b
    easy     full persona against none, and the votes confirm the label
    medium   more than 8/9 of all such people agree, as estimated from the votes on all pairs
    hard     fewer agree, but chance alone would reach such a majority in at most 5 % of pairs (8 of 9 votes)

    All other pairs go to below.jsonl with a reason; so does a pair with the same texts as an earlier one. As checks
    that change no label, it prints the annotators' agreement, the risk that another nine like these would decide
    otherwise, and how often a shortcut is right on Hard: the longer response, the one with more of
    the persona's terms, or the one that says the user's name.

    Everything in this package then works on the set: the tasks of both harnesses, reports, cards, duels. Nothing is
    uploaded. Files that you add to DIR/release stay when you run this again; README.md is written anew.
    """
    from ..building.release import release as write_release

    write_release(folder, say)


@build.command()
@build_argument
@click.option(
    "--benchmark", metavar="DATA",
    help="Benchmark whose texts are kept out of the training data: PersonaFeedback, as a folder or a Hub id. Default: "
    "PERSONAFEEDBACK_DATA, else the Hub. `none` compares with this build's own test pairs alone.",
)  # fmt: skip
@click.option(
    "--ratings", metavar="STUDY", type=FOLDER,
    help="Folder of `annotate` with rated replies, to make pairs of these, too. DIR may then have no persons.",
)  # fmt: skip
def training(folder: Build, benchmark: str | None, ratings: Path | None) -> None:
    """Make pairs to train a reward model on, from the persons in the train split.

    In each pair, one model wrote both responses: the chosen one with the persona, the rejected one without it.
    --ratings adds pairs of replies of which people rated one higher. Writes DIR/training/train.jsonl in the
    conversational format of TRL, with the persona in a system turn.

    A pair with a response that a model will be tested on, or a near copy of one, is left out.

    \b
        personafeedback build training DIR
        personafeedback build training DIR --ratings STUDY
    """
    from ..building.training import make_training

    make_training(folder, judged_in(ratings) if ratings else (), benchmark, say)
