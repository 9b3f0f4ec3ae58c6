"""A folder of the authors' multiple-choice files -> cases. Whatever is broken raises DataError; nothing is repaired.

TOPIC.json   a list of {preference, question, classification_task_options: [four texts, the first one right], ...}
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Any

from ..common import folders
from ..common.errors import DataError, choose
from ..common.records import broken, load_json, read, short
from ..core.cases import digest_of
from ..pairwise.cases import COUNTS, ChoiceCase, ChoiceCases, in_proportion

ENVIRONMENT_VARIABLE = "PREFEVAL_DATA"
REPOSITORY, COMMIT = "amazon-science/PrefEval", "50795054b5ff5f418d2b768a331d71e480f93331"
INSIDE = Path("benchmark_dataset", "mcq_options")
"""Where a checkout of the repository has the files."""

SAMPLE_ROWS = dict.fromkeys(("entertain_games", "lifestyle_dietary", "shop_technology", "travel_hotel"), 3)
ROWS = {
    "education_learning_styles": 31, "education_resources": 54, "entertain_games": 51, "entertain_music_book": 56,
    "entertain_shows": 62, "entertain_sports": 52, "lifestyle_beauty": 53, "lifestyle_dietary": 57, "lifestyle_fit": 52,
    "lifestyle_health": 49, "pet_ownership": 43, "professional_work_location_style": 36, "shop_fashion": 54,
    "shop_home": 56,
    "shop_motors": 45, "shop_technology": 35, "travel_activities": 58, "travel_hotel": 54, "travel_restaurant": 56,
    "travel_transportation": 46,
}  # fmt: skip
"""Topic -> its rows at that commit; 1,000 in all."""

_COPY, _OPTIONS = " copy.json", "classification_task_options"
_GET = (
    f"Set {ENVIRONMENT_VARIABLE} (or data=) to a checkout of https://github.com/{REPOSITORY} at commit {COMMIT}, to a "
    f"folder with its files of {INSIDE.as_posix()}, or to 'sample'."
)
logger = logging.getLogger(__name__)


def load(data: str | None = None, counts: str = "checked") -> ChoiceCases:
    """The rows of all topics, each a user of its own. `data` is a folder or `sample`; None reads PREFEVAL_DATA."""
    choose("counts", counts, COUNTS)
    sample = Path(__file__).with_name("sample")
    root, source = folders.located(
        data, ENVIRONMENT_VARIABLE, sample, f"PrefEval (CC BY-NC 4.0) is not bundled. {_GET}"
    )
    paths = {path.name: path for path in sorted((root / INSIDE if (root / INSIDE).is_dir() else root).glob("*.json"))}
    for name in [name for name in paths if name.endswith(_COPY) and name.removesuffix(_COPY) in ROWS]:
        logger.warning("%r is a copy of %s.json and was left out.", name, name.removesuffix(_COPY))
        del paths[name]
    if not paths or (unknown := [name for name in paths if name.removesuffix(".json") not in ROWS]):
        named = short(unknown[0]) if paths else "no file"
        raise DataError(f"{root}: found {named}, expected the files of these topics alone: {', '.join(ROWS)}. {_GET}")
    topics = {path.stem: _cases(path) for path in paths.values()}
    digest = digest_of([(name, hashlib.sha256(read(path)).hexdigest()) for name, path in paths.items()])
    return ChoiceCases(tuple(in_proportion(list(topics.values()))), counts, source, digest, tuple(ROWS))


def _cases(path: Path) -> list[ChoiceCase]:
    # The other preference of each is the next different one, from the last row on to the first.
    parsed = load_json(path, "a JSON list of objects in UTF-8")
    if not isinstance(parsed, list) or not parsed:
        raise broken(str(path), short(parsed), "a JSON list of objects")
    rows = [_texts(row, f"{path}, row {number}") for number, row in enumerate(parsed, start=1)]
    cases = []
    for place, (preference, question, *responses) in enumerate(rows):
        later = (other for other, *_ in (*rows[place:], *rows[:place]) if other != preference)
        if (other := next(later, None)) is None:
            raise broken(f"{path}, row {place + 1}", "no other preference in its topic", "another row with another one")
        row = f"{path.stem}:{place + 1}"
        cases.append(
            ChoiceCase(
                id=row, cell=path.stem, user_id=row, known=preference, question=question, responses=tuple(responses),
                other_known=other,
            )
        )  # fmt: skip
    return cases


def _texts(row: Any, where: str) -> list[str]:
    options = row.get(_OPTIONS) if isinstance(row, dict) else None
    texts = [row.get("preference"), row.get("question"), *options] if isinstance(options, list) else []
    if not all(isinstance(text, str) and text.strip() for text in texts) or len(texts) != 6 or len({*texts[2:]}) != 4:
        raise broken(where, short(row), f"the texts preference and question, and four different ones in {_OPTIONS}")
    return texts
