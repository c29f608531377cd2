"""Names of a package that are loaded when they are first used, so that importing it is cheap.

Generated packages have a function like this in `lazy.py`, as they may stand alone.
"""

from __future__ import annotations

__all__ = ("lazy_names",)

import sys
from importlib import import_module

TYPE_CHECKING = False  # for type checkers it is true; every program pays for what is imported here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it imports the module of a name, once.

    `homes` has the module of each name, below the package: "kernel.kernel".
    """

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
