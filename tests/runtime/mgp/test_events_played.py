"""Every JSON example of sections 13.2 and 13.3 is played with a raw peer, as the text has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tests.spec
from kinwire import Server
from kinwire.mgp import MgpKernel, MgpServer
from kinwire.support.background import background
from kinwire_protocols.base import to_wire
from tests.runtime.mgp.fixtures_kernel import guarded
from tests.runtime.mgp.raw_peers import Json, RawKernel, RawServer

pytestmark = pytest.mark.anyio

ROWS = json.loads((Path(tests.spec.__file__).parent / "blocks" / "mgp.json").read_text("utf-8"))
BLOCKS: dict[int, Json] = {row["block"]: row["message"] for row in ROWS if row["is"] == "frame"}
SUBSCRIBE, SUBSCRIBED, UNSUBSCRIBE, EVENT = (BLOCKS[number] for number in (30, 31, 32, 33))
OFFER = {"version": "0.2.0", "extensions": ["bidirectional"]}


@pytest.mark.spec("mgp-13.2-mgp-events-subscribe-1", "mgp-13.5-1")
async def test_a_server_answers_the_examples() -> None:
    published, raw = MgpServer(channels=SUBSCRIBE["params"]["channels"]), RawKernel()
    async with background() as tasks:
        tasks.start_soon(Server("s", "1", extensions=[published]).serve, raw)
        await raw.greet(OFFER)
        raw.say(**SUBSCRIBE)
        await raw.settle()
        for severity in ("info", "warning"):
            event = EVENT["params"]
            await published.emit(event["channel"], event["data"], severity=severity)
        raw.say(**UNSUBSCRIBE)
        await raw.settle()
        tasks.cancel_scope.cancel()
    subscribed, event, unsubscribed = raw.heard[-3:]
    assert subscribed == SUBSCRIBED
    changed = {"severity": "warning", "timestamp": event["params"]["timestamp"]}
    assert event == EVENT | {"params": EVENT["params"] | changed}
    assert unsubscribed == {"jsonrpc": "2.0", "id": 31, "result": {"unsubscribed": True}}


@pytest.mark.spec("mgp-13-1", "mgp-13.1-1")
async def test_a_kernel_reads_the_examples() -> None:
    answers = {
        "mgp_events_subscribe": SUBSCRIBED["result"],
        "mgp_events_unsubscribe": {"unsubscribed": True},
    }
    kernel, raw = MgpKernel(), RawServer(mgp=OFFER, **answers)
    asked = SUBSCRIBE["params"]
    async with guarded(raw, kernel) as connection:
        least = asked["filter"]["min_severity"]
        async with kernel.events(connection, asked["channels"], min_severity=least) as events:
            raw.say(**EVENT)  # it has no severity, which counts as `info`
            severe = EVENT["params"] | {"severity": "alert"}
            raw.say(method=EVENT["method"], params=severe)
            assert to_wire(await anext(events)) == severe
            assert list(events.subscribed) == asked["channels"]
    for method, example in (
        (SUBSCRIBE["method"], asked),
        (UNSUBSCRIBE["method"], UNSUBSCRIBE["params"]),
    ):
        (sent,) = raw.of(method)
        assert {name: sent[name] for name in example} == example
