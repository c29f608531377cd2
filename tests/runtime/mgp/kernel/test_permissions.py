"""Permissions of a raw server: asked for, granted, refused, expired, revoked (MGP 3)."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, stdio
from kinwire.mgp import (
    MgpKernel,
    PermissionAnswer,
    PermissionQuestion,
    Permissions,
    ServerPolicy,
    ToolPolicy,
)
from kinwire.mgp.kernel.audit import AuditOptions
from kinwire.mgp.kernel.pending import MOST_PENDING
from kinwire.storage import Records, StorageUnavailableError, open_store
from kinwire.support.timestamps import seconds_of
from kinwire_protocols.mgp import PermissionDeniedError
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

pytestmark = pytest.mark.anyio

REQUEST, RESPONSE = "mgp/permission/request", "mgp/permission/response"
SHELL = {"permissions_required": ["shell.execute"]}


def raw(*required: str, tools: tuple[Json, ...] = (), **answers: Any) -> RawServer:
    """Return a server that requires permissions, with a tool for each of them."""
    offer = {"version": "0.2.0", "extensions": ["security"], "permissions_required": [*required]}
    made = [
        tool(name, security={"risk_level": "safe", "permissions_required": [name]})
        for name in ("memory.read", "memory.write", "system.info")
    ]
    return RawServer(
        *(tools or made),
        mgp=offer,
        **{"mgp_permission_request": {}, "mgp_permission_response": {}, **answers},
    )


class Person:
    """Answers questions; without an answer of its own it waits until the test lets it go on."""

    def __init__(self, *answers: PermissionAnswer | bool) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionQuestion] = []
        self.comes = anyio.Event()
        self.may_answer = anyio.Event()
        self.cancelled = 0

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer | bool:
        self.asked.append(question)
        self.comes.set()
        if not self.answers:
            try:
                await self.may_answer.wait()
            except anyio.get_cancelled_exc_class():
                self.cancelled += 1
                raise
        return self.answers.pop(0)


@asynccontextmanager
async def connected(
    server: RawServer, kernel: MgpKernel, server_id: str | None = "files", **options: Any
) -> AsyncGenerator[Any]:
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(server, server_id=server_id, **options)
        with anyio.fail_after(5):
            while not server.of("notifications/initialized"):
                await server_hears(server)
        yield connection.mcp


async def reason(call: Any) -> str:
    """Return why a call was refused, or what its server answered."""
    try:
        result = await call
    except PermissionDeniedError as error:  # 1000
        return str(error.data["_mgp"]["details"]["reason"])
    return str(result.content[0].text)


def before_initialized(server: RawServer) -> list[str]:
    methods = [one["method"] for one in server.heard if "method" in one]
    return methods[: methods.index("notifications/initialized")]


RISKS = {  # the specification's table
    "filesystem.read": "moderate",
    "filesystem.write": "dangerous",
    "network.outbound": "moderate",
    "network.listen": "dangerous",
    "shell.execute": "dangerous",
    "code_execution": "dangerous",
    "memory.read": "safe",
    "memory.write": "moderate",
    "system.info": "safe",
    "camera": "dangerous",
    "notification": "safe",
    "com.example.custom_permission": "dangerous",  # not in the table
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.spec(f"mgp-3.2-{row}"))
        for row, name in enumerate(RISKS, 1)
    ],
)
async def test_an_operator_is_shown_the_risk_of_each_permission(name: str) -> None:
    person = Person(True)
    async with connected(raw(name), MgpKernel(permissions=Permissions(ask=person))):
        [question] = person.asked
    assert (question.permission, question.risk) == (name, RISKS[name])
    assert question.allows.startswith("Not a standard permission") == name.startswith("com.")


async def decided() -> RawServer:
    """Return a server with two permissions, of which an operator has approved the first."""
    person = Person(PermissionAnswer("approved", by="ann", lasts=3600.0), False)
    kernel = MgpKernel(permissions=Permissions(ask=person), clock=lambda: 1_770_000_000.0)
    server = raw("memory.read", "memory.write")
    async with connected(server, kernel) as mcp:
        assert [(one.permission, one.agent) for one in person.asked] == [
            ("memory.read", None),
            ("memory.write", None),
        ]
        assert person.asked[0].allows == "Read memory and knowledge stores"
        assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
        assert await reason(mcp.tools_call(name="memory.write")) == "permission_denied"
    return server


@pytest.mark.spec("mgp-3.1-2", "mgp-3.3-1", "mgp-3.4-1")
async def test_an_operator_is_asked_before_a_connection_goes_on() -> None:
    server = await decided()
    assert before_initialized(server) == ["initialize", REQUEST, RESPONSE]
    assert [one["name"] for one in server.calls] == ["memory.read"]


@pytest.mark.spec("mgp-3.5-1", "mgp-3.5-2")
async def test_a_server_is_asked_to_wait_for_the_operator() -> None:
    [asked] = (await decided()).of(REQUEST)
    assert asked.pop("request_id").startswith("perm-")
    del asked["trace_id"]
    assert asked == {
        "permissions": ["memory.read", "memory.write"],
        "policy": "interactive",
        "message": "Waiting for operator approval",
    }


@pytest.mark.spec("mgp-3.6-1", "mgp-3.6-2", "mgp-3.6-3")
async def test_the_decision_is_delivered_with_the_id_of_its_request() -> None:
    server = await decided()
    [asked], [answered] = server.of(REQUEST), server.of(RESPONSE)
    del answered["trace_id"]
    assert answered == {
        "request_id": asked["request_id"],
        "grants": {"memory.read": "approved", "memory.write": "denied"},
        "approved_by": "ann",
        "expires_at": "2026-02-02T03:40:00.000Z",
    }


@pytest.mark.parametrize(
    ("policy", "listed", "other"),
    [
        pytest.param("interactive", "approved", None),
        pytest.param("auto_approve", "approved", "approved", marks=pytest.mark.spec("mgp-3.3-2")),
        pytest.param("deny_all", "approved", "denied", marks=pytest.mark.spec("mgp-3.3-3")),
        pytest.param("config_only", "approved", "denied", marks=pytest.mark.spec("mgp-3.3-4")),
    ],
)
@pytest.mark.spec("mgp-3.4-2", "mgp-3.4-3")
async def test_a_policy_that_decides_by_itself_sends_no_request(
    policy: Any, listed: str, other: str | None
) -> None:
    approving = ServerPolicy(permissions=["memory.read"])
    for name, value in (("memory.read", listed), ("memory.write", other)):
        if value is None:
            continue
        kernel = MgpKernel(
            servers={"files": approving}, permissions=Permissions(policy=policy, ask=Person())
        )
        server = raw(name)
        async with connected(server, kernel) as mcp:
            assert before_initialized(server) == ["initialize", RESPONSE]
            [answered] = server.of(RESPONSE)
            assert (answered["grants"], answered["approved_by"]) == (
                {name: value},
                f"policy:{policy}",
            )
            expected = name if value == "approved" else "permission_denied"
            assert await reason(mcp.tools_call(name=name)) == expected


async def test_what_is_deferred_is_denied_until_it_is_decided() -> None:
    person = Person(PermissionAnswer("deferred"), PermissionAnswer("deferred"), True)
    kernel = MgpKernel(permissions=Permissions(ask=person))
    server = raw("memory.read")
    async with connected(server, kernel) as mcp:
        assert server.of(RESPONSE)[0]["grants"] == {"memory.read": "deferred"}
        assert await reason(mcp.tools_call(name="memory.read")) == "permission_undecided"
        assert [one.permission for one in kernel.permissions.pending] == ["memory.read"]
        assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
        await responses(server, 2)
        assert server.of(RESPONSE)[1]["grants"] == {"memory.read": "approved"}
        assert kernel.permissions.pending == []
    assert (person.asked[1].agent, person.asked[1].tool) == ("host", "memory.read")


async def test_a_question_without_an_answer_ends_and_is_not_a_denial() -> None:
    person = Person()
    options = Permissions(ask=person, start_timeout=0.01, timeout=0.2)
    kernel = MgpKernel(permissions=options)
    server = raw("memory.read")
    async with connected(server, kernel) as mcp:
        assert server.of(RESPONSE)[0]["grants"] == {"memory.read": "deferred"}
        assert await reason(mcp.tools_call(name="memory.read")) == "permission_undecided"
        await anyio.wait_all_tasks_blocked()
        assert (len(person.asked), person.cancelled) == (2, 2)
        assert [one.tool for one in kernel.permissions.pending] == [None]
        person.answers.append(True)
        assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"


async def test_a_function_that_fails_approves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(question: PermissionQuestion) -> bool:
        raise LookupError("no operator here")

    async def odd(question: PermissionQuestion) -> Any:
        return "approved"

    for ask in (fails, odd):
        kernel = MgpKernel(permissions=Permissions(ask=ask))
        async with connected(raw("memory.read"), kernel) as mcp:
            assert await reason(mcp.tools_call(name="memory.read")) == "permission_undecided"
    assert "no operator here" in caplog.text


async def test_a_question_that_would_wait_for_itself_is_refused_immediately() -> None:
    """Directly, by way of another question, and by way of one that others have asked."""
    other = {"memory.read": "memory.write", "memory.write": "memory.read"}
    connections = list[Any]()
    for need in ({"memory.read": "memory.read"}, other):
        outcomes, both = dict[str, str](), anyio.Event()

        async def approve(
            question: PermissionQuestion,
            need: Any = need,
            outcomes: Any = outcomes,
            both: Any = both,
        ) -> bool:
            outcomes[question.permission] = ""
            if len(outcomes) == len(need):
                both.set()
            await both.wait()
            name = need[question.permission]
            outcomes[question.permission] = await reason(connections[0].tools_call(name=name))
            return True

        kernel = MgpKernel(permissions=Permissions(ask=approve))
        server = raw()
        with anyio.fail_after(5):
            async with connected(server, kernel) as mcp:
                connections[:] = [mcp]
                async with anyio.create_task_group() as tasks:
                    for name in need:
                        tasks.start_soon(reason, mcp.tools_call(name=name))
        assert sorted(outcomes.values())[-1] == "permission_undecided"
        assert len([one for one in outcomes.values() if one == "permission_undecided"]) == 1
        assert [one for one in server.calls if one["name"] in need]


async def test_a_question_may_need_another_and_what_it_leaves_behind_may_ask_later() -> None:
    outcomes, asked, answered = list[str](), list[str](), anyio.Event()

    async def approve(question: PermissionQuestion) -> PermissionAnswer:
        asked.append(question.permission)
        if question.permission == "memory.read" and len(asked) == 1:
            outcomes.append(await reason(connections[0].tools_call(name="memory.write")))
            groups[0].start_soon(later)
        return PermissionAnswer("approved", lasts=0.0)

    async def later() -> None:
        await answered.wait()
        outcomes.append(await reason(connections[0].tools_call(name="memory.read")))

    kernel, connections, groups = (
        MgpKernel(permissions=Permissions(ask=approve)),
        list[Any](),
        list[Any](),
    )
    with anyio.fail_after(5):
        async with connected(raw(), kernel) as mcp, anyio.create_task_group() as tasks:
            connections.append(mcp)
            groups.append(tasks)
            outcomes.append(await reason(mcp.tools_call(name="memory.read")))
            answered.set()
    assert outcomes == ["memory.write", "memory.read", "memory.read"]
    assert asked == ["memory.read", "memory.write", "memory.read"]


async def test_one_question_serves_all_calls_that_wait_for_it() -> None:
    person = Person()
    kernel = MgpKernel(permissions=Permissions(ask=person))
    server, outcomes = raw(), list[str]()
    async with connected(server, kernel) as mcp, anyio.create_task_group() as tasks:

        async def call() -> None:
            outcomes.append(await reason(mcp.tools_call(name="memory.read")))

        for _ in range(3):
            tasks.start_soon(call)
        await person.comes.wait()
        await anyio.wait_all_tasks_blocked()
        # The session is not held up by the question.
        with anyio.fail_after(5):
            assert (await server.ask(1, "ping", {}))["result"] == {}
        person.answers.append(True)
        person.may_answer.set()
    assert outcomes == ["memory.read"] * 3
    assert len(person.asked) == 1


async def test_a_call_does_not_wait_for_an_operator_when_its_server_is_gone() -> None:
    person = Person()
    kernel = MgpKernel(permissions=Permissions(ask=person))
    server = raw()
    async with connected(server, kernel) as mcp, anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(ConnectionClosedError), anyio.fail_after(5):
                await mcp.tools_call(name="memory.read")

        tasks.start_soon(call)
        await person.comes.wait()
        server.hang_up()
    await anyio.wait_all_tasks_blocked()
    assert person.cancelled == 1


async def test_an_approval_for_one_time_is_for_one_call() -> None:
    once = PermissionAnswer("approved", lasts=0.0)
    person = Person(once, once, False)
    kernel = MgpKernel(permissions=Permissions(ask=person))
    async with connected(raw(), kernel) as mcp:
        outcomes = [await reason(mcp.tools_call(name="memory.read")) for _ in range(3)]
    assert outcomes == ["memory.read", "memory.read", "permission_denied"]


async def test_a_method_of_the_kernel_ends_the_question_of_a_call() -> None:
    for decide, expected in (("approve", "memory.read"), ("deny", "permission_denied")):
        person = Person()
        kernel = MgpKernel(permissions=Permissions(ask=person))
        outcomes = list[str]()
        async with connected(raw(), kernel) as mcp, anyio.create_task_group() as tasks:

            async def call(mcp: Any = mcp, outcomes: list[str] = outcomes) -> None:
                outcomes.append(await reason(mcp.tools_call(name="memory.read")))

            tasks.start_soon(call)
            await person.comes.wait()
            await getattr(kernel.permissions, decide)("files", "memory")
        assert (outcomes, person.cancelled) == ([expected], 1)


async def test_expiry_and_revocation_are_seen_by_the_next_call() -> None:
    now = [1_000.0]
    kernel = MgpKernel(permissions=Permissions(lasts=60.0, ask=Person(True)), clock=lambda: now[0])
    server = raw("memory.read")
    async with connected(server, kernel) as mcp:
        assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
        now[0] += 59
        assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
        now[0] += 1
        kernel.permissions.policy = "config_only"  # so that nobody is asked
        assert await reason(mcp.tools_call(name="memory.read")) == "permission_denied"
        kernel.permissions.policy = "interactive"
        now[0] -= 30  # a clock that is put back revives nothing
        assert kernel.permissions.decisions == []
        await kernel.permissions.approve("files", "memory.read", lasts=10.0)
        assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
        with kernel.acting_as_operator("ann"):
            await kernel.permissions.revoke("files", "memory.read", reason="enough")
        assert await reason(mcp.tools_call(name="memory.read")) == "permission_denied"
        [decision] = kernel.permissions.decisions
        assert (decision.by, decision.reason, decision.revoked) == ("ann", "enough", True)


async def test_a_revoked_permission_is_refused_under_every_policy_and_in_every_session() -> None:
    """An agent with two servers: revocation and a stricter policy hold for the next call."""
    kernel = MgpKernel(permissions=Permissions(policy="auto_approve"))
    async with Host("h", "1", extensions=[kernel]) as host:
        peers = [await host.connect(raw("memory.read"), server_id=name) for name in "ab"]
        for peer in peers:
            assert await reason(peer.mcp.tools_call(name="memory.read")) == "memory.read"
        await kernel.permissions.revoke("a", "memory.read")
        outcomes = [await reason(peer.mcp.tools_call(name="memory.read")) for peer in peers]
        assert outcomes == ["permission_denied", "memory.read"]
        kernel.permissions.policy = "deny_all"
        outcomes = [await reason(peer.mcp.tools_call(name="memory.read")) for peer in peers]
        assert outcomes == ["permission_denied"] * 2


async def test_decisions_outlive_the_kernel_and_a_server_that_wants_more_asks_again() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")

        async def starting(person: Person, *required: str) -> list[str]:
            kernel = MgpKernel(permissions=Permissions(ask=person), records=records)
            server = raw(*required)
            async with connected(server, kernel) as mcp:
                calls = [await reason(mcp.tools_call(name=name)) for name in required]
                if "system.info" in required:
                    await kernel.permissions.revoke("files", "memory.read")
            return calls

        first = Person(True, False)
        assert await starting(first, "memory.read", "memory.write") == [
            "memory.read",
            "permission_denied",
        ]
        second = Person(True)
        calls = await starting(second, "memory.read", "memory.write", "system.info")
        assert calls == ["memory.read", "permission_denied", "system.info"]
        assert [one.permission for one in second.asked] == ["system.info"]
        third = Person()
        assert await starting(third, "memory.read") == ["permission_denied"]
        assert third.asked == []


async def test_nothing_is_inherited_by_the_name_that_a_server_gives_itself() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        for server_id, expected in (("files", "memory.read"), ("other", "permission_undecided")):
            person = Person(True) if server_id == "files" else Person(PermissionAnswer("deferred"))
            person.answers *= 2
            kernel = MgpKernel(permissions=Permissions(ask=person), records=records)
            async with connected(raw("memory.read"), kernel, server_id) as mcp:
                assert await reason(mcp.tools_call(name="memory.read")) == expected


async def test_nothing_is_stored_of_a_server_that_only_its_connection_names() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        kernel = MgpKernel(permissions=Permissions(ask=Person(True)), records=records)
        async with connected(raw("memory.read"), kernel, None) as mcp:
            assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
            [server] = kernel.servers
            await kernel.permissions.revoke(server.id, "memory.read")
            assert await reason(mcp.tools_call(name="memory.read")) == "permission_denied"
        kept = [one.key async for one in records.scan()]
        assert [key for key in kept if not key.startswith("access/")] == []
        assert kernel.permissions.decisions == []


@pytest.mark.spec("mgp-3.1-1", "mgp-3.4-4")
async def test_a_server_that_needs_all_is_not_connected_without() -> None:
    needs_all = {"files": ServerPolicy(needs_all=True)}
    cases: list[tuple[Permissions, str, str]] = [
        (Permissions(ask=Person(False)), "permission_denied", "an operator has denied"),
        (Permissions(), "permission_undecided", "nobody has decided about"),
        (Permissions(policy="deny_all"), "permission_denied", "the policy deny_all"),
    ]
    for options, expected, text in cases:
        server = raw("shell")
        with pytest.raises(PermissionDeniedError, match=text) as raised:
            async with connected(server, MgpKernel(servers=needs_all, permissions=options)):
                pass
        assert raised.value.data["_mgp"]["details"]["reason"] == expected
        assert server.of("notifications/initialized") == []
    kernel = MgpKernel(servers=needs_all, permissions=Permissions(ask=Person(True)))
    async with connected(raw("shell"), kernel):
        pass


async def test_too_many_and_malformed_permissions_are_refused() -> None:
    many = [f"com.example.p{number}" for number in range(101)]
    kernel = MgpKernel(permissions=Permissions(policy="auto_approve"))
    with pytest.raises(PermissionDeniedError, match="more than 100 permissions"):
        async with connected(raw(*many), kernel):
            pass
    odd = tool("odd", security={"risk_level": "safe", "permissions_required": ["shell.*\u202e"]})
    asked = Person()
    greedy = tool("greedy", security={"risk_level": "safe", "permissions_required": many})
    kernel = MgpKernel(
        servers={"files": ServerPolicy(confirm=[])}, permissions=Permissions(ask=asked)
    )
    async with connected(raw("Shell.Execute", tools=(odd, greedy)), kernel) as mcp:
        for name in ("odd", "greedy"):
            assert await reason(mcp.tools_call(name=name)) == "permission_denied"
    assert asked.asked == []


async def test_the_policy_of_a_server_and_permissions_of_the_configuration_count() -> None:
    policy = ServerPolicy(
        approval="config_only",
        permissions=["memory"],
        tools={"plain": ToolPolicy(permissions=["com.example.special"])},
    )
    kernel = MgpKernel(servers={"files": policy}, permissions=Permissions(policy="auto_approve"))
    plain = RawServer(tool("plain"), tool("other"))  # it speaks only MCP
    async with connected(plain, kernel) as mcp:
        assert await reason(mcp.tools_call(name="plain")) == "permission_denied"
        assert await reason(mcp.tools_call(name="other")) == "other"
    assert plain.of(REQUEST) == plain.of(RESPONSE) == []
    async with connected(raw("memory.write"), kernel) as mcp:
        assert await reason(mcp.tools_call(name="memory.write")) == "memory.write"
        assert await reason(mcp.tools_call(name="system.info")) == "permission_denied"


async def test_nothing_is_sent_to_a_server_without_the_extension() -> None:
    server = raw("memory.read")
    server.capabilities["mgp"]["extensions"] = ["audit"]
    kernel = MgpKernel(permissions=Permissions(policy="deny_all"))
    async with connected(server, kernel) as mcp:
        assert await reason(mcp.tools_call(name="memory.read")) == "permission_denied"
    assert before_initialized(server) == ["initialize"]


@pytest.mark.spec("mgp-3.6-4")
async def test_the_answer_of_the_specification_is_read_and_can_only_take_away() -> None:
    answers: list[tuple[Callable[[Json], Json], bool, str]] = [
        (lambda p: {**p, "grants": {"memory.read": "denied"}}, True, "permission_denied"),
        (lambda p: {**p, "grants": {"memory.read": {"granted": False}}}, True, "permission_denied"),
        (lambda p: {**p, "grants": {"memory": {"decision": "denied"}}}, True, "permission_denied"),
        (lambda p: {**p, "grants": {"memory.read": "deferred"}}, True, "memory.read"),
        (lambda p: {**p, "grants": {"memory.read": "approved"}}, False, "permission_denied"),
        (
            lambda p: {
                **p,
                "grants": {"memory.read": "approved"},
                "approved_by": "admin",
                "expires_at": "2026-03-01T00:00:00Z",
            },
            True,
            "permission_denied",  # it has expired
        ),
        (
            lambda p: {**p, "grants": {"memory.read": "approved"}, "expires_at": "soon"},
            True,
            "permission_denied",  # a time that is not readable is over
        ),
        (lambda p: {"request_id": "x", "grants": {"memory.read": "denied"}}, True, "memory.read"),
        (lambda p: {"code": -32601, "message": "Method not found"}, True, "memory.read"),
        (lambda p: {"grants": 7}, True, "memory.read"),
    ]
    for answer, approves, expected in answers:
        server = raw("memory.read", mgp_permission_request=answer)
        kernel = MgpKernel(
            permissions=Permissions(ask=Person(approves)), clock=lambda: 1_790_000_000.0
        )
        async with connected(server, kernel) as mcp:
            assert await reason(mcp.tools_call(name="memory.read")) == expected
        assert [one["method"] for one in server.heard if "mgp" in one.get("method", "")][:2] == [
            REQUEST,
            RESPONSE,
        ]


async def test_pending_permissions_are_bounded_and_end() -> None:
    now = [0.0]
    policy = ServerPolicy(confirm=[])
    kernel = MgpKernel(clock=lambda: now[0], servers={"files": policy})
    names = [f"com.example.p{number}" for number in range(MOST_PENDING + 1)]
    tools = tuple(
        tool(name, security={"risk_level": "safe", "permissions_required": [name]})
        for name in names
    )
    async with connected(raw(tools=tools), kernel) as mcp:
        for name in names:
            assert await reason(mcp.tools_call(name=name)) == "permission_undecided"
        pending = kernel.permissions.pending
        assert len(pending) == MOST_PENDING
        assert (pending[0].agent, pending[0].tool) == ("host", names[0])
        await kernel.permissions.approve("files", names[0])
        assert await reason(mcp.tools_call(name=names[0])) == names[0]
        now[0] += 300
        assert kernel.permissions.pending == []
        assert await reason(mcp.tools_call(name=names[-1])) == "permission_undecided"
        assert len(kernel.permissions.pending) == 1


async def test_a_server_that_asks_for_much_does_not_hold_up_another() -> None:
    async def ask(question: PermissionQuestion) -> PermissionAnswer | bool:
        return question.server == "files" or PermissionAnswer("deferred")

    names = [f"com.example.p{number}" for number in range(MOST_PENDING)]
    kernel = MgpKernel(permissions=Permissions(ask=ask))
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(raw(*names), server_id="greedy")
        assert len(kernel.permissions.pending) == MOST_PENDING
        connection = await host.connect(raw(), server_id="files")
        assert await reason(connection.mcp.tools_call(name="memory.read")) == "memory.read"


async def test_another_process_decides_within_a_second() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        kernel, elsewhere = MgpKernel(records=records), MgpKernel(records=records)
        outcomes, server = list[str](), raw("memory.read")
        async with connected(server, kernel) as mcp, anyio.create_task_group() as tasks:

            async def call() -> None:
                outcomes.append(await reason(mcp.tools_call(name="memory.read")))

            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            await elsewhere.permissions.load()
            assert [one.permission for one in elsewhere.permissions.pending] == ["memory.read"]
            with anyio.fail_after(1), elsewhere.acting_as_operator("ann"):
                await elsewhere.permissions.approve("files", "memory.read")
                while not outcomes:
                    await server_hears(server)
            assert outcomes == ["memory.read"]
            await elsewhere.permissions.revoke("files", "memory.read")
            with anyio.fail_after(1):
                while server.of(RESPONSE)[-1]["grants"] != {"memory.read": "denied"}:
                    await server_hears(server)
            assert await reason(mcp.tools_call(name="memory.read")) == "permission_denied"


async def responses(server: RawServer, count: int) -> None:
    """Wait until the server has got that many decisions."""
    with anyio.fail_after(5):
        while len(server.of(RESPONSE)) < count:
            await server_hears(server)


async def server_hears(server: RawServer) -> None:
    await server._news.wait()
    await anyio.wait_all_tasks_blocked()


async def test_decisions_are_audited_and_so_is_each_refusal() -> None:
    async with open_store("memory:") as store:
        log = await store.log("mgp-audit")
        person = Person(PermissionAnswer("approved", by="ann"), False)
        kernel = MgpKernel(
            servers={"files": ServerPolicy(permissions=["system.info"])},
            permissions=Permissions(ask=person),
            audit=AuditOptions(log=log, buffered=False),
        )
        server = raw("memory.read", "memory.write", "system.info")
        async with connected(server, kernel) as mcp:
            with kernel.acting_as_operator("bob"):
                await kernel.permissions.revoke("files", "memory.read")
            await reason(mcp.tools_call(name="memory.read"))
            await kernel.permissions.approve("other", "camera", lasts=60.0)
        values = [entry.value for entry in await log.read()]
    events = [
        (one["event_type"], one["actor"]["id"], one["details"].get("permission"))
        for one in map(_event_in, values)
        if one["event_type"].startswith("PERMISSION")
    ]
    assert events == [
        ("PERMISSION_GRANTED", "ann", "memory.read"),
        ("PERMISSION_DENIED", "operator", "memory.write"),
        ("PERMISSION_GRANTED", "kernel", "system.info"),
        ("PERMISSION_REVOKED", "bob", "memory.read"),
        ("PERMISSION_GRANTED", "operator", "camera"),
    ]
    ends = [one["details"].get("expires_at") for one in map(_event_in, values)]
    [end] = [one for one in ends if one is not None]
    assert seconds_of(end) > 60.0
    blocked = [one for one in map(_event_in, values) if one["event_type"] == "TOOL_BLOCKED"]
    assert [one["details"]["reason"] for one in blocked] == ["permission_denied"]


def _event_in(value: Any) -> Any:
    return value.get("event", value) if isinstance(value, dict) else value


async def test_a_store_that_fails_refuses_the_server() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")

        class Failing:
            def __getattr__(self, name: str) -> Any:
                return getattr(records, name)

            def scan(self, prefix: str = "") -> Any:
                raise StorageUnavailableError("records", expected="a", got="b", hint="c")

        failing: Records = Failing()
        with pytest.raises(StorageUnavailableError):
            async with connected(raw("memory.read"), MgpKernel(records=failing)):
                pass


async def test_wrong_arguments_of_the_operator_are_refused() -> None:
    kernel = MgpKernel()
    for wrong in ({"server": 7}, {"lasts": 0.0}, {"by": None}):
        arguments: Any = {"server": "files", **wrong}
        with pytest.raises((TypeError, ValueError)):
            await kernel.permissions.approve(arguments.pop("server"), "camera", **arguments)
    with pytest.raises(ValueError, match="expected names of permissions"):
        await kernel.permissions.approve("files", "shell.*")
    with pytest.raises(ValueError, match="policy"):
        kernel.permissions.policy = "yolo"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="policy"):
        Permissions(policy="yolo")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="decision"):
        PermissionAnswer("maybe")  # type: ignore[arg-type]


@pytest.mark.spec("mgp-3-1")
async def test_an_operator_decides_about_a_raw_server_in_another_process() -> None:
    """The server answers the request only when it has the decision: nothing waits for that."""
    program = Path(__file__).parents[1] / "programs" / "raw_notes.py"
    person = Person(False, True)
    kernel = MgpKernel(permissions=Permissions(ask=person))
    async with Host("h", "1", extensions=[kernel]) as host:
        with anyio.fail_after(4):  # less than the time for the answer
            connection = await host.connect(stdio(sys.executable, str(program)), server_id="notes")
        assert [one.permission for one in person.asked] == ["shell.execute", "memory.read"]
        heard = await reason(connection.mcp.tools_call(name="read"))
    assert heard.split()[:4] == ["initialize", REQUEST, RESPONSE, "notifications/initialized"]


async def test_a_server_cannot_grant_itself_anything() -> None:
    kernel = MgpKernel(permissions=Permissions(policy="deny_all"))
    server = raw("memory.read")
    grants = {"request_id": "perm-1", "grants": {"memory.read": "approved"}, "approved_by": "ann"}
    async with connected(server, kernel) as mcp:
        for id, method in enumerate(("request", "response", "await", "grant")):
            reply = await server.ask(id, f"mgp/permission/{method}", grants)
            assert reply["error"]["code"] == -32601
        server.say(id=2, result=grants)  # nobody asked for it
        assert await reason(mcp.tools_call(name="memory.read")) == "permission_denied"
    assert kernel.permissions.decisions == []


async def test_a_server_that_answers_nothing_is_connected(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("permissions", "permission_exchange"):
        monkeypatch.setattr(f"kinwire.mgp.kernel.{module}.ANSWER", 0.01)
    answers: list[Any] = [{"code": -32000, "message": "no\nkinwire: all is well"}, NOTHING]
    for answer in answers:
        server = raw("memory.read", mgp_permission_request=answer, mgp_permission_response=answer)
        kernel = MgpKernel(permissions=Permissions(ask=Person(True)))
        with anyio.fail_after(5):
            async with connected(server, kernel) as mcp:
                assert await reason(mcp.tools_call(name="memory.read")) == "memory.read"
    assert all("\n" not in message for message in caplog.messages)


async def test_a_server_learns_what_expires_and_what_another_policy_changes() -> None:
    kernel = MgpKernel(permissions=Permissions(ask=Person(True), lasts=0.02))
    server = raw("memory.read")
    async with connected(server, kernel):
        await responses(server, 2)
        await kernel.permissions.deny("files", "camera")  # not what it requires: nothing is sent
        kernel.permissions.policy = "auto_approve"
        await responses(server, 3)
        await kernel.permissions.deny("files", "memory.read")
        await responses(server, 4)
        values = [one["grants"]["memory.read"] for one in server.of(RESPONSE)]
        assert values == ["approved", "deferred", "approved", "denied"]
        assert len({one["request_id"] for one in server.of(RESPONSE)}) == 1
