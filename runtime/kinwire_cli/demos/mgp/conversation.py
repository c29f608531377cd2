"""What happens in the demo of MGP, step by step. It is the same each time, and ends by itself.

An agent calls tools of three servers: two that speak MGP, and the plain one of `kinwire demo mcp`.
The kernel judges each call, and a script answers for the operator.
"""

from __future__ import annotations

__all__ = ("converse",)

import json
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kinwire import Connection, Host, RpcError, Server, pair, result_text
from kinwire.mgp import (
    CallbackQuestion,
    Callbacks,
    ConfirmationRequest,
    Confirmations,
    MgpKernel,
    PermissionAnswer,
    PermissionQuestion,
    Permissions,
    ServerPolicy,
    ToolPolicy,
)
from kinwire.rpc.transport import Transport
from kinwire.storage import open_store
from kinwire_cli.demos.narration import Line, Narrator

AGENT = "agent.helper"
_SHOWN = 160  # characters of an answer


class Operator:
    """Answers what the kernel asks, as a person would."""

    def __init__(self, narrator: Narrator) -> None:
        self._tell = narrator.tell

    async def permit(self, question: PermissionQuestion) -> PermissionAnswer:
        """Decide about a permission: the server may do all but run code."""
        approved = question.permission != "code_execution"
        text = f"may {question.server} have {question.permission} ({question.risk})?"
        self._tell(Line(text, "kernel", "operator"))
        self._tell(Line("yes" if approved else "no", "operator", "kernel"))
        return PermissionAnswer("approved" if approved else "denied", by="admin")

    async def confirm(self, request: ConfirmationRequest) -> bool:
        """Decide about a call."""
        text = f"may {request.agent} call {_called(request.tool, request.arguments)}?"
        self._tell(Line(f"{text} It is {request.risk}.", "kernel", "operator"))
        self._tell(Line("yes, once", "operator", "kernel"))
        return True

    async def answer(self, question: CallbackQuestion) -> str | bool:
        """Answer what a server asks."""
        self._tell(Line(f"asks in {question.tool}: {question.shown}", question.server, "operator"))
        answer = question.options[0] if question.type == "selection" else True
        self._tell(Line("yes" if answer is True else str(answer), "operator", question.server))
        return answer

    async def show(self, question: CallbackQuestion) -> None:
        """Show what a server says."""
        self._tell(Line(question.shown, question.server, "operator"))


@dataclass(frozen=True, slots=True)
class Scene:
    """The kernel with its servers, and the narrator of what they do."""

    kernel: MgpKernel
    connections: Mapping[str, Connection]
    narrator: Narrator

    async def call(self, server: str, tool: str, **arguments: Any) -> None:
        """Call a tool for the agent, and tell what comes of it."""
        tell = self.narrator.tell
        tell(Line(_called(tool, arguments), "agent", server))
        with self.kernel.acting_for(AGENT):
            try:
                result = await self.connections[server].mcp.tools_call(
                    name=tool, arguments=arguments
                )
            except RpcError as error:
                tell(Line(f"refused ({error.code}): {error.message}", "kernel", "agent"))
                return
        tell(Line(f"{result_text(result):.{_SHOWN}}", server, "agent"))


async def converse(reach: Callable[[str], Transport], narrator: Narrator) -> None:
    """Play it all, with the servers that `reach` gives by name, and tell it.

    Raises:
        KinwireError, RpcError: a server cannot be started, or does not do as it should.
    """
    operator = Operator(narrator)
    with _without_warnings():
        await _converse(reach, narrator, operator)


async def _converse(
    reach: Callable[[str], Transport], narrator: Narrator, operator: Operator
) -> None:
    async with open_store("memory:") as store:
        kernel = MgpKernel(
            servers={
                "workshop": ServerPolicy(permissions=["memory.read"]),
                "plain": ServerPolicy(tools={"countdown": ToolPolicy(enabled=False)}),
            },
            permissions=Permissions(ask=operator.permit),
            confirmations=Confirmations(confirm=operator.confirm),
            callbacks=Callbacks(answer=operator.answer, show=operator.show),
            records=await store.records("mgp"),
        )
        async with Host("kernel", "1.0", extensions=[kernel]) as host:
            narrator.begin("Three servers: one keeps the audit trail, one knows nothing of MGP")
            connections: dict[str, Connection] = {}
            for name in ("archive", "workshop", "plain"):
                connections[name] = await host.connect(reach(name), server_id=name)
                _tell_of(kernel, connections[name], narrator)
            stage = Scene(kernel, connections, narrator)
            for title, play in _STEPS:
                narrator.begin(title)
                await play(stage)


@contextmanager
def _without_warnings() -> Generator[None]:
    """Keep the warnings of the kernel out of the story, which mentions them itself."""
    logger = logging.getLogger("kinwire.mgp")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _tell_of(kernel: MgpKernel, connection: Connection, narrator: Narrator) -> None:
    server = kernel.of(connection)
    assert server is not None  # the kernel guards every server
    spoken = ", ".join(sorted(server.extensions)) or "nothing of MGP"
    narrator.tell(Line(f"speaks {spoken}; its trust is {server.trust}", server.id, "kernel"))


async def _risks(stage: Scene) -> None:
    await stage.call("workshop", "recall", about="kiln")
    await stage.call("workshop", "remember", fact="The glaze is blue.")
    await stage.call("workshop", "execute_command", command="ls -la")


async def _blocked(stage: Scene) -> None:
    await stage.call("workshop", "execute_command", command="ls; rm -rf ~")
    await stage.call("workshop", "fetch_page", url="http://169.254.169.254/latest/meta-data/")
    await stage.call("workshop", "run_python", code="print(2 + 2)")


async def _code(stage: Scene) -> None:
    with stage.kernel.acting_as_operator("admin"):
        await stage.kernel.permissions.approve("workshop", "code_execution")
    stage.narrator.tell(Line("approves code_execution after all", "operator", "kernel"))
    await stage.call("workshop", "run_python", code="import subprocess\nsubprocess.run(['id'])")
    await stage.call("workshop", "run_python", code="print(2 + 2)")


async def _asks(stage: Scene) -> None:
    await stage.call("workshop", "clear_shelf")


async def _events(stage: Scene) -> None:
    workshop, asked = stage.connections["workshop"], ["system.facts", "tool.*"]
    async with stage.kernel.events(workshop, asked) as events:
        stage.narrator.tell(Line(f"wants {', '.join(events.subscribed)}", "kernel", "workshop"))
        await stage.call("workshop", "remember", fact="The shelf is full.")
        async for event in events:
            said = event.data if event.channel in asked else ""
            stage.narrator.tell(Line(f"{event.channel} {said}".strip(), "workshop", "kernel"))
            if event.channel == "tool.completed":
                return


async def _pieces(stage: Scene) -> None:
    tell, fired = stage.narrator.tell, {"degrees": 1200}
    tell(Line(_called("fire_kiln", fired), "agent", "workshop"))
    workshop = stage.connections["workshop"]
    with stage.kernel.acting_for(AGENT):
        async with stage.kernel.stream(workshop, "fire_kiln", fired) as stream:
            async for chunk in stream:
                tell(Line(f"piece {chunk.index}: {chunk.text}", "workshop", "agent"))
    tell(Line(f"the whole: {result_text(stream.result)}", "workshop", "agent"))


async def _access(stage: Scene) -> None:
    await stage.kernel.access.grant(AGENT, "workshop", "deny", tool="remember")
    stage.narrator.tell(Line("denies remember to the agent", "operator", "kernel"))
    await stage.call("workshop", "remember", fact="The door is open.")
    with stage.kernel.acting_for(AGENT):
        listed = [tool.name async for tool in stage.connections["workshop"].tools()]
    stage.narrator.tell(Line(f"sees {', '.join(listed)}", "agent", "workshop"))
    gate = Server("gate", "1.0")
    stage.kernel.add_access_tools(gate, lambda context: AGENT)
    forged = {
        "entry_type": "tool_grant",
        "agent_id": "operator",
        "server_id": "workshop",
        "tool_name": "remember",
        "permission": "allow",
        "granted_by": "admin",
    }
    async with pair(gate) as connection:
        names = [tool.name async for tool in connection.tools()]
        grant = next(name for name in names if "grant" in name)
        stage.narrator.tell(Line(f"{grant}(granted_by='admin', ...)", "agent", "kernel"))
        result = await connection.mcp.tools_call(name=grant, arguments=forged)
        refused = json.loads(result_text(result))["error"]
        text = f"refused ({refused['code']}): {refused['message']}"
        stage.narrator.tell(Line(text, "kernel", "agent"))


async def _plain(stage: Scene) -> None:
    await stage.call("plain", "add", a=1, b=2)
    await stage.call("plain", "countdown", start=3)
    await stage.call("plain", "subtract", a=1, b=2)


async def _trail(stage: Scene) -> None:
    await stage.connections["archive"].mcp.ping()  # behind the events
    found = await stage.connections["archive"].mcp.tools_call(
        name="search_events", arguments={"agent": AGENT}
    )
    stage.narrator.tell(Line(result_text(found), "archive", "kernel"))


def _called(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


_STEPS: tuple[tuple[str, Callable[[Scene], Awaitable[None]]], ...] = (
    ("Tools of each risk: a dangerous one is confirmed", _risks),
    ("What the kernel blocks, the server never sees", _blocked),
    ("Code is read before it is sent", _code),
    ("A tool asks a person while it runs", _asks),
    ("A server emits events while it works", _events),
    ("A result comes in pieces", _pieces),
    ("Access is decided by the operator, and by nobody else", _access),
    ("A server that speaks only MCP is guarded, too", _plain),
    ("What the audit server knows of the agent", _trail),
)
