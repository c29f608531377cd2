"""MCP Live in both roles: pass `McplHost` or `McplServer` in `extensions` of a host or a server.

`rules/` decides for both; `host/` and `server/` act. The messages are in `kinwire_protocols.mcpl`.
"""

from __future__ import annotations

__all__ = (
    "CallState",
    "ChannelMessage",
    "Channels",
    "ChatCompletions",
    "CheckpointTree",
    "Draft",
    "DurableInbox",
    "HookFailedError",
    "Hooks",
    "HostPeer",
    "InboxItem",
    "Inference",
    "InferenceStream",
    "Injection",
    "InjectionLimits",
    "Injections",
    "McplHost",
    "McplServer",
    "MessageDecision",
    "ModelAnswer",
    "ModelRequest",
    "Moderate",
    "NotPublishedError",
    "Outbox",
    "OutgoingResponse",
    "Provider",
    "ProviderError",
    "PushedEvent",
    "RefusedItem",
    "Restrictions",
    "ScopeAnswer",
    "ScopeDeniedError",
    "ScopeRequest",
    "Scopes",
    "ScriptedProvider",
    "ServerPeer",
    "ServerState",
    "StateNotRecordedError",
    "StateRefusedError",
    "UnsupportedMessageError",
    "UrlGuard",
    "UserTurn",
    "Verdict",
    "WorkItem",
    "WorkQueue",
    "content_text",
)

from typing import TYPE_CHECKING

from kinwire.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from kinwire.mcpl.errors import (
        HookFailedError,
        NotPublishedError,
        ProviderError,
        ScopeDeniedError,
        StateNotRecordedError,
        StateRefusedError,
        UnsupportedMessageError,
    )
    from kinwire.mcpl.host.channels import Channels
    from kinwire.mcpl.host.chat_completions import ChatCompletions
    from kinwire.mcpl.host.durable_inbox import DurableInbox
    from kinwire.mcpl.host.event_inbox import PushedEvent
    from kinwire.mcpl.host.hooks import Hooks
    from kinwire.mcpl.host.host import McplHost
    from kinwire.mcpl.host.inbox_item import InboxItem
    from kinwire.mcpl.host.inference import Inference, Provider, ScriptedProvider
    from kinwire.mcpl.host.message_inbox import ChannelMessage, MessageDecision, UserTurn
    from kinwire.mcpl.host.moderation import Draft, Moderate, Verdict
    from kinwire.mcpl.host.outgoing_response import OutgoingResponse
    from kinwire.mcpl.host.scopes import ScopeAnswer, Scopes
    from kinwire.mcpl.host.server_peer import ServerPeer
    from kinwire.mcpl.host.state import ServerState
    from kinwire.mcpl.host.url_guard import UrlGuard
    from kinwire.mcpl.host.work_queue import WorkItem, WorkQueue
    from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree
    from kinwire.mcpl.rules.content import content_text
    from kinwire.mcpl.rules.inference import ModelAnswer, ModelRequest
    from kinwire.mcpl.rules.injections import Injection, InjectionLimits, Injections
    from kinwire.mcpl.rules.restrictions import Restrictions
    from kinwire.mcpl.rules.scopes import ScopeRequest
    from kinwire.mcpl.server.host_peer import HostPeer
    from kinwire.mcpl.server.inference_streams import InferenceStream
    from kinwire.mcpl.server.outbox import Outbox, RefusedItem
    from kinwire.mcpl.server.served_state import CallState
    from kinwire.mcpl.server.server import McplServer

_HOMES = {
    "CallState": "server.served_state",
    "ChannelMessage": "host.message_inbox",
    "Channels": "host.channels",
    "ChatCompletions": "host.chat_completions",
    "CheckpointTree": "rules.checkpoint_tree",
    "Draft": "host.moderation",
    "DurableInbox": "host.durable_inbox",
    "HookFailedError": "errors",
    "Hooks": "host.hooks",
    "HostPeer": "server.host_peer",
    "InboxItem": "host.inbox_item",
    "Inference": "host.inference",
    "InferenceStream": "server.inference_streams",
    "Injection": "rules.injections",
    "InjectionLimits": "rules.injections",
    "Injections": "rules.injections",
    "McplHost": "host.host",
    "McplServer": "server.server",
    "MessageDecision": "host.message_inbox",
    "ModelAnswer": "rules.inference",
    "ModelRequest": "rules.inference",
    "Moderate": "host.moderation",
    "NotPublishedError": "errors",
    "Outbox": "server.outbox",
    "OutgoingResponse": "host.outgoing_response",
    "Provider": "host.inference",
    "ProviderError": "errors",
    "PushedEvent": "host.event_inbox",
    "RefusedItem": "server.outbox",
    "Restrictions": "rules.restrictions",
    "ScopeAnswer": "host.scopes",
    "ScopeDeniedError": "errors",
    "ScopeRequest": "rules.scopes",
    "Scopes": "host.scopes",
    "ScriptedProvider": "host.inference",
    "ServerPeer": "host.server_peer",
    "ServerState": "host.state",
    "StateNotRecordedError": "errors",
    "StateRefusedError": "errors",
    "UnsupportedMessageError": "errors",
    "UrlGuard": "host.url_guard",
    "UserTurn": "host.message_inbox",
    "Verdict": "host.moderation",
    "WorkItem": "host.work_queue",
    "WorkQueue": "host.work_queue",
    "content_text": "rules.content",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
