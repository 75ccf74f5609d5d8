"""Reports in a real browser, headless: no error, nothing wider than a phone, every figure painted.

Where no Chromium is installed these tests are skipped, but never in continuous integration (CI=true). Each
kind of report takes about 3 seconds.
"""

import base64
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

KINDS = ("run", "rehearsal", "study", "session", "open")
WIDTHS = (320, 375, 820, 1400)
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)

pytestmark = pytest.mark.skipif(
    (CHROMIUM is None or DRIVER is None) and os.environ.get("CI") != "true",
    reason="needs Chromium and ChromeDriver (on Debian: apt-get install chromium chromium-driver)",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Browser"]:
    assert CHROMIUM, "Expected Chromium in continuous integration but found none: install it"
    assert DRIVER, "Expected ChromeDriver in continuous integration but found none: install it"
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """Shows a page at a width, light or dark, and tells what it looks like."""

    def __init__(self, driver) -> None:
        self.driver = driver

    def show(self, folder: Path, width: int, *, dark: bool = False, media: str = "") -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get((folder / "report.html").as_uri())

    def run(self, script: str):
        return self.driver.execute_script(f"return {script}")

    def pixels(self) -> np.ndarray:
        """The whole page, uint8 [height, width, 3]."""
        size = {"x": 0, "y": 0, "scale": 1}
        size |= {"width": self.run("innerWidth"), "height": self.run("document.documentElement.scrollHeight")}
        taken = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": size}
        )
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB"))

    def boxes(self, selector: str) -> list[tuple[int, int, int, int]]:
        """(left, top, right, bottom) of every element shown, as far as its scrolling parent shows it."""
        return self.run(
            f"""[...document.querySelectorAll({selector!r})].filter(e => e.checkVisibility()).map(e => {{
                const box = e.getBoundingClientRect(), frame = e.parentElement.getBoundingClientRect();
                return [Math.max(box.left, frame.left), box.top + scrollY,
                        Math.min(box.right, frame.right), box.bottom + scrollY].map(Math.round);
            }})"""
        )


@pytest.mark.parametrize("kind", KINDS)
def test_no_console_message_and_no_dialog(kind, browser, report_folders):
    browser.driver.get_log("browser")
    browser.show(report_folders[kind], 1000)
    assert browser.driver.get_log("browser") == []
    assert browser.run("document.title").strip()
    assert browser.run("document.compatMode") == "CSS1Compat"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wider_than_the_page(kind, width, browser, report_folders):
    browser.show(report_folders[kind], width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    beyond = browser.run(
        """[...document.querySelectorAll('body *')].filter(e => e.checkVisibility()
            && !e.closest('.scrolls, .table, .skip, thead')
            && e.getBoundingClientRect().right > innerWidth + 1
        ).map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""
    )
    assert beyond == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [375, 1000])
@pytest.mark.parametrize("kind", ["run", "rehearsal", "study", "session"])
def test_every_figure_is_painted(kind, width, dark, browser, report_folders):
    """Each has room and is shown in one of its widths; 1 % of its pixels at least differ from the page."""
    browser.show(report_folders[kind], width, dark=dark)
    pixels, boxes = browser.pixels(), browser.boxes("figure img")
    figures = browser.run("document.querySelectorAll('figure').length")
    assert len(boxes) == figures > 0
    background = pixels[2, 2].astype(int)
    assert (background.sum() < 200) == dark
    for left, top, right, bottom in boxes:
        assert right - left > 150
        assert bottom - top > 60
        inside = pixels[top:bottom, left:right].astype(int)
        painted = (np.abs(inside - background).sum(axis=2) > 60).mean()
        assert painted > 0.01, (left, top, right, bottom)


@pytest.mark.parametrize("width", [375, 1000])
def test_letters_in_figures_are_large_enough(width, browser, report_folders):
    """Nothing written in a figure, in 10 points or 9.5 in graphs, is smaller than 8 pixels on the screen."""
    for kind in ("run", "study", "session"):
        browser.show(report_folders[kind], width)
        points = browser.run(
            """[...document.querySelectorAll('figure img')].map(e =>
                e.width / e.naturalWidth * (e.closest('.scrolls') ? 9.5 : 10))"""
        )
        assert min(points) * 96 / 72 >= 8


def test_hostile_names_are_shown_as_they_are(browser, report_folders, hostile_names):
    browser.show(report_folders["rehearsal"], 1000)
    assert browser.run("document.scripts.length") == 0
    assert browser.run("document.querySelectorAll('b, i, img:not([alt]), [onload]').length") == 0
    shown = browser.run("document.body.innerText")
    for name in (hostile_names[0], hostile_names[2], hostile_names[3], hostile_names[4]):
        assert name in shown


def test_in_print_it_is_light_and_whole(browser, report_folders):
    """On A4 (680 pixels between the margins), in the dark scheme: white paper, nothing cut off."""
    browser.show(report_folders["run"], 680, dark=True, media="print")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("document.documentElement.scrollWidth") <= 680
    cut = browser.run(
        """[...document.querySelectorAll('figure img')].filter(e => e.checkVisibility()
            && e.getBoundingClientRect().right > innerWidth).length"""
    )
    assert cut == 0
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF-")
