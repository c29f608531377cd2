"""What `map.json` says: which type of ours stands for which official one, and where we differ.

`round_trip` takes a value through our types as a connection would.
"""

from __future__ import annotations

__all__ = ("ADDITIONS", "LENIENCIES", "MAP", "round_trip", "targets_of")

import json
from pathlib import Path
from typing import Any

from kinwire_protocols import jsonrpc, mcp
from kinwire_protocols.base import from_wire, to_wire
from tests.generated.messages import alone

_CONTENT = json.loads(Path(__file__).with_name("map.json").read_text(encoding="utf-8"))

MAP: dict[str, str] = _CONTENT["map"]
"""Official definition -> `protocol#Type`, `row:method`, `union` or `abstract`."""
LENIENCIES: dict[str, list[str]] = {
    one["name"]: one.get("at", []) for one in _CONTENT["leniencies"]
}
"""What we take though the official schema refuses it -> where; an empty list is everywhere."""
ADDITIONS: list[str] = [place for it in _CONTENT["additions"] for place in it["at"]]
"""Members of ours that the official schema does not name."""


def targets_of(name: str, schema: dict[str, Any]) -> list[str]:
    """Return the target of a definition, those of its branches for a union."""
    if MAP[name] != "union":
        return [MAP[name]]
    branches = schema["definitions"][name]["anyOf"]
    return [MAP[branch["$ref"].rpartition("/")[2]] for branch in branches]


def round_trip(target: str, value: Any) -> Any:
    """Return `value` as it goes out again after it came in as `target`.

    Raises:
        pydantic.ValidationError: it does not fit.
        LookupError: it does not name the method that it should.
    """
    if target.startswith("row:"):
        return _through_row(target.removeprefix("row:"), value)
    protocol, _, name = target.partition("#")
    return alone(protocol, name, value)


def _through_row(method: str, value: Any) -> Any:
    row = mcp.PROTOCOL.methods[method]
    # The official schema leaves the envelope's own members out.
    kind = jsonrpc.Notification if row.kind == "notification" else jsonrpc.Request
    frame = {"jsonrpc": "2.0"} if row.kind == "notification" else {"jsonrpc": "2.0", "id": 1}
    envelope: Any = from_wire(kind, {**frame, **value} if isinstance(value, dict) else value)
    if envelope.method != method:
        raise LookupError(f"{envelope.method!r} is not {method!r}")
    params = to_wire(row.decode_params(envelope.params))
    found = {key: member for key, member in to_wire(envelope).items() if key not in frame}
    return found | ({"params": params} if "params" in found else {})
