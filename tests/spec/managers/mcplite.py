"""The managers of MCP-lite."""

from __future__ import annotations

__all__ = ("MCPLITE",)

from tests.spec.managers.manager import Manager

MCPLITE = {
    "mcp-lite results": Manager(
        attributes=(
            "kinwire.mcplite.rules.results:finished",
            "kinwire.mcplite.rules.results:content_from",
            "kinwire.mcplite.rules.results:failure_body",
        ),
        rows=(
            "mcp-lite-3.3-1",
            "mcp-lite-3.3-3",
            "mcp-lite-3.4-1",
            "mcp-lite-3.4-4",
            "mcp-lite-3.8-2",
            "mcp-lite-A.2-2",
        ),
    ),
    "mcp-lite discovery": Manager(
        attributes=(
            "kinwire.mcplite.server.visible_tools:VisibleTools._definitions",
            "kinwire.mcplite.server.visible_tools:VisibleTools.not_found",
        ),
        rows=(
            "mcp-lite-3.1-1",
            "mcp-lite-3.1-4",
            "mcp-lite-3.6-5",
            "mcp-lite-4.4-3",
            "mcp-lite-A.5-1",
        ),
    ),
    "mcp-lite promises": Manager(
        attributes=(
            "kinwire.mcplite.server.promises:PromiseBoard.answer",
            "kinwire.mcplite.rules.promises:redeemed",
            "kinwire.mcplite.rules.promises:token_of",
            "kinwire.mcplite.rules.promises:cancelled",
        ),
        rows=(
            "mcp-lite-1-3",
            "mcp-lite-2.2-3",
            "mcp-lite-3.4-2",
            "mcp-lite-3.5-1",
            "mcp-lite-3.5-3",
            "mcp-lite-3.5-4",
            "mcp-lite-3.5-6",
            "mcp-lite-3.5-7",
            "mcp-lite-3.6-4",
        ),
    ),
    "mcp-lite questions": Manager(
        attributes=("kinwire.mcplite.rules.elicitation:AnswerSeal.open",),
        rows=("mcp-lite-7.2-4",),
    ),
    "mcp-lite kinds": Manager(
        attributes=("kinwire.mcplite.rules.reading:response_type_of",),
        rows=("mcp-lite-3.3-4",),
    ),
    "mcp-lite promises of clients": Manager(
        attributes=("kinwire.mcplite.client.promise:LitePromise._settled",),
        rows=("mcp-lite-3.5-2",),
    ),
    "mcp-lite tokens of clients": Manager(
        attributes=("kinwire.mcplite.client.client:LiteClient.promise",),
        rows=("mcp-lite-3.5-8",),
    ),
    "mcp-lite paths": Manager(
        attributes=("kinwire.mcplite.server.http.paths:LitePaths.endpoint",),
        rows=("mcp-lite-4.1-5", "mcp-lite-4.2-1", "mcp-lite-A.1-1"),
    ),
    "mcp-lite event streams": Manager(
        attributes=("kinwire.mcplite.server.http.stream:LiteStream.send_all",),
        rows=("mcp-lite-4.3-5", "mcp-lite-4.3-6", "mcp-lite-A.4-1"),
    ),
}
