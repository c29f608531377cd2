"""Guides: files of Markdown as pages, and the groups in which the README lists them."""

from __future__ import annotations

__all__ = ("ABOUT", "GuideGroup", "Guides", "Opening", "guides_page", "opening_of")

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Heading,
    Page,
    PageEntry,
    PageList,
    Prose,
    Text,
)
from kinwire_codegen.docs.site.inline import plain
from kinwire_codegen.load.findings import DocumentError, Finding

_LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n?", re.DOTALL | re.MULTILINE)
_EXPORTS = tuple(f"generated/{kind}/" for kind in ("json-schema", "openrpc", "proto"))
_GUIDE = re.compile(r"\[[^\]]*\]\(\.\./\.\./(guides/[\w.-]+)\.md\)")
_PAGES = {
    "README.md": "overview",
    "schema/README.md": "writing-a-document",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security-policy",
    "RELEASING.md": "releasing",
    "CHANGELOG.md": "changelog",
}
"""The files next to the folder of guides that are pages too, and the names of these pages."""

_RENAMED = {"README": "readme", "index": "introduction"}
"""Files whose own name would take the place of the list of guides."""

LONGEST_LABEL = 40


class GuideGroup(NamedTuple):
    """Guides that belong together."""

    label: str
    entries: tuple[PageEntry, ...]


ABOUT = "About the project"
"""The group of the README and of the other files next to the guides."""


class Opening(NamedTuple):
    """The parts of the README that the home page shows."""

    lead: str
    """Its first paragraph, with a list that belongs to it."""
    text: str
    """The text after it, up to the first list of guides."""
    groups: tuple[GuideGroup, ...]
    """Its lists of guides."""


@dataclass(frozen=True)
class Guides:
    """The guides of a folder, and the README and similar files next to it."""

    folder: Path

    @cached_property
    def paths(self) -> list[Path]:
        """The files of all pages."""
        return [*self._around.values(), *self._own.values()]

    @cached_property
    def _around(self) -> dict[str, Path]:
        top = self.folder.parent
        return {name: top / path for path, name in _PAGES.items() if (top / path).is_file()}

    @cached_property
    def _own(self) -> dict[str, Path]:
        paths = sorted(self.folder.glob("*.md"))
        return {_RENAMED.get(path.stem, path.stem): path for path in paths}

    @cached_property
    def files(self) -> dict[str, Path]:
        """The file of each page, in the order in which the README names them."""
        own, around = self._own, dict(self._around)
        first = around.pop("overview", None)
        named: list[str] = []
        if first is not None:
            named = re.findall(r"\]\([^)]*?([\w-]+)\.md\)", _text(first))
        order = {name: place for place, name in enumerate(named)}
        sorted_own = sorted(own, key=lambda name: (order.get(name, len(order)), name))
        found = {"overview": first} if first is not None else {}
        return found | {name: own[name] for name in sorted_own} | around

    def pages(self) -> Iterator[Page]:
        """Yield a page for each guide."""
        for name, path in self.files.items():
            text = _COMMENT.sub("", _text(path))
            title, _, body = text.lstrip("# ").partition("\n")
            linked = self._linked(body.strip(), path)
            summary = next((part for part in linked.split("\n\n") if part[:1].isalpha()), title)
            summary = plain(" ".join(summary.split()))
            title = "Overview" if name == "overview" else title.strip()
            yield Page(f"guides/{name}", title, "guide", summary, None, (Prose(linked),))

    def attachments(self) -> dict[str, bytes]:
        """Return the files that guides link to and that are not pages."""
        found: dict[str, bytes] = {}
        for path in self.files.values():
            for match in _LINK.finditer(_FENCE.sub("", _text(path))):
                target = path.parent / match[2]
                if match[2] and self._is_attachment(target):
                    found[f"guides/files/{target.name}"] = target.read_bytes()
        return found

    def _is_attachment(self, target: Path) -> bool:
        inside = target.resolve().parent == self.folder.resolve()
        return inside and target.is_file() and target.suffix != ".md"

    def _linked(self, text: str, path: Path) -> str:
        """Return the text with links for a page two folders down."""
        kept = _FENCE.findall(text)
        parts = _FENCE.split(text)
        linked = [_LINK.sub(lambda found: self._link(found, path), part) for part in parts]
        return "".join(part + code for part, code in zip(linked, [*kept, ""], strict=True))

    def _link(self, found: re.Match[str], path: Path) -> str:
        target, anchor = found[2], found[3] or ""
        if not target or "://" in target:
            return found[0]
        place = self._place(path.parent / target)
        if place is None:  # a folder that does not exist, so that the finding names the target
            place = f"../../missing/{target.replace('../', '')}"
        return f"]({place}{anchor})"

    def _place(self, target: Path) -> str | None:
        """Return the place of a file in the site, None if it is not there."""
        if self._is_attachment(target):
            return f"../../guides/files/{target.name}"
        top = self.folder.parent.resolve()
        path = normpath(target.resolve())
        if not path.startswith(str(top)):
            return None
        inside = Path(path).relative_to(top).as_posix()
        if inside.startswith("generated/reference"):
            below = inside.removeprefix("generated/reference").strip("/")
            return f"../../{below}" if below.endswith(".md") else "../../reference.md"
        if inside.startswith(_EXPORTS):
            return f"../../exports/{inside.removeprefix('generated/')}"
        for name, file in self.files.items():
            if file.resolve() == Path(path):
                return f"../../guides/{name}.md"
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8"
        raise DocumentError([Finding(str(path), "", what, "Save it as UTF-8.")]) from None


def guides_page(groups: Sequence[GuideGroup]) -> Page:
    """Return the page that lists the guides in their groups."""
    summary = "How to use the library, step by step."
    blocks: list[Block] = [Text(summary)]
    for group in groups:
        blocks += [Heading(group.label), PageList(group.entries)]
    return Page("guides/README", "Guides", "guides", summary, None, tuple(blocks))


def opening_of(pages: Sequence[Page]) -> Opening:
    """Return the parts of the README that the home page shows, and the groups of all guides."""
    by_path = {page.path: page for page in pages}
    overview = by_path.get("guides/overview")
    text = ""
    if overview is not None:
        (text,) = (block.text for block in overview.blocks if isinstance(block, Prose))
    end, groups = _listed(text, by_path)
    lead, rest = _lead("\n".join(text.splitlines()[:end]))
    return Opening(lead, rest, (*groups, *_other_groups(groups, pages)))


def _lead(text: str) -> tuple[str, str]:
    """Return the first paragraph, with the list that its last sentence is about, and the rest."""
    lead, _, rest = text.partition("\n\n")
    if lead and not lead.endswith((".", "!", "?")):
        listed, _, rest = rest.partition("\n\n")
        lead = f"{lead}\n\n{listed}"
    return lead, rest.strip()


def _listed(text: str, by_path: dict[str, Page]) -> tuple[int, list[GuideGroup]]:
    """Return the line at which the README begins to list guides, and its lists."""
    end, groups = len(text.splitlines()), list[GuideGroup]()
    before: list[Token] = []  # headings and paragraphs that no other block follows
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for token in tokens:
        if token.level or token.map is None or token.nesting < 0:
            continue
        lines = text.splitlines()[slice(*token.map)]
        found = list(_entries(lines, by_path))
        if token.type in ("bullet_list_open", "table_open") and len(found) > 1:
            if not groups:
                end = _begin(before, token, text)
            groups.append(GuideGroup(_label(before, lines, text), tuple(found)))
            before = []
        elif token.type in ("heading_open", "paragraph_open"):
            before = [*before, token]
        else:
            before = []
    return end, groups


def _entries(lines: Iterable[str], by_path: dict[str, Page]) -> Iterator[PageEntry]:
    """Yield the guide that each line of a list begins with."""
    for line in lines:
        found = _GUIDE.search(line)
        if found is None or found[1] not in by_path or found.start() > 4:
            continue
        page = by_path[found[1]]
        said = plain(line[found.end() :].strip(" |:,.-\u2013\u2014"))
        yield PageEntry(page.name, f"../../{page.path}.md", said or _sentence(page))


def _begin(before: Sequence[Token], token: Token, text: str) -> int:
    """Return the line of the heading or the label that a list of guides belongs to."""
    heads = [one for one in before if one.type == "heading_open"]
    labels = [one for one in before[-1:] if _short(_line(one, text))]
    first = next((one for one in (*heads, *labels)), token)
    assert first.map is not None
    return first.map[0]


def _label(before: Sequence[Token], lines: Sequence[str], text: str) -> str:
    """Return the name of a list of guides: its first cell, the line before it, or its heading."""
    cell = lines[0].strip("|").partition("|")[0].strip() if lines[0].startswith("|") else ""
    if cell.lower() not in ("", "guide", "guides"):
        return plain(cell)
    for one in reversed(before):
        line = _line(one, text)
        if one.type == "heading_open" or _short(line):
            return plain(line.strip("#*:. "))
    return "Guides"


def _line(token: Token, text: str) -> str:
    assert token.map is not None
    return text.splitlines()[token.map[0]]


def _short(line: str) -> bool:
    return len(line) <= LONGEST_LABEL


def _other_groups(groups: Iterable[GuideGroup], pages: Sequence[Page]) -> Iterator[GuideGroup]:
    """Yield the groups of guides that the README does not list."""
    listed = {entry.place for group in groups for entry in group.entries}
    about = {f"guides/{name}" for name in _PAGES.values()}
    left = [page for page in pages if f"../../{page.path}.md" not in listed]
    for label, some in (
        ("More guides" if listed else "Guides", [one for one in left if one.path not in about]),
        (ABOUT, [one for one in left if one.path in about]),
    ):
        entries = (PageEntry(one.name, f"../../{one.path}.md", _sentence(one)) for one in some)
        if some:
            yield GuideGroup(label, tuple(entries))


def _sentence(page: Page) -> str:
    """Return the first sentence of a page's summary."""
    return re.split(r"(?<=[.:]) ", page.summary, maxsplit=1)[0]
