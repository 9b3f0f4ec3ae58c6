"""PersonaFeedback (https://arxiv.org/abs/2506.12915): each case in both orders, so position bias cancels."""

import json
import os
import re
from pathlib import Path

import datasets

HUB = {"repo_id": "", "revision": ""}

WORDING: dict[str, dict[str, str]] = {}

SPELLINGS = {"specific": "spe?ific", "medium": "m*d*"}  # the release has data/spedific/ and mid.jsonl


def load(category, difficulty, **kwargs):
    """The rows of a cell with their personas: from the folder PERSONAFEEDBACK_DATA, else from the Hub."""
    root = os.environ.get("PERSONAFEEDBACK_DATA")
    if not root:
        from huggingface_hub import snapshot_download

        root = snapshot_download(repo_type="dataset", allow_patterns=["data/*", "persona/*"], **HUB)
    folder, name = (SPELLINGS.get(part, part) for part in (category, difficulty))
    (path,) = Path(root).glob(f"data/{folder}/{name}.jsonl")
    rows = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            user = str(row["user_id"])
            profile = json.loads((Path(root) / "persona" / f"{user}.json").read_text(encoding="utf-8"))
            rejected = row["rejected"] if "rejected" in row else row["reject"]
            texts = {"question": row["question"], "chosen": row["chosen"], "rejected": rejected}
            known = {"persona": "\n".join(persona_lines(profile)), "language": language_of(profile)}
            rows.append({"user_id": user, **known, **texts})
    return {"test": datasets.Dataset.from_list(rows)}


def both_orders(dataset):
    """Two documents of each case: the chosen response is A in the first, and B in the second."""
    documents = []
    for case in dataset:
        for target, shown in (("A", ("chosen", "rejected")), ("B", ("rejected", "chosen"))):
            first, second = (case[name] for name in shown)
            documents.append({"user_id": case["user_id"], "prompt": prompt(case, first, second), "target": target})
    return datasets.Dataset.from_list(documents)


def prompt(case, first, second):
    wording = WORDING[case["language"]]
    parts = [
        wording["with_persona"],
        f"<persona>\n{case['persona']}\n</persona>",
        f"<question>\n{case['question']}\n</question>",
        f"<response_A>\n{first}\n</response_A>",
        f"<response_B>\n{second}\n</response_B>",
        wording["ask"],
    ]
    return "\n\n".join(parts)


def persona_lines(value, indent=""):
    """The profile as indented lines."""
    items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
    for key, item in items:
        label = f"{indent}-" if key is None else f"{indent}{key}:"
        if isinstance(item, (dict, list)) and item:
            yield label
            yield from persona_lines(item, indent + "  ")
        else:
            yield f"{label} {item if isinstance(item, str) else json.dumps(item)}"


def language_of(profile):
    """`zh` where Chinese characters outnumber Latin words in the profile's values, else `en`."""
    text = "\n".join(strings(profile))
    chinese = re.findall(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]", text)
    return "zh" if len(chinese) > len(re.findall(r"[A-Za-z\u00c0-\u024f]+", text)) else "en"


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)
