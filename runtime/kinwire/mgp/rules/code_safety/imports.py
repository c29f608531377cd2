"""Rules for modules: which may be imported, and what of them may be used."""

from __future__ import annotations

__all__ = ("import_from_rule", "import_rule", "member_violation", "module_violation")

import ast
from collections.abc import Iterator

from kinwire.mgp.rules.code_safety.bindings import Path
from kinwire.mgp.rules.code_safety.code import CheckedCode
from kinwire.mgp.rules.code_safety.levels import CodeRules
from kinwire.mgp.rules.code_safety.module_tables import (
    CORE,
    HARMFUL_PACKAGES,
    NEVER,
    ONLY,
    SAFE,
    SAME_NAME,
    STANDARD_LIBRARY,
    STAR,
)
from kinwire.mgp.rules.code_safety.name_tables import (
    BLOCKED_BUILTINS,
    CORE_ATTRIBUTES,
    PROCESS_METHODS,
    is_blocked_attribute,
    is_special,
)

_PLATFORM = ("platform", "system")  # the name of the operating system


def import_rule(code: CheckedCode, node: ast.Import) -> Iterator[str]:
    """Yield the violations of `import a.b, c as d`."""
    for alias in node.names:
        path = tuple(alias.name.split("."))
        yield from _imported(code.rules, path)


def import_from_rule(code: CheckedCode, node: ast.ImportFrom) -> Iterator[str]:
    """Yield the violations of `from a import b, c as d`."""
    start = tuple((node.module or "").split("."))
    if node.level:
        yield f"Blocked import: '{'.' * node.level}{node.module or ''}'"
        return
    for alias in node.names:
        if alias.name != "*":
            yield from _imported(code.rules, (*start, alias.name))
        elif start[0] in STANDARD_LIBRARY and node.module not in STAR:
            yield f"Blocked pattern: 'from {node.module} import *'"
        else:
            yield from _imported(code.rules, start)


def _imported(rules: CodeRules, path: Path) -> Iterator[str]:
    found = module_violation(rules, path) or member_violation(path, 1)
    if found is not None:
        yield found


def module_violation(rules: CodeRules, path: Path) -> str | None:
    """Return the violation of importing `path`, or None."""
    root, name = path[0], ".".join(path)
    for blocked in rules.blocked_imports:
        if _is_part(name, blocked):
            return f"Blocked import: '{blocked}'"
    allowed = rules.allowed_imports
    # `import os.path` is as `import os`; a list may allow a submodule alone.
    if allowed is not None and not any(_is_part(name, one) for one in allowed):
        return f"Blocked import: '{root}'"
    if root in STANDARD_LIBRARY:
        return None if root in SAFE else f"Blocked import: '{root}'"
    harmful = root in HARMFUL_PACKAGES or root.startswith("_") or "pickle" in root.lower()
    return f"Blocked import: '{root}'" if harmful else None


def _is_part(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def member_violation(path: Path, start: int) -> str | None:
    """Return the violation of reading `path` from its part before `start`, or None."""
    for length in range(max(start, 1), len(path)):
        module, name = ".".join(path[:length]), path[length]
        if _is_blocked(path[0], module, name, (*path[:length], name)):
            return f"Blocked pattern: '{module}.{name}'"
    return None


def _is_blocked(root: str, module: str, name: str, path: Path) -> bool:
    never = name in NEVER.get(module, ()) or name in NEVER.get(root, ())
    if never or name not in ONLY.get(module, {name}):
        return True
    if (name.startswith("_") and not is_special(name)) or is_blocked_attribute(name):
        return True
    if f"{module}.{name}" in SAME_NAME:
        return False
    core = CORE if root in STANDARD_LIBRARY else CORE_ATTRIBUTES
    if name in core or (name in PROCESS_METHODS and path != _PLATFORM):
        return True
    if root not in STANDARD_LIBRARY:
        return name in BLOCKED_BUILTINS - {"compile", "help", "credits", "copyright", "license"}
    return name in STANDARD_LIBRARY and name != path[-2]
