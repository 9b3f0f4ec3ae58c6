"""The page of `rank --out` with the General half (3,841 cases) and six runs: how long it takes to open, and its size.

    PERSONAFEEDBACK_DATA=FOLDER python benchmarks/page.py

The runs are one of lm-eval's dummy model with `_mc`, six times under other names. The time is the browser's own, from
the navigation to the moment when the script has drawn the list of cases, in headless chromium; median of 5. Bound: 2 s.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from personafeedback_tasks.analysis.contender import Contender
from personafeedback_tasks.analysis.ranking import ranked
from personafeedback_tasks.cli.registration import task_configs
from personafeedback_tasks.logs.data import RunData
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.reports import page


def log(folder: Path) -> Path:
    command = [
        sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", "personafeedback_general_mc", "--log_samples",
        "--include_path", task_configs(), "--output_path", folder,
    ]  # fmt: skip
    subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, check=True)
    return max(folder.rglob("results_*.json"))


def opened(path: Path) -> list[float]:
    """Milliseconds of five navigations."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    times = []
    for _ in range(5):
        driver.get("about:blank")
        driver.get(f"{path.as_uri()}#cases")
        times.append(driver.execute_script("return performance.getEntriesByName('drawn')[0].startTime"))
    driver.quit()
    return times


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = read_run(log(folder))
        runs = [replace(run, model=f"organization/model-{number}") for number in range(1, 7)]
        start = time.perf_counter()
        html = page.render(ranked([Contender(run) for run in runs], RunData(os.environ["PERSONAFEEDBACK_DATA"])), [])
        made = time.perf_counter() - start
        path = folder / "index.html"
        path.write_text(html, encoding="utf-8")
        times = opened(path)
        print(
            f"cases: {len(run.cases):,}; runs: {len(runs)}; size: {path.stat().st_size / 2**20:.1f} MiB; "
            f"made in {made:.1f} s"
        )
        print(
            f"opened in {statistics.median(times) / 1000:.2f} s, median of {len(times)} "
            f"({', '.join(f'{t:.0f}' for t in times)} ms)"
        )


if __name__ == "__main__":
    main()
