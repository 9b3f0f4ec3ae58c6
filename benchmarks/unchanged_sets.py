"""Parts of `unchanged.py` in which models write: duels, a set that is built, and one that is imported."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import unchanged_models as models
from unchanged_data import filled_in, rows, sample_folder
from unchanged_runs import (
    SETTINGS,
    Stored,
    both,
    file,
    files,
    in_inspect,
    in_lm_eval,
    logged,
    printed,
    ranked,
    report,
)
from unchanged_texts import profile, words


def duel() -> Stored:
    """Two writers on the sample, in both harnesses; their duels; a judge's votes, its exam, and people's votes."""
    models.learn(sample_folder())
    written: dict[str, Path] = {}
    for name, harness, run in (("writer", "inspect", in_inspect), ("writer-two", "lm_eval", in_lm_eval)):
        for setting in SETTINGS[:2]:
            log = run(
                f"{name}/{setting}",
                "personafeedback_write",
                f"{models.NAME}/{name}",
                {"data": "sample", "setting": setting},
            )
            written[f"{name}/{setting}"] = log
            yield from logged(f"{name}/{setting}/{harness}", log)
            yield from report(f"{name}/{setting}", log)
    exams = {
        "inspect": in_inspect("exam/inspect", "personafeedback", f"{models.NAME}/steady", {"data": "sample"}),
        "lm_eval": in_lm_eval("exam/lm_eval", "personafeedback", f"{models.NAME}/steady", {"data": "sample"}),
    }
    against = {
        "chosen": (written["writer/persona"], "chosen"), "rejected": (written["writer/persona"], "rejected"),
        "other": (written["writer/persona"], written["writer-two/persona"]),
        "without": (written["writer-two/no_persona"], "rejected"),
    }  # fmt: skip
    for name, (log, other) in against.items():
        yield from printed(f"{name}.duel", "duel", log, "--against", other, "--out", f"duels/{name}")
        yield from files(f"duels/{name}")
        people(Path("duels", name), Path(f"{name}.votes.csv"))
        for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
            if harness == "lm_eval" and name in ("other", "without"):
                continue
            votes = run(
                f"judged/{harness}/{name}", "personafeedback", f"{models.NAME}/steady", {"data": f"duels/{name}"}
            )
            yield from logged(f"{name}/{harness}", votes)
            yield from report(f"{name}/{harness}", votes)
            yield from both(f"{name}_{harness}_verdict", "verdict", votes, "--exam", exams[harness])
            yield from both(
                f"{name}_{harness}_human", "verdict", votes, "--exam", exams[harness], "--human", f"{name}.votes.csv"
            )
    yield from both("verdicts", "verdict", "logs/judged/inspect", "--exam", exams["inspect"])
    for harness, exam in exams.items():
        yield from ranked(f"logs/judged/{harness}", "--exam", exam, name=f"{harness}_rank")


def people(duels: Path, path: Path) -> None:
    """Two people's votes on every duel, one of five of them drawn by lot."""
    with path.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["case", "winner"])
        for cell in sorted(duels.glob("data/*/*.jsonl")):
            for row in rows(cell):
                for voter in "12":
                    text = voter + row["source"]
                    fair = (
                        "reply"
                        if models.worth(row["chosen"].strip()) >= models.worth(row["reject"].strip())
                        else "other"
                    )
                    drawn = models.one_of(("reply", "other", "tie"), "drawn" + text)
                    writer.writerow([row["source"], fair if models.chance(text) > 0.2 else drawn])


def build() -> Stored:
    """A set that scripted models write and scripted people vote on, from an empty folder to a run on its release."""
    root = Path("ours")
    yield from printed("init", "build", "init", root, "--name", "Our users")
    set_up(root, personas=12, specific=3, general=1, annotators=9, test=0.75)
    _lines(root / "seeds.jsonl", ({"age": 20 + number, "job": f"job {number}"} for number in range(14)))
    pool = (f"How would anybody go about {words(str(number), 6)}?" for number in range(30))
    _lines(root / "pool.jsonl", ({"question": question} for question in pool))
    writers = [word for name in ("builder", "builder-two") for word in ("--model", f"{models.NAME}/{name}")]
    corpus(root)
    yield from printed("pilot", "build", "pilot", root, "--people", "3", *writers)
    for step in ("personas", "memory", "questions", "answers"):
        yield from printed(step, "build", step, root, *(writers if step == "answers" else writers[:2]))
        yield from printed(f"{step}.status", "build", "status", root)
    for form in ("html", "label-studio", "csv"):
        yield from printed(f"packs_{form}", "build", "packs", root, "--format", form)
    yield from printed("votes", "build", "votes", root, *voted_on(root, Path("sent")))
    yield from printed("votes.after", "annotate", "votes", root)
    yield from printed("release", "build", "release", root)
    yield from printed("status", "build", "status", root)
    yield from printed("training", "build", "training", root, "--benchmark", "none")
    yield from written_by(root)
    models.learn(root / "release")
    for harness, run in (("inspect", in_inspect), ("lm_eval", in_lm_eval)):
        log = run(harness, "personafeedback_hard", f"{models.NAME}/steady", {"data": "ours/release"})
        yield from logged(harness, log)
        yield from report(harness, log)
    yield from printed("audit", "audit", "--data", "ours/release")
    yield from printed("card", "card", log, "--model-card", "CARD.md")
    yield from file("CARD.md")


def users() -> Stored:
    """Users with histories of their own, from whose memories models infer what to ask."""
    root = Path("known")
    Path("chats").mkdir()
    people = {f"u{number}": profile(f"user {number}") for number in range(6)}
    _lines(Path("users.jsonl"), ({"user_id": user, "profile": profile} for user, profile in people.items()))
    for user in list(people)[:4]:
        turns = (
            {"role": ("user", "assistant")[place % 2], "content": f"What of {words(f'{user} {place}', 6)}?", "date": f"2025-01-{place + 1:02}"}
            for place in range(8)
        )  # fmt: skip
        _lines(Path("chats", f"{user}.jsonl"), turns)
    yield from printed("init", "build", "init", root, "--users", "users.jsonl", "--history", "chats")
    set_up(root, specific=2)
    corpus(root)
    one = ("--model", f"{models.NAME}/builder")
    yield from printed("personas", "build", "personas", root)
    for step in ("memory", "questions", "answers"):
        yield from printed(step, "build", step, root, *one)
    for step in ("pilot", "status"):
        yield from printed(step, "build", step, root)
    yield from written_by(root)


def corpus(root: Path) -> None:
    _lines(
        root / "corpus.jsonl",
        ({"text": f"An article on {words(f'article {number}', 8)}"} for number in range(60)),
    )


def _lines(path: Path, objects: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")


def set_up(root: Path, **values: float) -> None:
    """Change settings of a build.yaml, which must be there."""
    path = root / "build.yaml"
    text = path.read_text(encoding="utf-8")
    for name, value in values.items():
        text, count = re.subn(rf"(?m)^{name}: [\d.]+", f"{name}: {value}", text)
        if count != 1:
            raise RuntimeError(f"{path} has {count} lines of {name}, expected one")
    path.write_text(text, encoding="utf-8")


def written_by(root: Path) -> Stored:
    """The files of a build, without Inspect's own logs and cache."""
    for name, text in files(str(root)):
        if Path(name).relative_to(root).parts[0] not in ("logs", "cache"):
            yield name, text


def voted_on(root: Path, folder: Path) -> list[Path]:
    """The packs as annotators send them: right on the items for attention, else mostly for the better informed answer."""
    answers = {row["text"].strip(): row for row in rows(root / "answers.jsonl")}
    strategies = ("improved", "full", "masked", "question", "degraded", "imported")

    def vote(annotator: str, line: dict[str, str]) -> dict[str, str]:
        shown = {letter: answers[line[letter].strip()] for letter in "AB"}
        ranks = {letter: (strategies.index(row["strategy"]), -len(row["text"])) for letter, row in shown.items()}
        better = "A" if ranks["A"] <= ranks["B"] else "B"
        asked = {letter: row["question_id"] for letter, row in shown.items()}
        if asked["A"] != asked["B"]:  # for attention: one answers another question
            own = line["question"].strip()
            better = "A" if question_of(root, asked["A"]) == own else "B"
        elif models.chance(annotator + line["A"]) < 0.22:
            better = "B" if better == "A" else "A"
        return {"vote": better}

    packs = sorted((root / "packs").glob("*.csv"))
    if not packs:
        raise RuntimeError(f"{root}/packs has no pack")
    return [filled_in(path, folder, partial(vote, path.stem)) for path in packs]


def question_of(root: Path, question: str) -> str:
    with (root / "questions.csv").open(encoding="utf-8-sig", newline="") as table:
        return next(line["question"].strip() for line in csv.DictReader(table) if line["id"] == question)


def imported() -> Stored:
    """A set from pairs that exist, voted on again by models."""
    root = Path("theirs")
    with Path("pairs.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["persona", "question", "chosen", "rejected"])
        for row in rows(sample_folder() / "data" / "general" / "hard.jsonl"):
            persona = json.loads((sample_folder() / "persona" / f"{row['user_id']}.json").read_text(encoding="utf-8"))
            writer.writerow([json.dumps(persona, ensure_ascii=False), row["question"], row["chosen"], row["reject"]])
    yield from printed("import", "build", "import", root, "--from", "pairs.csv")
    yield from printed("release", "build", "release", root)
    yield from written_by(root)
    models.learn(sample_folder())
    set_up(root, annotators=9)
    yield from printed("packs", "build", "packs", root, "--format", "csv")
    yield from printed("votes", "build", "votes", root, *voted_on(root, Path("sent")))
    yield from printed("voted.release", "build", "release", root)
    yield from printed("status", "build", root)
    yield from ((f"voted/{name}", text) for name, text in written_by(root))
