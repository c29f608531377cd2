"""The extras of this distribution: which are there, and how a missing one is installed."""

from __future__ import annotations

__all__ = ("install_command", "is_installed", "missing_extra")

import json
import re
from importlib.metadata import PackageNotFoundError, distribution, requires
from typing import TypedDict

_NAME = "kinwire"
_MODULES = {
    "googleapis-common-protos": "google",
    "grpcio": "grpc",
    "grpcio-reflection": "grpc_reflection",
    "markdown-it-py": "markdown_it",
    "nats-py": "nats",
    "protobuf": "google",
}
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+).*;.*extra == ['\"](?P<extra>[\w-]+)['\"]")


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Return the smallest extra that brings the missing module, None if none does."""
    module = (error.name or "").partition(".")[0].lower()
    extras = _extras()
    bring = [name for name, brought in extras.items() if module in map(_module, brought)]
    return min(bring, key=lambda name: len(extras[name]), default=None)


def is_installed(extra: str) -> bool:
    """Return whether everything that `extra` brings is there."""
    try:
        for name in _extras().get(extra, ()):
            distribution(name)
    except PackageNotFoundError:
        return False
    return True


class _Folder(TypedDict, total=False):
    editable: bool


class _Origin(TypedDict, total=False):
    url: str
    dir_info: _Folder


def install_command(extra: str) -> str:
    """Return the command that installs `extra`, from the folder that the rest came from if any."""
    origin = _origin()
    folder = origin.get("dir_info")
    if folder is None:
        return f"pip install '{_NAME}[{extra}]'"
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    option = "-e " if folder.get("editable") else ""
    return f"pip install {option}'{url2pathname(urlsplit(origin.get('url', '')).path)}[{extra}]'"


def _origin() -> _Origin:
    """Return what the installer wrote down of an origin that is not a registry (PEP 610)."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    origin: _Origin = json.loads(text or "{}")
    return origin


def _extras() -> dict[str, list[str]]:
    """Return the distributions that each extra brings."""
    try:
        requirements = requires(_NAME) or []
    except PackageNotFoundError:  # run from a source tree that is not installed
        requirements = []
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        if found := _REQUIREMENT.match(requirement):
            extras.setdefault(found["extra"], []).append(found["name"])
    return extras


def _module(name: str) -> str:
    """Return the module that a distribution brings: mostly it is called like it."""
    return _MODULES.get(name.lower(), re.sub(r"[-.]", "_", name).lower())
