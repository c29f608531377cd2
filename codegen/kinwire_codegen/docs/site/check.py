"""Checks of a site: links, anchors, sizes, lonely pages, requests to other hosts."""

from __future__ import annotations

__all__ = ("LARGEST", "check_site", "count_places")

import re
from collections.abc import Iterator, Mapping
from posixpath import join, normpath
from urllib.parse import unquote

from kinwire_codegen.docs.site.reading import PageLink, Reading, read_html
from kinwire_codegen.emit.rows import error_entry
from kinwire_codegen.load.document import DATA, Document, Documents, Reference, members_of, resolve
from kinwire_codegen.load.findings import Finding, pointer
from kinwire_codegen.load.names import anchor, slug

_OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//|^(?:data|mailto|tel):", re.IGNORECASE)
_REQUEST = re.compile(r"(?:url\(|@import|import\s*\(|fetch\(|src\s*=)\s*[\"']?(?:https?:)?//")
_INDEX = ("assets/index.js", "assets/words/")
_START, _MISSING = "index.html", "404.html"

LARGEST = 40_000
"""The bytes that a page made from documents may have."""

_WRITTEN = ("guides/", "api/", "changes/")
"""The folders of pages whose length follows from one text of an author."""

Files = Mapping[str, bytes]


def check_site(
    files: Files, documents: Documents | None = None, base_url: str = ""
) -> list[Finding]:
    """Return the problems of a site; it must have a place for every entry of `documents`."""
    pages = {
        path: read_html(text.decode()) for path, text in files.items() if path.endswith(".html")
    }
    site = _LinkFollower(files, pages, base_url)
    found = [*_forms(pages), *site.broken(), *site.orphans()]
    found += [*_requests(files), *_large(files)]
    found += [
        Finding(path, "", "the page has no description", "Add a description to its source.")
        for path, page in pages.items()
        if not page.description and path != _MISSING
    ]
    if documents is not None:
        for name in documents.chosen:
            found += _missing_places(documents, documents[name], pages)
            found += _undescribed(documents[name])
    return sorted(found)


def count_places(documents: Documents) -> int:
    """Return how many places a site must have for the entries of documents."""
    return sum(1 for name in documents.chosen for _ in _places(documents, documents[name]))


def _forms(pages: Mapping[str, Reading]) -> Iterator[Finding]:
    for path, page in pages.items():
        for line, what, hint in page.problems:
            yield Finding(path, f"line {line}", what, hint)


class _LinkFollower:
    """Follows the links of a site; each link of a folder is resolved once."""

    def __init__(self, files: Files, pages: Mapping[str, Reading], base_url: str) -> None:
        self._files, self._pages, self._base_url = files, pages, base_url
        self._targets: dict[tuple[str, str], tuple[str, str]] = {}

    def broken(self) -> Iterator[Finding]:
        """Yield the links and the loaded files that are not there."""
        for path, page in self._pages.items():
            for link in page.links:
                problem = self._problem(path, link)
                if problem is not None:
                    line = self._files[path].decode().count("\n", 0, link.at) + 1
                    yield Finding(path, f"line {line}", *problem)

    def orphans(self) -> Iterator[Finding]:
        """Yield the pages that no chain of links leads to from the first page."""
        seen, waiting = {_START, _MISSING}, [_START]
        while waiting:
            path = waiting.pop()
            for link in self._pages[path].links if path in self._pages else ():
                there, _ = self._target(path, link.target)
                if there not in seen and there in self._pages:
                    seen.add(there)
                    waiting.append(there)
        for path in sorted(set(self._pages) - seen):
            yield Finding(path, "", "no link leads to the page", "Add a link to it.")
        if _START not in self._pages:
            yield Finding(_START, "", "the site has no first page", "Build it again.")

    def _problem(self, path: str, link: PageLink) -> tuple[str, str] | None:
        """Return the problem of a link and the hint, None if there is no problem."""
        target, base = link.target, self._base_url
        ours = bool(base) and target.startswith(base)
        inner = target.removeprefix(base) if ours else target
        if not ours and _OUTSIDE.match(inner):
            hint = "Put the file next to the pages."
            return (f"it loads {inner} from another host", hint) if link.loads else None
        there, anchor = self._target(_START if ours else path, inner)
        if there not in self._files:
            return f"the link to {target} leads nowhere", "Fix the link, or add the page."
        if anchor and there in self._pages and anchor not in self._pages[there].ids:
            return f"{there} has no anchor {anchor!r}", "Fix the anchor."
        return ("a link leads to its own page", "Fix the link.") if inner in ("#", "") else None

    def _target(self, path: str, link: str) -> tuple[str, str]:
        """Return the file and the anchor that a link on the page `path` leads to."""
        target, _, anchor = link.partition("#")
        if not target:
            return path, unquote(anchor)
        key = (path.rpartition("/")[0], link)
        if key not in self._targets:
            self._targets[key] = normpath(join(key[0], unquote(target))), unquote(anchor)
        return self._targets[key]


def _requests(files: Files) -> Iterator[Finding]:
    for path, text in files.items():
        if path.endswith((".css", ".js")) and not path.startswith(_INDEX):
            for number, line in enumerate(text.decode().splitlines(), 1):
                if _REQUEST.search(line):
                    what = "it loads a file from another host"
                    yield Finding(path, f"line {number}", what, "Put it next to the pages.")


def _large(files: Files) -> Iterator[Finding]:
    for path, text in files.items():
        written = path.startswith(_WRITTEN) or not path.endswith(".html")
        if not written and len(text) > LARGEST:
            what = f"the page has {len(text):,} bytes; {LARGEST:,} are allowed"
            yield Finding(path, "", what, "Shorten its texts, or divide the protocol.")


def _missing_places(
    documents: Documents, document: Document, pages: Mapping[str, Reading]
) -> Iterator[Finding]:
    """Yield the entries of a document that no page has a place for."""
    for path, name, place in _places(documents, document):
        if path not in pages or (name and name not in pages[path].ids):
            what = f"it has no place in the site: {path}{'#' + name if name else ''}"
            yield Finding(document.file, place, what, "Build the site again.")


def _places(documents: Documents, document: Document) -> Iterator[tuple[str, str, str]]:
    """Yield the page and the anchor that each entry of a document must have, and its pointer."""
    home = document.name
    for name in document.definitions:
        place = pointer("$defs", name)
        yield f"{home}/types/{name}.html", "", place
        for member in members_of(documents, Reference(home, name))[0]:
            yield f"{home}/types/{name}.html", member, f"{place}/properties/{member}"
    for table in ("methods", "tools"):
        for wire in document.table(table):
            yield from _row_places(documents, document, table, wire)
    for table in DATA:
        for name in document.table(table):
            yield f"{home}/data.html", anchor(name), pointer(table, name)
    for name, entry in document.content["errors"].items():
        yield f"{home}/index.html", name, pointer("errors", name)
        yield "errors.html", f"error.{entry['code']}", pointer("errors", name)


def _row_places(
    documents: Documents, document: Document, table: str, wire: str
) -> Iterator[tuple[str, str, str]]:
    row, place = document.table(table)[wire], pointer(table, wire)
    page = f"{document.name}/{table}/{slug(wire)}.html"
    yield page, "", place
    for part in {"params", "result"} & row.keys():
        yield page, part, f"{place}/{part}"
        for member in members_of(documents, resolve(row[part], document.name))[0]:
            yield page, f"{part}.{member}", f"{place}/{part}"
    for error in row.get("errors", ()):
        code = error_entry(documents, document, error)["code"]
        yield page, f"error.{code}", f"{place}/errors"


def _undescribed(document: Document) -> Iterator[Finding]:
    """Yield the fields without a description."""
    for node, place in document.types:
        for name, member in node.get("properties", {}).items():
            if not str(member.get("description", "")).strip() and "const" not in member:
                where = pointer(*place, "properties", name)
                yield Finding(document.file, where, "it has no description", "Describe it.")
