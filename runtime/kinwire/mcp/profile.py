"""What the JSON-RPC layer has to know of MCP (MCP, Lifecycle, Cancellation and Progress)."""

from __future__ import annotations

__all__ = ("PROFILE", "ProgressCallback")

from collections.abc import Callable

from kinwire.rpc.profile import Cancellation, Progress, RpcProfile
from kinwire_protocols.mcp.methods import (
    INITIALIZE,
    NOTIFICATIONS_CANCELLED,
    NOTIFICATIONS_PROGRESS,
)
from kinwire_protocols.mcp.models import ProgressNotificationParams

PROFILE = RpcProfile(
    protocol=INITIALIZE.protocol,
    opening=INITIALIZE.name,
    opening_hint=(
        "Is it an MCP server? `kinwire doctor` with the same server looks for the cause. "
        "handshake_timeout=... waits longer."
    ),
    cancellation=Cancellation(NOTIFICATIONS_CANCELLED.name, "requestId", "reason"),
    progress=Progress(NOTIFICATIONS_PROGRESS, "progressToken"),
)

ProgressCallback = Callable[[ProgressNotificationParams], object]
"""Takes a progress report of the peer. It is called immediately, so it is a plain function."""
