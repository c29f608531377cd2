"""Guides: files of Markdown as pages of the site, with links that lead to other pages of it."""

from __future__ import annotations

__all__ = ("Guides", "Section", "rendered")

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kinwire_codegen.findings import DocumentError, Finding
from kinwire_codegen.reference.blocks import Page, Prose
from kinwire_codegen.site.inline import coloured, plain, site_link

_LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n?", re.DOTALL | re.MULTILINE)
_PAGES = {
    "README.md": "overview",
    "schema/README.md": "writing-a-document",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security-policy",
    "RELEASING.md": "releasing",
    "CHANGELOG.md": "changelog",
}
"""The files next to the guides that are pages too, and what these are called."""


class Section(NamedTuple):
    """A heading of a guide."""

    level: int
    anchor: str
    text: str


def rendered(text: str) -> tuple[str, list[Section]]:
    """Return Markdown as HTML, and its headings, each with the anchor that GitHub gives it."""
    parser = MarkdownIt("commonmark", {"html": False, "highlight": None}).enable("table")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    tokens = parser.parse(text)
    sections = list(_headings(tokens))
    html: str = parser.renderer.render(tokens, parser.options, {})
    for _, anchor, _ in sections:
        link = f'<a class="anchor" href="#{anchor}" aria-label="Link to {anchor}"></a></h'
        opening = html.index(f'id="{anchor}"')
        closing = html.index("</h", opening)
        html = html[:closing] + link + html[closing + 3 :]
    return site_link(html).replace("<th></th>", "<td></td>"), sections


def _headings(tokens: list[Token]) -> Iterator[Section]:
    seen: dict[str, int] = {}
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            text = plain(content.content)
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = seen[slug] = seen.get(slug, -1) + 1
            anchor = f"{slug}-{count}" if count else slug
            token.attrSet("id", anchor)
            yield Section(int(token.tag[1]), anchor, text)


def _fence(_: object, tokens: list[Token], index: int, *__: object) -> str:
    language, _, name = tokens[index].info.partition(" ")
    caption = f'<p class="file">{escape(name)}</p>' if name else ""
    code = coloured(language, tokens[index].content.rstrip("\n"))
    return f'{caption}<pre class="code"><code class="{escape(language)}">{code}</code></pre>\n'


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        what = f"the byte {error.start} is not UTF-8"
        raise DocumentError([Finding(str(path), "", what, "Save it as UTF-8.")]) from None


@dataclass(frozen=True)
class Guides:
    """The guides of a folder, and the files next to it: README.md and similar."""

    folder: Path

    @cached_property
    def paths(self) -> list[Path]:
        """The files of all pages."""
        return [*self._beside.values(), *self._own.values()]

    @cached_property
    def _beside(self) -> dict[str, Path]:
        top = self.folder.parent
        return {name: top / path for path, name in _PAGES.items() if (top / path).is_file()}

    @cached_property
    def _own(self) -> dict[str, Path]:
        return {path.stem: path for path in sorted(self.folder.glob("*.md"))}

    @cached_property
    def files(self) -> dict[str, Path]:
        """The file of each page, in the order in which the README names them."""
        own, beside = self._own, dict(self._beside)
        first = beside.pop("overview", None)
        named: list[str] = []
        if first is not None:
            named = re.findall(r"\]\([^)]*?([\w-]+)\.md\)", _text(first))
        order = {name: place for place, name in enumerate(named)}
        sorted_own = sorted(own, key=lambda name: (order.get(name, len(order)), name))
        found = {"overview": first} if first is not None else {}
        return found | {name: own[name] for name in sorted_own} | beside

    def pages(self) -> Iterator[Page]:
        """Yield a page a guide."""
        for name, path in self.files.items():
            text = _COMMENT.sub("", _text(path))
            title, _, body = text.lstrip("# ").partition("\n")
            led = self._led(body.strip(), path)
            summary = next((part for part in led.split("\n\n") if part[:1].isalpha()), title)
            summary = plain(" ".join(summary.split()))
            title = "Overview" if name == "overview" else title.strip()
            yield Page(f"guides/{name}", title, "guide", summary, None, (Prose(led),))

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

    def _led(self, text: str, path: Path) -> str:
        """Return the text with its links as pages two folders down have them."""
        kept = _FENCE.findall(text)
        parts = _FENCE.split(text)
        led = [_LINK.sub(lambda found: self._link(found, path), part) for part in parts]
        return "".join(part + code for part, code in zip(led, [*kept, ""], strict=True))

    def _link(self, found: re.Match[str], path: Path) -> str:
        target, anchor = found[2], found[3] or ""
        if not target or "://" in target:
            return found[0]
        place = self._place(path.parent / target)
        if place is None:  # a folder without a page: the finding about the link names its target
            place = f"../../missing/{target.replace('../', '')}"
        return f"]({place}{anchor})"

    def _place(self, target: Path) -> str | None:
        """Return where in the site a file is, None if it is not there."""
        if self._is_attachment(target):
            return f"../../guides/files/{target.name}"
        top = self.folder.parent.resolve()
        path = normpath(target.resolve())
        if not path.startswith(str(top)):
            return None
        inside = Path(path).relative_to(top).as_posix()
        if inside.startswith("generated/reference"):
            below = inside.removeprefix("generated/reference").strip("/")
            return f"../../{below}" if below.endswith(".md") else "../../README.md"
        for name, file in self.files.items():
            if file.resolve() == Path(path):
                return f"../../guides/{name}.md"
        return None
