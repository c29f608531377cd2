"""Errors of the protocols, from the `error` member of a response (JSON-RPC 2.0, 5.1).

One code means different things in different protocols. So `data` names protocol and error on
the way out, and a code alone decides only where the method's row leaves no choice.
"""

from __future__ import annotations

__all__ = ("ErrorTable", "error_from_json", "internal_error")

import logging
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import CapabilityNotNegotiatedError, ConnectionClosedError, RpcError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.jsonrpc.methods import PROTOCOL as JSONRPC
from kinwire_protocols.peer import Method, ProtocolTable

logger = logging.getLogger("kinwire.session")


class ErrorTable:
    """The errors that a session recognises in addition to those of a method's own row."""

    def __init__(self, protocols: Iterable[ProtocolTable]) -> None:
        self._tables = (JSONRPC, *protocols)
        self._added: dict[str | None, list[type[RpcError]]] = {}

    def add(self, method: str | None, errors: Iterable[type[RpcError]]) -> None:
        """Recognise `errors` in answers to `method`, or to every method if it is None."""
        self._added.setdefault(method, []).extend(errors)

    def named(self, protocol: object, name: object) -> type[RpcError] | None:
        """Return the error class of that protocol and name, None if there is no such class."""
        if type(protocol) is not str or type(name) is not str:
            return None
        # The last one counts. Most sessions never ask, so no index is made for one.
        tables = (table for table in reversed(self._tables) if table.name == protocol)
        return next((table.errors[name] for table in tables if name in table.errors), None)

    def added(self, method: str) -> Sequence[type[RpcError]]:
        """Return the errors that extensions add to a method."""
        return (*self._added.get(method, ()), *self._added.get(None, ()))


_RESERVED = {kind.default_code: kind for kind in JSONRPC.errors.values()}


def internal_error(where: str, fault: BaseException, side: str = "server") -> RpcError:
    """Log a fault of this side and return the error for the peer.

    It has a number by which the log of this `side` has the fault, and no text of it.
    """
    correlation = secrets.token_hex(8)
    data = {"correlationId": correlation}
    log = f"the log of the {side} (on stderr by default)"
    reason = f"The reason is in {log}, with correlation id {correlation}."
    if isinstance(fault, KeyboardInterrupt):  # the user's own, who sees what has ended
        logger.info("%s was interrupted (correlation id %s)", where, correlation)
    elif isinstance(fault, ConnectionClosedError):  # nobody's mistake
        logger.warning("%s failed (correlation id %s): %s", where, correlation, fault)
    else:
        logger.error("%s failed (correlation id %s)", where, correlation, exc_info=fault)
    if isinstance(fault, CapabilityNotNegotiatedError) and fault.is_of_client:
        # The client learns what it did not declare or offer; other gates do not concern the peer.
        needed = f"{fault.method}: needs {fault.gate}, but {fault.reason}."
        return InternalError(f"{needed} {reason}", data=data)
    return InternalError(f"Internal error. {reason}", data=data)


def error_from_json(
    body: JsonObject, method: Method[Any, Any] | None, known: ErrorTable
) -> RpcError:
    """Return `body`, a well-formed `error` member, as the error that it stands for.

    `method` is the row of the call, None for a raw one. The name in the data decides, then the code
    among the row's errors, then among those that extensions add. An error that several of these
    could be stays a plain `RpcError`, with a note that lists them all.
    """
    code, message, data = body["code"], body["message"], body.get("data")
    declared = () if method is None else method.errors
    added = () if method is None else known.added(method.name)
    kind = _named(data, (*declared, *added), known)
    candidates: list[type[RpcError]] = []
    if kind is None:
        of_row, of_extensions = _claiming(code, declared), _claiming(code, added)
        kind = _only(of_row or of_extensions)
        candidates = [*of_row, *of_extensions]
    if kind is None and not candidates:
        kind = _RESERVED.get(code)
    if kind is not None:
        return kind(message, data=data, code=code)
    error = RpcError(message, data=data, code=code)
    if candidates:
        names = ", ".join(f"{kind.protocol} {kind.name}" for kind in candidates)
        error.add_note(f"Code {code} could be any of: {names}.")
    return error


def _claiming(code: int, kinds: Iterable[type[RpcError]]) -> list[type[RpcError]]:
    return [kind for kind in dict.fromkeys(kinds) if kind.default_code == code]


def _only(kinds: Sequence[type[RpcError]]) -> type[RpcError] | None:
    return kinds[0] if len(kinds) == 1 else None


def _named(
    data: object, declared: Iterable[type[RpcError]], known: ErrorTable
) -> type[RpcError] | None:
    if not is_object(data):
        return None
    protocol, name = data.get("protocol"), data.get("name")
    for kind in declared:
        if kind.protocol == protocol and kind.name == name:
            return kind
    return known.named(protocol, name)
