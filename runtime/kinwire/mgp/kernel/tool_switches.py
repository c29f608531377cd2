"""Tools that the operator has switched off (MGP 14.3, 4002)."""

from __future__ import annotations

__all__ = ("ToolSwitches",)

from collections.abc import Awaitable, Callable
from typing import Any, Final

from kinwire.managers.durable_map import DurableMap, RecordCodec
from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import operator_now
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import TOOL_DISABLED, TOOL_ENABLED, SecurityEvent
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.arguments import TEXT, ArgumentCheck
from kinwire.support.json_values import short_digest
from kinwire_protocols.mgp import errors

Tool = tuple[str, str]
"""The kernel's name of a server, and a tool of it."""

_PREFIX: Final = "disabled/"
_ABOUT = {"server": TEXT, "tool": TEXT}
_DISABLE = ArgumentCheck("disable", 'await kernel.tools.disable("files", "delete")', _ABOUT)
_ENABLE = ArgumentCheck("enable", 'await kernel.tools.enable("files", "delete")', _ABOUT)


def _read(name: str, kept: Any) -> tuple[Tool, str]:
    match kept:
        case {"server": str(server), "tool": str(tool), "by": str(by)}:
            return (server, tool), by
        case _:
            raise ValueError(f"disabled/{name}: expected server, tool and by")


_CODEC = RecordCodec[Tool, str](
    lambda tool: "/".join(map(short_digest, tool)),
    lambda tool, by: {"server": tool[0], "tool": tool[1], "by": by},
    _read,
)


class ToolSwitches:
    """`kernel.tools`: which tools are switched off. With records, that outlives the process."""

    def __init__(
        self,
        records: Records | None,
        clock: Clock,
        record: Callable[[SecurityEvent], Awaitable[object]],
    ) -> None:
        """Prepare; `record` writes an audit event."""
        self._off = DurableMap(records, _PREFIX, _CODEC, limit=None, clock=clock)
        self._record = record
        self._is_loaded = False
        self._names = frozenset[Tool]()  # of the tools that are off

    async def load(self) -> None:
        """Read what is stored, once.

        Raises:
            StorageError: it cannot be read.
        """
        if not self._is_loaded:
            await self._off.load()
            self._is_loaded = True
            self._names = frozenset(tool for tool, _ in self._off.items())

    async def disable(self, server: str, tool: str) -> None:
        """Switch a tool of a server off: it is not listed, and calls are refused (4002).

        Raises:
            StorageError: it cannot be stored; nothing has changed.
        """
        _DISABLE.check(server=server, tool=tool)
        await self._off.put((server, tool), operator_now())
        self._names |= {(server, tool)}
        await self._note(TOOL_DISABLED, server, tool)

    async def enable(self, server: str, tool: str) -> None:
        """Switch a tool on again.

        Raises:
            StorageError: it cannot be stored; nothing has changed.
        """
        _ENABLE.check(server=server, tool=tool)
        await self._off.delete((server, tool))
        self._names -= {(server, tool)}
        await self._note(TOOL_ENABLED, server, tool)

    def some_off(self, server: str) -> bool:
        """Return whether a tool of a server is switched off."""
        return any(one == server for one, _ in self._names)

    def is_off(self, server: str, tool: str) -> bool:
        """Return whether a tool is switched off."""
        return (server, tool) in self._names

    def check(self, call: GuardedCall) -> None:
        """Raise if the tool is switched off.

        Raises:
            ToolDisabledError: it is.
        """
        server, tool = call.server.id, call.tool.name
        if self.is_off(server, tool):
            raise refusal(
                errors.ToolDisabledError,
                f"{server}: the tool {tool!r:.60} was switched off by an operator, who can call "
                "kernel.tools.enable().",
            )

    async def _note(self, kind: str, server: str, tool: str) -> None:
        who = operator_now()
        await self._record(
            SecurityEvent(kind, "operator", who, server, tool, "SUCCESS", {}, new_trace_id())
        )
