"""What a server of events has in its store: subscriptions, and what handlers could not do."""

from __future__ import annotations

__all__ = ("dead_letters", "subscriptions")

import sys
import time
from argparse import Namespace
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.kernel_state import kernel_state
from kinwire_cli.layout import columns, counted, json_text, one_line
from kinwire_cli.running import run

if TYPE_CHECKING:
    from kinwire.mcpe import DeadLetter
    from kinwire.storage import Records
    from kinwire_protocols.mcpe.models import Subscription

_RECORDS = "mcpe"
_SHOWN = ("id", "client", "status", "types", "channels", "handler", "created")
_SHOWN_DEAD = ("id", "subscription", "handler", "events", "attempts", "failed", "reason")


def subscriptions(arguments: Namespace) -> int:
    """Print the subscriptions of all clients."""
    return run(_subscriptions, arguments)


def dead_letters(arguments: Namespace) -> int:
    """Print what handlers could not do, or have some of it tried again."""
    match arguments.words:
        case ["list"] if not arguments.all:
            return run(_list_dead, arguments)
        case ["retry", *ids] if bool(ids) != arguments.all:
            return run(_retry, arguments, ids)
        case _:
            text = "events dead: expected list, or retry and IDs or --all."
            raise UsageError(text, "kinwire help events")


@asynccontextmanager
async def _records(arguments: Namespace) -> AsyncGenerator[Records]:
    """Yield the records of the server, which must be there."""
    name = arguments.records or _RECORDS
    async with kernel_state(arguments.store, arguments.timeout, of="the server") as store:
        known = [one.name for one in await store.entries() if one.kind == "records"]
        if name not in known:
            hint = did_you_mean(name, known, f"Its records are: {', '.join(known) or 'nothing'}.")
            raise UsageError(f"The store has no records {one_line(name)!r}.", hint)
        yield await store.records(name)


async def _subscriptions(arguments: Namespace) -> int:
    from kinwire.mcpe.server.kept import KeptSubscriptions
    from kinwire_protocols.base import to_wire

    async with _records(arguments) as records:
        kept = await KeptSubscriptions(records, None).load()
    found = [one.message for one in kept]
    if arguments.format == "json":
        print(json_text([_without_headers(to_wire(one)) for one in found]))
    else:
        _print_table(_SHOWN, [_row(one) for one in found], "no subscriptions")
    return 0


async def _list_dead(arguments: Namespace) -> int:
    from kinwire.mcpe.server.handlers.dead_letters import DeadLetters

    async with _records(arguments) as records:
        letters = DeadLetters(records, time.time)
        await letters.load()
    if arguments.format == "json":
        print(json_text([{"id": one.id, **_dead_as_json(one)} for one in letters.all()]))
    else:
        _print_table(_SHOWN_DEAD, [_dead_row(one) for one in letters.all()], "no dead letters")
    return 0


async def _retry(arguments: Namespace, ids: Sequence[str]) -> int:
    from kinwire.mcpe.server.handlers.dead_letters import DeadLetters

    async with _records(arguments) as records:
        letters = DeadLetters(records, time.time)
        await letters.load()
        known = [one.id for one in letters.all()]
        for id in ids:
            if id not in known:
                hint = did_you_mean(id, known, "List them: kinwire events dead list --store URL")
                raise UsageError(f"There is no dead letter {one_line(id)!r}.", hint)
        asked = list(dict.fromkeys(ids or known))
        for id in asked:
            await letters.request_retry(id)
    said = f"{counted(len(asked), 'dead letter')} to try again, now or when the server starts"
    print(said, file=sys.stderr)
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
