"""A real Chromium and the page on disk; without the browser the tests are skipped and say so."""

import json
import shutil

import pytest

import vmodel
from vmodel.calibrate import evidence
from vmodel.cli.options import FLAGS
from vmodel.config import scenario
from vmodel.report import explorer

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVER = "chromedriver"
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # tests may run as root in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-device-scale-factor=1",
    "--window-size=1400,1000",
)
PATIENCE_S = 60


def found(names):
    return next((place for name in names if (place := shutil.which(name))), None)


@pytest.fixture(scope="session")
def html():
    """The page as text, as `vmodel explore --path vf --rx-usecs 10` writes it."""
    rows = [row for study in evidence.load() for row in study.rows]
    return explorer.page(scenario(path="vf", rx_usecs=10), rows, flags=FLAGS, version=vmodel.__version__)


@pytest.fixture(scope="session")
def page(html, tmp_path_factory):
    """The address of the page on disk."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(html, encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="session")
def chromium():
    """A running Chromium, driven by selenium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    browser, driver = found(BROWSERS), found((DRIVER,))
    if browser is None or driver is None:
        pytest.skip("no chromium with its chromedriver on this machine (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    for option in OPTIONS:
        options.add_argument(option)
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    running.set_script_timeout(PATIENCE_S)
    running.set_page_load_timeout(PATIENCE_S)
    yield running
    running.quit()


class Tab:
    """The open page: what tests do with it."""

    def __init__(self, driver, address):
        self.driver = driver
        self.address = address

    def open(self, state=""):
        """Load the page with a state in its address, and wait for the first answer and the rest after it."""
        self.driver.get("about:blank")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(self.address + state)
        self.rest()
        return self

    def run(self, script, *arguments):
        """The value of a function body in the page."""
        return self.driver.execute_script(script, *arguments)

    def rest(self):
        """Wait until a move is shown and what follows it is done."""
        script = """const done = arguments[arguments.length - 1];
            const look = () => (window.vmodel.resting() ? requestAnimationFrame(look) : done(true)); look();"""
        self.driver.execute_async_script(script)

    def painted(self):
        """Wait until a move is shown."""
        script = """const done = arguments[arguments.length - 1];
            const look = () => (window.vmodel.moving() ? requestAnimationFrame(look) : done(true)); look();"""
        self.driver.execute_async_script(script)

    def move(self, name, position):
        """Drag a slider to a position."""
        self.run(
            """const s = document.getElementById(arguments[0]); s.value = arguments[1];
            s.dispatchEvent(new Event("input", { bubbles: true }));""",
            name,
            position,
        )
        self.painted()

    def choose(self, name, value):
        """Choose from a list."""
        self.run(
            """const s = document.getElementById(arguments[0]); s.value = arguments[1];
            s.dispatchEvent(new Event("change", { bubbles: true }));""",
            name,
            value,
        )
        self.painted()

    def text(self, selector):
        """The text of an element."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def complaints(self):
        """What the browser's console said."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that were asked for, since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def size(self, width, height):
        """Make the window as large as a screen."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < height},
        )
        self.rest()


@pytest.fixture
def tab(chromium, page):
    """The page in the browser."""
    yield Tab(chromium, page)
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
