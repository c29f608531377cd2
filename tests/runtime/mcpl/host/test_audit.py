"""The audit log of a host: one event for each operation, to the logger and to a log."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Server
from kinwire.mcpl import (
    Channels,
    Hooks,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    PushedEvent,
    ScopeDeniedError,
    Scopes,
    ScriptedProvider,
)
from kinwire.storage import Log, open_store
from kinwire_protocols import mcpl
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcpl.tables import AUDIT_FIELDS
from tests.runtime.mcpl.fixtures_chat import Chat, chatting
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair

pytestmark = pytest.mark.anyio

SETS = {
    "a.push": feature("pushEvents"),
    "a.before": feature("contextHooks.beforeInference"),
    "a.tools": feature("tools", scoped=True),
    "off": feature("pushEvents"),
}
OWN = {"method", "sender", "reason"}
"""Fields of events in addition to the table of the specification."""
TURN = mcpl.BeforeInferenceParams(
    inference_id="inf_7", conversation_id="conv_1", turn_index=0, model=mcpl.ModelInfo(id="m")
)
EVENT: dict[str, Any] = {
    "eventId": "e",
    "timestamp": "2026-01-23T10:30Z",
    "payload": {"content": "x"},
}


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
async def test_each_operation_is_one_event_with_server_purpose_and_outcome(
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
    by = {"serverId": "memory", "timestamp": 1000.0}
    assert written[:2] == [
        {
            **by,
            "method": "push/event",
            "sender": "server",
            "featureSet": "a.push",
            "inferenceId": "inf_1",
            "outcome": "success",
        },
        {
            **by,
            "method": "context/beforeInference",
            "sender": "host",
            "featureSet": "a.before",
            "inferenceId": "inf_7",
            "outcome": "success",
        },
    ]
    required = {row.name for row in AUDIT_FIELDS.values() if row.required}
    for one in written:
        assert required <= one.keys() <= {*AUDIT_FIELDS, *OWN}
    denied = written[-1]
    assert (denied["method"], denied["featureSet"]) == ("tools/call", "a.tools")
    assert denied["outcome"] == "failure"
    assert "neither list has it" in denied["reason"]
    logged = [vars(record)["operation"] for record in caplog.records]
    assert [one for one in logged if one["method"] != "featureSets/update"] == written


async def test_denied_and_late_operations_are_distinguished() -> None:
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


async def test_an_mcp_request_is_not_an_mcpl_operation() -> None:
    live, server = serving()
    async with open_store("memory:") as store:
        log = await store.log("audit")
        async with live_pair(live, McplHost(audit=log), server) as (connection, _):
            await connection.mcp.tools_list()
            with pytest.raises(CapabilityNotNegotiatedError):
                await connection.mcp.resources_list()
        assert await events(log) == []


async def test_an_answer_is_one_operation_and_its_chunks_are_not() -> None:
    chat = Chat()
    sets = {"a": feature("inferenceRequest")}
    async with open_store("memory:") as store:
        log = await store.log("audit")
        channels = Channels(default_outgoing=("chat", "discord:#general"))
        async with chatting(chat, channels, audit=log) as (host, _lives, _side):
            response = await host.channels.write("conv_1", inference_id="inf_1")
            await response.write("He")
            await response.write("llo")
            await response.finish("Hello")
        assert [text for _, text in chat.pieces] == ["He", "llo"]
        live = McplServer(feature_sets=sets)
        inference = Inference(
            provider=ScriptedProvider(ModelAnswer("one two", "m")),
            routing=mcpl.RoutingPolicy(default="m"),
        )
        host = McplHost(enabled=["*"], inference=inference, audit=log)
        async with live_pair(live, host) as (connection, _):
            await connection.mcp.ping()
            async with live.hosts[0].stream("a", "x") as stream:
                assert len([delta async for delta in stream]) == 2
        written = [one["method"] for one in await events(log)]
    assert written == [
        "channels/register",
        "channels/outgoing/complete",
        "channels/publish",
        "inference/request",
    ]


@pytest.mark.spec("mcpl-11.5-7")
async def test_the_model_that_has_answered_is_written_down() -> None:
    live = McplServer(feature_sets={"a": feature("inferenceRequest")})
    provider = ScriptedProvider(ModelAnswer("Short", "claude-haiku-4-5-20251001"))
    inference = Inference(provider=provider, routing=mcpl.RoutingPolicy(default="haiku"))
    async with open_store("memory:") as store:
        log = await store.log("audit")
        host = McplHost(enabled=["*"], inference=inference, audit=log)
        async with live_pair(live, host) as (connection, _):
            await connection.mcp.ping()
            await live.hosts[0].infer("a", "Summarize")
            with pytest.raises(InternalError):
                await live.hosts[0].infer("a", "There is no other answer")
        done, failed = await events(log)
    assert (done["serverId"], done["featureSet"]) == ("memory", "a")
    assert done["model"] == "claude-haiku-4-5-20251001"
    assert "model" not in failed


async def test_a_rule_is_asked_once_for_a_call_and_leaves_an_event_if_it_fails() -> None:
    asked: list[str] = []

    def scope_of(tool: str, arguments: Any) -> tuple[str, str, None]:
        asked.append(tool)
        if len(asked) == 2:
            raise KeyError("path")
        return "a.tools", "/x", None

    live, server = serving()
    lists = {"a.tools": mcpl.ScopeRules(whitelist=["/x"])}
    async with open_store("memory:") as store:
        log = await store.log("audit")
        scopes = Scopes(lists=lists, scope_of=scope_of)
        host = McplHost(enabled=["a.*"], scopes=scopes, audit=log)
        async with live_pair(live, host, server) as (connection, _):
            await connection.mcp.tools_call(name="look")
            with pytest.raises(KeyError):
                await connection.mcp.tools_call(name="look")
        done, failed = await events(log)
    assert asked == ["look", "look"]
    assert (done["featureSet"], done["outcome"]) == ("a.tools", "success")
    assert (failed["method"], failed["outcome"]) == ("tools/call", "failure")
    assert "path" in failed["reason"]
