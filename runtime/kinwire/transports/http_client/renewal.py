"""The handshake, repeated with a server that has forgotten the session (MCP, Streamable HTTP)."""

from __future__ import annotations

__all__ = ("renewed",)

from kinwire.transports.http_client.asking import ask
from kinwire.transports.http_client.pool import HttpClient
from kinwire.transports.http_client.session import HttpClientSession

_PATIENCE = 10.0  # seconds for each step


async def renewed(client: HttpClient, session: HttpClientSession, limit: int) -> str | None:
    """Begin another session in place of `session`; return why that failed, None if it did not."""
    if not session.repeatable:
        return "more than MCP's own handshake was said in it"
    hello, initialized = session.handshake
    session.forget()
    answer = await ask(client, session.post, hello.data, limit=limit, patience=_PATIENCE)
    greeting = answer.result()
    if greeting is None:
        return f"it refused another one (HTTP {answer.status})" if answer.status else "it is gone"
    session.begun(answer.headers.get("mcp-session-id"))
    if not session.greeted(greeting):
        return "it offers something else now"
    answer = await ask(client, session.post, initialized.data, limit=limit, patience=_PATIENCE)
    return None if answer.accepted else f"it refused another one (HTTP {answer.status})"
