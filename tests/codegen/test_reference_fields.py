"""Fields in the reference: type, limits and default on one line, and what other protocols add."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kinwire_cli.shapes import limits_of as limits_of_describe
from kinwire_codegen.docs.reference import reference_files
from kinwire_codegen.docs.reference.fields import own_fields
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.shapes import LIMITS, limits_of
from kinwire_codegen.docs.site.build import site_files
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.load.document import Reference
from tests.codegen.documents import documents, protocol
from tests.each import each

SIZE = {"type": "string", "description": "A size.", "enum": ["s", "l"]}
CUP = {
    "type": "object",
    "description": "A cup.",
    "properties": {
        "size": {"$ref": "#/$defs/Size", "default": "l", "description": "How large."},
        "color": {"enum": ["red", "blue"], "default": "red", "description": "Its colour."},
        "sugar": {
            "type": "integer",
            "minimum": 0,
            "maximum": 4,
            "default": 1,
            "description": "Lumps.",
        },
        "label": {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "default": None,
            "description": "Text on it.",
        },
        "fill": {"anyOf": [{"type": "string"}, {}], "description": "What is in it."},
        "in": {"$ref": "#/$defs/Cup", "description": "A cup around it."},
    },
}
TRAY = {
    "type": "object",
    "description": "A tray.",
    "properties": {
        "cups": {"type": "array", "items": {"$ref": "#/$defs/Cups"}, "description": "Rows of cups."}
    },
}
CUPS = {"description": "Cups.", "type": "array", "items": {"$ref": "#/$defs/Cup"}}
TEA = protocol(types={"Size": SIZE, "Cup": CUP, "Tray": TRAY, "Cups": CUPS})


@pytest.fixture
def links(tmp_path: Path) -> Links:
    found = documents(tmp_path, TEA)
    return Links(found, [found["toy"]])


@each("name", CUP["properties"])
def test_reference_and_describe_word_limits_alike(name: str) -> None:
    node: dict[str, Any] = TEA["$defs"]["Cup"]["properties"][name]
    assert [text.replace("`", "") for text in limits_of(node)] == limits_of_describe(node)


def test_every_keyword_is_worded_as_describe_words_it() -> None:
    node = dict.fromkeys(LIMITS, 1)
    assert [text.replace("`", "") for text in limits_of(node)] == limits_of_describe(node)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("size", '[Size](../../toy/types/Size.md), default `"l"`'),
        ("color", '`"red"` or `"blue"`, default `"red"`'),
        ("sugar", "integer, minimum `0`, maximum `4`, default `1`"),
        ("label", "string or null, default `null`"),
        ("fill", "string or any JSON value"),
    ],
)
def test_a_reference_page_shows_the_default_next_to_the_type(
    links: Links, name: str, shown: str
) -> None:
    page = reference_files(links.documents, links.chosen)["reference/toy/types/Cup.md"]
    assert f"`{name}` | {shown} | no |" in page


def test_the_site_shows_limits_on_the_line_of_the_field(links: Links) -> None:
    page = site_files(SiteSource(documents=links.documents))["toy/types/Cup.html"].decode()
    (line,) = (line for line in page.splitlines() if 'id="sugar"' in line)
    assert (
        '<span>integer</span> <span class="limit">minimum <code>0</code></span>'
        ' <span class="limit">maximum <code>4</code></span>'
        ' <span class="limit">default <code>1</code></span>'
    ) in line


def test_inner_fields_are_found_through_arrays_and_names(links: Links) -> None:
    (field,) = own_fields(links, Reference("toy", "Tray"))
    assert field.kinds == (Reference("toy", "Cup"),)


def test_a_type_does_not_open_inside_itself(links: Links) -> None:
    fields = {field.name: field.kinds for field in own_fields(links, Reference("toy", "Cup"))}
    assert fields["in"] == ()


def test_inner_fields_open_in_place(links: Links) -> None:
    page = site_files(SiteSource(documents=links.documents))["toy/types/Tray.html"].decode()
    (line,) = (line for line in page.splitlines() if 'id="cups"' in line)
    assert "<details><summary>Fields of <code>Cup</code></summary>" in line
    assert "<code>sugar</code>" in line
    assert line.count("id=") == 1
