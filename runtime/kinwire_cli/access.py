"""`kinwire access`: which agents may use which tools of the servers of a kernel."""

from __future__ import annotations

__all__ = ("AccessCommand",)

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from kinwire_cli.action_options import refuse_other_options
from kinwire_cli.failure import PROBLEMS_FOUND, UsageError
from kinwire_cli.kernel_state import add_store, kernel_audit, kernel_records, kernel_state
from kinwire_cli.layout import columns, json_text, printable
from kinwire_cli.quantities import seconds_from

if TYPE_CHECKING:
    from kinwire.mgp.kernel.access import AccessExplanation, AccessManager
    from kinwire.mgp.rules.access import AccessStep
    from kinwire_protocols.mgp import AccessEntry

_USAGE = """\
kinwire access list [AGENT [SERVER]] --store URL [--format text|json]
       kinwire access grant AGENT SERVER [TOOL] --store URL [--deny] [--expires-in SECONDS]
                            [--reason TEXT] [--format text|json]
       kinwire access revoke AGENT SERVER [TOOL] --store URL [--format text|json]
       kinwire access explain AGENT SERVER TOOL --store URL [--default opt-in|opt-out]
                              [--format text|json]"""
_EPILOG = """\
An entry for a tool outranks one for its server, and that the server's default: opt-in denies,
opt-out allows. A kernel that runs on the same store sees a change with the next call.
"""
_SHOWN = ("agent", "server", "tool", "permission", "granted_by", "granted_at", "expires_at", "why")


class AccessCommand:
    """`kinwire access list|grant|revoke|explain --store URL`."""

    name: ClassVar[str] = "access"
    summary: ClassVar[str] = "list, grant, revoke or explain the access of agents to tools"
    group: ClassVar[str] = "security"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "explain: the agent has no access; revoke: there was no entry",
        4: "the engine is locked or could not be reached",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire access list --store sqlite:///kernel.db",
        "kinwire access grant agent.a files read_file --store sqlite:///kernel.db",
        "kinwire access grant agent.a files --deny --store sqlite:///kernel.db",
        "kinwire access explain agent.a files read_file --store sqlite:///kernel.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=tuple(_ACTIONS))
        parser.add_argument("agent", nargs="?", metavar="AGENT", help="as the kernel names it")
        text = "the server_id that the kernel gives it"
        parser.add_argument("server", nargs="?", metavar="SERVER", help=text)
        text = "without it, an entry is about all tools of the server"
        parser.add_argument("tool", nargs="?", metavar="TOOL", help=text)
        parser.add_argument("--deny", action="store_true", help="grant: deny instead of allowing")
        text = "grant: when the entry ends"
        parser.add_argument("--expires-in", type=seconds_from, metavar="SECONDS", help=text)
        parser.add_argument("--reason", metavar="TEXT", help="grant: why, for people and audits")
        text = "explain: the default of the server (default: opt-out)"
        parser.add_argument("--default", choices=("opt-in", "opt-out"), help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_store(parser)

    def run(self, arguments: Namespace) -> int:
        """Do it; `explain` returns 1 for no access, `revoke` if there was no entry."""
        from kinwire_cli.running import run

        action: str = arguments.action
        _check(action, arguments)
        return run(_ACTIONS[action], arguments)


def _check(action: str, arguments: Namespace) -> None:
    """Refuse arguments that are missing, or that the action does not take."""
    needed = {"list": (), "explain": ("agent", "server", "tool")}.get(action, ("agent", "server"))
    for name in needed:
        if getattr(arguments, name) is None:
            raise UsageError(f"access {action} needs {name.upper()}.", "kinwire help access")
    if action == "list" and arguments.tool is not None:
        raise UsageError("access list takes no TOOL.", "Leave it out.")
    granting = dict.fromkeys(("deny", "expires_in", "reason"), ("grant",))
    refuse_other_options("access", arguments, {**granting, "default": ("explain",)})


@asynccontextmanager
async def _opened(arguments: Namespace) -> AsyncGenerator[AccessManager]:
    """Yield the manager of the entries in the store."""
    from kinwire.mgp.kernel.access import AccessManager
    from kinwire.storage.clock import forward

    create = arguments.action == "grant"
    default: Literal["opt-in", "opt-out"] = arguments.default or "opt-out"
    async with kernel_state(arguments.store, arguments.timeout, create=create) as store:
        clock = forward(time.time)
        records = await kernel_records(store)
        audit = await kernel_audit(store, clock, writes=arguments.action in ("grant", "revoke"))
        yield AccessManager(records, clock, lambda server: default, audit.record)


async def _list(arguments: Namespace) -> int:
    async with _opened(arguments) as access:
        entries = await access.list(arguments.agent, arguments.server)
    if arguments.format == "json":
        print(json_text([_wire(entry) for entry in entries]))
    elif entries:
        print(printable(columns([_SHOWN, *map(_row, entries)])))
    else:
        print("there are no entries", file=sys.stderr)
    return 0


async def _grant(arguments: Namespace) -> int:
    async with _opened(arguments) as access:
        entry = await access.grant(
            arguments.agent,
            arguments.server,
            "deny" if arguments.deny else "allow",
            tool=arguments.tool,
            expires_in=arguments.expires_in,
            justification=arguments.reason,
        )
    _print_entry(entry, arguments)
    return 0


async def _revoke(arguments: Namespace) -> int:
    async with _opened(arguments) as access:
        found = await access.revoke(arguments.agent, arguments.server, tool=arguments.tool)
    if found.entry is None:
        what = arguments.tool or "the whole server"
        text = f"there was no entry of {arguments.agent} for {arguments.server}, {what}"
        print(printable(text), file=sys.stderr)
        return PROBLEMS_FOUND
    _print_entry(found.entry, arguments)
    return 0


async def _explain(arguments: Namespace) -> int:
    async with _opened(arguments) as access:
        found = await access.explain(arguments.agent, arguments.server, arguments.tool)
    if arguments.format == "json":
        print(json_text(_explained(found)))
    else:
        _print_explanation(found)
    return 0 if found.decision.allowed else PROBLEMS_FOUND


_ACTIONS: dict[str, Callable[[Namespace], Awaitable[int]]] = {
    "list": _list,
    "grant": _grant,
    "revoke": _revoke,
    "explain": _explain,
}


def _print_entry(entry: AccessEntry, arguments: Namespace) -> None:
    if arguments.format == "json":
        print(json_text(_wire(entry)))
    else:
        print(printable(columns([_SHOWN, _row(entry)])))


def _row(entry: AccessEntry) -> tuple[str, ...]:
    wire = _wire(entry)
    names = ("agent_id", "server_id", "tool_name", "permission", "granted_by", "granted_at")
    cells = [wire.get(name) or "*" for name in names]
    return (*cells, wire.get("expires_at") or "never", wire.get("justification") or "-")


def _wire(entry: AccessEntry) -> dict[str, Any]:
    from kinwire_protocols.base import to_wire

    return to_wire(entry)


def _print_explanation(found: AccessExplanation) -> None:
    decision, subject = found.decision, found.subject
    verb = "may" if decision.allowed else "may not"
    print(printable(f"{subject.agent} {verb} use {subject.tool} of {subject.server}"))
    decided = False
    rows: list[tuple[str, str, str]] = []
    for step in found.steps:
        decides = not decided and step.permission is not None
        decided = decided or decides
        rows.append(("->" if decides else "  ", step.source, _said(step)))
    print(printable(columns(rows)))


def _said(step: AccessStep) -> str:
    from kinwire.mgp.rules.access_results import entry_of

    if step.entry is None:
        return step.permission or "no entry"
    wire = _wire(entry_of(step.entry))
    ends = wire["expires_at"]
    until = "" if ends is None else f", {'until' if step.permission else 'ended'} {ends}"
    by = f"by {wire['granted_by']} at {wire['granted_at']}{until}"
    return f"{step.entry.permission}, {by}"


def _explained(found: AccessExplanation) -> dict[str, Any]:
    from kinwire.mgp.rules.access_results import entry_of, query_result
    from kinwire_protocols.base import to_wire

    steps = [
        {
            "source": step.source,
            "permission": step.permission,
            "entry": None if step.entry is None else _wire(entry_of(step.entry)),
        }
        for step in found.steps
    ]
    return {**to_wire(query_result(found.decision)), "steps": steps}
