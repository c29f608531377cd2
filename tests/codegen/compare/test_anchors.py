"""Each link of a verdict leads to a page that is generated, and to an anchor on it."""

from __future__ import annotations

import re
from functools import cache

from kinwire_codegen.compare import compare
from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.docs.reference import reference_files
from kinwire_codegen.load.findings import Place
from kinwire_codegen.load.loading import load_documents
from tests.codegen.compare.documents import loaded, toy
from tests.codegen.compare.test_any_edit import places
from tests.each import each

DOCUMENTS = load_documents(None)


@cache
def pages() -> dict[str, set[str]]:
    """Return the anchors of every page of the reference."""
    files = reference_files(DOCUMENTS, list(DOCUMENTS))
    return {
        path.removeprefix("reference/"): set(re.findall(r'<a id="([^"]+)">', text))
        for path, text in files.items()
    }


@each("protocol", list(DOCUMENTS.by_name))
def test_every_place_of_a_document_has_a_page_and_an_anchor(protocol: str) -> None:
    document = DOCUMENTS[protocol]
    missing = {
        anchor_of(document, place)
        for place in places(document.content)
        if not is_there(anchor_of(document, place))
    }
    assert missing == set()


def is_there(anchor: str) -> bool:
    page, _, name = anchor.partition("#")
    return page in pages() and (not name or name in pages()[page])


@each(
    ("place", "anchor"),
    [
        (("methods", "tools/call"), "mcp/methods/tools-call.md"),
        (("methods", "tools/call", "params"), "mcp/methods/tools-call.md#params"),
        (
            ("$defs", "CallToolRequestParams", "properties", "name"),
            "mcp/methods/tools-call.md#params.name",
        ),
        (("$defs", "Tool", "properties", "name", "type"), "mcp/types/Tool.md#name"),
        (("errors", "ResourceNotFound", "code"), "mcp/README.md#ResourceNotFound"),
        ((), "mcp/README.md"),
    ],
)
def test_a_member_is_described_on_the_page_of_its_method(place: Place, anchor: str) -> None:
    assert anchor_of(DOCUMENTS["mcp"], place) == anchor


def test_what_is_gone_leads_to_what_is_left() -> None:
    old, new = toy(), toy()
    del new["methods"]["notified"], new["$defs"]["NotifiedParams"]
    del new["$defs"]["AskParams"]["properties"]["b"]
    found = compare(loaded(old), loaded(new)).changes
    anchors = {change.what: change.anchor for change in found if change.rule.id.startswith("B")}
    assert anchors == {
        "notified is gone": "toy/README.md",
        "notified was not deprecated before it was removed": "toy/README.md",
        "AskParams.b is gone": "toy/methods/ask.md#params",
        "AskParams.b was not deprecated before it was removed": "toy/methods/ask.md#params",
    }
