"""docs/page.png and docs/case.png: the page of three scripted judges on the bundled sample.

    python docs/screenshots.py

Needs headless chromium (`apt-get install chromium chromium-driver fonts-noto-cjk`). The pictures show the sample only.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from zlib import crc32

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from personafeedback_tasks.logs import log
from personafeedback_tasks.pairwise.orders import TWO

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from support import jsonl_harness  # noqa: E402
from support.commands import personafeedback  # noqa: E402

SETTINGS = ("persona", "other_persona", "no_persona")
PICTURES = {
    "page.png": ("", 1280, 1000),
    "case.png": ("#case=general_hard%3A3", 1440, 1000),
}
"""Name -> (what of the page, width, height)."""


def judge(*shares: float) -> jsonl_harness.Model:
    """A judge that is right in a share of its replies, which differs by setting."""

    def model(case_id: str, call: str) -> str:
        *setting, order = call.split()
        share = shares[SETTINGS.index(setting[0]) if setting else 0]
        right = TWO.right[order]
        return right if crc32(f"{case_id} {call} {shares}".encode()) / 2**32 < share else "AB"[right == "A"]

    return model


JUDGES = {
    "scripted/knower": judge(0.9, 0.55, 0.5),
    "scripted/ignorer": judge(0.8, 0.8, 0.8),
    "scripted/weak": judge(0.6, 0.6, 0.5),
}


def main() -> None:
    log.READERS = (jsonl_harness.READER, *log.READERS)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = [
            jsonl_harness.run(
                model, name, folder / str(number), "personafeedback", data="sample", setting=",".join(SETTINGS)
            )
            for number, (name, model) in enumerate(JUDGES.items())
        ]
        done = personafeedback("rank", *runs, "--data", "sample", "--out", folder / "ranking")
        assert done.exit_code == 0, done.output
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        for picture, (fragment, width, height) in PICTURES.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get("about:blank")
            driver.get(f"{(folder / 'ranking' / 'ranking.html').as_uri()}{fragment}")
            driver.save_screenshot(str(HERE / picture))
        driver.quit()


if __name__ == "__main__":
    main()
