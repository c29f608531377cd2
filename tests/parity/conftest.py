"""The official schema. Without it these tests are skipped, except in CI, where they fail."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.absent import shared
from tests.parity.sampler import Sampler


@pytest.fixture(scope="session")
def official() -> dict[str, Any]:
    """The official schema of MCP 2024-11-05."""
    text = shared("corpora/mcp-schema/2024-11-05.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture(scope="session")
def sampler(official: dict[str, Any]) -> Sampler:
    """Instances of the official schema."""
    return Sampler(official)
