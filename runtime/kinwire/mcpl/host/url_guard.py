"""Reads pictures, sounds and text from the web for injections, where the host allows it.

A server names a URL and the host fetches it, so the server could reach private addresses through
the host. `kinwire.transports.guarded_fetch` limits requests to public addresses (MCPL 10.3, 13.4).
"""

from __future__ import annotations

__all__ = ("UrlGuard",)

import base64
from collections.abc import Callable, Collection

from kinwire.support.arguments import (
    FLAG,
    SECONDS,
    TEXTS,
    ArgumentCheck,
    ValueKind,
    WrongValue,
    count_from,
    having,
)
from kinwire.transports.guarded_fetch.fetch import GuardedClient, Network, SystemNetwork
from kinwire.transports.guarded_fetch.rules import NotFetchedError, host_name
from kinwire.transports.http_client.address import ServerAddress
from kinwire_protocols.mcp.models import TextContent
from kinwire_protocols.mcpl.models import AudioBlock, Block, ImageBlock

_IMAGES = ("image/gif", "image/jpeg", "image/png", "image/webp")
_SOUNDS = ("audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/wav", "audio/webm")
_TEXTS = ("application/json", "text/csv", "text/markdown", "text/plain")


class _AllowKind(ValueKind):
    """Names of hosts, or a function."""

    def __init__(self) -> None:
        super().__init__("several strings or a function", '["cdn.example"]', callable)

    def wrong(self, place: str, value: object) -> WrongValue | None:
        if callable(value) and not isinstance(value, type):
            return None
        wrong = TEXTS.wrong(place, value)
        return wrong and wrong._replace(problem=wrong.problem.replace(TEXTS.words, self.words))


_URL_GUARD = ArgumentCheck(
    "UrlGuard",
    'UrlGuard(["cdn.example"])',
    {"allow": _AllowKind()},
    insecure=FLAG,
    size=count_from(1),
    timeout=SECONDS,
    network=having(("resolve", "connect"), "a network", "network").or_none,
)


class UrlGuard:
    """Fetches the content of a URL for an injection: `Hooks(fetch=UrlGuard(["cdn.example"]))`.

    `allow` names the hosts that may be fetched from: `*.example.com` for all below one and `*` for
    every host, or it is a function of the URL. In any case requests go only to the public internet,
    to the address that was checked, on the ports 80, 443, 8080 and 8443, and each redirect is
    checked again. `insecure` allows `http` without TLS. The content may have `size` bytes and take
    `timeout` seconds. `network` replaces the network of this machine.

    Source: MCPL 10.3, 13.4. The ports and the media types are ours.
    """

    def __init__(
        self,
        allow: Collection[str] | Callable[[str], bool],
        *,
        insecure: bool = False,
        size: int = 2 * 1024 * 1024,
        timeout: float = 4.0,
        network: Network | None = None,
    ) -> None:
        """Prepare to fetch.

        Raises:
            ValueError: `allow` has an entry that is not a public host, or a number is out of range.
            TypeError: `allow` is a single string.
            ImportError: the extra `http` is not installed.
        """
        _URL_GUARD.check(
            allow=allow, insecure=insecure, size=size, timeout=timeout, network=network
        )
        judge = _asking(allow) if callable(allow) else _listing(allow)
        self._client = GuardedClient(
            judge,
            insecure=insecure,
            size=size,
            timeout=timeout,
            network=network or SystemNetwork(),
        )

    async def __call__(self, url: str) -> Block:
        """Return the content of `url` as a block.

        Raises:
            NotFetchedError: it may not be fetched, or has no usable content.
        """
        found = await self._client.get(url, (*_IMAGES, *_SOUNDS, *_TEXTS))
        if found.media_type in _TEXTS:
            return TextContent(text=found.body.decode(errors="replace"))
        data = base64.b64encode(found.body).decode("ascii")
        if found.media_type in _IMAGES:
            return ImageBlock(data=data, mime_type=found.media_type)
        return AudioBlock(data=data, mime_type=found.media_type)


def _asking(allow: Callable[[str], bool]) -> Callable[[ServerAddress], bool]:
    return lambda address: allow(address.url)


def _listing(allow: Collection[str]) -> Callable[[ServerAddress], bool]:
    patterns = [_pattern(entry) for entry in allow]
    return lambda address: any(_matches(pattern, address.host) for pattern in patterns)


def _pattern(entry: str) -> str:
    if entry == "*":
        return entry
    below = entry.startswith("*.")
    try:
        host = host_name("x" + entry[1:] if below else entry)
    except NotFetchedError as error:
        raise ValueError(
            f'allow: expected "name", "*.name" or "*", got {entry!r:.60}: {error}. '
            "Leave scheme, port and path out."
        ) from None
    return "*" + host[1:] if below else host


def _matches(pattern: str, host: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return pattern in ("*", host)
