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
    from kinwire.mcpl.channels import Channels
    from kinwire.mcpl.chat_completions import ChatCompletions
    from kinwire.mcpl.errors import (
        HookFailedError,
        NotPublishedError,
        ProviderError,
        ScopeDeniedError,
        StateRefusedError,
        UnsupportedMessageError,
    )
    from kinwire.mcpl.hooks import Hooks
    from kinwire.mcpl.host import McplHost
    from kinwire.mcpl.incoming import Decision, Incoming, Turn
    from kinwire.mcpl.inference import Inference
    from kinwire.mcpl.inference_streams import InferenceStream
    from kinwire.mcpl.live_host import LiveHost
    from kinwire.mcpl.live_server import LiveServer
    from kinwire.mcpl.moderation import Draft, Moderate, Verdict
    from kinwire.mcpl.providers import Provider, ScriptedProvider
    from kinwire.mcpl.push import PushedEvent
    from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree
    from kinwire.mcpl.rules.injections import Injection, InjectionLimits, Injections
    from kinwire.mcpl.rules.model_requests import ModelAnswer, ModelRequest
    from kinwire.mcpl.scopes import ScopeAnswer, ScopeRequest, Scopes
    from kinwire.mcpl.served_state import CallState
    from kinwire.mcpl.server import McplServer
    from kinwire.mcpl.stateful_calls import ServerState
    from kinwire.mcpl.url_guard import UrlGuard
    from kinwire.mcpl.writing import Writing

_HOMES = {
    "CallState": "served_state",
    "Channels": "channels",
    "ChatCompletions": "chat_completions",
    "Decision": "incoming",
    "Draft": "moderation",
    "Incoming": "incoming",
    "Moderate": "moderation",
    "NotPublishedError": "errors",
    "Turn": "incoming",
    "Verdict": "moderation",
    "Writing": "writing",
    "CheckpointTree": "rules.checkpoint_tree",
    "HookFailedError": "errors",
    "Hooks": "hooks",
    "Inference": "inference",
    "InferenceStream": "inference_streams",
    "ModelAnswer": "rules.model_requests",
    "ModelRequest": "rules.model_requests",
    "Provider": "providers",
    "ProviderError": "errors",
    "ScriptedProvider": "providers",
    "Injection": "rules.injections",
    "InjectionLimits": "rules.injections",
    "Injections": "rules.injections",
    "LiveHost": "live_host",
    "LiveServer": "live_server",
    "McplHost": "host",
    "McplServer": "server",
    "PushedEvent": "push",
    "ScopeAnswer": "scopes",
    "ScopeDeniedError": "errors",
    "ScopeRequest": "scopes",
    "Scopes": "scopes",
    "ServerState": "stateful_calls",
    "StateRefusedError": "errors",
    "UnsupportedMessageError": "errors",
    "UrlGuard": "url_guard",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
