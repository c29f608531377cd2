"""What went over the wire between kinwire and a peer, from the recordings of `recording.py`."""

from __future__ import annotations

__all__ = ("Message", "faults", "messages", "used")

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from kinwire_cli.validation.validator import MessageValidator, Side
from kinwire_protocols.mcp.methods import PROTOCOL


class Message(NamedTuple):
    """One JSON-RPC message."""

    sender: Side
    content: dict[str, Any]


def messages(wire: Path) -> list[Message]:
    """Return the messages of one start, in their order."""
    lines = wire.read_text(encoding="utf-8").split("\n")
    return [Message(one["from"], one["message"]) for one in map(json.loads, filter(None, lines))]


def used(sent: Iterable[Message]) -> set[str]:
    """Return the methods of requests that got a result, and of notifications."""
    found: set[str] = set()
    waiting: dict[tuple[Side, Any], str] = {}
    for sender, content in sent:
        method = content.get("method")
        if method is None:
            asked = waiting.pop(("client" if sender == "server" else "server", content["id"]), None)
            if asked is not None and "result" in content:
                found.add(asked)
        elif "id" in content:
            waiting[sender, content["id"]] = method
        else:
            found.add(method)
    return found


def faults(sent: Iterable[Message], sender: Side) -> list[str]:
    """Return what the document of MCP objects to in the messages of one side."""
    validator = MessageValidator([PROTOCOL], lenient=True)
    found: list[str] = []
    for message in sent:
        validated = validator.validate(message.content, message.sender)
        if message.sender == sender:
            name = validated.row.name if validated.row else message.content.get("method", "?")
            found += [f"{name}: {problem}" for problem in validated.problems]
    return found
