"""The tools that one agent has in its context, apart from all others (MGP 0.2.0, 16.7 and 16.8)."""

from __future__ import annotations

__all__ = ("SessionParts", "ToolSession", "ToolSource")

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.callers import Agent, as_agent
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.tool_cache import Loaded, SizedTool, ToolCache, ToolKey
from kinwire.mgp.rules.tool_context import (
    LEVELS,
    ContextLevelName,
    category_counts,
    context_tools,
)
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_names import names_for_session
from kinwire.rpc.errors import SessionStateError
from kinwire.support.arguments import (
    FLAG,
    OBJECT,
    PLAIN_FUNCTION,
    TEXT,
    TEXTS,
    ArgumentCheck,
    one_of,
)
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcp.models import CallToolRequestParams, CallToolResult
from kinwire_protocols.mgp.models import (
    ToolContextBudget,
    ToolsSessionEvictResult,
    ToolsSessionResult,
)

logger = logging.getLogger("kinwire.mgp")

_CALL = ArgumentCheck(
    "ToolSession.call",
    'await session.call("files", "read_file", {"path": "a.txt"})',
    {"server_id": TEXT, "name": TEXT, "arguments": OBJECT.or_none},
)
_LISTED = ArgumentCheck(
    "ToolSession.listed", 'await session.listed("L3")', {"level": one_of(*LEVELS)}
)
_STATE = ArgumentCheck("ToolSession.state", "await session.state()", {}, qualified=FLAG)
_EVICT = ArgumentCheck(
    "ToolSession.evict",
    'await session.evict(["read_file"])',
    {"names": TEXTS, "reason": TEXT.or_none},
)
_ON_CHANGE = ArgumentCheck(
    "ToolSession.on_change", "session.on_change(changed)", {"changed": PLAIN_FUNCTION}
)


class ToolSource(Protocol):
    """Where sessions have tools from: the index of a kernel, and what an agent sees of it."""

    def get(self, server_id: str, name: str) -> IndexedTool | None:
        """Return a tool as it is now; None if no connected server has it."""
        ...

    def server(self, id: str) -> GuardedServer | None:
        """Return a connected server by the kernel's name; None if it is not connected."""
        ...

    def tools(self) -> Iterable[IndexedTool]:
        """Return the tools of all connected servers."""
        ...

    async def ready(self) -> None:
        """Wait until the connected servers have listed their tools, if that does not take long."""
        ...

    async def allowed(
        self, caller: AccessPrincipal, tools: Sequence[IndexedTool]
    ) -> Sequence[IndexedTool]:
        """Return those of some tools that a caller may call, in the same order."""
        ...


class SessionParts(NamedTuple):
    """What the sessions of one kernel share."""

    source: ToolSource
    budget: ToolContextBudget
    size_of: Callable[[IndexedTool], int]
    """Returns how many tokens a tool takes in the context of a model."""


class ToolSession:
    """The tools that one agent has in its context. Get it from `MgpKernel.tool_session`."""

    def __init__(
        self,
        caller: AccessPrincipal,
        parts: SessionParts,
        pinned: Iterable[ToolKey],
        agent: Agent | None = None,
    ) -> None:
        self.caller: Final = caller
        """Whose session it is; decides which tools it can have."""
        self._agent = agent
        self._source = parts.source
        self._parts = parts
        self._cache = ToolCache(parts.budget)
        self._wanted = tuple(dict.fromkeys(pinned))
        self._digests = dict[ToolKey, str]()
        self._too_large = dict[ToolKey, str]()
        self._on_change = list[Callable[[], None]]()
        self._shown: object = ()

    def __len__(self) -> int:
        """Return how many tools the session has, pinned ones included."""
        return len(self._cache)

    @property
    def tokens(self) -> int:
        """How many tokens of the context pinned and cached tools take."""
        return self._cache.tokens

    @property
    def too_large(self) -> frozenset[ToolKey]:
        """Pinned tools that are left out, as the budget has no room for them."""
        return frozenset(self._too_large)

    def on_change(self, changed: Callable[[], None]) -> None:
        """Call a plain function whenever the session has other tools than before."""
        _ON_CHANGE.check(changed=changed)
        self._on_change.append(changed)

    async def call(
        self, server_id: str, name: str, arguments: JsonObject | None = None
    ) -> CallToolResult:
        """Call a tool for the agent of the session; a tool that has answered is cached.

        The call is judged and audited as every call is.

        Raises:
            SessionStateError: no server of that id is connected.
            RpcError: the call is refused, or the server answers with an error.
            ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for `Session.call`.
        """
        _CALL.check(server_id=server_id, name=name, arguments=arguments)
        server = self._source.server(server_id)
        if server is None:
            raise SessionStateError(f"No server {server_id!r:.60} is connected.")
        params = CallToolRequestParams(name=name, arguments=arguments)
        with as_agent(self._agent or self.caller.id):
            result = await server.session.call(TOOLS_CALL, params)
        tool = self._source.get(server_id, name)
        if tool is not None:
            self.use(tool)
        return result

    def use(self, tool: IndexedTool) -> None:
        """Note that a tool was called: it is cached from now on, and the last to go."""
        self.load([tool])

    def load(self, tools: Iterable[IndexedTool]) -> Loaded:
        """Put tools into the cache, the most wanted first, as far as there is room for them.

        They must be tools that the agent may call.
        """
        tools = tuple(tools)
        loaded = self._cache.load(map(self._sized, tools))
        self._note(tools)
        self._settle()
        return loaded

    def keep_results(self, results: Sequence[tuple[IndexedTool, int]]) -> tuple[IndexedTool, ...]:
        """Note the results of a search; return those that the discovery reserve has room for.

        Each is a tool with the tokens that it takes in the answer, the best first. They count until
        the next search; one that is called moves into the cache.
        """
        keys = {tool.key: tool for tool, _ in results}
        kept = self._cache.discover(SizedTool(tool.key, tokens) for tool, tokens in results)
        self._settle()
        return tuple(keys[key] for key in kept)

    def follow(self) -> None:
        """Take over what has changed in the index; access is looked at by `refresh`."""
        for key in (*self._cache.pinned, *self._cache.cached):
            tool = self._source.get(*key)
            if tool is None:
                self._cache.remove(key)
            elif self._digests.get(key) != tool.digest:
                self._cache.resize(self._sized(tool))
                self._digests[key] = tool.digest
        for key in self._wanted:
            tool = None if key in self._cache.pinned else self._source.get(*key)
            if tool is not None:
                self._pin(tool)
        self._settle()

    def concerns(self, server_id: str) -> bool:
        """Return whether the session has tools of a server, or shall have pinned ones of it."""
        keys = (*self._wanted, *self._cache.cached)
        return any(id == server_id for id, _ in keys)

    async def refresh(self) -> None:
        """Look at the index and at access again: tools that have gone, changed, or are denied.

        Raises:
            StorageError: entries of access cannot be read.
        """
        await self._source.ready()
        self.follow()
        keys = (*self._cache.pinned, *self._cache.cached)
        tools = self._at(keys)
        allowed = {tool.key for tool in await self._source.allowed(self.caller, tools)}
        for key in keys:
            if key not in allowed:
                self._cache.remove(key)
        self._settle()

    async def listed(self, level: ContextLevelName = "L3") -> list[JsonObject]:
        """Return what `tools/list` has for the agent at a level.

        Raises:
            StorageError: entries of access cannot be read.
            ValueError: there is no such level.

        Source: MGP 0.2.0 section 16.3.
        """
        _LISTED.check(level=level)
        if level in ("L0", "L1"):
            await self._source.ready()
            every = await self._source.allowed(self.caller, tuple(self._source.tools()))
            counts = Counter[str]() if level == "L0" else category_counts(every)
            return context_tools(level, every=every, categories=counts)
        await self.refresh()
        pinned, cached = self._at(self._cache.pinned), self._at(self._cache.cached)
        return context_tools(level, pinned=pinned, cached=cached)

    async def state(self, *, qualified: bool = False) -> ToolsSessionResult:
        """Return the answer to `mgp/tools/session`; with `qualified`, by names as in `listed`.

        Raises:
            StorageError: entries of access cannot be read.

        Source: MGP 0.2.0 section 16.7.
        """
        _STATE.check(qualified=qualified)
        await self.refresh()
        names = self._names(qualified=qualified)
        return ToolsSessionResult(
            pinned=[names[key] for key in self._cache.pinned],
            cached=[names[key] for key in self._cache.cached],
            total_tokens=self._cache.tokens,
            max_tokens=self._cache.budget.max_tokens,
        )

    async def evict(
        self, names: Collection[str], reason: str | None = None
    ) -> ToolsSessionEvictResult:
        """Take tools out of the cache, and return the answer to `mgp/tools/session/evict`.

        `names` are names as `state` and `listed` have them. Pinned tools are kept, and so is what
        the session does not have.

        Raises:
            StorageError: entries of access cannot be read.

        Source: MGP 0.2.0 section 16.7.
        """
        _EVICT.check(names=names, reason=reason)
        await self.refresh()
        named = {name: key for key, name in self._names(qualified=True).items()}
        named |= {name: key for key, name in self._names(qualified=False).items()}
        wanted = dict.fromkeys(names)
        gone = self._cache.evict(named[name] for name in wanted if name in named)
        if gone and reason:
            logger.info("%s evicts tools: %s", self.caller.id, sanitize_for_log(reason)[:200])
        self._settle()
        evicted = [name for name in wanted if named.get(name) in gone]
        return ToolsSessionEvictResult(
            evicted=evicted,
            kept=[name for name in wanted if name not in evicted],
            total_tokens=self._cache.tokens,
        )

    def _names(self, *, qualified: bool) -> dict[ToolKey, str]:
        return names_for_session((*self._cache.pinned, *self._cache.cached), qualified=qualified)

    def _at(self, keys: Iterable[ToolKey]) -> list[IndexedTool]:
        found = [self._source.get(*key) for key in keys]
        return [tool for tool in found if tool is not None]

    def _sized(self, tool: IndexedTool) -> SizedTool:
        return SizedTool(tool.key, self._parts.size_of(tool))

    def _note(self, tools: Iterable[IndexedTool]) -> None:
        """Remember which definitions the cache has the sizes of; pinned ones have their own."""
        for tool in tools:
            if tool.key not in self._cache.pinned:
                self._digests[tool.key] = tool.digest

    def _pin(self, tool: IndexedTool) -> None:
        key = tool.key
        if self._cache.pin(self._sized(tool)):
            self._digests[key] = tool.digest
            self._too_large.pop(key, None)
        elif self._too_large.get(key) != tool.digest:
            self._too_large[key] = tool.digest
            problem = "%s: the pinned tool %r has no room in the context budget and is left out"
            logger.warning(problem, tool.server_id, sanitize_for_log(tool.name)[:100])

    def _settle(self) -> None:
        """Forget what is over, and report if the session has other tools than before."""
        keys = (*self._cache.pinned, *self._cache.cached)
        self._digests = {key: self._digests[key] for key in keys}
        shown = frozenset(self._digests.items())
        if shown != self._shown:
            self._shown = shown
            for changed in self._on_change:
                _called(changed)


def _called(changed: Callable[[], None]) -> None:
    try:
        changed()
    except Exception:
        logger.exception("a function that follows a session of tools failed")
