"""The official schema. Without it these tests are skipped, except in CI, where they fail."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.parity.sampler import Sampler

OFFICIAL = Path(__file__).parents[3] / "shared" / "corpora" / "mcp-schema" / "2024-11-05.json"


@pytest.fixture(scope="session")
def official() -> dict[str, Any]:
    """The official schema of MCP 2024-11-05."""
    if not OFFICIAL.is_file():
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("the official schema is not here: ../shared/corpora/mcp-schema/2024-11-05.json")
    found: dict[str, Any] = json.loads(OFFICIAL.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def sampler(official: dict[str, Any]) -> Sampler:
    """Instances of the official schema."""
    return Sampler(official)
