"""Messages of Protocol Buffers as the JSON that a document's gRPC mapping says they stand for."""

from __future__ import annotations

__all__ = ("as_json", "declared_in", "fits")

import re
from datetime import UTC, datetime
from typing import Any

from tests.spec.outlined import ANYTHING

DECLARATION = re.compile(r"(message|enum) (\w+) \{(.*?)\}", re.DOTALL)
FIELD = re.compile(r"(repeated )?([\w.]+) (\w+) = (\d+);")
VALUE = re.compile(r"(\w+) = (\d+);")
NO_MORE = {ANYTHING: None}


def declared_in(text: str) -> dict[str, dict[str, Any]]:
    """Return the fields of the messages and the values of the enums that a .proto text declares."""
    found: dict[str, dict[str, Any]] = {}
    for kind, name, body in DECLARATION.findall(text):
        if kind == "enum":
            found[name] = {value: int(number) for value, number in VALUE.findall(body)}
        else:
            found[name] = {
                field: {"number": int(number), "type": of} | ({"repeated": True} if many else {})
                for many, of, field, number in FIELD.findall(body)
            }
    return found


def as_json(grpc: dict[str, Any], name: str, message: Any) -> Any:
    """Return the JSON that a message stands for; what it leaves out stays left out.

    Raises:
        KeyError: it has a field that the mapping does not know.
    """
    if message == NO_MORE:
        return message
    found: dict[str, Any] = {}
    for field, value in message.items():
        row = grpc["messages"][name]["fields"][field]
        plain = _value(grpc, row, value)
        # The result of a call stands in a member of its own, so that `meta` can be typed.
        if (name, field) == ("ToolResponse", "result"):
            found |= plain
        else:
            found[row.get("member", field)] = plain
    return found


def _value(grpc: dict[str, Any], row: dict[str, Any], value: Any) -> Any:
    kind = row["type"]
    if row.get("repeated"):
        return [_value(grpc, row | {"repeated": False}, one) for one in value]
    if kind in grpc["messages"]:
        return as_json(grpc, kind, value)
    if kind in grpc["enums"]:
        return grpc["enums"][kind]["values"][value]["value"]
    if kind.endswith(".Struct"):
        return _struct(value)
    if kind == "int64" and row.get("summary", "").startswith("Milliseconds since"):
        return datetime.fromtimestamp(value / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return value


def _struct(value: Any) -> Any:
    fields = value.get("fields", value)
    return {name: _plain(member) for name, member in fields.items()}


def _plain(value: Any) -> Any:
    kinds = ("string_value", "number_value")
    return next((value[kind] for kind in kinds if value and kind in value), value)


def fits(written: Any, value: Any) -> bool:
    """Return whether `value` is what was written down, with what was left out filled in."""
    if isinstance(written, dict) and ANYTHING in written:
        named = {name: member for name, member in written.items() if name != ANYTHING}
        return bool(value) and all(fits(member, value.get(name)) for name, member in named.items())
    if isinstance(written, dict) and isinstance(value, dict):
        same = written.keys() == value.keys()
        return same and all(fits(member, value[name]) for name, member in written.items())
    if isinstance(written, list) and isinstance(value, list):
        return len(written) == len(value) and all(map(fits, written, value))
    if isinstance(written, str) and written.endswith("...") and isinstance(value, str):
        return value.startswith(written.removesuffix("..."))
    return type(written) is type(value) and bool(written == value)
