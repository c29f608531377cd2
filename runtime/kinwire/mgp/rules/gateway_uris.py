"""Addresses of resources at a gateway: `mgp://SERVER/ADDRESS`, where ADDRESS is the server's own.

They are made and read without a table, so they hold across restarts. Letters of the server that are
not in lower case are escaped: programs may change the case of that part of an address.
"""

from __future__ import annotations

__all__ = ("inner_uri", "outer_uri", "with_outer_uris")

from collections.abc import Callable
from typing import Any, Final, cast
from urllib.parse import unquote

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_SCHEME: Final = "mgp://"
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._~")

Change = Callable[[JsonObject], JsonObject]


def outer_uri(server_id: str, uri: str) -> str:
    """Return the address at the gateway of a resource, or of a template, of a server."""
    return f"{_SCHEME}{''.join(map(_quoted, server_id))}/{uri}"


def inner_uri(uri: str) -> tuple[str, str] | None:
    """Return the server and its own address of a resource; None if the gateway made no such one."""
    server, slash, inner = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME) or not slash:
        return None
    server_id = unquote(server, errors="replace")
    return (server_id, inner) if outer_uri(server_id, inner) == uri else None


def with_outer_uris(server_id: str, result: JsonObject) -> JsonObject:
    """Return a result of a server with the addresses at the gateway of its resources.

    These are the addresses in `contents` of `resources/read`, and in the blocks `resource` and
    `resource_link` of `content`, also inside of `messages`. All else is left as it came, also what
    has an unknown type or a wrong shape.
    """
    changed = dict(result)

    def outer(holder: JsonObject) -> JsonObject:
        uri = holder.get("uri")
        return {**holder, "uri": outer_uri(server_id, uri)} if isinstance(uri, str) else holder

    def block(content: JsonObject) -> JsonObject:
        kind, resource = content.get("type"), content.get("resource")
        if kind == "resource_link":
            return outer(content)
        if kind == "resource" and is_object(resource):
            return {**content, "resource": outer(resource)}
        return content

    def message(one: JsonObject) -> JsonObject:
        return {**one, "content": _each(one["content"], block)} if "content" in one else one

    for name, change in (("contents", outer), ("content", block), ("messages", message)):
        if name in changed:
            changed[name] = _each(changed[name], change)
    return changed


def _each(value: Any, change: Change) -> Any:
    """Return a value with each object in it, or itself if it is one, changed."""
    if isinstance(value, list):
        entries = cast("list[Any]", value)  # type: ignore[redundant-cast]
        return [change(entry) if is_object(entry) else entry for entry in entries]
    return change(value) if is_object(value) else value


def _quoted(character: str) -> str:
    if character in _PLAIN:
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode())
