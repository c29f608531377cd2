"""A server registers another one over every transport."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest

from kinwire import Host, result_text
from kinwire.mgp import Confirmations, MgpKernel, Registrations
from tests.runtime.mgp import test_transports
from tests.runtime.mgp.test_transports import confirm

pytestmark = pytest.mark.anyio

FILE = Path(__file__).parent / "programs" / "registrant.py"
slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.fixture
def anyio_backend() -> str:
    """The processes are the same on both loops; one is enough."""
    return "asyncio"


@pytest.mark.parametrize("transport", ["stdio", slow("http"), slow("sse"), slow("ws")])
async def test_a_server_registers_another_over_a_transport(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_transports, "FILE", FILE)
    (tmp_path / "tool.py").write_text("print()", encoding="utf-8")
    kernel = MgpKernel(
        confirmations=Confirmations(confirm=confirm),
        registrations=Registrations(folder=tmp_path),
    )
    with test_transports.reached(transport) as end, anyio.fail_after(30):
        async with Host("h", "1", extensions=[kernel]) as host:
            connection = await host.connect(end, server_id="maker")
            for command, expected in (
                ("python", "sandboxed ['dynamic.tool'] True"),
                ("npx", "1010"),
            ):
                result = await connection.mcp.tools_call(
                    name="show_outcome", arguments={"word": command}
                )
                assert result_text(result) == expected
    assert await kernel.registry.list() == []
