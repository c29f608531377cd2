"""Code of the corpora, and changes of code that keep what it does."""

from __future__ import annotations

__all__ = ("CHANGES", "Vector", "changed", "vectors", "violations")

import ast
import io
import json
import keyword
import tokenize
from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

from kinwire.mgp.rules.code_safety.check import check_code
from kinwire.mgp.rules.code_safety.levels import effective_rules

_HOME = Path(__file__).parents[4] / "vectors/validators"


class Vector(NamedTuple):
    """A row of `code_must_block.json`."""

    id: str
    code: str
    kind: str
    level: str


@cache
def vectors(name: str) -> Any:
    """Return what a file of vectors holds."""
    return json.loads((_HOME / f"{name}.json").read_text(encoding="utf-8"))


@cache
def violations(code: str, level: str) -> list[str]:
    """Return the violations of code at a level, by the kernel's own rules."""
    return check_code(code, effective_rules(level, None))


def _in_function(code: str) -> str:
    return f"def outer():\n{indent(code, '    ')}\nouter()"


def _in_method(code: str) -> str:
    return f"class Outer:\n  def run(self):\n{indent(code, '    ')}\nOuter().run()"


def _in_branch(code: str) -> str:
    return f"if True:\n  try:\n{indent(code, '    ')}\n  finally:\n    pass"


def _behind_more(code: str) -> str:
    return f"x = 1\n# not so: eval = 1\n'eval = 1'\n{code}\ny = 2"


def _written_again(code: str) -> str:
    return ast.unparse(ast.parse(code))


def _in_other_letters(code: str) -> str:
    """Write names with mathematical letters, which Python reads as plain ones."""

    def other(token: str) -> str:
        bold = "".join(chr(0x1D41A + ord(one) - 97) if "a" <= one <= "z" else one for one in token)
        return token if keyword.iskeyword(token) or keyword.issoftkeyword(token) else bold

    return _by_token(code, lambda kind, text: other(text) if kind == tokenize.NAME else text)


def _with_spaces(code: str) -> str:
    return _by_token(code, lambda kind, text: f"  {text} \\\n " if text in (".", "(") else text)


def _by_token(code: str, change: Callable[[int, str], str]) -> str:
    """Change each token where it stands; the space between them stays."""
    lines = code.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(code).readline))):
        (line, start), (last, end) = token.start, token.end
        if line == last and token.string and line <= len(lines):
            text = lines[line - 1]
            lines[line - 1] = text[:start] + change(token.type, token.string) + text[end:]
    return "".join(lines)


class _Split(ast.NodeTransformer):
    """Split strings into two that are added."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or len(node.value) < 2:
            return node
        half = len(node.value) // 2
        parts = (ast.Constant(node.value[:half]), ast.Constant(node.value[half:]))
        return ast.BinOp(parts[0], ast.Add(), parts[1])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node


class _Alias(ast.NodeTransformer):
    """Give imported modules other names."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_alias(self, node: ast.alias) -> ast.alias:
        if node.name == "*" or (node.asname is None and "." in node.name):
            return node
        known = node.asname or node.name
        self.names[known] = f"other_{known.lower()}"
        return ast.alias(node.name, self.names[known])

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _transformed(make: Callable[[], ast.NodeTransformer]) -> Callable[[str], str]:
    def change(code: str) -> str:
        return ast.unparse(ast.fix_missing_locations(make().visit(ast.parse(code))))

    return change


CHANGES: dict[str, Callable[[str], str]] = {
    "in a function": _in_function,
    "in a method": _in_method,
    "in a branch": _in_branch,
    "behind more": _behind_more,
    "written again": _written_again,
    "in other letters": _in_other_letters,
    "with spaces": _with_spaces,
    "strings split": _transformed(_Split),
    "modules renamed": _transformed(_Alias),
}
"""Changes after which code does what it did."""


def changed(code: str, names: list[str]) -> str:
    """Return the code after some changes; those that it cannot take are left out."""
    for name in names:
        try:
            code = CHANGES[name](code)
        except (SyntaxError, ValueError, tokenize.TokenError, MemoryError, RecursionError):
            continue
    return code
