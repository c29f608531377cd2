"""Code that is being checked: its tree, and what the rules ask about a place in it."""

from __future__ import annotations

__all__ = ("CheckedCode", "Rule", "is_module", "start_of")

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from kinwire.mgp.rules.code_safety.bindings import Bindings, Path, parts_of
from kinwire.mgp.rules.code_safety.levels import CodeRules
from kinwire.mgp.rules.code_safety.module_tables import (
    CORE,
    NEVER,
    STAR,
    SUBMODULES,
)
from kinwire.mgp.rules.code_safety.name_tables import CORE_ATTRIBUTES

_TEXT_CLASSES = frozenset({"str", "UserString"})
_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
_MODULES = {
    (package.partition(".")[0], name) for package, names in SUBMODULES.items() for name in names
}
_BUILTINS = frozenset(dir(builtins))
_MOST_FOLDED = 50  # strings that are joined by +

Rule = Callable[["CheckedCode", Any], Iterator[str]]
"""Takes the code and a node of it; yields violations."""


class CheckedCode:
    """One tree with the names that it binds and the parent of each node."""

    def __init__(self, tree: ast.Module, rules: CodeRules) -> None:
        self.rules = rules
        self.bindings = Bindings(tree)
        self.nodes: list[ast.AST] = []
        self._parents: dict[int, ast.AST] = {}
        self.add(tree)

    def add(self, tree: ast.AST) -> None:
        """Take in another tree: an annotation in quotes, which Python may evaluate."""
        todo = [tree]
        while todo:
            node = todo.pop()
            self.nodes.append(node)
            for child in ast.iter_child_nodes(node):
                # `Load()` and operators are shared by nodes, and nobody asks for their parents.
                self._parents[id(child)] = node
                todo.append(child)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node around `node`."""
        return self._parents.get(id(node))

    def is_called(self, node: ast.AST) -> bool:
        """Return whether `node` is the function of a call, and nothing else."""
        parent = self.parent(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """Return the call whose function `node` is."""
        parent = self.parent(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def paths(self, node: ast.expr) -> list[Path]:
        """Return the modules, or members of modules, that an expression may be.

        The name of a module of the interpreter counts without an import, too: the tool may run
        the code where it is known.
        """
        start, names = parts_of(node)
        if not isinstance(start, ast.Name):
            return []
        found = self.bindings.paths(start)
        if self._may_be_given(start, found):
            found = [*found, (start.id,)]
        if not found and start.id not in _BUILTINS and not self.bindings.is_bound(start.id):
            found = [(module, start.id) for module in self.stars]
        return [(*path, *names) for path in found]

    def _may_be_given(self, name: ast.Name, found: list[Path]) -> bool:
        """Return whether a name may be a module that the code did not import."""
        if name.id in CORE_ATTRIBUTES:
            return (name.id,) not in found and not self.bindings.is_own(name)
        return not found and name.id in CORE and not self.bindings.is_bound(name.id)

    @cached_property
    def stars(self) -> list[str]:
        """The modules of which the code imports everything, and that have members to check."""
        return [
            node.module
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node.module in STAR
            if any(alias.name == "*" for alias in node.names)
            if node.module in NEVER or node.module == "functools"
        ]

    @cached_property
    def reads_files(self) -> bool:
        """Whether the code opens files, or has those of the process."""
        opens = (isinstance(node, ast.Name) and node.id == "open" for node in self.nodes)
        return ("sys" in self.imported or any(opens)) and "torch" not in self.imported

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """Return whether `node` may be the builtin `name`."""
        return isinstance(node, ast.Name) and node.id == name and not self.bindings.is_own(node)

    def calls_builtin(self, node: ast.AST | None, *names: str) -> bool:
        """Return whether `node` is a call of one of these builtins."""
        return isinstance(node, ast.Call) and any(
            self.is_builtin(node.func, name) for name in names
        )

    @cached_property
    def imported(self) -> frozenset[str]:
        """The modules that the code imports, with and without what is imported from them."""
        found: set[str] = set()
        for node in self.nodes:
            match node:
                case ast.Import(names=names):
                    found.update(_prefixes(alias.name for alias in names))
                case ast.ImportFrom(module=str(module), names=names):
                    found.update(_prefixes(f"{module}.{alias.name}" for alias in names))
                case _:
                    pass
        return frozenset(found)

    @cached_property
    def methods(self) -> frozenset[str]:
        """The names of the functions that the code defines."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return frozenset(node.name for node in self.nodes if isinstance(node, kinds))

    @cached_property
    def used(self) -> frozenset[str]:
        """What the code reads of modules, by full name."""
        kinds = (ast.Name, ast.Attribute)
        read = (path for node in self.nodes if isinstance(node, kinds) for path in self.paths(node))
        return frozenset(".".join(path) for path in read)

    @cached_property
    def has_text_classes(self) -> bool:
        """Whether a class of the code is a string."""
        classes = (node for node in self.nodes if isinstance(node, ast.ClassDef))
        bases = (base for one in classes for base in one.bases)
        return any(isinstance(base, ast.Name) and base.id in _TEXT_CLASSES for base in bases)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The names of attributes that the code itself sets or defines, and of named tuples."""
        found = set(self.methods) | _NAMED_TUPLES
        for node in self.nodes:
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case _:
                    pass
        return frozenset(found)

    def texts(self, node: ast.AST | None) -> list[str]:
        """Return the strings that `node` may be; an empty list if it may be another value."""
        if isinstance(node, ast.Name):
            found = [_folded(value) for value in self.bindings.values(node.id)]
        else:
            found = [_folded(node)]
        return [one for one in found if one is not None] if None not in found else []


def start_of(node: ast.AST) -> str:
    """Return the text that a string begins with, if it stands in the code."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        node = node.left
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    value = node.value if isinstance(node, ast.Constant) else ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def is_module(path: Path) -> bool:
    """Return whether `path` is a module, as far as the tables know its package.

    Submodules of a package import each other, so each of them counts at any depth.
    """
    return len(path) == 1 or (path[0], path[-1]) in _MODULES


def _prefixes(names: Iterator[str]) -> Iterator[str]:
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _folded(node: ast.AST | None) -> str | None:
    """Return the string that constants joined by + make."""
    todo, found = [node], list[str]()
    while todo and len(found) <= _MOST_FOLDED:
        match todo.pop():
            case ast.Constant(value=str(text)):
                found.append(text)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                todo += [right, left]
            case _:
                return None
    return None if todo else "".join(found)
