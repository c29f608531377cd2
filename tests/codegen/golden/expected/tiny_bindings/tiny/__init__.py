"""Tiny 2.1-draft. Generated from tiny.json by `kinwire generate`: do not edit.

Every construct of the document language once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiny_bindings.tiny import (
        client as client,
        errors as errors,
        methods as methods,
        models as models,
        server as server,
    )
    from tiny_bindings.tiny.client import Client as Client, Server as Server
    from tiny_bindings.tiny.errors import NoSuchBookError as NoSuchBookError
    from tiny_bindings.tiny.methods import PROTOCOL as PROTOCOL
    from tiny_bindings.tiny.models import (
        Author as Author,
        Bag as Bag,
        Book as Book,
        FindParams as FindParams,
        FindResult as FindResult,
        Item as Item,
        LentParams as LentParams,
        OpenState as OpenState,
        State as State,
        Tape as Tape,
    )
    from tiny_bindings.tiny.server import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
    )

_HOMES = {
    "PROTOCOL": "methods",
    "Client": "client",
    "Server": "client",
    "ClientHandlers": "server",
    "ClientOn": "server",
    "ServerHandlers": "server",
    "ServerOn": "server",
    "NoSuchBookError": "errors",
    "Author": "models",
    "Bag": "models",
    "Book": "models",
    "FindParams": "models",
    "FindResult": "models",
    "Item": "models",
    "LentParams": "models",
    "OpenState": "models",
    "State": "models",
    "Tape": "models",
}
_MODULES = ("client", "server", "errors", "methods", "models")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:  # a module is loaded when one of its names is first used
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
