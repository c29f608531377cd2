"""Trace ids on what the kernel sends (MGP 6.5)."""

from __future__ import annotations

__all__ = ("new_trace_id", "trace_of", "trace_requests", "traced", "traced_json")

from collections.abc import Iterator
from random import getrandbits
from typing import Any, TypeVar

from kinwire.mcp.extension import Next
from kinwire.mgp.rules.trace import trace_id_in, traceparent
from kinwire.rpc.codec import is_object
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.mcp.methods import PROTOCOL as MCP, TOOLS_CALL
from kinwire_protocols.mcp.models import RequestMeta
from kinwire_protocols.mgp.augments import EVERY_PARAMS_TRACE_ID
from kinwire_protocols.mgp.methods import PROTOCOL
from kinwire_protocols.peer import Method

P = TypeVar("P", bound=Message)


def new_trace_id() -> str:
    """Return a new trace id, a random UUID (version 4). It is not a secret."""
    digits = f"{getrandbits(120):030x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:]}"


def trace_of(params: Message) -> str | None:
    """Return the trace id that the program has put into params; None if it did not."""
    if not params.model_extra and getattr(params, "meta", None) is None:
        return None
    return trace_id_in({"params": to_wire(params)})


def traced(params: P, trace_id: str) -> P:
    """Return params with a trace id: in `trace_id`, and in `_meta` as `traceparent`.

    A `traceparent` that is there stays.
    """
    traced = EVERY_PARAMS_TRACE_ID.write(params, trace_id)
    if "meta" not in type(params).__pydantic_fields__:
        return traced
    meta: RequestMeta | None = getattr(params, "meta", None)
    members = {} if meta is None else to_wire(meta)
    if "traceparent" in members:
        return traced
    members["traceparent"] = traceparent(trace_id, _span())
    return traced.model_copy(update={"meta": from_wire(RequestMeta, members)})


def traced_json(params: JsonObject, trace_id: str) -> JsonObject:
    """Return params as JSON with a trace id, as `traced` does."""
    found = params.get("_meta")
    meta = dict(found) if is_object(found) else {}
    if "traceparent" not in meta:
        meta["traceparent"] = traceparent(trace_id, _span())
    return {**params, "trace_id": trace_id, "_meta": meta}


def trace_requests(session: Session) -> None:
    """Send each request to a server with a trace id; calls of tools get theirs from their guard."""
    for row in _traced_rows():
        session.intercept_outbound(_trace, row)


def _traced_rows() -> Iterator[Method[Any, Any]]:
    for table in (MCP, PROTOCOL):
        for row in table.methods.values():
            if row.kind == "request" and row.sender != "server" and row is not TOOLS_CALL:
                yield row


async def _trace(params: Any, method: Method[Any, Any], go_on: Next[Any, Any]) -> Any:
    """Send a request with a trace id (MGP 0.2.0 section 6.5)."""
    return await go_on(traced(params, trace_of(params) or new_trace_id()))


def _span() -> str:
    return f"{getrandbits(64) | 1:016x}"
