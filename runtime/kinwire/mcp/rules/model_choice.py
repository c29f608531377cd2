"""Which model a request for a message gets (MCP, Sampling > Model Preferences)."""

from __future__ import annotations

__all__ = ("ModelProfile", "choose_model")

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from kinwire_protocols.mcp.models import ModelPreferences


@dataclass(frozen=True)
class ModelProfile:
    """A model that a host can use. The ratings compare its models, from 0 (worst) to 1 (best)."""

    name: str
    cheapness: float = 0.5
    speed: float = 0.5
    intelligence: float = 0.5


M = TypeVar("M", bound=ModelProfile)


def choose_model(preferences: ModelPreferences | None, models: Sequence[M]) -> M:
    """Return the model of `models` that fits the preferences best.

    The first hint that is a part of a name, in upper or lower case, counts; if it is a part of
    several, or no hint is, the priorities decide, each times the model's rating. Among equals,
    and without preferences, the first of `models` is taken.

    Raises:
        ValueError: there are no models.
    """
    if not models:
        raise ValueError("models: expected at least one, got none")
    wanted = preferences or ModelPreferences()
    return max(_hinted(wanted, models), key=lambda model: _score(wanted, model))


def _hinted(wanted: ModelPreferences, models: Sequence[M]) -> Sequence[M]:
    for hint in wanted.hints or ():
        part = (hint.name or "").casefold()
        found = [model for model in models if part in model.name.casefold()]
        if part and found:
            return found
    return models


def _score(wanted: ModelPreferences, model: ModelProfile) -> float:
    return (
        (wanted.cost_priority or 0) * model.cheapness
        + (wanted.speed_priority or 0) * model.speed
        + (wanted.intelligence_priority or 0) * model.intelligence
    )
