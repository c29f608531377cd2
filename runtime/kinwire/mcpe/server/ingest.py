"""An HTTP endpoint that takes webhooks of other systems, checks their signature, and publishes.

It is an ASGI application of its own, or stands before another one, such as that of a server.
"""

from __future__ import annotations

__all__ = ("EventIngest", "ReadEvent", "read_event")

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import from_json

from kinwire.mcpe.errors import InvalidEventError, PublicationLimitError
from kinwire.mcpe.rules.signatures import SIGNATURE, is_signed
from kinwire.mcpe.server.fan_out import Publication
from kinwire.mcpe.server.server import McpeServer
from kinwire.rpc.codec import encode, is_object
from kinwire.rpc.errors import UnsendableError
from kinwire.storage.errors import StorageError
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    SECRET,
    ArgumentCheck,
    count_from,
    instance_of,
    list_of,
)
from kinwire.support.background import running_loop
from kinwire.support.sanitize import sanitize_for_log
from kinwire.transports.http.body import read_body
from kinwire.transports.http.head import read_head
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.listener import Listener
from kinwire.transports.http.paths import PATH_KIND, path_below_mount
from kinwire.transports.http.replies import (
    JSON,
    HttpResponse,
    Receive,
    Scope,
    Send,
    send_response,
)
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpe.models import MCPEvent
from kinwire_protocols.problems import Problem, problems

logger = logging.getLogger("kinwire.mcpe")

ReadEvent = Callable[[Mapping[str, str], JsonObject], MCPEvent | None]
"""The event of a request, from its headers, with names in small letters, and its JSON object.

None if the request means none. `InvalidEventError` and `ValueError` refuse it.
"""

_UNREAD: Final = {
    400: "the body has ended too early",
    408: "the body has taken too long to arrive",
    413: "the body has more than {} bytes",
}

_AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_EVENT_INGEST = ArgumentCheck(
    "EventIngest",
    'EventIngest(events, github_event, secret="...")',
    {
        "events": instance_of(McpeServer, "an McpeServer", "events"),
        "read": PLAIN_FUNCTION,
        "secret": list_of(SECRET, "several strings").or_text,
    },
    path=PATH_KIND,
    size=count_from(1),
)


def read_event(headers: Mapping[str, str], payload: JsonObject) -> MCPEvent:
    """Return the event that the body of a request is, as `kinwire.mcpe` writes events.

    Raises:
        InvalidEventError: it is something else.
    """
    try:
        return from_wire(MCPEvent, payload)
    except ValidationError as error:
        raise InvalidEventError(problems(error, payload)) from None


class EventIngest:
    """Publishes what other systems post: `EventIngest(events, github_event, secret="...")`.

    It is an ASGI application for `path`, below its mount point if it has one. Requests for other
    paths go to `app`, such as `server.asgi()`, so that one port has both; without it they get 404.
    A request must be a POST of a JSON object that is signed with `secret`, or with one of several
    while one takes the place of another, in the header `X-Hub-Signature-256`. `read` says which
    event it is. A body has at most `size` bytes.

    It answers 202 with the id of the event and how many subscriptions have selected it, 204 if the
    request means no event, 401 without a valid signature, 408 and 413 for a body that is slow or
    too large, 400 and 422 for what is not an event, and
    429 or 503 for what should be sent again later.
    """

    def __init__(
        self,
        events: McpeServer,
        read: ReadEvent = read_event,
        *,
        secret: str | Collection[str],
        path: str = "/events",
        app: _AsgiApp | None = None,
        size: int = 1024 * 1024,
    ) -> None:
        """Prepare to publish.

        Raises:
            ValueError: there is no secret or an empty one, or the path has no slash.
            TypeError: an argument is not of its type.
        """
        _EVENT_INGEST.check(events=events, read=read, secret=secret, path=path, size=size)
        self._secrets = (secret,) if isinstance(secret, str) else tuple(secret)
        if not self._secrets or not all(self._secrets):
            raise ValueError("EventIngest: secret: expected strings that are not empty")
        self._events, self._read = events, read
        self._path, self._app, self._size = path, app, size
        self._listener: Listener | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        is_mine = scope["type"] == "http" and path_below_mount(scope) == self._path.rstrip("/")
        if self._app is not None and not is_mine:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            reply = await self._answer(scope, receive) if is_mine else _refusal(404, "not found")
            await send_response(send, reply)
        elif scope["type"] == "lifespan":
            await _live(receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope, receive: Receive) -> HttpResponse:
        if scope["method"] != "POST":
            allow = ((b"allow", b"POST"),)
            return _refusal(405, "POST only", allow)
        head = read_head(scope["headers"])
        body = await read_body(head, receive, self._listening(), self._size)
        if isinstance(body, HttpResponse):
            return _refusal(body.status, _UNREAD[body.status].format(self._size))
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        signature = headers.get(SIGNATURE.lower())
        if not is_signed(body, signature, self._secrets):
            why = "is missing" if signature is None else "does not fit the body and the secret"
            return _refusal(401, f"the header {SIGNATURE} {why}")
        return await self._published(headers, body)

    async def _published(self, headers: Mapping[str, str], body: bytes) -> HttpResponse:
        payload = _object_in(body)
        if payload is None:
            return _refusal(400, "expected a JSON object")
        try:
            event = self._read(headers, payload)
            if event is None:
                return HttpResponse(204)
            found = await self._events.publish(event)
        except InvalidEventError as error:
            return _refusal(422, "not a valid event", problems=error.problems)
        except (ValueError, UnsendableError):
            return _refusal(422, "not a valid event")
        except PublicationLimitError:
            return _refusal(429, "too many events", ((b"retry-after", b"1"),))
        except StorageError as error:
            logger.error("an event was not published: %s", sanitize_for_log(error))
            return _refusal(503, "not now", ((b"retry-after", b"10"),))
        return HttpResponse(202, encode(_said(found)), (JSON,))

    def _listening(self) -> Listener:
        if self._listener is None or self._listener.loop is not running_loop():
            self._listener = Listener(HttpLimits())
        return self._listener


def _said(found: Publication) -> JsonObject:
    return {
        "id": found.event_id,
        "subscriptions": found.subscriptions,
        "duplicate": found.duplicate,
    }


def _object_in(body: bytes) -> JsonObject | None:
    try:
        found: Any = from_json(body, allow_inf_nan=False)
    except ValueError:
        return None
    return found if is_object(found) else None


def _refusal(
    status: int,
    why: str,
    headers: tuple[tuple[bytes, bytes], ...] = (),
    *,
    problems: Collection[Problem] = (),
) -> HttpResponse:
    said: dict[str, Any] = {"error": why}
    if problems:
        said["problems"] = [one.to_json() for one in problems]
    return HttpResponse(status, encode(said), (JSON, *headers))


async def _live(receive: Receive, send: Send) -> None:
    for what in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{what}.complete"})
