"""What a server of MCP-lite serves: a source of tools, and the call that a source runs."""

from __future__ import annotations

__all__ = (
    "ANYONE",
    "LiteCaller",
    "LiteSource",
    "NoSuchToolError",
    "Put",
    "ToolRun",
    "ToolServer",
)

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from kinwire.mcplite.rules.calls import ToolCall
from kinwire_protocols.base import JsonObject

Put = Callable[[JsonObject], Awaitable[None]]
"""Takes a part of a result, and returns when the client can take the next one."""


class LiteCaller(NamedTuple):
    """Who calls."""

    principal: object = None
    """Who the client is, as `authenticate` said; None if nobody asked."""
    deadline: float | None = None
    """Until when the client waits, a time of `anyio.current_time`; None for as long as it takes."""


ANYONE = LiteCaller()


class ToolRun:
    """One run of a tool, for its source."""

    report: Callable[[JsonObject], None] | None = None
    """Takes the progress of a promise; None if nobody watches."""
    promised: Callable[[float | None], Awaitable[None]] | None = None
    """Called when the tool has promised, with the seconds that it estimates; the work goes on
    when it returns. None if the tool may not promise here."""
    answers: Mapping[str, Any] | None = None
    """The answers to questions that the tool has asked, by their ids."""
    state: Any = None
    """What the tool had asked these questions with."""
    cancelled = False
    """Whether nobody waits for the result. Threads may read this."""

    def __init__(self, call: ToolCall, caller: LiteCaller, send: Put | None = None) -> None:
        self.call = call
        self.caller = caller
        self.send = send
        """Takes a part `{"partial": ...}` of the result; None if the client gets one result."""

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress: `progress` of `total`, in any unit, and a text."""
        if self.report is not None:
            given = {"progress": progress, "total": total, "message": message}
            self.report({name: value for name, value in given.items() if value is not None})


class NoSuchToolError(LookupError):
    """A source has no tool of the name that a run asks for."""


@runtime_checkable
class ToolServer(Protocol):
    """A server of MCP, by what its adapter to MCP-lite needs."""

    @property
    def tool_table(self) -> Any:
        """See `Registry.tool_table`."""
        ...


class LiteSource(Protocol):
    """Tools that a server of MCP-lite lists and calls."""

    @property
    def version(self) -> str | None:
        """The version of the server, for its clients."""
        ...

    @property
    def may_promise(self) -> bool:
        """Whether any of the tools may answer by a promise."""
        ...

    def promise_after(self, name: str) -> float | None:
        """Return after how many seconds a call of this tool becomes a promise; None for never."""
        ...

    async def list_tools(self, caller: LiteCaller) -> Sequence[JsonObject]:
        """Return the definitions of the tools: the same object as before if nothing has changed."""
        ...

    def run(self, run: ToolRun) -> Awaitable[object]:
        """Run a tool, and return what came of it.

        That is the result as a JSON object, with `content` or other fields of a result; or
        `NeedsAnswers`, `MoreResources`, or `Promised`, whose work returns one of all these. Parts
        go to `run.send` if it is not None; the result has all of them nevertheless.

        Raises:
            ToolError: the tool failed.
            NoSuchToolError: the source has no tool of that name.
            RpcError: an error of the protocol, as `InvalidParamsError` for wrong arguments.
        """
        ...
