"""`kinwire permissions`: which permissions servers of a kernel have, and which they wait for."""

from __future__ import annotations

__all__ = ("PermissionsCommand",)

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_cli.action_options import refuse_other_options
from kinwire_cli.completion import completed_by
from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.kernel_state import add_store, kernel_audit, kernel_records, kernel_state
from kinwire_cli.layout import columns, json_text, one_line, printable
from kinwire_cli.quantities import seconds_from

if TYPE_CHECKING:
    from kinwire.mgp import PendingPermission, PermissionDecision
    from kinwire.mgp.kernel.confirmations import ConfirmationManager
    from kinwire.mgp.kernel.permissions import PermissionManager
    from kinwire.mgp.rules.confirmations import StandingAnswer

_USAGE = """\
kinwire permissions list [SERVER] --store URL [--format text|json]
       kinwire permissions approve SERVER [PERMISSION ...] --store URL [--expires-in SECONDS]
                                   [--by NAME] [--format text|json]
       kinwire permissions deny SERVER [PERMISSION ...] --store URL [--reason TEXT] [--by NAME]
                                [--format text|json]
       kinwire permissions revoke SERVER PERMISSION ... --store URL [--reason TEXT] [--by NAME]
                                  [--format text|json]
       kinwire permissions revoke SERVER --tool NAME [--agent NAME] --store URL [--by NAME]
                                  [--format text|json]"""
_EPILOG = """\
Without PERMISSION, approve and deny decide all that wait of the server. A family, such as shell,
stands for all of its permissions. A kernel that runs on the same store sees a decision within a
second, and calls that wait for it go on. The list also has the standing confirmations: answers for
all calls of a tool by an agent. revoke --tool ends them, and the next call is asked about.
"""
_DOTS_OF_OWN = 2  # in the name of a permission of an implementation, such as com.example.custom
_SHOWN = ("server", "permission", "state", "risk", "by", "at", "expires_at", "why")


class PermissionsCommand:
    """`kinwire permissions list|approve|deny|revoke --store URL`."""

    name: ClassVar[str] = "permissions"
    summary: ClassVar[str] = "list, approve, deny or revoke permissions of servers"
    group: ClassVar[str] = "security"
    exit_codes: ClassVar[dict[int, str]] = {4: "the engine is locked or could not be reached"}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire permissions list --store sqlite:///kernel.db",
        "kinwire permissions approve files --store sqlite:///kernel.db",
        "kinwire permissions approve files shell.execute --store sqlite:///kernel.db",
        "kinwire permissions revoke files --tool remove --store sqlite:///kernel.db",
        "kinwire permissions revoke files shell --reason 'it is misused' --store sqlite:///kernel.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=tuple(_ACTIONS))
        text = "the server_id that the kernel gives it, or its name in the list"
        parser.add_argument("server", nargs="?", metavar="SERVER", help=text)
        text = "such as filesystem.read, shell, or com.example.custom"
        named = parser.add_argument("permission", nargs="*", metavar="PERMISSION", help=text)
        completed_by(named, _standard)
        text = "approve: when it ends (default: never)"
        parser.add_argument("--expires-in", type=seconds_from, metavar="SECONDS", help=text)
        text = "deny, revoke: why, for people and audits"
        parser.add_argument("--reason", metavar="TEXT", help=text)
        text = "revoke: the tool whose standing confirmations end"
        parser.add_argument("--tool", metavar="NAME", help=text)
        text = "revoke --tool: the agent whose confirmation ends (default: all agents)"
        parser.add_argument("--agent", metavar="NAME", help=text)
        text = "who decides, for the server and audits (default: operator)"
        parser.add_argument("--by", metavar="NAME", help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_store(parser)

    def run(self, arguments: Namespace) -> int:
        """Do it."""
        from kinwire_cli.running import run

        action: str = arguments.action
        _check(action, arguments)
        return run(_ACTIONS[action], arguments)


def _standard(**_: Any) -> Iterable[str]:
    from kinwire_protocols.mgp.tables import STANDARD_PERMISSIONS

    return STANDARD_PERMISSIONS


def _check(action: str, arguments: Namespace) -> None:
    """Refuse arguments that are missing, or that the action does not take."""
    if action != "list" and arguments.server is None:
        raise UsageError(f"permissions {action} needs SERVER.", "kinwire help permissions")
    if action == "revoke" and bool(arguments.permission) == bool(arguments.tool):
        text = "permissions revoke needs PERMISSION, or --tool."
        raise UsageError(text, "kinwire help permissions")
    if arguments.agent is not None and arguments.tool is None:
        raise UsageError("--agent is an option of revoke --tool.", "Name the tool as well.")
    if arguments.tool is not None and arguments.reason is not None:
        raise UsageError("--reason is not an option of revoke --tool.", "Leave it out.")
    if action == "list" and arguments.permission:
        raise UsageError("permissions list takes no PERMISSION.", "Leave it out.")
    owners = {
        "expires_in": ("approve",),
        "reason": ("deny", "revoke"),
        "tool": ("revoke",),
        "by": ("approve", "deny", "revoke"),
    }
    refuse_other_options("permissions", arguments, owners)


@asynccontextmanager
async def _opened(
    arguments: Namespace,
) -> AsyncGenerator[tuple[PermissionManager, ConfirmationManager]]:
    """Yield the managers of the decisions and the standing confirmations in the store."""
    from kinwire.mgp.kernel.callers import OPERATOR, as_operator
    from kinwire.mgp.kernel.confirmations import ConfirmationManager, Confirmations
    from kinwire.mgp.kernel.permission_options import Permissions
    from kinwire.mgp.kernel.permissions import PermissionManager
    from kinwire.storage.clock import forward

    create = arguments.action in ("approve", "deny") and bool(arguments.permission)
    async with kernel_state(arguments.store, arguments.timeout, create=create) as store:
        clock = forward(time.time)
        records = await kernel_records(store)
        audit = await kernel_audit(store, clock, writes=arguments.action != "list")
        manager = PermissionManager(Permissions(), records, audit, clock)
        confirmed = ConfirmationManager(Confirmations(), manager, records, audit, clock)
        await manager.load()
        await confirmed.load()
        with as_operator(arguments.by or OPERATOR):
            yield manager, confirmed


async def _list(arguments: Namespace) -> int:
    async with _opened(arguments) as (manager, confirmed):
        found = [*_found(manager, arguments.server), *_standing(confirmed, arguments.server)]
    _print(found, arguments.format)
    if not found and arguments.format == "text":
        print("nothing waits, and nothing was decided", file=sys.stderr)
    return 0


async def _approve(arguments: Namespace) -> int:
    async with _opened(arguments) as (manager, _):
        names = _names(manager, arguments)
        await manager.approve(arguments.server, *names, lasts=arguments.expires_in)
        _print(_found(manager, arguments.server, names), arguments.format)
    return 0


async def _deny(arguments: Namespace) -> int:
    async with _opened(arguments) as (manager, _):
        names = _names(manager, arguments)
        decide = manager.revoke if arguments.action == "revoke" else manager.deny
        await decide(arguments.server, *names, reason=arguments.reason)
        _print(_found(manager, arguments.server, names), arguments.format)
    return 0


async def _revoke(arguments: Namespace) -> int:
    if arguments.tool is None:
        return await _deny(arguments)
    async with _opened(arguments) as (_, confirmed):
        server, agent, tool = arguments.server, arguments.agent, arguments.tool
        if not any(_is_about(one, server, agent, tool) for one in confirmed.standing):
            text = f"No confirmation of {tool} of {server} stands."
            raise UsageError(printable(text), "List them: kinwire permissions list")
        await confirmed.forget(server, agent=agent, tool=tool)
        _print(_standing(confirmed, server), arguments.format)
    return 0


def _is_about(one: StandingAnswer, server: str, agent: str | None, tool: str) -> bool:
    return (one.server, one.tool) == (server, tool) and agent in (None, one.agent)


_ACTIONS: dict[str, Callable[[Namespace], Awaitable[int]]] = {
    "list": _list,
    "approve": _approve,
    "deny": _deny,
    "revoke": _revoke,
}


def _names(manager: PermissionManager, arguments: Namespace) -> list[str]:
    """Return the permissions that are named, or those that wait, expanded.

    Raises:
        UsageError: a name is not valid, or nothing is named and nothing waits.
    """
    from kinwire.mgp.rules.permissions import checked_permissions

    if arguments.permission:
        try:
            named = list(checked_permissions("PERMISSION", arguments.permission))
        except ValueError as error:
            raise UsageError(str(error)) from None
        _note_unknown(manager, arguments.server, named)
        return named
    names = [one.permission for one in manager.pending if one.server == arguments.server]
    if not names:
        text = f"No permission of {arguments.server} waits for a decision."
        raise UsageError(printable(text), "Name the permission: kinwire help permissions")
    return names


def _note_unknown(manager: PermissionManager, server: str, named: Sequence[str]) -> None:
    """Say which names are not standard, and belong to nothing that the server has asked for."""
    from kinwire_protocols.mgp.tables import STANDARD_PERMISSIONS

    known = {*STANDARD_PERMISSIONS, *(row["permission"] for row in _found(manager, server))}
    for name in named:
        if name not in known and name.count(".") < _DOTS_OF_OWN:
            hint = did_you_mean(name, known)
            text = f"note: {name} is not a standard permission, and {server} has not asked for it."
            print(one_line(f"{text} {hint}".rstrip()), file=sys.stderr)


def _found(
    manager: PermissionManager, server: str | None, names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return what waits and what was decided, as JSON."""
    rows = [_waiting(one) for one in manager.pending]
    rows += [_decided(one) for one in manager.decisions]
    return [
        row
        for row in sorted(rows, key=lambda row: (row["server"], row["permission"]))
        if server in (None, row["server"])
        if names is None or row["permission"] in names
    ]


def _waiting(one: PendingPermission) -> dict[str, Any]:
    why = None if one.tool is None else f"{one.agent} calls {one.tool}"
    return _row(one.server, one.permission, "waits", None, one.since, None, why)


def _decided(one: PermissionDecision) -> dict[str, Any]:
    state = "revoked" if one.revoked else one.value
    return _row(one.server, one.permission, state, one.by, one.at, one.expires_at, one.reason)


def _standing(manager: ConfirmationManager, server: str | None) -> list[dict[str, Any]]:
    """Return the standing confirmations, which are about no permission, as JSON."""
    rows = [_confirmed(one) for one in manager.standing if server in (None, one.server)]
    return sorted(rows, key=lambda row: (row["server"], row["why"]))


def _confirmed(one: StandingAnswer) -> dict[str, Any]:
    state = "confirmed" if one.approved else "not confirmed"
    why = f"whenever {one.agent} calls {one.tool}"
    return _row(one.server, None, state, one.by, one.at, None, why)


def _row(
    server: str,
    permission: str | None,
    state: str,
    by: str | None,
    at: float,
    expires_at: float | None,
    why: str | None,
) -> dict[str, Any]:
    from kinwire.mgp.rules.permissions import risk_of
    from kinwire.support.timestamps import timestamp_of

    ends = None if expires_at is None else timestamp_of(expires_at)
    risk = None if permission is None else risk_of(permission)
    values = (server, permission, state, risk, by, timestamp_of(at), ends, why)
    return dict(zip(_SHOWN, values, strict=True))


def _print(rows: Sequence[dict[str, Any]], form: str) -> None:
    if form == "json":
        print(json_text(rows))
    elif rows:
        cells = [tuple(one_line(str(row[name] or "-")) for name in _SHOWN) for row in rows]
        print(columns([_SHOWN, *cells]))
