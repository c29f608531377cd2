"""The names in Python that a document gives: a program stops where one of them is gone."""

from __future__ import annotations

__all__ = ("attributes_of", "constants_of", "names_of_augments", "names_of_rows")

from collections.abc import Iterable, Iterator

from kinwire_codegen.compare.sides import Member, Side, Typed
from kinwire_codegen.load.augmented import target_of
from kinwire_codegen.load.document import CONSTANTS, Document
from kinwire_codegen.load.names import constant_name, field_names, snake_name

Names = tuple[str, ...]


def names_of_rows(document: Document) -> dict[tuple[str, str], tuple[str, Names]]:
    """Return the attribute of each method and tool, by table and wire name, and its full names."""
    found: dict[tuple[str, str], tuple[str, Names]] = {}
    taken = {snake_name(wire) for wire in document.content["methods"]}
    for wire, row in document.content["methods"].items():
        attribute = snake_name(wire)
        served = _full(attribute, _ends(row)) if _is_served(row) else ()
        found["methods", wire] = attribute, (*served, f"methods.{attribute.upper()}")
    for wire, row in document.table("tools").items():
        attribute = snake_name(wire) + ("_tool" if snake_name(wire) in taken else "")
        served = _full(attribute, ("ServerStub", "ServerTools")) if _is_served(row) else ()
        found["tools", wire] = attribute, (*served, f"tools.{attribute.upper()}")
    return found


def _is_served(row: dict[str, str]) -> bool:
    return row.get("status") != "considered"


def _ends(row: dict[str, str]) -> Iterator[str]:
    """Yield the classes that have the stub and the handler of a method, by who sends it."""
    for end, other in (("Server", "server"), ("Client", "client")):
        if row["from"] != other:
            yield f"{end}Stub"
            if row["kind"] == "either":
                yield f"{end}Stub.notify"
            yield f"{end}Handlers"


def _full(attribute: str, places: Iterable[str]) -> Names:
    return tuple(
        f"{place}{'_' if place.endswith('.notify') else '.'}{attribute}" for place in places
    )


def names_of_augments(document: Document, side: Side) -> dict[int, str]:
    """Return the constant of each augment, by its index."""
    found = {}
    for index, row in enumerate(document.augments):
        target = target_of(document, side.documents, row["to"])
        if target is not None:
            member = constant_name(row["member"]).strip("_")
            found[index] = f"augments.{target.constant}_{member}"
    return found


def constants_of(document: Document) -> dict[str, tuple[str, ...]]:
    """Return the place of each constant of the module `tables`, by its full name."""
    found: dict[str, tuple[str, ...]] = {
        f"tables.{constant_name(name)}": (table, name)
        for table in CONSTANTS
        for name in document.table(table)
    }
    return found | ({"tables.HTTP": ("http",)} if "http" in document.content else {})


def attributes_of(side: Side, typed: Typed) -> dict[str, tuple[str, Member]]:
    """Return the fields of a class, by attribute: the wire name, and what stands there."""
    members = side.members(typed)
    return {name: (wire, members[wire]) for wire, name in field_names(members).items()}
