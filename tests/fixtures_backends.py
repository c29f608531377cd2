"""The event loops on which asynchronous tests run, and which of those runs are quick."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

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


def mark_slow_on_trio(
    items: list[pytest.Item], folder: Path, quick_on_trio: Collection[str] = ()
) -> None:
    """Mark the trio runs of the tests below `folder` as slow, except in files `quick_on_trio`."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if (
            callspec is not None
            and callspec.params.get("anyio_backend") == "trio"
            and item.path.name not in quick_on_trio
            and item.path.is_relative_to(folder)
        ):
            item.add_marker(pytest.mark.slow)
