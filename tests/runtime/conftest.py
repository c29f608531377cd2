"""What every test of the runtime shares: asynchronous ones run on both libraries."""

from __future__ import annotations

import pytest

from kinwire.rpc import session
from kinwire.rpc.drivers.anyio_driver import AnyioDriver

BACKENDS: dict[str, tuple[str, dict[str, object]]] = {
    "asyncio": ("asyncio", {}),
    "uvloop": ("asyncio", {"use_uvloop": True}),
    "trio": ("trio", {}),
    "anyio on asyncio": ("asyncio", {}),
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, dict[str, object]]:
    """One of `BACKENDS`. Tests of the drivers ask for more of them by parametrizing this."""
    if request.param == "anyio on asyncio":
        monkeypatch.setattr(session, "driver_class", lambda _: AnyioDriver)
    return BACKENDS[request.param]
