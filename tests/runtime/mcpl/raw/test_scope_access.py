"""Scopes where they are needed: in a tool, asked of the host, and decided by it (MCPL 7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire import Context, Host, Server
from kinwire.mcpl import McplHost, McplServer, ScopeRequest, Scopes
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl import FeatureSetNotEnabledError
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

OFFER = {"version": "0.4", "featureSets": True}
SCOPE = {"label": "#general", "payload": {"channel": "general", "id": "C1"}}
POSTS = {"posts": {"description": "Post", "uses": ["tools"], "scoped": True}}
TOOL = {"name": "post", "inputSchema": {"type": "object"}, "featureSet": "posts"}


def poster() -> tuple[McplServer, Server]:
    live = McplServer(
        feature_sets={"posts": feature("tools", scoped=True), "off": feature("tools", scoped=True)},
        tools={"post": "posts"},
        model_info=True,
    )
    server = Server("poster", "1", extensions=[live])

    @server.tool
    async def post(context: Context) -> str:
        """Return where the tool acts."""
        scope = live.scope_of(context)
        return json.dumps(None if scope is None else [scope.label, scope.payload])

    @server.tool
    async def ask(name: str, context: Context) -> str:
        """Ask whether a set may act, and return where."""
        host = live.of(context)
        assert host is not None
        try:
            answer = await host.elevate(name, "#general", {"channel": "general"})
        except FeatureSetNotEnabledError:
            return "off"
        return json.dumps(answer.payload if answer.approved else answer.reason)

    @server.tool
    async def model(context: Context) -> str:
        """Return which model runs."""
        host = live.of(context)
        assert host is not None
        return (await host.model_info()).id

    return live, server


def text_of(reply: Any) -> str:
    text: str = reply["result"]["content"][0]["text"]
    return text


@pytest.mark.spec("mcpl-7.7-2", "mcpl-7.3-2", "mcpl-7.3-3")
@pytest.mark.parametrize("scope", [SCOPE, {"label": "#general"}, None])
@against_raw_host
async def test_a_tool_reads_the_scope_of_its_call(
    connect: ConnectHost, scope: JsonObject | None
) -> None:
    host = await connect(poster()[1])
    await host.open(OFFER, update={"enabled": ["posts"]})
    sent = {} if scope is None else {"scope": scope}
    expected = None if scope is None else [scope["label"], scope.get("payload")]
    assert json.loads(text_of(await host.call("post", **sent))) == expected


@pytest.mark.spec("mcpl-7.3-1")
@pytest.mark.parametrize("scope", [{"label": 5}, "#general", {"payload": {}}])
@against_raw_host(wires=["memory"])
async def test_something_else_in_place_of_a_scope_refuses_the_call(
    connect: ConnectHost, scope: Any
) -> None:
    host = await connect(poster()[1])
    await host.open(OFFER, update={"enabled": ["posts"]})
    error = await host.error("tools/call", {"name": "post", "arguments": {}, "scope": scope})
    assert error["code"] == -32602
    assert "tools/call#/scope" in error["message"]


@against_raw_host(wires=["memory"])
async def test_a_host_that_speaks_only_mcp_gives_no_scope(connect: ConnectHost) -> None:
    host = await connect(poster()[1])
    await host.open()
    assert text_of(await host.call("post", scope=SCOPE)) == "null"


@pytest.mark.spec("mcpl-7.4-2", "mcpl-7.5-1", "mcpl-7.5-3")
@against_raw_host
async def test_a_server_acts_with_the_payload_that_the_host_returns(connect: ConnectHost) -> None:
    host = await connect(poster()[1])
    await host.open(OFFER, update={"enabled": ["posts"], "disabled": ["off"]})
    id = await host.begin("tools/call", {"name": "ask", "arguments": {"name": "posts"}})
    asked = await host.expect("scope/elevate")
    scope = {"label": "#general", "payload": {"channel": "general"}}
    assert asked["params"] == {"featureSet": "posts", "scope": scope}
    await host.answer(asked, {"approved": True, "payload": SCOPE["payload"]})
    assert json.loads(text_of(await host.reply(id))) == SCOPE["payload"]

    host.answers["scope/elevate"] = {"approved": False, "reason": "not there"}
    assert json.loads(text_of(await host.call("ask", {"name": "posts"}))) == "not there"
    assert text_of(await host.call("ask", {"name": "off"})) == "off"
    assert len(host.params_of("scope/elevate")) == 2


@pytest.mark.spec("mcpl-12.1-1")
@against_raw_host
async def test_a_server_asks_which_model_runs(connect: ConnectHost) -> None:
    host = await connect(poster()[1])
    host.answers["model/info"] = {"id": "opus", "contextWindow": 200_000}
    await host.open(OFFER, update={"enabled": ["posts"]})
    assert text_of(await host.call("model")) == "opus"
    assert len(host.params_of("model/info")) == 1


async def enrich(request: ScopeRequest) -> JsonObject:
    return {**(request.payload or {}), "id": "C1"}


def scope_of(tool: str, arguments: JsonObject) -> tuple[str, str, JsonObject | None]:
    return "posts", arguments["to"], {"channel": "general"}


class Person:
    """Approves everything, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, request: ScopeRequest) -> bool:
        self.asked.append(request.label)
        return True


def asked_for(label: str, channel: str) -> JsonObject:
    return {"featureSet": "posts", "scope": {"label": label, "payload": {"channel": channel}}}


@pytest.mark.spec("mcpl-7.5-4", "mcpl-7.5-5", "mcpl-7.7-1")
@against_raw_server
async def test_a_host_sends_what_it_has_added_to_the_scope(connect: ConnectServer) -> None:
    live = McplHost(enabled=["*"], scopes=Scopes(ask=Person(), enrich=enrich, scope_of=scope_of))
    raw = RawServer({**OFFER, "featureSets": POSTS}, tools=[TOOL])
    raw.answers["tools/call"] = {"content": []}
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw)
        answer = await raw.result("scope/elevate", asked_for("#general", "general"))
        assert answer == {"approved": True, "payload": SCOPE["payload"]}
        await connection.mcp.tools_call(name="post", arguments={"to": "#general"})
        assert raw.params_of("tools/call")[0]["scope"] == SCOPE


@against_raw_server(wires=["memory"])
@pytest.mark.spec("mcpl-7.6-3")
async def test_a_host_may_decide_on_a_scope_before_it_is_asked(connect: ConnectServer) -> None:
    person = Person()
    live = McplHost(enabled=["*"], scopes=Scopes(ask=person, enrich=enrich))
    raw = RawServer({**OFFER, "featureSets": POSTS})
    async with Host("h", "1", extensions=[live]) as host:
        peer = live.of(await connect(host, raw))
        assert peer is not None
        given = await peer.elevate("posts", "#other", {"channel": "other"})
        assert (given.approved, given.payload) == (True, {"channel": "other", "id": "C1"})
        answer = await raw.result("scope/elevate", asked_for("#other", "other"))
        assert answer["payload"] == given.payload
        assert person.asked == ["#other"]
        await peer.disable("posts")
        with pytest.raises(FeatureSetNotEnabledError):
            await peer.elevate("posts", "#general")
