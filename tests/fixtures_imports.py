"""Source files of the packages, and what each imports. Nothing is imported to find out."""

from __future__ import annotations

__all__ = ("COMPUTED", "Module", "imports_of", "modules_of", "owner_of", "reachable")

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

COMPUTED = "(computed)"
"""The target of an `import_module` call whose argument names no module."""


@dataclass(frozen=True)
class Module:
    """A source file and its name."""

    name: str
    file: Path

    @property
    def package(self) -> str:
        """The package from which relative names count."""
        return self.name if self.file.stem == "__init__" else self.name.rpartition(".")[0]

    @property
    def source(self) -> str:
        return self.file.read_text(encoding="utf-8")


@cache
def modules_of(package: Path) -> dict[str, Module]:
    """Return all modules below the folder `package`, by name."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, file)
    return found


def owner_of(target: str, modules: Collection[str]) -> str | None:
    """Return the module in which the dotted name `target` is, or None if it is not one of these."""
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target or None


_TELLING = (ast.Import, ast.ImportFrom, ast.Call, ast.Assign, ast.AnnAssign)
"""The kinds of nodes that say what is imported."""

_CALLS = re.compile(r"import_module|__import__")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def imports_of(source: str, package: str, modules: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of each import, wherever it is and however it is done.

    A computed import yields the names of `modules` in its argument, and `COMPUTED` if that has none
    and the file has no lazy table.
    """
    # Only calls are parts of expressions, which are nine tenths of all nodes.
    nodes = ast.walk if _CALLS.search(source) else _statements
    telling = [node for node in nodes(ast.parse(source)) if isinstance(node, _TELLING)]
    lazy = [found for node in telling for found in _lazy_table(node, package)]
    yield from lazy
    for node in telling:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                home = ".".join(filter(None, (_parent(package, level), module)))
                yield from ((node.lineno, f"{home}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[argument, *_],
            ):
                targets = list(_computed(argument, package, modules)) or [COMPUTED] * (not lazy)
                yield from ((node.lineno, target) for target in targets)
            case _:
                pass


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a module, also those in others, without their expressions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        blocks = [getattr(node, name, ()) for name in _BLOCKS]
        waiting += [inner for block in blocks if isinstance(block, list) for inner in block]


def _parent(package: str, level: int) -> str:
    """Return what `level` leading dots mean in a module of `package`."""
    return package.rsplit(".", level - 1)[0] if level else ""


def _lazy_table(node: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Yield the modules that `_HOMES = {name: module}` loads, which are relative to `package`."""
    match node:
        case (
            ast.Assign(targets=[ast.Name(id="_HOMES")], value=ast.Dict(values=values))
            | ast.AnnAssign(target=ast.Name(id="_HOMES"), value=ast.Dict(values=values))
        ):
            for value in values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.lineno, f"{package}.{value.value}"
        case _:
            pass


def _computed(argument: ast.expr, package: str, modules: Collection[str]) -> Iterator[str]:
    """Yield the modules that an argument of `import_module` names."""
    if isinstance(argument, ast.Constant):
        yield str(argument.value)
        return
    for node in ast.walk(argument):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value.strip(".")
            yield from ({word, f"{package}.{word}"} & set(modules)) if word else ()


def reachable(start: str, graph: Mapping[str, Collection[str]]) -> set[str]:
    """Return every module that `start` imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = set(graph.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found
