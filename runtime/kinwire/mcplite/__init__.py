"""MCP-lite: a small, stateless relative of MCP, over HTTP and gRPC, in both roles.

`LiteServer` serves the tools of a `Server`; `LiteClient` calls those of any server. `rules/`
decides for both. The messages are in `kinwire_protocols.mcplite`.
"""

from __future__ import annotations

__all__ = (
    "LiteAnswer",
    "LiteCaller",
    "LiteClient",
    "LiteElicitation",
    "LiteFailure",
    "LiteLimits",
    "LiteOptions",
    "LiteOutcome",
    "LitePart",
    "LitePromise",
    "LiteQuestion",
    "LiteResourceRequest",
    "LiteServer",
    "LiteSource",
    "LiteUnknown",
    "NoSuchToolError",
    "ToolCall",
    "ToolRun",
    "UnknownToolError",
)

from typing import TYPE_CHECKING

from kinwire.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from kinwire.mcplite.client.client import LiteClient
    from kinwire.mcplite.client.errors import UnknownToolError
    from kinwire.mcplite.client.options import LiteOptions
    from kinwire.mcplite.client.outcomes import (
        LiteAnswer,
        LiteElicitation,
        LiteFailure,
        LiteOutcome,
        LitePart,
        LiteQuestion,
        LiteResourceRequest,
        LiteUnknown,
    )
    from kinwire.mcplite.client.promise import LitePromise
    from kinwire.mcplite.rules.calls import ToolCall
    from kinwire.mcplite.rules.limits import LiteLimits
    from kinwire.mcplite.server.service import LiteServer
    from kinwire.mcplite.server.source import LiteCaller, LiteSource, NoSuchToolError, ToolRun

_HOMES = {
    "LiteAnswer": "client.outcomes",
    "LiteCaller": "server.source",
    "LiteClient": "client.client",
    "LiteElicitation": "client.outcomes",
    "LiteFailure": "client.outcomes",
    "LiteLimits": "rules.limits",
    "LiteOptions": "client.options",
    "LiteOutcome": "client.outcomes",
    "LitePart": "client.outcomes",
    "LitePromise": "client.promise",
    "LiteQuestion": "client.outcomes",
    "LiteResourceRequest": "client.outcomes",
    "LiteServer": "server.service",
    "LiteSource": "server.source",
    "LiteUnknown": "client.outcomes",
    "NoSuchToolError": "server.source",
    "ToolCall": "rules.calls",
    "ToolRun": "server.source",
    "UnknownToolError": "client.errors",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
