"""`kinwire registry`: servers that asked to be registered at run time, and their approval."""

from __future__ import annotations

__all__ = ("RegistryCommand",)

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_cli.action_options import refuse_other_options
from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.kernel_state import add_store, kernel_records, kernel_state, kernel_storage
from kinwire_cli.layout import columns, json_text, one_line, printable

if TYPE_CHECKING:
    from kinwire.mgp.kernel.registry import RegistryManager
    from kinwire.mgp.rules.registration import Registration

_USAGE = """\
kinwire registry list --store URL [--format text|json]
       kinwire registry show SERVER --store URL [--format text|json]
       kinwire registry approve SERVER DIGEST --store URL [--by NAME] [--format text|json]
       kinwire registry deregister SERVER --store URL [--reason TEXT] [--by NAME]"""
_EPILOG = """\
show prints all that a server would run, with its script, and the digest of that. approve takes the
digest, so nothing else than what you have seen can run. A kernel that runs on the same store starts
the server within a second; it is sandboxed in any case.
"""
_SHOWN = ("server", "state", "by", "at", "runs", "why")


class RegistryCommand:
    """`kinwire registry list|show|approve|deregister --store URL`."""

    name: ClassVar[str] = "registry"
    summary: ClassVar[str] = "list, approve or take out servers that were registered at run time"
    group: ClassVar[str] = "security"
    exit_codes: ClassVar[dict[int, str]] = {4: "the engine is locked or could not be reached"}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire registry list --store sqlite:///kernel.db",
        "kinwire registry show dynamic.custom_tool --store sqlite:///kernel.db",
        "kinwire registry deregister dynamic.custom_tool --store sqlite:///kernel.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=tuple(_ACTIONS))
        text = "the id under which it was registered"
        parser.add_argument("server", nargs="?", metavar="SERVER", help=text)
        text = "approve: the digest that show prints"
        parser.add_argument("digest", nargs="?", metavar="DIGEST", help=text)
        text = "deregister: why, for audits"
        parser.add_argument("--reason", metavar="TEXT", help=text)
        text = "who decides, for audits (default: operator)"
        parser.add_argument("--by", metavar="NAME", help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_store(parser)

    def run(self, arguments: Namespace) -> int:
        """Do it."""
        from kinwire_cli.running import run

        _check(arguments)
        return run(_ACTIONS[arguments.action], arguments)


def _check(arguments: Namespace) -> None:
    """Refuse arguments that are missing, or that the action does not take."""
    action: str = arguments.action
    wanted = {"list": (), "approve": ("server", "digest")}.get(action, ("server",))
    for name in ("server", "digest"):
        given = getattr(arguments, name) is not None
        if given is not (name in wanted):
            text = f"registry {action} {'takes no' if given else 'needs'} {name.upper()}."
            raise UsageError(text, "kinwire help registry")
    owners = {"reason": ("deregister",), "by": ("approve", "deregister")}
    refuse_other_options("registry", arguments, owners)


@asynccontextmanager
async def _read(arguments: Namespace) -> AsyncGenerator[RegistryManager]:
    """Yield the registry in the store, to look at."""
    from kinwire.mgp import MgpKernel

    async with kernel_state(arguments.store, arguments.timeout) as store:
        yield MgpKernel(records=await kernel_records(store)).registry


@asynccontextmanager
async def _changed(arguments: Namespace) -> AsyncGenerator[RegistryManager]:
    """Yield the registry in the store for an operator, whose decisions are audited."""
    from kinwire.mgp import AuditOptions, MgpKernel

    async with kernel_storage(arguments.store, arguments.timeout, create=False) as (records, log):
        kernel = MgpKernel(records=records, audit=AuditOptions(log=log, buffered=False))
        with kernel.acting_as_operator(arguments.by or "operator"):
            yield kernel.registry


async def _list(arguments: Namespace) -> int:
    async with _read(arguments) as registry:
        found = await registry.all()
    if arguments.format == "json":
        print(json_text([_as_json(one) for one in found]))
    elif found:
        print(columns([_SHOWN, *map(_row, found)]))
    else:
        print("nothing was registered", file=sys.stderr)
    return 0


async def _show(arguments: Namespace) -> int:
    async with _read(arguments) as registry:
        _print(await _found(registry, arguments.server), arguments.format)
    return 0


async def _approve(arguments: Namespace) -> int:
    async with _changed(arguments) as registry:
        found = await _found(registry, arguments.server)
        if found.digest != arguments.digest:
            text = f"{arguments.server} would run something else than what has this digest."
            raise UsageError(one_line(text), "Look at it: kinwire registry show")
        approved = await registry.approve(found.id, found.digest)
    _print_row(approved, arguments.format)
    return 0


async def _deregister(arguments: Namespace) -> int:
    async with _changed(arguments) as registry:
        found = await _found(registry, arguments.server)
        await registry.deregister(found.id, reason=arguments.reason)
    print(f"{printable(found.id)} is taken out", file=sys.stderr)
    return 0


_ACTIONS: dict[str, Callable[[Namespace], Awaitable[int]]] = {
    "list": _list,
    "show": _show,
    "approve": _approve,
    "deregister": _deregister,
}


async def _found(registry: RegistryManager, server: str) -> Registration:
    """Return the registration of that id.

    Raises:
        UsageError: no server was registered under that id.
    """
    there = {one.id: one for one in await registry.all()}
    if server not in there:
        hint = did_you_mean(server, there, "List them: kinwire registry list")
        raise UsageError(f"No server {one_line(server)!r} was registered.", hint)
    return there[server]


def _print(one: Registration, form: str) -> None:
    if form == "json":
        print(json_text(_as_json(one)))
        return
    facts = [(name, cell) for name, cell in zip(_SHOWN, _row(one), strict=True)]
    permissions = one_line(", ".join(one.permissions)) or "-"
    print(columns([*facts, ("permissions", permissions), ("digest", one.digest)]))
    if one.script is not None:
        print(f"\n{printable(one.script)}")


def _print_row(one: Registration, form: str) -> None:
    print(json_text(_as_json(one)) if form == "json" else columns([_SHOWN, _row(one)]))


def _row(one: Registration) -> tuple[str, ...]:
    from kinwire.support.timestamps import timestamp_of

    runs = one.url or " ".join((one.command or "", *one.args))
    state = "approved" if one.is_approved else "waits"
    by = f"{one.by_kind} {one.by}"
    cells = (one.id, state, by, timestamp_of(one.at), runs, one.justification or "-")
    return tuple(map(one_line, cells))


def _as_json(one: Registration) -> dict[str, Any]:
    from kinwire.support.timestamps import timestamp_of

    approval = one.approval
    found = {**one.to_json(), "at": timestamp_of(one.at), "digest": one.digest}
    found["state"] = "approved" if one.is_approved else "waits"
    if approval is not None:
        found["approval"] = {"by": approval.by, "at": timestamp_of(approval.at)}
    return found
