"""What a server of events has in its store: subscriptions, and what handlers could not do."""

from __future__ import annotations

__all__ = ("dead_letters", "subscriptions")

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.kernel_state import kernel_state
from kinwire_cli.layout import columns, json_text, one_line
from kinwire_cli.running import run

if TYPE_CHECKING:
    from kinwire.mcpe import DeadLetter
    from kinwire_protocols.mcpe.models import Subscription

_RECORDS = "mcpe"
_SHOWN = ("id", "client", "status", "types", "channels", "handler", "created")
_SHOWN_DEAD = ("id", "subscription", "handler", "events", "attempts", "failed", "reason")


def subscriptions(arguments: Namespace) -> int:
    """Print the subscriptions of all clients."""
    return run(_subscriptions, arguments)


def dead_letters(arguments: Namespace) -> int:
    """Print what handlers could not do, or have one of it tried again."""
    action, *ids = arguments.words
    if action not in ("list", "retry") or len(ids) != (action == "retry"):
        text = "events dead: expected list, or retry and an ID."
        raise UsageError(text, "kinwire help events")
    return run(_retry if ids else _list_dead, arguments)


async def _subscriptions(arguments: Namespace) -> int:
    from kinwire.mcpe.server.kept import KeptSubscriptions
    from kinwire_protocols.base import to_wire

    async with kernel_state(arguments.store, arguments.timeout) as store:
        kept = await KeptSubscriptions(await store.records(_RECORDS), None).load()
    found = [one.message for one in kept]
    if arguments.format == "json":
        print(json_text([_without_headers(to_wire(one)) for one in found]))
    else:
        _print_table(_SHOWN, [_row(one) for one in found], "no subscriptions")
    return 0


async def _list_dead(arguments: Namespace) -> int:
    from kinwire.mcpe.server.handlers.dead_letters import DeadLetters

    async with kernel_state(arguments.store, arguments.timeout) as store:
        letters = DeadLetters(await store.records(_RECORDS), time.time)
        await letters.load()
    if arguments.format == "json":
        print(json_text([{"id": one.id, **_dead_as_json(one)} for one in letters.all()]))
    else:
        _print_table(_SHOWN_DEAD, [_dead_row(one) for one in letters.all()], "no dead letters")
    return 0


async def _retry(arguments: Namespace) -> int:
    from kinwire.mcpe.server.handlers.dead_letters import DeadLetters

    id: str = arguments.words[1]
    async with kernel_state(arguments.store, arguments.timeout) as store:
        letters = DeadLetters(await store.records(_RECORDS), time.time)
        await letters.load()
        if await letters.find(id) is None:
            hint = did_you_mean(
                id, [one.id for one in letters.all()], "List them: kinwire events dead list"
            )
            raise UsageError(f"There is no dead letter {one_line(id)!r}.", hint)
        await letters.request_retry(id)
    print(f"{id} is tried again, now or when the server starts", file=sys.stderr)
    return 0


def _print_table(head: Sequence[str], rows: list[tuple[str, ...]], otherwise: str) -> None:
    if rows:
        print(columns([head, *(tuple(map(one_line, row)) for row in rows)]))
    else:
        print(otherwise, file=sys.stderr)


def _row(one: Subscription) -> tuple[str, ...]:
    handler = getattr(one.handler, "type", None) or "-"
    types, channels = ", ".join(one.filter.event_types or ["*"]), ", ".join(one.delivery.channels)
    return one.id, one.client_id, one.status, types, channels, handler, one.created_at


def _dead_row(one: DeadLetter) -> tuple[str, ...]:
    from kinwire.support.timestamps import timestamp_of

    work = one.work
    types = ", ".join(dict.fromkeys(str(event.get("type")) for event in work.events))
    attempts, failed = str(work.attempt), timestamp_of(one.failed_at)
    return one.id, work.subscription_id, work.handler.type, types, attempts, failed, one.reason


def _dead_as_json(one: DeadLetter) -> dict[str, Any]:
    found = one.to_record()
    return {**found, "work": _without_headers(found["work"])}


def _without_headers(found: dict[str, Any]) -> dict[str, Any]:
    """Return it without what a handler has that may be secret."""
    handler = found.get("handler")
    if not handler:
        return found
    shown = {name: one for name, one in handler.items() if name not in ("headers", "env", "url")}
    return {**found, "handler": shown}
