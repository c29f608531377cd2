"""What of a hook's reply counts: what names a set that is on and uses the hook."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.tags import after_allowed, before_allowed
from kinwire_protocols.mcpl import AfterInferenceResult, BeforeInferenceResult, ContextInjection
from tests.each import each
from tests.runtime.mcpl.fixtures_pairs import MEMORY

pytestmark = pytest.mark.spec("mcpl-6.5-3")


def sets() -> FeatureSets:
    switched = FeatureSets(MEMORY, enabled=True)
    switched.switch(disabled=["memory.extraction"])
    return switched


def injection(tag: str | None = None) -> ContextInjection:
    return ContextInjection(namespace="n", position="system", content="x", feature_set=tag)


TAGS = [
    pytest.param("memory.retrieval", None, 1, id="the reply's set"),
    pytest.param(None, "memory.retrieval", 1, id="the injection's own set"),
    pytest.param("nobody", "memory.retrieval", 1, id="the injection's own set before the reply's"),
    pytest.param("memory.retrieval", "nobody", 0, id="also where it is the worse one"),
    pytest.param(None, None, 0, id="no set"),
    pytest.param("nobody", None, 0, id="a set that was not declared"),
    pytest.param("memory.proactive", None, 0, id="a set that does not use the hook"),
    pytest.param("memory.extraction", None, 0, id="a set that is off"),
]


@each(("tag", "own", "kept"), TAGS)
def test_an_injection_counts_if_its_set_may_say_it(
    tag: str | None, own: str | None, kept: int
) -> None:
    reply = BeforeInferenceResult(feature_set=tag, context_injections=[injection(own)])
    allowed, refused = before_allowed(reply, sets())
    assert len(allowed.context_injections or []) == kept
    assert len(refused) == 1 - kept


def test_a_reply_that_brings_nothing_needs_no_set() -> None:
    empty = BeforeInferenceResult()
    assert before_allowed(empty, sets()) == (empty, [])
    said = AfterInferenceResult(metadata={"seen": True})
    assert after_allowed(said, sets()) == (said, [])


def test_a_change_of_the_response_counts_only_with_a_set_that_is_on() -> None:
    switched = sets()
    reply = AfterInferenceResult(feature_set="memory.extraction", modified_response="[REDACTED]")
    allowed, refused = after_allowed(reply, switched)
    assert allowed.modified_response is None
    assert "Feature set not enabled" in refused[0]
    switched.switch(enabled=["memory.extraction"])
    assert after_allowed(reply, switched) == (reply, [])
    bare = reply.model_copy(update={"feature_set": None})
    assert after_allowed(bare, switched)[1] == ["modifiedResponse: expected a featureSet, got none"]
