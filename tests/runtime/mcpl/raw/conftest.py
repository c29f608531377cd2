"""Raw peers run on asyncio: other tests prove the same of trio."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
