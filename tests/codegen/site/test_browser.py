"""The whole site in Chromium: from a folder, and from a server that has it below another path.

Needs Playwright (the extra [browser]) and a Chromium on the PATH; without them these are skipped,
except in CI, where they fail.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.docs.site.build import site_files
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.docs.site.writing import write_site
from kinwire_codegen.load.document import Documents
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
    "reference.html",
    "mcp/index.html",
    "mcp/methods/tools-call.html",
    "mcpe/tools/events_subscribe.html",
    "mcp/types/Tool.html",
    "errors.html",
    "capabilities.html",
    "added-fields.html",
    "state-machines.html",
    "sequences.html",
    "exports/index.html",
    "mgp/data.html",
    "mgp/data/ServerLifecycle.html",
    "mgp/lists/defs-Access.html",
    "guides/index.html",
    "guides/overview.html",
    "api/index.html",
    "api/kinwire.html",
    "404.html",
]
"""A page of each kind."""

WIDTHS = (320, 390, 768, 1024, 1440)

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
    "server lifecycle": "mgp/data/ServerLifecycle.html",
    "getting started": "guides/getting-started.html",
    "open_store": "api/kinwire.storage.html#open_store",
    "cancelled": "mcp/methods/notifications-cancelled.html",
    "featureset update": "mcpl/methods/featureSets-update.html",
    "toolcall": "api/kinwire.mcplite.html#ToolCall",
    "toolscall": "mcp/methods/tools-call.html",
    "tolcall": "mcp/methods/tools-call.html",
    "promptsget": "mcp/methods/prompts-get.html",
    "initalise": "mcp/methods/initialize.html",
    "rollbak": "mcpl/methods/state-rollback.html",
}

ABOUT = {
    "bearer": ["transports"],
    "install": ["install", "overview", "getting-started"],
    "on_progress": ["getting-started", "writing-a-host"],
    "websocket": ["transports"],
    "websockt": ["transports"],
    "authenticate": ["transports"],
}
"""Words in the text of guides, and the guides that are about them."""


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
def folder(
    whole_site: Mapping[str, bytes], tiny: Documents, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The site below a path, as a publisher may have it, and two versions of a small one."""
    top = tmp_path_factory.mktemp("published")
    write_site(whole_site, top / "x" / "y")
    for name in ("new", "old"):
        write_site(site_files(versioned(tiny, name)), top / "x" / "y" / name)
    return top


def versioned(tiny: Documents, name: str) -> SiteSource:
    """Return the source of a small site that has several versions and a page of changes."""
    versions = [("2.1", "../new/"), ("2.0.0-release-candidate", "../old/")]
    if name == "old":
        versions.reverse()
    return SiteSource(
        documents=tiny,
        title="A library of books with a rather long name",
        olds=[("v1", tiny)],
        version=versions[0][0],
        versions=versions,
    )


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


def test_search_finds_names_parts_pieces_fields_and_typing_errors(window: Window) -> None:
    page = window.open("mcpl/methods/state-rollback.html")
    page.keyboard.press("/")
    page.wait_for_selector("dialog[open] input")
    first = "async query => (await kinwireSearch.find(query))[0].url"
    found = {query: page.evaluate(first, query) for query in QUERIES}
    assert found == QUERIES
    guides = {query: page.evaluate(first, query).partition(".html")[0] for query in ABOUT}
    names = {query: [f"guides/{name}" for name in names] for query, names in ABOUT.items()}
    assert [query for query, guide in guides.items() if guide not in names[query]] == []


@pytest.mark.parametrize("keys", ["/", "Control+k"])
def test_search_is_used_with_the_keyboard_alone(window: Window, keys: str) -> None:
    page = window.open("index.html")
    page.keyboard.press(keys)
    page.wait_for_selector("dialog[open] input")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")
    page.keyboard.press(keys)
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
    assert link.get_attribute("aria-label") == "Link to params.checkpoint"
    link.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#params.checkpoint")
    assert page.locator("h2#example .anchor").get_attribute("href") == "#example"
    page = window.open("mcpl/index.html")
    cells = page.locator('[id="CapabilityDenied"] td:has(.anchor)')
    assert [cell.split()[0] for cell in cells.all_inner_texts()] == ["CapabilityDenied"]


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
    assert page.locator("nav:visible").count() == 0
    assert page.locator(".tab:visible").count() == 4
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def box(page: Any, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).bounding_box()
    return found


def test_an_example_is_at_the_side_of_wide_screens_and_stays_in_view(window: Window) -> None:
    page = window.open("mcp/methods/tools-call.html")
    example, params = box(page, ".example"), box(page, "#params")
    assert example["x"] >= params["x"] + params["width"]
    assert example["y"] + 100 < 900
    page.evaluate("scrollTo({ top: 900, behavior: 'instant' })")
    assert box(page, ".top")["y"] == 0
    assert box(page, ".areas")["y"] > 0
    assert 0 < box(page, ".example")["y"] < 100


def test_an_example_is_above_fields_and_errors_on_narrow_screens(window: Window) -> None:
    window.context.pages[0].set_viewport_size({"width": 700, "height": 900})
    page = window.open("mcp/methods/tools-call.html")
    places = [box(page, selector)["y"] for selector in (".example", "#params", "#errors")]
    assert places == sorted(places)
    assert places[0] < 900


def test_a_link_to_a_folded_field_opens_it(window: Window) -> None:
    page = window.open("mcp/methods/tools-call.html")
    assert not page.locator('[id="params.scope"]').is_visible()
    window.open("mcp/methods/tools-call.html#params.scope")
    assert page.locator('[id="params.scope"]').is_visible()
    inner = page.locator('[id="params.scope"] details')
    inner.locator("summary").press("Enter")
    assert inner.get_by_text("payload", exact=True).is_visible()


def test_a_page_without_javascript_shows_everything(chromium: Any, address: str) -> None:
    window = Window(chromium, address, java_script_enabled=False)
    page = window.open("mcp/methods/tools-call.html")
    assert page.locator(".tab:visible").count() == 4
    assert page.locator(".find:visible").count() == 0
    for name in ("Reference", "tools/list", "CallToolResult"):
        assert page.get_by_role("link", name=name, exact=True).first.is_visible()
    page.locator("details.more summary").first.click()
    assert page.locator('[id="params.scope"]').is_visible()
    window.context.close()
    assert window.faults == []


def test_no_page_scrolls_sideways(
    chromium: Any, address: str, whole_site: Mapping[str, bytes]
) -> None:
    """Look at a page of each kind, or with `EVERY_PAGE=1` in the environment at all pages."""
    pages = ["new/changes/v1.html", "new/tiny/index.html", "new/tiny/methods/books-find.html"]
    every = (path for path in whole_site if path.endswith(".html"))
    pages += every if os.environ.get("EVERY_PAGE") else PAGES
    window = Window(chromium, address, viewport={"width": 320, "height": 800}, has_touch=True)
    wider = []
    for path in pages:
        page = window.open(path)
        page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true })")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                wider.append((path, width))
    window.context.close()
    assert wider == []
    assert window.faults == []


def test_a_phone_has_a_menu_of_pages(chromium: Any, address: str) -> None:
    window = Window(chromium, address, viewport={"width": 390, "height": 844}, has_touch=True)
    for path in ("index.html", "mcp/methods/tools-call.html"):
        page = window.open(path)
        assert page.locator(".areas").is_visible()
        assert not page.locator(".side").is_visible()
        page.click(".menu")
        assert page.locator(".side").is_visible()
    window.context.close()
    assert window.faults == []


def test_another_version_opens_the_same_page(chromium: Any, address: str) -> None:
    window = Window(chromium, address)
    page = window.open("new/tiny/methods/books-find.html#errors")
    page.locator(".version select").select_option("2.0.0-release-candidate")
    page.wait_for_url("**/x/y/old/tiny/methods/books-find.html#errors")
    assert page.locator(".version option:checked").inner_text() == "2.0.0-release-candidate"
    window.context.close()
    assert window.faults == []


@pytest.mark.parametrize("path", PAGES)
def test_axe_has_no_serious_finding(chromium: Any, address: str, path: str) -> None:
    """Every rule in the light theme; in the dark one, the rule about colours."""
    from axe_playwright_python.sync_playwright import Axe

    window = Window(chromium, address, viewport={"width": 1300, "height": 900})
    page = window.open(path)
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true })")
    serious = serious_findings(Axe().run(page))
    page.emulate_media(color_scheme="dark")
    serious += serious_findings(Axe().run(page, options={"runOnly": ["color-contrast"]}))
    window.context.close()
    assert serious == []
    assert window.faults == []


def serious_findings(results: Any) -> list[str]:
    return [
        f"{found['id']}: {found['nodes'][0]['html']}"
        for found in results.response["violations"]
        if found["impact"] in ("serious", "critical")
    ]


ANSWERS = [
    pytest.param("scope/elevate", "server → host", "Ask the host to approve a scope", id="a scope"),
    pytest.param("channels/publish", "host → server", "deliver content to a channel", id="publish"),
]


@pytest.mark.parametrize(("name", "sender", "shown"), ANSWERS)
def test_the_reference_says_who_sends_a_method(
    window: Window, name: str, sender: str, shown: str
) -> None:
    page = window.open("index.html")
    page.locator(".areas").get_by_role("link", name="Reference").click()
    row = page.locator("article tr", has=page.get_by_role("link", name=name, exact=True))
    assert sender in row.inner_text()
    assert shown in row.inner_text()


def test_the_reference_says_what_a_code_means(window: Window) -> None:
    page = window.open("reference.html")
    page.get_by_role("link", name="Error codes", exact=True).last.click()
    row = page.locator("article tr", has=page.get_by_role("link", name="-32003", exact=True))
    text = row.inner_text()
    assert "UnknownFeatureSet (MCP Live)" in text
    assert "meanings" in text
