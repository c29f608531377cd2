"""Errors of Tiny Base. Generated from tiny-base.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from tiny_bindings.base import RpcError


class LockedError(RpcError):
    """Nobody may open it now."""

    protocol = "tiny-base"
    name = "Locked"
    default_code = 7
    default_message = "The shelf is locked"
