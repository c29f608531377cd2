"""A provider for servers with chat completions over HTTP, with the library `httpx2` (MCPL 11).

`rules/chat_completions.py` has the bodies. Each request has its own connection, which is closed
when the request is cancelled. There are no redirects, proxies or retries, so that the key goes to
one server only, and a request is paid for once.
"""

from __future__ import annotations

__all__ = ("ChatCompletions",)

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

import anyio

from kinwire.mcpl.errors import ProviderError
from kinwire.mcpl.rules.chat_completions import (
    StreamedAnswer,
    answer_of,
    failure_of,
    request_body,
)
from kinwire.mcpl.rules.inference import ModelAnswer, ModelRequest
from kinwire.support.arguments import FLAG, PLAIN_FUNCTION, SECRET, TEXT, ArgumentCheck
from kinwire.transports.http.sse import MEDIA_TYPE, SseDecoder
from kinwire.transports.http_client.address import ServerAddress, address_of
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.http_client.response import media_type
from kinwire.transports.tcp.streams import client_context
from kinwire_protocols.base import JsonObject

if TYPE_CHECKING:
    from httpx2 import Response

    from kinwire.mcpl.host.inference import OnDelta

_WAITS = {"connect": 10.0, "read": None, "write": None, "pool": None}  # seconds; hosts limit all
_MOST = 16 * 1024 * 1024  # bytes of an answer
_EVENT = 1024 * 1024
_EXAMPLE = "Write it as https://models.example.com/v1 or http://127.0.0.1:8000/v1."


_CHAT_COMPLETIONS = ArgumentCheck(
    "ChatCompletions",
    'ChatCompletions("https://models.example.com/v1")',
    {"base_url": TEXT},
    api_key=SECRET.or_none,
    insecure=FLAG,
    adapt=PLAIN_FUNCTION.or_none,
)


class ChatCompletions:
    """Runs models on a server that has chat completions: `ChatCompletions("https://.../v1")`.

    `base_url` is the part before `/chat/completions`; a query that it has is sent too. `api_key`
    is sent as a bearer token and never shown. Plain `http` is allowed only to this machine, or with
    `insecure` to a network that you trust. Servers differ in some fields of the body: `adapt`
    returns the body as your server expects it. Connecting may take 10 seconds, and an answer may
    have 16 MiB; `Inference` limits the time of a request.

    Source: MCPL 11; the request to the model is ours.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        insecure: bool = False,
        adapt: Callable[[JsonObject], JsonObject] | None = None,
    ) -> None:
        """Prepare requests; nothing is sent yet.

        Raises:
            ValueError: the URL is not an http or https URL, or the key cannot be sent.
            InsecureAddressError: others could read the key and the messages.
            ImportError: the extra `inference` is not installed.
        """
        _CHAT_COMPLETIONS.check(base_url=base_url, api_key=api_key, insecure=insecure, adapt=adapt)
        if find_spec("httpx2") is None:
            raise ImportError(
                "A provider over HTTP needs the library `httpx2`. Install kinwire[inference]."
            )
        self._address = _completions_of(base_url, insecure=insecure)
        self._headers = {"Accept": f"application/json, {MEDIA_TYPE}", "Accept-Encoding": "identity"}
        if api_key is not None:
            self._headers |= checked_headers({"Authorization": f"Bearer {api_key}"})
        self._adapt = adapt

    def __repr__(self) -> str:
        return f"<ChatCompletions {self._address.origin}>"

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """See `Provider.answer`."""
        body = request_body(request, stream=on_delta is not None)
        if self._adapt is not None:
            body = self._adapt(body)
        async with self._asked(body) as response:
            if response.status_code != 200:
                raise failure_of(response.status_code, await _read(response))
            if on_delta is not None and media_type(dict(response.headers)) == MEDIA_TYPE:
                return await _streamed(response, request.model, on_delta)
            answer = answer_of(await _read(response), request.model)
        if on_delta is not None and answer.content:  # a server that does not stream
            await on_delta(answer.content)
        return answer

    @asynccontextmanager
    async def _asked(self, body: JsonObject) -> AsyncGenerator[Response]:
        import httpx2

        request = httpx2.Request(
            "POST",
            self._address.url,
            headers=self._headers,
            json=body,
            extensions={"timeout": _WAITS},
        )
        try:
            # The library's own client would log the URL with its query.
            async with httpx2.AsyncHTTPTransport(
                verify=client_context(), trust_env=False
            ) as transport:
                response = await transport.handle_async_request(request)
                try:
                    yield response
                finally:
                    await response.aclose()
        except (httpx2.TransportError, OSError) as error:  # its text may contain the URL
            raise ProviderError("provider_failed", type(error).__name__) from None


async def _streamed(response: Response, model: str, on_delta: OnDelta) -> ModelAnswer:
    answer, events, size = StreamedAnswer(model), SseDecoder(_EVENT), 0
    async with _body(response) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            for event in events.feed(chunk):
                delta = answer.take(event.data)
                if delta:
                    await on_delta(delta)
            if answer.ended:
                break
            _must_be_bounded(size)
    return answer.whole()


async def _read(response: Response) -> bytes:
    found = bytearray()
    async with _body(response) as chunks:
        async for chunk in chunks:
            found += chunk
            _must_be_bounded(len(found))
    return bytes(found)


@asynccontextmanager
async def _body(response: Response) -> AsyncGenerator[AsyncIterator[bytes]]:
    """Yield the bytes of a body as they come.

    If the reader leaves early, a cancelled read ends the nested generators of the library; closing
    only the outermost one would leave the others to the garbage collector.
    """
    import httpx2

    chunks = response.aiter_raw()
    try:
        yield chunks
    finally:
        with anyio.CancelScope() as scope, suppress(httpx2.TransportError):
            scope.cancel()
            async for _ in chunks:
                pass


def _must_be_bounded(size: int) -> None:
    if size > _MOST:
        raise ProviderError("provider_failed", f"an answer of more than {_MOST} bytes")


def _completions_of(base_url: str, *, insecure: bool) -> ServerAddress:
    scheme, mark, _ = base_url.partition("://")
    if scheme.lower() not in ("http", "https") or not mark:
        got = f"{scheme!r:.20}" if mark else "none"
        raise ValueError(f"base_url: expected a URL with http or https, got {got}. {_EXAMPLE}")
    try:
        base = address_of(base_url, insecure=insecure)
    except ValueError:  # its hint is about servers of MCP
        expected = "a URL with a host, and without spaces and foreign letters"
        raise ValueError(f"base_url: expected {expected}, got another. {_EXAMPLE}") from None
    if base.authorization is not None:
        raise ValueError("base_url: expected a URL without a user. Give api_key.")
    path, mark, query = base.target.partition("?")
    return base._replace(target=f"{path.rstrip('/')}/chat/completions{mark}{query}")
