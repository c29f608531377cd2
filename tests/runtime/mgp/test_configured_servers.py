"""Servers of a configuration file run, with the environment that the file says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire import Host, result_text
from kinwire.mgp import ConfigFile, MgpKernel
from kinwire_protocols.base import RpcError

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).parent / "programs" / "raw_environment.py"
SERVER = f"""\
[[servers]]
id = "{{}}"
command = {json.dumps(sys.executable)}
args = [{json.dumps(str(PROGRAM))}]
"""
NAMES = ("without", "empty", "one", "filled")


def text_of(folder: Path) -> str:
    (folder / "below").mkdir(exist_ok=True)
    tables = {
        "without": "",
        "empty": "env = {}\n",
        "one": 'env = { ONE = "1" }\ncwd = "below"\n',
        "filled": 'env = { A = "${A_SRC}", C = "x${A_SRC}y", D = "$A_SRC", E = "$${A_SRC}" }\n',
        "refused": 'env = { B = "${NOT_SET}" }\n',
    }
    return "".join(SERVER.format(name) + table for name, table in tables.items())


@pytest.mark.spec("mgp-15.2-1")
async def test_a_child_has_a_few_variables_and_what_the_file_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table without variables takes none away, and no placeholder reaches a child."""
    monkeypatch.setenv("A_SRC", "p$q${r}")
    monkeypatch.setenv("PARENT_ONLY_SECRET", "s3cret")
    monkeypatch.delenv("NOT_SET", raising=False)
    (tmp_path / "mgp.toml").write_text(text_of(tmp_path), encoding="utf-8")
    config = ConfigFile(tmp_path / "mgp.toml").current
    assert [*config.refused] == ["refused"]
    kernel = MgpKernel(policy=config.policy)
    found: dict[str, Any] = {}
    async with (
        Host("h", "1", extensions=[kernel]) as host,
        kernel.supervise(host, config.specs) as supervisor,
    ):
        for name in NAMES:
            server = supervisor[name]
            await server.wait_connected()
            result = await server.mcp.tools_call(name="get_environment")
            found[name] = json.loads(result_text(result))
    for name in NAMES:
        assert found[name]["PATH"]
        assert found[name]["HOME"]
        assert "PARENT_ONLY_SECRET" not in found[name]
    assert (found["one"]["ONE"], found["one"]["cwd"]) == ("1", str(tmp_path / "below"))
    assert {name: found["filled"][name] for name in "ACDE"} == {
        "A": "p$q${r}",
        "C": "xp$q${r}y",
        "D": "$A_SRC",
        "E": "${A_SRC}",
    }


async def test_a_new_file_is_applied_to_a_kernel_that_runs(tmp_path: Path) -> None:
    path, text = tmp_path / "mgp.toml", SERVER.format("a") + SERVER.format("b")
    path.write_text(text, encoding="utf-8")
    file = ConfigFile(path)
    kernel = MgpKernel(policy=file.current.policy)
    async with (
        Host("h", "1", extensions=[kernel]) as host,
        kernel.supervise(host, file.current.specs) as supervisor,
    ):
        a, b = supervisor["a"], supervisor["b"]
        for server in (a, b):
            await server.wait_connected()
            await server.mcp.tools_call(name="get_environment")
        pids = [server.status.pid for server in (a, b)]
        path.write_text(
            text.replace(
                '[[servers]]\nid = "b"',
                '[servers.mgp.policy]\ndenied_tools = ["get_*"]\n\n[[servers]]\nid = "b"',
            )
            + "[servers.mgp]\nmax_restarts = 1\ntrust_level = 'trusted'\n",
            encoding="utf-8",
        )
        config = file.reload()
        assert kernel.replace_policy(config.policy) == ["b"]
        await supervisor.replace(config.specs)
        with pytest.raises(RpcError, match=f"{path}:6:17: get_environment of a was refused"):
            await a.mcp.tools_call(name="get_environment")
        await b.mcp.tools_call(name="get_environment")
        assert [server.status.pid for server in (a, b)] == pids  # nothing else has changed
        await supervisor.restart("b", reason="configuration_change")
        assert kernel.replace_policy(config.policy) == []
        assert [one.trust for one in kernel.servers if one.id == "b"] == ["trusted"]
