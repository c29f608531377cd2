"""What goes to a provider of models, and what comes back (MCPL 11)."""

from __future__ import annotations

__all__ = ("ModelAnswer", "ModelRequest")

from collections.abc import Sequence
from dataclasses import dataclass

from kinwire_protocols.mcpl.models import InferenceMessage, TokenUsage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is to answer."""

    model: str
    """What `RoutingPolicy` calls it."""
    messages: Sequence[InferenceMessage]
    """The oldest first."""
    max_tokens: int | None = None
    """The most that the answer may have; None for what the provider thinks fit."""
    temperature: float | None = None
    """As the server wishes it; None for what the provider thinks fit."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What it has answered."""

    content: str
    """All of its text, also what was handed on in pieces before."""
    model: str
    """The model that was really used."""
    stopped: str = "end_turn"
    """Why, in the provider's own word."""
    usage: TokenUsage | None = None
