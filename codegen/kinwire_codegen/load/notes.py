"""What a document says of an entry beyond its meaning: versions, deprecation, keys of vendors."""

from __future__ import annotations

__all__ = (
    "EnumValue",
    "class_of_values",
    "constraining",
    "deprecation",
    "described",
    "enum_values",
    "is_note",
    "status_mark",
    "status_of",
    "vendor_entries",
    "version_notes",
)

from dataclasses import dataclass
from typing import Any

from kinwire_codegen.load.names import constant_name

Node = dict[str, Any]

_DECISION = "x-decision"  # ours, not a vendor's

_NOTES = frozenset(
    {"description", "default", "since", "deprecated", "examples", "format", "enumValues"}
)


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One value of an `enum`, and what the document says of it."""

    value: str | int
    node: Node

    @property
    def name(self) -> str | None:
        """The name of an integer; None if it has no name."""
        return self.node.get("name")

    @property
    def constant(self) -> str | None:
        """The constant of an integer that has a name: of `PaperBack` it is `PAPER_BACK`."""
        return None if self.name is None else constant_name(self.name).rstrip("_")

    @property
    def text(self) -> str:
        """The description, the version, and the deprecation; empty if there is nothing."""
        return " ".join(filter(None, (self.node.get("description"), version_notes(self.node))))


def is_note(key: str) -> bool:
    """Return whether a keyword of a type does not say what the type takes."""
    return key in _NOTES or key.startswith("x-")


def constraining(node: Node) -> set[str]:
    """Return the keywords of a type that say what it takes."""
    return {key for key in node if not is_note(key)}


def deprecation(node: Node) -> str | None:
    """Return the sentences about why an entry is deprecated, None if it is not."""
    said = node.get("deprecated")
    if not said:
        return None
    said = said if isinstance(said, dict) else {}
    head = f"Deprecated since {said['since']}" if "since" in said else "Deprecated"
    head += f": {said['reason'].rstrip('.')}." if "reason" in said else "."
    return f"{head} Use {said['replacement'].rstrip('.')}." if "replacement" in said else head


def version_notes(node: Node) -> str:
    """Return the sentences about the versions of an entry: `Since 1.1. Deprecated: ...`."""
    since = f"Since {node['since']}." if "since" in node else None
    return " ".join(filter(None, (since, deprecation(node))))


def described(node: Node) -> str | None:
    """Return the text about a type or a field for its docstring, None if there is nothing.

    It has the description, the versions, and a list of the values of an enum that are described.
    """
    parts = [node.get("description", "").strip(), version_notes(node)]
    head = " ".join(filter(None, parts))
    values = [
        f"- `{one.value}`{f' (`{one.constant}`)' if one.constant else ''}"
        f"{f': {one.text}' if one.text else ''}"
        for one in enum_values(node)
        if one.node.keys() & {"name", "description", "since", "deprecated"}
    ]
    return "\n\n".join(filter(None, (head, "\n".join(values)))) or None


def status_of(row: Node) -> str:
    """Return whether a method or a tool is `stable`, `considered` or `deprecated`."""
    status = str(row.get("status", "stable"))
    return "deprecated" if status == "stable" and row.get("deprecated") else status


def status_mark(row: Node) -> str:
    """Return the status of a method or a tool, empty if it is stable."""
    return "" if status_of(row) == "stable" else status_of(row)


def vendor_entries(node: Node) -> Node:
    """Return the `x-` entries that vendors have added."""
    return {key: value for key, value in node.items() if key.startswith("x-") and key != _DECISION}


def class_of_values(name: str, definition: Node) -> str | None:
    """Return the class that has the constants of an enum, None if no value has a name."""
    named = any(one.name for one in enum_values(definition))
    return f"{name}Values" if named else None


def enum_values(node: Node) -> tuple[EnumValue, ...]:
    """Return the values of an enum with what the document says of each, in the order of `enum`."""
    described = node.get("enumValues", {})
    return tuple(EnumValue(value, described.get(str(value), {})) for value in node.get("enum", ()))
