"""No module that may be imported gives another module, or a function that acts, to the code."""

from __future__ import annotations

import builtins
import io
import os
import posix
import subprocess
import warnings
from collections.abc import Iterator
from importlib import import_module
from types import BuiltinFunctionType, ModuleType

from kinwire.mgp.rules.code_safety.module_tables import ONLY, SAFE, SUBMODULES
from tests.runtime.mgp.rules.code_safety.fixtures_code import violations

HARMFUL = {
    *(id(getattr(posix, name)) for name in dir(posix) if name not in ONLY["os"]),
    *(id(getattr(builtins, name)) for name in ("eval", "exec", "compile", "open", "__import__")),
    *(id(getattr(builtins, name)) for name in ("globals", "vars", "setattr", "getattr")),
    *map(id, (os.popen, os.execl, subprocess.Popen, subprocess.run, io.FileIO)),
}


def reached() -> Iterator[tuple[str, str, bool]]:
    """Yield each module or harmful function that a module has: its name, and if it is a module."""
    inner = [f"{package}.{name}" for package, names in SUBMODULES.items() for name in names]
    for module in (*sorted(SAFE - {"__future__"}), *inner):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = import_module(module)
        except ImportError:
            continue  # of another version of Python
        for name, value in vars(found).items():
            if isinstance(value, ModuleType):
                yield module, name, True
            elif isinstance(value, BuiltinFunctionType | type) and id(value) in HARMFUL:
                yield module, name, False


def test_modules_and_harmful_functions_are_not_reached_through_others() -> None:
    passed = []
    for module, name, is_module in reached():
        use = "f({})" if is_module else "{}('x', 'w')"
        whole = f"import {module}\n{use.format(f'{module}.{name}')}"
        single = f"from {module} import {name}\n{use.format(name)}"
        passed += [code for code in (whole, single) if not violations(code, "standard")]
    # Functions on paths that Python 3.13 writes in C, and lists of constants.
    harmless = ("normpath", "splitroot", "exists", "isdir", "isfile", "islink", "xml.parsers.expat")
    assert [code for code in passed if not any(name in code for name in harmless)] == []


def test_private_modules_and_those_of_later_versions_are_blocked() -> None:
    for module in ("_ctypes", "_posixsubprocess", "annotationlib", "compression", "xx"):
        assert violations(f"import {module}", "standard")
