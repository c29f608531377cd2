"""Errors of JSON-RPC. Generated from jsonrpc.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from tiny_bindings.base import RpcError


class ParseError(RpcError):
    """The frame is not JSON."""

    protocol = "jsonrpc"
    name = "ParseError"
    default_code = -32700
    default_message = "Parse error"


class InvalidRequestError(RpcError):
    """The frame is JSON, yet no JSON-RPC message, or it comes at a moment when it is not allowed."""

    protocol = "jsonrpc"
    name = "InvalidRequest"
    default_code = -32600
    default_message = "Invalid Request"


class MethodNotFoundError(RpcError):
    """The receiver does not serve that method, or the capability for it was not negotiated."""

    protocol = "jsonrpc"
    name = "MethodNotFound"
    default_code = -32601
    default_message = "Method not found"


class InvalidParamsError(RpcError):
    """The params do not fit the method's type, or name something that the receiver does not have."""

    protocol = "jsonrpc"
    name = "InvalidParams"
    default_code = -32602
    default_message = "Invalid params"


class InternalError(RpcError):
    """The receiver failed while it worked on the request; the request itself is not to blame."""

    protocol = "jsonrpc"
    name = "InternalError"
    default_code = -32603
    default_message = "Internal error"
