"""The page of `--synaptum-report` in a real Chromium: opens, filters, expands, says no error.

Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver) and selenium.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]

TESTS = '''
import asyncio
import pytest
from pytest_synaptum import calls, says
from synaptum import Agent, LocalGateway, Session, tool
from synaptum.vocabulary import Usage

SECRET = "sk-" + "a1b2c3d4" * 4

@tool
def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"fog in {city}"

def run(model, **settings):
    agent = Agent("weather", model="scripted", tools=[get_weather], instructions="Tell it.")

    async def go():
        session = Session("r1", model.gateway(tools=[get_weather]))
        return [step async for step in agent.run("Weather?", session=session)][-1].output

    return asyncio.run(go())

def look(city, start):
    return [calls("get_weather", city=city), says("", usage=Usage(start, 20, None, start // 2))]

def test_weather(model_double):
    turns = [look("Lima", 100), look("Oslo", 200), says("Fog.", usage=Usage(300, 9, None, 200))]
    assert run(model_double(*turns)) == "Fog."

def test_hostile(model_double):
    said = "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)>"
    assert run(model_double(said)) == said

def test_failing(model_double):
    assert run(model_double(f"The key is {SECRET}")) == "Fog."

def test_golden(synaptum_golden):
    synaptum_golden.check({"city": "Lima", "rows": [1, 2, 3], "note": None})

def test_resumed(model_double, resume_check):
    agent = Agent("weather", model="scripted", tools=[get_weather])
    resume_check.run(agent, "Hi", model=model_double(calls("get_weather", city="Lima"), "Done."))

@pytest.mark.parametrize("number", range(500))
def test_many(number, model_double):
    assert run(model_double(f"Answer {number}.")) == f"Answer {number}."
'''


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a run of more than 500 tests, one of them with recorded exchanges."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_weather.py").write_text(TESTS, encoding="utf-8")
    shutil.copytree(ROOT / "examples" / "first", folder / "first")
    pytest_in(folder, "--synaptum-update", "-k", "test_golden")
    golden = next((folder / "goldens").rglob("test_golden.yaml"))
    text = golden.read_text(encoding="utf-8")
    golden.write_text(text.replace("Lima", "Oslo").replace("- 2", "- 7"), encoding="utf-8")

    pytest_in(folder, "--synaptum-report=report.html", "-n", "2")

    return folder / "report.html"


def pytest_in(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=folder, env=kept, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr


def open_browser(*, dark: bool = False) -> webdriver.Chrome:
    options = Options()
    options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--window-size=1280,1000",
        f"--user-data-dir={tempfile.mkdtemp(prefix='synaptum-browser-')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver")
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return driver


@pytest.fixture
def browser(page: Path) -> Iterator[webdriver.Chrome]:
    driver = open_browser()
    try:
        driver.get(page.as_uri())
        yield driver
        problems = [entry for entry in driver.get_log("browser") if entry["level"] != "INFO"]
        assert problems == []
    finally:
        driver.quit()


def shown(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.ID, "shown").text


def wait_for(browser: webdriver.Chrome, condition: Callable[[Any], Any]) -> Any:
    return WebDriverWait(browser, 20).until(condition)


def the_test(browser: webdriver.Chrome, name: str) -> WebElement:
    for item in browser.find_elements(By.CSS_SELECTOR, "#tests > details"):
        if item.find_element(By.CSS_SELECTOR, "summary code").get_attribute("textContent") == name:
            return item
    msg = f"no test {name}"
    raise AssertionError(msg)


def opened(browser: webdriver.Chrome, name: str) -> WebElement:
    item = the_test(browser, name)
    if item.get_attribute("open") is None:
        item.find_element(By.TAG_NAME, "summary").click()
    wait_for(browser, lambda _: item.find_elements(By.CLASS_NAME, "inside"))
    return item


def look_at(browser: webdriver.Chrome, name: str) -> None:
    """Keep a picture for people, where they ask for it."""
    folder = os.environ.get("SYNAPTUM_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(Path(folder) / f"{name}.png"))


def test_the_page_opens_with_every_test_and_the_first_failure_open(browser):
    assert shown(browser) == "507 of 507 tests shown"
    opened_by_itself = browser.find_elements(By.CSS_SELECTOR, "#tests > details[open]")
    names = [one.find_element(By.CSS_SELECTOR, "summary code").text for one in opened_by_itself]
    assert names == ["test_weather.py::test_failing"]
    wait_for(browser, lambda b: b.find_elements(By.CLASS_NAME, "inside"))
    look_at(browser, "opened")


def test_500_tests_are_listed_fast_and_drawn_only_when_they_are_opened(browser, page):
    started = time.monotonic()
    browser.get(page.as_uri())
    assert shown(browser) == "507 of 507 tests shown"
    took = time.monotonic() - started

    assert took < 5
    assert len(browser.find_elements(By.CLASS_NAME, "inside")) <= 1


def test_nothing_is_fetched(browser):
    urls = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        request = message["params"]
        # The browser's own first tab loads what it likes.
        if request["documentURL"].startswith("file:"):
            urls.append(request["request"]["url"])

    assert [Path(url).name for url in dict.fromkeys(urls)] == ["report.html"]


def test_words_filter_the_list(browser):
    browser.find_element(By.ID, "words").send_keys("MANY 49")

    wait_for(browser, lambda b: shown(b) == "15 of 507 tests shown")
    visible = [
        item.find_element(By.CSS_SELECTOR, "summary code").text
        for item in browser.find_elements(By.CSS_SELECTOR, "#tests > details:not([hidden])")
    ]
    assert visible[:2] == ["test_weather.py::test_many[49]", "test_weather.py::test_many[149]"]
    look_at(browser, "filtered")


def test_outcomes_and_contents_filter_the_list(browser):
    browser.find_element(By.CSS_SELECTOR, "input[value=passed]").click()
    wait_for(browser, lambda b: shown(b) == "2 of 507 tests shown")

    browser.find_element(By.CSS_SELECTOR, "input[value=goldens]").click()
    wait_for(browser, lambda b: shown(b) == "1 of 507 tests shown")


def test_a_recorded_exchange_shows_its_bodies(browser):
    item = opened(browser, "first/test_any_client.py::test_any_client_is_recorded")
    line = item.find_element(By.XPATH, ".//details[contains(summary, 'replayed')]/summary")
    line.click()

    bodies = wait_for(browser, lambda _: item.find_elements(By.CSS_SELECTOR, ".bodies pre"))

    assert '"content": "What is the capital of Spain?"' in bodies[0].text
    assert "Madrid" in bodies[1].text
    look_at(browser, "exchange")


def test_a_run_shows_its_steps_and_its_economy(browser):
    item = opened(browser, "test_weather.py::test_weather")

    kinds = [one.text for one in item.find_elements(By.CSS_SELECTOR, ".steps .kind")]
    assert kinds == ["model", "tool", "model", "tool", "model", "final"]
    bars = item.find_elements(By.CSS_SELECTOR, "svg[role=img] rect")
    assert len(bars) == 9
    step = item.find_elements(By.CSS_SELECTOR, ".steps > li")[1]
    step.find_element(By.TAG_NAME, "summary").click()
    wait_for(browser, lambda _: "fog in Lima" in step.text)
    browser.execute_script("arguments[0].scrollIntoView()", item)
    look_at(browser, "run")


def test_a_golden_that_differs_stands_side_by_side(browser):
    item = opened(browser, "test_weather.py::test_golden")

    cells = [one.text for one in item.find_elements(By.CSS_SELECTOR, ".paths tbody tr")]
    assert cells == ['city "Oslo" "Lima"', "rows[1] 7 2"]
    lost = item.find_elements(By.CSS_SELECTOR, ".lines .lost")
    assert any("Oslo" in one.text for one in lost)
    browser.execute_script("arguments[0].scrollIntoView()", item)
    look_at(browser, "golden")


def test_a_resume_report_is_a_table_of_boundary_by_stop(browser):
    item = opened(browser, "test_weather.py::test_resumed")

    table = item.find_element(By.CSS_SELECTOR, "[aria-label='Resume table'] table")
    assert "error before write" in table.text
    assert "000001-tool attempted" in table.text
    assert "✓ ok" in table.text
    browser.execute_script("arguments[0].scrollIntoView()", item)
    look_at(browser, "resume")


def test_what_a_model_said_stays_words(browser):
    item = opened(browser, "test_weather.py::test_hostile")

    assert "<img src=x onerror=alert(1)>" in item.text
    assert item.find_elements(By.TAG_NAME, "img") == []
    assert "owned" not in browser.title


def test_no_secret_is_on_the_page(browser, page):
    item = opened(browser, "test_weather.py::test_failing")

    assert "REDACTED-KEY" in item.text
    text = page.read_text(encoding="utf-8")
    assert "a1b2c3d4a1b2" not in text
    assert "4a1b2c3d4" not in text


def test_the_keyboard_is_enough(browser):
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys("/")
    words = browser.switch_to.active_element
    assert words.get_attribute("id") == "words"

    words.send_keys("test_golden")
    wait_for(browser, lambda b: shown(b) == "1 of 507 tests shown")
    for _ in range(20):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        if browser.switch_to.active_element.tag_name == "summary":
            break
    browser.switch_to.active_element.send_keys(Keys.ENTER)

    item = the_test(browser, "test_weather.py::test_golden")
    wait_for(browser, lambda _: item.find_elements(By.CLASS_NAME, "paths"))


def test_what_a_screen_reader_needs_is_named(browser):
    opened(browser, "test_weather.py::test_weather")

    assert browser.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"
    assert browser.find_element(By.ID, "shown").get_attribute("role") == "status"
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    nameless = [
        node["role"]["value"]
        for node in tree
        if not node.get("ignored")
        and node.get("role", {}).get("value")
        in {"button", "checkbox", "searchbox", "image", "region"}
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []


@pytest.mark.parametrize(("dark", "ground"), [(False, "255, 255, 255"), (True, "20, 23, 27")])
def test_the_colours_are_those_that_the_reader_prefers(page, dark, ground):
    driver = open_browser(dark=dark)
    try:
        driver.get(page.as_uri())
        body = driver.find_element(By.TAG_NAME, "body")

        assert ground in body.value_of_css_property("background-color")
        look_at(driver, "dark" if dark else "light")
    finally:
        driver.quit()


def test_a_narrow_window_needs_no_scrolling_sideways(browser):
    opened(browser, "test_weather.py::test_golden")
    browser.set_window_size(500, 900)

    wide, window = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )

    assert wide <= window
    look_at(browser, "narrow")
