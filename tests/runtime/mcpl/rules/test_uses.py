"""Which messages belong to feature sets: every message of MCPL has its place in the table."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.scopes import ScopeLists, readable_lists
from kinwire.mcpl.rules.uses import (
    HOOKS,
    METHOD_USES,
    NAMED_SET_USE,
    ListsOf,
    channel_refusal,
    hook_refusal,
    open_refusal,
    opened_refusal,
)
from kinwire_protocols.mcpl import ScopeRules
from kinwire_protocols.mcpl.methods import PROTOCOL
from tests.runtime.mcpl.fixtures_pairs import feature

pytestmark = pytest.mark.spec("mcpl-6.2-3")

OF_NO_SET = {
    "channels/acknowledge",
    "channels/changed",
    "channels/close",
    "channels/list",
    "channels/register",
    "channels/typing",
    "featureSets/changed",
    "featureSets/update",
    "inference/chunk",
    "model/info",
}


def test_every_message_belongs_to_sets_or_to_none() -> None:
    belonging = METHOD_USES.keys() | NAMED_SET_USE.keys()
    assert belonging - {"tools/call"} == PROTOCOL.methods.keys() - OF_NO_SET
    assert {row.name for row in HOOKS} == {one for one in METHOD_USES if one.startswith("context/")}
    assert NAMED_SET_USE == {
        "push/event": "pushEvents",
        "inference/request": "inferenceRequest",
        "scope/elevate": None,
        "state/rollback": None,
    }


def sets_of(**uses: str) -> FeatureSets:
    return FeatureSets({name: feature(use) for name, use in uses.items()}, enabled=True)


def test_sets_with_a_use_follow_every_change() -> None:
    sets = sets_of(a="tools", b="tools", c="pushEvents")
    assert (sets.with_use("tools"), sets.with_use("channels.observe")) == (("a", "b"), None)
    sets.switch(disabled=["a"])
    assert sets.with_use("tools") == ("b",)
    sets.override(disabled=["*"])
    assert sets.with_use("tools") == ()
    sets.change(added={}, removed=["a", "b"])
    assert sets.with_use("tools") is None
    sets.obey_policy()
    assert sets.with_use("pushEvents") == ()


@pytest.mark.parametrize("hook", HOOKS, ids=lambda row: row.name)
def test_a_hook_is_refused_while_every_set_of_it_is_off(hook: object) -> None:
    name = getattr(hook, "name", "")
    (use,) = METHOD_USES[name]
    sets = sets_of(a=use, b=use, c="tools")
    sets.switch(disabled=["a"])
    assert hook_refusal(name, sets) is None
    sets.switch(disabled=["b"])
    refusal = hook_refusal(name, sets)
    assert refusal is not None
    assert refusal.data == {"featureSet": "a"}
    assert hook_refusal(name, sets_of(c="tools")) is None  # the offer alone counts
    assert hook_refusal("push/event", sets) is None


def lists(**blacklists: str) -> ListsOf:
    return {
        name: ScopeLists(ScopeRules(blacklist=[pattern])) for name, pattern in blacklists.items()
    }.get


def test_a_channel_is_refused_if_every_set_that_is_on_denies_it() -> None:
    sets, use = sets_of(a="channels.publish", b="channels.publish"), "channels.publish"
    assert channel_refusal(use, "c1", sets, lists(a="c*")) is None  # b does not deny it
    assert channel_refusal(use, "d1", sets, lists(a="c*", b="c*")) is None
    refusal = channel_refusal(use, "c1", sets, lists(a="c*", b="c1"))
    assert refusal is not None
    assert "the blacklist has c1" in refusal.message
    sets.switch(disabled=["b"])
    assert channel_refusal(use, "c1", sets, lists(a="c*")) is not None
    sets.switch(disabled=["a"])
    assert "no feature set that is on" in str(channel_refusal(use, "d1", sets, lists()))
    assert channel_refusal("channels.observe", "d1", sets, lists()) is None


def test_only_its_own_set_observes_thoughts() -> None:
    sets = FeatureSets(
        {"channels.thinking": feature("channels.observe"), "a": feature("channels.observe")},
        enabled=True,
    )
    assert channel_refusal("channels.observe", "thinking", sets, lists()) is None
    sets.switch(disabled=["channels.thinking"])
    assert channel_refusal("channels.observe", "thinking", sets, lists()) is not None
    assert channel_refusal("channels.observe", "c1", sets, lists()) is None


def test_a_channel_is_opened_for_either_use() -> None:
    sets = sets_of(a="channels.publish", b="channels.observe")
    denied = lists(a="c*")
    assert opened_refusal("c1", sets, denied) is None  # it may be observed
    sets.switch(disabled=["b"])
    assert open_refusal("chat", sets) is None
    assert opened_refusal("c1", sets, denied) is not None
    assert opened_refusal("d1", sets, denied) is None
    sets.switch(disabled=["a"])
    assert open_refusal("chat", sets) is not None
    assert open_refusal("chat", sets_of(c="tools")) is None


def test_patterns_of_a_peer_that_cannot_be_read_are_left_out() -> None:
    rules = ScopeRules(blacklist=["", "x" * 600, "c*"], whitelist=[""])
    found = readable_lists(rules)
    assert found.denial("c1") == "the blacklist has c*"
    assert found.denial("d1") is None
    many = ScopeRules(blacklist=[f"c{one}" for one in range(2000)], whitelist=["*"])
    assert readable_lists(many).denial("c999") is not None
