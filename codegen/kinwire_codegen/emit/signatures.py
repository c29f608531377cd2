"""What the generated classes take, for stubs that take the same."""

from __future__ import annotations

__all__ = ("Parameter", "ProtocolModels", "argument_names")

from collections.abc import Iterable
from dataclasses import dataclass

from kinwire_codegen.load.document import Reference

TAKEN = {"given", "methods", "params", "self", "tools"}  # mean something else inside a stub


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One member of a message, as a keyword argument of a stub."""

    name: str
    """The attribute of the class."""
    argument: str
    """The name in the stub's signature."""
    annotation: str
    default: str | None
    """The source of the default in the stub; None where the member is required."""
    is_constant: bool
    """Whether its default is the only value."""
    sends_only_if_given: bool
    """Whether the document has a default, which only the other end applies."""
    description: str | None
    imports: frozenset[str]
    """The import statements that the annotation needs, except those of types of documents."""
    types: frozenset[Reference]
    """The types of documents that the annotation names."""

    @property
    def declaration(self) -> str:
        """The parameter as it stands in a signature."""
        default = "" if self.default is None else f" = {self.default}"
        return f"{self.argument}: {self.annotation}{default}"

    @property
    def passed(self) -> str:
        """The parameter as the stub passes it on."""
        plain = f"{self.name}={self.argument}"
        return f"**given({plain})" if self.sends_only_if_given else plain


@dataclass(frozen=True, slots=True)
class ProtocolModels:
    """The modules of models of one protocol."""

    sources: dict[str, str]
    """The source of each module, by its path below the package."""
    modules: dict[str, tuple[str, ...]]
    """What each module below `models` defines; empty if one module has all."""
    names: tuple[str, ...]
    """Everything that they define, sorted."""
    classes: dict[str, tuple[Parameter, ...]]
    """What each class of messages takes."""


def argument_names(attributes: Iterable[str]) -> dict[str, str]:
    """Return what the attributes of a class are called as arguments of a stub."""
    found = {name: name for name in attributes}
    for name in found.keys() & TAKEN:
        while found[name] in TAKEN or found[name] in found.keys() - {name}:
            found[name] += "_"
    return found
