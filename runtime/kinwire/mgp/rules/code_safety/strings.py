"""Rules for strings that Python evaluates: formats, annotations, and names of attributes."""

from __future__ import annotations

__all__ = (
    "constant_rule",
    "format_rule",
    "named_attribute",
    "subscript_rule",
    "take_in_annotations",
    "url_violations",
)

import ast
import re
from collections.abc import Iterator

from kinwire.mgp.rules.code_safety.code import CheckedCode, start_of
from kinwire.mgp.rules.code_safety.name_tables import (
    CORE_ATTRIBUTES,
    is_blocked_attribute,
    is_internal_string,
)
from kinwire.mgp.rules.code_safety.parsing import expression_of
from kinwire.mgp.rules.code_safety.writes import NETWORK
from kinwire.transports.guarded_fetch.rules import NotFetchedError, web_address

_EVALUATORS = frozenset(
    {
        *("attr", "attrs", "beartype", "cattrs", "fastapi", "functools.singledispatch"),
        *("functools.singledispatchmethod", "msgspec", "pydantic", "typeguard"),
        *("typer",),
    }
)
"""Packages that evaluate annotations."""
_FORMATS = frozenset({"format", "format_map"})
_FIELD = re.compile(r"\{([^{}!:]*)[{}!:]")
_FILE_URL = re.compile(r"\s*file:/", re.IGNORECASE)
_HOST = re.compile(r"\s*https?://[^/?#]+[/?#]", re.IGNORECASE)
_WEB_URL = re.compile(r"\s*https?:", re.IGNORECASE)
_NAME = re.compile(r"\w+")
_LOOKUPS = frozenset({"get", "pop", "setdefault", "__getitem__"})
_METHOD_OBJECTS = frozenset({"self", "cls"})


def field_violations(text: str) -> Iterator[str]:
    """Yield the violations of a format: fields that read an attribute that is blocked."""
    for found in _FIELD.finditer(text):
        field = found[1]
        if any(is_blocked_attribute(name) for name in _NAME.findall(field)):
            yield f"Blocked format field: '{{{field:.60}}}'"


def constant_rule(code: CheckedCode, node: ast.Constant) -> Iterator[str]:
    """Yield the violations of a string, whatever is done with it. Docstrings are not checked."""
    if isinstance(node.value, str) and not isinstance(code.parent(node), ast.Expr):
        yield from field_violations(node.value)


def url_violations(code: CheckedCode, node: ast.Call) -> Iterator[str]:
    """Yield the violations of URLs among the arguments of a call: of files, or not public ones."""
    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
        for text in code.texts(argument) or [_plain_start(argument)]:
            if _FILE_URL.match(text):
                yield f"Blocked path: '{text:.60}'"
            elif _is_private_address(code, text):
                yield f"Blocked address: '{text:.60}'"


def _plain_start(node: ast.expr) -> str:
    """Return what a text begins with; of a URL the part with the whole host."""
    text = start_of(node)
    found = _HOST.match(text)
    if found is not None:
        return found[0]
    return "" if _WEB_URL.match(text) else text


def _is_private_address(code: CheckedCode, text: str) -> bool:
    """Return whether a URL leads to this machine, a private network, or is not a plain one."""
    if not code.imported & NETWORK or not _WEB_URL.match(text):
        return False
    try:
        web_address(text.strip())
    except NotFetchedError:
        return True
    return False


def format_rule(code: CheckedCode, node: ast.Attribute) -> Iterator[str]:
    """Yield the violations of `x.format`: the format must be a string that stands in the code."""
    if node.attr not in _FORMATS or not isinstance(node.ctx, ast.Load) or code.paths(node):
        return
    if _is_only_shown(code, node) or _is_own_method(code, node.value):
        return
    call = code.call_of(node)
    if code.is_builtin(node.value, "str"):
        first = call.args[0] if call is not None and call.args else None
        texts = code.texts(first)
    else:
        texts = code.texts(node.value)
    if not texts:
        yield f"Blocked pattern: '.{node.attr}(' of a computed string"
    for text in texts:
        yield from field_violations(text)


def _is_only_shown(code: CheckedCode, node: ast.Attribute) -> bool:
    parent = code.parent(node)
    shown = isinstance(parent, ast.Compare | ast.FormattedValue)
    return shown or (
        not code.is_called(node) and code.calls_builtin(parent, "print", "str", "repr")
    )


def _is_own_method(code: CheckedCode, node: ast.expr) -> bool:
    """Return whether `node` is the object of a method, in code whose classes are not strings."""
    is_object = isinstance(node, ast.Name) and node.id in _METHOD_OBJECTS
    is_super = code.calls_builtin(node, "super")
    return (is_object or is_super) and not code.has_text_classes


def take_in_annotations(code: CheckedCode) -> Iterator[str]:
    """Take in the annotations that are in quotes: Python evaluates them when they are asked for.

    Yield a violation for each that is computed, in code that asks for them.
    """
    todo: list[ast.AST] = list(_annotations(code))
    is_evaluated = bool((code.imported | code.used) & _EVALUATORS)
    while todo:
        inner = todo.pop()
        texts = code.texts(inner)
        for text in texts:
            tree = expression_of(text)
            if tree is not None:
                code.add(tree)
                todo.append(tree)
        if is_evaluated and not texts and not _is_type(code, inner):
            yield "Blocked pattern: an annotation that is computed"
        elif not texts and not _is_literal(code, inner):
            todo += ast.iter_child_nodes(inner)


def _annotations(code: CheckedCode) -> Iterator[ast.expr]:
    for node in code.nodes:
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns


def _is_type(code: CheckedCode, node: ast.AST) -> bool:
    """Return whether a part of an annotation is written out, or the name of a type."""
    if isinstance(node, ast.Call):
        return bool(code.paths(node.func))
    if isinstance(node, ast.Attribute):
        return bool(code.paths(node))
    if isinstance(node, ast.Subscript):
        return not code.methods & {"__class_getitem__", "__getitem__"}
    if not isinstance(node, ast.Name):
        return not isinstance(node, ast.JoinedStr | ast.IfExp | ast.Lambda | ast.NamedExpr)
    if code.paths(node) or not code.bindings.is_bound(node.id):
        return True
    values = code.bindings.values(node.id)
    return bool(values) and all(
        isinstance(value, ast.ClassDef | ast.Subscript)
        or (isinstance(value, ast.Call) and bool(code.paths(value.func)))
        for value in values
    )


def _is_literal(code: CheckedCode, node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript):
        return False
    return any(path[0].startswith("typing") for path in code.paths(node.value)) and any(
        path[-1] == "Literal" for path in code.paths(node.value)
    )


def named_attribute(name: str) -> Iterator[str]:
    """Yield the violation of reading the attribute that a string names, with dots between names."""
    for part in name.split("."):
        if is_blocked_attribute(part) or part in CORE_ATTRIBUTES:
            yield f"Blocked attribute: '{part}'"


def subscript_rule(code: CheckedCode, node: ast.Subscript | ast.Call) -> Iterator[str]:
    """Yield the violation of looking up an internal in a mapping: `x["__builtins__"]`."""
    match node:
        case ast.Subscript(slice=key):
            pass
        case ast.Call(func=ast.Attribute(attr=name), args=[key, *_]) if name in _LOOKUPS:
            pass
        case _:
            return
    for text in code.texts(key):
        if is_internal_string(text):
            yield f"Blocked name: '{text}'"
