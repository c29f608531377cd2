"""What a name that no tool has may be instead: a prompt, a resource, or a template of some.

A resource is named by its URI too.
"""

from __future__ import annotations

__all__ = ("OtherOffer", "offer_called")

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

from kinwire.mcp.connection import Connection
from kinwire.mcp.rules.uri_template import UriTemplate
from kinwire.rpc.errors import ConnectionClosedError, KinwireError
from kinwire_cli.running import patience_with
from kinwire_protocols.base import RpcError
from kinwire_protocols.mcp.methods import PROMPTS_LIST, RESOURCES_LIST, RESOURCES_TEMPLATES_LIST


class OtherOffer(NamedTuple):
    """Something that a server has, and how it is asked for."""

    kind: str
    name: str
    words: list[str]
    """A method and its members, as `kinwire call` takes them."""


async def offer_called(server: Connection, name: str, words: Sequence[str]) -> OtherOffer | None:
    """Return what is called `name`, with `words` as its arguments; None if there is no such thing.

    A server that does not list what it has is taken to have nothing.

    Raises:
        ConnectionClosedError: the server has gone.
    """
    for method, offers in (
        (PROMPTS_LIST, _prompts),
        (RESOURCES_LIST, _resources),
        (RESOURCES_TEMPLATES_LIST, partial(_templates, name)),
    ):
        if server.session.denial_reason(method) is not None:
            continue
        try:
            async with patience_with(method.name):
                async for offer in offers(server, words):
                    if offer.name == name:
                        return offer
        except ConnectionClosedError:
            raise
        except (KinwireError, RpcError):
            continue
    return None


async def _prompts(server: Connection, words: Sequence[str]) -> AsyncIterator[OtherOffer]:
    arguments = [f"arguments.{word}" for word in words]
    async for prompt in server.prompts():
        asked = ["prompts/get", f"name={prompt.name}", *arguments]
        yield OtherOffer("a prompt", prompt.name, asked)


async def _resources(server: Connection, words: Sequence[str]) -> AsyncIterator[OtherOffer]:
    async for resource in server.resources():
        asked = ["resources/read", f"uri={resource.uri}"]
        yield OtherOffer("a resource", resource.name, asked)
        yield OtherOffer("a resource", resource.uri, asked)


async def _templates(
    called: str, server: Connection, words: Sequence[str]
) -> AsyncIterator[OtherOffer]:
    async for template in server.resource_templates():
        uri = _filled(template.uri_template, words)
        yield OtherOffer("a resource", template.name, ["resources/read", f"uri={uri}"])
        if ":" in called and _leads_to(called, template.uri_template):
            yield OtherOffer("a resource", called, ["resources/read", f"uri={called}"])


def _leads_to(uri: str, template: str) -> bool:
    try:
        return UriTemplate(template).match(uri) is not None
    except ValueError:  # the server may match what cannot be matched here
        return False


def _filled(template: str, words: Sequence[str]) -> str:
    for word in words:
        name, _, value = word.partition("=")
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template
