"""MGP in a server: what it offers, the security of its tools, and the kernels that speak it."""

from __future__ import annotations

__all__ = ("MgpServer",)

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast

from kinwire.mcp.context import Context
from kinwire.mcp.extension import ExtensionBase, capability_from
from kinwire.mcp.log_messages import LEVELS as SEVERITIES
from kinwire.mgp.rules.negotiation import (
    active_extensions,
    answered_extensions,
    read_offer,
)
from kinwire.mgp.rules.tool_declarations import checked_security, must_be_permissions
from kinwire.mgp.rules.trust import LEVELS
from kinwire.mgp.server.callbacks import QuestionManager, Questions
from kinwire.mgp.server.events import EventPublisher
from kinwire.mgp.server.granted_permissions import OnDenied
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.mgp.server.lifecycle import ServedLifecycle
from kinwire.mgp.server.lifecycle_options import Lifecycle
from kinwire.mgp.server.manager import KernelManager
from kinwire.mgp.server.served_tools import GuardedTools, plain_errors
from kinwire.mgp.server.streams import ServedStreams
from kinwire.rpc.session import Session
from kinwire.support.arguments import (
    FUNCTION,
    OBJECT,
    TEXT,
    TEXTS,
    ArgumentCheck,
    instance_of,
    list_of,
    one_of,
    table_of,
)
from kinwire_protocols import mgp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcp.models import EmptyResult, LoggingLevel
from kinwire_protocols.mgp.methods import (
    MGP_PERMISSION_REQUEST,
    MGP_PERMISSION_RESPONSE,
    PROTOCOL,
)
from kinwire_protocols.mgp.models import (
    PermissionRequestParams,
    PermissionRequestResult,
    PermissionResponseParams,
    ServerOffer,
    ToolSecurity,
    TrustLevel,
)
from kinwire_protocols.mgp.tables import EXTENSIONS
from kinwire_protocols.peer import ProtocolTable

logger = logging.getLogger("kinwire.mgp")

F = TypeVar("F", bound=Callable[..., Any])

_SECURITY = instance_of(ToolSecurity, "ToolSecurity", 'ToolSecurity(risk_level="safe")')
_MGP_SERVER = ArgumentCheck(
    "MgpServer",
    "MgpServer()",
    {},
    tools=table_of(_SECURITY, "a dictionary from tools to ToolSecurity", '"run"').or_none,
    extensions=list_of(one_of(*EXTENSIONS), "several extensions"),
    permissions_required=TEXTS,
    server_id=TEXT.or_none,
    trust_level=one_of(*LEVELS).or_none,
    on_denied=FUNCTION.or_none,
    channels=TEXTS,
    lifecycle=instance_of(Lifecycle, "Lifecycle", "Lifecycle()").or_none,
    questions=instance_of(Questions, "Questions", "Questions(timeout=30)").or_none,
)
_OF = ArgumentCheck(
    "MgpServer.of",
    "guarded.of(context)",
    {"context": instance_of(Context, "the Context of a request", "context")},
)
_TOOL = ArgumentCheck(
    "MgpServer.tool",
    '@guarded.tool(security=ToolSecurity(risk_level="safe"))',
    {"security": _SECURITY},
    name=TEXT.or_none,
)
_EMIT = ArgumentCheck(
    "MgpServer.emit",
    'await guarded.emit("model.token_usage", {"tokens_used": 1500})',
    {"channel": TEXT, "data": OBJECT.or_none},
    severity=one_of(*SEVERITIES).or_none,
    to=instance_of(KernelPeer, "a KernelPeer", "guarded.of(context)").or_none,
)


class MgpServer(ExtensionBase[KernelPeer]):
    """The server's side of MGP: `Server(..., extensions=[MgpServer(...)])`.

    `tools` says how dangerous each tool is, by its name; `@guarded.tool(security=...)` does so
    where the tool is defined. `permissions_required` is what the server needs to work, `server_id`
    what it calls itself, and `trust_level` how far it asks to be trusted: a kernel trusts it less
    if configured so, and never more. `extensions` are those that the server supports; those of the
    methods that it has handlers for are added. `on_denied` is called with each permission that a
    kernel denies, also later, and with the `KernelPeer`: a plain or `async` function that degrades
    the server. `channels` are those that it emits events on, such as `model.token_usage`; it has
    channels of its own for its calls, its faults, and what it refuses. `lifecycle` is what it says
    of its health, and how it ends. `questions` is what holds for the questions that functions
    ask by `MgpContext`.
    """

    protocol: ProtocolTable = PROTOCOL

    def __init__(  # noqa: PLR0913 - all that a server says of itself
        self,
        *,
        tools: Mapping[str, ToolSecurity] | None = None,
        extensions: Collection[str] = ("security",),
        permissions_required: Collection[str] = (),
        server_id: str | None = None,
        trust_level: TrustLevel | None = None,
        on_denied: OnDenied | None = None,
        channels: Collection[str] = (),
        lifecycle: Lifecycle | None = None,
        questions: Questions | None = None,
    ) -> None:
        """Prepare to serve any number of kernels.

        Raises:
            ValueError: an extension, a permission or a word in the security of a tool is unknown,
                or a channel is not below `model.`, `system.`, `tool.` or `security.`.
            TypeError: an argument is not of its type.
        """
        _MGP_SERVER.check(
            tools=tools,
            extensions=extensions,
            permissions_required=permissions_required,
            server_id=server_id,
            trust_level=trust_level,
            on_denied=on_denied,
            channels=channels,
            lifecycle=lifecycle,
            questions=questions,
        )
        must_be_permissions("permissions_required", permissions_required)
        super().__init__()
        self._tools = {name: checked_security(name, one) for name, one in (tools or {}).items()}
        guarded = GuardedTools(self._tools)
        self.questions = QuestionManager(questions or Questions())
        """What functions ask kernels; `MgpContext` has the methods."""
        self.questions.serve(self.handlers)
        self._events = EventPublisher(channels, self.handlers)
        self._managers: tuple[KernelManager, ...] = (
            guarded,
            self._events,
            self.questions,
            ServedStreams(self.handlers),
            ServedLifecycle(self.handlers, lifecycle or Lifecycle(), server_id, guarded.usable),
        )
        self._extensions = tuple(extensions)
        self._about: JsonObject = {
            "permissions_required": list(permissions_required) or None,
            "server_id": server_id,
            "trust_level": trust_level,
        }
        self._server_id = server_id
        self._required = tuple(permissions_required)
        self._on_denied = on_denied
        self.handlers.add_default(MGP_PERMISSION_REQUEST, _wait)
        self.handlers.add_default(MGP_PERMISSION_RESPONSE, _decided)
        self.on = mgp.ServerOn(self.handlers.add)
        """Where handlers are registered: `@guarded.on.notifications_mgp_audit`."""

    @property
    def kernels(self) -> list[KernelPeer]:
        """The connected kernels that speak MGP, in the order in which they connected."""
        return self.peers

    @property
    def tools(self) -> Mapping[str, ToolSecurity]:
        """What is said about each tool, by name."""
        return self._tools

    def of(self, context: Context) -> KernelPeer | None:
        """Return the kernel whose request is being served; None if it speaks only MCP."""
        _OF.check(context=context)
        return self.peer_of(context.session)

    def tool(self, *, security: ToolSecurity, name: str | None = None) -> Callable[[F], F]:
        """Say how dangerous a tool is, below `@server.tool`; the function is returned unchanged.

        `name` is that of the tool, by default the name of the function.

        Raises:
            ValueError: a word in `security` is unknown, or the tool has security already.

        Source: MGP 0.2.0 section 4.2.
        """
        _TOOL.check(security=security, name=name)

        def add(function: F) -> F:
            own = function.__name__ if name is None else name
            if own in self._tools:
                raise ValueError(f"security of {own!r:.60}: it was given before. Remove one.")
            self._tools[own] = checked_security(own, security)
            return function

        return add

    async def emit(
        self,
        channel: str,
        data: JsonObject | None = None,
        *,
        severity: LoggingLevel | None = None,
        to: KernelPeer | None = None,
    ) -> int:
        """Send an event to the kernels that have subscribed to its channel.

        It waits for nothing. Up to 1,000 events of a subscription wait for a kernel that reads
        slowly; then the oldest ones are dropped, and the kernel gets their number. `severity` is a
        level of MCP's log; without one it counts as `info`. With `to`, only that kernel gets it.
        Return how many subscriptions get it.

        Raises:
            ValueError: the server has no such channel, or the event has more than 64 KiB.
            TypeError: an argument is not of its type.
            UnsendableError: JSON cannot hold the data.

        Source: MGP 0.2.0 sections 13.2 and 13.3.
        """
        _EMIT.check(channel=channel, data=data, severity=severity, to=to)
        session = None if to is None else to.session
        return self._events.emit(channel, {} if data is None else data, severity, session)

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        """Return what the server offers of what the kernel supports (MGP 0.2.0, 2.3)."""
        reading = read_offer(theirs or {}, PROTOCOL.version)
        for warning in reading.warnings:
            logger.warning("a kernel's offer of MGP: %s", warning)
        if reading.offer is None:
            return None
        supported = self._supported()
        return {
            **supported,
            "extensions": answered_extensions(supported["extensions"], _names(theirs or {})),
            **{name: one for name, one in self._about.items() if one is not None},
        }

    def understood(self, offer: JsonObject) -> JsonObject | None:
        """Return what counts of an offer: None with another major version (MGP 0.2.0, 2.4)."""
        reading = read_offer(offer, PROTOCOL.version)
        return None if reading.offer is None else to_wire(reading.offer)

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Speak MGP with a kernel; keep it from a client that speaks only MCP."""
        if theirs is None:
            plain_errors(session)
        super().attach(session, theirs)

    def join(self, session: Session, theirs: JsonObject) -> KernelPeer:
        """Return the kernel of a session in which both sides speak MGP."""
        offer = from_wire(ServerOffer, theirs)
        active = active_extensions(self._supported()["extensions"], offer.extensions)
        peer = KernelPeer(
            session,
            offer,
            active,
            self._server_id,
            required=self._required,
            on_denied=self._on_denied,
        )
        for manager in self._managers:
            manager.join(peer)
        return peer

    def left(self, peer: KernelPeer) -> None:
        """Forget a kernel whose session is over."""
        for manager in self._managers:
            manager.left(peer)

    def _supported(self) -> JsonObject:
        gates: JsonObject = {"version": PROTOCOL.version, "extensions": list(self._extensions)}
        return capability_from(self.handlers, gates)


async def _wait(params: PermissionRequestParams) -> PermissionRequestResult:
    return PermissionRequestResult(request_id=params.request_id)


async def _decided(params: PermissionResponseParams) -> EmptyResult:
    return EmptyResult()  # a guard of the peer has taken the grants


def _names(offer: JsonObject) -> list[str]:
    names: object = offer.get("extensions")
    if not isinstance(names, list):
        return []
    return [one for one in cast("list[object]", names) if isinstance(one, str)]
