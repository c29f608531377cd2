"""Declare the errors of JSON-RPC that the support modules raise; a package has generated ones."""

from __future__ import annotations

__all__ = ("InvalidParamsError", "MethodNotFoundError")

from kinwire_codegen.support.base import RpcError


class InvalidParamsError(RpcError):
    """The params do not fit the method's type."""

    protocol = "jsonrpc"
    name = "InvalidParams"
    default_code = -32602
    default_message = "Invalid params"


class MethodNotFoundError(RpcError):
    """The receiver does not serve that method."""

    protocol = "jsonrpc"
    name = "MethodNotFound"
    default_code = -32601
    default_message = "Method not found"
