"""Rules for calls whose arguments decide what they do."""

from __future__ import annotations

__all__ = ("call_rule", "is_sensitive_path", "joined_path_rule")

import ast
import re
from collections.abc import Iterator

from kinwire.mgp.rules.code_safety.bindings import parts_of
from kinwire.mgp.rules.code_safety.code import CheckedCode, is_module, start_of
from kinwire.mgp.rules.code_safety.imports import member_violation
from kinwire.mgp.rules.code_safety.name_tables import BY_NAME
from kinwire.mgp.rules.code_safety.strings import named_attribute, url_violations

_READ_MODE = re.compile(r"[rbtU]*|r[:|][\w*]*")
_MODE = re.compile(r"(?=[\w+:|]*[wax+])[rwaxbtU+]{1,4}|[wax][:|][\w*]*")
_FILE_CLASSES = frozenset(
    {"BZ2File", "FileIO", "GzipFile", "LZMAFile", "PyZipFile", "TarFile", "ZipFile", "open_code"}
)
_PATH_METHODS = frozenset({"chmod", "mkdir", "touch"})
_READERS = frozenset(
    {"connect", "glob", "iglob", "iterparse", "listdir", "parse", "readlink", "scandir", "walk"}
)
"""Functions of modules whose first argument is a path."""
_MOVES = frozenset({"rename", "replace"})
_SENSITIVE_ROOTS = re.compile(
    r"/(etc|proc|sys|dev|root|boot|run|var/(run|log|lib|spool))(/|$)|[a-z]:[\\/]windows",
    re.IGNORECASE,
)
_SLASHES = re.compile(r"/(?:\.?/)+")
_PRIVATE_PARTS = re.compile(r"(^|[\\/])(\.\.|~[^\\/]*|\.[^\\/.][^\\/]*|id_[rd]sa\w*)([\\/]|$)")


def joined_path_rule(code: CheckedCode, node: ast.BinOp) -> Iterator[str]:
    """Yield the violation of `path / ".ssh"`."""
    if isinstance(node.op, ast.Div) and "pathlib" in code.imported:
        yield from _private_path(code, node.right)


def call_rule(code: CheckedCode, node: ast.Call) -> Iterator[str]:
    """Yield the violations of a call."""
    yield from url_violations(code, node)
    function = node.func
    if code.is_builtin(function, "getattr"):
        yield from _getattr(code, node)
    elif code.is_builtin(function, "open"):
        yield from _opened(code, node, 1)
    else:
        yield from _library_call(code, node)


def _library_call(code: CheckedCode, node: ast.Call) -> Iterator[str]:
    name = _last_name(code, node.func)
    root = {path[0] for path in code.paths(node.func)}
    if name in BY_NAME:
        yield from _by_name(code, node, name)
    elif name in _FILE_CLASSES or (name == "open" and root):
        yield from _opened(code, node, 1)
    elif name == "open":
        yield from _opened_method(code, node)
    elif name in _READERS and root:
        yield from _private_path(code, node.args[0] if node.args else None)
    else:
        yield from _call_of_module(code, node, name, root)


def _call_of_module(code: CheckedCode, node: ast.Call, name: str, root: set[str]) -> Iterator[str]:
    evaluates = any(word.arg in (None, "eval_str") for word in node.keywords)
    if "inspect" in root and evaluates:
        yield "Blocked pattern: 'inspect' that evaluates annotations"
    elif "logging" in root:
        yield from _logging(code, node)
    elif name in ("wraps", "update_wrapper") and "functools" in root:
        yield from _wrapping(code, node, 1 if name == "wraps" else 2)
    elif "pathlib" in code.imported:
        yield from _path_call(code, node, name)


def _last_name(code: CheckedCode, function: ast.expr) -> str:
    """Return the name of the function that is called: that of the library, if it is imported."""
    for path in code.paths(function):
        return path[-1]
    names = parts_of(function)[1]
    if names:
        return names[-1]
    return function.id if isinstance(function, ast.Name) else ""


def _getattr(code: CheckedCode, node: ast.Call) -> Iterator[str]:
    texts = code.texts(node.args[1]) if len(node.args) > 1 else []
    if not texts or node.keywords or isinstance(node.args[0], ast.Starred):
        yield "Blocked pattern: 'getattr(' with a computed name"
    for text in texts:
        yield from named_attribute(text)
        attribute = ast.Attribute(node.args[0], text, ast.Load())
        yield from _read_by_name(code, attribute)


def _read_by_name(code: CheckedCode, attribute: ast.Attribute) -> Iterator[str]:
    for path in code.paths(attribute):
        found = member_violation(path, len(path) - 1)
        if found is not None or is_module(path):
            yield found or f"Blocked pattern: '{'.'.join(path)}' as a value"


def _by_name(code: CheckedCode, node: ast.Call, name: str) -> Iterator[str]:
    named = node.args if name == "attrgetter" else node.args[:1]
    for argument in named:
        texts = code.texts(argument)
        if not texts:
            yield f"Blocked pattern: '{name}(' with a computed name"
        for text in texts:
            yield from named_attribute(text)


def _argument(node: ast.Call, position: int, *names: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg in names:
            return keyword.value
    return node.args[position] if len(node.args) > position else None


def _opened(code: CheckedCode, node: ast.Call, position: int) -> Iterator[str]:
    """Yield the violations of opening a file: it must be for reading, and not a private one."""
    unknown = any(keyword.arg in (None, "opener") for keyword in node.keywords)
    if unknown or any(isinstance(argument, ast.Starred) for argument in node.args):
        yield "Blocked pattern: 'open(' with arguments that are not known"
        return
    mode = _argument(node, position, "mode")
    modes = ["r"] if mode is None else code.texts(mode)
    if not modes or not all(_READ_MODE.fullmatch(one) for one in modes):
        yield "Blocked pattern: 'open(' for writing"
    yield from _private_path(code, _argument(node, 0, "file", "filename", "name"))


def _private_path(code: CheckedCode, node: ast.expr | None) -> Iterator[str]:
    """Yield the violation of a path, as far as it stands in the code, or of a file descriptor."""
    if node is None:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 2:
        yield f"Blocked path: file descriptor {node.value}"
    for text in code.texts(node) or [start_of(node)]:
        if is_sensitive_path(text):
            yield f"Blocked path: '{text:.60}'"


def _opened_method(code: CheckedCode, node: ast.Call) -> Iterator[str]:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    known = [code.texts(argument) for argument in arguments]
    is_path = "pathlib" in code.imported
    unknown = is_path and any(not texts for texts in known[:1])
    if unknown or any(_MODE.fullmatch(text) for texts in known for text in texts):
        yield "Blocked pattern: 'open(' for writing"


def _path_call(code: CheckedCode, node: ast.Call, name: str) -> Iterator[str]:
    function = node.func
    if name in ("Path", "PosixPath", "WindowsPath", "joinpath", "rglob"):
        for argument in node.args:
            yield from _private_path(code, argument)
    is_method = isinstance(function, ast.Attribute) and not code.paths(function)
    moves = name in _MOVES and len(node.args) == 1 and not node.keywords
    if is_method and (name in _PATH_METHODS or moves):
        yield f"Blocked pattern: '.{name}('"


def _logging(code: CheckedCode, node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg in ("filename", None):
            yield "Blocked pattern: 'logging' to a file"
        elif keyword.arg == "style" and code.texts(keyword.value) not in (["%"], ["$"]):
            yield "Blocked pattern: 'logging' with a format of fields"


def _wrapping(code: CheckedCode, node: ast.Call, most: int) -> Iterator[str]:
    if "functools.singledispatch" in code.used or "functools.singledispatchmethod" in code.used:
        yield "Blocked pattern: 'functools.singledispatch' with 'functools.wraps'"
    if len(node.args) > most or any(
        keyword.arg not in ("wrapper", "wrapped") for keyword in node.keywords
    ):
        yield "Blocked pattern: 'functools.wraps(' with chosen attributes"


def is_sensitive_path(text: str) -> bool:
    """Return whether a path leads to the system, to private files, or out of the working folder."""
    plain = _SLASHES.sub("/", text)
    return bool(_SENSITIVE_ROOTS.match(plain) or _PRIVATE_PARTS.search(plain))
