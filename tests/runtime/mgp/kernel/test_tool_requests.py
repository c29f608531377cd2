"""`mgp/tools/request`: raw servers ask for capabilities, and get tools, waits or none."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Host, Server
from kinwire.mgp import (
    MgpKernel,
    PermissionAnswer,
    PermissionQuestion,
    Permissions,
    Registrations,
    ServerPolicy,
    ToolDiscovery,
)
from kinwire.support.background import background
from kinwire_protocols.mgp.models import ToolContextBudget
from tests.runtime.mgp.fixtures_kernel import audited
from tests.runtime.mgp.raw_peers import Json, RawKernel, RawServer, codes, tool
from tests.runtime.mgp.test_examples_played import MESSAGES

pytestmark = pytest.mark.anyio

REQUEST, ANSWER = MESSAGES[46], MESSAGES[47]
OFFER: Json = {"version": "0.2.0", "extensions": ["security", "tool_discovery", "discovery"]}
METHOD = "mgp/tools/request"
TASK = "550e8400-e29b-41d4-a716-446655440000"
SAFE: Json = {"risk_level": "safe"}
CODE: Json = {"risk_level": "dangerous", "permissions_required": ["code_execution"]}


@asynccontextmanager
async def connected(kernel: MgpKernel, **servers: RawServer) -> AsyncGenerator[RawServer]:
    """Yield a server that asks; the others are connected, too."""
    asking = RawServer(mgp=OFFER)
    async with Host("h", "1", extensions=[kernel]) as host:
        for id, raw in servers.items():
            await host.connect(raw, server_id=id.replace("_", ".", 1))
        await host.connect(asking, server_id="asking")
        yield asking


async def asked(asking: RawServer, *capabilities: str, **more: Any) -> Json:
    requirements = {"capabilities": list(capabilities)}
    reply = await asking.ask(1, METHOD, {"requirements": requirements, **more})
    result: Json = reply["result"]
    return result


def loaded(result: Json) -> list[str]:
    return [one["name"] for one in result["tools_loaded"]]


@pytest.mark.spec(*(f"mgp-16.6-mgp-tools-request-{row}" for row in range(1, 4)))
async def test_the_request_of_the_text_is_fulfilled_as_in_the_text() -> None:
    (expected,) = ANSWER["result"]["tools_loaded"]
    listed = {key: expected[key] for key in ("name", "description", "inputSchema")}
    permits = {"risk_level": "safe", "permissions_required": ["memory.read"]}
    data = RawServer({**listed, "security": permits}, tool("think"), mgp=OFFER)
    kernel = MgpKernel(permissions=Permissions(policy="auto_approve"))
    async with connected(kernel, tool_data_processing=data) as asking:
        reply = await asking.ask(REQUEST["id"], REQUEST["method"], REQUEST["params"])
        result = reply["result"]
        assert set(result) == set(ANSWER["result"])
        assert result["status"] == "fulfilled"
        (found,) = result["tools_loaded"]
        assert set(found) == set(expected)
        assert (found["name"], found["server_id"]) == ("analyze_csv", "tool.data_processing")
        assert found["inputSchema"] == expected["inputSchema"]
        assert result["tools_unavailable"] == []
        session = (await asking.ask(2, "mgp/tools/session", {}))["result"]
        assert result["session_tools_count"] == len(session["cached"]) == 1
        assert result["context_tokens_added"] == session["total_tokens"] > 0
        again = (await asking.ask(3, REQUEST["method"], REQUEST["params"]))["result"]
        assert again["context_tokens_added"] == 0  # it had the tool already
        assert again["session_tools_count"] == 1


@pytest.mark.spec("mgp-16.6-mgp-tools-request-4", "mgp-16.6-mgp-tools-request-5", "mgp-16.6-1")
async def test_what_no_tool_has_is_named_in_the_words_of_the_request() -> None:
    mail = {**tool("send_mail", security=SAFE), "description": "Sends a mail."}
    async with connected(MgpKernel(), mail=RawServer(mail, mgp=OFFER)) as asking:
        for capabilities, status, names, lacking in (
            (["send mail"], "fulfilled", ["send_mail"], []),
            (["Send-Mail", "video_editing"], "partial", ["send_mail"], ["video_editing"]),
            (["video_editing", "sing"], "unavailable", [], ["video_editing", "sing"]),
        ):
            result = await asked(asking, *capabilities)
            assert result["status"] == status
            assert loaded(result) == names
            assert result["tools_unavailable"] == lacking
            assert result["session_tools_count"] == 1
        by_task = await asked(asking, context="a mail has to be sent")
        assert (by_task["status"], loaded(by_task)) == ("fulfilled", ["send_mail"])
        refused: tuple[Json, ...] = (
            {"requirements": {}},
            {"requirements": {"capabilities": ["a"] * 2 + [f"b{at}" for at in range(20)]}},
            {"requirements": {"capabilities": ["--"]}},
            {},
        )
        for params in refused:
            reply = await asking.ask(4, METHOD, params)
            assert reply["error"]["code"] == -32602, params


@pytest.mark.spec("mgp-16.1-3")
async def test_a_model_goes_on_with_the_tool_that_it_got() -> None:
    """Every call of the diagram is one of `tools/call`."""
    kernel, gate, model = MgpKernel(), Server("gate", "1"), RawKernel()
    kernel.add_tool_search_tools(gate, lambda context: "agent.a")
    raw = RawServer({**tool("analyze_csv", "path"), "description": "Compute statistics on CSV"})
    needs = {"reason": "capability_gap", "requirements": {"capabilities": ["statistics"]}}
    async with connected(kernel, tool_data_processing=raw), background() as tasks:
        tasks.start_soon(gate.serve, model)
        await model.greet(None)
        params = {"name": "mgp/tools/request", "arguments": needs}
        reply = (await model.ask(1, "tools/call", params))["result"]
        (got,) = reply["structuredContent"]["tools_loaded"]
        session = await kernel.tool_session("agent.a")
        await session.call(got["server_id"], got["name"], {"path": "a.csv"})
        tasks.cancel_scope.cancel()
    assert raw.calls[0]["arguments"] == {"path": "a.csv"}


async def test_tools_that_the_agent_may_not_call_are_not_loaded() -> None:
    kernel = MgpKernel(servers={"closed": ServerPolicy(access="opt-in")})
    closed = RawServer(tool("send_mail", security=SAFE))
    async with connected(kernel, closed=closed) as asking:
        assert (await asked(asking, "mail"))["status"] == "unavailable"
        await kernel.access.grant("asking", "closed", tool="send_mail")
        assert loaded(await asked(asking, "mail")) == ["send_mail"]


async def test_a_tool_that_the_budget_has_no_room_for_is_not_there() -> None:
    budget = ToolContextBudget(
        max_tokens=60, pinned_reserve=0, discovery_reserve=10, cache_limit=60
    )
    long = {**tool("send_mail", security=SAFE), "description": "mail " * 100}
    kernel = MgpKernel(discovery=ToolDiscovery(budget=budget))
    async with connected(kernel, s=RawServer(long, tool("write_note"))) as asking:
        result = await asked(asking, "mail", "note")
        assert (result["status"], loaded(result)) == ("partial", ["write_note"])
        assert result["tools_unavailable"] == ["mail"]


@pytest.mark.spec("mgp-16.6-mgp-tools-request-6")
async def test_tools_that_lack_a_permission_wait_for_the_operator() -> None:
    questions: list[PermissionQuestion] = []
    answered = anyio.Event()

    async def ask(question: PermissionQuestion) -> PermissionAnswer:
        questions.append(question)
        if question.tool is None:
            return PermissionAnswer("deferred")
        await answered.wait()
        return PermissionAnswer("approved", lasts=100.0)

    raw = RawServer(
        tool("recall", security={"risk_level": "safe", "permissions_required": ["memory.read"]}),
        tool("store", security={"risk_level": "safe", "permissions_required": ["memory.write"]}),
        mgp={**OFFER, "permissions_required": []},
    )
    kernel = MgpKernel(permissions=Permissions(policy="interactive", ask=ask))
    async with connected(kernel, s=raw) as asking:
        await kernel.permissions.deny("s", "memory.write")
        result = await asked(asking, "recall")
        seen = result["status"], loaded(result), result["tools_unavailable"]
        assert seen == ("pending_approval", [], [])
        await asked(asking, "recall")  # nobody is asked twice
        await anyio.wait_all_tasks_blocked()
        (question,) = questions
        about = question.agent, question.tool, question.server, question.permission
        assert about == ("asking", "recall", "s", "memory.read")
        answered.set()
        await anyio.wait_all_tasks_blocked()
        result = await asked(asking, "recall", "store")
        assert (result["status"], loaded(result)) == ("partial", ["recall"])
        assert result["tools_unavailable"] == ["store"]  # its permission was denied
        assert raw.calls == []


CREATES = ToolDiscovery(allow_creating=True)
CREATING = (
    "mgp-16.6-mgp-tools-request-7",
    "mgp-16.6-The-creating-Status-Autonomous-Tool-Generation-1",
    "mgp-16.6-The-creating-Status-Autonomous-Tool-Generation-2",
)
REGISTER: Json = {"id": "made.sing", "command": "python", "args": ["sing.py"]}


def creator(folder: Path, discovery: ToolDiscovery, policy: Any = "auto_approve") -> MgpKernel:
    """Return a kernel whose agents may run code."""
    return MgpKernel(
        permissions=Permissions(policy=policy),
        registrations=Registrations(folder=folder),
        discovery=discovery,
        servers={"code": ServerPolicy(permissions=["code_execution"])},
    )


@pytest.mark.spec(*CREATING)
async def test_an_agent_writes_the_tool_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "sing.py").write_text("print()", encoding="utf-8")
    kernel, code = creator(tmp_path, CREATES), RawServer(tool("run", "code", security=CODE))
    made, asking = RawServer(tool("do_it", security=SAFE)), RawServer(mgp=OFFER)
    with audited() as events:
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(code, server_id="code")
            await host.connect(asking, server_id="asking")
            result = await asked(asking, "sing", task_trace_id=TASK)
            assert (result["status"], result["tools_unavailable"]) == ("creating", ["sing"])
            reply = await asking.ask(2, "mgp/discovery/register", REGISTER)
            assert reply["result"]["trust_level"] == "sandboxed"
            again = await asked(asking, "sing", task_trace_id=TASK)
            assert again["status"] == "creating"  # it does not run yet
            connection = await host.connect(made, server_id="made.sing")
            again = await asked(asking, "sing", task_trace_id=TASK)
            seen = again["status"], loaded(again), again["tools_unavailable"]
            assert seen == ("fulfilled", ["do_it"], [])
            with kernel.acting_for("asking"):
                await connection.mcp.tools_call(name="do_it")
            await asking.ask(3, "mgp/discovery/register", {**REGISTER, "id": "second"})
            assert [one.id for one in await kernel.registry.waiting()] == ["second"]
    (approved,) = events.of("io.kinwire.server_approved")
    assert approved["actor"]["id"] == "policy:auto_approve"
    (granted,) = events.of("ACCESS_GRANTED")
    assert granted["details"]["agent_id"] == "asking"


async def test_a_made_tool_is_no_answer_to_other_requests(tmp_path: Path) -> None:
    (tmp_path / "sing.py").write_text("print()", encoding="utf-8")
    kernel, code = creator(tmp_path, CREATES), RawServer(tool("run", "code", security=CODE))
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(code, server_id="code")
        await host.connect(asking := RawServer(mgp=OFFER), server_id="asking")
        for task in ({"task_trace_id": TASK}, {}):
            made = {**REGISTER, "id": f"made.{len(task)}"}
            assert (await asked(asking, "sing", **task))["status"] == "creating"
            await asking.ask(2, "mgp/discovery/register", made)
            await host.connect(RawServer(tool("do_it", security=SAFE)), server_id=made["id"])
            assert (await asked(asking, "sing", **task))["status"] == "fulfilled"
            other = await asked(asking, "dance", **task)
            assert (other["status"], other["tools_unavailable"]) == ("creating", ["dance"])
            both = await asked(asking, "sing", "dance", **task)
            assert (both["status"], loaded(both)) == ("creating", [])


async def test_code_that_is_not_safe_is_refused_on_this_way_too(tmp_path: Path) -> None:
    (tmp_path / "sing.py").write_text("import subprocess", encoding="utf-8")
    kernel, code = creator(tmp_path, CREATES), RawServer(tool("run", "code", security=CODE))
    async with connected(kernel, code=code) as asking:
        assert (await asked(asking, "sing", task_trace_id=TASK))["status"] == "creating"
        reply = await asking.ask(2, "mgp/discovery/register", REGISTER)
        assert codes(reply)[0] == 1011
        assert (await asked(asking, "sing", task_trace_id=TASK))["status"] == "creating"
        assert await kernel.access.list() == []


async def test_nothing_is_created_without_all_conditions(tmp_path: Path) -> None:
    (tmp_path / "sing.py").write_text("print()", encoding="utf-8")
    for discovery, policy, tools in (
        (ToolDiscovery(), "auto_approve", [tool("run", "code", security=CODE)]),
        (CREATES, "interactive", [tool("run", "code", security=CODE)]),
        (CREATES, "auto_approve", [tool("run", "code", security=SAFE)]),
    ):
        kernel = creator(tmp_path, discovery, policy)
        async with connected(kernel, code=RawServer(*tools)) as asking:
            assert (await asked(asking, "sing", task_trace_id=TASK))["status"] == "unavailable"
            await asking.ask(2, "mgp/discovery/register", REGISTER)
            assert [one.id for one in await kernel.registry.waiting()] == ["made.sing"]
