"""docs/page.png and docs/case.png: the page of three judges without a model on the bundled sample.

    python docs/screenshots.py

Runs the real commands, then headless chromium (`apt-get install chromium chromium-driver fonts-noto-cjk`). The pictures show
the sample only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = Path(__file__).parent
SETTINGS = "-T setting=persona,other_persona,no_persona"
COMMANDS = (
    f"inspect eval personafeedback_tasks/personafeedback --model personafeedback/overlap {SETTINGS} --log-dir logs --display plain",
    f"inspect eval personafeedback_tasks/personafeedback --model personafeedback/longest {SETTINGS} --log-dir logs --display plain",
    'lm_eval run --include_path "$(personafeedback task-configs)" --tasks personafeedback_mc --model dummy --log_samples --output_path logs',
    "personafeedback rank logs --out ranking",
)
PICTURES = {
    "page.png": ("", 1280, 1000),
    "case.png": ("#case=general_hard%3A3", 1440, 1000),
}
"""Name -> (what of the page, width, height)."""


def main() -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    with tempfile.TemporaryDirectory() as name:
        for command in COMMANDS:
            environment = {**os.environ, "PERSONAFEEDBACK_DATA": "sample", "HF_HUB_OFFLINE": "1"}
            subprocess.run(command, shell=True, cwd=name, env=environment, check=True)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        for picture, (fragment, width, height) in PICTURES.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get("about:blank")
            driver.get(f"{Path(name, 'ranking', 'index.html').as_uri()}{fragment}")
            driver.save_screenshot(str(HERE / picture))
        driver.quit()


if __name__ == "__main__":
    main()
