"""Debian's chromium, driven as a person would use it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser. Skips where there is none."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if not all(found.values()):
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = found["chromium"]
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found["chromedriver"]))
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """One page in the browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, fragment: str = "", width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")  # else another fragment alone would not load the page again
        self.driver.get(path.as_uri() + fragment)
        assert self("return performance.getEntriesByName('drawn').length") == 1
        return self

    def __call__(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """What the elements contain, shown or not."""
        return self("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def set(self, **controls: object) -> None:
        """Set filters by id, the others back to what they are at first."""
        self("document.querySelector('.filters').reset()")
        for name, value in controls.items():
            what = "checked" if isinstance(value, bool) else "value"
            self(f"document.getElementById(arguments[0]).{what} = arguments[1]", name, value)
        self("document.querySelector('.filters').dispatchEvent(new Event('input', {bubbles: true}))")

    def listed(self) -> list[str]:
        """The ids of the cases in the list, over all of its pages."""
        found = self.texts("#list .id bdi:first-child")
        while self("return !document.getElementById('more').disabled"):
            self("document.getElementById('more').click()")
            found += self.texts("#list .id bdi:first-child")
        return found

    def go(self, case_id: str) -> None:
        """To a case by its link."""
        self("location.hash = `#case=${encodeURIComponent(arguments[0])}`", case_id)
        self.wait("return document.querySelector('.case-head bdi')?.textContent === arguments[0]", case_id)

    def wait(self, script: str, *arguments: object) -> None:
        """Until a script returns something true."""
        self.until(lambda: self(script, *arguments))

    def until(self, holds: Callable[[], object]) -> None:
        """Until something holds; never after two minutes, which no loaded machine needs."""
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.driver, 120, poll_frequency=0.05).until(lambda _: holds())

    def download(self, selector: str, path: Path) -> str:
        """Click, and the text of the file that the page saves."""
        path.unlink(missing_ok=True)
        folder = {"behavior": "allow", "downloadPath": str(path.parent)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
        self.click(selector)
        self.until(lambda: path.is_file() and path.stat().st_size)  # made empty, then renamed from what was written
        return path.read_text("utf-8")

    def errors(self) -> list[str]:
        """What the console has since the last look."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that were asked since the last look."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
