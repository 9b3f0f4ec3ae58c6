"""The small modules that every room uses, by hand or beside an independent formula: agreement, retrieval, power, tables, JSON, tokens, texts,
folders, the digest of embeddings."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy")

from scipy import stats
from statsmodels.stats.inter_rater import fleiss_kappa

from personafeedback_tasks.common import files, folders, records, tables, tokens
from personafeedback_tasks.common.agreement import agreed, alpha, fleiss, randolph
from personafeedback_tasks.common.embeddings import Embedder
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.common.retrieval import retrieve, search_terms
from personafeedback_tasks.common.significance import Comparison, detectable, equivalence_bound, two_sided_p
from personafeedback_tasks.common.statistics import (
    Estimate,
    critical,
    degrees_of_freedom,
    estimate,
    linearized,
    of_mean,
    percent,
    share,
    user_sums,
)
from personafeedback_tasks.common.text import language_of, neighbours, nfkc, skeleton

same = pytest.approx


# --- agreement ----------------------------------------------------------------------------------------------------------

VOTES = st.lists(st.lists(st.sampled_from("abc"), min_size=4, max_size=4), min_size=2, max_size=12)


def test_the_agreement_of_a_row_is_that_of_its_pairs():
    assert agreed("aab") == same(1 / 3)
    assert agreed("aa") == 1
    assert agreed("abcd") == 0


@given(VOTES)
def test_agreement_beyond_chance(rows):
    pairs = [first == second for row in rows for first, second in combinations(row, 2)]
    observed = sum(pairs) / len(pairs)  # all rows have as many votes
    assert randolph(rows, 3) == same((observed - 1 / 3) / (2 / 3))
    assert randolph(rows, 2) == same(2 * observed - 1)
    if len({vote for row in rows for vote in row}) > 1:
        assert fleiss(rows) == same(fleiss_kappa([[row.count(vote) for vote in "abc"] for row in rows]))
    else:
        assert math.isnan(fleiss(rows))


def test_fleiss_with_rows_of_unequal_size_by_hand():
    # The rows agree by 1/3 and 1; of five votes three are a: .6 ** 2 + .4 ** 2 = .52.
    assert fleiss(["aab", "bb", "aa"][:2]) == same((2 / 3 - 0.52) / 0.48)


@given(VOTES)
def test_alpha_of_labels_by_its_coincidences(rows):
    values = Counter(vote for row in rows for vote in row)
    n = values.total()
    apart = (
        sum(first != second for row in rows for first, second in combinations(row, 2)) * 2 / 3
    )  # four votes: / (4 - 1)
    by_chance = sum(values[a] * values[b] for a in values for b in values if a != b) / (n - 1)
    expected = 1 - apart / by_chance if by_chance else math.nan
    assert alpha(rows, "abc", "nominal") == same(expected, nan_ok=True)


def test_alpha_of_a_scale_counts_how_far_votes_are_apart():
    assert alpha([(1, 2), (2, 3), (3, 3)], (1, 2, 3), "interval") > alpha(
        [(1, 3), (2, 3), (3, 3)], (1, 2, 3), "interval"
    )
    # Two rows, each of one vote 1 and one 2 of a scale: expected and observed as for labels.
    assert alpha([(1, 2), (1, 1)], (1, 2), "interval") == same(alpha([(1, 2), (1, 1)], (1, 2), "nominal"))


# --- retrieval ----------------------------------------------------------------------------------------------------------


def test_terms_are_words_and_pairs_of_chinese_characters():
    assert search_terms("Ａ Tea-pot, 3 teas; 喝茶吧 茶") == ["a", "tea", "pot", "3", "teas", "喝茶", "茶吧", "茶"]


def bm25(question: str, pieces: list[str]) -> list[float]:
    """Scores of Lucene's BM25 with k1 = 1.5 and b = .75, as bm25s has them."""
    documents = [search_terms(piece) for piece in pieces]
    length = sum(map(len, documents)) / len(documents)
    found = []
    for document in documents:
        score = 0.0
        for term in search_terms(question):
            having = sum(term in other for other in documents)
            often = document.count(term)
            weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            score += weight * often / (often + 1.5 * (0.25 + 0.75 * len(document) / length)) if often else 0.0
        found.append(score)
    return found


PIECES = [
    "tea in the garden",
    "a pot of tea, and more tea",
    "nothing at all",
    "garden work and a garden chair",
    "the end",
]


@pytest.mark.parametrize(
    "question", ["tea", "a garden", "tea tea tea garden", "the the end", "unknown words", "unknown tea"]
)
def test_the_most_relevant_pieces_come_first(question):
    scores = [round(score, 6) for score in bm25(question, PIECES)]
    order = sorted(range(len(PIECES)), key=lambda place: -scores[place])
    for k in range(1, len(PIECES) + 2):
        assert retrieve(question, PIECES, k) == tuple(PIECES[place] for place in order[:k])
    assert retrieve(question, [*PIECES, *PIECES], 9) == retrieve(question, PIECES, 9)  # each once


def test_pieces_without_a_term_keep_their_order():
    assert retrieve("tea", ["!", "?", "!"], 5) == ("!", "?")
    assert retrieve("", PIECES, 2) == tuple(PIECES[:2])


# --- power, significance ------------------------------------------------------------------------------------------------


def test_degrees_of_freedom_are_those_of_one_set_of_users_or_of_two():
    # Without correlation, by the textbook: variance .24, 5 users of 4 cases.
    sizes, spread = [4] * 5, 0.24
    for paired, degrees, variance in ((True, 4, spread / 20), (False, 8, 2 * spread / 20)):
        reach = stats.t.ppf(0.975, degrees) + stats.t.ppf(0.8, degrees)
        assert Comparison("", spread, 0.0, paired).smallest(sizes) == same(reach * math.sqrt(variance))
        # The design effect of four cases of each user that correlate by .1 is 1 + .1 * 3.
        assert Comparison("", spread, 0.1, paired).smallest(sizes) == same(reach * math.sqrt(1.3 * variance))


def test_tests_are_those_of_students_t():
    assert critical(7) == same(stats.t.ppf(0.975, 7))
    assert critical(7, 4) == same(stats.t.ppf(1 - 0.025 / 4, 7))
    assert math.isnan(critical(0))
    assert detectable(2.0, 9, 3) == same(2 * (stats.t.ppf(1 - 0.025 / 3, 9) + stats.t.ppf(0.8, 9)))
    for t in (-2.5, 0.0, 1.7):
        assert two_sided_p(t, 6) == same(2 * stats.t.sf(abs(t), 6))
    assert equivalence_bound(Estimate(-0.2, 0.1, 0, 0, 50, 9)) == same(0.2 + 0.1 * stats.t.ppf(0.95, 8))


def test_estimates_from_the_deviations_of_users_by_hand():
    deviations = {"a": 0.02, "b": -0.03, "c": 0.01}
    stderr = math.sqrt((4 + 9 + 1) * 1e-4 * 3 / 2)
    found = of_mean(0.4, 12, deviations)
    assert (found.value, found.stderr, found.n, found.users) == same((0.4, stderr, 12, 3))
    assert (found.low, found.high) == same((0.4 - stats.t.ppf(0.975, 2) * stderr, 0.4 + stats.t.ppf(0.975, 2) * stderr))
    # Kurtosis 3 * (16 + 81 + 1) / 14 ** 2 = 1.5, so that 2 * 3 / .5 - 1 = 11 degrees, of which three users have two.
    assert degrees_of_freedom(deviations.values()) == 2
    uneven = {"a": 0.9, **{f"u{number}": -0.1 for number in range(9)}}
    kurtosis = 10 * (0.9**4 + 9 * 0.1**4) / (0.81 + 0.09) ** 2
    assert degrees_of_freedom(uneven.values()) == same(math.hypot(6, 20 / (kurtosis - 1) - 1))
    assert 1 < degrees_of_freedom(uneven.values()) < 9
    found = linearized(0.4, uneven, 30)
    stderr = math.sqrt(0.9 * 10 / 9)
    reach = stats.t.ppf(0.975, math.hypot(6, 20 / (kurtosis - 1) - 1)) * stderr
    assert (found.stderr, found.low, found.high, found.n, found.users) == same(
        (stderr, 0.4 - reach, 0.4 + reach, 30, 10)
    )
    assert linearized(0.4, uneven, 30, degrees=1.5).high == same(0.4 + stats.t.ppf(0.975, 1.5) * stderr)
    alike = linearized(0.4, dict.fromkeys("abc", 0.0), 30)
    assert (alike.value, alike.stderr) == (0.4, 0.0)
    assert math.isnan(alike.low)
    assert math.isnan(alike.high)


def test_equal_values_show_no_spread_so_their_interval_is_not_known():
    users = ["a", "b", "c"]
    for found in (share([0.5] * 3, users), estimate([1.0] * 3, users), of_mean(1.0, 3, dict.fromkeys(users, 0.0))):
        assert found.stderr == 0
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    thirds = share([1 / 3] * 7, list("abcdefg"))  # a mean that is rounded is no spread
    assert math.isnan(thirds.low)
    assert share([1.0] * 3, users).low < 0.4  # the interval of Clopper and Pearson
    alike = estimate([0.0] * 3, users)  # two runs that agree in every case
    assert (-alike.low, alike.high) == (same(share([0.0] * 3, users).high),) * 2, "of none, others may differ"


def test_a_percentage_and_sums_of_users():
    assert [percent(0.7351), percent(-0.0001), percent(0.1, sign=True), percent(math.nan)] == [
        "73.5",
        "0.0",
        "+10.0",
        "–",
    ]
    assert percent(0.7351, stderr=0.0123) == "73.5 ± 1.2"
    assert user_sums([1, 2, math.nan, 4], ["b", "a", "a", "b"]) == {"a": 2, "b": 5}


# --- what files say -----------------------------------------------------------------------------------------------------


def test_a_long_value_is_cut():
    assert records.cut("x" * 60) == "x" * 60
    assert records.cut("x" * 61) == "x" * 57 + "..."
    assert records.short("é" * 3) == ascii("é" * 3)
    assert records.short_list(["a"] * 40) == ", ".join(["'a'"] * 40)  # 198 characters
    for count in (41, 1000):
        assert records.short_list(["a"] * count) == (", ".join(["'a'"] * count))[:197] + "..."


def test_json_has_no_nan():
    assert records.jsonable({"a": [math.nan, (1, math.nan)], "b": "c"}) == {"a": [None, [1, None]], "b": "c"}
    assert records.json_text({"b": "茶\u200b", "a": 1}) == '{\n "a": 1,\n "b": "茶\\u200b"\n}\n'


def test_a_table_comes_back_as_it_was_written(tmp_path):
    lines = [{"a": "1", "b": "x, y"}, {"b": "-"}, {"a": " ", "b": " "}, {"a": "=cmd()"}]
    written = tables.text(["a", "b"], lines)
    assert written.startswith("\ufeffa,b\n1,")
    assert "\n=" not in written  # no formula
    path = tmp_path / "t.csv"
    path.write_text(written.replace("=cmd()", "cmd"), encoding="utf-8")
    found = tables.rows(path, None, ["a"])
    assert [where for where, _ in found] == [f"{path}, line {number}" for number in (2, 3, 5)]
    assert [row["a"] for _, row in found][:2] == ["1", ""]
    assert next(row for _, row in tables.rows(path, ["b"], [])) == {"b": "x, y"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a\n1,2\n", "line 2: found 2 values, expected 1: '2' is under no column"),
        ("b\n1\n", "line 1: found the columns 'b', expected one 'a'"),
        ("a,a\n1,2\n", "expected one 'a'"),
        ("", "line 1: found the columns none, expected one 'a'"),
        (b"a\n\xff\n", "found bytes that are no UTF-8"),
    ],
)
def test_a_broken_table_names_its_line(content, sentence, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=sentence):
        tables.rows(path, None, ["a"])


# --- texts --------------------------------------------------------------------------------------------------------------


def test_tokens_are_estimated_by_script():
    assert tokens.estimated(["", "a" * 8, "茶" * 10, "茶" * 10 + "a" * 8]) == [0, 2, 7, 9]


def test_a_text_is_chinese_where_its_characters_outnumber_words():
    assert [language_of(text) for text in ("喝茶", "喝 tea", "喝茶 tea", "")] == ["zh", "en", "zh", "en"]
    assert list(neighbours("abc")) == ["ab", "bc"]


def test_what_looks_alike_has_one_skeleton():
    assert skeleton("Ｑwen-3") == skeleton("QWEN 3") == skeleton("q\u200bwén3")
    assert skeleton("GPT-4 l") == skeleton("GРT-4 1")
    assert skeleton("llama") != skeleton("lama")


def test_long_runs_of_accents_are_broken_up():
    for count, marks in ((29, 0), (30, 1), (59, 1), (60, 2)):
        assert nfkc("茶" + "\u0301" * count).count("\u034f") == marks


# --- folders ------------------------------------------------------------------------------------------------------------


def test_a_folder_is_where_the_task_is_or_where_the_user_is_and_not_in_both(tmp_path, monkeypatch):
    task, user = tmp_path / "task", tmp_path / "user"
    for folder in (task / "mine", user / "mine", task / "one", user / "other"):
        folder.mkdir(parents=True)
    (user / "file").touch()
    monkeypatch.chdir(task)
    monkeypatch.setenv("PWD", str(user))
    assert folders.find("one") == task / "one"
    assert folders.find("other") == user / "other"
    both = f"There are two folders 'mine': {task / 'mine'} and {user / 'mine'}. Pass the full path of one."
    with pytest.raises(DataError, match=re.escape(both)):
        folders.find("mine")
    assert folders.find(str(user / "mine")) == user / "mine"
    for name in ("none", "file", "a\0b", "~nobody-of-this-name/mine"):
        assert folders.find(name) is None
    assert folders.looked("none") == f" (looked in {task} and in {user})"
    for shell in (str(task), "", "relative"):  # one place
        monkeypatch.setenv("PWD", shell)
        assert folders.find("mine") == task / "mine"
        assert folders.find("other") is None
        assert folders.looked("none") == ""


def test_what_a_folder_has_is_copied_whole_and_its_links_stay_links(tmp_path):
    ours, to = tmp_path / "ours", tmp_path / "to"
    for folder in (ours / "notes" / "old", ours / "left", to):
        folder.mkdir(parents=True)
    for file in ("README.md", "LICENSE", "notes/a.md", "notes/old/b.md", "left/c.md"):
        (ours / file).write_text(file, encoding="utf-8")
    links = {
        "a link to a file": "LICENSE",
        "a link to a folder": "notes",
        "a link to nothing": "gone",
        "notes/beside": "old",
    }
    for link, target in links.items():
        (ours / link).symlink_to(target)
    files.copy_all_but({"README.md", "left"}, ours, to)
    found = {str(path.relative_to(to)): path for path in to.rglob("*")}
    assert {name: str(path.readlink()) for name, path in found.items() if path.is_symlink()} == links
    contents = {
        name: path.read_text(encoding="utf-8") for name, path in found.items() if path.is_file() and name not in links
    }
    assert contents == {file: file for file in ("LICENSE", "notes/a.md", "notes/old/b.md")}


# --- embeddings ---------------------------------------------------------------------------------------------------------


class Tensor(np.ndarray):
    """What is asked of a tensor of torch."""

    def contiguous(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return np.asarray(self)


class Loaded(Embedder):
    """A model with few weights."""

    def __init__(self, longest: int | None = 256, words: str = "ab", **weights: object) -> None:
        self.longest = longest
        tensors = {
            name: np.asarray(value, "float32").view(Tensor) for name, value in (weights or {"w": [1, 2]}).items()
        }
        tokenizer = SimpleNamespace(get_vocab=lambda: {word: number for number, word in enumerate(words)})
        self._model = SimpleNamespace(state_dict=lambda: tensors, tokenizer=tokenizer)


def test_the_digest_of_a_model_stays_what_the_filters_that_were_trained_with_it_have():
    weights = b"w float32 (2,)" + np.array([1, 2], "float32").tobytes()
    assert Loaded().digest == hashlib.sha256(b"256" + weights + b"a 0\nb 1\n").hexdigest()[:12]
    others = [{"longest": 64}, {"longest": None}, {"words": "ba"}, {"words": "abc"}]
    others += [{"w": [1, 3]}, {"w": [[1, 2]]}, {"v": [1, 2]}, {"v": [1], "w": [2]}]
    assert len({Loaded(**other).digest for other in [{}, *others]}) == 1 + len(others)
    assert Loaded(v=[1], w=[2]).digest == Loaded(w=[2], v=[1]).digest
