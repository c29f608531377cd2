"""Configurations of kernels that run as processes, and how tests wait for what they print."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def entry(id: str, *args: str, **more: str) -> str:
    """Return a server of the configuration."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in more.items()]
    head = ["[[servers]]", f'id = "{id}"', f"command = {json.dumps(sys.executable)}"]
    return "\n".join([*head, f"args = {json.dumps(args)}", *lines, ""])


def write(folder: Path, *entries: str) -> None:
    (folder / "mgp.toml").write_text("\n".join(entries), encoding="utf-8")


def until(look: Callable[[], str], fits: Callable[[str], object]) -> str:
    """Return what is seen, once it fits."""
    end = time.monotonic() + 20
    while not fits(found := look()):
        assert time.monotonic() < end, found
        time.sleep(0.01)
    return found
