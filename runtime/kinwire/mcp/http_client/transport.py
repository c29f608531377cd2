"""Streamable HTTP, the client's side: each frame leaves in a POST of its own.

Answers come in the reply to their request and are matched by both, so that no caller gets the
answer to another call. Notifications of the server come on a stream that stays open
(`event_stream.py`). A request that fails affects its own call only; the connection ends when the
server refuses the session.
"""

from __future__ import annotations

__all__ = ("HttpTransport", "http_transport")

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from kinwire.mcp.http_client.event_stream import (
    NO_CALL,
    EventStream,
    answers_to,
    read_get_stream,
    resumed,
)
from kinwire.mcp.http_client.exchange import Exchange, RefusedResponse, ask, holds_answer
from kinwire.mcp.http_client.queue import SendQueue, is_repeatable
from kinwire.mcp.http_client.recovery import Recovery
from kinwire.mcp.http_client.session import RESERVED, HttpClientSession
from kinwire.rpc.codec import OutgoingFrame
from kinwire.rpc.errors import InvalidResponseError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.http_client.address import ServerAddress, no_connection
from kinwire.transports.http_client.client import HttpClient, HttpOptions, RequestSender
from kinwire.transports.http_client.credentials import Credentials, credentials_of
from kinwire.transports.http_client.dialing import chosen_proxy
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.http_client.response import Headers, need_parser
from kinwire.transports.http_client.user_client import UserHttpClient
from kinwire.transports.task_spawner import TaskSpawner, task_spawner

if TYPE_CHECKING:
    from kinwire.transports.url_options import UrlOptions

logger = logging.getLogger("kinwire.transports")

OpenClient = Callable[[SessionCallbacks, TaskSpawner], RequestSender]

_MOST = 128  # requests under way, each with a connection
_PATIENCE = 10.0  # seconds for the receipt of a frame that has no answer
_AFTER_ANSWER = 5.0  # seconds for a stream to end once the answer has come
_LISTENING = 1.0  # seconds until the stream of the server's messages has a status, at most
_CLOSING = 1.0  # seconds to send what waits and to end the session


def http_transport(address: ServerAddress, options: UrlOptions) -> HttpTransport:
    """Return the connection to the server at `address`.

    Raises:
        ValueError: an option cannot be used, or two of them say who is calling.
        ImportError: the extra `http` is not installed.
    """
    fields = checked_headers(options.get("headers", {}), RESERVED)
    credentials = credentials_of(address, fields, options.get("auth"))

    user_client = options.get("http")
    if user_client is not None:
        for name in ("proxy", "tls", "trust_env"):
            if options.get(name) is not None:
                raise ValueError(f"http: the client decides about that. Leave {name} out.")
        return HttpTransport(
            HttpClientSession(address, fields),
            credentials,
            lambda _, tasks: UserHttpClient(user_client, tasks),
        )
    need_parser()
    proxy = chosen_proxy(address, options.get("proxy"), trust_env=options.get("trust_env", True))

    reached = HttpOptions(options.get("tls"), proxy, trust_env=False)

    def open_client(callbacks: SessionCallbacks, tasks: TaskSpawner) -> RequestSender:
        return HttpClient(tasks, callbacks.loop, reached)

    return HttpTransport(HttpClientSession(address, fields), credentials, open_client)


class HttpTransport:
    """The connection to a server behind a URL."""

    peer_may_emit_noise = False
    callbacks: SessionCallbacks

    def __init__(
        self, session: HttpClientSession, credentials: Credentials, open_client: OpenClient
    ) -> None:
        self.address: str | None = session.address.identity
        self._session = session
        self._credentials = credentials
        self._open_client = open_client
        self._queue = SendQueue(_MOST)
        self._held = 0  # bytes in the queue, as the session knows it
        self._calls: dict[int, Exchange] = {}  # requests under way, by id
        self._receipts: set[Exchange] = set()  # other frames under way
        self._get_stream: anyio.CancelScope | None = None
        self._receipt: anyio.Event | None = None
        self._listening = anyio.Event()
        self.legacy_sse = False
        """Whether answers come elsewhere than in the replies."""
        self._running = False
        self._closing = False

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self.callbacks = callbacks
        async with task_spawner() as self._tasks:
            self._client = self._open_client(callbacks, self._tasks)
            self._recovery = Recovery(
                self, self._client, self._session, self._credentials, self._tasks
            )
            self._tasks.spawn(self._client.run)
            self._running = True
            self._pump()
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.move_on_after(_CLOSING, shield=True):
                    await self._say_last()
                self._running = False

    def wake(self) -> None:
        """See `Transport.wake`."""
        if self._running:
            self._pump()

    def resume(self) -> None:
        """See `Transport.resume`."""
        if self._running:
            self._client.resume()

    async def aclose(self) -> None:
        """See `Transport.aclose`: `run` has done it, while there were connections."""

    async def _say_last(self) -> None:
        """Send what waits and end the session."""
        self._closing = True
        self._close_get_stream()
        for exchange in list(self._calls.values()):  # their callers have heard already
            exchange.cancel()
            self._over(exchange)
        self._queue.forget_requests()
        while self._receipts or (
            not self._queue.stopped and (self._queue.size or self.callbacks.waiting)
        ):
            self._receipt = anyio.Event()
            self._pump()
            await self._receipt.wait()
        if self._session.id is not None:
            await ask(self._client, self._session.delete, b"", limit=0, patience=_CLOSING)

    async def wait_listening(self) -> None:
        """See `ListeningTransport.wait_listening`: at most a second, whatever the server does."""
        with anyio.move_on_after(_LISTENING):
            await self._listening.wait()

    # What an exchange reports.

    def begun(self, exchange: Exchange, headers: Headers, /) -> None:
        """The server accepts the frame."""
        if exchange.message.method == "initialize":
            self._session.begun(headers.get("mcp-session-id"))

    def arrived(self, exchange: Exchange, frame: bytes, /) -> None:
        """A frame came in the reply to a request."""
        callbacks, identifier = self.callbacks, exchange.message.id
        assert identifier is not None
        callbacks.answer(frame, identifier)
        if not callbacks.waits(identifier):
            if exchange.message.method == "initialize":
                self._session.greeted(frame)
            if exchange.events is not None:
                exchange.expire_in(_AFTER_ANSWER)
                self._over(exchange)
        if callbacks.paused:
            self._client.pause()

    def completed(self, exchange: Exchange, /) -> None:
        """The reply is complete, with or without the answer."""
        message = exchange.message
        if message.id is not None and self.callbacks.waits(message.id) and not self.legacy_sse:
            if not self._under_way(exchange):
                return
            if exchange.events is not None:
                self._resume(exchange, broken=False)
                return
            error = InvalidResponseError(f"{message.method}: the reply has no answer in it")
            self.callbacks.fail(message.id, error)
        self._over(exchange)
        if message.method == "notifications/initialized":
            if self.legacy_sse:
                self._listening.set()
            else:
                self._open_get_stream()

    def refused(self, exchange: Exchange, refusal: RefusedResponse, /) -> None:
        """The server does not take the frame."""
        identifier = exchange.message.id
        if self._recovery.repair(exchange, refusal):
            return
        if identifier is not None and holds_answer(refusal, identifier):
            self.callbacks.answer(refusal.body, identifier)
            self._over(exchange)
        else:
            self.failed(exchange, self._recovery.error_of(exchange, refusal))

    def lost(self, exchange: Exchange, error: Exception, /) -> None:
        """The connection ended before the reply did."""
        if exchange.events is not None:
            self._resume(exchange, broken=True)
        else:
            self.failed(exchange, no_connection(self._session.address, error))

    # What leaves.

    def _pump(self) -> None:
        """Send what may leave."""
        queue, callbacks = self._queue, self.callbacks
        while True:
            message = queue.next()
            if message is not None:
                self._session.sent(message)
                self._begin(Exchange(self, message))
            elif callbacks.waiting:
                for message in callbacks.take_frames():
                    if message.kind != "notification" or self._must_be_sent(message):
                        queue.add(message)
            else:
                break
        if queue.size != self._held:
            more, self._held = queue.size - self._held, queue.size
            callbacks.hold_back(more)

    def _begin(self, exchange: Exchange) -> None:
        message = exchange.message
        if message.id is not None:
            self._calls[message.id] = exchange
        else:
            self._receipts.add(exchange)
        if self._credentials.missing:
            self._recovery.identify(exchange, None)
        else:
            self.send(exchange)

    def send(self, exchange: Exchange, /) -> None:
        """Send the frame of `exchange`, unless it was taken back."""
        if not self._under_way(exchange):
            return
        message = exchange.message
        exchange.session, exchange.key = self._session.number, self._credentials.number
        waits = message.kind == "request" and not self.legacy_sse
        patience = None if waits else _PATIENCE
        head = self._session.post
        exchange.handle = self._client.send(
            head, message.data, exchange, patience=patience, repeatable=is_repeatable(message)
        )

    def _must_be_sent(self, notification: OutgoingFrame) -> bool:
        """Stop the request that a cancellation takes back; return whether to send it."""
        identifier = notification.cancels
        if identifier is None:
            return True
        if self._queue.take_back(identifier):
            return False
        exchange = self._calls.get(identifier)
        if exchange is not None:
            exchange.cancel()
            self._over(exchange)
        return True

    def _under_way(self, exchange: Exchange) -> bool:
        """Return whether its frame was not taken back while it waited for something."""
        identifier = exchange.message.id
        if identifier is None:
            return exchange in self._receipts
        return self._calls.get(identifier) is exchange

    def _over(self, exchange: Exchange) -> None:
        """Nothing more is to be done for its frame."""
        message = exchange.message
        if message.id is None:
            self._receipts.discard(exchange)
            if self._receipt is not None:
                self._receipt.set()
        elif self._calls.pop(message.id, None) is None:
            return
        self._queue.done(message)
        self._pump()

    def failed(self, exchange: Exchange, error: Exception, /) -> None:
        """Give up the frame of `exchange`: it will not be answered."""
        message = exchange.message
        if message.id is not None:
            self.callbacks.fail(message.id, error)
        else:
            logger.warning("a message did not reach the server: %s", error)
            self._listening.set()  # no stream will be opened behind it
        self._over(exchange)

    def pause_sending(self) -> None:
        """Send nothing until `resume_sending`: the server knows no session."""
        self._queue.stopped = True
        self._close_get_stream()

    def resume_sending(self) -> None:
        """Send again, in another session."""
        self._queue.stopped = False
        self._open_get_stream()
        self._pump()

    # Streams.

    def _resume(self, exchange: Exchange, *, broken: bool) -> None:
        """Ask for the rest of a reply until the answer is there."""
        message = exchange.message
        identifier = message.id
        assert identifier is not None
        stream = EventStream(
            self.callbacks, self._client, answers_to(self.callbacks, identifier), exchange.events
        )

        async def go_on() -> None:
            at_once = broken
            with anyio.CancelScope() as exchange.resuming:
                while self.callbacks.waits(identifier):
                    fault = await resumed(stream, self._session, message.method, broken=at_once)
                    at_once = False
                    if fault is not None:
                        self.callbacks.fail(identifier, fault)
            self._over(exchange)

        self._tasks.spawn(go_on)

    def _open_get_stream(self) -> None:
        """Listen to what the server says by itself."""

        async def listen() -> None:
            if self._closing:
                return
            number, forgotten = self._session.number, False
            with anyio.CancelScope() as self._get_stream:
                forgotten = await read_get_stream(stream, self._session, self._recovery.renewed)
            self._listening.set()
            if forgotten and not self._closing:
                self._recovery.begin_again(number)

        stream = EventStream(self.callbacks, self._client, answers_to(self.callbacks, NO_CALL))
        stream.on_status = self._listening.set
        self._tasks.spawn(listen)

    def _close_get_stream(self) -> None:
        if self._get_stream is not None:
            self._get_stream.cancel()
