"""The reference pages: every method, tool and type has one, and every link leads somewhere."""

from __future__ import annotations

import re
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Any

import pytest

from tests.generated.interpreter import ROOT
from tests.generated.messages import DOCUMENTS

REFERENCE = ROOT / "generated" / "reference"
PAGES = set(REFERENCE.rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


@cache
def anchors(page: Path) -> set[str]:
    return set(re.findall(r'<a id="([^"]+)">', page.read_text(encoding="utf-8")))


def links(page: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return set(LINK.findall(re.sub(r"`[^`]*`", "`", text)))


def leads_somewhere(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    there = Path(normpath(page.parent / name)) if name else page
    return there in PAGES and (not anchor or anchor in anchors(there))


def test_every_link_leads_to_a_page_and_an_anchor_there() -> None:
    found = {page: links(page) for page in PAGES}
    assert [page for page in PAGES if not found[page]] == []
    assert [
        (page, target)
        for page, targets in found.items()
        for target in targets
        if not leads_somewhere(page, target)
    ] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_method_tool_and_type_has_a_page(document: Any) -> None:
    home = REFERENCE / document.name
    for folder, names in (
        ("methods", document.content["methods"]),
        ("tools", document.table("tools")),
        ("types", document.definitions),
    ):
        found = {page.stem for page in (home / folder).glob("*.md")}
        assert found == {name.replace("/", "-").replace("$", "") for name in names}


def test_a_member_that_another_protocol_adds_has_its_anchor_on_the_method() -> None:
    page = REFERENCE / "mcp" / "methods" / "tools-call.md"
    added = {"params.checkpoint", "params.scope", "params._mgp", "params.trace_id", "result._mgp"}
    assert added | {"params.name", "result.content"} <= anchors(page)
    assert "../../mcpl/README.md#CheckpointNotFound" in page.read_text(encoding="utf-8")


def test_a_page_shows_the_stub_the_handler_and_the_aliases() -> None:
    page = REFERENCE / "mcpe" / "tools" / "events_unsubscribe.md"
    text = page.read_text(encoding="utf-8")
    assert re.search(
        r"await mcpe\.ServerStub\(peer\)\.events_unsubscribe\(\s*subscription_id=", text
    )
    assert "class Tools(mcpe.ServerTools):" in text
    named = [
        (document.name, "-".join(wire.split("/")), alias)
        for document in DOCUMENTS
        for wire, row in document.content["methods"].items()
        for alias in row.get("aliases", ())
    ]
    assert named
    for protocol, slug, alias in named:
        text = (REFERENCE / protocol / "methods" / f"{slug}.md").read_text(encoding="utf-8")
        assert f"`{alias}`" in text


def test_a_code_with_several_meanings_is_on_the_first_page() -> None:
    (line,) = (
        line
        for line in (REFERENCE / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `-32001` |")
    )
    assert "mcpl FeatureSetNotEnabled" in line
    assert "mcpe SubscriptionNotFound" in line
    assert line.endswith("| several meanings |")
