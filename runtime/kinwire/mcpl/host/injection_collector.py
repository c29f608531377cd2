"""What one server injects into one inference: asked for, read, judged (MCPL 10.2 to 10.6, 13.4).

Whatever is dropped is told to the audit, which warns of it: blocks that cannot be had or used, and
injections that are too large, stand in a wrong place, come too late or are not accepted.
"""

from __future__ import annotations

__all__ = ("InjectionCollector",)

import logging
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from kinwire.mcpl.host.audit import Audit
from kinwire.mcpl.host.injected_content import resolved
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.injections import (
    Dropped,
    Injection,
    blocks_of,
    injection_problem,
    length_of,
    size_of,
)
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mcpl.methods import CONTEXT_BEFORE_INFERENCE
from kinwire_protocols.mcpl.models import (
    BeforeInferenceParams,
    BeforeInferenceResult,
    Block,
    ContextInjection,
)

if TYPE_CHECKING:
    from kinwire.mcpl.host.hooks import Hooks

logger = logging.getLogger("kinwire.mcpl")

_MOST_BROUGHT = 16 * 1024 * 1024  # a reply of one message can name any number of large things


class InjectionCollector:
    """The hook before inference of one server, for one inference."""

    def __init__(self, policy: Hooks, audit: Audit, server: ServerPeer) -> None:
        self._policy = policy
        self._audit = audit
        self._server = server
        self._left: deque[tuple[ContextInjection, str]] = deque()
        self._used: list[Injection] = []
        self._size = 0  # characters of text that is used
        self._brought = 0  # characters of text and data, in the reply and read for it
        self._dropped: list[Dropped] = []

    async def run(self, params: BeforeInferenceParams) -> list[Injection]:
        """Return what came in time and may be used. The server's trouble is told and not raised."""
        late = False
        try:
            with anyio.fail_after(self._policy.before_timeout):
                await self._ask(params)
        except TimeoutError:
            late = True
            logger.warning("%s: its hook before inference was late", self._server.id)
        except Exception as error:  # one server's trouble is not that of the inference
            why = sanitize_for_log(error)
            logger.warning("%s: its hook before inference failed: %s", self._server.id, why)
        finally:
            for one, feature_set in self._left:
                why = "it was late" if late else "nobody waits for it any more"
                self._drop(feature_set, _name(one), why, late=late)
            # After the server's time, of which a slow log is no part.
            await self._audit.dropped(self._server.id, params.inference_id, self._dropped)
        return self._used

    async def _ask(self, params: BeforeInferenceParams) -> None:
        session = self._server.session
        reply = await session.call(CONTEXT_BEFORE_INFERENCE, params, timeout=None)
        self._left.extend((one, _set_of(one, reply)) for one in reply.context_injections or [])
        while self._left:
            await self._take(*self._left[0])
            self._left.popleft()

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
            except Exception as error:  # it costs this block and no other
                why = sanitize_for_log(error) or type(error).__name__
        kept = [each for each in found if each.type in types]
        self._brought += sum(map(length_of, kept))
        if not kept:
            self._drop(feature_set, f"a block of type {block.type} of {_name(one)}", why)
        return kept

    def _problem(self, injection: Injection) -> str | None:
        problem = injection_problem(injection, self._policy.limits, before=self._size)
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
    return one.feature_set or reply.feature_set or ""  # replies without one do not come so far


def _name(one: ContextInjection) -> str:
    return f"an injection of {one.namespace!r:.60} at {one.position}"
