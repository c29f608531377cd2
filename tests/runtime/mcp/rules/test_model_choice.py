"""Hints first, in their order; then priorities; then the host's own order."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mcp.rules.model_choice import ModelProfile, choose_model
from kinwire_protocols import mcp
from tests.each import each

SMALL = ModelProfile("claude-3-haiku", cheapness=0.9, speed=0.9, intelligence=0.3)
LARGE = ModelProfile("claude-3-opus", cheapness=0.1, speed=0.2, intelligence=0.9)
OTHER = ModelProfile("gemini-1.5-pro", cheapness=0.5, speed=0.5, intelligence=0.6)
MODELS = [OTHER, SMALL, LARGE]


def hints(*names: str | None) -> list[mcp.ModelHint]:
    return [mcp.ModelHint(name=name) for name in names]


@each(
    ("preferences", "expected"),
    [
        pytest.param(None, OTHER, id="no preferences: the host's first"),
        pytest.param(mcp.ModelPreferences(), OTHER, id="empty preferences"),
        pytest.param(mcp.ModelPreferences(hints=hints("opus")), LARGE, id="a part of a name"),
        pytest.param(mcp.ModelPreferences(hints=hints("OPUS")), LARGE, id="in any case"),
        pytest.param(mcp.ModelPreferences(hints=hints("gpt", "haiku")), SMALL, id="the next hint"),
        pytest.param(
            mcp.ModelPreferences(hints=hints("claude"), intelligence_priority=1),
            LARGE,
            id="priorities among those that a hint fits",
        ),
        pytest.param(mcp.ModelPreferences(hints=hints("claude")), SMALL, id="then their order"),
        pytest.param(
            mcp.ModelPreferences(hints=hints("opus"), cost_priority=1, speed_priority=1),
            LARGE,
            id="a hint outweighs priorities",
        ),
        pytest.param(mcp.ModelPreferences(cost_priority=1), SMALL, id="price"),
        pytest.param(mcp.ModelPreferences(speed_priority=1), SMALL, id="speed"),
        pytest.param(mcp.ModelPreferences(intelligence_priority=1), LARGE, id="ability"),
        pytest.param(
            mcp.ModelPreferences(cost_priority=0.3, speed_priority=0.5, intelligence_priority=0.8),
            SMALL,
            id="0.96 against 0.85 and 0.88",
        ),
        pytest.param(
            mcp.ModelPreferences(hints=hints("gpt"), intelligence_priority=1),
            LARGE,
            id="no hint fits",
        ),
        pytest.param(mcp.ModelPreferences(hints=hints("", None, "opus")), LARGE, id="empty hints"),
    ],
)
@pytest.mark.spec("mcp-model-preferences-2", "mcp-model-preferences-3")
def test_the_model_that_fits_best_is_chosen(
    preferences: mcp.ModelPreferences | None, expected: ModelProfile
) -> None:
    assert choose_model(preferences, MODELS) is expected


def test_without_models_nothing_is_chosen() -> None:
    with pytest.raises(ValueError, match="expected at least one"):
        choose_model(None, [])


priorities = st.none() | st.floats(0, 1)


@given(
    st.builds(
        mcp.ModelPreferences,
        hints=st.none() | st.lists(st.builds(mcp.ModelHint, name=st.none() | st.text())),
        cost_priority=priorities,
        speed_priority=priorities,
        intelligence_priority=priorities,
    )
)
@pytest.mark.spec("mcp-model-preferences-4")
def test_every_preference_leads_to_one_of_the_models(preferences: mcp.ModelPreferences) -> None:
    assert choose_model(preferences, MODELS) in MODELS
