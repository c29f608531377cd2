"""What the text leaves to hosts and servers: each decides, and the other goes by it."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from kinwire import Host, Server
from kinwire.mcpl import (
    Hooks,
    Inference,
    InjectionLimits,
    McplHost,
    McplServer,
    ModelAnswer,
    ScopeRequest,
    Scopes,
    ScriptedProvider,
)
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl.methods import STATE_ROLLBACK
from tests.runtime.mcp.fake_client import raw_client
from tests.runtime.mcpl.fixtures_hooks import Speaker, after, before, hooked, texts
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair, raw_server

pytestmark = pytest.mark.anyio

ASK = mcpl.InferenceMessage(role="user", content="Summarize")
HINTS = from_wire(
    mcpl.InferencePreferences, {"model": "opus", "modelTier": "large", "costTier": "high"}
)
SET = "memory.consolidation"
INFERS = {SET: feature("inferenceRequest"), "spy.all": feature("inferenceRequest")}


def inference(*answers: ModelAnswer, **options: Any) -> tuple[ScriptedProvider, McplHost]:
    """Return a model that notes what it is asked, and a host that runs it."""
    provider = ScriptedProvider(*answers or [ModelAnswer("Short", "haiku-1")])
    given = {"routing": mcpl.RoutingPolicy(default="haiku"), **options}
    return provider, McplHost(enabled=["*"], inference=Inference(provider=provider, **given))


@pytest.mark.spec("mcpl-2-3")
async def test_order_cost_and_trust_are_the_hosts_whatever_a_server_wishes() -> None:
    one, two = Speaker("one"), Speaker("two")
    wish = from_wire(
        mcpl.ContextInjection,
        {"namespace": "n", "position": "system", "content": "first", "priority": 100},
    )
    one.before, two.before = ["last"], [wish]
    limits = InjectionLimits(positions={"two.*": frozenset({"beforeUser"})})
    for hooks, expected in (
        (Hooks(), ["last", "first"]),
        (Hooks(order=["two"]), ["first", "last"]),
        (Hooks(limits=limits), ["last"]),
    ):
        async with hooked(one, two, hooks=hooks) as live:
            assert texts((await live.before_inference(before())).system) == expected
    provider, host = inference(budgets={"memory.*": 0})
    server = McplServer(feature_sets=INFERS)
    async with live_pair(server, host) as (connection, _):
        await connection.mcp.ping()
        with pytest.raises(InternalError):
            await server.hosts[0].infer(SET, "Summarize")
    assert provider.requests == []


POLICIES = [
    {"hooks": Hooks(order=["two"], fail_closed=["one.*"], limits=InjectionLimits(size=1))},
    {"state": "none", "push_rate": 0.5, "push_timeout": 1.0},
    {"scopes": Scopes(lists={"nobody": mcpl.ScopeRules(whitelist=["*"])}, approval_life=1.0)},
]


@pytest.mark.spec("mcpl-2-5")
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: next(iter(policy)))
async def test_how_a_host_decides_is_not_in_the_protocol(policy: dict[str, Any]) -> None:
    async def frames(**options: Any) -> list[Any]:
        speaker = Speaker("one")
        speaker.before, speaker.after = ["Known"], "Changed"
        host = McplHost(enabled=["*"], **options)
        async with live_pair(speaker.live, host, speaker.server) as (connection, _):
            await host.before_inference(before())
            await host.after_inference(after("Hello"))
            found = [(one.sender, json.loads(one.data)) for one in connection.frames]
        offer = found[0][1]["params"]["capabilities"]["experimental"]["mcpl"]
        offer.pop("state")  # which peers may want to know
        return found

    assert await frames(**policy) == await frames()


@pytest.mark.spec("mcpl-7.2-2")
async def test_a_server_passes_patterns_on_and_the_host_matches_them() -> None:
    live = McplServer(feature_sets={"files.edit": feature("tools", scoped=True)})
    rules = {"whitelist": ["^/etc/.*$", "re:(a|b)"], "blacklist": ["="]}
    offer = {"experimental": {"mcpl": {"featureSets": True}}}
    with anyio.fail_after(20):
        async with raw_client(Server("files", "1", extensions=[live])) as client:
            await client.greet(offer)
            update = {"enabled": ["files.edit"], "scopes": {"files.edit": rules}}
            await client.session.raw_notify("featureSets/update", update)
            await client.session.raw("ping")
            kept = live.hosts[0].scopes["files.edit"]
    assert kept.model_dump(by_alias=True, exclude_none=True) == rules
    # Ours matches globs, not expressions and not the bare text.
    ours = Scopes(lists={"files.edit": mcpl.ScopeRules(whitelist=["/etc/*", "^/var/.*$"])})
    async with live_pair(live, McplHost(enabled=["*"], scopes=ours)) as (connection, _):
        await connection.mcp.ping()
        asking = mcpl.ClientStub(live.hosts[0].session)
        answers = [
            (
                await asking.scope_elevate(feature_set="files.edit", scope=mcpl.Scope(label=label))
            ).approved
            for label in ("/etc/hosts", "/etc/a/b", "/var/log", "^/var/.*$")
        ]
    assert answers == [True, False, False, True]


@pytest.mark.spec("mcpl-7.3-3", "mcpl-7.3-2")
async def test_the_label_is_checked_and_the_payload_is_returned_unchanged() -> None:
    asked: list[ScopeRequest] = []

    async def ask(request: ScopeRequest) -> bool:
        asked.append(request)
        return True

    rules = mcpl.ScopeRules(whitelist=["/project/*"], blacklist=["/etc/*"])
    live = McplServer(feature_sets={"files.edit": feature("tools", scoped=True)})
    host = McplHost(enabled=["*"], scopes=Scopes(lists={"files.edit": rules}, ask=ask))
    payload: JsonObject = {"path": "/etc/passwd", "": [None, {"x": 1.5}], "label": "/project/a"}
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        asking = mcpl.ClientStub(live.hosts[0].session)

        async def elevate(label: str) -> mcpl.ScopeElevateResult:
            scope = mcpl.Scope(label=label, payload=payload)
            return await asking.scope_elevate(feature_set="files.edit", scope=scope)

        assert await elevate("/project/a") == mcpl.ScopeElevateResult(
            approved=True, payload=payload
        )
        assert asked == []
        assert not (await elevate("/etc/a")).approved
        assert (await elevate("Press the red button")).payload == payload
    assert [(one.label, one.payload) for one in asked] == [("Press the red button", payload)]


# The server decides what of its state it sends, and how long it keeps it.


@pytest.mark.spec("mcpl-8.3-6", "mcpl-8.3-1", "mcpl-8.4-3")
async def test_whole_state_and_patches_have_the_same_result() -> None:
    def added(value: int) -> list[JsonObject]:
        return [{"op": "add", "path": "/-", "value": value}]

    states: list[JsonObject] = [
        {"checkpoint": "a", "parent": None, "data": []},
        {"checkpoint": "b", "parent": "a", "patch": added(1)},
        {"checkpoint": "c", "parent": "b", "data": [1, 2]},
        {"checkpoint": "d", "parent": "c", "patch": added(3)},
        {"checkpoint": "e", "parent": "d", "patch": added(4)},
    ]
    carried = [one.get("state", "nothing") for one in await calls_with(list(states))]
    assert carried == ["nothing", [], [1], [1, 2], [1, 2, 3]]


async def calls_with(states: list[JsonObject], check: Any = None) -> list[JsonObject]:
    """Return the params of calls, each of which a server answers with one of these states."""
    gone = {"a"}
    count = len(states)

    async def call(params: Any, request: Any) -> JsonObject:
        return {"content": [], "state": states.pop(0)}

    async def listed(params: Any, request: Any) -> JsonObject:
        return {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}

    async def roll_back(params: Any, request: Any) -> JsonObject:
        if params.checkpoint in gone:  # it keeps the newer ones
            raise mcpl.CheckpointNotFoundError(data={"checkpoint": params.checkpoint})
        return {"checkpoint": params.checkpoint, "success": True}

    declared = {"s": {"description": "A", "uses": ["tools"], "rollback": True}}
    host = McplHost(enabled=["*"])
    routes: Any = {TOOLS_CALL: call, TOOLS_LIST: listed, STATE_ROLLBACK: roll_back}
    async with (
        raw_server({"featureSets": declared}, routes, tools={}) as raw,
        Host("h", "1", extensions=[host]) as opened,
    ):
        connection = await opened.connect(raw.transport)
        for _call in range(count):
            await connection.mcp.tools_call(name="t")
        if check is not None:
            await check(host.of(connection))
        return raw.received("tools/call")


@pytest.mark.spec("mcpl-8.7-1", "mcpl-8.7-3")
async def test_a_server_forgets_checkpoints_when_it_likes_and_the_host_finds_out() -> None:
    states: list[JsonObject] = [{"checkpoint": name, "data": name} for name in "abc"]

    async def check(server: Any) -> None:
        state = await server.state("s")
        assert [one.id for one in state.tree.checkpoints] == ["a", "b", "c"]
        with pytest.raises(mcpl.CheckpointNotFoundError) as raised:
            await state.roll_back("a")
        assert raised.value.data["checkpoint"] == "a"
        assert state.tree.head == "c"
        assert (await state.roll_back("b")).success
        assert state.tree.data == "b"

    await calls_with(states, check)


# Models.


@pytest.mark.spec("mcpl-11.5-6", "mcpl-11.2-9", "mcpl-11.2-8")
async def test_hints_bind_no_host_and_a_server_gets_its_answer_all_the_same() -> None:
    provider, host = inference()
    live = McplServer(feature_sets=INFERS)
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        result = await mcpl.ClientStub(live.hosts[0].session).inference_request(
            feature_set=SET,
            messages=[ASK],
            preferences=HINTS,
        )
    assert (result.content, result.model) == ("Short", "haiku-1")
    assert [one.model for one in provider.requests] == ["haiku"]


@pytest.mark.spec("mcpl-11.2-7")
async def test_a_host_can_go_by_hints_that_it_defines_itself() -> None:
    live, host = McplServer(feature_sets=INFERS), McplHost(enabled=["*"])

    @host.on.inference_request
    async def infer(params: mcpl.InferenceRequestParams) -> mcpl.InferenceRequestResult:
        hints = params.preferences
        model = "opus" if hints is not None and hints.cost_tier == "high" else "haiku"
        return mcpl.InferenceRequestResult(content="x", model=model, finish_reason="end_turn")

    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        asking = mcpl.ClientStub(live.hosts[0].session)
        models = [
            (
                await asking.inference_request(feature_set=SET, messages=[ASK], preferences=wishes)
            ).model
            for wishes in (None, HINTS)
        ]
    assert models == ["haiku", "opus"]


@pytest.mark.spec("mcpl-11.5-3", "mcpl-11.5-8")
async def test_a_wildcard_routes_sets_and_a_set_without_a_policy_runs_nothing() -> None:
    routing = mcpl.RoutingPolicy(default="", wildcards={"memory.*": "mini"})
    provider, host = inference(routing=routing)
    live = McplServer(feature_sets=INFERS)
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        await live.hosts[0].infer(SET, "Summarize")
        with pytest.raises(InternalError) as raised:
            await live.hosts[0].infer("spy.all", "Summarize")
    assert raised.value.data["reason"] == "no_route"
    assert [one.model for one in provider.requests] == ["mini"]


@pytest.mark.spec("mcpl-11.5-4")
async def test_a_large_context_takes_a_larger_model() -> None:
    provider, host = inference(*[ModelAnswer("x", "m")] * 2, larger={"haiku": (1000, "opus")})
    live = McplServer(feature_sets=INFERS)
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        for text in ("short", "long " * 1000):
            await live.hosts[0].infer(SET, text)
    assert [one.model for one in provider.requests] == ["haiku", "opus"]
    for wrong in (("1000", "opus"), (1000, 5)):
        with pytest.raises((TypeError, ValueError), match=r"Inference\.larger"):
            inference(larger={"haiku": wrong})
