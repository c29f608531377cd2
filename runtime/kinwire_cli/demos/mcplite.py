"""The server of `kinwire serve demo mcp-lite`: the tools of the examples in the specification."""

from __future__ import annotations

__all__ = ("server",)

from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
from pydantic import Field

from kinwire.managers.tool_outcomes import NeedsAnswers, ToolError, ToolQuestion
from kinwire.mcp.context import Context
from kinwire.mcp.server import Server

server = Server("kinwire-lite-demo", "1.0", instructions="Tools that answer, promise and ask.")

_DOCUMENTS = {
    "doc_123": ("MCP Protocol Overview", "The Model Context Protocol enables..."),
    "doc_124": ("MCP-lite", "A small, stateless relative of MCP."),
    "doc_125": ("gRPC", "Calls between services."),
}
_FORMATS = ("short", "long")
_STEPS = 4


@server.tool(type="query")
async def search_documents(
    query: Annotated[str, Field(description="Search query")],
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> list[dict[str, str]]:
    """Search through available documents."""
    words = query.lower().split()
    found = [
        {"document_id": id, "title": title, "excerpt": text}
        for id, (title, text) in _DOCUMENTS.items()
        if any(word in f"{title} {text}".lower() for word in words)
    ]
    return found[:limit]


@server.tool(type="analysis", promise_after=0)
async def analyze_dataset(
    context: Context,
    dataset_id: str,
    analysis_type: str = "comprehensive",
    seconds: Annotated[float, Field(ge=0, le=60, description="How long it takes.")] = 2,
) -> dict[str, Any]:
    """Analyze a dataset; the result is promised immediately and there later."""
    for step in range(_STEPS):
        await context.progress(step, total=_STEPS, message=f"part {step + 1} of {_STEPS}")
        await anyio.sleep(seconds / _STEPS)
    return {"dataset_id": dataset_id, "analysis": analysis_type, "rows": 1_000_000}


@server.tool(type="report")
async def generate_report(topic: str) -> AsyncIterator[str]:
    """Write a report, which can be read while it is written."""
    yield f"Report: {topic}\n\nExecutive Summary"
    await anyio.sleep(0.05)
    yield "\n\nRevenue for Q4 increased by 15%..."


@server.tool(type="report")
async def write_letter(context: Context, to: str) -> str | NeedsAnswers:
    """Write a letter, after two questions about it."""
    if context.answers is None:
        return NeedsAnswers(
            "Two things are needed to write the letter.",
            [
                ToolQuestion("format", "Which format should it have?", options=_FORMATS),
                ToolQuestion("subject", "What is it about?"),
            ],
        )
    return f"A {context.answers['format']} letter to {to} about {context.answers['subject']}."


@server.tool(type="math")
def divide(a: float, b: float) -> float:
    """Divide one number by another; dividing by zero is a failure."""
    if b == 0:
        raise ToolError("Nothing can be divided by zero.", code="DIVISION_BY_ZERO")
    return a / b
