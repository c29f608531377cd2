"""The types of events that a server has declared, for models that look for them (MCPE 1.2)."""

from __future__ import annotations

__all__ = ("CATALOG_URI", "EventCatalog")

from collections.abc import Iterable, Iterator
from typing import Final

from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcpe.server.options import EventDeclaration
from kinwire.support.patterns.dotted import covers
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import EventFilter, MCPEvent
from kinwire_protocols.nearest import nearest
from kinwire_protocols.problems import Problem, shown

CATALOG_URI: Final = "mcpe://event-types"
"""The address of the resource that lists them."""

_SHOWN = 50  # types in the description of a tool; the resource has all of them


class EventCatalog:
    """The declarations of one server; without any, it may publish events of every type."""

    def __init__(self, declared: Iterable[EventDeclaration]) -> None:
        """Read the declarations.

        Raises:
            ValueError: a type is declared twice, or the schema of one cannot be read, or does not
                fit its example.
        """
        self._declared: dict[str, EventDeclaration] = {}
        self._schemas: dict[str, JsonSchema] = {}
        for one in declared:
            if one.type in self._declared:
                raise ValueError(f"event_types: {one.type!r} is declared twice. Remove one.")
            self._declared[one.type] = one
            if one.data_schema is not None:
                self._schemas[one.type] = _schema_of(one)

    def __len__(self) -> int:
        return len(self._declared)

    def problems(self, event: MCPEvent) -> Iterator[Problem]:
        """Return why an event is not one of those that were declared."""
        return self._problems(event) if self._declared else iter(())

    def _problems(self, event: MCPEvent) -> Iterator[Problem]:
        fitting = [one for one in self._declared if covers(one, event.type)]
        if not fitting:
            near = nearest(event.type, list(self._declared))
            expected = "a type that the server has declared"
            yield Problem(
                "/type", f"{expected}, such as {near}" if near else expected, shown(event.type)
            )
        for one in fitting:
            schema = self._schemas.get(one)
            if schema is not None:
                yield from schema.problems(event.data, "/data")

    def hints(self, filter: EventFilter) -> list[str]:
        """Return a sentence for each pattern of a filter that selects no declared type."""
        return [
            self._hint(pattern)
            for pattern in filter.event_types or ()
            if self._declared and not self._is_met(pattern)
        ]

    def description(self) -> str:
        """Return what models read of the types, in the description of `events_subscribe`."""
        if not self._declared:
            return ""
        lines = [f"- {one.type}: {one.description}" for one in self._declared.values()]
        more = len(lines) - _SHOWN
        if more > 0:
            lines = [*lines[:_SHOWN], f"- and {more} more: read the resource {CATALOG_URI}"]
        about = f"Their data and examples are in the resource {CATALOG_URI}."
        return "\n".join(["", "", f"Event types of this server. {about}", *lines])

    def to_json(self) -> JsonObject:
        """Return the content of the resource."""
        return {"eventTypes": [_shown_declaration(one) for one in self._declared.values()]}

    def _is_met(self, pattern: str) -> bool:
        return any(covers(pattern, one) or covers(one, pattern) for one in self._declared)

    def _hint(self, pattern: str) -> str:
        near = nearest(pattern, list(self._declared))
        hint = f" Did you mean {near}?" if near else ""
        return f"No event type that this server has declared fits {pattern!r:.60}.{hint}"


def _shown_declaration(one: EventDeclaration) -> JsonObject:
    found: JsonObject = {"type": one.type, "description": one.description}
    if one.data_schema is not None:
        found["dataSchema"] = one.data_schema
    if one.example is not None:
        found["example"] = one.example
    return found


def _schema_of(one: EventDeclaration) -> JsonSchema:
    try:
        schema = JsonSchema(one.data_schema or {})
    except ValueError as error:
        raise ValueError(f"event_types: the data_schema of {one.type!r}: {error}") from None
    found = [] if one.example is None else list(schema.problems(one.example, ""))
    if found:
        said = f"event_types: the example of {one.type!r} does not fit its data_schema"
        raise ValueError(f"{said}: {found[0]}")
    return schema
