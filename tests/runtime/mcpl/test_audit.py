"""The audit log of a host: one event for each operation, to the logger and to a log."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Server
from kinwire.mcpl import Hooks, McplHost, McplServer, PushedEvent, ScopeDeniedError
from kinwire.storage import Log, open_store
from kinwire_protocols import mcpl
from tests.runtime.mcpl.lives import feature, live_pair

pytestmark = pytest.mark.anyio

SETS = {
    "a.push": feature("pushEvents"),
    "a.before": feature("contextHooks.beforeInference"),
    "a.tools": feature("tools", scoped=True),
    "off": feature("pushEvents"),
}
TURN = mcpl.BeforeInferenceParams(
    inference_id="inf_7", conversation_id="conv_1", turn_index=0, model=mcpl.ModelInfo(id="m")
)
EVENT: dict[str, Any] = {"eventId": "e", "timestamp": "t", "payload": {"content": "x"}}


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    return mcpl.PushEventResult(accepted=True, inference_id="inf_1")


def serving(*, late: bool = False) -> tuple[McplServer, Server]:
    live = McplServer(feature_sets=SETS, tools={"look": "a.tools"})
    server = Server("memory", "1", extensions=[live])

    @server.tool
    async def look() -> str:
        """Look."""
        return "seen"

    @live.on.context_before_inference
    async def before(params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        if late:
            await anyio.sleep_forever()
        return mcpl.BeforeInferenceResult(feature_set="a.before", context_injections=[])

    return live, server


async def events(log: Log) -> list[dict[str, Any]]:
    return [one.value for one in await log.read() if one.subject != "mcpl.featureSets.update"]


@pytest.mark.spec("mcpl-13.2-1", "mcpl-13.2-2")
async def test_each_operation_is_one_event_that_says_who_for_what_and_how_it_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "kinwire.mcpl.audit")
    live, server = serving()
    async with open_store("memory:") as store:
        log = await store.log("audit")
        host = McplHost(enabled=["a.*"], on_push=take, audit=log, clock=lambda: 1000.0)
        async with live_pair(live, host, server) as (connection, _):
            await connection.mcp.ping()
            await live.hosts[0].push("a.push", "Now")
            await host.before_inference(TURN)
            with pytest.raises(ScopeDeniedError):
                await connection.mcp.tools_call(name="look")
        written = await events(log)
    by = {"server": "memory", "at": 1000.0}
    assert written[:2] == [
        {
            **by,
            "method": "push/event",
            "sender": "server",
            "feature_set": "a.push",
            "inference_id": "inf_1",
            "outcome": "success",
        },
        {
            **by,
            "method": "context/beforeInference",
            "sender": "host",
            "feature_set": "a.before",
            "inference_id": "inf_7",
            "outcome": "success",
        },
    ]
    denied = written[-1]
    assert (denied["method"], denied["feature_set"]) == ("tools/call", "a.tools")
    assert denied["outcome"] == "failure"
    assert "neither list has it" in denied["reason"]
    logged = [vars(record)["operation"] for record in caplog.records]
    assert [one for one in logged if one["method"] != "featureSets/update"] == written


async def test_what_a_server_may_not_do_and_what_comes_too_late_are_told_apart() -> None:
    live, server = serving(late=True)
    async with open_store("memory:") as store:
        log = await store.log("audit")
        hooks = Hooks(before_timeout=0.01)
        host = McplHost(enabled=["a.*"], on_push=take, audit=log, hooks=hooks)
        async with live_pair(live, host, server):
            await host.before_inference(TURN)
            with pytest.raises(mcpl.FeatureSetNotEnabledError):
                await live.hosts[0].session.raw("push/event", {"featureSet": "off", **EVENT})
        ends = [(one["method"], one["outcome"], one.get("reason", "")) for one in await events(log)]
    assert ends[0] == ("context/beforeInference", "timeout", "")
    assert ends[1][:2] == ("push/event", "failure")
    assert "not enabled" in ends[1][2]


async def test_a_log_that_takes_nothing_stops_no_operation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live, server = serving()
    async with open_store("memory:") as store:
        log = await store.log("audit")
    host = McplHost(enabled=["a.*"], on_push=take, audit=log)  # its store is closed
    async with live_pair(live, host, server) as (connection, _):
        await connection.mcp.ping()
        assert (await live.hosts[0].push("a.push", "Now")).accepted
    assert "push/event: success, which the log did not take" in caplog.text


async def test_what_is_of_mcp_alone_is_no_operation_of_mcpl() -> None:
    live, server = serving()
    async with open_store("memory:") as store:
        log = await store.log("audit")
        async with live_pair(live, McplHost(audit=log), server) as (connection, _):
            await connection.mcp.tools_list()
            with pytest.raises(CapabilityNotNegotiatedError):
                await connection.mcp.resources_list()
        assert await events(log) == []
