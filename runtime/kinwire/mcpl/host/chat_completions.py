"""A provider for servers with chat completions over HTTP (MCPL 11).

`rules/chat_completions.py` has the bodies. Each request has its own connection, which is closed
when the request is cancelled. There are no redirects and no retries, so that the key goes to one
server only, and a request is paid for once.
"""

from __future__ import annotations

__all__ = ("ChatCompletions",)

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

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
from kinwire.transports.http_client.address import ServerAddress, address_of, no_connection
from kinwire.transports.http_client.client import HttpClient, HttpOptions
from kinwire.transports.http_client.content_coding import ContentCodingError
from kinwire.transports.http_client.fields import RequestHead, checked_headers
from kinwire.transports.http_client.response import (
    MalformedResponseError,
    media_type,
    need_parser,
)
from kinwire.transports.http_client.streamed import StreamedResponse
from kinwire_protocols.base import JsonObject

if TYPE_CHECKING:
    from kinwire.mcpl.host.inference import OnDelta

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
    trust_env=FLAG,
)


class ChatCompletions:
    """Runs models on a server that has chat completions: `ChatCompletions("https://.../v1")`.

    `base_url` is the part before `/chat/completions`; a query that it has is sent too. `api_key`
    is sent as a bearer token and never shown. Plain `http` is allowed only to this machine, or with
    `insecure` to a network that you trust. Servers differ in some fields of the body: `adapt`
    returns the body as your server expects it. With `trust_env=False` the proxies that HTTPS_PROXY,
    HTTP_PROXY, ALL_PROXY and NO_PROXY name do not count. Connecting may take 10 seconds, and an
    answer may have 16 MiB; `Inference` limits the time of a request.

    Source: MCPL 11; the request to the model is ours.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        insecure: bool = False,
        adapt: Callable[[JsonObject], JsonObject] | None = None,
        trust_env: bool = True,
    ) -> None:
        """Prepare requests; nothing is sent yet.

        Raises:
            ValueError: the URL is not an http or https URL, or the key cannot be sent.
            InsecureAddressError: others could read the key and the messages.
            ImportError: the extra `http` is not installed.
        """
        _CHAT_COMPLETIONS.check(
            base_url=base_url, api_key=api_key, insecure=insecure, adapt=adapt, trust_env=trust_env
        )
        need_parser()
        self._address = _completions_of(base_url, insecure=insecure)
        fields = [
            ("Content-Type", "application/json"),
            ("Accept", f"application/json, {MEDIA_TYPE}"),
        ]
        if api_key is not None:
            fields += checked_headers({"Authorization": f"Bearer {api_key}"})
        self._head = RequestHead("POST", self._address, fields)
        self._adapt = adapt
        self._options = HttpOptions(trust_env=trust_env, redirects=0)

    def __repr__(self) -> str:
        return f"<ChatCompletions {self._address.origin}>"

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """See `Provider.answer`."""
        body = request_body(request, stream=on_delta is not None)
        if self._adapt is not None:
            body = self._adapt(body)
        async with self._asked(body) as response:
            if response.status != 200:
                raise failure_of(response.status, await _read(response))
            if on_delta is not None and media_type(response.headers) == MEDIA_TYPE:
                return await _streamed(response, request.model, on_delta)
            answer = answer_of(await _read(response), request.model)
        if on_delta is not None and answer.content:  # a server that does not stream
            await on_delta(answer.content)
        return answer

    @asynccontextmanager
    async def _asked(self, body: JsonObject) -> AsyncGenerator[StreamedResponse]:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        try:
            async with (
                HttpClient.opened(self._options) as client,
                client.stream(self._head, content.encode()) as response,
            ):
                yield response
        except (OSError, MalformedResponseError, ContentCodingError) as error:
            failure = no_connection(self._address, error)  # which shows neither path nor query
            raise ProviderError("provider_failed", failure.reason) from None


async def _streamed(response: StreamedResponse, model: str, on_delta: OnDelta) -> ModelAnswer:
    answer, events, size = StreamedAnswer(model), SseDecoder(_EVENT), 0
    async for chunk in response:
        size += len(chunk)
        for event in events.feed(chunk):
            delta = answer.take(event.data)
            if delta:
                await on_delta(delta)
        if answer.ended:
            break
        _must_be_bounded(size)
    return answer.whole()


async def _read(response: StreamedResponse) -> bytes:
    found = bytearray()
    async for chunk in response:
        found += chunk
        _must_be_bounded(len(found))
    return bytes(found)


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
