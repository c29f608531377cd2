"""What a client in Python does with the interop server, whatever it is made with.

The programs next to this file have a `Session` each, on the library that they are named after;
`tests/interop/host.py` has ours. They run where kinwire is not, so nothing is imported here.
"""

from __future__ import annotations

__all__ = ("MODEL", "ROOT", "SAID", "TODAY", "Session", "kept", "use")

from typing import Any, Protocol

MODEL, SAID, ROOT = "deep-thought", "42", "file:///home/ada"
"""What the client's model is called and says, and its only root."""

TODAY = "memo://today"
TEXT = "grüße, 世界 \U0001f600\u2028"

LISTS = ("tools", "resources", "prompts")


class Session(Protocol):
    """A client's connection to the server, in the words of this flow."""

    news: list[str]
    """The methods of notifications about lists and resources, as they came."""
    progress: list[list[float | None]]
    logs: list[list[Any]]
    subscribes: bool
    """Whether the server has subscriptions."""

    async def server(self) -> dict[str, str]:
        """Return the server's name and the version spoken."""
        ...

    async def tools(self) -> list[str]: ...
    async def resources(self) -> list[str]: ...
    async def templates(self) -> list[str]: ...
    async def prompts(self) -> list[str]: ...
    async def read(self, uri: str) -> str: ...
    async def prompt(self, name: str, argument: str, value: str) -> str: ...
    async def complete(self, prompt: str, argument: str, value: str) -> list[str]: ...

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return the text that a tool answers, reporting progress into `progress`."""
        ...

    async def failure(self, tool: str, arguments: dict[str, Any]) -> int | str | None:
        """Return the code of the error that a call earns, "isError", or None if it is fine."""
        ...

    async def give_up(self, tool: str) -> None:
        """Call a tool that never answers; cancel the call when it reports progress."""
        ...

    async def ping(self) -> None: ...
    async def set_level(self, level: str) -> None: ...
    async def subscribe(self, uri: str) -> None: ...
    async def unsubscribe(self, uri: str) -> None: ...
    async def roots_changed(self) -> None: ...


async def use(session: Session) -> dict[str, Any]:
    """Use every method of MCP 2024-11-05; return what came of it by method."""
    return {
        "initialize": await session.server(),
        **await _lists(session),
        **await _tools(session),
        **await _news(session),
        **await _words(session),
    }


async def _lists(session: Session) -> dict[str, Any]:
    return {
        "tools/list": sorted(await session.tools()),
        "resources/list": await session.resources(),
        "resources/templates/list": await session.templates(),
        "resources/read": await session.read(TODAY),
        "prompts/list": await session.prompts(),
        "prompts/get": await session.prompt("plan", "day", "Monday"),
        "completion/complete": await session.complete("plan", "day", "T"),
    }


async def _tools(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = {"tools/call": await session.call("echo", {"message": TEXT})}
    await session.call("count", {"to": 3})
    found["notifications/progress"] = session.progress
    found["sampling/createMessage"] = await session.call("ask", {})
    found["roots/list"] = await session.call("where", {})
    await session.ping()
    found["ping"] = await session.call("knock", {})
    await session.set_level("notice")
    await session.call("speak", {})
    found["notifications/message"] = session.logs
    found["unknown tool"] = await session.failure("nosuch", {})
    found["bad arguments"] = await session.failure("count", {"to": "three"})
    return found


async def _news(session: Session) -> dict[str, Any]:
    if session.subscribes:
        await session.subscribe(TODAY)
    await session.call("change", {})
    if session.subscribes:
        await session.unsubscribe(TODAY)
    await session.call("change", {})  # of which only the lists are notified
    changed = [f"notifications/{name}/list_changed" for name in LISTS]
    while any(session.news.count(method) < 2 for method in changed):
        await session.ping()  # what came before its answer has been handed on soon after
    return {method: session.news.count(method) for method in session.news}


async def _words(session: Session) -> dict[str, Any]:
    await session.give_up("wait")
    await session.roots_changed()
    while await session.call("heard", {}) != "cancelled roots":
        pass  # the program that runs this limits its time
    return {"notifications/cancelled": "heard", "notifications/roots/list_changed": "heard"}


def kept(capabilities: dict[str, Any], tool: dict[str, Any]) -> dict[str, bool]:
    """Return which members of the server of unknown members are left in what a client shows."""
    return {
        "capabilities.mgp": "mgp" in capabilities,
        "capabilities.experimental.mcpl": "mcpl" in capabilities.get("experimental", {}),
        "tool.security": "security" in tool,
        "tool._meta.security": "security" in (tool.get("_meta") or {}),
    }
