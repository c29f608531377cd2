"""Each fault of a site is found, with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kinwire_codegen.docs.site.build import site_files
from kinwire_codegen.docs.site.check import LARGEST, check_site
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.docs.site.reading import read_html
from tests.codegen.documents import documents, protocol
from tests.each import each

PAGE = """<html><head><title>T</title><meta name="description" content="D">
<script src="a.js"></script></head>
<body><main><h1>T</h1>
<a href="b.html#there">b</a>
{}</main></body></html>"""
FILES = {"a.js": "let a = 1;", "b.html": PAGE.format('<p id="there"></p>')}


def found(**changed: str) -> list[str]:
    files = FILES | {"index.html": PAGE.format("")} | changed
    return [str(finding) for finding in check_site({k: v.encode() for k, v in files.items()})]


def page(inner: str) -> str:
    return PAGE.format(inner)


def test_a_good_site_has_no_findings() -> None:
    assert found() == []


CASES = [
    pytest.param('<a href="c.html">c</a>', "line 5: the link to c.html leads nowhere", id="page"),
    pytest.param('<a href="b.html#x">c</a>', "line 5: b.html has no anchor 'x'", id="anchor"),
    pytest.param('<a href="#x">c</a>', "line 5: index.html has no anchor 'x'", id="own anchor"),
    pytest.param('<a href="#">c</a>', "line 5: a link leads to its own page", id="no target"),
    pytest.param('<p id="a"></p><p id="a">', "line 5: the id 'a' is already in line 5", id="id"),
    pytest.param('<p id="a b"></p>', "line 5: 'a b' is not a valid id", id="a space in an id"),
    pytest.param("<p><b></p></b>", "line 5: </p> closes <b>", id="crossed tags"),
    pytest.param("<p>", "line 5: </main> closes <p>", id="open tag"),
    pytest.param('<p class="a" class="b"></p>', "<p> has an attribute twice", id="attribute"),
    pytest.param('<img src="a.js">', "line 5: the image has no alternative text", id="alt"),
    pytest.param(
        '<script src="//cdn.example/x.js"></script>',
        "line 5: it loads //cdn.example/x.js from another host",
        id="script of another host",
    ),
    pytest.param(
        '<img alt="" src="https://cdn.example/x.png">',
        "line 5: it loads https://cdn.example/x.png from another host",
        id="picture of another host",
    ),
]


@each(("inner", "shown"), CASES)
def test_a_problem_is_reported_with_its_line(inner: str, shown: str) -> None:
    assert any(shown in line for line in found(**{"index.html": page(inner)}))


def test_a_link_to_another_host_is_not_a_request() -> None:
    assert found(**{"index.html": page('<a href="https://example.org">x</a>')}) == []


@pytest.mark.parametrize(
    "line", ['@import "https://cdn.example/a.css";', "a { background: url(//cdn.example/b) }"]
)
def test_a_style_sheet_must_not_load_from_another_host(line: str) -> None:
    (shown,) = found(**{"a.css": f"b {{}}\n{line}\n"})
    assert shown.startswith("a.css#line 2: it loads a file from another host")


def test_a_page_without_a_link_to_it_is_reported() -> None:
    (shown,) = found(**{"lonely.html": page("")})
    assert shown == "lonely.html#: no link leads to the page. Add a link to it."


def test_a_page_without_a_description_is_reported() -> None:
    (shown,) = found(**{"b.html": FILES["b.html"].replace('content="D"', 'content=""')})
    assert shown.startswith("b.html#: the page has no description")


def test_a_page_of_documents_must_be_small_and_a_guide_need_not() -> None:
    long = page("x" * LARGEST)
    (shown,) = found(**{"c.html": long, "index.html": page('<a href="c.html">c</a>')})
    assert shown.startswith("c.html#: the page has 40,1")
    guide = long.replace("b.html", "../b.html").replace("a.js", "../a.js")
    assert (
        found(**{"guides/c.html": guide, "index.html": page('<a href="guides/c.html">c</a>')}) == []
    )


def test_signs_in_scripts_comments_and_values_are_no_tags() -> None:
    inner = "<!-- <p> --><script>let a = '<p id=x>'</script><p title=\"</p>\" id='a&lt;b'></p>"
    assert found(**{"index.html": page(f"{inner}<a href='#a%3Cb'>a</a>")}) == []


def test_a_page_without_title_heading_or_main_is_reported() -> None:
    faults = [what for _, what, _ in read_html("<p></p>").problems]
    assert faults == [f"the page has no <{tag}>" for tag in ("title", "h1", "main")]


ERROR = {"code": 7, "message": "Loud", "description": "L."}
PLACES = [
    ('id="text"', "toy.json#/$defs/Params/properties/text"),
    ('id="params"', "toy.json#/methods/say/params"),
    ('id="result.text"', "toy.json#/methods/say/result"),
    ('id="error.7"', "toy.json#/methods/say/errors"),
    ('id="loudest"', "toy.json#/limits/loudest"),
    ('id="error.7"', "toy.json#/errors/Loud"),
    ('id="Loud"', "toy.json#/errors/Loud"),
]


def test_every_entry_of_a_document_must_have_a_place(tmp_path: Path) -> None:
    text = {"type": "string", "description": "What."}
    types = {"Params": {"description": "P.", "type": "object", "properties": {"text": text}}}
    row = {"kind": "request", "from": "client", "section": "1", "summary": "S."}
    row |= {"params": "#/$defs/Params", "result": "#/$defs/Params"}
    toy = protocol(
        types=types,
        methods={"say": {**row, "errors": ["Loud"]}},
        limits={"loudest": {"section": "1", "summary": "L.", "value": 7}},
        errors={"Loud": ERROR},
    )
    known = documents(tmp_path, toy)
    files = site_files(SiteSource(documents=known))
    assert check_site(files, known) == []
    for cut, place in PLACES:
        less = {path: text.replace(cut.encode(), b"") for path, text in files.items()}
        shown = [str(finding) for finding in check_site(less, known)]
        assert any(line.startswith(place) for line in shown), cut


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("gone.md#x", "../missing/gone.html#x"),
        ("gone.txt", "../missing/gone.txt"),
        ("overview.md", "../missing/overview.html"),
        ("../errors.md", "../missing/errors.html"),
        ("../../errors.md", "../missing/errors.html"),
    ],
)
def test_a_broken_link_of_a_guide_is_reported_with_guide_and_target(
    target: str, shown: str, tmp_path: Path
) -> None:
    guides = tmp_path / "docs"
    guides.mkdir()
    (tmp_path / "README.md").write_text("# T\n\nSee [it](docs/a.md).\n", encoding="utf-8")
    (guides / "a.md").write_text(f"# A\n\nSee [it]({target}).\n", encoding="utf-8")
    known = documents(tmp_path, protocol(errors={"E": ERROR}))
    found = check_site(site_files(SiteSource(documents=known, guides=guides)))
    (line,) = map(str, found)
    assert re.fullmatch(
        rf"guides/a\.html#line \d+: the link to {re.escape(shown)} leads nowhere\..*", line
    )


def test_a_field_without_a_description_is_reported(tmp_path: Path) -> None:
    types = {"T": {"description": "T.", "type": "object", "properties": {"a": {"type": "string"}}}}
    known = documents(tmp_path, protocol(types=types))
    shown = [str(finding) for finding in check_site(site_files(SiteSource(documents=known)), known)]
    assert shown == ["toy.json#/$defs/T/properties/a: it has no description. Describe it."]
