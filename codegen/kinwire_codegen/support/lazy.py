"""Names and types that are loaded when they are first used, so that imports stay cheap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from sys import modules
from typing import Any, NamedTuple

__all__ = ("Lazy", "LazyFields", "LazyTypes", "lazy_names")


def lazy_names(
    package: str, homes: Mapping[str, str], submodules: tuple[str, ...] = ()
) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it imports the module of a name, once.

    `homes` has the module of each name and `submodules` those that are names themselves, all below
    the package.
    """

    def load(name: str) -> object:
        if name in submodules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(modules[package], name, value)
        return value

    return load


class Lazy(NamedTuple):
    """The place of a type, instead of the type."""

    path: str

    def load(self) -> Any:
        """Return the type; its module is imported by this."""
        module, _, name = self.path.rpartition(".")
        return getattr(import_module(module), name)


class LazyFields:
    """Base of dataclasses: a field that is given as a `Lazy` is loaded when it is first read."""

    def __post_init__(self) -> None:
        fields = self.__dict__
        lazy = {name: value for name, value in fields.items() if type(value) is Lazy}
        for name in lazy:
            del fields[name]  # so that `__getattr__` is called for it, once
        fields["_lazy"] = lazy

    def __getattr__(self, name: str) -> Any:
        lazy: dict[str, Lazy] = self.__dict__.get("_lazy", {})
        if name not in lazy:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = lazy[name].load()
        return value


class LazyTypes(Mapping[str, Any]):
    """Types by name, each loaded when it is first read."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = paths

    def __repr__(self) -> str:
        return f"LazyTypes({dict(self._paths)})"

    def __getitem__(self, name: str) -> Any:
        return Lazy(self._paths[name]).load()

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
