"""Store what users get, then compare it after a change that should move nothing.

    python benchmarks/unchanged.py store FOLDER [--only PART ...]
    python benchmarks/unchanged.py compare FOLDER [--only PART ...]

Everything goes through the harnesses and the `personafeedback` commands. Stored per run: each case's answers, values and
digest of its prompts, the harness's table, and `report` as text, Markdown, JSON and page data. The parts:

- sample: `longest`, `first` and a noisy judge on the bundled sample: both harnesses, every method and setting; `rank`,
  `compare` and `replies` of these runs.
- hard: the same judges on General Hard (PERSONAFEEDBACK_DATA), every setting.
- duel: a writing run, its duels, the judge's votes on them and `verdict`.
- recenter: replies to the sample of the stages, in both harnesses, and reports on them.
- build: packs, votes, tiers and release of a scripted build.
- commands: `paper`, `audit`, `baselines` and `plan`.

Time stamps, random identifiers, versions and paths are left out. A command that refuses is stored with its refusal.
`compare` prints each file that differs with its first difference, and exits with 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from support import building, builds, inspect_runs, logs, recenter
from support.commands import personafeedback
from support.scripted_models import CASES, _letter

from personafeedback_tasks.inspect_harness.tasks import build_task

SETTINGS = ("persona", "no_persona", "other_persona", "rag")
VOLATILE = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d[:-]\d\d(\.\d+)?([+-]\d\d[:-]?\d\d|Z)?", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"(personafeedback[-_]tasks|lm[-_]eval|inspect[-_]ai)([ =:\"]+)\d+\.\d+[\w.+]*", r"\1\2VERSION"),
    (r"TIME_([\w-]+)_[A-Za-z0-9]{22}\.eval", r"TIME_\1.eval"),
)
HARNESS_KEYS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip
Stored = Iterator[tuple[str, str]]


def plain(text: str, work: Path) -> str:
    text = text.replace(str(work), "WORK")
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=str)


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, default=str).encode()).hexdigest()[:16]


def run(*words: object) -> str:
    done = personafeedback(*words)
    return f"$ {' '.join(map(str, words))}\n{done.output}\nexit {done.exit_code}\n"


def in_folder(name: str, folder: Path) -> Stored:
    """Text files that a command wrote; of a page, the digest of its data."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix in {".md", ".json", ".jsonl", ".csv", ".svg", ".html", ".yaml"}:
            yield f"{name}/{path.relative_to(folder)}", path.read_text(encoding="utf-8")


def of_lm_eval(results: Path) -> str:
    table = json.loads(results.read_text(encoding="utf-8"))
    rows = []
    for path in sorted(results.parent.glob("samples_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            values = {key: value for key, value in row.items() if key not in HARNESS_KEYS}
            answers = row["filtered_resps"]
            rows.append([row["doc"]["id"], answers, values, digest(row["arguments"])])
    return as_json({"results": table["results"], "cases": sorted(rows, key=lambda row: row[0])})


def of_inspect(log: Path) -> str:
    whole = read_eval_log(str(log))
    table = {
        f"{score.name} {name}": metric.value for score in whole.results.scores for name, metric in score.metrics.items()
    }
    rows = []
    for sample in whole.samples:
        scores = {name: [score.value, score.answer, score.explanation] for name, score in sorted(sample.scores.items())}
        asked = [[message.text for message in event.input] for event in sample.events if event.event == "model"]
        rows.append([sample.id, sample.epoch, scores, digest(sorted(asked))])
    return as_json({"results": table, "cases": sorted(rows, key=lambda row: (row[0], row[1]))})


def report(name: str, log: Path, *options: object) -> Stored:
    yield f"{name}.report.txt", run("report", log, *options, "--out", f"out/{name}")
    yield from in_folder(f"{name}.report", Path("out") / name)


def judged(data: str, judges: tuple[str, ...], methods: dict[str, str], settings: tuple[str, ...]) -> Stored:
    """Runs on General Hard of a release, in both harnesses."""
    made: dict[str, Path] = {}
    task = "personafeedback_general_hard"
    for suffix, method in methods.items():
        for setting in settings:
            for judge in judges:
                name = f"{method}/{setting}/{judge}"
                try:
                    if judge in ("longest", "first"):
                        log = inspect_judge(f"personafeedback/{judge}", data, setting, method, Path("logs") / name)
                        yield f"{name}/inspect.json", of_inspect(log)
                    else:
                        if method != "mc":
                            log = inspect_judge(f"scripted/{judge}", data, setting, method, Path("logs") / name)
                            yield f"{name}/inspect.json", of_inspect(log)
                        lm = logs.lm_eval_log(
                            Path("logs/lm") / name, judge, task + suffix, data, metadata={"setting": setting}
                        )
                        yield f"{name}/lm_eval.json", of_lm_eval(lm)
                        made[f"lm/{name}"] = lm
                        if method == "mc":
                            log = lm
                    made[name] = log
                except Exception as error:  # an option that is refused, such as `rag` where there are no memories
                    yield f"{name}/refused.txt", f"{type(error).__name__}: {error}"
    for name, log in made.items():
        if "other_persona" not in name and "no_persona" not in name:
            controls = [
                (f"--{setting.replace('_', '-')}", made.get(name.replace("/persona/", f"/{setting}/")))
                for setting in ("no_persona", "other_persona")
            ]
            yield from report(name, log, *(word for pair in controls if pair[1] for word in pair))
    yield "rank.txt", run("rank", "logs", "--out", "out/rank")
    yield from in_folder("rank", Path("out/rank"))
    noisy, first = made["generate/persona/mixed"], made["generate/persona/first"]
    yield "compare.txt", run("compare", noisy, first, "--json", "out/compare.json")
    yield "compare.json", Path("out/compare.json").read_text(encoding="utf-8")
    yield "replies.txt", run("replies", noisy, "--out", "out/replies.jsonl")
    yield "replies.jsonl", Path("out/replies.jsonl").read_text(encoding="utf-8")


def inspect_judge(model: str, data: str, setting: str, method: str, folder: Path) -> Path:
    task = build_task("personafeedback", "general_hard", {"data": data, "setting": setting, "method": method})
    return Path(inspect_runs.evaluate(task, model, folder).location)


def sample(work: Path) -> Stored:
    yield from judged("sample", ("mixed", "longest", "first"), {"": "generate", "_mc": "mc", "_cot": "cot"}, SETTINGS)


def hard(work: Path) -> Stored:
    yield from judged(os.environ["PERSONAFEEDBACK_DATA"], ("mixed", "longest", "first"), {"": "generate"}, SETTINGS[:3])


def stages(work: Path) -> Stored:
    from personafeedback_tasks.engine.benchmark import benchmarks

    for name, (benchmark, method) in recenter.TASKS.items():
        record, says = benchmarks()[benchmark], recenter.says(name)
        for harness, evaluate, read in (
            ("inspect", recenter.in_inspect, of_inspect),
            ("lm_eval", recenter.in_lm_eval, of_lm_eval),
        ):
            _, log = evaluate(record, says, Path(harness) / name, method)
            yield f"{name}/{harness}.json", read(log)
            yield from report(f"{name}/{harness}", log)


def duel(work: Path) -> Stored:
    from personafeedback_tasks.engine.benchmark import find
    from personafeedback_tasks.writing.cases import questions

    texts = {one.id: one.pairs[0] for one in questions(CASES)}

    def reply(name: str, call: str) -> str:
        case, mood = texts[name], int(name.rpartition(":")[2], 16) % 4
        return [case.chosen, f"{case.rejected} Indeed.", case.chosen[:60], ""][mood]

    _, written = recenter.in_inspect(find("personafeedback_write"), reply, Path("written"), "write")
    yield "written.json", of_inspect(written)
    exam = votes("sample", Path("exam"))
    for side in ("chosen", "rejected"):
        yield f"{side}.txt", run("duel", written, "--against", side, "--out", f"duels/{side}")
        yield from in_folder(side, Path("duels") / side)
        log = votes(f"duels/{side}", Path("judged") / side)
        yield f"{side}.votes.json", of_inspect(log)
        yield f"{side}.verdict.txt", run("verdict", log, "--exam", exam, "--json", f"{side}.json")
        yield f"{side}.verdict.json", Path(f"{side}.json").read_text(encoding="utf-8")
    yield "rank.txt", run("rank", "judged", "--exam", exam, "--json", "rank.json")


def votes(data: str, folder: Path) -> Path:
    """A judge by its own taste, on all pairs of a folder."""
    task = build_task("personafeedback", "", {"data": data})
    return Path(inspect_runs.evaluate(task, "by-taste/judge", folder).location)


@modelapi(name="by-taste")
class ByTaste(ModelAPI):
    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, _letter(input[-1].text))


def build(work: Path) -> Stored:
    folder, root = builds.a_build(Path("ours"), people=10, questions=6, name="Our users"), Path("ours")
    yield "packs.txt", run("build", "packs", root)
    for annotator in dict.fromkeys(row["annotator"] for row in rows(root / "packs" / "shown.jsonl")):

        def picks(left: str, right: str, shown: Any, by: str = annotator) -> str:
            wrong = building.random.Random(f"{by} {shown.item}").random() < 0.2
            return "AB"[(left == "full") == wrong]

        builds.filled_in(folder, annotator, Path(f"{annotator}.votes.csv"), builds.attentive(folder, picks))
    yield "votes.txt", run("build", "votes", root, *sorted(Path().glob("*.votes.csv")))
    for step in ("tiers", "release", "status"):
        yield f"{step}.txt", run("build", step, root)
    yield from in_folder("ours", root)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def commands(work: Path) -> Stored:
    for words in (
        ["paper", "--json", "-"], ["audit", "--data", "sample"], ["baselines", "--data", "sample"],
        ["audit", "--data", os.environ["PERSONAFEEDBACK_DATA"], "--counts", "any"], ["plan", "--data", "sample"],
    ):  # fmt: skip
        yield f"{'_'.join(words[:3]).replace('/', '')}.txt", run(*words)


PARTS: dict[str, Callable[[Path], Stored]] = {
    "sample": sample, "hard": hard, "duel": duel, "recenter": stages, "build": build, "commands": commands,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["store", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    asked = parser.parse_args()
    root, differing = asked.folder.resolve(), 0
    for part in asked.only:
        with tempfile.TemporaryDirectory() as name:
            os.chdir(name)
            made = {f"{part}/{file}": plain(text, Path(name)) for file, text in PARTS[part](Path(name))}
            os.chdir(root.parent)
        before = {str(path.relative_to(root)) for path in (root / part).rglob("*") if path.is_file()}
        if asked.what == "store":
            for file in before:
                (root / file).unlink()
            for file, text in made.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text, encoding="utf-8")
            print(f"{part}: {len(made)} files stored", flush=True)
            continue
        changed = 0
        for file in sorted(before | made.keys()):
            old = (root / file).read_text(encoding="utf-8").split("\n") if file in before else ["no such file"]
            new = made[file].split("\n") if file in made else ["no such file"]
            pairs = enumerate(zip_longest(old, new), 1)
            line = next((found for found in pairs if found[1][0] != found[1][1]), None)
            if line:
                changed += 1
                print(f"{file}, line {line[0]}:\n  - {str(line[1][0])[:300]}\n  + {str(line[1][1])[:300]}")
        differing += changed
        print(f"{part}: {changed} of {len(before | made.keys())} files differ", flush=True)
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
