"""What is done about a refusal before its call fails: other credentials, another session, or the
transport of 2024-11-05. Each is tried once for a frame."""

from __future__ import annotations

__all__ = ("Recovery",)

import logging
from typing import TYPE_CHECKING

from kinwire.mcp.http_client.event_stream import LegacySseStream
from kinwire.mcp.http_client.exchange import (
    NOT_STICKY,
    Exchange,
    RefusedResponse,
    ask,
    not_an_answer,
)
from kinwire.mcp.http_client.session import HttpClientSession
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.client import RequestSender
from kinwire.transports.http_client.credentials import Credentials
from kinwire.transports.task_spawner import TaskSpawner

if TYPE_CHECKING:
    from kinwire.mcp.http_client.transport import HttpTransport

logger = logging.getLogger("kinwire.transports")

_NOT_STREAMABLE = {400, 404, 405}  # what servers of 2024-11-05 answer to a POST of `initialize`
_PATIENCE = 10.0  # seconds for each step of a repeated handshake


class Recovery:
    """Repairs for one transport."""

    def __init__(
        self,
        transport: HttpTransport,
        client: RequestSender,
        session: HttpClientSession,
        credentials: Credentials,
        tasks: TaskSpawner,
    ) -> None:
        self._transport = transport
        self._client = client
        self._session = session
        self._credentials = credentials
        self._tasks = tasks
        self._stranded: list[Exchange] = []  # they wait for another session
        self._beginning = False
        """Whether another session is being begun."""

    def repair(self, exchange: Exchange, refusal: RefusedResponse) -> bool:
        """Have the frame sent again if that may help; say whether it will be."""
        status = refusal.status
        if status in exchange.retried:
            return False
        begins = exchange.message.method == "initialize"
        if begins and exchange.retried & _NOT_STREAMABLE:
            return False
        exchange.retried.add(status)
        if status == 401 and self._credentials.renewable:
            self.identify(exchange, refusal.headers.get("www-authenticate"))
        elif begins and status in _NOT_STREAMABLE:
            self._try_legacy_sse(exchange, refusal)
        elif status == 404 and exchange.session and not begins:
            self._send_in_another(exchange)
        else:
            return False
        return True

    def error_of(self, exchange: Exchange, refusal: RefusedResponse) -> Exception:
        """Return what the call raises whose frame was refused and is not sent again."""
        unknown = refusal.status == 404 and exchange.session and 404 in exchange.retried
        hint = f"It has just begun the session. {NOT_STICKY}" if unknown else ""
        return not_an_answer(exchange.message.method, self._session.address, refusal, hint=hint)

    def identify(self, exchange: Exchange, challenge: str | None) -> None:
        """Get credentials, then send the frame."""

        async def identify() -> None:
            try:
                await self.renew_credentials(exchange.key, challenge)
            except Exception as error:  # the user's: for the caller
                self._transport.failed(exchange, error)
            else:
                self._transport.send(exchange)

        self._tasks.spawn(identify)

    async def renew_credentials(self, number: int, challenge: str | None) -> None:
        """Get others in place of those of that number.

        Raises:
            Exception: whatever the user's function raises.
        """
        await self._credentials.renew(number, challenge)
        self._session.authorization = self._credentials.value
        self._session.write()

    async def renewed(self, challenge: str | None) -> bool:
        """Get credentials for the stream of notifications; return whether there are others."""
        if not self._credentials.renewable:
            return False
        try:
            await self.renew_credentials(self._credentials.number, challenge)
        except Exception as error:  # the user's: no caller waits that could get it
            logger.warning("auth failed, which ends the stream of notifications: %r", error)
            return False
        return True

    def _try_legacy_sse(self, exchange: Exchange, refusal: RefusedResponse) -> None:
        """See whether the server speaks the transport of 2024-11-05."""
        transport, session = self._transport, self._session

        def found(address: ServerAddress) -> None:
            transport.legacy_sse = True
            session.address = address
            session.write()
            transport.send(exchange)

        async def listen() -> None:
            address = session.address
            stream = LegacySseStream(transport.callbacks, self._client, address, found)
            why = await stream.read(session.get())
            if stream.named:
                transport.callbacks.end(why)
            elif stream.refused:
                transport.failed(exchange, why)
            else:
                transport.failed(exchange, not_an_answer("initialize", address, refusal))

        self._tasks.spawn(listen)

    def _send_in_another(self, exchange: Exchange) -> None:
        """The server has forgotten the session: begin another, then send the frame."""
        self.begin_again(exchange.session)
        if self._beginning:
            self._stranded.append(exchange)
        else:
            self._transport.send(exchange)

    def begin_again(self, number: int) -> None:
        """The server has forgotten the session of that number: begin another, if none is begun."""
        if self._beginning or number < self._session.number:
            return
        self._beginning = True
        if self._transport.callbacks.repeatable:
            logger.warning(
                "%s has forgotten the session: another is begun, without the subscriptions of the "
                "old",
                self._session.address.origin,
            )
        self._transport.pause_sending()
        self._tasks.spawn(self._renew_session)

    async def _renew_session(self) -> None:
        callbacks = self._transport.callbacks
        why: str | None = "the protocols in use sent more in it than a new one would know"
        if callbacks.repeatable:
            why = await _renewed(self._client, self._session, callbacks.frame_size)
        stranded, self._stranded, self._beginning = self._stranded, [], False
        if why is not None:
            reason = f"The server has forgotten the session, and {why.rstrip('.')}. Connect again."
            for exchange in stranded:
                self._transport.failed(exchange, ConnectionClosedError(reason))
            callbacks.end(ConnectionClosedError(reason))
            return
        for exchange in stranded:
            self._transport.send(exchange)
        self._transport.resume_sending()


async def _renewed(client: RequestSender, session: HttpClientSession, limit: int) -> str | None:
    """Begin another session in place of `session`; return why that failed, None if it did not."""
    if not session.repeatable:
        return "more than MCP's own handshake was said in it"
    hello, initialized = session.handshake
    session.forget()
    answer = await ask(client, session.post, hello.data, limit=limit, patience=_PATIENCE)
    greeting = answer.result
    if greeting is None:
        return f"it refused another one (HTTP {answer.status})" if answer.status else "it is gone"
    session.begun(answer.headers.get("mcp-session-id"))
    if not session.greeted(greeting):
        return "it offers something else now"
    answer = await ask(client, session.post, initialized.data, limit=limit, patience=_PATIENCE)
    if answer.status == 404:
        return f"it does not know the next one either. {NOT_STICKY}"
    return None if answer.accepted else f"it refused another one (HTTP {answer.status})"
