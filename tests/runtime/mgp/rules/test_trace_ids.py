"""Trace ids are read in every place in which peers put them."""

from __future__ import annotations

from typing import Any

from kinwire.mgp.kernel.tracing import new_trace_id, trace_of, traced
from kinwire.mgp.rules.trace import trace_id_in, traceparent
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcp.models import CallToolRequestParams
from kinwire_protocols.mgp.models import AccessQueryParams
from tests.each import each

ID = "550e8400-e29b-41d4-a716-446655440000"
PARENT = "00-550e8400e29b41d4a716446655440000-00f067aa0ba902b7-01"


@each(
    ("message", "found"),
    [
        ({"params": {"trace_id": ID}}, ID),
        ({"params": {"_mgp": {"trace_id": ID}}}, ID),
        ({"trace_id": ID, "params": {}}, ID),
        ({"trace_id": ID}, ID),
        ({"params": {"_meta": {"trace_id": ID}}}, ID),
        ({"params": {"_meta": {"traceparent": PARENT}}}, ID),
        ({"params": {"trace_id": "first", "_mgp": {"trace_id": "x"}}, "trace_id": "y"}, "first"),
        ({"params": {"trace_id": 5, "_mgp": {"trace_id": ID}}}, ID),
        ({"params": {"trace_id": "", "_meta": {"traceparent": PARENT}}}, ID),
        ({"params": {"trace_id": "a\nb"}}, None),
        ({"params": {"trace_id": "x" * 129}}, None),
        ({"params": {"_meta": {"traceparent": "00-" + "0" * 32 + PARENT[35:]}}}, None),
        ({"params": {"_meta": {"traceparent": ["00"]}}}, None),
        ({"params": [ID]}, None),
        ({}, None),
    ],
)
def test_a_trace_id_is_found(message: dict[str, Any], found: str | None) -> None:
    assert trace_id_in(message) == found


def test_any_trace_id_has_a_traceparent() -> None:
    assert traceparent(ID, "00f067aa0ba902b7") == PARENT
    own = traceparent("order 66", "00f067aa0ba902b7")
    assert own == traceparent("order 66", "00f067aa0ba902b7") != PARENT
    assert trace_id_in({"params": {"_meta": {"traceparent": own}}}) is not None
    assert traceparent("\ud800", "00f067aa0ba902b7")


def test_params_get_both_forms_and_keep_the_rest() -> None:
    came = {"name": "add", "arguments": {"a": 1}, "_meta": {"progressToken": 7, "x": 1}, "more": 2}
    params = from_wire(CallToolRequestParams, came)
    assert trace_of(params) is None
    sent = to_wire(traced(params, ID))
    parent = sent["_meta"].pop("traceparent")
    assert parent.startswith("00-550e8400e29b41d4a716446655440000-")
    assert sent == {**came, "trace_id": ID}
    assert trace_of(traced(params, ID)) == ID
    assert to_wire(params) == came


def test_a_traceparent_of_the_program_stays() -> None:
    params = from_wire(CallToolRequestParams, {"name": "add", "_meta": {"traceparent": PARENT}})
    assert trace_of(params) == ID
    assert to_wire(traced(params, ID))["_meta"] == {"traceparent": PARENT}


def test_params_without_meta_get_a_trace_id() -> None:
    params = from_wire(AccessQueryParams, {"agent_id": "a", "server_id": "s", "tool_name": "t"})
    assert to_wire(traced(params, ID))["trace_id"] == ID


def test_new_trace_ids_are_different() -> None:
    assert len({new_trace_id() for _ in range(100)}) == 100
