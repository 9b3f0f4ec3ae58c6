"""Write PersonaFeedback as tasks in lm-eval's own style, for a pull request there. They need nothing of this package.

    python benchmarks/upstream.py tasks/personafeedback
    lm_eval run --model hf --model_args pretrained=MODEL --include_path tasks --tasks personafeedback_general_hard_mc

Prompts and `acc` are those of our tasks with prompt v1; what those have beside is not there: errors clustered by user,
controls, `acc_sym`, and the reader of replies, in whose place a reply must begin with its letter.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from pprint import pformat

from personafeedback_tasks.personafeedback.cells import CELLS, category_of, difficulty_of
from personafeedback_tasks.personafeedback.prompts import WORDINGS
from personafeedback_tasks.personafeedback.release import HUB_ID, HUB_REVISION

SHARED = """\
custom_dataset: !function utils.load
process_docs: !function utils.both_orders
test_split: test
doc_to_text: prompt
doc_to_target: target
num_fewshot: 0
metadata:
  version: 1.0
"""
ANSWERS = {
    "": r"""output_type: generate_until
generation_kwargs:
  until: ["<|endoftext|>"]
  do_sample: false
  max_gen_toks: 1024
filter_list:
  - name: letter
    filter:
      - function: regex
        regex_pattern: '^\W*(?:Answer|答案)?\W*([AB])\b'
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
""",
    "_mc": """\
output_type: multiple_choice
doc_to_choice: ["A", "B"]
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
""",
}
"""End of a task's name -> how the model answers."""

README = """\
# PersonaFeedback

Which of two responses suits this user better? A persona, that user's question, and two responses, labeled by people.

- Paper: [PersonaFeedback: A Large-scale Human-annotated Benchmark For Personalization](https://arxiv.org/abs/2506.12915)
- Data: https://huggingface.co/datasets/{hub}, or a copy in the folder `PERSONAFEEDBACK_DATA`

Each case is two documents, one for each order of the responses, so position bias cancels. The standard error that is
printed takes documents for independent, and is too small. The prompt is not the authors', who published none.

## Tasks

{tasks}

The same names with `_mc` compare the log-likelihoods of the letters.
"""


def files() -> dict[str, str]:
    """File name -> text."""
    used = ("with_persona", "ask")
    wording = {
        language: {name: text for name, text in asdict(of).items() if name in used}
        for language, of in WORDINGS["v1"].items()
    }
    utils = Path(__file__).with_name("upstream_utils.py").read_text(encoding="utf-8")
    hub = {"repo_id": HUB_ID, "revision": HUB_REVISION}
    utils = utils.replace('HUB = {"repo_id": "", "revision": ""}', f"HUB = {hub}")
    utils = utils.replace("str]] = {}", f"str]] = {pformat(wording, width=120)}")
    names = [f"personafeedback_{cell}" for cell in CELLS]
    found = {
        "utils.py": utils,
        "README.md": README.format(hub=HUB_ID, tasks="\n".join(f"- `{name}`" for name in names)),
    }
    for end, answers in ANSWERS.items():
        found[f"_default{end}_yaml"] = SHARED + answers
        for name, cell in zip(names, CELLS, strict=True):
            found[f"{name}{end}.yaml"] = (
                f"include: _default{end}_yaml\ntask: {name}{end}\n"
                f"dataset_kwargs:\n  category: {category_of(cell)}\n  difficulty: {difficulty_of(cell)}\n"
            )
    return found


def main(folder: Path) -> None:
    """Write the files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Pass the folder to write.")
    main(Path(sys.argv[1]))
