"""Hooks of a host around its inference: what all servers inject, and who changes the response.

MCPL 10, 13.3 and 13.4. `injecting.py` asks each server, `rules/injections.py` checks and orders. A
server whose sets for a hook are all off is not asked and sees nothing.
"""

from __future__ import annotations

__all__ = ("HookManager", "Hooks")

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import anyio

from kinwire.mcpl.errors import HookFailedError
from kinwire.mcpl.host.audit import Audit
from kinwire.mcpl.host.injected_content import Fetch
from kinwire.mcpl.host.injection_collector import InjectionCollector
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.injections import Injection, InjectionLimits, Injections, grouped
from kinwire.mcpl.rules.names import checked_pattern, matches
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.validation import checked_seconds, checked_strings
from kinwire_protocols.mcpl.methods import CONTEXT_AFTER_INFERENCE
from kinwire_protocols.mcpl.models import (
    AfterInferenceParams,
    AfterInferenceResult,
    BeforeInferenceParams,
)

logger = logging.getLogger("kinwire.mcpl")

_BEFORE = "contextHooks.beforeInference"
_AFTER = "contextHooks.afterInference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """How a host runs its hooks; `McplHost(hooks=...)` takes one. Times are in seconds.

    `order` names the servers that come first, by what the host calls them; the others follow in
    the order in which they were connected. `fail_closed` are patterns of feature sets without whose
    hook no response is shown: each needs a set that is on and whose server blocks and has answered,
    and no server with such a set may fail. `before_timeout` is for what one server injects, with
    all that is read for it, and `after_timeout` for what one server makes of the response. Unless
    `blocking`, none changes it: all are told of it. `limits` say what an injection may be, and
    `accept` has the last word on one, by a plain function. `fetch` gets what is at an http address:
    a `UrlGuard`; without it that is dropped.

    Raises:
        TypeError: `order` or `fail_closed` is one string.
        ValueError: an entry of `fail_closed` is no pattern, or a time is none.

    Source: MCPL 10, 13.3, 13.4; the times are those that it recommends.
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
        checked_strings("order", self.order)
        for pattern in checked_strings("fail_closed", self.fail_closed):
            checked_pattern(pattern)
        checked_seconds("Hooks.before_timeout", self.before_timeout)
        checked_seconds("Hooks.after_timeout", self.after_timeout)


class HookManager:
    """The hooks of one host."""

    def __init__(self, policy: Hooks, audit: Audit) -> None:
        self.policy = policy
        self._audit = audit

    async def before(
        self, servers: Sequence[ServerPeer], params: BeforeInferenceParams
    ) -> Injections:
        """Ask all servers at once, and return what came in time and may be used."""
        asked = [one for one in self._ordered(servers) if one.participates(_BEFORE)]
        brought: dict[int, list[Injection]] = {}

        async def ask(place: int, server: ServerPeer) -> None:
            brought[place] = await InjectionCollector(self.policy, self._audit, server).run(params)

        async with anyio.create_task_group() as tasks:
            for place, server in enumerate(asked):
                tasks.start_soon(ask, place, server)
        return grouped(one for place in range(len(asked)) for one in brought[place])

    async def after(self, servers: Sequence[ServerPeer], params: AfterInferenceParams) -> str:
        """Return the response as the servers that may change it leave it; tell it to the others.

        Raises:
            HookFailedError: a server failed without which nothing is to be shown, or is not there,
                is switched off or does not block.
        """
        asked = [one for one in self._ordered(servers) if one.participates(_AFTER)]
        blocking = [one for one in asked if self.policy.blocking and one.offer.blocking]
        answered: set[str] = set()
        for server in blocking:
            reply = await self._changed(server, params)
            if reply is None:
                continue
            answered.update(_taking_part(server))
            if reply.modified_response is not None:
                params = params.model_copy(update={"assistant_message": reply.modified_response})
        self._must_cover(answered)
        async with anyio.create_task_group() as tasks:
            for server in asked:
                if server not in blocking:
                    tasks.start_soon(self._told, server, params)
        return params.assistant_message

    async def _changed(
        self, server: ServerPeer, params: AfterInferenceParams
    ) -> AfterInferenceResult | None:
        try:
            with anyio.fail_after(self.policy.after_timeout):
                return await server.session.call(CONTEXT_AFTER_INFERENCE, params, timeout=None)
        except Exception as error:
            why = _why(error)
            logger.warning("%s: its hook after inference failed: %s", server.id, why)
            needed = self._needed(server)
            if needed is not None:
                raise HookFailedError(server.id, needed, why) from error
            return None

    def _must_cover(self, answered: Collection[str]) -> None:
        for pattern in self.policy.fail_closed:
            if not any(matches(pattern, name) for name in answered):
                raise HookFailedError(
                    "", pattern, "it needs a feature set that is on, of a server that blocks"
                )

    async def _told(self, server: ServerPeer, params: AfterInferenceParams) -> None:
        try:
            # One that does not read is not to keep the response back either.
            with anyio.fail_after(self.policy.after_timeout):
                await server.session.notify(CONTEXT_AFTER_INFERENCE, params)
        except Exception as error:
            logger.warning("%s was not told of an inference: %s", server.id, _why(error))

    def _needed(self, server: ServerPeer) -> str | None:
        """Return a set of the server without whose hook nothing is to be shown."""
        return next(
            (
                name
                for name in _taking_part(server)
                if any(matches(pattern, name) for pattern in self.policy.fail_closed)
            ),
            None,
        )

    def _ordered(self, servers: Sequence[ServerPeer]) -> list[ServerPeer]:
        places = {name: place for place, name in enumerate(self.policy.order)}
        return sorted(servers, key=lambda one: places.get(one.id, len(places)))


def _why(error: Exception) -> str:
    return "it was late" if isinstance(error, TimeoutError) else sanitize_for_log(error)


def _taking_part(server: ServerPeer) -> list[str]:
    return [name for name in server.enabled if _AFTER in server.feature_sets[name].uses]
