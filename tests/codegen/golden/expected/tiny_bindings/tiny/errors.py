# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""Errors of Tiny. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing_extensions import deprecated

from tiny_bindings.base import RpcError


class NoSuchBookError(RpcError):
    """The shelf does not hold it."""

    protocol = "tiny"
    name = "NoSuchBook"
    default_code = 8
    default_message = "No such book"


class DustyError(RpcError):
    """Nobody can read here."""

    protocol = "tiny"
    name = "Dusty"
    default_code = 9
    default_message = "Too dusty"


@deprecated("Deprecated. Use `NoSuchBook`.", category=None)
class WornError(RpcError):
    """The book cannot be lent any more. Deprecated. Use `NoSuchBook`."""

    protocol = "tiny"
    name = "Worn"
    default_code = 4004
    default_message = "The book is worn"
