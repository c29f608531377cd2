"""Which hook replies name a feature set, and which of them count (MCPL 6.5).

A reply names one set, and an injection may name another one for itself. An empty reply needs none.
"""

from __future__ import annotations

__all__ = (
    "AFTER_INFERENCE",
    "BEFORE_INFERENCE",
    "after_allowed",
    "before_allowed",
)

from typing import Final

from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire_protocols.mcpl.models import (
    AfterInferenceResult,
    BeforeInferenceResult,
    ContextInjection,
)

BEFORE_INFERENCE: Final = "contextHooks.beforeInference"
"""The use that a feature set declares for the hook before inference."""
AFTER_INFERENCE: Final = "contextHooks.afterInference"
"""The use that a feature set declares for the hook after inference."""


def before_allowed(
    reply: BeforeInferenceResult, sets: FeatureSets
) -> tuple[BeforeInferenceResult, list[str]]:
    """Return the reply with the injections that count, and why each of the others does not."""
    kept: list[ContextInjection] = []
    refused: list[str] = []
    for index, injection in enumerate(reply.context_injections or []):
        tag = injection.feature_set or reply.feature_set
        problem = _problem(tag, BEFORE_INFERENCE, sets)
        if problem is None:
            kept.append(injection)
        else:
            refused.append(f"contextInjections/{index}: {problem}")
    if not refused:
        return reply, refused
    return reply.model_copy(update={"context_injections": kept}), refused


def after_allowed(
    reply: AfterInferenceResult, sets: FeatureSets
) -> tuple[AfterInferenceResult, list[str]]:
    """Return the reply, without its change of the response if that does not count, and why."""
    if reply.modified_response is None:
        return reply, []
    problem = _problem(reply.feature_set, AFTER_INFERENCE, sets)
    if problem is None:
        return reply, []
    return reply.model_copy(update={"modified_response": None}), [f"modifiedResponse: {problem}"]


def _problem(tag: str | None, use: str, sets: FeatureSets) -> str | None:
    if tag is None:
        return "expected a featureSet, got none"
    refusal = sets.refusal(tag, use)
    return None if refusal is None else str(refusal)
