"""The tools of one server as the kernel knows them, and what of the list an agent is shown.

Every page of `tools/list` passes here, so that a changed definition is seen wherever it comes from.
The kernel fetches the list by itself before the first call and after each change.
"""

from __future__ import annotations

__all__ = ("Digests", "ToolList")

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

import anyio
from pydantic import ValidationError

from kinwire.managers.turns import in_turns
from kinwire.mcp.lists import for_checks, is_for_checks
from kinwire.mcp.rules.pagination import Pages
from kinwire.mgp.kernel.tracing import new_trace_id, traced_json
from kinwire.mgp.rules.tools import KnownTool, kept_after_change
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import KinwireError
from kinwire.rpc.interceptors import Send
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.json_values import json_size, short_digest
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mcp.methods import NOTIFICATIONS_TOOLS_LIST_CHANGED, TOOLS_LIST

logger = logging.getLogger("kinwire.mgp")

_MOST_FETCHED = 5  # times for one call, if the list changes while it is fetched
_AT_ONCE = 10  # tools that are read before other tasks have a turn
_MOST_SEEN = 10_000  # names of tools in one connection; calls of others are refused
_MOST_BYTES = 32_000_000  # of their definitions, as JSON

Shown = Callable[[Sequence[KnownTool]], Awaitable[Collection[str]]]
"""Returns the names of those tools of a page that are passed on."""

Know = Callable[[JsonObject], KnownTool | None]
"""Makes a `KnownTool` of an entry of the list; None if it is not a tool."""


class Digests(Protocol):
    """The digests of the definitions that one server has listed, also in earlier connections."""

    def of(self, name: str) -> str | None:
        """Return the digest of the last definition of a tool; None if it was not seen."""
        ...

    def keep(self, name: str, digest: str) -> None:
        """Remember the digest of a tool."""
        ...


class ToolList:
    """Knows the tools of one server."""

    _problem: KinwireError | None = None  # what is wrong in the list, if part of it is
    _bytes = 0  # of the definitions that are kept

    def __init__(
        self,
        session: Session,
        know: Know,
        shown: Shown,
        changed: Callable[[str, KnownTool], None],
        digests: Digests,
        *,
        is_traced: bool,
    ) -> None:
        """`shown` decides what of a list is passed on; `changed` gets the old digest and the tool.

        `digests` are of the definitions that the server listed in earlier connections. With
        `is_traced`, requests carry a trace id, as servers that speak MGP get it.
        """
        self.tools: dict[str, KnownTool] = {}
        """By name."""
        self.version = 0
        """Counts the changes of `tools`."""
        self.on_listed: list[Callable[[], None]] = []
        """What is called whenever the whole list was fetched."""
        self.on_changed: list[Callable[[], None]] = []
        """What is called when the list, or a definition in it, may be another one now."""
        self.is_reading = False
        """Whether the server has answered with a page of a list that is being fetched."""
        self._is_cut = False
        self._seen = dict[str, KnownTool]()  # in this connection, also removed ones
        self._session = session
        self._know = know
        self._shown = shown
        self._changed = changed
        self._digests = digests
        self._is_traced = is_traced
        self._fresh = False
        self._changes = 0
        self._fetches = 0
        self._turn = anyio.Lock()
        session.guard(NOTIFICATIONS_TOOLS_LIST_CHANGED, self._forget)
        session.intercept_wire(TOOLS_LIST.name, self._passed)

    def at_hand(self, name: str) -> KnownTool | None:
        """Return a tool without waiting; None if the list has to be looked at."""
        return self.tools.get(name) if self._fresh else None

    async def find(self, name: str) -> KnownTool | None:
        """Return a tool; None if the server has no such tool, also after the list was fetched.

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError,
            PaginationError: the tools could not be listed, or one that is left out of them could
                have this name.
        """
        if not self._fresh or name not in self.tools:
            await self._fetch_once()
        if self._problem is not None and name not in self.tools:
            raise self._problem
        return self.tools.get(name)

    async def refresh(self) -> None:
        """Fetch the list, unless it is the server's present one as far as the kernel knows.

        Raises:
            RpcError, KinwireError: as for `find`.
        """
        if not self._fresh:
            await self._fetch_once()

    async def _fetch_once(self) -> None:
        """Fetch the list; parallel calls fetch it once."""
        seen = self._fetches
        async with self._turn:
            if self._fetches == seen:
                await self._fetch()

    async def _fetch(self) -> None:
        if self._session.denial_reason(TOOLS_LIST) is not None:
            self.tools, self._fresh = {}, True
            self.version += 1
            self._report(self.on_listed)
            return
        try:
            with for_checks():
                for _attempt in range(_MOST_FETCHED):
                    if await self._fetched_whole():
                        break
        finally:
            self.is_reading = False
        self._fetches += 1
        self._report(self.on_listed)

    async def _fetched_whole(self) -> bool:
        """Fetch the list; return False if it has changed in the meantime."""
        before, pages = self._changes, Pages[Any](TOOLS_LIST.name, _name_of)
        found: dict[str, KnownTool] = {}
        problem: KinwireError | None = None
        while pages.has_next():
            params = {} if pages.cursor is None else {"cursor": pages.cursor}
            page, problem_here = self._checked(await self._page(params))
            problem = problem or problem_here
            self.is_reading = True
            pages.accept(page["tools"], page.get("nextCursor"))
            taken = len(found)
            async for entry in in_turns(page["tools"], _AT_ONCE):
                tool = self._take(entry)  # one that is listed twice has the checks of both
                if tool is not None:
                    found[tool.name] = tool
            if self._is_cut and len(found) == taken:  # there is no room for what comes
                break
        await anyio.lowlevel.checkpoint()  # handle what came before the list
        self.tools = found
        self.version += 1
        self._note(problem)
        self._fresh = before == self._changes
        return self._fresh

    async def _page(self, params: JsonObject) -> Any:
        """Return a page. An error of the server must not look like a refusal of the kernel."""
        try:
            return await self._session.raw(TOOLS_LIST.name, params)
        except RpcError as error:
            raise RpcError(sanitize_for_log(error.message), code=error.code) from error

    def _checked(self, page: Any) -> tuple[JsonObject, KinwireError | None]:
        """Return a page without what is not a tool in it, and what is wrong with that.

        Raises:
            ShapeError: it breaks the schema of pages elsewhere.
        """
        try:
            TOOLS_LIST.decode_result(page)
        except ValidationError as error:
            problem = self._session.shape_error(TOOLS_LIST.name, error, page)
            wrong = _wrong_entries(error)
            if wrong is None:
                raise problem from None
            tools = [one for at, one in enumerate(page["tools"]) if at not in wrong]
            return {**page, "tools": tools}, problem
        return cast("JsonObject", page), None

    def _note(self, problem: KinwireError | None) -> None:
        """Keep what is wrong in the list, and say so unless it was said."""
        if problem is not None and str(problem) != str(self._problem):
            server_id = self._session.identity.server_id
            logger.warning("%s: what is not a tool is left out: %s", server_id, problem)
        self._problem = problem

    async def _passed(self, params: JsonObject, send: Send) -> Any:
        if self._is_traced and "trace_id" not in params:
            params = traced_json(params, new_trace_id())
        page = await send(params)
        listed = page.get("tools") if is_object(page) else None
        if is_for_checks() or not isinstance(listed, list):
            return page
        entries = cast("list[object]", listed)
        found = dict[int, KnownTool | None]()
        async for entry in in_turns(filter(is_object, entries), _AT_ONCE):
            found[id(entry)] = self._take(entry)
        tools = [tool for tool in found.values() if tool is not None]
        shown = await self._shown(tools) if tools else ()
        hidden = {at for at, tool in found.items() if tool is not None and tool.name not in shown}
        return {**page, "tools": [entry for entry in entries if id(entry) not in hidden]}

    def _take(self, definition: JsonObject) -> KnownTool | None:
        name = definition.get("name")
        before = self._seen.get(name) if isinstance(name, str) else None
        if before is not None and before.digest == short_digest(definition):
            return before
        if before is None and len(self._seen) >= _MOST_SEEN:  # to forget one would drop its checks
            self._cut()
            return None
        tool = self._know(definition)
        if tool is None:
            return None
        if not self._has_room(before, tool):
            self._cut()
            return None
        tool = self._compared(before, tool)
        self._seen[tool.name] = tool
        self._digests.keep(tool.name, tool.digest)
        if tool.name in self.tools:
            self.tools[tool.name] = tool
            self.version += 1
            self._report(self.on_changed)
        return tool

    def _has_room(self, before: KnownTool | None, tool: KnownTool) -> bool:
        """Return whether a definition may be kept, in place of an earlier one, and count it."""
        freed = 0 if before is None else json_size(before.definition, _MOST_BYTES)
        size = self._bytes - freed + json_size(tool.definition, _MOST_BYTES)
        if size > _MOST_BYTES:
            return False
        self._bytes = size
        return True

    def _compared(self, before: KnownTool | None, tool: KnownTool) -> KnownTool:
        """Return a tool that was not seen yet, or has changed, as it compares with what it was."""
        digest = self._digests.of(tool.name) if before is None else before.digest
        if digest not in (None, tool.digest):
            self._changed(digest, tool)
            changed = replace(tool, changed=True)
            return changed if before is None else kept_after_change(before, tool)
        return tool

    def _cut(self) -> None:
        """Leave a tool out, and say so once for each connection."""
        if not self._is_cut:
            self._is_cut = True
            logger.warning(
                "%s: it has listed more than %d tools, or %d bytes of them; the kernel knows those "
                "that came first",
                *(self._session.identity.server_id, _MOST_SEEN, _MOST_BYTES),
            )

    def _report(self, followers: list[Callable[[], None]]) -> None:
        for follower in followers:
            follower()

    def _forget(self, params: mcp.NotificationParams, request: Request) -> None:
        self._fresh = False
        self._changes += 1
        self._report(self.on_changed)


def _wrong_entries(error: ValidationError) -> Collection[int] | None:
    """Return the places of the tools in a page that are wrong; None if something else is."""
    wrong = set[int]()
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        place = problem["loc"]
        at = place[1] if len(place) > 1 and place[0] == "tools" else None
        if not isinstance(at, int):
            return None
        wrong.add(at)
    return wrong


def _name_of(entry: JsonObject) -> str:
    name: str = entry["name"]
    return name
