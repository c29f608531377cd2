"""Two small protocols next to MCP and an extension for each role, in the form of generated code.

`leave` asks for permission before work begins and guards tools, as MGP does; `marks` pushes and
keeps state, as MCPL does. Both add a member to the params and the result of `tools/call`.
"""

from __future__ import annotations

__all__ = (
    "LEAVE",
    "LEAVE_ASK",
    "MARKS",
    "MARKS_CHANGED",
    "MARKS_PUSH",
    "MARKS_RENAME",
    "Leave",
    "LeaveHost",
    "LeaveServer",
    "Marks",
    "MarksHost",
    "MarksServer",
    "NotGrantedError",
    "Text",
    "UnknownMarkError",
    "added",
    "with_added",
)

from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeVar

from kinwire.mcp.extension import ExtensionHandlers, Next
from kinwire.rpc.errors import RpcError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.peer import Method, On, Peer, ProtocolTable, Register

M = TypeVar("M", bound=Message)


class Text(Message):
    text: str = ""


class NotGrantedError(RpcError):
    """Nobody gave leave."""

    protocol = "leave"
    name = "NotGranted"
    default_code = -32001
    default_message = "Not granted"


class UnknownMarkError(RpcError):
    """There is no such mark: the same code, another meaning."""

    protocol = "marks"
    name = "UnknownMark"
    default_code = -32001
    default_message = "Unknown mark"


def row(name: str, kind: Any, sender: Any, gate: str | None, **more: Any) -> Method[Text, Any]:
    return Method(
        name=name,
        protocol=name.partition("/")[0],
        attribute=name.replace("/", "_"),
        kind=kind,
        sender=sender,
        params=Text,
        result=None if kind == "notification" else Text,
        gate=gate,
        section="none",
        **more,
    )


LEAVE_ASK: Final[Method[Text, Text]] = row("leave/ask", "request", "client", "leave:ask")
LEAVE: Final = ProtocolTable(
    name="leave",
    title="Leave",
    version="1",
    capability="leave",
    methods={"leave/ask": LEAVE_ASK},
    errors={"NotGranted": NotGrantedError},
)

MARKS_PUSH: Final[Method[Text, Text]] = row("marks/push", "request", "server", "marks:push")
MARKS_RENAME: Final[Method[Text, Text]] = row("marks/rename", "request", "client", None)
MARKS_CHANGED: Final[Method[Text, None]] = row(
    "marks/changed", "notification", "both", "marks:changes.sent", serial=True
)
MARKS: Final = ProtocolTable(
    name="marks",
    title="Marks",
    version="1",
    capability="experimental.marks",
    methods={one.name: one for one in (MARKS_PUSH, MARKS_RENAME, MARKS_CHANGED)},
    errors={"UnknownMark": UnknownMarkError},
)


class LeaveOn(On):
    @property
    def leave_ask(self) -> Register[Text, Text]:
        return self(LEAVE_ASK)


class MarksOn(On):
    @property
    def marks_push(self) -> Register[Text, Text]:
        return self(MARKS_PUSH)

    @property
    def marks_rename(self) -> Register[Text, Text]:
        return self(MARKS_RENAME)

    @property
    def marks_changed(self) -> Register[Text, None]:
        return self(MARKS_CHANGED)


class Leave:
    """The stub of what a client calls."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def leave_ask(self, *, text: str = "") -> Text:
        return await self._peer.call(LEAVE_ASK, Text(text=text))


class Marks:
    """The stubs of what either side calls."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def marks_push(self, *, text: str = "") -> Text:
        return await self._peer.call(MARKS_PUSH, Text(text=text))

    async def marks_rename(self, *, text: str = "") -> Text:
        return await self._peer.call(MARKS_RENAME, Text(text=text))

    async def marks_changed(self, *, text: str = "") -> None:
        await self._peer.notify(MARKS_CHANGED, Text(text=text))


def added(message: Message, member: str) -> Any:
    """Return what an extension added to `message`, as `read` of an augment does."""
    return (message.__pydantic_extra__ or {}).get(member)


def with_added(message: M, member: str, value: object) -> M:
    """Return a copy of `message` with an added member, as `write` of an augment does."""
    return message.model_copy(update={member: value})


class Toy:
    """What the four extensions share: an offer, a log of what happened, handlers."""

    protocol: ClassVar[ProtocolTable]
    default: ClassVar[JsonObject]

    def __init__(self, offer: JsonObject | None = None, log: list[str] | None = None) -> None:
        self.log: list[str] = [] if log is None else log
        self.offers = self.default if offer is None else offer
        self.handlers = ExtensionHandlers()
        self.asked: list[JsonObject | None] = []
        self.theirs: list[JsonObject | None] = []
        self.sessions: list[Session] = []

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        self.asked.append(theirs)
        return self.offers

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        self.theirs.append(theirs)
        self.sessions.append(session)
        if theirs is not None:
            session.serve(self.handlers.routes)
            self.stand_around(session)

    def stand_around(self, session: Session) -> None:
        name = self.protocol.name

        async def inbound(
            params: mcp.CallToolRequestParams,
            request: Request,
            go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
        ) -> mcp.CallToolResult:
            self.log.append(f"{name} in: {added(params, name)}")
            result = await go_on(params)
            self.log.append(f"{name} answers")
            return with_added(result, name, f"{name} of the server")

        async def outbound(
            params: mcp.CallToolRequestParams,
            method: Method[mcp.CallToolRequestParams, mcp.CallToolResult],
            go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
        ) -> mcp.CallToolResult:
            self.log.append(f"{name} out")
            result = await go_on(with_added(params, name, f"{name} of the client"))
            self.log.append(f"{name} back: {added(result, name)}")
            return result

        session.intercept_inbound(inbound, TOOLS_CALL)
        session.intercept_outbound(outbound, TOOLS_CALL)
        session.add_errors(TOOLS_CALL, self.protocol.errors.values())

    async def negotiated(self, session: Session) -> None:
        self.log.append(f"{self.protocol.name} negotiated")


class LeaveServer(Toy):
    protocol = LEAVE
    default: ClassVar[JsonObject] = {"ask": True}

    def __init__(self, offer: JsonObject | None = None, log: list[str] | None = None) -> None:
        super().__init__(offer, log)
        self.on = LeaveOn(self.handlers.add)

        @self.on.leave_ask
        async def grant(params: Text) -> Text:
            self.log.append("leave asked")
            return Text(text="granted")


class LeaveHost(Toy):
    protocol = LEAVE
    default: ClassVar[JsonObject] = {"ask": True}

    async def negotiated(self, session: Session) -> None:
        await super().negotiated(session)
        answer = await Leave(session).leave_ask(text="before we begin")
        self.log.append(f"leave {answer.text}")


class MarksServer(Toy):
    protocol = MARKS
    default: ClassVar[JsonObject] = {"push": True, "changes": {"sent": True}}

    def __init__(
        self,
        offer: JsonObject | None = None,
        log: list[str] | None = None,
        at_once: Callable[[Session], Any] | None = None,
    ) -> None:
        super().__init__(offer, log)
        self.on = MarksOn(self.handlers.add)
        self._at_once = at_once

        @self.on.marks_rename
        async def rename(params: Text) -> Text:
            return Text(text=f"renamed {params.text}")

        @self.on.marks_changed
        async def changed(params: Text) -> None:
            self.log.append(f"client changed {params.text}")

    async def negotiated(self, session: Session) -> None:
        await super().negotiated(session)
        if self._at_once is not None:
            await self._at_once(session)


class MarksHost(Toy):
    protocol = MARKS
    default: ClassVar[JsonObject] = {"push": True, "changes": {"sent": True}}

    def __init__(self, offer: JsonObject | None = None, log: list[str] | None = None) -> None:
        super().__init__(offer, log)
        self.on = MarksOn(self.handlers.add)

        @self.on.marks_push
        async def push(params: Text) -> Text:
            self.log.append(f"pushed {params.text}")
            return Text(text=f"took {params.text}")

        @self.on.marks_changed
        async def changed(params: Text) -> None:
            self.log.append(f"server changed {params.text}")
