"""Specs whose servers are raw JSON peers."""

from __future__ import annotations

__all__ = ("LATER", "LIFECYCLE", "OFFER", "SHUTDOWN", "Raws", "SilentServer", "run", "spec")

from typing import Any

from kinwire.mgp import RestartRules, ServerSpec, SupervisedServer
from tests.runtime.mgp.fixtures_kernel import outcome
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

OFFER: Json = {"version": "0.2.0", "extensions": ["lifecycle"]}
SHUTDOWN, LIFECYCLE = "mgp/lifecycle/shutdown", "notifications/mgp.lifecycle"
LATER = RestartRules(backoff_base=600, backoff_max=600)

_HEALTH: dict[str, Any] = {
    "mgp/health/ping": {"status": "healthy"},
    "mgp/health/status": {"status": "healthy"},
}
_AT_ONCE = RestartRules(backoff_base=0)


class SilentServer(RawServer):
    """It answers nothing."""

    def _answer(self, method: str, params: Json) -> Json:
        return NOTHING


class Raws(list[RawServer]):
    """The raw servers of all starts, in order, each with the same answers."""

    def __init__(
        self,
        mgp: Json | None = None,
        answers: Json | None = None,
        kind: type[RawServer] = RawServer,
    ) -> None:
        super().__init__()
        self.kind = kind
        self._mgp = mgp
        self._answers: dict[str, Any] = {**_HEALTH, **(answers or {})}

    def __call__(self, wanted: ServerSpec) -> RawServer:
        self.append(self.kind(tool("run"), mgp=self._mgp, **self._answers))
        return self[-1]


def spec(id: str = "s", **options: Any) -> ServerSpec:
    """Return a spec that is restarted immediately and not pinged, unless `options` differ."""
    return ServerSpec(id, "python", **{"ping_interval": None, "restart": _AT_ONCE, **options})


async def run(server: SupervisedServer) -> Any:
    """Call a tool; return the result, or the code of the error."""
    return await outcome(server.mcp.tools_call(name="run"))
