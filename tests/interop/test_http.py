"""Clients and servers of others over Streamable HTTP and over HTTP+SSE.

They do what they do over stdio (`clients/flow.py`), so the same has to come of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.interop import host, peers, runs, third_parties
from tests.interop.conftest import required
from tests.interop.expected import CONTRACT, EVERYTHING, INSPECTOR, REFUSALS
from tests.interop.listening import everything, listening, ours, python_server

pytestmark = pytest.mark.interop

PATHS = {"http": "/mcp", "sse": "/sse"}
MODES = {"mcp1": "legacy", "mcp2": "auto", "typescript1": "legacy", "typescript2": "auto"}
"""Whether a client tries a protocol without a handshake first: if it can, it does here."""

INSPECTIONS = ("tools/list", "ping", "roots/list", "resources/read", "prompts/get")


@pytest.mark.parametrize("transport", PATHS)
@pytest.mark.parametrize("client", MODES)
def test_a_client_finds_the_same_as_over_stdio(client: str, transport: str, tmp_path: Path) -> None:
    with listening(ours(transport), tmp_path) as server:
        url = server.url(PATHS[transport])
        found = required(lambda: runs.client_of_url(client, MODES[client], url))
    refusals = found.pop("unknown tool"), found.pop("bad arguments")
    assert refusals == REFUSALS[f"client {client}"]
    assert found == CONTRACT


@pytest.mark.parametrize("transport", PATHS)
def test_the_inspector_finds_the_same_as_over_stdio(transport: str, tmp_path: Path) -> None:
    with listening(ours(transport), tmp_path) as server:
        options = ("--transport", transport, "--server-url", server.url(PATHS[transport]))
        found = required(lambda: runs.inspections(INSPECTIONS, tmp_path, options))
    tools = {tool["name"] for tool in found.pop("tools/list")["tools"]}
    assert tools >= {"echo", "count"}
    assert found == {method: INSPECTOR[method] for method in found}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("transport", PATHS)
@pytest.mark.parametrize("name", ["mcp1", "mcp2"])
def test_our_host_finds_the_same_as_over_stdio(
    name: str, transport: str, backend: str, tmp_path: Path
) -> None:
    command = required(lambda: python_server(name))
    with listening(command, tmp_path) as server:
        url = server.url(PATHS[transport])
        found: dict[str, Any] = anyio.run(host.use_contract, url, backend=backend)
    refusals = found.pop("unknown tool"), found.pop("bad arguments")
    assert refusals == REFUSALS[f"server {name}"]
    assert found == CONTRACT


@pytest.mark.parametrize("transport", ["streamableHttp", "sse"])
def test_our_host_uses_server_everything(transport: str, tmp_path: Path) -> None:
    required(lambda: peers.npm_server("everything"))
    with everything(transport, tmp_path) as server:
        url = server.url("/sse" if transport == "sse" else "/mcp")
        assert anyio.run(third_parties.use_everything, url) == EVERYTHING
