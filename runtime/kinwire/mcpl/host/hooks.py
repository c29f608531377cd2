"""Hooks of a host around its inference: injections before it, changes of the response after it.

MCPL 10, 13.3 and 13.4; `rules/injections.py` checks and orders injections. A server whose sets for
a hook are all off is not asked and sees nothing.
"""

from __future__ import annotations

__all__ = ("HookManager", "Hooks", "InjectionCollector")

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields

import anyio

from kinwire.managers.ask import Answer, Failed, Late, ask, log_failure
from kinwire.mcpl.errors import HookFailedError
from kinwire.mcpl.host.audit import Audit
from kinwire.mcpl.host.injected_content import Fetch, resolved
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.injections import (
    Dropped,
    Injection,
    InjectionLimits,
    Injections,
    grouped,
    injection_problem,
    length_of,
    size_of,
)
from kinwire.mcpl.rules.items import LOOSE_BEFORE
from kinwire.mcpl.rules.names import ServerPattern
from kinwire.mcpl.rules.tags import AFTER_INFERENCE, BEFORE_INFERENCE
from kinwire.support.arguments import (
    FLAG,
    FUNCTION,
    PLAIN_FUNCTION,
    SECONDS,
    TEXTS,
    ArgumentCheck,
    instance_of,
)
from kinwire.support.errors import KinwireError
from kinwire_protocols.mcpl.methods import CONTEXT_AFTER_INFERENCE
from kinwire_protocols.mcpl.models import (
    AfterInferenceParams,
    AfterInferenceResult,
    BeforeInferenceParams,
    BeforeInferenceResult,
    Block,
    ContextInjection,
)

logger = logging.getLogger("kinwire.mcpl")

_MOST_BROUGHT = 16 * 1024 * 1024  # characters; one reply can name any number of large resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """How a host runs its hooks; `McplHost(hooks=...)` takes one. Times are in seconds.

    `order` has the `server_id` of those servers that come first; the others follow in the order in
    which they connected. `fail_closed` are patterns of feature sets without whose hook no response
    is shown: for each pattern an enabled set must match whose server blocks and has answered, and
    no server with such a set may fail. `SERVER/PATTERN` needs the server with that `server_id`; a
    pattern without a server is satisfied by any server that declares such a set. `before_timeout`
    is for the injections of one server, with all that is read for them, and `after_timeout` for the
    change of one server. If not `blocking`, no server changes the response, and all are notified of
    it. `limits` say what an injection may be; `accept`, a plain function, may refuse one. `fetch`
    reads http addresses: a `UrlGuard`; without it they are dropped.

    Raises:
        TypeError: `order` or `fail_closed` is a single string.
        ValueError: an entry of `fail_closed` is not a pattern, or a time is out of range.

    Source: MCPL 10, 13.3, 13.4, which recommends these times.
    """

    order: Sequence[str] = ()
    before_timeout: float = 5.0
    after_timeout: float = 10.0
    blocking: bool = True
    fail_closed: Sequence[str] = ()
    limits: InjectionLimits = field(default_factory=InjectionLimits)
    accept: Callable[[Injection], bool] | None = None
    fetch: Fetch | None = None

    def __post_init__(self) -> None:
        _HOOKS.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        for pattern in self.fail_closed:
            ServerPattern.read(pattern)


_HOOKS = ArgumentCheck(
    "Hooks",
    "Hooks()",
    {},
    order=TEXTS,
    before_timeout=SECONDS,
    after_timeout=SECONDS,
    blocking=FLAG,
    fail_closed=TEXTS,
    limits=instance_of(InjectionLimits, "InjectionLimits", "InjectionLimits()"),
    accept=PLAIN_FUNCTION.or_none,
    fetch=FUNCTION.or_none,
)


class HookManager:
    """The hooks of one host."""

    def __init__(self, policy: Hooks, audit: Audit) -> None:
        self.policy = policy
        self._audit = audit
        self._fail_closed = [ServerPattern.read(pattern) for pattern in policy.fail_closed]

    async def before(
        self, servers: Sequence[ServerPeer], params: BeforeInferenceParams
    ) -> Injections:
        """Ask all servers in parallel; return what came in time and may be used."""
        asked = [one for one in self._ordered(servers) if one.participates(BEFORE_INFERENCE)]
        brought: dict[int, list[Injection]] = {}

        async def collect(place: int, server: ServerPeer) -> None:
            brought[place] = await InjectionCollector(self.policy, self._audit, server).run(params)

        async with anyio.create_task_group() as tasks:
            for place, server in enumerate(asked):
                tasks.start_soon(collect, place, server)
        return grouped(one for place in range(len(asked)) for one in brought[place])

    async def after(self, servers: Sequence[ServerPeer], params: AfterInferenceParams) -> str:
        """Return the response with the changes of servers that block; notify the others of it.

        Raises:
            HookFailedError: a hook without which nothing may be shown failed, or is missing: its
                server is not connected, does not block, or its set is off.
        """
        asked = [one for one in self._ordered(servers) if one.participates(AFTER_INFERENCE)]
        blocking = [one for one in asked if self.policy.blocking and one.offer.blocking]
        answered: set[tuple[str | None, str]] = set()
        for server in blocking:
            reply = await self._changed(server, params)
            if reply is None:
                continue
            answered.update((server.server_id, name) for name in _participating(server))
            if reply.modified_response is not None:
                params = params.model_copy(update={"assistant_message": reply.modified_response})
        self._must_cover(answered, servers)
        async with anyio.create_task_group() as tasks:
            for server in asked:
                if server not in blocking:
                    tasks.start_soon(self._notify, server, params)
        return params.assistant_message

    async def _changed(
        self, server: ServerPeer, params: AfterInferenceParams
    ) -> AfterInferenceResult | None:
        reply = await ask(
            lambda params: server.session.call(CONTEXT_AFTER_INFERENCE, params, timeout=None),
            params,
            name="context/afterInference",
            timeout=self.policy.after_timeout,
            expects=AfterInferenceResult,
        )
        if isinstance(reply, Answer):
            return reply.value
        log_failure(logger, reply, "%s: its hook after inference failed", server.id)
        needed = self._needed(server)
        if needed is None:
            return None
        cause = reply.error if isinstance(reply, Failed) else None
        raise HookFailedError(server.id, needed, reply.reason) from cause

    def _must_cover(
        self, answered: Collection[tuple[str | None, str]], servers: Sequence[ServerPeer]
    ) -> None:
        for needed in self._fail_closed:
            if any(needed.matches(*one) for one in answered):
                continue
            reason = "it needs a feature set that is on, of a server that blocks"
            if not any(needed.is_for(one.server_id) for one in servers):
                reason = "no connected server has that server_id"
            raise HookFailedError(needed.server_id or "", needed.pattern, reason)

    async def _notify(self, server: ServerPeer, params: AfterInferenceParams) -> None:
        sent = await ask(
            lambda params: server.session.notify(CONTEXT_AFTER_INFERENCE, params),
            params,
            name="context/afterInference",
            timeout=self.policy.after_timeout,  # a server that does not read must delay nothing
            expects=object,
        )
        if not isinstance(sent, Answer):
            log_failure(logger, sent, "%s was not notified of an inference", server.id)

    def _needed(self, server: ServerPeer) -> str | None:
        """Return a set of the server without whose hook nothing may be shown."""
        return next(
            (
                name
                for name in _participating(server)
                if any(needed.matches(server.server_id, name) for needed in self._fail_closed)
            ),
            None,
        )

    def _ordered(self, servers: Sequence[ServerPeer]) -> list[ServerPeer]:
        places: dict[str | None, int] = {name: at for at, name in enumerate(self.policy.order)}
        return sorted(servers, key=lambda one: places.get(one.server_id, len(places)))


def _participating(server: ServerPeer) -> list[str]:
    return [name for name in server.enabled if AFTER_INFERENCE in server.feature_sets[name].uses]


class InjectionCollector:
    """Collects what one server injects into one inference; what is dropped is logged."""

    def __init__(self, policy: Hooks, audit: Audit, server: ServerPeer) -> None:
        self._policy = policy
        self._audit = audit
        self._server = server
        self._waiting: deque[tuple[ContextInjection, str]] = deque()
        self._used: list[Injection] = []
        self._size = 0  # characters of text that is used
        self._brought = 0  # characters of text and data, in the reply and read for it
        self._dropped: list[Dropped] = []

    async def run(self, params: BeforeInferenceParams) -> list[Injection]:
        """Return what came in time and may be used; log failures of the server."""
        late = False
        try:
            reply = await ask(
                self._ask,
                params,
                name="context/beforeInference",
                timeout=self._policy.before_timeout,
                expects=object,
            )
            late = isinstance(reply, Late)
            if not isinstance(reply, Answer):  # the inference goes on without it
                log_failure(logger, reply, "%s: its hook before inference failed", self._server.id)
        finally:
            for one, feature_set in self._waiting:
                why = "it was late" if late else "nobody waits for it any more"
                self._drop(feature_set, _name(one), why, late=late)
            # A slow log does not count against the time of the server.
            await self._audit.dropped(self._server.id, params.inference_id, self._dropped)
        return self._used

    async def _ask(self, params: BeforeInferenceParams) -> None:
        session = self._server.session
        reply = await session.call(LOOSE_BEFORE, params, timeout=None)
        self._waiting.extend((one, _set_of(one, reply)) for one in reply.context_injections or [])
        while self._waiting:
            await self._take(*self._waiting[0])
            self._waiting.popleft()

    async def _take(self, one: ContextInjection, feature_set: str) -> None:
        content: list[Block] = []
        for block in blocks_of(one.content):
            content += await self._usable(block, one, feature_set)
        injection = Injection(
            self._server.id, feature_set, one.namespace, one.position, content, one.metadata
        )
        problem = self._problem(injection)
        if problem is None:
            self._used.append(injection)
            self._size += size_of(injection.content)
        else:
            self._drop(feature_set, _name(one), problem)

    async def _usable(self, block: Block, one: ContextInjection, feature_set: str) -> list[Block]:
        types = self._policy.limits.types
        found: Sequence[Block] = []
        why = "it has nothing that the host takes"
        if self._brought > _MOST_BROUGHT:
            why = f"the reply brings more than {_MOST_BROUGHT} characters of text and data"
        elif block.type in types or block.type == "resource":
            try:
                found = await resolved(block, self._server.session, self._policy.fetch)
            except Exception as error:  # only this block is dropped
                failed = Failed(error)
                why = failed.reason
                if not isinstance(error, KinwireError):  # a function of the host has failed
                    log_failure(logger, failed, "%s: its content was not read", self._server.id)
        kept = [each for each in found if each.type in types]
        self._brought += sum(map(length_of, kept))
        if not kept:
            self._drop(feature_set, f"a block of type {block.type} of {_name(one)}", why)
        return kept

    def _problem(self, injection: Injection) -> str | None:
        problem = injection_problem(
            injection, self._policy.limits, self._server.server_id, before=self._size
        )
        if problem is not None or self._policy.accept is None:
            return problem
        try:
            return None if self._policy.accept(injection) else "the host does not accept it"
        except Exception:
            logger.exception("%s: judging what it injects failed", self._server.id)
            return "the host could not judge it"

    def _drop(self, feature_set: str, what: str, why: str, *, late: bool = False) -> None:
        self._dropped.append(Dropped(feature_set, f"left out {what}: {why}", late))


def _set_of(one: ContextInjection, reply: BeforeInferenceResult) -> str:
    feature_set = one.feature_set or reply.feature_set
    assert feature_set is not None  # injections without one were refused before
    return feature_set


def _name(one: ContextInjection) -> str:
    return f"an injection of {one.namespace!r:.60} at {one.position}"
