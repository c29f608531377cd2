"""A policy file in a kernel: what it forbids is neither called nor shown, and is reported."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mgp import MgpKernel, Policy, ServerPolicy, load_policy
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import RawServer, tool

pytestmark = pytest.mark.anyio

TEXT = """\
[servers.files]
trust = "trusted"
denied_tools = ["delete_*"]

[servers.files.tools.get_text.arguments]
path = { prefix = "/srv/" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def loaded(file: Path, text: str) -> Policy:
    file.write_text(text, encoding="utf-8")
    return load_policy(file)


def files(*more: str) -> RawServer:
    return RawServer(
        tool("get_text", "path"), tool("delete_text"), tool("get_size"), *map(tool, more)
    )


async def code(doing: Any) -> int:
    found = await outcome(doing)
    return found if isinstance(found, int) else 0


async def test_what_is_forbidden_is_neither_called_nor_shown(file: Path) -> None:
    policy, raw = loaded(file, TEXT), files()
    for _ in range(2):  # the file holds after a reconnect, and for the next kernel
        kernel = MgpKernel(policy=policy)
        with audited() as events:
            async with guarded(raw, kernel, "files") as connection:
                assert [one.name async for one in connection.tools()] == ["get_text", "get_size"]
                for name in ("delete_text", "delete_absent"):
                    wanted = 1001 if name == "delete_text" else 4001
                    assert await code(connection.mcp.tools_call(name=name)) == wanted
                for path, wanted in (("/srv/a", 0), ("/etc", 1001), ("/srv/../etc", 1001)):
                    call = connection.mcp.tools_call(name="get_text", arguments={"path": path})
                    assert await code(call) == wanted
                with pytest.raises(
                    Exception, match=f"{file}:3:17: delete_text of files was refused"
                ):
                    await connection.mcp.tools_call(name="delete_text")
        found = [one["details"]["reason"] for one in events.of("TOOL_BLOCKED")]
        assert found == ["policy", "tool", "policy", "policy", "policy"]
        raw = files()


async def test_a_kernel_takes_what_the_file_says_of_servers(file: Path) -> None:
    policy = loaded(file, f'{TEXT}\n[servers.web]\ndefault_policy = "opt-in"\n')
    kernel = MgpKernel(policy=policy, servers={"mail": ServerPolicy(trust="sandboxed")})
    async with Host("h", "1", extensions=[kernel]) as host:
        for name in ("files", "web", "mail"):
            await host.connect(RawServer(tool("x")), server_id=name)
        assert [(one.id, one.trust) for one in kernel.servers] == [
            ("files", "trusted"),
            ("web", "standard"),
            ("mail", "sandboxed"),
        ]
        assert (await kernel.access.query("a", "web", "x")).permission == "deny"
    with pytest.raises(ValueError, match=r"MgpKernel.servers: expected servers that the policy"):
        MgpKernel(policy=policy, servers={"files": ServerPolicy()})
    with pytest.raises(TypeError, match=r"Write MgpKernel\(policy=load_policy"):
        MgpKernel(policy=str(file))  # type: ignore[arg-type]


async def test_what_the_server_lacks_is_reported_with_its_line_and_denies(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy = loaded(
        file,
        TEXT.replace("path =", "paht =").replace("delete_*", "delete_fiel")
        + "[servers.files.tools.get_siez]\nconfirm = true\n",
    )
    kernel = MgpKernel(policy=policy)
    with audited() as events, caplog.at_level(logging.WARNING, "kinwire.mgp"):
        async with guarded(files("delete_file"), kernel, "files") as connection:
            shown = [one.name async for one in connection.tools()]
            assert shown == ["delete_text", "get_size", "delete_file"]
            with anyio.fail_after(5):
                await anyio.wait_all_tasks_blocked()
            call = connection.mcp.tools_call(name="get_text", arguments={"path": "/srv/a"})
            assert await code(call) == 1001
            mistakes = [str(one) for one in kernel.policy_mistakes["files"]]
        assert kernel.policy_mistakes == {}
    assert mistakes == [
        f"{file}:3:17: the server has no tool 'delete_fiel'. Did you mean 'delete_file'?",
        f"{file}:7:22: the server has no tool 'get_siez'. Did you mean 'get_size'?",
        f"{file}:6:1: the tool 'get_text' has no argument 'paht'",
    ]
    found = events.of("io.kinwire.policy_mistake")
    assert [f"{one['details']['place']}: {one['details']['problem']}" for one in found] == mistakes
    assert all(mistake in caplog.text for mistake in mistakes)


async def test_servers_that_the_file_does_not_name_are_denied_and_reported(file: Path) -> None:
    for server_id in ("fiels", None):
        kernel = MgpKernel(policy=loaded(file, TEXT))
        async with guarded(files(), kernel, server_id) as connection:
            assert [one async for one in connection.tools()] == []
            assert await code(connection.mcp.tools_call(name="get_size")) == 1001
            ((_, [mistake]),) = kernel.policy_mistakes.items()
            assert "there is no section for the server" in mistake.text
            with pytest.raises(Exception, match=r"[a-z'\]][.?] \(AccessDenied 1001\)$"):
                await connection.mcp.tools_call(name="get_size")
    kernel = MgpKernel(policy=loaded(file, f'other_servers = "allow"\n{TEXT}'))
    async with guarded(files(), kernel, "web") as connection:
        assert await code(connection.mcp.tools_call(name="get_size")) == 0


async def test_a_tool_that_comes_later_is_judged_by_the_file_too(file: Path) -> None:
    policy, raw = loaded(file, TEXT), files()
    kernel = MgpKernel(policy=policy)
    async with guarded(raw, kernel, "files") as connection:
        assert await code(connection.mcp.tools_call(name="get_size")) == 0
        raw.tools.append(tool("delete_all"))
        raw.say(method="notifications/tools/list_changed")
        await anyio.wait_all_tasks_blocked()
        assert await code(connection.mcp.tools_call(name="delete_all")) == 1001
        assert [one.name async for one in connection.tools()] == ["get_text", "get_size"]
        # The argument that a rule is about goes away: now no call of the tool can be judged.
        raw.tools[0] = tool("get_text", "location")
        raw.say(method="notifications/tools/list_changed")
        await anyio.wait_all_tasks_blocked()
        assert [one.name async for one in connection.tools()] == ["get_size"]
        call = connection.mcp.tools_call(name="get_text", arguments={"path": "/srv/a"})
        assert await code(call) == 1001


async def test_another_file_holds_for_the_next_call(file: Path) -> None:
    kernel = MgpKernel(policy=loaded(file, TEXT), servers={"mail": ServerPolicy()})
    async with guarded(files(), kernel, "files") as connection:
        calls = {"get_size": {}, "get_text": {"path": "/etc"}}

        async def codes() -> list[int]:
            call = connection.mcp.tools_call
            return [await code(call(name=name, arguments=given)) for name, given in calls.items()]

        assert await codes() == [0, 1001]
        text = '[servers.files]\ntrust = "trusted"\ndenied_tools = ["get_size", "x"]\n'
        other = loaded(file, text)
        assert kernel.replace_policy(other) == []
        assert await codes() == [1001, 0]
        assert [one.name async for one in connection.tools()] == ["get_text", "delete_text"]
        assert [one.text for one in kernel.policy_mistakes["files"]] == [
            "the server has no tool 'x'"
        ]
        assert kernel.replace_policy(loaded(file, "[servers.files]\nquota = 1\n")) == ["files"]
        with pytest.raises(ValueError, match=r"MgpKernel.servers: expected servers that the pol"):
            kernel.replace_policy(loaded(file, "[servers.mail]\n"))
        assert await codes() == [0, 0]
    with pytest.raises(ValueError, match=r"MgpKernel.replace_policy: expected a kernel that has"):
        MgpKernel().replace_policy(other)
