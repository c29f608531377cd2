"""The site of a tiny protocol: its pages, and the files next to them."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from posixpath import dirname, normpath

import pytest

from kinwire_codegen.compare.rules import RULES
from kinwire_codegen.docs.site.build import markdown_files, site_files
from kinwire_codegen.docs.site.check import check_site
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.load.document import Documents
from kinwire_codegen.load.loading import load_documents
from tests.codegen.documents import documents, protocol
from tests.each import each

Files = Mapping[str, bytes]

FIND = "tiny/methods/books-find.html"


def text(files: Files, path: str) -> str:
    return files[path].decode()


def test_the_check_finds_no_problems(tiny_site: Files, tiny: Documents) -> None:
    assert check_site(tiny_site, tiny, "https://tiny.example/x/y/") == []


def test_the_same_documents_make_the_same_bytes(tiny: Documents) -> None:
    source = SiteSource(documents=tiny)
    assert site_files(source) == site_files(source)


def test_every_page_has_a_markdown_file_next_to_it(tiny_site: Files) -> None:
    pages = {path.removesuffix(".html") for path in tiny_site if path.endswith(".html")}
    twins = {path.removesuffix(".md") for path in tiny_site if path.endswith(".md")}
    assert pages - twins == {"404"}
    assert twins - pages == set()


@each("anchor", ["params.sort-by", "result", "error.8", "example", "example.client"])
def test_a_method_has_a_place_for_each_of_its_parts(tiny_site: Files, anchor: str) -> None:
    assert f'id="{anchor}"' in text(tiny_site, FIND)


def test_a_place_gets_the_link_to_itself_from_the_script(tiny_site: Files) -> None:
    """The browser's tests look at the link, which repeats the name of its place twice."""
    assert "places();" in text(tiny_site, "assets/site.js")
    assert [path for path in tiny_site if b'class="anchor"' in tiny_site[path]] == []


def test_a_row_says_which_of_its_cells_gets_the_link_if_not_the_first(tiny_site: Files) -> None:
    assert '<tr id="NoSuchBook" data-at="1">' in text(tiny_site, "tiny/index.html")
    assert '<tr id="error.8">' in text(tiny_site, FIND)


def test_a_method_shows_who_sends_it_in_words_and_as_a_picture(tiny_site: Files) -> None:
    page = text(tiny_site, FIND)
    assert "<span>request</span><span>reader → shelf</span>" in page
    assert "<title>reader sends books/find to shelf, which answers with FindResult</title>" in page


def test_an_index_says_since_when_a_method_is_there(tiny_site: Files) -> None:
    page = text(tiny_site, "tiny/index.html")
    head, row = (re.findall(f"<tr[^>]*>.*?{word}.*?</tr>", page)[0] for word in ("since", "find"))
    assert '<th scope="col">since</th>' in head
    assert '<td data-label="since">1.0</td>' in row
    assert "<span>since 1.0</span>" in text(tiny_site, FIND)


@each(
    ("name", "sections"),
    [
        pytest.param("FindResult", "2.1, 9.1", id="a result, and a body over HTTP"),
        pytest.param("LentParams", "2.2, 2.3, 8, …", id="more than three"),
        pytest.param("Book", "2.1, 9.1", id="a part of a result"),
    ],
)
def test_a_type_says_in_which_sections_it_is_used(
    tiny_site: Files, name: str, sections: str
) -> None:
    page = text(tiny_site, f"tiny/types/{name}.html")
    assert f"<span>used in section {sections}</span>" in page


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (FIND, '<a href="../data.html#Search">Search</a>: A search'),
        ("tiny-base/methods/shelf-open.html", 'data.html#Search">Search</a> of Tiny: A search'),
    ],
)
def test_a_method_links_to_its_sequences(tiny_site: Files, path: str, shown: str) -> None:
    assert shown in text(tiny_site, path)
    assert ("<title>Search: reader: books/find; " in text(tiny_site, path)) is (path == FIND)


def test_all_sequences_are_on_one_page(tiny_site: Files) -> None:
    page = text(tiny_site, "sequences.html")
    assert page.count('<svg class="sequence"') == 1
    assert 'href="tiny/data.html#Search"' in page


def test_the_same_name_in_another_protocol_has_a_link(tmp_path: Path) -> None:
    row = {"kind": "notification", "from": "client", "section": "1", "summary": "So."}
    types = {"It": {"description": "It.", "type": "object", "properties": {}}}
    contents = [
        protocol(name, types=types, methods={"a/b": row | {"params": "#/$defs/It"}})
        for name in ("one", "two")
    ]
    files = site_files(SiteSource(documents=documents(tmp_path, *contents)))
    for path in ("methods/a-b.html", "types/It.html"):
        page = text(files, f"one/{path}")
        assert f'Also defined, with another meaning, by <a href="../../two/{path}">' in page


def test_the_current_page_is_marked_in_the_list(tiny_site: Files) -> None:
    marked = re.findall(r'<a href="([^"]+)" aria-current="page"', text(tiny_site, FIND))
    assert marked == ["books-find.html"]


def test_a_type_has_a_list_of_lists_at_its_side(tiny_site: Files) -> None:
    page = text(tiny_site, "tiny/types/Book.html")
    (nav,) = re.findall(r'<nav class="side".*?</nav>', page, re.DOTALL)
    assert 'index.html#methods">Methods (' in nav
    assert "/methods/" not in nav


def test_a_decision_is_in_a_box(tiny_site: Files) -> None:
    boxes = [path for path in tiny_site if b'<div class="decision">' in tiny_site[path]]
    assert "tiny/index.html" in boxes


def test_a_state_machine_is_drawn_with_every_state_and_step(
    tiny_site: Files, tiny: Documents
) -> None:
    ((name, machine),) = tiny["tiny"].table("machines").items()
    page = text(tiny_site, "state-machines.html")
    drawing = page[page.index('<svg class="machine"') :]
    assert f"{name}:" in drawing
    steps = machine["transitions"]
    for word in {step["from"] for step in steps} | {step["to"] for step in steps}:
        assert f">{word}</text>" in drawing


def test_a_code_has_its_meanings_and_the_methods_that_return_it(tiny_site: Files) -> None:
    page = text(tiny_site, "errors.html")
    part = page[page.index('id="error.8"') :]
    assert "NoSuchBook" in part
    assert 'href="tiny/methods/books-find.html"' in part


def test_an_added_field_is_listed_with_its_message(tiny_site: Files, tiny: Documents) -> None:
    page = text(tiny_site, "added-fields.html")
    for row in tiny["tiny"].augments:
        assert f"<code>{row['member']}</code>" in page
        assert all(error in page for error in row.get("errors", ()))


def test_a_guide_leads_to_other_guides_and_to_its_files(tiny_site: Files) -> None:
    page = text(tiny_site, "guides/lending.html")
    assert 'href="second.html#two-words"' in page
    assert 'href="files/notes.txt"' in page
    assert tiny_site["guides/files/notes.txt"] == b"notes"


def test_a_guide_cannot_write_html(tiny_site: Files) -> None:
    page = text(tiny_site, "guides/lending.html")
    assert "&lt;b&gt;" in page
    assert "&lt;lent&gt;" in page
    assert "<b>" not in page


def test_headings_of_one_text_have_two_anchors(tiny_site: Files) -> None:
    page = text(tiny_site, "guides/lending.html")
    assert 'id="two-words"' in page
    assert 'id="two-words-1"' in page


def test_the_index_leads_to_pages_and_places_that_are_there(tiny_site: Files) -> None:
    script = text(tiny_site, "assets/index.js")
    index = json.loads(script.removeprefix("window.KINWIRE_INDEX=").rstrip(";\n"))
    assert {page[1] for page in index["pages"]} <= tiny_site.keys()
    for number, _, name, anchor, _ in index["places"]:
        assert f'id="{anchor or name}"' in text(tiny_site, index["pages"][number][1])
    assert ["field", "params.sort-by"] in [place[1:3] for place in index["places"]]


def test_the_index_cannot_end_its_script(tmp_path: Path) -> None:
    odd = {"description": "</script><b>", "type": "string"}
    member = {"$ref": "#/$defs/Odd", "description": "<i>"}
    params = {"description": "P.", "type": "object", "properties": {'a"><i': member}}
    described = {"Odd": odd, "Params": params}
    row = {"kind": "notification", "from": "client", "section": "1", "summary": "<i>x"}
    rows = {"a/b": row | {"params": "#/$defs/Params"}}
    found = documents(tmp_path, protocol(types=described, methods=rows))
    files = site_files(SiteSource(documents=found))
    assert not [path for path in files if path.endswith(".html") and b"<i>" in files[path]]
    assert not [path for path in files if path.endswith(".html") and b"<b>" in files[path]]


def test_a_published_site_has_a_sitemap_and_a_page_for_missing_paths(tiny_site: Files) -> None:
    assert "<loc>https://tiny.example/x/y/tiny/index.html</loc>" in text(tiny_site, "sitemap.xml")
    missing = text(tiny_site, "404.html")
    assert 'href="https://tiny.example/x/y/assets/site.css"' in missing
    assert 'data-root="https://tiny.example/x/y/"' in missing


def test_other_versions_can_be_chosen(tiny_site: Files) -> None:
    page = text(tiny_site, FIND)
    assert '<option value="." selected>2</option>' in page
    assert '<option value="../1/">1</option>' in page


def test_all_pages_are_listed_for_programs_that_read(tiny_site: Files) -> None:
    listed = text(tiny_site, "llms.txt")
    twins = [path for path in tiny_site if path.endswith(".md")]
    assert [path for path in twins if f"(https://tiny.example/x/y/{path})" not in listed] == [
        "index.md"
    ]
    assert "<!-- tiny/methods/books-find.md -->" in text(tiny_site, "llms-full.txt")


def test_places_are_marked_in_the_file_of_a_page_but_not_in_the_one_of_all(
    tiny_site: Files,
) -> None:
    page = text(tiny_site, "tiny/methods/books-find.md")
    assert '<a id="params.sort-by"></a>`sort-by`' in page
    whole = text(tiny_site, "llms-full.txt")
    assert '<a id="' not in whole
    assert re.sub('<a id="[^"]*"></a>', "", page) in whole
    assert "<!-- tiny/types/" not in whole


def test_links_in_markdown_do_not_leave_a_folder_to_enter_it_again(tiny_site: Files) -> None:
    pages = [path for path in tiny_site if path.endswith(".md")]
    assert [path for path in pages if f"../{dirname(path)}/" in text(tiny_site, path)] == []
    assert "](../types/FindResult.md)" in text(tiny_site, "tiny/methods/books-find.md")


def test_sphinx_finds_a_class_by_its_name(tiny_site: Files) -> None:
    head, _, packed = tiny_site["objects.inv"].partition(b"zlib.\n")
    assert head.startswith(b"# Sphinx inventory version 2\n# Project: Tiny\n")
    lines = zlib.decompress(packed).decode().splitlines()
    assert "kinwire_protocols.tiny.Book py:class 1 tiny/types/Book.html -" in lines


def test_markdown_alone_has_the_same_pages(tiny: Documents) -> None:
    source = SiteSource(documents=tiny)
    found = markdown_files(source)
    assert {path for path in site_files(source) if path.endswith(".md")} == {
        path for path in found if path.endswith(".md")
    }
    assert b"[books/find" in found["tiny/index.md"] or b"`books/find`" in found["tiny/index.md"]


def test_changes_have_a_page_with_links(tiny: Documents, tmp_path: Path) -> None:
    for path in (Path(__file__).parents[1] / "golden" / "schema").glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("protocol") == "tiny":
            del content["methods"]["books/find"]["errors"]
            content["version"] = "0.0.1"
        (tmp_path / path.name).write_text(json.dumps(content), encoding="utf-8")
    old = load_documents(tmp_path)
    files = site_files(SiteSource(documents=tiny, olds=[("v0.0.1", old)]))
    page = text(files, "changes/v0.0.1.html")
    assert "tiny: 0.0.1 →" in page
    assert 'href="../tiny/methods/books-find.html' in page
    assert 'href="../rules/B117.html">B117 error-of-method-added</a>' in page
    assert check_site(files, tiny) == []
    assert 'href="changes/index.html"' in text(files, "index.html")


def test_the_home_page_has_the_title_of_the_site(tiny: Documents) -> None:
    source = replace(SiteSource(documents=tiny), title="Books & more")
    assert "<h1>Books &amp; more</h1>" in text(site_files(source), "index.html")


AREAS = {"Guides": "guides/index.html", "Reference": "reference.html"}


def test_every_page_leads_to_the_areas_of_the_site(tiny_site: Files) -> None:
    pages = [path for path in tiny_site if path.endswith(".html") and path != "404.html"]
    for path in pages:
        (areas,) = re.findall(r'<nav class="areas".*?</nav>', text(tiny_site, path), re.DOTALL)
        links = re.findall(r'href="([^"]+)"', areas)
        assert [normpath(f"{dirname(path)}/{link}".lstrip("/")) for link in links] == [
            *AREAS.values()
        ]


@each(
    ("path", "area"),
    [
        ("guides/lending.html", "Guides"),
        ("guides/index.html", "Guides"),
        ("reference.html", "Reference"),
        ("errors.html", "Reference"),
        (FIND, "Reference"),
        ("index.html", ""),
    ],
)
def test_a_page_marks_its_area(tiny_site: Files, path: str, area: str) -> None:
    found = re.findall(r'aria-current="true">([^<]+)</a>', text(tiny_site, path))
    assert found == ([area] if area else [])


def test_a_changelog_is_the_area_of_changes(tiny: Documents, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nMuch.\n", encoding="utf-8")
    files = site_files(SiteSource(documents=tiny, guides=tmp_path / "docs"))
    found = 'href="changelog.html" aria-current="true">Changes</a>'
    assert found in text(files, "guides/changelog.html")


OPEN = "tiny-base/methods/shelf-open.html"


def folded(page: str) -> list[str]:
    """Return what is folded on a page, except the inner fields."""
    return re.findall(r'<details class="more">(.*?)</details>', page, re.DOTALL)


def test_an_example_comes_before_the_fields(tiny_site: Files) -> None:
    page = text(tiny_site, FIND)
    order = ["Find books.", 'class="example"', "Request", "Response", 'id="params"', 'id="errors"']
    places = [page.index(word, page.index("<h1")) for word in order]
    assert places == sorted(places)


def test_fields_of_other_protocols_are_folded(tiny_site: Files) -> None:
    page = text(tiny_site, OPEN)
    assert "<summary>2 fields added by other protocols: Tiny</summary>" in page
    assert any('id="params.lamp"' in part for part in folded(page))
    assert not any('id="params.room"' in part for part in folded(page))


def test_errors_of_other_protocols_are_folded(tiny_site: Files) -> None:
    page = text(tiny_site, OPEN)
    (part,) = (part for part in folded(page) if "NoSuchBook" in part)
    assert "<summary>1 error because of fields that other protocols add</summary>" in part
    assert "<code>lamp</code>" in part
    assert 'id="error.8"' in part


def test_each_rule_has_a_page_that_is_listed_and_found(tiny: Documents) -> None:
    files = site_files(SiteSource(documents=tiny, rules=True))
    pages = {path for path in files if re.fullmatch(r"rules/[A-Z]\d+\.html", path)}
    assert pages == {f"rules/{rule}.html" for rule in RULES}
    listed = files["rules/index.html"].decode()
    assert [rule for rule in RULES if f'href="{rule}.html"' not in listed] == []
    assert [one for one in check_site(files, tiny) if one.file.startswith("rules/")] == []
    assert '"B305 member-now-required","rules/B305.html"' in files["assets/index.js"].decode()
    page = files["rules/B305.html"].decode()
    for fact in ("A member may not be absent any more.", "old senders", "before: <code>"):
        assert fact in page
    assert max(len(files[path]) for path in pages) < 6_000
