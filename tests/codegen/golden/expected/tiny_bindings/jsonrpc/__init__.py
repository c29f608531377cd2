"""JSON-RPC 2.0. Generated from jsonrpc.json by `kinwire generate`: do not edit.

The envelope of every message: requests with an id, their responses, and notifications, which nobody answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiny_bindings import lazy

if TYPE_CHECKING:
    from tiny_bindings.jsonrpc import errors as errors, methods as methods, models as models
    from tiny_bindings.jsonrpc.errors import (
        InternalError as InternalError,
        InvalidParamsError as InvalidParamsError,
        InvalidRequestError as InvalidRequestError,
        MethodNotFoundError as MethodNotFoundError,
        ParseError as ParseError,
    )
    from tiny_bindings.jsonrpc.methods import PROTOCOL as PROTOCOL
    from tiny_bindings.jsonrpc.models import (
        Envelope as Envelope,
        ErrorObject as ErrorObject,
        ErrorResponse as ErrorResponse,
        Notification as Notification,
        Request as Request,
        RequestId as RequestId,
        ResultResponse as ResultResponse,
    )

_HOMES = {
    "PROTOCOL": "methods",
    "ParseError": "errors",
    "InvalidRequestError": "errors",
    "MethodNotFoundError": "errors",
    "InvalidParamsError": "errors",
    "InternalError": "errors",
    "Envelope": "models",
    "ErrorObject": "models",
    "ErrorResponse": "models",
    "Notification": "models",
    "Request": "models",
    "RequestId": "models",
    "ResultResponse": "models",
}
_MODULES = ("errors", "methods", "models")

if not TYPE_CHECKING:
    # A module is loaded when one of its names is first used.
    __getattr__ = lazy.lazy_names(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
