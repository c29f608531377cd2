"""The audit trail of a kernel, over live sessions with raw servers (MGP 6)."""

from __future__ import annotations

import gc
import json
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest

from kinwire import Connection, Host
from kinwire.managers.hash_chain import ChainCheck
from kinwire.mgp import AuditOptions, MgpKernel, ServerPolicy, ToolPolicy
from kinwire.mgp.kernel import audit as kernel_audit
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.judged_call import JudgedCall
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage import Log, StorageUnavailableError, Store, open_store
from kinwire_protocols.mgp.tables import AUDIT_EVENT_TYPES
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

SECRET = "SECRET-123"
TRACE = "550e8400-e29b-41d4-a716-446655440000"
NOW = 1_772_193_600.0  # 2026-02-27T12:00:00Z
AUDIT: Json = {"version": "0.2.0", "extensions": ["audit"]}
DANGEROUS = ServerPolicy(tools={"run": ToolPolicy(risk="dangerous")}, confirm=())


def files(**more: Any) -> RawServer:
    """Return a server of MGP with a few tools, one of which fails."""

    def call(params: Json) -> Json:
        if params["name"] == "fail":
            return {"content": [{"type": "text", "text": f"no {SECRET}"}], "isError": True}
        if params["name"] == "break":
            return {"code": -32000, "message": f"bad {SECRET}", "data": {"text": SECRET}}
        return {"content": [{"type": "text", "text": SECRET}]}

    safe = {"security": {"risk_level": "safe"}}
    needs = {"security": {"risk_level": "safe", "permissions_required": ["camera"]}}
    names = ("read", "fail", "break", "secret", "off", "run")
    made = [tool(name, "text", **safe) for name in names]
    shell = {"security": {"risk_level": "safe", "validator": "sandbox"}}
    code = {"security": {"risk_level": "safe", "validator": "code_safety"}}
    made += [tool("shell", "command", **shell), tool("python", "code", **code)]
    answers: dict[str, Any] = {"tools/call": call, **more}
    offer = {"version": "0.2.0", "extensions": ["security", "audit"]}
    return RawServer(*made, tool("look", "text", **needs), mgp=offer, **answers)


def auditor() -> RawServer:
    return RawServer(mgp=AUDIT)


async def call(connection: Connection, name: str, text: str = "", **more: Any) -> Any:
    params = {"name": name, "arguments": GIVEN.get(name, {"text": text}), **more}
    return await connection.session.raw("tools/call", params)


async def events_in(log: Log) -> list[Json]:
    return [entry.value["event"] for entry in await log.read()]


async def must_verify(log: Log) -> None:
    check = ChainCheck(from_start=True)
    for entry in await log.read():
        assert check.problem(entry.subject, entry.value) is None


def of_calls(events: list[Json]) -> list[Json]:
    types = ("TOOL_EXECUTED", "TOOL_BLOCKED", "VALIDATION_FAILED", "CODE_REJECTED")
    return [one for one in events if one["event_type"] in types]


@asynccontextmanager
async def with_auditor(
    raw: RawServer, kernel: MgpKernel
) -> AsyncGenerator[tuple[Connection, RawServer]]:
    """Yield a connection to a server, and a connected audit server."""
    audit_server = auditor()
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(audit_server, server_id="auditor")
        yield await host.connect(raw, server_id="files"), audit_server
        await anyio.wait_all_tasks_blocked()


@asynccontextmanager
async def stored() -> AsyncGenerator[tuple[Store, Log]]:
    async with open_store("memory:") as store:
        yield store, await store.log("mgp-audit")


WAYS: dict[str, tuple[str, str, str]] = {
    "read": ("TOOL_EXECUTED", "SUCCESS", ""),
    "fail": ("TOOL_EXECUTED", "FAILURE", ""),
    "break": ("TOOL_EXECUTED", "FAILURE", ""),
    "secret": ("TOOL_BLOCKED", "BLOCKED", "access"),
    "off": ("TOOL_BLOCKED", "BLOCKED", "disabled"),
    "none": ("TOOL_BLOCKED", "BLOCKED", "tool"),
    "look": ("TOOL_BLOCKED", "BLOCKED", "permission_undecided"),
    "shell": ("VALIDATION_FAILED", "BLOCKED", "validator"),
    "python": ("CODE_REJECTED", "BLOCKED", "code"),
}
GIVEN = {
    "shell": {"command": f"echo ok; rm -rf {SECRET}"},
    "python": {"code": f"import subprocess\nsubprocess.run('{SECRET}')"},
}


@pytest.mark.spec("mgp-6.3-2", "mgp-6.3-4", "mgp-6.4-11")
async def test_each_call_has_one_event_however_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    policy = ServerPolicy(tools={"off": ToolPolicy(enabled=False)})
    async with stored() as (_, log):
        kernel = MgpKernel(servers={"files": policy}, audit=AuditOptions(log=log))
        await kernel.access.grant("agent.a", "files", "deny", tool="secret")
        raw = files()
        async with with_auditor(raw, kernel) as (connection, audit_server):
            with kernel.acting_for("agent.a"):
                for number, name in enumerate(WAYS):
                    await outcome(call(connection, name, SECRET, trace_id=f"t{number}"))
        wanted = [
            (*way[:2], "agent.a", {"server_id": "files", "tool_name": name}, f"t{number}", way[2])
            for number, (name, way) in enumerate(WAYS.items())
        ]
        written, sent = await events_in(log), audit_server.of("notifications/mgp.audit")
        for events in (written, sent):
            assert [
                (
                    *(one["event_type"], one["result"], one["actor"]["id"], one["target"]),
                    *(one["trace_id"], one["details"].get("reason", "")),
                )
                for one in of_calls(events)
            ] == wanted
        assert all(one in written for one in sent)
        times = [one["timestamp"] for one in written]
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one) for one in times)
        assert SECRET not in json.dumps(written) + json.dumps(sent)
        logged = [vars(one) for one in caplog.records if one.name == "kinwire.mgp.audit"]
        assert (len(logged) > 7, SECRET in str(logged)) == (True, False)
        await must_verify(log)
        assert len(raw.calls) == 3


@pytest.mark.spec("mgp-6.3-1", "mgp-6.3-3", "mgp-6.5-1")
async def test_an_event_has_the_fields_of_the_specification() -> None:
    kernel = MgpKernel(servers={"files": DANGEROUS}, clock=lambda: NOW)
    raw = files()
    async with with_auditor(raw, kernel) as (connection, audit_server):
        with kernel.acting_for("agent.cloto_default"):
            await connection.mcp.tools_call(name="run", arguments={"text": "x"})
        _ = [one async for one in connection.tools()]
        await connection.mcp.ping()
    (event,) = of_calls(audit_server.of("notifications/mgp.audit"))
    trace = event["trace_id"]
    assert event == {
        "timestamp": "2026-02-27T12:00:00.000Z",
        "trace_id": trace,
        "event_type": "TOOL_EXECUTED",
        "actor": {"type": "agent", "id": "agent.cloto_default"},
        "target": {"server_id": "files", "tool_name": "run"},
        "result": "SUCCESS",
        "details": {
            "risk_level": "dangerous",
            "validator_applied": event["details"]["validator_applied"],
            "duration_ms": 0,
        },
    }
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", trace)
    (call,) = raw.calls
    assert call["trace_id"] == trace
    assert call["_meta"]["traceparent"].split("-")[1] == trace.replace("-", "")
    after_greeting = [one for one in raw.heard if "id" in one][1:]
    assert {one["method"] for one in after_greeting} == {"tools/list", "tools/call", "ping"}
    assert all(len(one["params"]["trace_id"]) == 36 for one in after_greeting)


@pytest.mark.spec("mgp-6.2-1")
async def test_a_trace_id_of_the_program_is_used_wherever_it_stands() -> None:
    kernel = MgpKernel()
    raw = files()
    placed: list[Json] = [{"trace_id": TRACE}, {"_mgp": {"trace_id": TRACE}}]
    placed.append({"_meta": {"traceparent": f"00-{TRACE.replace('-', '')}-00f067aa0ba902b7-01"}})
    with audited() as events:
        async with guarded(raw, kernel, "files") as connection:
            for more in placed:
                await call(connection, "read", **more)
    assert {one["trace_id"] for one in events.of_calls} == {TRACE}
    assert {call["trace_id"] for call in raw.calls} == {TRACE}
    assert raw.calls[2]["_meta"] == placed[2]["_meta"]


@pytest.mark.spec("mgp-6.4-8", "mgp-6.4-9", "mgp-6.3-5")
async def test_servers_that_come_and_go_are_written_locally() -> None:
    async with stored() as (_, log):
        kernel = MgpKernel(audit=AuditOptions(log=log))
        with audited() as events:
            async with guarded(files(), kernel, "files"):
                pass
            async with guarded(RawServer(), kernel, "plain"):
                pass
        wanted = [
            (f"SERVER_{kind}", {"server_id": server})
            for server in ("files", "plain")
            for kind in ("CONNECTED", "DISCONNECTED")
        ]
        assert [(one["event_type"], one["target"]) for one in await events_in(log)] == wanted
        assert [(one["event_type"], one["target"]) for one in events] == wanted


@pytest.mark.spec("mgp-6-1", "mgp-6.1-1", "mgp-6.2-2")
async def test_an_audit_server_gets_what_it_needs_to_store_and_search() -> None:
    """The kernel makes and sends events; what is done with them is the server's affair."""
    kernel = MgpKernel()
    async with with_auditor(files(), kernel) as (connection, audit_server):
        await call(connection, "read")
    stored = audit_server.of("notifications/mgp.audit")
    found = [one for one in stored if one["target"] == {"server_id": "files", "tool_name": "read"}]
    assert [one["event_type"] for one in found] == ["TOOL_EXECUTED"]
    asked = {one["method"] for one in audit_server.heard if "id" in one and "method" in one}
    assert asked == {"initialize"}  # nothing asks it to store, search or analyse


async def test_only_servers_that_negotiated_audit_get_events() -> None:
    kernel = MgpKernel()
    other = RawServer(tool("read"), mgp={"version": "0.2.0", "extensions": ["security"]})
    plain = RawServer(tool("read"))
    async with Host("h", "1", extensions=[kernel]) as host:
        for name, raw in (("auditor", auditor()), ("other", other), ("plain", plain)):
            connection = await host.connect(raw, server_id=name)
            await outcome(call(connection, "read"))
        await anyio.wait_all_tasks_blocked()
    assert other.of("notifications/mgp.audit") == plain.of("notifications/mgp.audit") == []


@pytest.mark.spec("mgp-6.4-3", "mgp-6.4-4", "mgp-6.4-5")
async def test_decisions_about_permissions_are_audited() -> None:
    kernel = MgpKernel()
    async with with_auditor(files(), kernel) as (_, audit_server):
        with kernel.acting_as_operator("ann"):
            await kernel.permissions.approve("files", "camera")
        with kernel.acting_as_operator("bob"):
            await kernel.permissions.revoke("files", "camera")
        with kernel.acting_as_operator("eve"):
            await kernel.permissions.deny("files", "camera")
    events = [
        (one["event_type"], one["actor"], one["target"])
        for one in audit_server.of("notifications/mgp.audit")
        if one["event_type"].startswith("PERMISSION_")
    ]
    assert events == [
        (f"PERMISSION_{kind}", {"type": "operator", "id": who}, {"server_id": "files"})
        for kind, who in (("GRANTED", "ann"), ("REVOKED", "bob"), ("DENIED", "eve"))
    ]


@pytest.mark.spec("mgp-6.4-2", "mgp-6.4-6", "mgp-6.4-7")
async def test_decisions_about_access_are_audited_and_block_calls() -> None:
    kernel = MgpKernel(servers={"files": ServerPolicy(access="opt-in")})
    raw = files()
    async with with_auditor(raw, kernel) as (connection, audit_server):
        await kernel.access.grant("host", "files")
        await call(connection, "read")
        await kernel.access.revoke("host", "files")
        assert await outcome(call(connection, "read")) == 1001
    kinds = [one["event_type"] for one in audit_server.of("notifications/mgp.audit")]
    assert [one for one in kinds if not one.startswith("SERVER_")] == [
        *["ACCESS_GRANTED", "TOOL_EXECUTED", "ACCESS_REVOKED", "TOOL_BLOCKED"],
    ]
    assert len(raw.calls) == 1


def report(kind: str, **more: Any) -> Json:
    return {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "event_type": kind,
        "actor": {"type": "kernel", "id": "kernel"},
        "target": {"server_id": "someone.else", "tool_name": "run"},
        "result": "SUCCESS",
        "trace_id": TRACE,
        **more,
    }


@pytest.mark.spec("mgp-6.4-12", "mgp-6.5-2")
async def test_events_of_a_server_are_stamped_and_marked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "kinwire.mgp")
    forged = {"source": "kernel", "password": SECRET, "note": "a\x1b[31m\n"}
    reports = [
        report("com.example.custom_event", details=forged),
        report("TOOL_EXECUTED"),
        report("io.kinwire.tool_started"),
        report("CUSTOM"),
        report("custom.event"),
    ]
    async with stored() as (_, log):
        kernel = MgpKernel(audit=AuditOptions(log=log), clock=lambda: NOW)
        raw = files()
        async with with_auditor(raw, kernel) as (_, audit_server):
            for one in reports:
                raw.say(method="notifications/mgp.audit", params=one)
            await anyio.wait_all_tasks_blocked()
        entries = [entry for entry in await log.read("mgp.server.>")]
        assert [entry.value["event"]["event_type"] for entry in entries] == [
            "com.example.custom_event",
            "TOOL_EXECUTED",
        ]
        event = entries[0].value["event"]
        assert event["target"] == {"server_id": "files", "tool_name": "run"}
        assert event["trace_id"] == TRACE
        assert event["details"] == {
            "source": "server",
            "reported_by": "files",
            "received_at": "2026-02-27T12:00:00.000Z",
            "password": "[masked]",
            "note": r"a\x1b[31m\n",
        }
        sent = audit_server.of("notifications/mgp.audit")
        reported = [one for one in sent if "source" in one["details"]]
        assert reported == [entry.value["event"] for entry in entries]
        assert not any("source" in one["details"] for one in raw.of("notifications/mgp.audit"))
        await must_verify(log)
    assert "not an event type that a server may use" in caplog.text


async def test_the_trace_of_an_event_of_a_server_is_read_wherever_it_stands() -> None:
    bare = {name: value for name, value in report("com.example.x").items() if name != "trace_id"}
    raw = files()
    with audited() as events:
        async with guarded(raw, MgpKernel(), "files"):
            raw.say(method="notifications/mgp.audit", params={**bare, "_mgp": {"trace_id": TRACE}})
            raw.say(method="notifications/mgp.audit", params=bare, trace_id=TRACE)
            raw.say(method="notifications/mgp.audit", params={**bare, "trace_id": "a\nb"})
            raw.say(method="notifications/mgp.audit", params=bare)
            await anyio.wait_all_tasks_blocked()
    found = [one.get("trace_id") for one in events.of("com.example.x")]
    assert found == [TRACE, TRACE, None, None]


async def test_a_server_that_reports_too_much_is_cut_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [NOW]
    async with stored() as (_, log):
        kernel = MgpKernel(audit=AuditOptions(log=log, server_events=3.0), clock=lambda: now[0])
        raw = files()
        async with guarded(raw, kernel, "files"):
            for number in range(50):
                raw.say(method="notifications/mgp.audit", params=report(f"com.example.n{number}"))
            await anyio.wait_all_tasks_blocked()
            now[0] += 1
            raw.say(method="notifications/mgp.audit", params=report("com.example.later"))
            await anyio.wait_all_tasks_blocked()
        events = [entry.value["event"] for entry in await log.read("mgp.server.>")]
        names = [one["event_type"].removeprefix("com.example.") for one in events]
        assert names == ["n0", "n1", "n2", "later"]
        assert events[-1]["details"]["dropped_before"] == 47
    assert caplog.text.count("its audit events are dropped") == 1


class BrokenLog:
    """A log that takes nothing while it is broken."""

    def __init__(self, inner: Log, error: Exception | None = None) -> None:
        away = StorageUnavailableError("log", expected="a disk", got="none", hint="Wait.")
        self.inner = inner
        self.error = error or away
        self.is_broken = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def append_after(self, sequence: int, entries: Any) -> int:
        if self.is_broken:
            raise self.error
        return await self.inner.append_after(sequence, entries)


class HangingLog:
    """A log that does not answer until `answers` is set."""

    def __init__(self, inner: Log) -> None:
        self.inner = inner
        self.answers = anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def append_after(self, sequence: int, entries: Any) -> int:
        await self.answers.wait()
        return await self.inner.append_after(sequence, entries)


async def test_a_dangerous_call_without_a_written_event_is_not_made() -> None:
    async with stored() as (_, inner):
        log: Any = BrokenLog(inner)
        kernel = MgpKernel(servers={"files": DANGEROUS}, audit=AuditOptions(log=log))
        raw = files()
        async with guarded(raw, kernel, "files") as connection:
            await call(connection, "run")
            log.is_broken = True
            assert await outcome(call(connection, "run")) == 3001
            assert len(raw.calls) == 1
            assert await outcome(call(connection, "read")) is not None
            assert len(raw.calls) == 2  # a safe one waits in the buffer
            log.is_broken = False
            await call(connection, "run")
        events = await events_in(inner)
        assert [(one["event_type"], one["target"].get("tool_name")) for one in events] == [
            ("SERVER_CONNECTED", None),
            ("io.kinwire.tool_started", "run"),
            ("TOOL_EXECUTED", "run"),
            ("TOOL_EXECUTED", "read"),
            ("io.kinwire.tool_started", "run"),
            ("TOOL_EXECUTED", "run"),
            ("SERVER_DISCONNECTED", None),
        ]
        await must_verify(inner)


async def test_a_log_that_fails_in_an_unforeseen_way_ends_no_session() -> None:
    async with stored() as (_, inner):
        log: Any = BrokenLog(inner, ValueError("no"))
        kernel = MgpKernel(servers={"files": DANGEROUS}, audit=AuditOptions(log=log))
        raw = files()
        async with guarded(raw, kernel, "files") as connection:
            log.is_broken = True
            assert await outcome(call(connection, "run")) == 3001
            assert await outcome(call(connection, "none")) == 4001
        assert raw.calls == []


async def test_safe_calls_are_refused_when_the_buffer_is_full() -> None:
    async with stored() as (_, inner):
        log: Any = BrokenLog(inner)
        kernel = MgpKernel(audit=AuditOptions(log=log, buffer=3))
        raw = files()
        async with guarded(raw, kernel, "files") as connection:
            log.is_broken = True
            codes = list[Any]()
            for _attempt in range(5):
                codes.append(await outcome(call(connection, "read")))
                await anyio.wait_all_tasks_blocked()
            assert [code for code in codes if code == 3001] == codes[3:]
            assert len(raw.calls) == 3
            log.is_broken = False
            assert await outcome(call(connection, "none")) == 4001
            await anyio.wait_all_tasks_blocked()
            await call(connection, "read")
        await must_verify(inner)
        assert len(of_calls(await events_in(inner))) >= 5


async def test_a_log_that_hangs_does_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_audit, "_MOST_WAITED", 0.005)
    async with stored() as (_, inner):
        log = HangingLog(inner)
        audit = AuditLog(AuditOptions(log=cast("Log", log), buffer=3), lambda: 1.0)
        event = SecurityEvent("TOOL_BLOCKED", "agent", "a", "files", "run", "BLOCKED", {}, "t")
        assert [await audit.record(event) for _ in range(6)] == [False] * 6
        log.answers.set()
        assert await audit.make_room()
        assert len(await events_in(inner)) == 3


async def test_events_that_wait_keep_no_arguments() -> None:
    """A log that fails keeps up to 10,000 of them."""
    async with open_store("memory:") as store:
        kernel = MgpKernel(audit=AuditOptions(log=await store.log("mgp-audit")))
        async with guarded(RawServer(tool("read", "text")), kernel) as connection:
            with kernel.acting_for("agent.kept"):
                for text in "abc":
                    await call(connection, "read", text)
            calls = [one for one in gc.get_objects() if type(one) is JudgedCall]
            assert [one for one in calls if one.agent == "agent.kept"] == []


async def test_calls_wait_for_room_in_the_buffer_while_the_log_works() -> None:
    async with stored() as (_, log):
        kernel = MgpKernel(audit=AuditOptions(log=log, buffer=3))
        raw = files()
        async with guarded(raw, kernel, "files") as connection:
            for _attempt in range(20):
                await call(connection, "read")
        assert len(raw.calls) == len(of_calls(await events_in(log))) == 20


@pytest.mark.spec("mgp-6.4-1")
async def test_events_are_durable_before_a_call_returns_if_asked_for() -> None:
    async with stored() as (_, log):
        kernel = MgpKernel(audit=AuditOptions(log=log, buffered=False))
        async with guarded(files(), kernel, "files") as connection:
            await call(connection, "read")
            (event,) = of_calls(await events_in(log))
            assert event["event_type"] == "TOOL_EXECUTED"


async def test_a_slow_audit_server_delays_no_call(caplog: pytest.LogCaptureFixture) -> None:
    kernel = MgpKernel(audit=AuditOptions(queue=5))
    audit_server = auditor()
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(files(), server_id="files")
        slow = await host.connect(audit_server, server_id="auditor")
        never = anyio.Event()

        async def stuck(name: str, params: Json | None = None) -> None:
            await never.wait()

        slow.session.raw_notify = stuck  # type: ignore[method-assign]
        with anyio.fail_after(10):
            for _attempt in range(20):
                await call(connection, "read")
        never.set()
    assert caplog.text.count("auditor: it is too slow for the audit events") == 1


async def test_an_event_of_an_audit_server_itself_is_not_sent_back_to_it() -> None:
    kernel = MgpKernel()
    async with Host("h", "1", extensions=[kernel]) as host:
        first, second = auditor(), auditor()
        await host.connect(first, server_id="first")
        await host.connect(second, server_id="second")
        first.say(method="notifications/mgp.audit", params=report("com.example.echo"))
        await anyio.wait_all_tasks_blocked()

    def echoes(server: RawServer) -> int:
        sent = server.of("notifications/mgp.audit")
        return len([one for one in sent if one["event_type"] == "com.example.echo"])

    assert (echoes(first), echoes(second)) == (0, 1)


def test_options_that_cannot_work_are_refused() -> None:
    with pytest.raises(ValueError, match=r"AuditOptions\.buffer: expected a whole number"):
        AuditOptions(buffer=0)
    with pytest.raises(TypeError, match=r"AuditOptions\.log: expected a log of a store"):
        AuditOptions(log="audit.db")  # type: ignore[arg-type]
    assert len(AUDIT_EVENT_TYPES) == 11
