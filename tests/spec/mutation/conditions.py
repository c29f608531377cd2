"""The changes of single conditions in the source of a package: what a wrong program could do.

A condition is negated, loses one operand of `and` and `or`, or has another comparison. A mutant is
named by its place and by its text before and after, so that it keeps its name while lines move.
"""

from __future__ import annotations

__all__ = ("Mutant", "changes", "mutants_of", "mutated_tree")

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one condition."""

    path: str
    """The file, from the folder of the package."""
    function: str
    """The function that has the condition, `module` outside of functions."""
    before: str
    after: str
    number: int
    """Counts equal changes in one function, from 1."""
    line: int
    index: int
    """Which of the changes of its file it is, in the order of the source."""
    probe: int
    """The first of the changes of the same expression."""

    @property
    def id(self) -> str:
        """What stays the same while lines move."""
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.path} {self.function}: {self.before} -> {self.after}{again}"


def mutants_of(root: Path, path: Path) -> list[Mutant]:
    """Return the mutants of a file below `root`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    times: Counter[tuple[str, str, str]] = Counter()
    first: dict[ast.expr, int] = {}
    found: list[Mutant] = []
    for index, (function, before, after) in enumerate(changes(tree)):
        key = (function, ast.unparse(before), ast.unparse(after))
        times[key] += 1
        place = path.relative_to(root).as_posix()
        probe = first.setdefault(before, index)
        found.append(Mutant(place, *key, times[key], before.lineno, index, probe))
    return found


def mutated_tree(source: str, index: int) -> ast.Module:
    """Return the tree of a file with one of its changes made."""
    tree = ast.parse(source)
    for number, (_, before, after) in enumerate(changes(tree)):
        if number == index:
            _Replace(before, after).visit(tree)
            return tree
    raise IndexError(index)


class _Replace(ast.NodeTransformer):
    def __init__(self, before: ast.expr, after: ast.expr) -> None:
        self.before, self.after = before, ast.copy_location(after, before)
        ast.fix_missing_locations(self.after)

    def visit(self, node: ast.AST) -> ast.AST:
        return self.after if node is self.before else self.generic_visit(node)


Change = tuple[str, ast.expr, ast.expr]


def changes(tree: ast.Module) -> Iterator[Change]:
    """Yield the function, the expression and what it becomes; no two are equal at one place."""
    for function, conditions, node in _places(tree):
        seen = {ast.unparse(node)}
        for after in _changed(node, conditions):
            if ast.unparse(after) not in seen:
                seen.add(ast.unparse(after))
                yield function, node, after


def _changed(node: ast.expr, conditions: set[ast.expr]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            changed = deepcopy(node)
            changed.ops[number] = COMPARISONS[type(operator)]()
            yield changed
    if isinstance(node, ast.BoolOp):
        for number in range(len(node.values)):
            rest = [deepcopy(one) for place, one in enumerate(node.values) if place != number]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(deepcopy(node.op), rest)
    if node in conditions:
        yield _negated(deepcopy(node))


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        opposite = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
        operator = type(node.ops[0])
        node.ops[0] = opposite.get(operator, COMPARISONS[operator])()
        return node
    return ast.UnaryOp(ast.Not(), node)


def _places(tree: ast.Module) -> Iterator[tuple[str, set[ast.expr], ast.expr]]:
    """Yield each expression that may be changed, with its function and all conditions."""
    conditions: set[ast.expr] = set()
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        if _is_for_types_only(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{name}.{node.name}".lstrip(".")
        conditions.update(_conditions(node))
        if isinstance(node, ast.expr):
            yield name or "module", conditions, node
        waiting += [(name, child) for child in reversed(list(ast.iter_child_nodes(node)))]


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    elif isinstance(node, ast.match_case):
        tests = [] if node.guard is None else [node.guard]
    else:
        return []
    return [part for test in tests for part in (test, *_operands(test))]


def _operands(node: ast.expr) -> list[ast.expr]:
    """Return the operands of `and`, `or` and `not`, which are conditions, too."""
    if isinstance(node, ast.BoolOp):
        return [part for one in node.values for part in (one, *_operands(one))]
    return []


def _is_for_types_only(node: ast.AST) -> bool:
    """Return whether no program runs it: `if TYPE_CHECKING` and assertions for type checkers."""
    if isinstance(node, ast.Assert):
        return True
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
