"""What a team gives to begin with: seeds.jsonl, profiles that personas are written from; pool.jsonl, questions that people asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...common.errors import DataError
from ...common.strict_json import broken, rows, short, short_list
from ..steps import command

FILE, POOL = "seeds.jsonl", "pool.jsonl"

SHORTEST, LONGEST = 8, 500
"""Characters of a pool's question. What is outside is no question that a person could answer in their own way."""

EXAMPLES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "en": (
        {"age": 34, "job": "night-shift nurse", "city": "Leeds", "home": "with a partner and a small child", "mbti": "ISFJ"},
        {"age": 58, "job": "runs a bicycle repair shop", "city": "Porto", "likes": ["radio plays", "river swimming"]},
        {"age": 22, "job": "student of geology", "home": "shared flat", "note": "saves for a field trip; hardly ever cooks"},
    ),
    "zh": (
        {"年龄": 34, "职业": "夜班护士", "城市": "长沙", "家庭": "与伴侣和一个年幼的孩子同住", "MBTI": "ISFJ"},
        {"年龄": 58, "职业": "经营一家自行车修理铺", "城市": "厦门", "爱好": ["广播剧", "在江里游泳"]},
        {"年龄": 22, "职业": "地质学专业学生", "住处": "合租", "备注": "为野外考察攒钱，几乎不做饭"},
    ),
}  # fmt: skip
"""Language -> seeds that show what one looks like. A seed may have any keys."""


def seeds(root: Path) -> list[dict[str, Any]]:
    """The seed profiles of a build. Raises DataError: there are none, or one is no object with a value."""
    path = _given(root, FILE, "one JSON object per line, each a short profile of a user")
    profiles = []
    for number, row in rows(path):
        if not row:
            raise broken(f"{path}, line {number}", "an empty object", "a profile")
        profiles.append(row)
    return profiles


def pool(root: Path) -> tuple[list[str], dict[str, int]]:
    """The different questions of a build's pool, and how many were left out and why.

    Raises:
        DataError: there is no pool, or a line has no question.
    """
    path = _given(root, POOL, 'one {"question": "..."} per line, for general questions (or general: 0 in build.yaml)')
    questions: dict[str, None] = {}
    left_out = {"too short": 0, "too long": 0, "there twice": 0}
    for number, row in rows(path):
        where = f"{path}, line {number}"
        if "question" not in row:
            raise broken(where, f"no 'question' (keys: {short_list(row) or 'none'})", "a string 'question'")
        question = row["question"]
        if not isinstance(question, str):
            raise broken(where, f"question = {short(question)}", "a string")
        text = " ".join(question.split())
        if len(text) < SHORTEST:
            left_out["too short"] += 1
        elif len(text) > LONGEST:
            left_out["too long"] += 1
        elif text in questions:
            left_out["there twice"] += 1
        else:
            questions[text] = None
    return list(questions), {why: count for why, count in left_out.items() if count}


def _given(root: Path, name: str, expected: str) -> Path:
    path = root / name
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file, expected {expected}. Write it, or start with: {command('init', root)}"
        )
    return path
