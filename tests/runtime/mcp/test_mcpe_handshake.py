"""Offers of MCP Events in the handshake of MCP, made by an extension of a few lines."""

from __future__ import annotations

import json

import pytest

from kinwire import Host, Server, pair
from kinwire.rpc.session import Session
from kinwire_protocols import mcpe
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.peer import ProtocolTable
from tests.generated.messages import EXAMPLES

pytestmark = pytest.mark.anyio

OFFER = next(example for _, name, example in EXAMPLES if name == "MCPECapabilities")
WISH: JsonObject = {"protocolVersion": "2025-01-01", "protocolName": "mcpe"}


class Events:
    """One side of MCPE that does nothing but to say that it is there."""

    protocol: ProtocolTable = mcpe.PROTOCOL

    def __init__(self, offered: JsonObject) -> None:
        self.offered = offered
        self.theirs: JsonObject | None = None

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        return self.offered

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        self.theirs = theirs

    async def negotiated(self, session: Session) -> None:
        pass


@pytest.mark.spec("mcpe-2.2-2", "mcpe-3.1-1")
async def test_the_answer_to_initialize_has_the_offer_with_its_version() -> None:
    served, held = Events(OFFER), Events(WISH)
    async with pair(
        Server("s", "1", extensions=[served]), Host("h", "1", extensions=[held])
    ) as connection:
        await connection.mcp.ping()
        asked, answered, *others = [json.loads(frame.data) for frame in connection.frames]
    found = answered["result"]["capabilities"]["experimental"]["mcpe"]
    assert found == held.theirs == OFFER
    assert from_wire(mcpe.MCPECapabilities, found).protocol_version == "2025-01-01"
    assert asked["params"]["capabilities"]["experimental"]["mcpe"] == served.theirs == WISH
    assert "2025-01-01" not in json.dumps(others)  # it is exchanged there and nowhere else
