"""Every method of MCP 2024-11-05 with every program that knows it, in both directions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire_protocols.mcp.methods import PROTOCOL
from kinwire_protocols.mcpl.methods import PROTOCOL as MCPL
from tests.interop.cells import METHODS, PEERS, SERVERS, reason
from tests.interop.conftest import Runner
from tests.interop.expected import EXPECTED, REFUSALS
from tests.interop.wire import Message, faults, used

pytestmark = pytest.mark.interop

CELLS = [pytest.param(peer, method, id=f"{peer}: {method}") for peer in PEERS for method in METHODS]
DUAL = ["mcp2", "fastmcp", "typescript2", "ai_sdk"]
"""Clients that also speak a protocol without a handshake, and try that first."""


def how(peer: str) -> str:
    if peer.startswith("server "):
        return "asyncio"
    return "auto" if peer.removeprefix("client ") in {*DUAL, "inspector"} else "legacy"


@pytest.mark.parametrize(("peer", "method"), CELLS)
def test_a_method_that_both_know_is_used_and_does_what_it_should(
    peer: str, method: str, run_of: Runner
) -> None:
    run = run_of(peer, how(peer))
    was_used = any(method in used(start) for start in run.starts)
    assert was_used == (reason(PEERS[peer], method) is None)
    expected = EXPECTED[peer]
    if was_used and method in expected:
        assert run.found[method] == expected[method]


@pytest.mark.parametrize("peer", PEERS)
def test_all_that_both_sides_send_is_as_the_document_says(peer: str, run_of: Runner) -> None:
    run = run_of(peer, how(peer))
    assert [fault for start in run.starts for fault in faults(start, "server")] == []
    found = {fault for start in run.starts for fault in faults(start, "client")}
    probes = {fault for fault in found if fault.startswith("server/discover:")}
    assert found == probes


@pytest.mark.parametrize("peer", PEERS)
def test_servers_without_mcpl_see_it_only_in_the_offer_of_our_host(
    peer: str, run_of: Runner
) -> None:
    run = run_of(peer, how(peer))
    sent = [message for start in run.starts for message in start]
    assert [one for one in sent if one.content.get("method") in MCPL.methods] == []
    ours = "client" if peer.startswith("server ") else "server"
    of_it = [
        one.content for one in sent if one.sender == ours and "mcpl" in json.dumps(one.content)
    ]
    offers = [content for content in of_it if content.get("method") == "initialize"]
    assert of_it == offers
    assert len(offers) == (len(run.starts) if ours == "client" else 0)


@pytest.mark.parametrize("server", SERVERS)
def test_what_a_server_has_no_part_in_is_nothing_that_it_offers(
    server: str, run_of: Runner
) -> None:
    peer, run = SERVERS[server], run_of(f"server {server}", "asyncio")
    answer = next(content for sender, content in run.starts[0] if sender == "server")
    offered = offers(answer["result"]["capabilities"])
    gates = {method: gate_of(method) for method in METHODS if reason(peer, method) is not None}
    assert [method for method, gate in gates.items() if gate in offered] == []


def offers(capabilities: dict[str, Any]) -> set[str]:
    """Return the capabilities as gates; whether lists change is said even if they never do."""
    members = [f"{name}.{one}" for name, of in capabilities.items() for one in of if of[one]]
    return {*capabilities, *members}


def gate_of(method: str) -> str:
    gate = PROTOCOL.methods[method].gate or ""
    if method == "completion/complete":
        return "completions"  # of later versions; this one has none
    return "" if gate.endswith(".listChanged") else gate.removeprefix("server:")


@pytest.mark.parametrize("peer", PEERS)
def test_no_process_is_left(peer: str, run_of: Runner) -> None:
    run = run_of(peer, how(peer))
    assert run.starts
    assert run.left_over == []


@pytest.mark.parametrize("peer", REFUSALS)
def test_a_call_that_is_wrong_is_refused(peer: str, run_of: Runner) -> None:
    found = run_of(peer, how(peer)).found
    assert (found["unknown tool"], found["bad arguments"]) == REFUSALS[peer]


@pytest.mark.parametrize("client", DUAL)
def test_a_client_finds_the_same_if_it_tries_a_later_protocol_first(
    client: str, run_of: Runner
) -> None:
    first, second = (run_of(f"client {client}", mode) for mode in ("auto", "legacy"))
    assert first.found == second.found
    assert (probed(first.starts), probed(second.starts)) == (True, False)


def probed(starts: list[list[Message]]) -> bool:
    sent = (message for start in starts for message in start)
    return any(message.content.get("method") == "server/discover" for message in sent)


@pytest.mark.parametrize("server", ["mcp1", "mcp2", "fastmcp"])
def test_our_host_finds_the_same_on_trio(server: str, run_of: Runner) -> None:
    on_asyncio, on_trio = (run_of(f"server {server}", backend) for backend in ("asyncio", "trio"))
    assert on_asyncio.found == on_trio.found


def test_the_inspector_is_started_eight_times_at_most(run_of: Runner) -> None:
    assert len(run_of("client inspector", "auto").starts) <= 8
