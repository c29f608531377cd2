"""Events of MCPE that a command reads from a server, or posts to one."""

from __future__ import annotations

__all__ = ("print_event", "publish", "tail")

import json
import os
import sys
from argparse import Namespace
from typing import Any, ClassVar

from kinwire.mcpe import EventSubscription, McpeClient, new_event
from kinwire.mcpe.rules.events import event_problems
from kinwire.mcpe.rules.signatures import SIGNATURE, signature_of
from kinwire.rpc.codec import encode, is_object
from kinwire.transports.http_client.address import ServerAddress, address_of
from kinwire.transports.http_client.client import HttpClient, HttpOptions
from kinwire.transports.http_client.dialing import chosen_proxy
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.http_client.response import MalformedResponseError
from kinwire.transports.http_client.streamed import ResponseTooLongError, WholeResponse
from kinwire_cli.failure import (
    PEER_ERROR,
    PEER_SCHEMA,
    UNAUTHORIZED,
    CommandError,
    UnreachableError,
    UsageError,
)
from kinwire_cli.headers import headers_from
from kinwire_cli.layout import counted, one_line
from kinwire_cli.running import patience_with, run
from kinwire_cli.target import Target, reach
from kinwire_protocols.base import to_wire

_UNAUTHORIZED = 401
_NO_INGEST = (400, 404, 405)  # what other endpoints answer to an event
_WRITTEN = frozenset({SIGNATURE.lower()})  # `checked_headers` has the others
_ANSWER = 1024 * 1024  # bytes


class UnreadableAnswerError(CommandError):
    """What came back is not an answer of an endpoint."""

    exit_code: ClassVar[int] = PEER_SCHEMA


def tail(target: Target, arguments: Namespace) -> int:
    """Print the events of a server until the command is interrupted."""
    return run(_tail, target, arguments)


def publish(url: str, event_type: str, arguments: Namespace) -> int:
    """Post an event to an `EventIngest`."""
    return run(_publish, url, event_type, arguments)


async def _tail(target: Target, arguments: Namespace) -> int:

    client = McpeClient()
    types, tags, priority = arguments.type or (), arguments.tag or (), arguments.priority or ()
    async with reach(target, [client]) as connection:
        try:
            subscribed = client.subscribe(connection, types, tags=tags, priority=priority)
        except ValueError:
            hint = "There are: low, normal, high, critical."
            raise UsageError("--priority: there is no such priority.", hint) from None
        async with subscribed as subscription:
            print("waiting for events ...", file=sys.stderr)
            await _print_all(subscription, arguments)
    return 0


async def _print_all(subscription: EventSubscription, arguments: Namespace) -> None:

    shown = lost = 0
    async for event in subscription:
        if subscription.lost > lost:
            print(f"lost: {counted(subscription.lost - lost, 'event')}", file=sys.stderr)
            lost = subscription.lost
        print_event(to_wire(event), as_json=arguments.format == "json")
        shown += 1
        if shown == arguments.count:
            return
    print("the subscription has ended", file=sys.stderr)


def print_event(event: dict[str, Any], *, as_json: bool) -> None:
    """Print an event on one line."""
    text = json.dumps(event, ensure_ascii=False)
    if not as_json:
        about = event["metadata"]
        data = json.dumps(event["data"], ensure_ascii=False)
        text = f"{about['timestamp']} {about['priority']} {event['type']} {data}"
    print(one_line(text), flush=True)


async def _publish(url: str, event_type: str, arguments: Namespace) -> int:
    secret = _secret(arguments.secret)
    event = new_event(
        event_type,
        _data(arguments.data),
        priority=(arguments.priority or ["normal"])[0],
        tags=arguments.tag or (),
        source_event_id=arguments.source_id,
    )
    for problem in event_problems(event):
        raise UsageError(f"It would not be a valid event: {problem}.")
    try:
        address = address_of(url, insecure=arguments.insecure)
        proxy = chosen_proxy(address, arguments.proxy, trust_env=True)
        fields = tuple(checked_headers(headers_from(arguments.header), _WRITTEN))
    except ValueError as error:
        raise UsageError(str(error)) from None
    body = encode(to_wire(event))
    fields += (("Content-Type", "application/json"), (SIGNATURE, signature_of(body, secret)))
    options = HttpOptions(proxy=proxy, trust_env=False)
    reply = await _post(address, fields, body, options, arguments.timeout)
    return _report(reply.status, reply.body)


async def _post(
    address: ServerAddress,
    fields: tuple[tuple[str, str], ...],
    body: bytes,
    options: HttpOptions,
    timeout: float,
) -> WholeResponse:
    try:
        async with HttpClient.opened(options) as client, patience_with("the event"):
            return await client.request(
                "POST", address, fields, body, size=_ANSWER, timeout=timeout
            )
    except TimeoutError:
        text = f"{address.origin} has not answered within {timeout:g} s."
        failure: CommandError = UnreachableError(text, "--timeout SECONDS waits longer.")
    except OSError as error:
        text = f"{address.origin} cannot be reached ({type(error).__name__})."
        failure = UnreachableError(text, "Does a server listen there?")
    except (MalformedResponseError, ResponseTooLongError) as error:
        text = f"{address.origin} has not answered as a server of HTTP does: {error}."
        failure = UnreadableAnswerError(text, "Is it the URL of an EventIngest?")
    raise failure


def _report(status: int, body: bytes) -> int:
    text = one_line(body.decode("utf-8", "replace"))
    if 200 <= status < 300:
        print(text)
        return 0
    said = f"the server answered with HTTP status {status}"
    print(f"{said}: {text}" if text else said, file=sys.stderr)
    if status in _NO_INGEST:
        print("hint: Is it the URL of an EventIngest, with its path?", file=sys.stderr)
    return UNAUTHORIZED if status == _UNAUTHORIZED else PEER_ERROR


def _secret(variable: str) -> str:
    found = os.environ.get(variable)
    if not found:
        text = f"The variable {one_line(variable)!r} is not set."
        raise UsageError(text, "Put the secret of the EventIngest into it.")
    return found


def _data(text: str | None) -> dict[str, Any]:
    try:
        found: Any = {} if text is None else json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not is_object(found):
        raise UsageError("--data: expected a JSON object.", """Write --data '{"name": "value"}'.""")
    return found
