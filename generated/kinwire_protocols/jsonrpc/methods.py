"""The method table of JSON-RPC. Generated from jsonrpc.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import Final

from kinwire_protocols.jsonrpc import errors
from kinwire_protocols.peer import ProtocolTable

PROTOCOL: Final = ProtocolTable(
    name="jsonrpc",
    title="JSON-RPC",
    version="2.0",
    capability=None,
    methods={},
    errors={
        "ParseError": errors.ParseError,
        "InvalidRequest": errors.InvalidRequestError,
        "MethodNotFound": errors.MethodNotFoundError,
        "InvalidParams": errors.InvalidParamsError,
        "InternalError": errors.InternalError,
    },
)
"""The protocol as a table."""
