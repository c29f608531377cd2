# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""Tiny 2.1-draft. Generated from tiny.json by `kinwire generate`: do not edit.

Every construct of the document language once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiny_bindings import lazy

if TYPE_CHECKING:
    from tiny_bindings.tiny import (
        augments as augments,
        descriptor as descriptor,
        errors as errors,
        handlers as handlers,
        methods as methods,
        models as models,
        stubs as stubs,
        tables as tables,
        tools as tools,
    )
    from tiny_bindings.tiny.errors import (
        DustyError as DustyError,
        NoSuchBookError as NoSuchBookError,
        WornError as WornError,
    )
    from tiny_bindings.tiny.handlers import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
        ServerTools as ServerTools,
    )
    from tiny_bindings.tiny.methods import PROTOCOL as PROTOCOL
    from tiny_bindings.tiny.models import (
        Author as Author,
        Bag as Bag,
        Binding as Binding,
        BindingValues as BindingValues,
        Book as Book,
        Count as Count,
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
        Rates as Rates,
        Rating as Rating,
        Shelf as Shelf,
        Stack as Stack,
        State as State,
        Tape as Tape,
    )
    from tiny_bindings.tiny.stubs import ClientStub as ClientStub, ServerStub as ServerStub

_HOMES = {
    "PROTOCOL": "methods",
    "ClientHandlers": "handlers",
    "ClientOn": "handlers",
    "ClientStub": "stubs",
    "ServerHandlers": "handlers",
    "ServerOn": "handlers",
    "ServerStub": "stubs",
    "ServerTools": "handlers",
    "NoSuchBookError": "errors",
    "DustyError": "errors",
    "WornError": "errors",
    "Author": "models",
    "Bag": "models",
    "Binding": "models",
    "BindingValues": "models",
    "Book": "models",
    "Count": "models",
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
    "Rates": "models",
    "Rating": "models",
    "Shelf": "models",
    "Stack": "models",
    "State": "models",
    "Tape": "models",
}
_MODULES = (
    "augments",
    "descriptor",
    "errors",
    "handlers",
    "methods",
    "models",
    "stubs",
    "tables",
    "tools",
)

if not TYPE_CHECKING:
    # A module is loaded when one of its names is first used.
    __getattr__ = lazy.lazy_names(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
