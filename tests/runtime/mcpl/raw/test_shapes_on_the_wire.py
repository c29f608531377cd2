"""What both roles of ours send and take, as raw peers see it: fields, tags and states."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Context, Host, Server
from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    Hooks,
    Inference,
    McplHost,
    McplServer,
    MessageDecision,
    ModelAnswer,
    PushedEvent,
    Scopes,
    ScriptedProvider,
)
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_hooks import AFTER, BEFORE, after, before
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import RawHost, RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

QUICK = {"wires": ("memory", "stdio")}
FLAGS = dict.fromkeys(("register", "publish", "observe", "lifecycle", "streaming"), True)
HOOKS = {"beforeInference": True, "afterInference": {"blocking": True}}
MODEL = {"id": "m", "vendor": "v", "contextWindow": 200_000, "capabilities": ["vision"]}
TURN = {
    "inferenceId": "inf_1",
    "conversationId": "conv_1",
    "turnIndex": 0,
    "userMessage": "How's the project?",
    "model": MODEL,
}
KNOWN = {
    "namespace": "memory",
    "position": "system",
    "content": [{"type": "text", "text": "<memories>\nEight units.\n</memories>"}],
    "metadata": {"memoryIds": ["mem_a1"]},
}


def sets(**uses: list[str]) -> dict[str, Any]:
    named = {name.replace("_", "."): one for name, one in uses.items()}
    return {name: {"description": name, "uses": one} for name, one in named.items()}


# Offers.


@pytest.mark.spec("mcpl-5.2-1")
@against_raw_server(**QUICK)
async def test_the_offer_of_a_host_has_the_fields_of_an_offer(connect: ConnectServer) -> None:
    provider = ScriptedProvider(ModelAnswer("x", "m"))
    routing = mcpl.RoutingPolicy(default="m")
    inference = Inference(provider=provider, routing=routing, model=mcpl.ModelInfo(id="m"))

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    async def take_message(message: ChannelMessage) -> MessageDecision:
        raise AssertionError("no message is expected")

    full = McplHost(
        on_push=take,
        hooks=Hooks(blocking=True),
        inference=inference,
        channels=Channels(on_message=take_message),
    )
    for live, expected in (
        (full, {"pushEvents", "contextHooks", "inferenceRequest", "channels"}),
        (McplHost(hooks=Hooks(blocking=False)), {"contextHooks"}),
    ):
        raw = RawServer({"version": "0.4", "featureSets": {}})
        async with Host("h", "1", extensions=[live]) as host:
            await connect(host, raw)
            (params,) = raw.params_of("initialize")
        offer = params["capabilities"]["experimental"]["mcpl"]
        assert offer["version"] == "0.4"
        assert offer["featureSets"] is True
        named = {"pushEvents", "contextHooks", "inferenceRequest", "channels"}
        assert offer.keys() & named == expected
        blocking = {"blocking": live is full}
        assert offer["contextHooks"] == {"beforeInference": True, "afterInference": blocking}
        assert offer.get("inferenceRequest") == ({"streaming": True} if live is full else None)
        assert offer.get("pushEvents") is (True if live is full else None)


# Hooks.


def recalling() -> Server:
    live = McplServer(
        feature_sets={"memory.retrieval": feature(BEFORE), "memory.extraction": feature(AFTER)},
        blocking=True,
    )

    @live.on.context_before_inference
    async def recall(params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        content: list[Any] = [TextContent(text="<memories>\nEight units.\n</memories>")]
        injection = mcpl.ContextInjection(
            namespace="memory",
            position="system",
            content=content,
            metadata={"memoryIds": ["mem_a1"]},
        )
        return mcpl.BeforeInferenceResult(
            feature_set="memory.retrieval", context_injections=[injection]
        )

    @live.on.context_after_inference
    async def redact(params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        return mcpl.AfterInferenceResult(
            feature_set="memory.extraction", modified_response="[REDACTED]"
        )

    return Server("memory", "1", extensions=[live])


@pytest.mark.spec("mcpl-6.5-3", "mcpl-15.1-2")
@against_raw_host
async def test_the_result_of_a_hook_names_its_set_and_has_one_injection(
    connect: ConnectHost,
) -> None:
    host = await connect(recalling())
    offer = {"version": "0.4", "contextHooks": HOOKS, "featureSets": True}
    await host.open(offer, update={"enabled": ["memory.retrieval", "memory.extraction"]})
    assert await host.result("context/beforeInference", TURN) == {
        "featureSet": "memory.retrieval",
        "contextInjections": [KNOWN],
    }
    done = {**TURN, "assistantMessage": "sk-123"}
    answer = await host.result("context/afterInference", done)
    assert answer == {"featureSet": "memory.extraction", "modifiedResponse": "[REDACTED]"}


@pytest.mark.spec("mcpl-6.5-3")
@pytest.mark.parametrize(
    ("named", "counts"),
    [("on.all", True), ("off.all", False), ("nosuch", False), ("tools.all", False), (None, False)],
)
@against_raw_server(wires=("memory",))
async def test_the_answer_of_a_hook_counts_only_if_its_set_may_give_it(
    connect: ConnectServer, named: str | None, counts: bool
) -> None:
    uses = [BEFORE, AFTER]
    declared = sets(on_all=uses, off_all=uses, tools_all=["tools"])
    raw = RawServer({"version": "0.4", "contextHooks": HOOKS, "featureSets": declared})
    tag = {} if named is None else {"featureSet": named}
    raw.answers["context/beforeInference"] = {**tag, "contextInjections": [KNOWN]}
    raw.answers["context/afterInference"] = {**tag, "modifiedResponse": "changed"}
    live = McplHost(enabled=["on.all", "tools.all"], hooks=Hooks(blocking=True))
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        assert len((await live.before_inference(before())).system) == counts
        assert await live.after_inference(after("said")) == ("changed" if counts else "said")
    assert len(raw.params_of("context/beforeInference")) == 1
    assert "featureSet" not in raw.params_of("context/beforeInference")[0]


# Updates.


@pytest.mark.spec("mcpl-6.7-3")
@against_raw_host
async def test_a_server_acts_by_an_update_from_the_moment_it_arrives(connect: ConnectHost) -> None:
    live = McplServer(
        feature_sets={"notes.edit": feature("tools"), "notes.remind": feature("pushEvents")},
        tools={"add_note": "notes.edit"},
    )
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def add_note() -> str:
        """Add a note."""
        return "added"

    @server.tool
    async def remind() -> str:
        """Push a reminder."""
        try:
            return str((await live.hosts[0].push("notes.remind", "x", event_id="e")).accepted)
        except mcpl.FeatureSetNotEnabledError:
            return "not enabled"

    host = await connect(server)
    host.answers["push/event"] = {"accepted": True}
    offer = {"version": "0.4", "pushEvents": True, "featureSets": True}
    await host.open(offer, update={"enabled": ["notes.edit", "notes.remind"]})
    for _round in range(2):
        assert texts(await host.call("add_note")) == ["added"]
        assert texts(await host.call("remind")) == ["True"]
        # Nothing is awaited between the update and the calls that it is about.
        await host.notify("featureSets/update", {"disabled": ["notes.edit", "notes.remind"]})
        add, push = await host.begin("tools/call", call("add_note")), await host.call("remind")
        assert texts(push) == ["not enabled"]
        assert (await host.reply(add))["error"]["code"] == -32001
        await host.notify("featureSets/update", {"enabled": ["notes.edit", "notes.remind"]})
    assert len(host.params_of("push/event")) == 2


def call(tool: str) -> dict[str, Any]:
    return {"name": tool, "arguments": {}}


def texts(reply: dict[str, Any]) -> list[str]:
    return [block["text"] for block in reply["result"]["content"]]


# Scopes and models.


def asking(**options: Any) -> tuple[McplServer, Server]:
    """A server whose tools ask its host."""
    sets = {"files.edit": feature("tools", scoped=True)}
    live = McplServer(feature_sets=sets, model_info=True, **options)
    server = Server("files", "1", extensions=[live])

    @server.tool
    async def elevate() -> str:
        """Ask for a scope."""
        answer = await live.hosts[0].elevate("files.edit", "/etc/hosts", {"path": "/etc/hosts"})
        return f"{answer.approved} {answer.payload}"

    @server.tool
    async def which() -> str:
        """Ask which model runs."""
        return (await live.hosts[0].model_info()).id

    @server.tool
    async def channels(context: Context) -> list[str]:
        """Ask for the channels that the host knows."""
        return [one.id for one in await live.hosts[0].channels.listed()]

    return live, server


async def asked(host: RawHost, tool: str, method: str, answer: Any) -> tuple[Any, Any]:
    """Return the params with which a tool asked the raw host, and the reply to the tool's call."""
    id = await host.begin("tools/call", call(tool))
    request = await host.expect(method)
    await host.answer(request, answer)
    return request.get("params"), await host.reply(id)


@pytest.mark.spec("mcpl-7.4-2", "mcpl-12.1-1", "mcpl-14.3-3")
@against_raw_host
async def test_a_server_asks_with_the_params_of_the_specification(connect: ConnectHost) -> None:
    _, server = asking(channels=[])
    host = await connect(server)
    offer = {"version": "0.4", "modelInfo": True, "channels": FLAGS, "featureSets": True}
    host.answers["channels/register"] = {}
    await host.open(offer, update={"enabled": ["files.edit"]})
    payload = {"path": "/etc/hosts", "mode": "append"}
    params, reply = await asked(
        host, "elevate", "scope/elevate", {"approved": True, "payload": payload}
    )
    scope = {"label": "/etc/hosts", "payload": {"path": "/etc/hosts"}}
    assert params == {"featureSet": "files.edit", "scope": scope}
    assert texts(reply) == [f"True {payload}"]
    params, reply = await asked(host, "which", "model/info", MODEL)
    assert params == {}
    assert texts(reply) == ["m"]
    ui = {"id": "ui", "type": "ui", "label": "UI", "direction": "outbound"}
    params, reply = await asked(host, "channels", "channels/list", {"channels": [ui]})
    assert params == {}
    assert reply["result"]["content"][0]["text"] in ("ui", '["ui"]')


@pytest.mark.spec("mcpl-7.4-2", "mcpl-12.1-1")
@against_raw_server(**QUICK)
async def test_a_host_takes_the_params_of_the_specification(connect: ConnectServer) -> None:
    lists = {"files.edit": mcpl.ScopeRules(whitelist=["/project/**"])}
    info = mcpl.ModelInfo(id="m", vendor="v", context_window=200_000, capabilities=["vision"])
    provider = ScriptedProvider(ModelAnswer("x", "m"))
    routing = mcpl.RoutingPolicy(default="m")
    inference = Inference(provider=provider, routing=routing, model=info)
    live = McplHost(enabled=["*"], scopes=Scopes(lists=lists, ask=None), inference=inference)
    declared = {"files.edit": {"description": "F", "uses": ["tools"], "scoped": True}}
    raw = RawServer({"version": "0.4", "modelInfo": True, "featureSets": declared})
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        scope = {"label": "/project/a", "payload": {"path": "/project/a"}}
        params = {"featureSet": "files.edit", "scope": scope}
        answer = await raw.result("scope/elevate", params)
        assert answer == {"approved": True, "payload": {"path": "/project/a"}}
        for missing in ("featureSet", "scope"):
            wrong = {name: one for name, one in params.items() if name != missing}
            assert (await raw.error("scope/elevate", wrong))["code"] == -32602
        assert await raw.result("model/info", {}) == MODEL


# State.


@pytest.mark.spec("mcpl-8.3-4", "mcpl-8.3-5")
@against_raw_server
async def test_a_host_applies_patches_to_the_state_of_the_parent(connect: ConnectServer) -> None:
    declared = {"notes.edit": {"description": "N", "uses": ["tools"], "rollback": True}}
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    raw = RawServer({"version": "0.4", "featureSets": declared}, tools=[tool])
    states: list[Any] = [
        {"checkpoint": "a", "parent": None, "data": {"n": [1], "s": "x"}},
        {"checkpoint": "b", "parent": "a", "patch": [op("add", "/n/-", 2), op("remove", "/s")]},
        # The parent is not the latest: the patch is for the state of `a`, which has an `s`.
        {
            "checkpoint": "c",
            "parent": "a",
            "patch": [op("replace", "/s", "y"), op("test", "/n", [1])],
        },
        {
            "checkpoint": "d",
            "parent": "b",
            "patch": [moved("move", "/n", "/m"), moved("copy", "/m/0", "/k")],
        },
        None,
    ]
    expected = [
        None,
        {"n": [1], "s": "x"},
        {"n": [1, 2]},
        {"n": [1], "s": "y"},
        {"m": [1, 2], "k": 1},
    ]
    live = McplHost(enabled=["*"])
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw)
        for state in states:
            raw.answers["tools/call"] = (
                {"content": []} if state is None else {"content": [], "state": state}
            )
            await connection.mcp.tools_call(name="t")
    assert [params.get("state") for params in raw.params_of("tools/call")] == expected


def op(kind: str, path: str, value: Any = ...) -> dict[str, Any]:
    return {"op": kind, "path": path, **({} if value is ... else {"value": value})}


def moved(kind: str, source: str, path: str) -> dict[str, Any]:
    return {"op": kind, "from": source, "path": path}


@pytest.mark.spec("mcpl-8.3-4")
@against_raw_host(**QUICK)
async def test_a_server_patches_the_state_that_came_with_the_call(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"notes.edit": feature("tools", rollback=True)})
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def add(note: str, context: Context) -> None:
        """Add a note."""
        state = live.state_of(context)
        state.save({"notes": [*state.given["notes"], note]})

    host = await connect(server)
    await host.open({"version": "0.4", "featureSets": True}, update={"enabled": ["notes.edit"]})
    before = {"notes": ["a" * 40, "b" * 40]}
    reply = await host.call("add", {"note": "c"}, state=before)
    update = reply["result"]["state"]
    assert update["patch"] == [{"op": "add", "path": "/notes/2", "value": "c"}]
    assert "data" not in update
    branch = await host.call("add", {"note": "d"}, state={"notes": ["a" * 40]})
    assert branch["result"]["state"]["patch"] == [{"op": "add", "path": "/notes/1", "value": "d"}]


# Events.

EVENT: dict[str, Any] = {
    "featureSet": "bell",
    "timestamp": "2026-01-23T10:30:00Z",
    "payload": {"content": [{"type": "text", "text": "x"}]},
}


@pytest.mark.spec("mcpl-9.2-3", "mcpl-9.2-6")
@against_raw_server(**QUICK)
async def test_an_event_needs_a_time_and_content(connect: ConnectServer) -> None:
    taken: list[str] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        taken.append(event.params.event_id)
        return mcpl.PushEventResult(accepted=True)

    raw = RawServer(
        {"version": "0.4", "pushEvents": True, "featureSets": sets(bell=["pushEvents"])}
    )
    live = McplHost(enabled=["bell"], on_push=take)
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        wrong: list[dict[str, Any]] = [
            *({"timestamp": one} for one in (..., 1769164200, None, "yesterday", "")),
            *(
                {"payload": one}
                for one in (..., {}, {"content": 7}, {"content": [{"type": "text"}]})
            ),
        ]
        for number, changes in enumerate(wrong):
            made = {**EVENT, "eventId": f"wrong {number}", **changes}
            params = {name: one for name, one in made.items() if one is not ...}
            assert (await raw.error("push/event", params))["code"] == -32602, changes
        assert (await raw.result("push/event", {**EVENT, "eventId": "right"}))["accepted"]
    assert taken == ["right"]


@pytest.mark.spec("mcpl-9.2-3")
@against_raw_host(wires=("memory",))
async def test_a_server_says_when_an_event_happened(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"bell": feature("pushEvents")})
    server = Server("bell", "1", extensions=[live])

    @server.tool
    async def ring() -> None:
        """Push two events."""
        await live.hosts[0].push("bell", "x", timestamp="2026-01-23T10:30:00Z")
        await live.hosts[0].push("bell", [TextContent(text="x")])

    host = await connect(server)
    host.answers["push/event"] = {"accepted": True}
    offer = {"version": "0.4", "pushEvents": True, "featureSets": True}
    await host.open(offer, update={"enabled": ["bell"]})
    await host.call("ring")
    first, second = (params["timestamp"] for params in host.params_of("push/event"))
    assert first == "2026-01-23T10:30:00Z"
    assert second[:2] == "20"
    assert second[-1] == "Z" or second[-6] in "+-"


# Channels.


@pytest.mark.spec("mcpl-14-1", "mcpl-14.3-3")
@against_raw_server
async def test_a_host_knows_channels_by_their_names(connect: ConnectServer) -> None:
    async def take(message: ChannelMessage) -> MessageDecision:
        raise AssertionError("no message is expected")

    raw = RawServer({"version": "0.4", "channels": FLAGS, "featureSets": sets(chat_all=[])})
    names = ["ui", "discord:#general", "telegram:123456", "signal:+15551234"]
    described = [
        {"id": name, "type": "chat", "label": name, "direction": "bidirectional"} for name in names
    ]
    live = McplHost(enabled=["*"], channels=Channels(on_message=take))
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw)
        peer = live.of(connection)
        assert peer is not None
        await raw.expect("featureSets/update")
        assert await raw.result("channels/list", {}) == {"channels": []}
        await raw.result("channels/register", {"channels": described})
        assert [one.id for one in peer.channels.known] == names
        assert await raw.result("channels/list", {}) == {"channels": described}
        raw.answers["channels/list"] = {"channels": described[:1]}
        assert [one.id for one in await peer.channels.listed()] == ["ui"]
        assert raw.params_of("channels/list") == [{}]


@pytest.mark.spec("mcpl-14-1", "mcpl-14.3-3")
@against_raw_host(**QUICK)
async def test_a_server_lists_the_channels_that_it_has(connect: ConnectHost) -> None:
    channel = mcpl.ChannelDescriptor(
        id="discord:#general", type="discord", label="#general", direction="bidirectional"
    )
    live = McplServer(feature_sets={"chat.all": feature("channels.publish")}, channels=[channel])
    host = await connect(Server("chat", "1", extensions=[live]))
    offer = {"version": "0.4", "channels": FLAGS, "featureSets": True}
    await host.open(offer, update={"enabled": ["chat.all"]})
    registration = await host.expect("channels/register")
    described = {
        "id": "discord:#general",
        "type": "discord",
        "label": "#general",
        "direction": "bidirectional",
    }
    assert registration["params"] == {"channels": [described]}
    await host.answer(registration, {})
    assert await host.result("channels/list", {}) == {"channels": [described]}
