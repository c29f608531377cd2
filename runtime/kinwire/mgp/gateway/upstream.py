"""The servers behind a gateway: what is under way at each, and what each says by itself."""

from __future__ import annotations

__all__ = ("Upstream", "UpstreamEvents", "Upstreams")

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, Protocol

from kinwire.mcp.host import Host
from kinwire.mcp.rules.pagination import ListName
from kinwire.mgp.errors import refusal
from kinwire.mgp.gateway.observed_routes import ObservedRoutes
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    KinwireError,
    RequestTimeoutError,
)
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, Message, RpcError
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp import methods
from kinwire_protocols.mgp import errors
from kinwire_protocols.peer import Method

_MGP = errors.ServerNotReadyError.protocol


class UpstreamEvents(Protocol):
    """What a gateway does about what its servers say."""

    def list_changed(self, upstream: Upstream, name: ListName) -> None:
        """A list but that of tools has changed, or may have: the server has come or gone."""
        ...

    def resource_updated(self, upstream: Upstream, uri: str) -> None:
        """A resource of a server has changed."""
        ...

    def logged(self, upstream: Upstream, params: JsonObject, in_reply_to: int | None) -> None:
        """A server sent a log message; see `Upstream.caller`."""
        ...

    async def connected(self, upstream: Upstream) -> None:
        """The handshake with a server is complete."""
        ...


class Upstream:
    """One connection to a server behind the gateway."""

    def __init__(self, server: GuardedServer) -> None:
        self.server = server
        self._under_way: dict[ForwardedRequest, None] = {}

    @property
    def id(self) -> str:
        """The kernel's name for the server."""
        return self.server.id

    @property
    def session(self) -> Session:
        """The session with the server."""
        return self.server.session

    def offers(self, method: Method[Any, Any]) -> bool:
        """Return whether the server serves a method."""
        return not self.session.closed and self.session.denial_reason(method) is None

    async def forward(
        self, request: ForwardedRequest, method: Method[Any, Any], params: JsonObject
    ) -> JsonObject:
        """Send a request of a client to the server, and return the result as it came.

        Its type is not checked, so that nothing in it is lost.

        Raises:
            RpcError: the server answered with an error, which has its code and data; the kernel
                refused the request; or there is no usable answer.
        """
        on_progress = request.report if request.wants_progress else None
        self._under_way[request] = None
        try:
            result = await self.session.raw(
                method.name, params, on_progress=on_progress, on_id=request.ids.append
            )
        except RpcError as error:
            raise _as_it_came(error) from None
        except KinwireError as error:
            raise _unanswered(self.id, method.name, error) from error
        finally:
            del self._under_way[request]
            request.end()
        if not is_object(result):
            raise _unusable(self.id, method.name)
        return result

    def caller(self, in_reply_to: int | None) -> ForwardedRequest | None:
        """Return the request that a message of the server belongs to.

        `in_reply_to` is the id of the request in whose reply it came, as over HTTP. If it is None,
        that is the last request of the client that the server works for, if that is only one. None
        is returned if nothing says whose it is.
        """
        if in_reply_to is not None:
            return next((one for one in self._under_way if in_reply_to in one.ids), None)
        sessions = {request.session for request in self._under_way}
        return next(reversed(self._under_way)) if len(sessions) == 1 else None

    async def ask(self, method: Method[Any, Any], question: ForwardedRequest) -> Any:
        """Pass a question of the server on to the client whose request it belongs to.

        Raises:
            RpcError: nothing says which request that is, the client answered with an error, or
                there is no usable answer.
        """
        caller = self.caller(question.in_reply_to)
        if caller is None:
            found = "requests of several clients" if self._under_way else "no request of a client"
            raise InvalidRequestError(
                f"{method.name}: expected a request of one client to which it belongs, got {found} "
                "in progress. Ask while one request is served."
            )
        try:
            return await caller.ask(method, question)
        except KinwireError as error:  # what it says of the client is not for the server
            raise InvalidRequestError(f"{method.name}: {_unanswered_by_client(error)}") from error


class Upstreams:
    """All servers behind a gateway. It is a manager of the kernel, which calls it for each."""

    def __init__(self, servers: Supervisor | Host, events: UpstreamEvents) -> None:
        self._supervisor = servers if isinstance(servers, Supervisor) else None
        self._events = events
        self._by_id: dict[str, Upstream] = {}
        self._by_session: dict[Session, Upstream] = {}

    @property
    def connected(self) -> list[Upstream]:
        """The servers that are connected."""
        return [one for one in self._by_id.values() if not one.session.closed]

    def of(self, session: Session) -> Upstream | None:
        """Return the server of a session; None if it has gone."""
        return self._by_session.get(session)

    def get(self, id: str) -> Upstream | None:
        """Return a server that is connected; None if it is not."""
        found = self._by_id.get(id)
        return None if found is None or found.session.closed else found

    def may_start(self, id: str) -> bool:
        """Return whether a server is supervised, so that a call may start it."""
        return self._supervisor is not None and any(
            one.id == id for one in self._supervisor.servers
        )

    def is_gone(self, id: str) -> bool:
        """Return whether a server is neither connected nor one that a call may start."""
        return self.get(id) is None and not self.may_start(id)

    async def ready(self, id: str, tool: str | None = None) -> Upstream:
        """Return a server for a request; a supervised one may be started, or waited for.

        `tool` is the name of the tool that is about to be called, for the audit log.

        Raises:
            RpcError: it is not connected: 2000, 2001 or 2002.
        """
        if self._supervisor is not None:
            with suppress(KeyError):  # a server that the program has connected itself
                await self._supervisor[id].ready(tool)
        found = self.get(id)
        if found is None:
            raise refusal(errors.ServerNotReadyError, f"{id!r:.60}: the server is not connected.")
        return found

    def join(self, server: GuardedServer) -> None:
        """Follow what a server says by itself."""
        upstream = Upstream(server)
        self._by_id[server.id] = self._by_session[server.session] = upstream
        for one in _LISTS:
            changed = partial(self._events.list_changed, upstream, one.list)
            server.session.guard(one.row, partial(_pass_on, changed))
        server.session.guard(
            methods.NOTIFICATIONS_RESOURCES_UPDATED, partial(self._updated, upstream)
        )
        server.session.wrap_routes(
            partial(ObservedRoutes, methods.NOTIFICATIONS_MESSAGE, partial(self._logged, upstream))
        )
        server.session.intercept_outbound(
            partial(self._initialized, upstream), methods.NOTIFICATIONS_INITIALIZED
        )

    async def negotiate(self, server: GuardedServer) -> None:
        """Do nothing: the lists are fetched when a client asks for them."""

    def left(self, server: GuardedServer) -> None:
        """Forget a server whose session is over."""
        gone = self._by_session.pop(server.session, None)
        if gone is not None and self._by_id.get(server.id) is gone:
            del self._by_id[server.id]
            self._all_changed(gone)

    async def _initialized(
        self,
        upstream: Upstream,
        params: Message,
        method: Method[Any, Any],
        go_on: Callable[[Any], Awaitable[Any]],
    ) -> None:
        await go_on(params)
        self._all_changed(upstream)
        upstream.session.start_soon(partial(self._events.connected, upstream))

    def _all_changed(self, upstream: Upstream) -> None:
        for one in _LISTS:
            self._events.list_changed(upstream, one.list)

    def _updated(self, upstream: Upstream, params: Any, request: Any) -> None:
        self._events.resource_updated(upstream, params.uri)

    def _logged(self, upstream: Upstream, request: Request) -> None:
        said = request.message.get("params")
        self._events.logged(upstream, said if is_object(said) else {}, request.in_reply_to)


class _ChangedList(NamedTuple):
    row: Method[Any, Any]
    list: ListName


_LISTS = (
    _ChangedList(methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED, "resources"),
    _ChangedList(methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED, "prompts"),
)


def _pass_on(changed: Callable[[], None], params: Any, request: Any) -> None:
    changed()


def _as_it_came(error: RpcError) -> RpcError:
    """Return an error with its code and data: the name of a class of ours is not added to these."""
    if error.protocol == _MGP:
        return error
    return RpcError(error.message, data=error.data, code=error.code)


def _unanswered(id: str, name: str, error: KinwireError) -> RpcError:
    """Return the error for a request that has no answer. What the cause says may be a secret."""
    where = f"{name} at {id}"
    if isinstance(error, ConnectionClosedError):
        text = f"{where}: the server has ended. Whether the request was carried out is not known."
        return refusal(errors.ServerNotReadyError, text, retryable=False)
    if isinstance(error, RequestTimeoutError):
        return refusal(errors.TimedOutError, f"{where}: no answer came in time.", retryable=False)
    if isinstance(error, InvalidResponseError):
        return _unusable(id, name)
    return refusal(errors.UpstreamError, f"{where}: the request could not be sent.")


def _unanswered_by_client(error: KinwireError) -> str:
    if isinstance(error, ConnectionClosedError):
        return "the client has gone."
    if isinstance(error, RequestTimeoutError):
        return "no answer of the client came in time."
    return "the answer of the client cannot be read."


def _unusable(id: str, name: str) -> RpcError:
    return refusal(errors.UpstreamError, f"{name} at {id}: the answer cannot be read.")
