"""Rules for names and attributes."""

from __future__ import annotations

__all__ = (
    "attribute_rule",
    "definition_rule",
    "match_class_rule",
    "name_rule",
    "scope_rule",
)

import ast
from collections.abc import Iterator

from kinwire.mgp.rules.code_safety.bindings import Path
from kinwire.mgp.rules.code_safety.code import CheckedCode, is_module
from kinwire.mgp.rules.code_safety.imports import member_violation, module_violation
from kinwire.mgp.rules.code_safety.module_tables import CORE
from kinwire.mgp.rules.code_safety.name_tables import (
    ALIAS_ONLY_CALLED,
    BLOCKED_BUILTINS,
    BY_NAME,
    CORE_ATTRIBUTES,
    FILE_METHODS,
    FILE_OBJECTS,
    NAME_OF_CLASS,
    PROCESS_METHODS,
    STORED_ATTRIBUTES,
    is_blocked_attribute,
    is_readable_special_name,
    is_special,
    is_writable_special_name,
)

_OBJECT_OF_METHOD = frozenset({"self", "cls"})
_CLASS_TESTS = ("isinstance", "issubclass")
_BUILTIN_CLASSES = frozenset(
    {
        *("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str"),
        *("tuple", "object", "Exception"),
    }
)


def name_rule(code: CheckedCode, node: ast.Name) -> Iterator[str]:
    """Yield the violations of a variable that is read, set or deleted."""
    if not isinstance(node.ctx, ast.Load):
        yield from _written(node.id)
        if node.id == "__match_args__":
            yield from _match_args(code, node)
        return
    yield from _module_use(code, node)
    if is_special(node.id) and not is_readable_special_name(node.id):
        own_method = node.id in code.own_names and not is_blocked_attribute(node.id)
        if not own_method and not (node.id == "__class__" and _is_class_test(code, node)):
            yield f"Blocked name: '{node.id}'"
    elif not code.bindings.is_own(node):
        yield from _builtin(code, node)


def _builtin(code: CheckedCode, node: ast.Name) -> Iterator[str]:
    name = node.id
    if name in BLOCKED_BUILTINS or (name == "input" and code.rules.asks_nobody):
        yield f"Blocked pattern: '{name}('"
    elif name in ALIAS_ONLY_CALLED and not code.is_called(node):
        yield f"Blocked pattern: '{name}' under another name"


def _is_class_test(code: CheckedCode, node: ast.AST) -> bool:
    """Return whether `node` is compared, or an argument of `isinstance`."""
    parent = code.parent(node)
    if isinstance(parent, ast.Tuple):
        parent = code.parent(parent)
    return isinstance(parent, ast.Compare) or code.calls_builtin(parent, *_CLASS_TESTS)


def _module_use(code: CheckedCode, node: ast.Name) -> Iterator[str]:
    """Yield the violations of the attributes that are read from a module, and of the module."""
    top: ast.expr = node
    names: Path = ()
    while isinstance(parent := code.parent(top), ast.Attribute):
        top, names = parent, (*names, parent.attr)
    imported = code.bindings.paths(node)
    for path in code.paths(node):
        is_import = path in imported
        found = member_violation((*path, *names), len(path) if is_import else 1)
        if found is None and not is_import:
            found = module_violation(code.rules, path)
        if found is None and is_module((*path, *names)) and not _is_asked(code, top):
            found = f"Blocked pattern: '{'.'.join((*path, *names))}' as a value"
        if found is None and names and is_module(path) and _is_changed(top):
            found = f"Blocked pattern: '{'.'.join((*path, *names))} ='"
        if found is None and (*path, *names)[-1] in BY_NAME and not code.is_called(top):
            found = f"Blocked pattern: '{names[-1] if names else path[-1]}' under another name"
        if found is not None:
            yield found


def _is_asked(code: CheckedCode, node: ast.expr) -> bool:
    """Return whether a module is only asked for an attribute by name, or deleted."""
    parent = code.parent(node)
    asked = code.calls_builtin(parent, "hasattr", "getattr")
    return asked and isinstance(parent, ast.Call) and parent.args[:1] == [node]


def _is_changed(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)


def attribute_rule(code: CheckedCode, node: ast.Attribute) -> Iterator[str]:
    """Yield the violations of an attribute of any object."""
    name = node.attr
    if not isinstance(node.ctx, ast.Load):
        if (is_special(name) and name not in STORED_ATTRIBUTES) or is_blocked_attribute(name):
            yield f"Blocked attribute: '{name}'"
        return
    if name == "__class__":
        if not _is_plain_class(code, node):
            yield f"Blocked attribute: '{name}'"
    elif is_blocked_attribute(name) or (name in FILE_OBJECTS and code.reads_files):
        yield f"Blocked attribute: '{name}'"
    elif not code.paths(node):
        yield from _harmful_method(code, node)


def _harmful_method(code: CheckedCode, node: ast.Attribute) -> Iterator[str]:
    name = node.attr
    of_own = isinstance(node.value, ast.Name) and node.value.id in _OBJECT_OF_METHOD
    if name in CORE_ATTRIBUTES:
        yield f"Blocked attribute: '{name}'"
    elif name in BY_NAME and not code.is_called(node):
        yield f"Blocked pattern: '{name}' under another name"
    elif of_own:
        return
    elif name in FILE_METHODS or (name in PROCESS_METHODS and name not in code.methods):
        yield f"Blocked pattern: '.{name}('"
    elif _is_private(code, node):
        yield f"Blocked attribute: '{name}'"


def _is_private(code: CheckedCode, node: ast.Attribute) -> bool:
    """Return whether an attribute is private to code that is not this one."""
    name = node.attr
    private = name.startswith("_") and not is_special(name) and name not in code.own_names
    return private and not code.calls_builtin(node.value, "super")


def _is_plain_class(code: CheckedCode, node: ast.Attribute) -> bool:
    parent = code.parent(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in NAME_OF_CLASS and isinstance(parent.ctx, ast.Load)
    return _is_class_test(code, node)


def definition_rule(code: CheckedCode, node: ast.AST) -> Iterator[str]:
    """Yield the violation of a function, class, argument or variable with a special name."""
    match node:
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
            | ast.alias(asname=str(name))
            | ast.arg(arg=name)
        ):
            yield from _written(name)
            if name == "__match_args__":
                yield f"Blocked name: '{name}'"
        case _:
            pass


def scope_rule(code: CheckedCode, node: ast.Global | ast.Nonlocal) -> Iterator[str]:
    """Yield the violations of `global __builtins__`."""
    for name in node.names:
        yield from _written(name)


def _written(name: str) -> Iterator[str]:
    if is_special(name) and not is_writable_special_name(name):
        yield f"Blocked name: '{name}'"


def _match_args(code: CheckedCode, node: ast.Name) -> Iterator[str]:
    """Yield the violation of `__match_args__` that is not a list of plain names.

    A pattern reads these attributes of the object that it is matched with.
    """
    match code.parent(node):
        case ast.Assign(value=ast.Tuple(elts=items)) | ast.AnnAssign(value=ast.Tuple(elts=items)):
            names = [text for item in items for text in code.texts(item)]
            if len(names) == len(items) and not any(map(is_special, names)):
                return
        case _:
            pass
    yield "Blocked name: '__match_args__'"


def match_class_rule(code: CheckedCode, node: ast.MatchClass) -> Iterator[str]:
    """Yield the violations of a class pattern: it reads attributes by name or by position."""
    for name in node.kwd_attrs:
        if is_special(name) or is_blocked_attribute(name) or name in CORE:
            yield f"Blocked attribute: '{name}'"
    if node.patterns and not _is_plain_pattern(code, node.cls, 0):
        yield "Blocked pattern: 'case' with positions of a class that is made elsewhere"


def _is_plain_pattern(code: CheckedCode, node: ast.expr, depth: int) -> bool:
    """Return whether a class is one whose `__match_args__` stand in the code or in a library."""
    if code.paths(node):
        return True
    if not isinstance(node, ast.Name) or depth > 5:
        return False
    if node.id in _BUILTIN_CLASSES:
        return not code.bindings.is_bound(node.id)
    values = code.bindings.values(node.id)
    return bool(values) and all(
        isinstance(value, ast.ClassDef)
        and not value.keywords
        and all(code.paths(_function_of(decorator)) for decorator in value.decorator_list)
        and all(_is_plain_pattern(code, base, depth + 1) for base in value.bases)
        for value in values
    )


def _function_of(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node
