"""Report the messages between a host, its servers and its model as they are sent."""

from __future__ import annotations

__all__ = ("NarratedExtension", "NarratedProvider", "ShortIdNarrator")

import re
from collections.abc import Awaitable, Callable
from typing import Any

from kinwire import Request, RpcError, Session
from kinwire.mcp.extension import Next
from kinwire.mcpl import McplHost, ModelAnswer, ModelRequest, Provider
from kinwire_cli.demos.mcpl.words import params_in_words, result_in_words
from kinwire_cli.demos.narration import Line, Narrator
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import INITIALIZE, TOOLS_CALL
from kinwire_protocols.mcpl.methods import PROTOCOL
from kinwire_protocols.peer import Method, ProtocolTable

_CHECKPOINT = re.compile(r"\bchk_[0-9a-f]+-[0-9a-f]+\b")


class NarratedExtension:
    """The extension of a host; its messages and tool calls are reported to a narrator.

    It is next to the wire: only messages that are really sent are reported.
    """

    protocol: ProtocolTable = PROTOCOL

    def __init__(self, live: McplHost, narrator: Narrator) -> None:
        self._live = live
        self._narrator = narrator

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the host offers."""
        return self._live.offer(theirs)

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Have the host take up the server, and listen in."""
        self._live.attach(session, theirs)
        server = session.peer_id
        offered = ", ".join((theirs or {}).get("featureSets", ()))
        self._narrator.tell(Line(f"offers {offered}", server, "host", INITIALIZE.name))

        async def sent(params: Any, method: Method[Any, Any], go_on: Next[Any, Any]) -> Any:
            return await self._told("host", server, method.name, params, go_on)

        async def came(params: Any, request: Request, go_on: Next[Any, Any]) -> Any:
            return await self._told(server, "host", request.method.name, params, go_on)

        for row in (TOOLS_CALL, *PROTOCOL.methods.values()):
            session.intercept_outbound(sent, row)
            session.intercept_inbound(came, row)

    async def negotiated(self, session: Session) -> None:
        """Let the host do what it does then."""
        await self._live.negotiated(session)

    async def _told(
        self, sender: str, receiver: str, method: str, params: Any, go_on: Next[Any, Any]
    ) -> Any:
        tell = self._narrator.tell
        tell(Line(params_in_words(method, params), sender, receiver, method))
        try:
            result = await go_on(params)
        except RpcError as error:
            tell(Line(f"error {error.code}: {error.message}", receiver, sender))
            raise
        words = result_in_words(method, result) if result is not None else ""
        if words:
            tell(Line(words, receiver, sender))
        return result


class NarratedProvider:
    """A provider whose questions and answers are reported to a narrator."""

    def __init__(self, provider: Provider, narrator: Narrator) -> None:
        self._provider = provider
        self._narrator = narrator

    async def answer(
        self, request: ModelRequest, on_delta: Callable[[str], Awaitable[None]] | None
    ) -> ModelAnswer:
        """Return the answer of the provider."""
        said = ", ".join(message.role for message in request.messages)
        self._narrator.tell(Line(f"asks {request.model}: {said}", "host", "model"))
        answer = await self._provider.answer(request, on_delta)
        self._narrator.tell(Line(answer.content, "model", "host"))
        return answer


class ShortIdNarrator:
    """A narrator that replaces the long random ids of checkpoints by short names."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator
        self._names: dict[str, str] = {}

    def begin(self, title: str) -> None:
        """Pass it on."""
        self._narrator.begin(title)

    def tell(self, line: Line) -> None:
        """Pass it on, with short names."""
        self._narrator.tell(line._replace(text=_CHECKPOINT.sub(self._name, line.text)))

    def _name(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found[0], f"chk_{len(self._names) + 1}")
