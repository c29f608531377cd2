"""Tiny Base 1. Generated from tiny-base.json by `kinwire generate`: do not edit.

What the tiny protocol builds on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiny_bindings import lazy

if TYPE_CHECKING:
    from tiny_bindings.tinybase import (
        errors as errors,
        handlers as handlers,
        methods as methods,
        models as models,
        stubs as stubs,
    )
    from tiny_bindings.tinybase.errors import LockedError as LockedError
    from tiny_bindings.tinybase.handlers import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
    )
    from tiny_bindings.tinybase.methods import PROTOCOL as PROTOCOL
    from tiny_bindings.tinybase.models import (
        CallParams as CallParams,
        CallResult as CallResult,
        Named as Named,
        OpenParams as OpenParams,
        OpenResult as OpenResult,
    )
    from tiny_bindings.tinybase.stubs import ClientStub as ClientStub, ServerStub as ServerStub

_HOMES = {
    "PROTOCOL": "methods",
    "ClientHandlers": "handlers",
    "ClientOn": "handlers",
    "ClientStub": "stubs",
    "ServerHandlers": "handlers",
    "ServerOn": "handlers",
    "ServerStub": "stubs",
    "LockedError": "errors",
    "CallParams": "models",
    "CallResult": "models",
    "Named": "models",
    "OpenParams": "models",
    "OpenResult": "models",
}
_MODULES = ("errors", "handlers", "methods", "models", "stubs")

if not TYPE_CHECKING:
    # A module is loaded when one of its names is first used.
    __getattr__ = lazy.lazy_names(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
