"""A scripted MCPL server: it answers and sends what a test asks for.

Each message meets a handler of its generated type, which notes what it was given. `Player` is that
side for either role.
"""

from __future__ import annotations

__all__ = ("OWN", "Heard", "Player", "server_of", "to_json")

import json
from typing import Any, NamedTuple

from kinwire import Context, RpcError, Server
from kinwire.mcp.extension import Next
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.methods import PROTOCOL
from kinwire_protocols.peer import Method, ProtocolTable

EVERYTHING: JsonObject = {
    "version": "0.4",
    "pushEvents": True,
    "contextHooks": {"beforeInference": True, "afterInference": {"blocking": True}},
    "inferenceRequest": {"streaming": True},
    "modelInfo": True,
    "channels": dict.fromkeys(("register", "publish", "observe", "lifecycle", "streaming"), True),
    "featureSets": True,
}
OWN = ("tell_answer", "tell_heard", "send")
"""The tools by which a test steers the server; calls of others are played."""


class Heard(NamedTuple):
    """A message that a handler was given."""

    method: str
    kind: str
    """The class of its params."""
    params: JsonObject
    notified: bool


class Player:
    """One side: `answers` has by method what comes next, `heard` what came."""

    protocol: ProtocolTable = PROTOCOL

    def __init__(self, offered: JsonObject = EVERYTHING) -> None:
        self.offered = offered
        self.theirs: JsonObject | None = None
        self.answers: dict[str, JsonObject] = {}
        self.heard: list[Heard] = []

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what was said to be offered."""
        return self.offered

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Serve every method."""
        self.theirs = theirs
        rows = PROTOCOL.methods.values()
        session.serve({row.name: Route(row, self._handler(row)) for row in rows})
        session.intercept_inbound(self._called, TOOLS_CALL)

    async def negotiated(self, session: Session) -> None:
        """Do nothing."""

    def _handler(self, row: Method[Any, Any]) -> Handler:
        async def serve(params: Any, request: Request) -> Any:
            return self._answer(row, params, request)

        return serve

    async def _called(
        self,
        params: mcp.CallToolRequestParams,
        request: Request,
        go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
    ) -> Any:
        return (
            await go_on(params) if params.name in OWN else self._answer(TOOLS_CALL, params, request)
        )

    def _answer(self, row: Method[Any, Any], params: Any, request: Request) -> Any:
        notified = request.id is None
        self.heard.append(Heard(row.name, type(params).__name__, to_wire(params), notified))
        if notified:
            return None
        answer = self.answers.pop(row.name)
        if "error" in answer:
            raise row.decode_error(answer["error"])
        return row.decode_result(answer["result"])


def server_of(player: Player) -> Server:
    """Return a server on which `player` plays, with the tools that steer it."""
    server = Server("plays", "1", extensions=[player])

    @server.tool
    def tell_answer(method: str, answer: dict[str, Any]) -> None:
        """Take what is answered next."""
        player.answers[method] = answer

    @server.tool
    def tell_heard() -> str:
        """Say what came since this was asked last."""
        told, player.heard = player.heard, []
        return json.dumps([list(one) for one in told])

    @server.tool
    async def send(method: str, params: dict[str, Any], notified: bool, context: Context) -> str:
        """Send a message to the host, and say what came of it."""
        row = PROTOCOL.methods[method]
        decoded = row.decode_params(params)
        if notified:
            await context.session.notify(row, decoded)
            return "null"
        try:
            answer = {"result": to_wire(await context.session.call(row, decoded))}
        except RpcError as error:
            answer = {"error": to_json(error)}
        return json.dumps(answer)

    return server


def to_json(error: RpcError) -> JsonObject:
    """Return an error as it goes over the wire."""
    return {"code": error.code, "message": error.message, "data": error.data}


if __name__ == "__main__":
    server_of(Player()).run()
