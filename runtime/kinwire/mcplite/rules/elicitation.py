"""Questions of a tool without state at the server (MCP-lite 0.042 sections 3.4 and 3.8).

What the tool asked with goes to the client in a sealed context, and comes back with the answers.
The seal is valid for the same call of the same caller only, and for a limited time.
"""

from __future__ import annotations

__all__ = ("AnswerSeal", "Asked", "binding_of")

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic_core import from_json

from kinwire.managers.tool_outcomes import NeedsAnswers, ToolError
from kinwire.support.json_values import digest, strict_text
from kinwire_protocols.base import JsonObject


@dataclass(frozen=True, slots=True)
class Asked:
    """What comes back with the answers."""

    ids: tuple[str, ...]
    """Of the questions; empty if the text alone asked."""
    state: Any


class AnswerSeal:
    """Seals what tools ask with. Processes with the same secret can open each other's seals."""

    def __init__(self, secret: bytes, *, life: float, most: int) -> None:
        """Seal for `life` seconds at most `most` characters."""
        self._key = sha256(b"kinwire MCP-lite questions\n" + secret).digest()
        self._life, self._most = life, most

    def seal(self, asked: NeedsAnswers, binding: str, *, now: float) -> str:
        """Return the context of questions.

        `binding` is what the seal is valid for, see `binding_of`; `now` is in seconds since 1970.

        Raises:
            ValueError: the state is not JSON, or too large.
        """
        ids = [one.id for one in asked.questions]
        text = strict_text({"until": now + self._life, "ids": ids, "state": asked.state})
        if len(text) > self._most:
            raise ValueError(
                f"NeedsAnswers.state: expected at most {self._most} characters of JSON, "
                f"got {len(text)}. Keep it elsewhere, and ask with its key."
            )
        body = _encoded(text.encode("utf-8", "surrogatepass"))
        return f"{body}.{self._mac(body, binding)}"

    def open(self, context: object, binding: str, *, now: float) -> Asked:
        """Return what `context` was made of.

        Raises:
            ToolError: it was not made by this secret for this binding, or its time is over.
        """
        text = context if isinstance(context, str) else ""
        body, _, mac = text.rpartition(".")
        if hmac.compare_digest(_bytes(mac), self._mac(body, binding).encode()):
            held: JsonObject = from_json(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            if now < held["until"]:
                return Asked(tuple(held["ids"]), held["state"])
        raise ToolError(
            "These answers belong to no open questions: send `elicitation.context` back as "
            "`_meta.elicitation_context`, in time, with the same arguments; or call it again.",
            code="ANSWERS_UNAVAILABLE",
        )

    def _mac(self, body: str, binding: str) -> str:
        sealed = _bytes(f"{binding}\n{body}")
        return _encoded(hmac.digest(self._key, sealed, "sha256"))


def binding_of(tool: str, arguments: JsonObject, owner: str) -> str:
    """Return what ties questions to a call: its tool, its arguments, and its caller."""
    return digest(tool, arguments, owner)


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
