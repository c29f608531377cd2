"""The whole site in Chromium: from a folder, and from a server that has it below another path.

Needs Playwright (the extra [browser]) and a Chromium on the PATH; without them these are skipped,
except in CI, where they fail.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.site.writing import write_site
from tests.absent import absent

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox",  # root has no sandbox; the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PAGES = [
    "index.html",
    "mcpl/index.html",
    "mcpl/methods/state-rollback.html",
    "mcpe/tools/events_subscribe.html",
    "mcp/types/Tool.html",
    "errors.html",
    "capabilities.html",
    "augments.html",
    "machines.html",
    "sequences.html",
    "exports/index.html",
    "mgp/data.html",
    "guides/storage.html",
    "api/kinwire.html",
    "404.html",
]

QUERIES = {
    "state/rollback": "mcpl/methods/state-rollback.html",
    "channels publish": "mcpl/methods/channels-publish.html",
    "health ping": "mgp/methods/mgp-health-ping.html",
    "outgoing chunk": "mcpl/methods/channels-outgoing-chunk.html",
    "before inference": "mcpl/methods/context-beforeInference.html",
    "createMessage": "mcp/methods/sampling-createMessage.html",
    "elevaet": "mcpl/methods/scope-elevate.html",
    "subscripton expired": "mcpe/methods/events-subscription_expired.html",
    "tolls list": "mcp/methods/tools-list.html",
    "-32003": "errors.html#error.-32003",
    "CheckpointNotFound": "mcpl/index.html#CheckpointNotFound",
    "events_subscribe": "mcpe/tools/events_subscribe.html",
    "redeem": "mcp-lite/tools/redeem.html",
    "descriptor": "mcpl/types/ChannelDescriptor.html",
    "RootsCapability": "mcp/types/RootsCapability.html",
    "rollback checkpoint": "mcpl/methods/state-rollback.html#params.checkpoint",
    "approve scope": "mcpl/methods/scope-elevate.html#result.approved",
    "server lifecycle": "mgp/data.html#ServerLifecycle",
    "getting started": "guides/getting-started.html",
    "open_store": "api/kinwire.storage.html#open_store",
    "cancelled": "mcp/methods/notifications-cancelled.html",
    "featureset update": "mcpl/methods/featureSets-update.html",
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        absent("the extra [browser] is not installed")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        absent("Chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(whole_site: Mapping[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site below a path, as a publisher may have it."""
    top = tmp_path_factory.mktemp("published")
    write_site(whole_site, top / "x" / "y")
    return top


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/x/y/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(params=["folder", "server"])
def site(request: pytest.FixtureRequest, folder: Path, address: str) -> str:
    return address if request.param == "server" else (folder / "x" / "y").as_uri() + "/"


class Window:
    """A tab that keeps what went wrong in it."""

    def __init__(self, browser: Any, site: str, **how: Any) -> None:
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.site = site
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._said)
        self.page.on("request", self._asked)

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.site, self.site.partition("/x/y/")[0] + "/favicon")):
            self.faults.append(f"asked for {request.url}")

    def open(self, path: str) -> Any:
        self.page.goto(self.site + path)
        return self.page


@pytest.fixture
def window(chromium: Any, site: str) -> Iterator[Window]:
    made = Window(chromium, site, viewport={"width": 1300, "height": 900})
    yield made
    made.context.close()
    assert made.faults == []


def test_search_finds_names_parts_pieces_members_and_typing_errors(window: Window) -> None:
    page = window.open("mcpl/methods/state-rollback.html")
    page.keyboard.press("/")
    page.wait_for_selector("dialog[open] input")
    found = {
        query: page.evaluate("query => kinwireSearch.find(query)[0].url", query)
        for query in QUERIES
    }
    assert found == QUERIES


def test_search_is_used_with_the_keyboard_alone(window: Window) -> None:
    page = window.open("index.html")
    page.keyboard.press("/")
    page.wait_for_selector("dialog[open] input")
    page.keyboard.type("scope/elev")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/mcpl/methods/scope-elevate.html")
    assert page.inner_text("h1") == "scope/elevate"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"


def test_a_place_shows_its_link_on_focus_and_leads_to_itself(window: Window) -> None:
    page = window.open("mcpl/methods/state-rollback.html")
    link = page.locator('[id="params.checkpoint"] .anchor')
    assert link.evaluate("node => getComputedStyle(node).opacity") == "0"
    page.locator('[id="params.checkpoint"]').hover()
    assert link.evaluate("node => getComputedStyle(node).opacity") == "1"
    link.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#params.checkpoint")


def test_examples_are_tabs_that_remember_the_choice(window: Window) -> None:
    page = window.open("mcp/methods/tools-call.html")
    tabs = page.locator("[role=tab]")
    assert tabs.all_inner_texts() == ["Messages", "Client", "Handler", "Shell"]
    tabs.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=tabpanel]:visible").get_attribute("id") == "example.client"
    tabs.nth(2).click()
    window.open("mcpl/methods/channels-publish.html")
    assert page.locator("[role=tabpanel]:visible").get_attribute("id") == "example.handler"
    window.open("mcp/methods/resources-read.html#example.shell")
    page.reload()
    assert page.locator("[role=tabpanel]:visible").get_attribute("id") == "example.shell"


def test_the_theme_is_chosen_and_stays(window: Window) -> None:
    page = window.open("index.html")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click(".theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    window.open("errors.html")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_print_shows_every_example_and_no_navigation(window: Window) -> None:
    page = window.open("mcp/methods/tools-call.html")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator(".tab:visible").count() == 4


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_needs_no_sideways_scrolling(chromium: Any, address: str, path: str) -> None:
    window = Window(chromium, address, viewport={"width": 390, "height": 844}, has_touch=True)
    page = window.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.locator("nav").is_visible()
    page.click(".menu")
    assert page.locator("nav").is_visible()
    window.context.close()
    assert window.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_has_no_serious_finding(chromium: Any, address: str, path: str, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    window = Window(chromium, address, viewport={"width": 1300, "height": 900}, color_scheme=scheme)
    results = Axe().run(window.open(path))
    serious = [
        f"{found['id']}: {found['nodes'][0]['html']}"
        for found in results.response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    window.context.close()
    assert serious == []
    assert window.faults == []


ANSWERS = [
    pytest.param("scope/elevate", "server → host", "Ask the host to approve a scope", id="a scope"),
    pytest.param("channels/publish", "host → server", "deliver content to a channel", id="publish"),
]


@pytest.mark.parametrize(("name", "sender", "expected"), ANSWERS)
def test_who_knows_nothing_finds_who_sends_what(
    window: Window, name: str, sender: str, expected: str
) -> None:
    page = window.open("index.html")
    row = page.locator(".everything tr", has=page.get_by_role("link", name=name, exact=True))
    assert sender in row.inner_text()
    assert expected in row.inner_text()


def test_who_knows_nothing_finds_what_a_code_means(window: Window) -> None:
    page = window.open("index.html")
    page.get_by_role("link", name="Error codes", exact=True).last.click()
    row = page.locator("article tr", has=page.get_by_role("link", name="-32003", exact=True))
    text = row.inner_text()
    assert "UnknownFeatureSet (MCP Live)" in text
    assert "meanings" in text
