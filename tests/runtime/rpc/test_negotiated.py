"""What the handshake allows, as a table: the capabilities of both sides, a gate, the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest

from kinwire.rpc.errors import CapabilityNotNegotiatedError
from kinwire.rpc.negotiated import Gates, Negotiated
from kinwire_protocols import mcpl, mgp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import methods
from kinwire_protocols.mcp.methods import PROTOCOL
from kinwire_protocols.peer import Method
from tests.each import each
from tests.runtime.mcp.fake_protocols import LEAVE_ASK, MARKS_CHANGED, MARKS_PUSH, MARKS_RENAME

CLIENT_LEFT_OUT = "the client did not declare it"
SERVER_LEFT_OUT = "the server did not declare it"


def gated(gate: str | None, protocol: str = "vendor") -> Method[Any, Any]:
    return replace(methods.PING, gate=gate, protocol=protocol)


@each(
    ("row", "client", "server", "reason"),
    [
        pytest.param(methods.PING, {}, {}, None, id="no gate"),
        pytest.param(methods.COMPLETION_COMPLETE, {}, {}, None, id="no gate in this version"),
        pytest.param(methods.TOOLS_LIST, {}, {"tools": {}}, None, id="an empty object is a yes"),
        pytest.param(methods.TOOLS_LIST, {}, {}, SERVER_LEFT_OUT, id="left out"),
        pytest.param(methods.TOOLS_LIST, {}, {"tools": None}, SERVER_LEFT_OUT, id="null: absent"),
        pytest.param(methods.TOOLS_LIST, {"tools": {}}, {}, SERVER_LEFT_OUT, id="the other side's"),
        pytest.param(
            methods.RESOURCES_SUBSCRIBE, {}, {"resources": {"subscribe": True}}, None, id="below"
        ),
        pytest.param(
            methods.RESOURCES_SUBSCRIBE, {}, {"resources": {}}, SERVER_LEFT_OUT, id="not below"
        ),
        pytest.param(
            methods.RESOURCES_SUBSCRIBE,
            {},
            {"resources": {"subscribe": False}},
            SERVER_LEFT_OUT,
            id="false is a no",
        ),
        pytest.param(
            methods.NOTIFICATIONS_TOOLS_LIST_CHANGED,
            {},
            {"tools": {"listChanged": True}},
            None,
            id="a notification of the server",
        ),
        pytest.param(
            methods.NOTIFICATIONS_TOOLS_LIST_CHANGED,
            {},
            {"tools": {}},
            SERVER_LEFT_OUT,
            id="a notification that was not announced",
        ),
        pytest.param(
            methods.NOTIFICATIONS_ROOTS_LIST_CHANGED,
            {"roots": {}},
            {},
            CLIENT_LEFT_OUT,
            id="a notification of the client that was not announced",
        ),
        pytest.param(methods.SAMPLING_CREATE_MESSAGE, {"sampling": {}}, {}, None, id="sampling"),
        pytest.param(methods.SAMPLING_CREATE_MESSAGE, {}, {}, CLIENT_LEFT_OUT, id="no sampling"),
        pytest.param(methods.ROOTS_LIST, {"roots": "yes"}, {}, None, id="whatever is not no"),
        pytest.param(
            gated("client:roots.x"), {"roots": "yes"}, {}, CLIENT_LEFT_OUT, id="no deeper"
        ),
        pytest.param(gated(None), {}, {}, None, id="a row of the user's own"),
        pytest.param(
            gated("vendor:x"), {}, {}, "this side has no extension for vendor", id="its gate"
        ),
    ],
)
def test_a_gate_of_mcp_asks_one_side(
    row: Method[Any, Any], client: JsonObject, server: JsonObject, reason: str | None
) -> None:
    assert Negotiated(client, server).denial_reason(row) == reason


def offers(client: object, server: object) -> Negotiated:
    """Both sides' offers of the protocol `marks`, which sits in `experimental.marks`."""
    return Negotiated(
        {"experimental": {"marks": client}},
        {"experimental": {"marks": server}},
        {"marks": "experimental.marks", "plain": None},
    )


@each(
    ("row", "negotiated", "reason"),
    [
        (MARKS_PUSH, offers({"push": True}, {"push": True}), None),
        (MARKS_PUSH, offers({"push": True}, {"push": {"deep": 1}}), None),
        (MARKS_PUSH, offers({"push": True}, {}), "the server did not offer it"),
        (MARKS_PUSH, offers({"push": False}, {"push": True}), "the client did not offer it"),
        (MARKS_CHANGED, offers({"changes": {"sent": True}}, {"changes": True}), None),
        (MARKS_CHANGED, offers({"changes": ["sent"]}, {"changes": ["sent", "x"]}), None),
        (
            MARKS_CHANGED,
            offers({"changes": ["x"]}, {"changes": True}),
            "the client did not offer it",
        ),
        (MARKS_RENAME, offers({}, {}), None),
        (MARKS_RENAME, offers({}, None), "the server did not offer marks"),
        (MARKS_RENAME, offers(None, {}), "the client did not offer marks"),
        (MARKS_RENAME, offers({}, True), "the server did not offer marks"),
        (MARKS_RENAME, Negotiated({}, {}), None),
        (MARKS_PUSH, Negotiated({}, {}), "this side has no extension for marks"),
        (LEAVE_ASK, offers({}, {}), "this side has no extension for leave"),
        (gated("client:sampling", "marks"), offers({}, {}), CLIENT_LEFT_OUT),
        (gated("marks:push", "mcp"), offers({"push": True}, {"push": True}), None),
        (gated(None, "plain"), offers(None, None), None),
        (gated("plain:x", "plain"), offers(None, None), "plain has no capabilities"),
    ],
)
def test_a_gate_of_an_extension_asks_both_sides(
    row: Method[Any, Any], negotiated: Negotiated, reason: str | None
) -> None:
    assert negotiated.denial_reason(row) == reason


@each("row", PROTOCOL.methods.values(), ids=lambda row: row.name)
@pytest.mark.spec("mcp-capability-reference-1")
def test_every_gate_of_mcp_opens_by_what_it_names_and_by_nothing_else(
    row: Method[Any, Any],
) -> None:
    side, _, path = (row.gate or "client:nothing").partition(":")
    declared: JsonObject = {}
    inner = declared
    for name in path.split("."):
        inner[name] = inner = {}
    closed = Negotiated({}, {})
    opened = Negotiated(declared, {}) if side == "client" else Negotiated({}, declared)
    assert opened.denial_reason(row) is None
    assert (closed.denial_reason(row) is None) == (row.gate is None)


def test_the_error_names_method_gate_reason_and_fix() -> None:
    error = CapabilityNotNegotiatedError("tools/list", "server:tools", SERVER_LEFT_OUT)
    assert str(error) == (
        "tools/list: needs server:tools, but the server did not declare it. "
        "Look at the capabilities of both sides first; raw() sends it unchecked."
    )
    assert str(
        CapabilityNotNegotiatedError("marks/rename", None, "the server did not offer marks")
    ) == (
        "marks/rename: the server did not offer marks. "
        "Look at the capabilities of both sides first; raw() sends it unchecked."
    )


def capabilities_of_all() -> JsonObject:
    """Return capabilities that offer everything of MCP, MCPL and MGP."""
    rows = [row for table in TABLES for row in table.methods.values()]
    found: JsonObject = {}
    for row in rows:
        side, _, path = (row.gate or "").partition(":")
        inner = found
        if side == "mcpl":
            inner = found.setdefault("experimental", {}).setdefault("mcpl", {})
        for name in filter(None, path.split(".")):
            inner = inner.setdefault(name, {})
    return found


TABLES = (PROTOCOL, mcpl.PROTOCOL, mgp.PROTOCOL)


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("client", [{}, capabilities_of_all()], ids=["nothing", "everything"])
@pytest.mark.parametrize("server", [{}, capabilities_of_all()], ids=["nothing", "everything"])
def test_the_sets_hold_what_is_not_denied(
    side: Literal["client", "server"], client: JsonObject, server: JsonObject
) -> None:
    negotiated = Gates(side, TABLES).negotiated(client, server)
    other = "server" if side == "client" else "client"
    allowed = [
        row
        for table in TABLES
        for row in table.methods.values()
        if negotiated.denial_reason(row) is None
    ]
    assert negotiated.sent == {name for row in allowed if row.sender != other for name in row.names}
    assert negotiated.received == {
        name for row in allowed if row.sender != side for name in row.names
    }
    assert negotiated.extensions == {
        "mcpl": mcpl.PROTOCOL.capability,
        "mgp": mgp.PROTOCOL.capability,
    }
