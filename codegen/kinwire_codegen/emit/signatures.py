"""What the generated classes take, for stubs that take the same."""

from __future__ import annotations

__all__ = ("Models", "Parameter", "argument_name", "with_fields")

from collections.abc import Iterable
from dataclasses import dataclass, field

from kinwire_codegen.load.document import Reference

TAKEN = {"self", "methods", "tools", "params"}  # names that mean something else inside a stub


@dataclass(frozen=True, slots=True)
class Parameter:
    """One member of a message, as a keyword argument of a stub."""

    name: str
    """The attribute of the class."""
    annotation: str
    default: str | None
    """The source of the default; None where the member is required."""
    description: str | None
    imports: frozenset[str]
    """The statements that bring what the annotation names, but for types of documents."""
    types: frozenset[Reference]
    """The types of documents that the annotation names."""

    @property
    def argument(self) -> str:
        """The name in the stub's signature."""
        return argument_name(self.name)

    @property
    def sends_only_if_given(self) -> bool:
        """Whether it has a default of the document, which only the other end applies."""
        is_constant = self.annotation == f"Literal[{self.default}]"
        return self.default not in (None, "None", "MISSING") and not is_constant

    @property
    def declaration(self) -> str:
        """The parameter as it stands in a signature."""
        if self.sends_only_if_given:
            return f"{self.argument}: {self.annotation} | MISSING = MISSING"
        return f"{self.argument}: {self.annotation}" + (
            f" = {self.default}" if self.default is not None else ""
        )

    @property
    def passed(self) -> str:
        """The parameter as the stub passes it on."""
        plain = f"{self.name}={self.argument}"
        return f"**given({plain})" if self.sends_only_if_given else plain


@dataclass(frozen=True, slots=True)
class Models:
    """The modules of models of one protocol."""

    sources: dict[str, str] = field(default_factory=dict[str, str])
    """The source of each module, by its path below the package."""
    homes: dict[str, str] = field(default_factory=dict[str, str])
    """The path of the module of everything that they define."""
    classes: dict[str, tuple[Parameter, ...]] = field(
        default_factory=dict[str, tuple[Parameter, ...]]
    )
    """What each class of messages takes."""


def with_fields(text: str | None, fields: Iterable[tuple[str, str | None]]) -> str | None:
    """Return the text of a class, followed by the fields that are described."""
    described = ((name, said) for name, said in fields if said is not None)
    listed = [f"    {name}: " + said.replace("\n", "\n        ") for name, said in described]
    return "\n".join([f"{text}\n\nAttributes:", *listed]) if text and listed else text


def argument_name(name: str) -> str:
    """Return what an attribute is called as an argument of a stub."""
    return f"{name}_" if name in TAKEN else name
