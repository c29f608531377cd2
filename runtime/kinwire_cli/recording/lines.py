"""The lines of a recording: what the two sides of a session sent, a JSON object a line.

A message is `{"from": "client" | "server", "at": SECONDS, "message": {...}}`, with the message as
it was spelled. Other input is kept as text in `unreadable`, with the reason in `because`, and
with its bytes in `base64` if they are not UTF-8.
"""

from __future__ import annotations

__all__ = ("RecordedStep", "recorded_line", "steps_of")

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic_core import from_json

from kinwire_cli.failure import UsageError

if TYPE_CHECKING:
    from kinwire_cli.validation.validator import Side


def recorded_line(sender: Side, frame: bytes, at: float, because: str | None = None) -> bytes:
    """Return the line for `frame`; `because` says why it is not looked at."""
    head = b'{"from": "%s", "at": %.3f, ' % (sender.encode(), at)
    try:
        if because is None:
            from_json(frame, allow_inf_nan=False)
            # A bare carriage return is space between tokens, and ends a line for some readers.
            return head + b'"message": ' + frame.replace(b"\r", b" ").strip() + b"}\n"
    except ValueError as error:
        because = str(error)
    members = {"unreadable": frame.decode(errors="replace"), "because": because}
    if members["unreadable"].encode() != frame:
        members["base64"] = b64encode(frame).decode()
    return head + json.dumps(members).encode()[1:] + b"\n"


class RecordedStep(NamedTuple):
    """What one side sent, as a recording has it."""

    line: int
    sender: Side
    message: Any
    """Decoded; None if it was unreadable."""
    frame: bytes | None = None
    """What to send if it was unreadable."""


def steps_of(file: str, lines: Iterable[bytes]) -> Iterator[RecordedStep]:
    """Yield what the lines of `file` say, blank ones left out.

    Raises:
        UsageError: a line is not one of a recording, or does not name its sender.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _step(f"{file}:{number}", number, line)


def _step(where: str, number: int, line: bytes) -> RecordedStep:
    try:
        value: Any = from_json(line, allow_inf_nan=False)
    except ValueError:
        value = None
    match value:
        case {"from": "client" | "server" as sender, "message": message}:
            if isinstance(message, dict):
                return RecordedStep(number, sender, cast(object, message))
            return RecordedStep(number, sender, None, json.dumps(message).encode())
        case {"from": "client" | "server" as sender, "unreadable": str(text)}:
            encoded = value.get("base64")
            frame = text.encode() if encoded is None else _decoded(where, encoded)
            return RecordedStep(number, sender, None, frame)
        case _:
            raise UsageError(
                f'{where}: expected {{"from": "client" or "server", "message": ...}}.',
                "kinwire tap records in this form.",
            )


def _decoded(where: str, encoded: object) -> bytes:
    try:
        return b64decode(str(encoded), validate=True)
    except ValueError:
        raise UsageError(f"{where}: expected base64 in the member base64.") from None
