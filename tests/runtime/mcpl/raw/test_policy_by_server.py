"""The policy of a host for one server applies to no other server, whatever that calls itself."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host
from kinwire.mcpl import (
    HookFailedError,
    Hooks,
    Inference,
    McplHost,
    ModelAnswer,
    Scopes,
    ScriptedProvider,
)
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl import RoutingPolicy, ScopeRules
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

EDIT = {"files.edit": {"description": "Edit", "uses": ["tools"], "scoped": True}}
REDACTION = {"redaction.all": {"description": "R", "uses": ["contextHooks.afterInference"]}}
THINK = {"think": {"description": "Think", "uses": ["inferenceRequest"]}}


def raw(sets: Any, name: str = "notes", **offer: Any) -> RawServer:
    return RawServer({"version": "0.4", "featureSets": sets, **offer}, name=name)


@against_raw_server
@pytest.mark.spec("mcpl-6.7-1", "mcpl-5.3-1")
async def test_sets_are_enabled_and_forbidden_by_server(connect: ConnectServer) -> None:
    live = McplHost(enabled=["notes/files.*", "strict/*"], forbidden=["strict/files.edit"])
    enabled: dict[str | None, list[str]] = {}
    async with Host("h", "1", extensions=[live]) as host:
        for server_id in ("notes", None, "strict"):
            server = raw(EDIT)  # each calls itself "notes"
            options: Any = {} if server_id is None else {"server_id": server_id}
            await connect(host, server, **options)
            update = (await server.expect("featureSets/update"))["params"]
            enabled[server_id] = update["enabled"]
            if server_id == "strict":
                error = await server.error(
                    "scope/elevate", {"featureSet": "files.edit", "scope": {"label": "/x"}}
                )
                assert (error["code"], error["data"]["canEnable"]) == (-32001, False)
    assert enabled == {"notes": ["files.edit"], None: [], "strict": []}


@against_raw_server
@pytest.mark.spec("mcpl-7.6-1", "mcpl-7.6-2")
async def test_scopes_have_lists_by_server(connect: ConnectServer) -> None:
    lists = {
        "files.*": ScopeRules(whitelist=["/tmp/**"], blacklist=["**/.env"]),
        "notes/files.edit": ScopeRules(whitelist=["/src/**"]),
    }
    live = McplHost(enabled=["*"], scopes=Scopes(lists=lists))
    approved: dict[str, list[bool]] = {}
    async with Host("h", "1", extensions=[live]) as host:
        for server_id in ("notes", "other"):
            server = raw(EDIT)
            await connect(host, server, server_id=server_id)
            approved[server_id] = [
                (
                    await server.result(
                        "scope/elevate", {"featureSet": "files.edit", "scope": {"label": label}}
                    )
                )["approved"]
                for label in ("/src/x", "/tmp/x", "/src/.env", "./.env")
            ]
    assert approved == {"notes": [True, False, False, False], "other": [False, True, False, False]}


@against_raw_server
@pytest.mark.spec("mcpl-13.3-3")
async def test_another_server_does_not_satisfy_what_fails_closed(connect: ConnectServer) -> None:
    hooks = Hooks(fail_closed=["redactor/redaction.*"])
    live = McplHost(enabled=["*"], hooks=hooks)
    offer: Any = {"contextHooks": {"afterInference": {"blocking": True}}}
    said = {"featureSet": "redaction.all", "modifiedResponse": "[REDACTED]"}
    response = mcpl.AfterInferenceParams(
        inference_id="inf_1",
        conversation_id="conv_1",
        turn_index=0,
        user_message="Hi",
        assistant_message="sk-1234",
        model=mcpl.ModelInfo(id="m", vendor="v", context_window=1, capabilities=[]),
    )
    impostor, redactor = raw(REDACTION, "redactor", **offer), raw(REDACTION, **offer)
    for one in (impostor, redactor):
        one.answers["context/afterInference"] = said
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, impostor)
        with pytest.raises(HookFailedError, match="no connected server has that server_id") as no:
            await live.after_inference(response)
        assert (no.value.server, no.value.feature_set) == ("redactor", "redaction.*")
        connection = await connect(host, redactor, server_id="redactor")
        assert await live.after_inference(response) == "[REDACTED]"
        server = live.of(connection)
        assert server is not None
        await server.disable("*")
        with pytest.raises(HookFailedError, match=r"redactor failed, and redaction\.\* fails clo"):
            await live.after_inference(response)


@against_raw_server
async def test_a_budget_of_one_server_is_for_no_other(connect: ConnectServer) -> None:
    usage = mcpl.TokenUsage(input_tokens=6, output_tokens=6)
    answers = [ModelAnswer("Yes", "m", usage=usage)] * 5
    inference = Inference(
        provider=ScriptedProvider(*answers),
        routing=RoutingPolicy(default="m"),
        budgets={"poor/think": 10, "think": 100},
    )
    live = McplHost(enabled=["*"], inference=inference)
    params = {"featureSet": "think", "messages": [{"role": "user", "content": "Well?"}]}
    async with Host("h", "1", extensions=[live]) as host:
        for server_id, refused in (("poor", True), ("rich", False)):
            server = raw(THINK, inferenceRequest=True)
            await connect(host, server, server_id=server_id)
            await server.result("inference/request", params)
            reply = await server.request("inference/request", params)
            assert ("error" in reply) is refused, reply
            if refused:
                assert reply["error"]["data"]["reason"] == "budget_spent"
