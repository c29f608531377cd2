"""What is built and installed once for all tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.distribution import Installed, build, install


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, and the wheel made from it, by suffix."""
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def wheel(built: dict[str, Path]) -> Path:
    return built[".whl"]


@pytest.fixture(scope="session")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel without extras."""
    return install(str(wheel), tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="session")
def with_codegen(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with the extra that brings the generator's needs."""
    return install(f"{wheel}[codegen]", tmp_path_factory.mktemp("codegen"))
