"""What the names in code refer to: modules, or values that the code itself makes.

A name counts as the code's own only where Python always takes that variable: in a function that
binds it, or below the statement of the module that does. Everywhere else it may be the builtin.
"""

from __future__ import annotations

__all__ = ("Bindings", "Path", "parts_of")

import ast
from collections import defaultdict
from collections.abc import Iterator

Path = tuple[str, ...]
"""A module and the attributes that are read from it: `("os", "path", "join")`."""

Value = ast.expr | ast.ClassDef | None
"""What is assigned to a name, or the class that has it; None if the statement does not say it."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


_LONGEST_CHAIN = 40  # attributes
_MOST_VALUES = 20  # of one name; one that has more is not followed


class _Bound:
    """What is bound to one name: in one scope, or anywhere."""

    def __init__(self) -> None:
        self.paths: dict[Path, None] = {}
        """What imports bind it to."""
        self.values: list[ast.expr | ast.ClassDef] = []
        self.knows_values = True
        """Whether `values` is all that is ever bound to it."""
        self.sure_from: tuple[int, int] | None = None
        """Where the first statement ends that belongs to the module itself and always runs."""

    def add(self, end: tuple[int, int], path: Path, value: Value, steady: bool) -> None:
        if path:
            self.paths[path] = None
        if value is None or len(self.values) == _MOST_VALUES:
            self.knows_values = False
        else:
            self.values.append(value)
        if steady and (self.sure_from is None or end < self.sure_from):
            self.sure_from = end


class _Scope:
    """The names that a function, a class, a comprehension or the module binds."""

    def __init__(self, outer: _Scope | None, node: ast.AST | None = None) -> None:
        self.outer = outer
        self.is_class = isinstance(node, ast.ClassDef)
        self.is_comprehension = isinstance(node, _COMPREHENSIONS)
        self.bound: dict[str, _Bound] = defaultdict(_Bound)


class Bindings:
    """All names that a tree binds, by scope, and the scope of each name that it reads."""

    def __init__(self, tree: ast.Module) -> None:
        self._module = _Scope(None)
        self._anywhere: dict[str, _Bound] = defaultdict(_Bound)
        self._read_in: dict[int, _Scope] = {}
        self._unsure: set[str] = set()  # named by global, nonlocal or del
        self._bound_by_statement: set[int] = set()
        self._walk(tree)

    def is_own(self, name: ast.Name) -> bool:
        """Return whether `name` certainly refers to a value of the code, not to a builtin."""
        if name.id in self._unsure:
            return False
        scope, bound = self._find(name)
        if bound is None or bound.paths:
            return False
        if scope is not self._module:
            return True
        return bound.sure_from is not None and bound.sure_from <= (name.lineno, name.col_offset)

    def paths(self, name: ast.Name) -> list[Path]:
        """Return the modules, or the parts of them, that `name` may refer to."""
        unsure = name.id in self._unsure
        bound = self._anywhere.get(name.id) if unsure else self._find(name)[1]
        return [] if bound is None else list(bound.paths)

    def is_bound(self, name: str) -> bool:
        """Return whether the code binds `name` anywhere."""
        return name in self._anywhere

    def values(self, name: str) -> list[ast.expr | ast.ClassDef]:
        """Return all that is ever bound to `name`; an empty list if some of it is not known."""
        bound = self._anywhere.get(name)
        if bound is None or not bound.knows_values or name in self._unsure:
            return []
        return bound.values

    def _find(self, name: ast.Name) -> tuple[_Scope, _Bound | None]:
        scope = self._read_in.get(id(name), self._module)
        while scope.outer is not None:
            if name.id in scope.bound and not scope.is_class:
                return scope, scope.bound[name.id]
            scope = scope.outer
        return scope, scope.bound.get(name.id)

    def _walk(self, tree: ast.Module) -> None:
        todo: list[tuple[ast.AST, _Scope, bool]] = [
            (node, self._module, True) for node in reversed(tree.body)
        ]
        while todo:
            node, scope, steady = todo.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._read_in[id(node)] = scope
            self._bind(node, scope, steady)
            todo += [(child, where, False) for child, where in self._inner(node, scope)]

    def _inner(self, node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
        """Yield the children of a node with the scopes in which they are evaluated."""
        if isinstance(node, _COMPREHENSIONS):
            own = _Scope(scope, node)
            first = node.generators[0]
            yield first.iter, scope
            yield from ((part, own) for part in (first.target, *first.ifs, *node.generators[1:]))
            yield from ((child, own) for child in _results(node))
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            own = _Scope(scope, node)
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            yield from ((child, own) for child in body)
            ids = set(map(id, body))
            # Decorators, bases, defaults and annotations are evaluated outside.
            outside = (child for child in ast.iter_child_nodes(node) if id(child) not in ids)
            yield from ((child, scope) for child in outside)
            if isinstance(node, _FUNCTIONS):
                self._bind_arguments(node.args, own)
        else:
            yield from ((child, scope) for child in ast.iter_child_nodes(node))

    def _bind(self, node: ast.AST, scope: _Scope, steady: bool) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._bind_imports(node, scope, steady)
            case ast.Assign(targets=[ast.Name() as target], value=value):
                self._bind_name(target, scope, node, value, steady)
            case ast.AnnAssign(target=ast.Name() as target, value=value):
                self._bind_name(target, scope, node, value, steady and value is not None)
            case ast.NamedExpr(target=target):
                while scope.is_comprehension and scope.outer is not None:
                    scope = scope.outer
                self._bind_name(target, scope, node, None, False)
            case ast.Name(ctx=ast.Store()):
                if id(node) not in self._bound_by_statement:
                    self._add(scope, node.id, node)
            case _:
                self._bind_definition(node, scope, steady)

    def _bind_definition(self, node: ast.AST, scope: _Scope, steady: bool) -> None:
        match node:
            case ast.ClassDef(name=name):
                self._add(scope, name, node, value=node, steady=steady)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._add(scope, name, node, steady=steady)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                self._add(scope, name, node)
            case ast.Name(ctx=ast.Del()):
                self._unsure.add(node.id)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self._unsure.update(names)
            case _:
                pass

    def _bind_name(
        self, target: ast.Name, scope: _Scope, node: ast.AST, value: Value, steady: bool
    ) -> None:
        self._bound_by_statement.add(id(target))
        self._add(scope, target.id, node, value=value, steady=steady)

    def _bind_arguments(self, arguments: ast.arguments, scope: _Scope) -> None:
        own = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for arg in (*own, arguments.vararg, arguments.kwarg):
            if arg is not None:
                self._add(scope, arg.arg, arg)

    def _bind_imports(self, node: ast.Import | ast.ImportFrom, scope: _Scope, steady: bool) -> None:
        while scope.is_class and scope.outer is not None:
            scope = scope.outer
        start = tuple((node.module or "").split(".")) if isinstance(node, ast.ImportFrom) else ()
        for alias in node.names:
            path = (*start, *alias.name.split("."))
            if isinstance(node, ast.Import) and alias.asname is None:
                path = path[:1]
            self._add(scope, alias.asname or path[-1], node, path=path, steady=steady)

    def _add(
        self,
        scope: _Scope,
        name: str,
        node: ast.AST,
        *,
        path: Path = (),
        value: Value = None,
        steady: bool = False,
    ) -> None:
        end = (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)
        for bound in (scope.bound[name], self._anywhere[name]):
            bound.add(end, path, value, steady)


def _results(node: ast.AST) -> list[ast.expr]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]


def parts_of(node: ast.expr) -> tuple[ast.expr, Path]:
    """Return what a chain of attributes starts with, and the names of the attributes.

    Of a chain that is too long for any program the last part is returned.
    """
    names: list[str] = []
    while isinstance(node, ast.Attribute) and len(names) < _LONGEST_CHAIN:
        names.append(node.attr)
        node = node.value
    return node, tuple(reversed(names))
