"""A client that tries a later protocol first gives up after a second: who is faster, and what then.

That client is npm's `@ai-sdk/mcp`. The handshake follows on the same pipe, so a server that took
the first message for its choice of protocol would refuse it.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from tests.interop import runs
from tests.interop.conftest import Runner, required
from tests.interop.recording import Recorded
from tests.interop.wire import Message, messages

pytestmark = pytest.mark.interop

METHOD_NOT_FOUND = -32601
SLOW = 2.0  # seconds; twice what the client waits
TRIES = 3


def beginning(start: list[Message]) -> list[object]:
    """Return what the first three messages are: their method, or the code of an error."""
    contents = [message.content for message in start[:3]]
    return [content.get("method") or content["error"]["code"] for content in contents]


def test_our_server_answers_the_probe_before_the_client_gives_up(tmp_path: Path) -> None:
    """A lost race says nothing while other programs keep the processors from our server."""
    beginnings = []
    for attempt in range(TRIES):
        (folder := tmp_path / str(attempt)).mkdir()
        server = Recorded(runs.OURS, folder)
        required(partial(runs.client, "ai_sdk", "auto", server))
        (wire,) = server.wires()
        beginnings.append(beginning(messages(wire)))
        if beginnings[-1] == ["server/discover", METHOD_NOT_FOUND, "initialize"]:
            return
    if (busy := os.getloadavg()[0]) > (processors := os.cpu_count() or 1):
        pytest.skip(f"lost on a busy machine: {busy:.1f} programs want {processors} processors")
    pytest.fail(f"it was too late each time: {beginnings}")


def test_a_client_that_gave_up_on_its_probe_is_served_all_the_same(
    run_of: Runner, tmp_path: Path
) -> None:
    server = Recorded(runs.OURS, tmp_path, delay=SLOW)
    found = required(partial(runs.client, "ai_sdk", "auto", server))
    (wire,) = server.wires()
    assert beginning(messages(wire)) == ["server/discover", "initialize", METHOD_NOT_FOUND]
    assert found == run_of("client ai_sdk", "auto").found
