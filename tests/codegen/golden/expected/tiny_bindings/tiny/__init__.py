"""Tiny 2.1-draft. Generated from tiny.json by `kinwire generate`: do not edit.

Every construct of the document language once.
"""

from __future__ import annotations

from importlib import import_module
from sys import modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiny_bindings.tiny import (
        augments as augments,
        client as client,
        errors as errors,
        methods as methods,
        models as models,
        server as server,
        tables as tables,
        tools as tools,
    )
    from tiny_bindings.tiny.client import Client as Client, Server as Server
    from tiny_bindings.tiny.errors import (
        DustyError as DustyError,
        NoSuchBookError as NoSuchBookError,
    )
    from tiny_bindings.tiny.methods import PROTOCOL as PROTOCOL
    from tiny_bindings.tiny.models import (
        Author as Author,
        Bag as Bag,
        Book as Book,
        DustParams as DustParams,
        DustResult as DustResult,
        FindParams as FindParams,
        FindResult as FindResult,
        Item as Item,
        Lamp as Lamp,
        LentParams as LentParams,
        Note as Note,
        Offer as Offer,
        OpenState as OpenState,
        Place as Place,
        Shelf as Shelf,
        State as State,
        Tape as Tape,
    )
    from tiny_bindings.tiny.server import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
        ServerTools as ServerTools,
    )

_HOMES = {
    "PROTOCOL": "methods",
    "Client": "client",
    "Server": "client",
    "ClientHandlers": "server",
    "ClientOn": "server",
    "ServerHandlers": "server",
    "ServerOn": "server",
    "ServerTools": "server",
    "NoSuchBookError": "errors",
    "DustyError": "errors",
    "Author": "models",
    "Bag": "models",
    "Book": "models",
    "DustParams": "models",
    "DustResult": "models",
    "FindParams": "models",
    "FindResult": "models",
    "Item": "models",
    "Lamp": "models",
    "LentParams": "models",
    "Note": "models",
    "Offer": "models",
    "OpenState": "models",
    "Place": "models",
    "Shelf": "models",
    "State": "models",
    "Tape": "models",
}
_MODULES = ("augments", "client", "errors", "methods", "models", "server", "tables", "tools")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:  # a module is loaded when one of its names is first used
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}", name=name, obj=modules[__name__]
            )
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
