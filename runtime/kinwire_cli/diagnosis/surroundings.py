"""What this command runs on: the interpreter, the distribution and its extras."""

from __future__ import annotations

__all__ = ("surroundings",)

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from kinwire_cli.diagnosis.check import Check, failed
from kinwire_cli.extras import install_command, is_installed

_EXTRAS = ("codegen", "cli", "docs", "fast", "http", "inference", "nats", "proxy", "ws")
_NEEDED = (3, 11)


def surroundings() -> Iterator[Check]:
    """Yield the checks that need no server."""
    yield _interpreter()
    yield _distribution()
    yield _extras()


def _interpreter() -> Check:
    seen = f"Python {platform.python_version()}, {sys.executable}"
    if sys.version_info >= _NEEDED:
        return Check(name="interpreter", seen=seen)
    needed = ".".join(map(str, _NEEDED))
    return failed("interpreter", seen, f"Run kinwire with Python {needed} or newer.")


def _distribution() -> Check:
    found = {name: _version(name) for name in ("kinwire", "pydantic", "anyio")}
    seen = ", ".join(f"{name} {number or 'not installed'}" for name, number in found.items())
    if all(found.values()):
        return Check(name="kinwire", seen=seen)
    remedy = "Install the distribution: its verbs and versions are found by its metadata."
    return failed("kinwire", seen, remedy)


def _extras() -> Check:
    missing = [extra for extra in _EXTRAS if not is_installed(extra)]
    seen = ", ".join(extra for extra in _EXTRAS if extra not in missing) or "none"
    if not missing:
        return Check(name="extras", seen=seen)
    # Nobody needs them all: their absence is no fault.
    remedy = f"Where they are wanted: {'; '.join(map(install_command, missing))}"
    return Check(name="extras", seen=f"{seen}; not there: {', '.join(missing)}", remedy=remedy)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
