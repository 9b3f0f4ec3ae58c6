"""The picture of a run that stops, and that of the documentation."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from personafeedback_tasks.engine.stopping import StopState
from personafeedback_tasks.reports.figure import files
from personafeedback_tasks.reports.stopping_figure import draw

DOCS = Path(__file__).parents[2] / "docs"


def texts(svg: bytes) -> list[str]:
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_of_the_documentation_is_that_of_its_script():
    of = runpy.run_path(str(DOCS / "stopping.py"))
    known, stored = of["simulated"](), (DOCS / "stopping.svg").read_bytes()
    assert texts(stored) == texts(of["pictures"]()["stopping.svg"])
    assert f"Above 0 after {known.users} of {known.of} users" in texts(stored)
    low, high = (f"{100 * end:+.1f}" for end in known.interval)
    page = " ".join((DOCS / "calls.md").read_text("utf-8").split())
    assert f"after user {known.users} it is {low} to {high} points, 0 is no longer in it" in page


def test_the_picture_has_the_interval_after_each_user():
    known = StopState("5", 3, 9, None, (-0.7, 0.1), ((-1.0, 1.0), (-0.8, 0.6), (-0.7, 0.1)))
    (axes,) = draw(known, "right minus wrong").axes
    low, high = axes.lines[:2]
    assert low.get_xydata().tolist() == [[1, -100], [2, -80], [3, -70]]
    assert high.get_xydata().tolist() == [[1, 100], [2, 60], [3, pytest.approx(10)]]
    assert [line.get_ydata()[0] for line in axes.lines[2:]] == [0, -5, 5]
    assert axes.get_xlim() == (1, 9)
    assert axes.get_ylim()[0] < -70
    assert axes.get_title() == "Not decided after 3 of 9 users"
    accuracy = draw(replace(known, rule="acc:5", decision="known"), "acc")
    assert len(accuracy.axes[0].lines) == 2  # no margin around 0
    assert "acc, points" in texts(files(accuracy, "x")["x.svg"])
