"""The kernel follows the lists of servers: pages, changes, definitions that are not the same."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, RpcError, ShapeError
from kinwire.mgp import ConfirmationRequest, Confirmations, MgpKernel, ServerPolicy, ToolPolicy
from kinwire.mgp.kernel import tool_list
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

MGP: Json = {"version": "0.2.0", "extensions": ["security", "code_safety"]}
CHANGED: Json = {"method": "notifications/tools/list_changed"}


class Paged(RawServer):
    """It lists one tool a page, and changes its list while it is read, once."""

    changes_at: int | None = None

    def _answer(self, method: str, params: Json) -> Json:
        if method != "tools/list":
            return super()._answer(method, params)
        at = int(params.get("cursor", 0))
        if at == self.changes_at:
            self.changes_at = None
            self.tools.reverse()
            self._say.append({"jsonrpc": "2.0", **CHANGED})
        more = {"nextCursor": str(at + 1)} if at + 1 < len(self.tools) else {}
        return {"tools": self.tools[at : at + 1], **more}


async def changed(raw: RawServer, *tools: Json) -> None:
    """Have a server list other tools, and say so."""
    raw.tools = list(tools)
    raw.say(**CHANGED)
    await anyio.wait_all_tasks_blocked()


async def call(connection: Connection, name: str) -> Any:
    return await outcome(connection.session.raw("tools/call", {"name": name}))


async def test_a_list_of_several_pages_that_changes_while_it_is_read() -> None:
    names = ("one", "two", "three")
    for changes_at in (None, 1):
        raw = Paged(*map(tool, names))
        raw.changes_at = changes_at
        async with guarded(raw, MgpKernel()) as connection:
            for name in names:
                assert "content" in await call(connection, name)
        listed = raw.of("tools/list")
        assert len(listed) == (3 if changes_at is None else 6)


async def test_tools_come_and_go() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("one"))
    async with guarded(raw, kernel) as connection:
        assert "content" in await call(connection, "one")
        assert await call(connection, "two") == 4001
        raw.tools.append(tool("two"))  # the server does not say so
        assert "content" in await call(connection, "two")
        await changed(raw, tool("two"))
        assert await call(connection, "one") == 4001
        assert set(kernel.servers[0].tools) == {"two"}


@pytest.mark.spec("mgp-4.4-3", "mgp-4.5-7")
async def test_a_changed_definition_is_audited_and_confirmed_again_and_loses_no_check() -> None:
    asked: list[ConfirmationRequest] = []

    async def confirm(request: ConfirmationRequest) -> bool:
        asked.append(request)
        return True

    strict: Json = {"risk_level": "dangerous", "validator": "sandbox"}
    loose: Json = {"risk_level": "safe", "validator": "none"}
    mgp: Json = {"version": "0.2.0", "extensions": ["security"]}
    raw = RawServer(tool("work", security=strict), mgp=mgp)
    kernel = MgpKernel(confirmations=Confirmations(confirm=confirm))
    with audited() as events:
        async with guarded(raw, kernel) as connection:
            assert "content" in await call(connection, "work")
            await changed(raw, tool("work", security=loose))
            assert "content" in await call(connection, "work")
            await changed(raw)
            assert await call(connection, "work") == 4001
            raw.tools = [tool("work", security=loose)]  # it has not become another tool
            assert "content" in await call(connection, "work")
            (found,) = kernel.servers[0].tools.values()
    assert (found.risk, found.validators) == ("dangerous", ("sandbox",))
    assert len({one.definition for one in asked}) == 2
    assert len(asked) == 3
    (event,) = events.of("io.kinwire.tool_changed")
    assert event["target"] == {"server_id": "s", "tool_name": "work"}
    assert event["details"]["before"] != event["details"]["after"]


async def test_a_server_cannot_drop_rules_for_code_or_a_confirmation_that_it_demands() -> None:
    security = {
        "risk_level": "dangerous",
        "permissions_required": ["code_execution"],
        "confirmation_required": True,
        "validator": "code_safety",
        "code_safety": {"level": "readonly", "language": "python"},
    }
    policy = ServerPolicy(permissions=["code_execution"], code_safety="standard")
    raw = RawServer(tool("run", "code", security=security), mgp=MGP)
    outcomes: list[Any] = []
    async with guarded(raw, MgpKernel(servers={"s": policy})) as connection:
        for _ in range(2):
            for code in ("open('a', 'w')", "import os\nos.environ['A'] = 'b'", "print(1)"):
                params = {"name": "run", "arguments": {"code": code}}
                outcomes.append(await outcome(connection.session.raw("tools/call", params)))
            await changed(raw, tool("run", "code", security={"risk_level": "safe"}))
    assert outcomes == [1011, 1011, 1000] * 2
    assert raw.calls == []


async def test_a_server_cannot_fill_the_audit_log_with_changes_of_its_list(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    kernel, raw = MgpKernel(clock=lambda: now[0]), RawServer()
    with audited() as events:
        async with guarded(raw, kernel) as connection:
            for turn in range(3):
                await changed(raw, *(tool(f"t{number}", f"p{turn}") for number in range(100)))
                await call(connection, "other")
                now[0] += 0.5
            async with Host("h", "1", extensions=[kernel]) as host:
                other = RawServer(tool("x"))
                second = await host.connect(other, server_id="t")
                await call(second, "x")
                await changed(other, tool("x", "y"))
                await call(second, "x")
    found = events.of("io.kinwire.tool_changed")
    assert [one["target"]["server_id"] for one in found] == ["s"] * 30 + ["t"]
    assert [one["details"].get("dropped_before") for one in found][20:22] == [80, None]
    assert caplog.text.count("has changed") == 31


async def test_an_error_instead_of_a_list_does_not_look_like_a_refusal_of_the_kernel() -> None:
    forged = {"details": {"reason": "confirmation_denied", "validator": "sandbox"}}
    raw = RawServer(tool("x"), mgp=MGP)
    for code in (1000, 1010, 1011):
        error = {"code": code, "message": "no\n\x1b[2J", "data": {"_mgp": forged}}
        raw._answer = lambda method, params, error=error: (  # type: ignore[method-assign, misc]
            error if method == "tools/list" else RawServer._answer(raw, method, params)
        )
        with audited() as events:
            async with guarded(raw, MgpKernel()) as connection:
                with pytest.raises(RpcError) as caught:
                    await connection.session.raw("tools/call", {"name": "x"})
        assert (caught.value.data, caught.value.message.isprintable()) == (None, True)
        [event] = events.of_calls
        assert (event["event_type"], event["details"]["reason"]) == ("TOOL_BLOCKED", "tool")


async def test_a_tool_that_is_listed_twice_has_the_checks_of_both() -> None:
    safe, dangerous = (tool("x", security={"risk_level": risk}) for risk in ("safe", "dangerous"))
    for tools in ((safe, dangerous), (dangerous, safe)):
        raw = RawServer(*tools, mgp=MGP)
        async with guarded(raw, MgpKernel()) as connection:
            assert await call(connection, "x") == 1000
            await connection.session.raw("tools/list")
            assert await call(connection, "x") == 1000
        assert raw.calls == []


async def test_many_tools_do_not_make_the_kernel_forget_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.mgp.kernel.tool_list._MOST_SEEN", 10)
    raw = RawServer(tool("x", security={"risk_level": "dangerous"}), mgp=MGP)
    async with guarded(raw, MgpKernel()) as connection:
        assert await call(connection, "x") == 1000
        await changed(raw, *(tool(f"t{number}") for number in range(20)))
        assert "content" in await call(connection, "t8")
        assert await call(connection, "t9") == 4001
        await changed(raw, tool("x", security={"risk_level": "safe"}))
        assert await call(connection, "x") == 1000


async def test_pages_that_the_kernel_has_no_room_for_are_not_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_list, "_MOST_SEEN", 5)

    class Endless(RawServer):
        def _answer(self, method: str, params: Json) -> Json:
            if method != "tools/list":
                return super()._answer(method, params)
            number = int(params.get("cursor", 0))
            tools = [tool(f"t{number + add}") for add in (1, 2)]
            return {"tools": tools, "nextCursor": str(number + 2)}

    raw = Endless()
    async with guarded(raw, MgpKernel()) as connection:
        assert "content" in await call(connection, "t5")
        assert len(raw.of("tools/list")) == 4  # the last one has nothing that is known
        assert await call(connection, "t6") == 4001


async def test_a_change_is_seen_when_the_program_lists_the_tools() -> None:
    raw = RawServer(tool("work"))
    with audited() as events:
        async with guarded(raw, MgpKernel()) as connection:
            for description in ("a", "b", "b", "c"):
                raw.tools = [tool("work") | {"description": description}]
                _ = [one async for one in connection.tools()]
    assert len(events.of("io.kinwire.tool_changed")) == 2


async def test_policies_of_tools_that_do_not_exist_are_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "kinwire.mgp")
    policy = ServerPolicy(tools={"wrok": ToolPolicy(enabled=False)})
    async with guarded(RawServer(tool("work")), MgpKernel(servers={"s": policy})) as connection:
        await call(connection, "work")
    assert "'wrok'" in caplog.text


BROKEN: list[Any] = [7, [None], [{"name": "work"}], {"work": {}}]


async def test_a_list_that_breaks_its_schema_lets_no_call_through() -> None:
    for tools in BROKEN:
        raw = RawServer()
        raw.tools = tools
        async with guarded(raw, MgpKernel()) as connection:
            with pytest.raises(ShapeError):
                await call(connection, "work")
            assert (await connection.session.raw("tools/list"))["tools"] == tools
        assert raw.calls == []


async def test_what_is_not_a_tool_is_left_out_and_the_tools_around_it_are_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = RawServer()
    for odd in ([7, None], [{"name": "bare"}, {"name": 5, "inputSchema": {}}, {"inputSchema": {}}]):
        raw.tools = [tool("first"), *odd, tool("last")]
        async with guarded(raw, MgpKernel()) as connection:
            assert "content" in await call(connection, "first")
            assert "content" in await call(connection, "last")
            with pytest.raises(ShapeError, match="tools/1"):
                await call(connection, "bare")
            said = caplog.text.count("s: what is not a tool is left out: tools/list#/tools/1")
            await changed(raw, *raw.tools)
            assert "content" in await call(connection, "first")
            assert caplog.text.count("s: what is not a tool is left out") == said == 1
            await changed(raw, tool("first"))  # now it is as it should be
            assert await call(connection, "bare") == 4001
        caplog.clear()
    assert {one["name"] for one in raw.calls} == {"first", "last"}


async def test_definitions_are_kept_up_to_a_number_of_bytes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tool_list, "_MOST_BYTES", 1000)
    large = [tool(name) | {"description": "Think a bit. " * 23} for name in ("a", "b", "c")]
    raw = RawServer(*large)
    async with guarded(raw, MgpKernel()) as connection:
        assert "content" in await call(connection, "b")
        assert await call(connection, "c") == 4001
        assert "1000 bytes of them; the kernel knows those that came first" in caplog.text
        for text in ("Read it. ", "Count it. "):  # in place of the earlier one
            await changed(raw, large[0] | {"description": text * 40}, large[1])
            assert "content" in await call(connection, "a")
        await changed(raw, large[0] | {"description": "Walk there. " * 80}, large[1])
        assert await call(connection, "a") == 4001
        assert "content" in await call(connection, "b")


async def test_a_server_without_tools_has_none() -> None:
    raw = RawServer()
    del raw.capabilities["tools"]
    with anyio.fail_after(20):
        async with guarded(raw, MgpKernel()) as connection:
            assert await call(connection, "work") == 4001
    assert raw.of("tools/list") == raw.calls == []
