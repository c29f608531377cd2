"""Changes the code of functions that are imported already, in a process made for one change."""

from __future__ import annotations

__all__ = ("Functions", "probed_tree")

import ast
import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tests.spec.mutation.conditions import Mutant, changes

PROBE = "__kinwire_probe__"

Key = tuple[str, int, tuple[str, ...]]


class Functions:
    """The functions of the files below a folder, by qualified name, first line and parameters."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found: dict[str, dict[Key, list[FunctionType]]] = defaultdict(
            lambda: defaultdict(list)
        )
        gc.unfreeze()  # what is frozen is not found
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(root)):
                self._found[one.__code__.co_filename][_key(one.__code__)].append(one)
        gc.collect()
        gc.freeze()  # a round of the collector in a fork would copy all of the memory

    def change(self, path: str, tree: ast.Module) -> None:
        """Give every function of a file the code that it has in `tree`."""
        name = str(self._root / path)
        found = self._found[name]
        for code in _codes(compile(tree, name, "exec", dont_inherit=True)):
            for function in found.get(_key(code), ()):
                function.__code__ = code

    def probe(self, path: str, tree: ast.Module, hit: Callable[[str, int], None]) -> None:
        """Call `hit` with the file and the number of each change when its condition runs."""
        self.change(path, tree)
        for functions in self._found[str(self._root / path)].values():
            for function in functions:
                function.__globals__[PROBE] = lambda number: hit(path, number)


def _key(code: CodeType) -> Key:
    """Return what one function of a file has alone: two of a line can have the same name."""
    return code.co_qualname, code.co_firstlineno, code.co_varnames[: code.co_argcount]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def probed_tree(source: str, mutants: Iterable[Mutant]) -> ast.Module:
    """Return the tree of a file in which the conditions of these mutants call the probe."""
    tree = ast.parse(source)
    wanted = {mutant.probe for mutant in mutants}
    places = {
        before: number for number, (_, before, _) in enumerate(changes(tree)) if number in wanted
    }
    return ast.fix_missing_locations(_Probing(places).visit(tree))  # type: ignore[no-any-return]


class _Probing(ast.NodeTransformer):
    def __init__(self, numbers: dict[ast.expr, int]) -> None:
        self._numbers = numbers

    def visit(self, node: ast.AST) -> Any:
        number = self._numbers.get(node)  # type: ignore[call-overload]
        visited = self.generic_visit(node)
        if number is None:
            return visited
        call = ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(number)], [])
        pair = ast.Tuple([call, visited], ast.Load())  # type: ignore[list-item]
        return ast.copy_location(ast.Subscript(pair, ast.Constant(1), ast.Load()), node)
