"""Where a file makes its own ASGI application, and with which options, by its syntax tree."""

from __future__ import annotations

__all__ = ("asgi_options",)

import ast
from collections.abc import Iterator


def asgi_options(source: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line and the options, as `a=..., b=...`, of each call of a method `asgi`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.keywords and _is_asgi(node.func):
            names = (f"{one.arg}=..." if one.arg else "**..." for one in node.keywords)
            yield node.lineno, ", ".join(names)


def _is_asgi(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "asgi"
