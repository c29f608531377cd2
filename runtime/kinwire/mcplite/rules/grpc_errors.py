"""Errors of MCP-lite as a status of gRPC with details, and back (sections 5.5 and A.5).

The facts in the details are texts: what is not text in the error is JSON there. Headers hold them,
so of many tools only the first ones are named.
"""

from __future__ import annotations

__all__ = (
    "DOMAIN",
    "TOO_MANY_CALLS",
    "UNAVAILABLE",
    "GrpcError",
    "StatedError",
    "grpc_error",
    "stated_error",
)

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from pydantic_core import from_json

from kinwire.mcplite.rules.unavailable import ServerUnavailableError
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import RpcError
from kinwire.support.json_values import text
from kinwire.transports.grpc.status import ErrorDetails, shortened
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcplite.descriptor import CODES
from kinwire_protocols.mcplite.errors import ToolNotFoundError

DOMAIN = "mcp-lite"
"""Whose words the reasons are."""
UNAVAILABLE: Final = "UNAVAILABLE"
"""The status of a `ServerUnavailableError`."""
TOO_MANY_CALLS: Final = "TOO_MANY_CALLS"
"""The reason of a call beyond `GrpcLimits.in_flight`."""

_TEXTS = ("requested_tool", "suggestion")
_NAMES = 1500  # bytes of the names of tools
_STATUSES = {-32600: "INVALID_ARGUMENT", -32602: "INVALID_ARGUMENT", -32601: "NOT_FOUND"}
_CODES = {"INVALID_ARGUMENT": -32602, "NOT_FOUND": -32601, "UNIMPLEMENTED": -32601}
_REASONS: dict[type[RpcError], str] = {
    InvalidParamsError: "INVALID_PARAMS",
    ToolNotFoundError: "TOOL_NOT_FOUND",
    InternalError: "INTERNAL_ERROR",
    ServerUnavailableError: "SERVER_UNAVAILABLE",
}


class GrpcError(NamedTuple):
    """How a call ends that has no result."""

    status: str
    """The name of the status code."""
    message: str
    details: ErrorDetails


def grpc_error(error: RpcError) -> GrpcError:
    """Return the status for `error`; what no header could hold is shortened or left out."""
    named = CODES.get((error.protocol or "", error.name or ""))
    if isinstance(error, ServerUnavailableError):
        named = UNAVAILABLE
    status = named or _STATUSES.get(error.code, "INTERNAL")
    facts = {"code": str(error.code), **_facts(error)}
    message = error.message
    if isinstance(error, ToolNotFoundError) and "requested_tool" in facts:
        message = f"{message}: {facts['requested_tool']}"
    reason = _REASONS.get(type(error), "OTHER")
    return GrpcError(status, shortened(message), ErrorDetails(reason, DOMAIN, facts))


class StatedError(NamedTuple):
    """What a status says, in the terms of JSON-RPC."""

    code: int
    message: str
    data: Any


def stated_error(status: str, message: str, details: ErrorDetails | None) -> StatedError:
    """Return the error that a status stands for; details of other domains are not read."""
    facts = details.metadata if details is not None and details.domain == DOMAIN else {}
    code = _code(facts) or _CODES.get(status, InternalError.default_code)
    data = _data(facts)
    if is_object(data):
        message = message.removesuffix(f": {data.get('requested_tool')}")
    return StatedError(code, message, data)


def _facts(error: RpcError) -> dict[str, str]:
    if not isinstance(error, ToolNotFoundError) or not is_object(error.data):
        return {} if error.data is None else {"data": text(error.data)}
    facts = {name: error.data[name] for name in _TEXTS if isinstance(error.data.get(name), str)}
    names = error.data.get("available_tools")
    if isinstance(names, list):
        facts["available_tools"] = _fitting(cast("list[object]", names))
    return facts


def _fitting(names: list[object]) -> str:
    """Return as many of the first names as details may have, as JSON."""
    room, fitting = _NAMES, 0
    for name in names:
        room -= len(text(name).encode("utf-8", "surrogatepass")) + 1
        if room < 0:
            break
        fitting += 1
    return text(names[:fitting])


def _code(facts: Mapping[str, str]) -> int | None:
    try:
        return int(facts.get("code", ""))
    except ValueError:
        return None


def _data(facts: Mapping[str, str]) -> Any:
    if "data" in facts:
        return _json(facts["data"])
    found: dict[str, Any] = {name: facts[name] for name in _TEXTS if name in facts}
    if "available_tools" in facts:
        found["available_tools"] = _json(facts["available_tools"])
    return found or None


def _json(value: str) -> Any:
    try:
        return from_json(value)
    except ValueError:
        return value
