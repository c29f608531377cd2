"""Choose the model for a request of a message (MCP, Sampling > Model Preferences)."""

from __future__ import annotations

__all__ = ("ModelProfile", "choose_model")

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from kinwire.support.arguments import NUMBER, TEXT, ArgumentCheck, instance_of, list_of
from kinwire_protocols.mcp.models import ModelPreferences


@dataclass(frozen=True)
class ModelProfile:
    """A model that a host can use, with ratings from 0 (worst) to 1 (best) among its models."""

    name: str
    cheapness: float = 0.5
    speed: float = 0.5
    intelligence: float = 0.5

    def __post_init__(self) -> None:
        _PROFILE.check(
            name=self.name,
            cheapness=self.cheapness,
            speed=self.speed,
            intelligence=self.intelligence,
        )


M = TypeVar("M", bound=ModelProfile)

_PROFILE = ArgumentCheck(
    "ModelProfile",
    'ModelProfile("small")',
    {"name": TEXT},
    cheapness=NUMBER,
    speed=NUMBER,
    intelligence=NUMBER,
)
_CHOOSE_MODEL = ArgumentCheck(
    "choose_model",
    'choose_model(params.model_preferences, [ModelProfile("small")])',
    {
        "preferences": instance_of(ModelPreferences, "mcp.ModelPreferences", "...").or_none,
        "models": list_of(
            instance_of(ModelProfile, "a ModelProfile", 'ModelProfile("small")'), "several models"
        ),
    },
)


def choose_model(preferences: ModelPreferences | None, models: Sequence[M]) -> M:
    """Return the model of `models` that fits the preferences best.

    The first hint that is a part of any name, ignoring case, selects the models with this part. If
    it selects several, or no hint selects one, the model with the highest sum of priority times
    rating wins. Among equals, and without preferences, the first of `models` wins.

    Raises:
        ValueError: `models` is empty.
    """
    _CHOOSE_MODEL.check(preferences=preferences, models=models)
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
