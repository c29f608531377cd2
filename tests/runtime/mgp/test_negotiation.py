"""The handshake of MGP: who has it, in which words, and who a server is (MGP 1, 2)."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Context, DuplicateServerError, Host, Server, pair
from kinwire.mgp import MgpKernel, MgpServer, ServerPolicy
from kinwire.mgp.kernel.identities import IdentityRefusedError
from kinwire_protocols.mgp import AccessQueryParams, ToolSecurity
from kinwire_protocols.mgp.methods import MGP_ACCESS_QUERY, MGP_HEALTH_PING
from kinwire_protocols.mgp.models import HealthPingParams
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

ALL = [
    "security",
    "access_control",
    "audit",
    "code_safety",
    "lifecycle",
    "bidirectional",
    "discovery",
    "tool_discovery",
    "streaming",
]


def notes(guarded_by: MgpServer | None) -> Server:
    server = Server("notes", "1", extensions=[] if guarded_by is None else [guarded_by])

    @server.tool
    async def read_note(name: str, context: Context) -> str:
        """Read a note, and say what else came with the call."""
        return ",".join(sorted(context.params.model_extra or {}))

    return server


async def test_a_role_on_the_other_side_is_refused_where_it_is_passed() -> None:
    with pytest.raises(TypeError, match=r"got MgpKernel, which is for a client\. Pass it"):
        Server("s", "1", extensions=[MgpKernel()])
    with pytest.raises(TypeError, match=r"got MgpServer, which .*\. Pass it to a Server"):
        Host("h", "1", extensions=[MgpServer()])


@pytest.mark.parametrize("has_kernel", [True, False], ids=["kernel", "plain host"])
@pytest.mark.parametrize("has_mgp", [True, False], ids=["server", "plain server"])
@pytest.mark.spec("mgp-1.3-1", "mgp-1.3-4", "mgp-1.3-5")
async def test_each_of_the_four_pairs_works_as_far_as_both_go(
    has_mgp: bool, has_kernel: bool
) -> None:
    kernel = MgpKernel() if has_kernel else None
    declared = {"read_note": ToolSecurity(risk_level="safe")}
    server = notes(MgpServer(tools=declared) if has_mgp else None)
    both = has_mgp and has_kernel
    with audited() as events, anyio.fail_after(20):
        host = Host("h", "1", extensions=[] if kernel is None else [kernel])
        async with pair(server, host) as connection:
            (listed,) = [one async for one in connection.tools()]
            answer = await connection.mcp.tools_call(name="read_note", arguments={"name": "n"})
            frames = b"".join(frame.data for frame in connection.frames)
    assert ("security" in (listed.model_extra or {})) is both
    assert answer.content[0].text == ("trace_id" if both else "")  # type: ignore[union-attr]
    assert (b"mgp" in frames) is has_kernel  # the offer of the kernel, and nothing else
    if has_kernel and not has_mgp:
        assert frames.count(b"mgp") == 1
        assert b"traceparent" not in frames
    assert [one["event_type"] for one in events.of_calls] == ["TOOL_EXECUTED"] * has_kernel


OFFERS: list[tuple[Any, set[str] | None]] = [
    (None, None),
    ([], None),  # read as {}, which has no version
    ({}, None),
    ("yes", None),
    ({"version": "1.0.0", "extensions": ALL}, None),
    ({"version": "0.2.0", "extensions": ALL}, set(ALL)),
    ({"version": "0.1.0", "extensions": ["security", "audit"]}, {"security", "audit"}),
    ({"version": "0.6.1", "extensions": ["permissions", "streaming"]}, {"security"}),
    (
        {"version": "0.2.0", "extensions": ["audit", "lifecycle", "audit", "x"]},
        {"audit", "lifecycle"},
    ),
    ({"version": "0.2.0", "extensions": []}, set()),
    ({"version": "0.2.0", "extensions": "audit"}, set()),
]


@pytest.mark.spec("mgp-2.4-1", "mgp-2.4-2", "mgp-8.2-1")
async def test_the_kernel_speaks_what_both_sides_have_and_works_with_every_server() -> None:
    for place in ("mgp", "experimental"):
        for offer, active in OFFERS:
            given = offer if place == "mgp" else {"mgp": offer}
            raw = RawServer(tool("think"), capabilities={} if offer is None else {place: given})
            async with guarded(raw, MgpKernel()) as connection:
                assert "content" in await connection.session.raw("tools/call", {"name": "think"})
                server = connection.session
                query = AccessQueryParams(agent_id="host", server_id="s", tool_name="think")
                allowed = active is not None and "access_control" in active
                if not allowed:
                    with pytest.raises(CapabilityNotNegotiatedError):
                        await server.call(MGP_ACCESS_QUERY, query)
                if "lifecycle" not in (active or ()):
                    with pytest.raises(CapabilityNotNegotiatedError):
                        await server.call(MGP_HEALTH_PING, HealthPingParams(timestamp="now"))
            spoken = {name for one in raw.heard if "mgp" in (name := one.get("method", ""))}
            assert spoken <= ({"notifications/mgp.audit"} if "audit" in (active or ()) else set())
            assert ("trace_id" in raw.calls[0]) is (active is not None), offer


@pytest.mark.spec("mgp-2.1-2", "mgp-2.2-1", "mgp-2.2-4")
async def test_the_kernel_offers_its_version_and_extensions_in_initialize() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("think"))
    async with guarded(raw, kernel) as connection:
        server = kernel.of(connection)
        assert server is not None
        assert (server.id, server.trust, server.offer) == ("s", "standard", None)
    (greeting,) = raw.of("initialize")
    assert greeting["capabilities"] == {"mgp": {"version": "0.2.0", "extensions": ALL}}
    assert kernel.servers == []


TRUST: list[tuple[str, Any, str]] = [
    ("standard", None, "standard"),
    ("trusted", None, "trusted"),
    ("trusted", "trusted", "trusted"),
    ("standard", "trusted", "standard"),
    ("trusted", "standard", "standard"),
    ("trusted", "sandboxed", "sandboxed"),
    ("sandboxed", "trusted", "sandboxed"),
    ("trusted", "core", "trusted"),
    ("trusted", "untrusted", "sandboxed"),
    ("trusted", "TRUSTED", "sandboxed"),
    ("trusted", 7, "sandboxed"),
]


@pytest.mark.spec("mgp-2.3-6")
async def test_trust_is_the_lower_of_configuration_and_declaration_and_decides_access() -> None:
    for configured, declared, expected in TRUST:
        offer: Json = {"version": "0.2.0", "extensions": []}
        if declared is not None:
            offer["trust_level"] = declared
        policy: Any = ServerPolicy(trust=configured)  # type: ignore[arg-type]
        kernel, raw = MgpKernel(servers={"s": policy}), RawServer(tool("think"), mgp=offer)
        async with guarded(raw, kernel) as connection:
            (server,) = kernel.servers
            assert server.trust == expected, (configured, declared)
            called = await outcome(connection.session.raw("tools/call", {"name": "think"}))
            assert (called == 1001) is (expected == "sandboxed")  # opt-in without an entry


@pytest.mark.spec("mgp-2.3-5")
async def test_a_server_id_that_is_not_its_own_refuses_a_server_and_is_audited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def named(name: object) -> RawServer:
        offer: Json = {"version": "0.2.0", "extensions": ["audit"], "server_id": name}
        return RawServer(tool("think"), mgp=offer)

    caplog.set_level(logging.WARNING)
    kernel = MgpKernel(servers={"files": ServerPolicy()})
    with audited() as events:
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(named("mail"), server_id="mail")  # what it is called
            await host.connect(named("weather"))  # nobody else is called so
            await host.connect(named(["odd"]))  # not readable: it declares nothing
            wrong = (("mail", "web"), ("files", None), ("mail", None), ("weather", None))
            for declared, given in wrong:
                with pytest.raises(IdentityRefusedError, match="server_id"):
                    await host.connect(named(declared), server_id=given)
            with pytest.raises(DuplicateServerError):
                await host.connect(named("mail"), server_id="mail")
            assert [one.id == "mail" for one in kernel.servers] == [True, False, False]
            assert all(one.id.startswith("unnamed-") for one in kernel.servers[1:])
            await host.connect(named("files"), server_id="files")  # the name was not taken
    refused = events.of("io.kinwire.server_refused")
    assert [one["result"] for one in refused] == ["BLOCKED"] * 5
    assert [one["target"]["server_id"] for one in refused[:1]] == ["web"]
    assert len(events.of("SERVER_CONNECTED")) == len(events.of("SERVER_DISCONNECTED")) == 4


async def test_what_is_odd_in_an_offer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "kinwire.mgp")
    for offer, message in (
        ({"version": "0.6.1", "extensions": []}, "version: 0.6.1 differs from 0.2.0"),
        ({"version": "2.0.0", "extensions": []}, "MGP is not spoken"),
        ({"version": "0.2.0"}, "extensions: expected a list of names, got None"),
    ):
        caplog.clear()
        async with guarded(RawServer(mgp=offer), MgpKernel()):
            assert message in caplog.text
