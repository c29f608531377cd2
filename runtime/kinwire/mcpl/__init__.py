"""MCP Live in both roles: `McplHost` and `McplServer` go into `extensions` of a host or a server.

`rules/` decides, the files beside it act. The messages are in `kinwire_protocols.mcpl`.
"""

from __future__ import annotations

__all__ = (
    "CallState",
    "Channels",
    "ChatCompletions",
    "CheckpointTree",
    "Decision",
    "Draft",
    "HookFailedError",
    "Hooks",
    "Incoming",
    "Inference",
    "InferenceStream",
    "Injection",
    "InjectionLimits",
    "Injections",
    "LiveHost",
    "LiveServer",
    "McplHost",
    "McplServer",
    "ModelAnswer",
    "ModelRequest",
    "Moderate",
    "NotPublishedError",
    "Provider",
    "ProviderError",
    "PushedEvent",
    "ScopeAnswer",
    "ScopeDeniedError",
    "ScopeRequest",
    "Scopes",
    "ScriptedProvider",
    "ServerState",
    "StateRefusedError",
    "Turn",
    "UnsupportedMessageError",
    "UrlGuard",
    "Verdict",
    "Writing",
)

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire.mcpl.errors import (
        HookFailedError,
        NotPublishedError,
        ProviderError,
        ScopeDeniedError,
        StateRefusedError,
        UnsupportedMessageError,
    )
    from kinwire.mcpl.host.channels import Channels
    from kinwire.mcpl.host.chat_completions import ChatCompletions
    from kinwire.mcpl.host.hooks import Hooks
    from kinwire.mcpl.host.host import McplHost
    from kinwire.mcpl.host.incoming import Decision, Incoming, Turn
    from kinwire.mcpl.host.inference import Inference
    from kinwire.mcpl.host.moderation import Draft, Moderate, Verdict
    from kinwire.mcpl.host.providers import Provider, ScriptedProvider
    from kinwire.mcpl.host.push import PushedEvent
    from kinwire.mcpl.host.scopes import ScopeAnswer, ScopeRequest, Scopes
    from kinwire.mcpl.host.server_peer import LiveServer
    from kinwire.mcpl.host.stateful_calls import ServerState
    from kinwire.mcpl.host.url_guard import UrlGuard
    from kinwire.mcpl.host.writing import Writing
    from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree
    from kinwire.mcpl.rules.injections import Injection, InjectionLimits, Injections
    from kinwire.mcpl.rules.model_requests import ModelAnswer, ModelRequest
    from kinwire.mcpl.server.host_peer import LiveHost
    from kinwire.mcpl.server.inference_streams import InferenceStream
    from kinwire.mcpl.server.served_state import CallState
    from kinwire.mcpl.server.server import McplServer

_HOMES = {
    "CallState": "server.served_state",
    "Channels": "host.channels",
    "ChatCompletions": "host.chat_completions",
    "Decision": "host.incoming",
    "Draft": "host.moderation",
    "Incoming": "host.incoming",
    "Moderate": "host.moderation",
    "NotPublishedError": "errors",
    "Turn": "host.incoming",
    "Verdict": "host.moderation",
    "Writing": "host.writing",
    "CheckpointTree": "rules.checkpoint_tree",
    "HookFailedError": "errors",
    "Hooks": "host.hooks",
    "Inference": "host.inference",
    "InferenceStream": "server.inference_streams",
    "ModelAnswer": "rules.model_requests",
    "ModelRequest": "rules.model_requests",
    "Provider": "host.providers",
    "ProviderError": "errors",
    "ScriptedProvider": "host.providers",
    "Injection": "rules.injections",
    "InjectionLimits": "rules.injections",
    "Injections": "rules.injections",
    "LiveHost": "server.host_peer",
    "LiveServer": "host.server_peer",
    "McplHost": "host.host",
    "McplServer": "server.server",
    "PushedEvent": "host.push",
    "ScopeAnswer": "host.scopes",
    "ScopeDeniedError": "errors",
    "ScopeRequest": "host.scopes",
    "Scopes": "host.scopes",
    "ServerState": "host.stateful_calls",
    "StateRefusedError": "errors",
    "UnsupportedMessageError": "errors",
    "UrlGuard": "host.url_guard",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
