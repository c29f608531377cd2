"""Names that `mcp` and FastMCP have for what is called otherwise here, with the right call.

A class looks a name up here after Python has not found it; type checkers do not see that.
"""

from __future__ import annotations

__all__ = ("CLIENT_NAMES", "CONTEXT_NAMES", "SERVER_NAMES", "no_attribute")

from collections.abc import Mapping

_LOG = 'await context.log("{}", "...")'

SERVER_NAMES: Mapping[str, str] = {
    "call_tool": "@server.tool, or @server.on.tools_call",
    "custom_route": "an application around server.asgi()",
    "get_prompt": "@server.prompt, or @server.on.prompts_get",
    "http_app": "server.asgi()",
    "list_prompts": "@server.prompt, or @server.on.prompts_list",
    "list_resources": "@server.resource, or @server.on.resources_list",
    "list_tools": "@server.tool, or @server.on.tools_list",
    "read_resource": "@server.resource, or @server.on.resources_read",
    "run_async": "await server.serve_stdio(), or server.run()",
    "run_stdio_async": "await server.serve_stdio(), or server.run()",
    "sse_app": "server.asgi()",
    "streamable_http_app": "server.asgi()",
}
"""Names of a server."""

CLIENT_NAMES: Mapping[str, str] = {
    "call_tool": 'await connection.mcp.tools_call(name="...", arguments={...})',
    "close": "await connection.aclose()",
    "complete": "await connection.mcp.completion_complete(ref=..., argument=...)",
    "get_prompt": 'await connection.mcp.prompts_get(name="...", arguments={...})',
    "initialize": "nothing: connect(...) has done the handshake",
    "list_prompts": "async for prompt in connection.prompts()",
    "list_resource_templates": "async for template in connection.resource_templates()",
    "list_resources": "async for resource in connection.resources()",
    "list_tools": "async for tool in connection.tools()",
    "ping": "await connection.mcp.ping()",
    "read_resource": 'await connection.mcp.resources_read(uri="...")',
    "send_ping": "await connection.mcp.ping()",
    "set_logging_level": 'await connection.mcp.logging_set_level(level="info")',
    "subscribe_resource": 'async with connection.subscription("...") as updates',
}
"""Names of a client's session."""

CONTEXT_NAMES: Mapping[str, str] = {
    "debug": _LOG.format("debug"),
    "error": _LOG.format("error"),
    "info": _LOG.format("info"),
    "list_roots": "await context.roots()",
    "report_progress": "await context.progress(3, 10)",
    "warning": _LOG.format("warning"),
}
"""Names of a context."""


def no_attribute(owner: object, name: str, known: Mapping[str, str]) -> AttributeError:
    """Return the error for the name of an attribute that `owner` does not have."""
    text = f"{type(owner).__name__!r} object has no attribute {name!r}"
    if name in known:
        text = f"{text}. Write {known[name]}"
    return AttributeError(text, name=name, obj=owner)
