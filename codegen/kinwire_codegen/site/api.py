"""The Python interface of a package as pages, read from its source: nothing of it is imported."""

from __future__ import annotations

__all__ = ("api_pages",)

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any

import griffe

from kinwire_codegen.reference.blocks import (
    Block,
    Code,
    Heading,
    Items,
    Page,
    Prose,
    TableBlock,
    TableRow,
    Text,
)

_SECTION = re.compile(r"^(Raises|Returns|Args|Source|Yields):\n((?:    .*\n?|\n)+)", re.MULTILINE)

Member = griffe.Object | griffe.Alias


def api_pages(package: str, guides: Iterable[str]) -> Iterator[Page]:
    """Yield a page for the package, and for each module of it that the guides import from."""
    source = _Source()
    if source.module(package) is None:
        return
    named = re.compile(rf"^(?:from|import) ({package}(?:\.[a-z_]+)*)", re.MULTILINE)
    names = {package, *(name for text in guides for name in named.findall(text))}
    pages = [page for name in sorted(names) if (page := _page(source, name)) is not None]
    links = [f"[{page.title}](../../{page.path}.md): {page.summary}" for page in pages]
    summary = f"What programs import from {package}, module by module."
    blocks = (Text(summary), Items(tuple(links)))
    yield Page("api/README", "Python interface", "api", summary, None, blocks)
    yield from pages


class _Source:
    """The modules of packages, each parsed when it is first asked for."""

    def __init__(self) -> None:
        self.module = cache(self._module)

    def _module(self, name: str) -> griffe.Module | None:
        package, _, below = name.partition(".")
        spec = find_spec(package)  # a package without a dot is found without being imported
        if spec is None or spec.origin is None:
            return None
        place = Path(spec.origin).parent / below.replace(".", "/")
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                return griffe.visit(name, path, path.read_text(encoding="utf-8"))
        return None

    def found(self, module: griffe.Module, name: str) -> Member | None:
        """Return what `name` in a module is, also if it comes from another module."""
        member = module.members.get(name)
        if not isinstance(member, griffe.Alias):
            return member
        home, _, inner = member.target_path.rpartition(".")
        other = self.module(home)
        return self.found(other, inner) if other is not None else None


def _page(source: _Source, name: str) -> Page | None:
    module = source.module(name)
    if module is None or not module.exports:
        return None
    blocks: list[Block] = []
    text = _docstring(module)
    if text:
        blocks.append(Prose(text))
    for export in sorted(map(str, module.exports), key=lambda one: (one[0].islower(), one)):
        member = source.found(module, export)
        if member is not None:
            blocks += _member(source, module, export, member)
    summary = text.partition("\n\n")[0].replace("\n", " ")
    return Page(f"api/{name}", f"`{name}`", "api", summary, None, tuple(blocks))


def _member(source: _Source, module: griffe.Module, name: str, member: Member) -> Iterator[Block]:
    yield Heading(f"`{name}`", anchor=name)
    yield Code("python", _signature(name, member))
    text = _docstring(member)
    if text:
        yield Prose(text)
    if not member.is_class:
        return
    shown = [
        (inner, one)
        for inner, one in member.members.items()
        if not inner.startswith("_") and not isinstance(one, griffe.Alias)
    ]
    rows = [
        TableRow((f"`{inner}`", _annotation(one), _docstring(one)), f"{name}.{inner}")
        for inner, one in shown
        if one.is_attribute and "property" not in one.labels and _docstring(one)
    ]
    if rows:
        yield TableBlock(("attribute", "type", "meaning"), tuple(rows))
    for inner, one in shown:
        if one.is_function or "property" in one.labels:
            yield Heading(f"`{name}.{inner}`", 3, f"{name}.{inner}")
            yield Code("python", _signature(inner, one))
            if _docstring(one):
                yield Prose(_docstring(one))


def _annotation(member: Any) -> str:
    return f"`{member.annotation}`" if member.annotation is not None else ""


def _docstring(member: Any) -> str:
    """Return a docstring as Markdown: the names of its sections become bold."""
    if member.docstring is None:
        return ""
    text = cleandoc(member.docstring.value)
    text = _SECTION.sub(_section, text)
    return text.replace("<", "\\<") if "`" not in text else text


def _section(found: re.Match[str]) -> str:
    entries = re.sub(r"\n {8,}", " ", found[2]).strip("\n").splitlines()
    items = [re.sub(r"^([\w.]+(?:, ?[\w.]+)*):", r"`\1`:", line.strip()) for line in entries]
    return f"**{found[1]}**\n\n" + "".join(f"- {item}\n" for item in items if item)


def _signature(name: str, member: Any) -> str:
    if member.is_class:
        bases = ", ".join(map(str, member.bases))
        made = member.members.get("__init__")
        head = f"class {name}({bases})" if bases else f"class {name}"
        return head if made is None or not made.is_function else f"{head}\n{_call(name, made)}"
    if member.is_function:
        word = "async def" if "async" in member.labels else "def"
        returned = f" -> {member.returns}" if member.returns is not None else ""
        return f"{word} {_call(name, member)}{returned}"
    annotation = f": {member.annotation}" if member.annotation is not None else ""
    value = f" = {member.value}" if member.value is not None and len(str(member.value)) < 60 else ""
    return f"{name}{annotation}{value}"


def _call(name: str, member: Any) -> str:
    parameters = [one for one in member.parameters if one.name not in ("self", "cls")]
    words: list[str] = []
    star = False
    for one in parameters:
        if one.kind is griffe.ParameterKind.keyword_only and not star:
            star = True
            words.append("*")
        star = star or one.kind is griffe.ParameterKind.var_positional
        words.append(_parameter(one))
    line = f"{name}({', '.join(words)})"
    if len(line) <= 84:
        return line
    inner = "".join(f"    {word},\n" for word in words)
    return f"{name}(\n{inner})"


_STARS: dict[griffe.ParameterKind | None, str] = {
    griffe.ParameterKind.var_positional: "*",
    griffe.ParameterKind.var_keyword: "**",
}


def _parameter(one: griffe.Parameter) -> str:
    mark = _STARS.get(one.kind, "")
    annotation = f": {one.annotation}" if one.annotation is not None else ""
    default = ""
    if one.default is not None and not mark:
        default = f" = {one.default}" if annotation else f"={one.default}"
    return f"{mark}{one.name}{annotation}{default}"
