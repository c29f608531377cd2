"""Errors of the protocols, to and from the `error` member of a response (JSON-RPC 2.0, 5.1).

One code means different things in different protocols. So `data` names protocol and error on
the way out, and a code alone decides only where the method's row leaves no choice.
"""

from __future__ import annotations

__all__ = ("ErrorTable", "error_from_json", "error_table", "error_to_json", "internal_error")

import logging
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from kinwire.errors import RpcError
from kinwire.jsonrpc import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.jsonrpc.methods import PROTOCOL as JSONRPC
from kinwire_protocols.peer import Method, ProtocolTable

logger = logging.getLogger("kinwire.session")

ErrorTable = Mapping[tuple[str, str], type[RpcError]]
"""Error classes by protocol and name."""

_RESERVED = {kind.default_code: kind for kind in JSONRPC.errors.values()}


def error_table(protocols: Iterable[ProtocolTable]) -> ErrorTable:
    """Return every error of `protocols`, and those of JSON-RPC itself."""
    return {
        (table.name, name): kind
        for table in (JSONRPC, *protocols)
        for name, kind in table.errors.items()
    }


def error_to_json(error: RpcError) -> JsonObject:
    """Return the `error` member that stands for `error`."""
    body: JsonObject = {"code": error.code, "message": error.message}
    data = error.data
    if error.protocol is not None and (data is None or is_object(data)):
        data = {**(data or {}), "protocol": error.protocol, "name": error.name}
    if data is not None:
        body["data"] = data
    return body


def internal_error(where: str, fault: BaseException) -> RpcError:
    """Log a fault of this side and return what the peer may know of it: a number to ask about."""
    correlation = secrets.token_hex(8)
    logger.error("%s failed (correlation id %s)", where, correlation, exc_info=fault)
    return InternalError(data={"correlationId": correlation})


def error_from_json(
    body: JsonObject, method: Method[Any, Any] | None, known: ErrorTable
) -> RpcError:
    """Return `body`, a well-formed `error` member, as the error that it stands for.

    `method` is the row of the call, None for a raw one. An error that two of the row's errors
    could be stays a plain `RpcError`, with a note that lists them.
    """
    code, message, data = body["code"], body["message"], body.get("data")
    declared = () if method is None else method.errors
    kind = _named(data, declared, known)
    candidates = [error for error in declared if error.default_code == code]
    if kind is None and len(candidates) == 1:
        kind = candidates[0]
    if kind is None and not candidates:
        kind = _RESERVED.get(code)
    if kind is not None:
        return kind(message, data=data, code=code)
    error = RpcError(message, data=data, code=code)
    if candidates:
        names = ", ".join(f"{kind.protocol} {kind.name}" for kind in candidates)
        error.add_note(f"Code {code} could be any of: {names}.")
    return error


def _named(
    data: object, declared: tuple[type[RpcError], ...], known: ErrorTable
) -> type[RpcError] | None:
    if not is_object(data):
        return None
    protocol, name = data.get("protocol"), data.get("name")
    for kind in declared:
        if kind.protocol == protocol and kind.name == name:
            return kind
    return known.get((protocol, name)) if type(protocol) is str and type(name) is str else None
