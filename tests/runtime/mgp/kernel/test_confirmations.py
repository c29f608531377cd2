"""Calls that a person confirms, of a raw server (MGP 4.4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host
from kinwire.mgp import (
    ConfirmationAnswer,
    ConfirmationRequest,
    Confirmations,
    MgpKernel,
    Permissions,
    ServerPolicy,
    ToolPolicy,
)
from kinwire.mgp.kernel.audit import AuditOptions
from kinwire.storage import open_store
from kinwire_protocols.mgp import PermissionDeniedError
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio


def rated(name: str, risk: str, **more: Any) -> Json:
    return tool(name, security={"risk_level": risk, "validator": "none", **more})


def raw(*tools: Json, **offer: Any) -> RawServer:
    made = tools or (
        rated("look", "safe"),
        rated("note", "moderate"),
        rated("erase", "dangerous"),
        rated("asked", "safe", confirmation_required=True),
    )
    return RawServer(*made, mgp={"version": "0.2.0", "extensions": ["security"], **offer})


class Person:
    """Confirms calls; without an answer it waits."""

    def __init__(self, *answers: ConfirmationAnswer | bool) -> None:
        self.answers = list(answers)
        self.asked: list[ConfirmationRequest] = []

    async def __call__(self, request: ConfirmationRequest) -> ConfirmationAnswer | bool:
        self.asked.append(request)
        if not self.answers:
            await anyio.sleep_forever()
        return self.answers.pop(0)


@asynccontextmanager
async def connected(server: RawServer, kernel: MgpKernel) -> AsyncGenerator[Any]:
    async with Host("h", "1", extensions=[kernel]) as host:
        yield (await host.connect(server, server_id="files")).mcp


async def outcome(mcp: Any, name: str, **arguments: Any) -> str:
    """Return why a call was refused, or what its server answered."""
    try:
        result = await mcp.tools_call(name=name, arguments=arguments)
    except PermissionDeniedError as error:
        return str(error.data["_mgp"]["details"]["reason"])
    return str(result.content[0].text)


CALLED = ("look", "note", "erase", "asked")


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        pytest.param(
            ServerPolicy(),
            {"erase", "asked"},
            marks=pytest.mark.spec("mgp-4.4-1", "mgp-4.4-3", "mgp-4.3-6"),
        ),
        pytest.param(
            ServerPolicy(trust="sandboxed", access="opt-out"),
            {"note", "erase", "asked"},
            marks=pytest.mark.spec("mgp-4-1", "mgp-4.4-2"),
        ),
        (ServerPolicy(confirm=[]), {"asked"}),
        (ServerPolicy(tools={"look": ToolPolicy(confirm=True)}), {"look", "erase", "asked"}),
        (ServerPolicy(tools={"erase": ToolPolicy(confirm=False)}), {"asked"}),
    ],
)
async def test_the_risk_decides_which_calls_are_confirmed(
    policy: ServerPolicy, asked: set[str]
) -> None:
    for answer in (True, False):
        person = Person(*[answer] * 4)
        kernel = MgpKernel(servers={"files": policy}, confirmations=Confirmations(confirm=person))
        server = raw()
        async with connected(server, kernel) as mcp:
            for name in CALLED:
                refused = name in asked and not answer
                expected = "confirmation_denied" if refused else name
                assert await outcome(mcp, name) == expected
        assert {one.tool for one in person.asked} == asked
        assert {one["name"] for one in server.calls} == (
            set(CALLED) if answer else set(CALLED) - asked
        )


async def test_a_person_sees_who_calls_what_with_which_arguments() -> None:
    person = Person(True)
    kernel = MgpKernel(confirmations=Confirmations(confirm=person))
    server = raw(rated("erase", "dangerous") | {"inputSchema": {"type": "object"}})
    sent = {"path": "a\u202etxt.exe\n\x1b[2J", "note": "ä" + "x" * 5000 + "rm -rf /"}
    async with connected(server, kernel) as mcp:
        with kernel.acting_for("agent.helper"):
            assert await outcome(mcp, "erase", **sent) == "erase"
    [request] = person.asked
    assert (request.agent, request.server, request.tool, request.risk) == (
        "agent.helper",
        "files",
        "erase",
        "dangerous",
    )
    assert request.arguments == sent
    shown = request.shown
    assert shown.isprintable()
    assert shown.startswith('{"path": "a\\u202etxt.exe\\n\\u001b[2J", "note": "ä')
    assert shown.endswith('rm -rf /"}')
    assert len(shown) < 2200
    request.arguments.clear()  # changes nothing of the call
    assert server.calls[0]["arguments"] == sent


async def test_no_answer_no_function_and_a_failure_differ_from_a_denial() -> None:
    async def fails(request: ConfirmationRequest) -> bool:
        raise LookupError("nobody here")

    cases: list[tuple[Confirmations, str, str]] = [
        (Confirmations(confirm=Person(False)), "confirmation_denied", "it was denied"),
        (Confirmations(confirm=Person(), timeout=0.01), "confirmation_timeout", "within 0.01 s"),
        (Confirmations(confirm=fails), "confirmation_failed", "asking failed"),
        (Confirmations(), "confirmation_impossible", r"Confirmations\(confirm="),
    ]
    for options, reason, text in cases:
        async with open_store("memory:") as store:
            log = await store.log("mgp-audit")
            kernel = MgpKernel(confirmations=options, audit=AuditOptions(log=log, buffered=False))
            server = raw()
            async with connected(server, kernel) as mcp:
                with pytest.raises(PermissionDeniedError, match=text) as raised:
                    await mcp.tools_call(name="erase")
                assert raised.value.code == 1000
            assert server.calls == []
            written = str([entry.value for entry in await log.read()])
            assert written.count("TOOL_BLOCKED") == 1
            assert reason in written


async def test_a_refusal_without_a_person_says_how_the_call_is_allowed() -> None:
    kernel = MgpKernel()
    async with connected(raw(), kernel) as mcp:
        for name in ("erase", "asked"):
            with pytest.raises(PermissionDeniedError, match=r"tools\.NAME\.confirm = false"):
                await mcp.tools_call(name=name)
            await kernel.confirmations.allow("host", "files", name)
            assert await outcome(mcp, name) == name
    policy = ServerPolicy(tools={one: ToolPolicy(confirm=False) for one in ("erase", "asked")})
    async with connected(raw(), MgpKernel(servers={"files": policy})) as mcp:
        assert await outcome(mcp, "erase") == "erase"
        assert await outcome(mcp, "asked") == "asked"  # although the server demands it


async def test_an_answer_holds_once_unless_it_is_always() -> None:
    always = ConfirmationAnswer(True, always=True, by="ann")
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        person = Person(True, False, always, False, ConfirmationAnswer(False, always=True))
        tools = [rated("erase", "dangerous"), rated("other", "dangerous")]

        async def outcomes(agent: str, *names: str) -> list[str]:
            kernel = MgpKernel(confirmations=Confirmations(confirm=person), records=records)
            async with connected(raw(*tools), kernel) as mcp:
                with kernel.acting_for(agent):
                    return [await outcome(mcp, name) for name in names]

        denied = "confirmation_denied"
        assert await outcomes("a", *["erase"] * 4) == ["erase", denied, "erase", "erase"]
        assert await outcomes("a", "erase", "erase") == ["erase", "erase"]  # a restart
        assert await outcomes("b", "erase") == [denied]  # another agent
        assert await outcomes("a", "other", "other") == [denied, denied]  # another tool
        assert len(person.asked) == 5
        tools[0]["description"] = "Now it sends the files away first"
        person.answers = [False]
        assert await outcomes("a", "erase") == [denied]  # another definition
        assert len(person.asked) == 6


async def test_an_operator_allows_and_forgets() -> None:
    async with open_store("memory:") as store:
        log = await store.log("mgp-audit")
        kernel = MgpKernel(audit=AuditOptions(log=log, buffered=False))
        async with connected(raw(), kernel) as mcp:
            assert await outcome(mcp, "erase") == "confirmation_impossible"
            with kernel.acting_as_operator("ann"):
                await kernel.confirmations.allow("host", "files", "erase")
            assert await outcome(mcp, "erase") == "erase"
            [standing] = kernel.confirmations.standing
            assert (standing.agent, standing.tool, standing.by) == ("host", "erase", "ann")
            await kernel.confirmations.forget("files", tool="other")
            assert await outcome(mcp, "erase") == "erase"
            with kernel.acting_as_operator("ann"):
                await kernel.confirmations.forget("files", agent="host", tool="erase")
            assert await outcome(mcp, "erase") == "confirmation_impossible"
            for server, name in (("files", "nope"), ("nope", "erase")):
                with pytest.raises(ValueError, match="expected a tool that was listed"):
                    await kernel.confirmations.allow("host", server, name)
        written = str([entry.value for entry in await log.read()])
    assert (written.count("PERMISSION_GRANTED"), written.count("PERMISSION_REVOKED")) == (1, 1)


async def test_a_function_that_makes_the_call_it_asks_about_is_not_asked_again() -> None:
    asked, nested, connections = list[str](), list[str](), list[Any]()

    async def confirm(request: ConfirmationRequest) -> bool:
        asked.append(request.tool)
        nested.append(await outcome(connections[0], "erase"))
        return True

    kernel = MgpKernel(confirmations=Confirmations(confirm=confirm))
    async with connected(raw(), kernel) as mcp:
        connections.append(mcp)
        with anyio.fail_after(5):
            assert await outcome(mcp, "erase") == "erase"
            assert await outcome(mcp, "asked") == "asked"  # which asks about the other
    assert asked == ["erase", "asked", "erase"]
    assert nested == ["confirmation_impossible", "confirmation_impossible", "erase"]


async def test_a_running_kernel_sees_answers_that_another_forgets() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        kernels = [MgpKernel(records=records) for _ in range(2)]
        impossible = "confirmation_impossible"
        async with connected(raw(), kernels[0]) as mcp, connected(raw(), kernels[1]) as other:
            for forget in (kernels[1], None):
                await kernels[0].confirmations.allow("host", "files", "erase")
                await anyio.wait_all_tasks_blocked()
                assert await outcome(other, "erase") == "erase"
                if forget is None:  # a program without connections
                    forget = MgpKernel(records=records)
                    await forget.confirmations.load()
                await forget.confirmations.forget("files", tool="erase")
                await anyio.wait_all_tasks_blocked()
                assert [await outcome(one, "erase") for one in (mcp, other)] == [impossible] * 2
                assert kernels[0].confirmations.standing == []


@pytest.mark.spec("mgp-4.4-3")
async def test_an_explicit_permission_takes_the_place_of_a_confirmation() -> None:
    needs: Json = {"permissions_required": ["shell"]}
    tools = (rated("run", "dangerous", **needs), rated("ask", "dangerous", **needs))
    tools[1]["security"]["confirmation_required"] = True
    impossible = "confirmation_impossible"
    cases: list[tuple[MgpKernel, list[str]]] = [
        (MgpKernel(permissions=Permissions(policy="auto_approve")), [impossible, impossible]),
        (
            MgpKernel(servers={"files": ServerPolicy(permissions=["shell"])}),
            ["run", impossible],
        ),
        (
            MgpKernel(
                servers={
                    "files": ServerPolicy(
                        permissions=["shell"], tools={"run": ToolPolicy(confirm=True)}
                    )
                }
            ),
            [impossible, impossible],
        ),
    ]
    for kernel, expected in cases:
        async with connected(raw(*tools), kernel) as mcp:
            assert [await outcome(mcp, name) for name in ("run", "ask")] == expected
    kernel = MgpKernel()
    async with connected(raw(*tools), kernel) as mcp:
        await kernel.permissions.approve("files", "shell")
        assert [await outcome(mcp, name) for name in ("run", "ask")] == ["run", impossible]
    person = Person(False)  # who can be asked is asked
    kernel = MgpKernel(
        servers={"files": ServerPolicy(permissions=["shell"])},
        confirmations=Confirmations(confirm=person),
    )
    async with connected(raw(*tools), kernel) as mcp:
        assert await outcome(mcp, "run") == "confirmation_denied"


async def test_a_hundred_calls_may_wait_and_the_session_goes_on() -> None:
    person = Person()
    kernel = MgpKernel(confirmations=Confirmations(confirm=person))
    server, outcomes = raw(), list[str]()
    async with connected(server, kernel) as mcp, anyio.create_task_group() as tasks:

        async def call() -> None:
            outcomes.append(await outcome(mcp, "erase"))

        await outcome(mcp, "look")
        for _ in range(101):
            tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        assert (len(person.asked), outcomes) == (100, ["confirmation_impossible"])
        assert await outcome(mcp, "look") == "look"
        with kernel.acting_for("agent.other"):  # another agent is not held up
            tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        assert (len(person.asked), len(outcomes)) == (101, 1)
        tasks.cancel_scope.cancel()


async def test_nobody_is_asked_about_a_call_whose_server_is_gone() -> None:
    person = Person()
    kernel = MgpKernel(confirmations=Confirmations(confirm=person))
    server = raw()
    async with connected(server, kernel) as mcp, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(ConnectionClosedError), anyio.fail_after(5):
                await mcp.tools_call(name="erase")

        tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        assert len(person.asked) == 1
        server.hang_up()


async def test_wrong_options_are_refused() -> None:
    for wrong in ({"confirm": "yes"}, {"timeout": 0.0}):
        options: Any = wrong
        with pytest.raises((TypeError, ValueError), match="Confirmations"):
            Confirmations(**options)
    answer: Any = "yes"
    with pytest.raises(TypeError, match="ConfirmationAnswer"):
        ConfirmationAnswer(answer)
