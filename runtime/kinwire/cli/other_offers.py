"""What a name that no tool has may be instead: a prompt, a resource, or a template of some."""

from __future__ import annotations

__all__ = ("Offer", "offer_called")

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from kinwire.cli.patience import patience_with
from kinwire.connection import Connection
from kinwire.errors import KinwireError
from kinwire_protocols.base import RpcError


class Offer(NamedTuple):
    """Something that a server has, and how it is asked for."""

    kind: str
    name: str
    words: list[str]
    """A method and its members, as `kinwire call` takes them."""


async def offer_called(server: Connection, name: str, words: Sequence[str]) -> Offer | None:
    """Return what is called `name`, with `words` as its arguments; None if there is no such thing.

    A server that does not list what it has is taken to have nothing.
    """
    try:
        async with patience_with("prompts/list"):
            async for offer in _offers(server, words):
                if offer.name == name:
                    return offer
    except (KinwireError, RpcError):
        pass
    return None


async def _offers(server: Connection, words: Sequence[str]) -> AsyncIterator[Offer]:
    if server.capabilities.prompts is not None:
        arguments = [f"arguments.{word}" for word in words]
        async for prompt in server.prompts():
            asked = ["prompts/get", f"name={prompt.name}", *arguments]
            yield Offer("a prompt", prompt.name, asked)
    if server.capabilities.resources is not None:
        async for resource in server.resources():
            yield Offer("a resource", resource.name, ["resources/read", f"uri={resource.uri}"])
        async for template in server.resource_templates():
            uri = _filled(template.uri_template, words)
            yield Offer("a resource", template.name, ["resources/read", f"uri={uri}"])


def _filled(template: str, words: Sequence[str]) -> str:
    for word in words:
        name, _, value = word.partition("=")
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template
