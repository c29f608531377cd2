"""Hosts of MCPL that others could write: the TypeScript SDK, which has no word of it, is one.

That who speaks no MCPL notices nothing of it is in `test_methods.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Host, stdio
from kinwire.mcpl import Channels, McplHost, PushedEvent
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl.methods import PROTOCOL
from tests.interop import runs
from tests.interop.conftest import required
from tests.interop.listening import listening, ours
from tests.interop.recording import Recorded
from tests.interop.wire import messages
from tests.runtime.programs import live

pytestmark = pytest.mark.interop

LIVE = Path(live.__file__)
TAKEN = {"accepted": True, "inferenceId": "of_evt_1"}
PAYLOAD = {"mode": "append"}
FOUND = {
    "channels/register": [["chat:#general", "chat:#news"]],
    "switched": [False],
    "push/event": [
        ["memory.remind", "evt_1", [{"type": "text", "text": "Call Alice"}]],
        ["memory.remind", "evt_own", [{"type": "text", "text": "By itself"}]],
    ],
    "push": [TAKEN],
    "scope/elevate": ["/home/a", "/etc/hosts"],
    "elevate": [
        {"approved": True, "payload": PAYLOAD},
        {"approved": False, "payload": PAYLOAD},
    ],
    # What a hook's own answer waits for, "Now?", is refused before it is sent.
    "inference/request": [["Why?", True], ["What of inf_7?", False]],
    "think": [["Be", "cause"]],
    "context/beforeInference": [["memory.recall", ["system", "afterUser"]]],
    "context/afterInference": ["a [...]"],
    "channels/incoming": [["own"]],
    "tools/call": [[["/home/a: one"], True, ["/home/a: one", "/home/a: one"]]],
    "state/rollback": [True],
    "channels/publish": [-32017, True],  # its feature set is off, then on
}


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_host_on_the_typescript_sdk_gets_what_our_server_pushes(
    transport: str, tmp_path: Path
) -> None:
    if transport == "stdio":
        command = json.dumps([sys.executable, str(LIVE)])
        found = required(lambda: runs.mcpl_host(command))
    else:
        with listening(ours("http", LIVE), tmp_path) as server:
            found = required(lambda: runs.mcpl_host(server.url("/mcp")))
    assert found == FOUND


@pytest.mark.anyio
async def test_hooks_of_our_host_pass_by_a_server_that_speaks_no_mcpl(
    everything: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    live = McplHost(enabled=["*"], channels=Channels(), on_push=take)
    turn: dict[str, Any] = {
        "inference_id": "inf_1",
        "conversation_id": "conv_1",
        "turn_index": 0,
        "model": mcpl.ModelInfo(id="m"),
    }
    with anyio.fail_after(30):
        async with Host("h", "1", extensions=[live]) as host:
            connection = await host.connect(stdio(*everything.words))
            assert live.of(connection) is None
            assert live.servers == []
            injected = await live.before_inference(mcpl.BeforeInferenceParams(**turn))
            assert [*injected.system, *injected.before_user, *injected.after_user] == []
            said = mcpl.AfterInferenceParams(**turn, assistant_message="Tea")
            assert await live.after_inference(said) == "Tea"
            with pytest.raises(CapabilityNotNegotiatedError):
                await mcpl.ServerStub(connection).channels_list()
            await connection.mcp.tools_call(name="echo", arguments={"message": "Tea"})
    (wire,) = everything.wires()
    sent = {message.content.get("method") for message in messages(wire)}
    assert sent.isdisjoint(PROTOCOL.methods)
    assert [record for record in caplog.records if record.name.startswith("kinwire")] == []


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    raise AssertionError("nobody can push")
