"""The Python interface of a package as pages, read from its source without importing it."""

from __future__ import annotations

__all__ = ("api_pages",)

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any

import griffe

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Code,
    Heading,
    Page,
    PageEntry,
    PageList,
    Prose,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.site.pages import PackageError

_SECTION = re.compile(r"^(Raises|Returns|Args|Source|Yields):\n((?:    .*\n?|\n)+)", re.MULTILINE)
_IMPORT = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_ANNOTATED = re.compile(r"^Annotated\[(.*), Field\(.*\)\]$")

Member = griffe.Object | griffe.Alias


def api_pages(package: str, guides: Sequence[str]) -> Iterator[Page]:
    """Yield a page that lists the modules, and a page for each of them.

    The modules are the package, those that guides import from, and where the package has no
    public names of its own, as one that is generated, those in it.

    Raises:
        PackageError: there is no such package, or nothing public in it.
    """
    source = _Source()
    root = source.module(package) if _is_name(package) else None
    if root is None:
        what = f"There is no package {package!r}."
        hint = "Install it, or add its folder to PYTHONPATH."
        raise PackageError(what, hint if _is_name(package) else "Write the name as in an import.")
    named = re.compile(rf"^(?:from|import) ({re.escape(package)}(?:\.[a-z_]+)*)", re.MULTILINE)
    names = {package, *(name for text in guides for name in named.findall(text))}
    names |= set() if source.public(root) else source.inside(package)
    pages = [page for name in sorted(names) if (page := _page(source, name, guides)) is not None]
    if not pages:
        what = f"The package {package!r} has no public names."
        raise PackageError(what, "List them in __all__, or name a package that does.")
    summary = f"The public modules of `{package}`."
    entries = (PageEntry(page.title, f"../../{page.path}.md", page.summary) for page in pages)
    blocks = (Text(summary), PageList(tuple(entries)))
    yield Page("api/README", "Python interface", "api", summary, None, blocks)
    yield from pages


def _is_name(package: str) -> bool:
    return all(map(str.isidentifier, package.split(".")))


class _Source:
    """The modules of packages, each parsed when it is first used."""

    def __init__(self) -> None:
        self.module = cache(self._module)

    def _module(self, name: str) -> griffe.Module | None:
        place = _place(name)
        for path in (place / "__init__.py", place.with_suffix(".py")) if place else ():
            if path.is_file():
                return griffe.visit(name, path, path.read_text(encoding="utf-8"))
        return None

    def inside(self, package: str) -> set[str]:
        """Return the names of the modules in a package."""
        place = _place(package)
        found = (*place.glob("*.py"), *place.glob("*/__init__.py")) if place else ()
        stems = (path.parent.name if path.name == "__init__.py" else path.stem for path in found)
        return {f"{package}.{stem}" for stem in stems if not stem.startswith("_")}

    def public(self, module: griffe.Module) -> list[str]:
        """Return the names in `__all__`, else those that come from the module's own package."""
        if module.exports:
            return list(map(str, module.exports))
        own = f"{module.path}."
        return [
            name
            for name, member in module.members.items()
            if isinstance(member, griffe.Alias)
            and member.target_path.startswith(own)
            and self.module(member.target_path) is None
        ]

    def found(self, module: griffe.Module, name: str) -> Member | None:
        """Return the definition of a name, also if it is in another module."""
        member = module.members.get(name)
        if not isinstance(member, griffe.Alias):
            return member
        home, _, inner = member.target_path.rpartition(".")
        other = self.module(home)
        return self.found(other, inner) if other is not None else None


def _place(name: str) -> Path | None:
    """Return the path of a module without its suffix, None if its package is not there."""
    package, _, below = name.partition(".")
    spec = find_spec(package)  # the name of a package alone is found without an import
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / below.replace(".", "/")


def _page(source: _Source, name: str, guides: Iterable[str]) -> Page | None:
    module = source.module(name)
    names = source.public(module) if module is not None else []
    if module is None or not names:
        return None
    text = _docstring(module)
    listed: list[PageEntry] = []
    blocks: list[Block] = []
    for export in _by_importance(names, text, _imports(name, guides)):
        member = source.found(module, export)
        if member is not None:
            listed.append(PageEntry(f"`{export}`", f"#{export}", _summary(_docstring(member))))
            blocks += _member(export, member)
    head: list[Block] = [Prose(text)] if text else []
    head.append(PageList(tuple(listed)))
    return Page(f"api/{name}", f"`{name}`", "api", _summary(text), None, (*head, *blocks))


def _imports(module: str, guides: Iterable[str]) -> Counter[str]:
    """Return how many guides import each name from a module."""
    counted: Counter[str] = Counter()
    for text in guides:
        found = (names for home, names in _IMPORT.findall(text) if home == module)
        counted.update({name for names in found for name in re.findall(r"\w+", names)})
    return counted


def _by_importance(names: Iterable[str], text: str, imports: Counter[str]) -> list[str]:
    """Return names by importance.

    First are those that the docstring of the module mentions, in its order, then those that most
    guides import, and last the errors.
    """
    mentioned = re.findall(r"`(\w+)`", text)

    def key(name: str) -> tuple[int, bool, int, bool, str]:
        place = mentioned.index(name) if name in mentioned else len(mentioned)
        return place, name.endswith("Error"), -imports[name], name[0].islower(), name

    return sorted(names, key=key)


def _member(name: str, member: Member) -> Iterator[Block]:
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
        TableRow(
            (f"`{inner}`", _annotation(one), _default(one), _docstring(one)), f"{name}.{inner}"
        )
        for inner, one in shown
        if one.is_attribute and "property" not in one.labels and _is_shown(member, one)
    ]
    if rows:
        yield TableBlock(("field", "type", "default", "meaning"), tuple(rows))
    for inner, one in shown:
        if one.is_function or "property" in one.labels:
            yield Heading(f"`{name}.{inner}`", 3, f"{name}.{inner}")
            yield Code("python", _signature(inner, one))
            if _docstring(one):
                yield Prose(_docstring(one))


def _attribute(name: str, member: Any) -> tuple[str, str, str, str]:
    return f"`{name}`", _annotation(member), _default(member), _docstring(member)


def _is_shown(owner: Any, member: Any) -> bool:
    """Return whether an attribute has a docstring, or is a field of a class of data."""
    return bool(_docstring(member)) or (
        member.annotation is not None and "__init__" not in owner.members
    )


def _annotation(member: Any) -> str:
    if member.annotation is None:
        return ""
    return f"`{_ANNOTATED.sub(lambda found: found[1], str(member.annotation))}`"


def _default(member: Any) -> str:
    shown = member.value is not None and "class-attribute" in member.labels
    return f"`{member.value}`" if shown and len(str(member.value)) < 60 else ""


def _summary(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ")


def _docstring(member: Any) -> str:
    """Return a docstring as Markdown, with the names of its sections in bold."""
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
