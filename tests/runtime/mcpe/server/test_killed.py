"""A server of events is killed: what it has acknowledged is delivered by the next one, once."""

from __future__ import annotations

import json
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.fixtures_wire import Wire
from tests.runtime.mcpe.raw_client import OFFER, said, subscription
from tests.runtime.raw_end import Json

PROGRAM = Path(__file__).parents[1] / "programs" / "kept_repository.py"
TOKEN = "mcpe/recoveryToken"


class KilledClient:
    """A client over pipes, in bytes."""

    def __init__(self, wire: Wire, token: str | None = None) -> None:
        self._wire = wire
        self._meta: Json = {} if token is None else {"_meta": {TOKEN: token}}
        self.heard: list[Json] = []
        wire.ask(
            0,
            "initialize",
            protocolVersion="2024-11-05",
            capabilities=OFFER,
            clientInfo={"name": "elsewhere", "version": "0"},
        )
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def call(self, name: str, **arguments: Any) -> Json:
        """Call a tool, and return its result; notifications before it are kept."""
        params = {"name": name, "arguments": arguments, **self._meta}
        message = {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}
        self._wire.send(json.dumps(message).encode())
        while (answer := self._wire.message()).get("id") != name:
            self.heard.append(answer)
        found: Json = answer["result"]
        return found

    def hear(self, method: str) -> Json:
        """Return the params of the next notification of a method."""
        while True:
            message = self.heard.pop(0) if self.heard else self._wire.message()
            if message.get("method") == method:
                params: Json = message["params"]
                return params


@pytest.mark.slow
def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    command = (sys.executable, str(PROGRAM), str(tmp_path / "events.db"))
    once = {"deliverAt": (datetime.now(UTC) + timedelta(seconds=4)).isoformat(), "timezone": "UTC"}
    delivery = {"channels": ["scheduled"], "scheduledDelivery": once}
    with Wire(*command) as wire:
        client = KilledClient(wire)
        result = client.call("events_subscribe", **subscription("github.*", delivery=delivery))
        paused = said(client.call("events_subscribe", **subscription("slack.*")))
        client.call("events_pause", subscriptionId=paused["id"])
        for number in range(5):
            pushed = client.call("push", branch=f"b{number}", source_id=str(number))
            assert pushed["content"][0]["text"] == "1"
        wire.process.send_signal(signal.SIGKILL)
        wire.process.wait(10)
    with Wire(*command) as wire:
        client = KilledClient(wire, result["_meta"][TOKEN])
        listed = said(client.call("events_list"))["subscriptions"]
        repeated = client.call("push", branch="b4", source_id="4")
        batch = client.hear("events/batch")
        expired = client.hear("events/subscription_expired")
    assert [one["status"] for one in listed] == ["active", "paused"]
    assert repeated["content"][0]["text"] == "0"
    branches = [one["data"]["branch"] for one in batch["events"]]
    assert branches == [f"b{number}" for number in range(5)]
    assert expired["subscriptionId"] == batch["subscriptionId"] == said(result)["id"]


@pytest.mark.slow
def test_a_server_with_subscriptions_ends_quietly(tmp_path: Path) -> None:
    with Wire(sys.executable, str(PROGRAM), str(tmp_path / "events.db")) as wire:
        client = KilledClient(wire)
        client.call("events_subscribe", **subscription("github.*"))
        wire.close_input()
        assert wire.exit_code() == 0
        assert wire.words() == b""
