"""The one task that starts, watches and ends one supervised server (MGP 0.2.0, 11.2 to 11.5).

Nobody else changes the state of its server. It follows the newest order, else the decisions of
`ServerLife`; a run is over when its processes are gone, and only then the next one begins.
"""

from __future__ import annotations

__all__ = ("ServerActor",)

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import anyio

from kinwire.managers.leases import Lease
from kinwire.managers.while_open import while_open
from kinwire.mcp.connection import Connection
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.health import HealthMonitor
from kinwire.mgp.kernel.supervisor.announcer import Announcer
from kinwire.mgp.kernel.supervisor.call_gate import CallGate
from kinwire.mgp.kernel.supervisor.draining import drain
from kinwire.mgp.kernel.supervisor.endings import (
    close_connection,
    end_of_start,
    unasked_end,
)
from kinwire.mgp.kernel.supervisor.kept_histories import KeptHistory
from kinwire.mgp.kernel.supervisor.launch import Launch
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from kinwire.mgp.kernel.supervisor.orders import Order, OrderBox, OrderKind
from kinwire.mgp.kernel.supervisor.services import SupervisorServices
from kinwire.mgp.kernel.supervisor.watching import Happening, Watch, watch
from kinwire.mgp.rules.health import ServerHealth
from kinwire.mgp.rules.lifecycle import StateChange, refusal_in
from kinwire.mgp.rules.restarts import ServerEnd
from kinwire.mgp.rules.server_life import ServerLife
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.transports.child import ChildProcess
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mgp.models import LifecycleNotificationParams, ServerState

logger = logging.getLogger("kinwire.mgp.supervisor")

Then = Literal["again", "stay"]


class ServerActor:
    """One supervised server."""

    def __init__(self, spec: ServerSpec, services: SupervisorServices, *, start: bool) -> None:
        self.spec = spec
        self.life = ServerLife(spec.id, spec.restart, services.clock())
        self.log = LogLines(services.clock)
        self.orders = OrderBox()
        self.gate = CallGate(self._refused, anyio.current_time)
        self.announcer = Announcer()
        self.connection: Connection | None = None
        """The connection of this run, from its handshake to its end."""
        self.monitor: HealthMonitor | None = None
        self.restarts = 0
        self.restart_at: float | None = None
        """When it is started without an order; None for never."""
        self.stopped = False
        """Whether an operator has stopped it."""
        self.lease: Lease | None = None
        """By which this kernel runs the server, if it is leased."""
        self.news = anyio.Event()
        """Set, and replaced, whenever the state has changed."""
        self._services = services
        self._start_first = start
        self._child: ChildProcess | None = None
        self._announced = anyio.Event()
        self._restarting = False
        self._again = False  # whether what drains may be started again
        self._stopping = False  # whether it drains because of an order to stop

    @property
    def pid(self) -> int | None:
        """The process id of a child that runs."""
        child = self._child
        return None if child is None or child.exit_code is not None else child.pid

    @property
    def health(self) -> ServerHealth | None:
        """What its pings say; None before the first one is answered or missed."""
        health = None if self.monitor is None else self.monitor.health
        known = health is not None and (health.answered_at is not None or health.misses)
        return health if known else None

    @property
    def call_state(self) -> ServerState:
        """The state as calls see it: all of a restart is one, with the start that belongs to it."""
        state, ordered = self.life.state, self.orders.next
        if state == "disconnected" and ordered is not None and ordered.kind == "call":
            return "restarting"
        if state == "connecting" and self._restarting:
            return "restarting"
        ended = self.connection is None or self.connection.session.closed
        if state == "connected" and (ended or self._is_lost):
            return "restarting"  # what comes is not decided before its processes are gone
        return state

    @property
    def _is_lost(self) -> bool:
        """Whether another kernel may run the server by now, which `run` has not noticed yet."""
        return self.lease is not None and not self.lease.is_held

    @property
    def is_coming(self) -> bool:
        """Whether the server may come up without a further order."""
        if self.orders.closed:
            return False
        ordered = self.orders.next is not None and self.orders.next.kind != "stop"
        coming = self.call_state in ("connecting", "connected", "restarting")
        due = self._start_first or self.restart_at is not None
        return ordered or coming or due or self._again

    def called(self) -> None:
        """Start a server that was shut down because it was idle; others are left alone."""
        if self.life.on_call and self.orders.next is None:
            self.orders.put(Order("call", "call"))

    def refusal(self) -> RpcError | None:
        """Return why a call is refused now; None if it is taken."""
        left = None if self.restart_at is None else self.restart_at - self._services.clock()
        delay = None if left is None else max(0.0, left)
        return refusal_in(self.call_state, self.spec.id, retry_after=delay)

    def note_refused(self, tool: object, refusal: RpcError) -> None:
        """Write that a call of a tool was refused."""
        self._services.reports.refused(self.spec.id, tool, refusal)

    def joined(self, server: GuardedServer) -> None:
        """See `LifecycleWatcher.joined`."""
        self.gate.join(server.session)

    def heard(self, params: LifecycleNotificationParams) -> None:
        """See `LifecycleWatcher.heard`: a server may announce its end, and nothing else."""
        if params.new_state == "draining":
            self._announced.set()

    def respec(self, spec: ServerSpec) -> OrderKind | None:
        """Go over to another spec, and return the order that this needs; None for none."""
        same, self.spec = self.spec.has_same_process(spec), spec
        self.life.rules = spec.restart
        if self._stopping or (self.orders.next is not None and self.orders.next.kind == "stop"):
            return None  # it stays down
        if self.life.state == "connected":
            return "start" if same else "again"  # a start of what runs has it watched by the spec
        if self.stopped or self.life.state in ("registered", "restarting", "disconnected"):
            return None  # the next start is by the spec
        return "again"

    def close(self) -> None:
        """Let everybody continue who waits: nothing is done for the server any more."""
        self.orders.close()
        self._wake_waiters()

    async def run(self) -> None:
        """Follow orders and decisions until cancelled."""
        kept = await self._services.histories.load(self.spec.id)
        self.life.history, self.stopped = kept
        if self._start_first and not self.stopped:
            self.restart_at = self._now()
        self._start_first = False
        self._wake_waiters()
        while True:
            await self._turn()

    async def stand_by(self) -> None:
        """Take orders while another kernel runs the server; they hold when this one begins to."""
        while True:
            await self.orders.wait_any()
            order = self.orders.take()
            self._start_first = order is not None and order.kind != "stop"
            self.orders.finish()

    def lost(self) -> None:
        """Note that `run` was cancelled because another kernel may run the server."""
        self.restart_at, self._start_first = None, not self.stopped
        self._again = self._stopping = False
        self._publish(self.life.lost(self._now()))
        self.orders.finish()

    async def _turn(self) -> None:
        """Wait for an order, or for the time of a restart, and do what is due."""
        order = await self._next_order()
        if order is not None and order.kind == "stop":
            await self._stay_down(order.reason)
            return
        if order is not None and order.kind != "call":
            self.stopped = False
            self.life.forget_restarts()
            await self._save()
        self._restarting = self.life.state == "restarting" or self.life.on_call
        self.restarts += self._restarting
        self.restart_at = None
        self._publish(self.life.connecting(self._now(), None if order is None else order.reason))
        try:
            end = await self._run_server()
        except Exception:  # a mistake of ours: the processes are gone, and the policy decides
            logger.exception("%s: its supervision has failed", self.spec.id)
            end = ServerEnd(failed=True, cause="internal_error")
        if end is not None:
            await self._ended(end)
            if end.then != "again":  # that order is followed when the server has started
                self.orders.finish()

    async def _next_order(self) -> Order | None:
        if self.restart_at is None:
            await self.orders.wait_any()
        else:
            with anyio.move_on_after(max(0.0, self.restart_at - self._now())):
                await self.orders.wait_any()
        return self.orders.take()

    async def _stay_down(self, reason: str) -> None:
        """Follow the order to stop a server that does not run."""
        self.restart_at = None
        self.stopped = self.stopped or reason == "operator_request"
        self._publish(self.life.stopped(reason, self._now()))
        await self._save()
        self.orders.finish()

    async def _run_server(self) -> ServerEnd | None:
        """Start the server and watch it until it is gone; None if an order ended its start."""
        self._announced = anyio.Event()
        launch = self._services.launch(self.spec, self.log)
        self._child = launch.child
        started = await self._start(launch)
        if started is None:
            await self._give_up_start()
        if not isinstance(started, Connection):
            return started
        self.connection = started
        try:
            return await self._serve(started)
        finally:
            await close_connection(started)
            self.connection = self.monitor = None
            self.announcer.clear()

    async def _start(self, launch: Launch) -> Connection | ServerEnd | None:
        """Return the connection, or why it failed; None if an order came in the meantime."""
        outcomes: list[Connection | ServerEnd] = []

        async def attempt() -> None:
            outcomes.append(await self._attempt(launch))

        try:
            await self.orders.unless(attempt, "stop", "again")
        except BaseException:  # cancelled just when it had started
            for one in outcomes:
                if isinstance(one, Connection):
                    await close_connection(one)
            raise
        return outcomes[0] if outcomes else None

    async def _attempt(self, launch: Launch) -> Connection | ServerEnd:
        try:
            return await launch.connect()
        except Exception as error:
            end = end_of_start(error)
            logger.warning("%s: it did not start: %s", self.spec.id, end.detail)
            return end

    async def _give_up_start(self) -> None:
        """Follow the order that came during a start; the processes of the start are gone."""
        order = self.orders.take()
        assert order is not None
        if order.kind == "stop":
            await self._stay_down(order.reason)
        else:
            self._publish(self.life.stopped(order.reason, self._now()))
            self.restart_at = self._now()

    async def _serve(self, connection: Connection) -> ServerEnd:
        """Watch a connected server until it has to be closed, and return how it ended."""
        server = self._services.guarded(connection.session)
        if server is None:
            return unasked_end(connection)
        tell = partial(self.announcer.run, connection.session)
        if "lifecycle" in server.extensions:
            connection.session.start_soon(partial(while_open, connection.session, tell))
        self._publish(self.life.connected(self._now()))
        self.orders.finish()
        while True:
            happening = await watch(self._watch(server), self.orders.wait_any)
            ordered = self.orders.next if happening.kind == "ordered" else None
            if ordered is None or ordered.kind != "start":
                return await self._closing(connection, server, happening)
            if connection.session.closed:
                return unasked_end(connection)  # and then the order is followed
            self.orders.take()
            self.orders.finish()  # it runs already

    def _watch(self, server: GuardedServer) -> Watch:
        return Watch(
            server=server,
            spec=self.spec,
            gate=self.gate,
            pid=self.pid,
            memory=self._services.memory,
            announced=self._announced,
            monitored=self._monitored,
            healthy=lambda health: self._services.noticed(self.spec.id),
        )

    def _monitored(self, monitor: HealthMonitor) -> None:
        self.monitor = monitor

    async def _closing(
        self, connection: Connection, server: GuardedServer, happening: Happening
    ) -> ServerEnd:
        """Return how the server ended; one that is shut down drains before."""
        order = self.orders.take() if happening.kind == "ordered" else None
        if order is not None:
            then: Then = "again" if order.kind == "again" else "stay"
            return await self._shut_down(server, order.reason, then)
        if happening.kind in ("idle_timeout", "resource_limit"):
            logger.warning("%s: %s", self.spec.id, happening.detail)
            end = await self._shut_down(server, happening.kind)
            return replace(end, detail=happening.detail)
        if happening.kind == "announced":
            return await self._announced_end(connection, server)
        if happening.kind == "unresponsive":
            return ServerEnd(failed=True, cause="unresponsive", detail=happening.detail)
        return unasked_end(connection)

    async def _announced_end(self, connection: Connection, server: GuardedServer) -> ServerEnd:
        """Wait for a server that shuts down by itself; an order to stop ends the wait."""
        self._publish(self.life.draining("announced", self._now()))
        with anyio.move_on_after(self.spec.drain_timeout):
            await self.orders.unless(connection.session.wait_closed, "stop")
        order = self.orders.next
        if order is not None and order.kind == "stop" and not connection.session.closed:
            self.orders.take()
            return await self._shut_down(server, order.reason, "stay")
        return replace(unasked_end(connection), cause="announced")

    async def _shut_down(
        self, server: GuardedServer, reason: str, then: Then | None = None
    ) -> ServerEnd:
        """Drain a server, unless a second order to stop ends that immediately."""
        self._again, self._stopping = then != "stay", then == "stay"
        if self.life.state != "draining":
            self._publish(self.life.draining(reason, self._now()))
        work = partial(drain, server, self.gate, reason, self.spec.drain_timeout)
        await self.orders.unless(work, "stop")
        return ServerEnd(reason=reason, then=then)

    async def _ended(self, end: ServerEnd) -> None:
        """Decide what follows a run whose processes are gone."""
        self._again = self._stopping = False
        now = self._now()
        changes, decision = self.life.ended(end, now, self._services.jitter())
        if decision.action == "restart":
            self.restart_at = now + decision.delay
        elif end.reason == "operator_request":
            self.stopped = True
        self._publish(changes)
        await self._save()
        if decision.action == "give_up":
            await self._services.reports.given_up(self.spec)

    async def _save(self) -> None:
        kept = KeptHistory(self.life.history, self.stopped)
        await self._services.histories.save(self.spec.id, kept)

    def _publish(self, changes: Sequence[StateChange]) -> None:
        for change in changes:
            self._services.reports.changed(change)
            self._services.changed(change)
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        """Let those look again who wait for the server."""
        self.news.set()
        self.news = anyio.Event()

    def _refused(self, method: str, params: JsonObject) -> RpcError | None:
        """Return why a request on the open connection is refused: it drains, or is lost."""
        if self.life.state != "draining" and not self._is_lost:
            return None
        refusal = self.refusal()
        if refusal is not None and method == TOOLS_CALL.name:
            self.note_refused(params.get("name"), refusal)
        return refusal

    def _now(self) -> float:
        return self._services.clock()
