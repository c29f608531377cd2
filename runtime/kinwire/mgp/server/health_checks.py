"""What a server checks and uses: functions of the user, each bounded in time (MGP 0.2.0, 11.3)."""

from __future__ import annotations

__all__ = ("HealthChecks",)

import logging
from collections.abc import Callable, Mapping
from functools import partial
from inspect import isawaitable
from typing import Any

import anyio
from anyio import to_thread

from kinwire.managers.ask import Answer, ask, log_failure
from kinwire.mgp.server.lifecycle_options import Lifecycle
from kinwire.support.functions import is_async
from kinwire_protocols.mgp.models import HealthStatus

logger = logging.getLogger("kinwire.mgp")


class HealthChecks:
    """The checks of a server for one kernel. Requests that come at the same time share a round."""

    def __init__(self, options: Lifecycle) -> None:
        self.found: Mapping[str, bool] = {}
        """What the last round has found."""
        self.resources: Mapping[str, Any] = {}
        """What the user's function said in the last round."""
        self._options = options
        self._functions = {name: _Function(one) for name, one in options.checks.items()}
        self._used = None if options.resources is None else _Function(options.resources)
        self._round = anyio.Lock()
        self._begun = 0

    @property
    def status(self) -> HealthStatus:
        """How well the server works by the last round; `healthy` before the first."""
        if not all(self.found.get(name, True) for name in self._options.vital):
            return "unhealthy"
        return "healthy" if all(self.found.values()) else "degraded"

    async def examine(self) -> None:
        """Run a round of checks, or wait for one that begins after this call."""
        begun = self._begun
        async with self._round:
            if self._begun == begun:
                self._begun += 1
                await self._run_round()

    async def _run_round(self) -> None:
        found: dict[str, bool] = {}

        async def check(name: str, function: _Function) -> None:
            answer = await self._ask(f"the health check {name!r:.60}", function, bool)
            found[name] = answer is True

        async def look(function: _Function) -> None:
            answer = await self._ask("Lifecycle.resources", function, Mapping)
            self.resources = {} if answer is None else answer

        async with anyio.create_task_group() as tasks:
            for name, function in self._functions.items():
                tasks.start_soon(check, name, function)
            if self._used is not None:
                tasks.start_soon(look, self._used)
        self.found = {name: found[name] for name in self._functions}

    async def _ask(self, name: str, function: _Function, expects: type) -> Any:
        """Return what a function returns in time; None if it fails, which is logged."""
        timeout = self._options.check_timeout
        outcome = await ask(function.call, None, name=name, timeout=timeout, expects=expects)
        if isinstance(outcome, Answer):
            return outcome.value
        log_failure(logger, outcome, "%s failed", name)
        return None


class _Function:
    """A function of the user. A thread that hangs is not joined by a second one."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._is_async = is_async(function)
        self._threads = anyio.CapacityLimiter(1)
        self._running = False

    async def call(self, _: None) -> Any:
        """Call it.

        Raises:
            TimeoutError: a call of before still runs in its thread.
        """
        if self._is_async:
            return await self._function()
        if self._running:
            raise TimeoutError("it still runs since it was called before")
        run = partial(self._run)
        (value,) = await to_thread.run_sync(run, abandon_on_cancel=True, limiter=self._threads)
        return await value if isawaitable(value) else value

    def _run(self) -> tuple[Any]:
        self._running = True
        try:
            return (self._function(),)
        finally:
            self._running = False
