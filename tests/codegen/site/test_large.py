"""The site of a protocol that is too large for one list: groups, small pages, and their search."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from kinwire_codegen.docs.reference.groups import LISTED, groups_of
from kinwire_codegen.docs.site.build import site_files
from kinwire_codegen.docs.site.check import check_site
from kinwire_codegen.docs.site.pages import SiteSource
from kinwire_codegen.docs.site.search import _file, _parts
from kinwire_codegen.load.document import Documents
from tests.codegen.documents import documents, protocol
from tests.codegen.site.conftest import words_of
from tests.each import each

Files = Mapping[str, bytes]

DOMAINS = ("Audio", "Cookies", "DOM", "DOMDebugger", "Network")
EACH = 16


def large_protocol() -> dict[str, Any]:
    """Return a protocol of 80 methods in five domains, and 162 types, one of which all use."""
    text = {"type": "string", "description": "What it is about."}
    target = {"$ref": "#/$defs/Target", "description": "Where."}
    types: dict[str, Any] = {
        "Target": {"description": "A page.", "type": "object", "properties": {"id": text}}
    }
    methods: dict[str, Any] = {}
    for domain in DOMAINS:
        for number in range(EACH):
            name, kinds = (
                f"{domain}.do{number:02}",
                [f"{domain}Do{number:02}{part}" for part in ("Params", "Result")],
            )
            for kind in kinds:
                members = {"target": target, "text": text}
                types[kind] = {"description": "K.", "type": "object", "properties": members}
            references = [f"#/$defs/{kind}" for kind in kinds]
            methods[name] = {
                "kind": "request",
                "from": "client",
                "section": domain,
                "summary": f"Do what has the number {number}.",
                "params": references[0],
                "result": references[1],
                "errors": ["Loud"],
            }
    types["Lit"] = {"description": "A state.", "type": "string", "enum": ["on", "off"]}
    errors = {"Loud": {"code": 7, "message": "Loud", "description": "L."}}
    step = {"from": "on", "on": "a switch", "to": "off", "summary": "It goes out."}
    machine = {
        "section": "1",
        "summary": "A lamp.",
        "states": "#/$defs/Lit",
        "initial": "on",
        "transitions": [step],
    }
    machines = {f"Lamp{number}": machine for number in range(11)}
    return protocol(types=types, methods=methods, errors=errors, machines=machines)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    return documents(tmp_path_factory.mktemp("large"), large_protocol())


@pytest.fixture(scope="module")
def large_site(large: Documents) -> Files:
    return site_files(SiteSource(documents=large))


def links(files: Files, path: str, within: str) -> list[str]:
    (part,) = re.findall(within, files[path].decode(), re.DOTALL)
    return re.findall(r'href="([^"]+)"', part)


def test_a_large_site_has_no_problems(large_site: Files, large: Documents) -> None:
    assert check_site(large_site, large) == []


def test_the_page_of_a_protocol_leads_to_groups(large_site: Files) -> None:
    found = links(large_site, "toy/index.html", r"<article.*</article>")
    assert [one for one in found if "/methods/" in one or one.startswith("types/")] == []
    assert {f"lists/methods-{domain}.html" for domain in DOMAINS} <= set(found)


def test_a_group_has_its_methods_and_no_others(large_site: Files) -> None:
    found = links(large_site, "toy/lists/methods-DOM.html", r"<table.*</table>")
    assert found == [f"../methods/DOM.do{number:02}.html" for number in range(EACH)]


def test_a_method_lists_its_own_group_and_links_to_the_others(large_site: Files) -> None:
    found = links(large_site, "toy/methods/DOM.do03.html", r'<nav class="side".*?</nav>')
    methods = [one for one in found if re.fullmatch(r"\w+\.do\d+\.html", one)]
    assert methods == [f"DOM.do{number:02}.html" for number in range(EACH)]
    assert "../lists/methods-Network.html" in found
    page = large_site["toy/methods/DOM.do03.html"].decode()
    assert re.findall(r'href="([^"]+)" aria-current="page"', page) == ["DOM.do03.html"]


def test_data_of_many_entries_has_a_page_for_each(large_site: Files) -> None:
    page, lamp = (large_site[f"toy/data{name}.html"].decode() for name in ("", "/Lamp7"))
    assert '<h3 id="Lamp7"><a href="data/Lamp7.html">Lamp7</a></h3>' in page
    assert ("<svg" in page, "<svg" in lamp) == (False, True)
    assert '<a href="../data.html">Data</a>' in lamp


def test_the_words_of_all_texts_are_found_by_their_beginnings(large_site: Files) -> None:
    index = large_site["assets/index.js"].decode().removeprefix("window.KINWIRE_INDEX=")
    pages = json.loads(index.rstrip(";\n"))["pages"]
    found = words_of(large_site)
    once = [pages[number][1] for number in found["switch"][0] if number < len(pages)]
    assert once == [f"toy/data/Lamp{number}.html" for number in range(11)]
    assert found.keys() & {"where", "what", "about"} == set()  # too common to say anything


def test_parts_divide_where_they_are_too_large_and_no_further() -> None:
    postings = {f"{a}{b}{n}": [[n], [], []] for a in "ab" for b in "xyé" for n in range(900)}
    parts = dict(_parts(postings | {"a": [[1], [], []]}, ""))
    assert {beginning[:2] for beginning in parts} == {"a", "ax", "ay", "aé", "bx", "by", "bé"}
    assert sorted(word for part in parts.values() for word in part) == sorted([*postings, "a"])
    assert _file("aé") == "-61-e9"


@each(
    ("path", "link", "count"),
    [
        pytest.param("toy/types/Target.html", "../lists/defs-DOM.html", 64, id="users of a type"),
        pytest.param("errors.html", "toy/lists/methods-DOM.html", EACH, id="methods with an error"),
        pytest.param("capabilities.html", "toy/lists/methods-DOM.html", EACH, id="capabilities"),
    ],
)
def test_many_uses_are_counted_by_group(
    large_site: Files, path: str, link: str, count: int
) -> None:
    page = large_site[path].decode()
    assert f'<a href="{link}"><code>DOM{"*" if count > EACH else ".*"}</code></a> ({count})' in page


NAMES = [
    pytest.param("methods", [f"a/{n}" for n in range(40)], [], id="few"),
    pytest.param(
        "methods",
        [f"{a}/{n}" for a in "ab" for n in range(21)] + ["ping"],
        [("a/*", 21), ("b/*", 21), ("Other", 1)],
        id="by prefix",
    ),
    pytest.param(
        "methods",
        [f"x/{a}/{n}" for a in "ab" for n in range(21)],
        [("x/a/*", 21), ("x/b/*", 21)],
        id="a prefix of all names",
    ),
    pytest.param(
        "methods",
        [f"n{n:02}" for n in range(60)],
        [("n00 to n29", 30), ("n30 to n59", 30)],
        id="no prefix",
    ),
    pytest.param(
        "$defs",
        [f"DOM{a}{n:02}" for a in ("Get", "Set") for n in range(80)],
        [("DOMGet*", 80), ("DOMSet*", 80)],
        id="words of types",
    ),
]


@each(("table", "names", "expected"), NAMES)
def test_names_are_grouped_by_their_beginning(
    table: str, names: list[str], expected: list[tuple[str, int]]
) -> None:
    assert [(group.label, len(group.names)) for group in groups_of(table, names)] == expected


def test_every_name_is_in_one_group_and_no_group_is_larger_than_a_list() -> None:
    names = [f"{'DdOoMm'[n % 6]}{'x/y.z_'[n % 5]}{n % 97}/{n}" for n in range(3000)]
    groups = groups_of("methods", names)
    assert sorted(name for group in groups for name in group.names) == sorted(names)
    assert max(len(group.names) for group in groups) <= LISTED["methods"]
    assert len({group.file.casefold() for group in groups}) == len(groups)
